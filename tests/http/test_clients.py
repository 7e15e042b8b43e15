"""The clients of the manual's page /docs/clients, run as they are printed there: whatever the network does, one call makes one article."""
import concurrent.futures
import html
import json
import os
import re
import shutil
import subprocess
import uuid

import pytest

import stele
from lossy import PLACES, Cut, LossyProxy, Refuse

FAULTS = {
    **{f"request-{place}": Cut("request", place) for place in PLACES if place != "nothing"},
    **{f"reply-{place}": Cut("reply", place) for place in PLACES if place != "everything"},
    "reset": Cut("reply", "nothing", "reset"),
    "reset-in-body": Cut("reply", "body", "reset"),
    "gateway-timeout": Refuse(504, forward=True),
    "bad-gateway": Refuse(502),
    "busy": Refuse(503, retry_after=1),
    "busy-soon": Refuse(503, retry_after=0),
    "too-many": Refuse(429, retry_after=1),
    "nothing": None,
}
SUFFIX = {"sh": "sh", "python": "py", "javascript": "mjs"}


def recipes():
    page = (stele.ROOT / "templates" / "docs" / "clients.md").read_text()
    return [(f"{language}{n}", language, code) for n, (language, code) in enumerate(re.findall(r"^```(\w+) client\n(.*?)^```$", page, re.M | re.S), 1)]


RECIPES = recipes()


def program(language, path):
    if language == "javascript" and not shutil.which("node"):
        pytest.skip("node absent")
    return {"sh": ["sh", "-eu"], "python": ["/usr/bin/python3", "-I"], "javascript": ["node"]}[language] + [str(path)]


def run(server, proxy, language, argv, body, folder):
    """Status that the client told of its last answer."""
    folder.mkdir()
    (folder / "body").write_text(json.dumps(body))
    env = {"PATH": os.environ["PATH"], "BASE": f"http://{proxy.host}:{proxy.port}", "TOKEN": server.token, "OUT": str(folder / "out"),
           "BODY": str(folder / "body") if language == "sh" else json.dumps(body)}
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, env=env, cwd=folder)
    assert done.returncode == 0, (done.stdout, done.stderr)
    return int(done.stdout.split()[-1])


def made(server, title):
    return server.value("SELECT count(*) FROM revision WHERE title = ?", title)


def test_the_page_has_a_client_for_each_language(server):
    assert sorted({language for _, language, _ in RECIPES}) == ["javascript", "python", "sh"]
    shown = html.unescape(re.sub(r"<[^>]*>", "", server.get("/docs/clients").text))
    for _, _, code in RECIPES:
        assert code.strip() in shown


@pytest.mark.parametrize("name, language, code", RECIPES, ids=[r[0] for r in RECIPES])
def test_c169_one_call_makes_one_article_whatever_is_lost(server, tmp_path, name, language, code):
    file = tmp_path / f"client.{SUFFIX[language]}"
    file.write_text(code)
    argv = program(language, file)

    def call(fault):
        title = f"{name} {fault} {uuid.uuid4()}"
        with LossyProxy(server, [FAULTS[fault]]) as proxy:
            status = run(server, proxy, language, argv, {"title": title, "content": "Words."}, tmp_path / fault)
            keys = {e.request.field("idempotency-key") for e in proxy.exchanges if e.request.is_whole}
            return fault, status, made(server, title), len(proxy.exchanges), len(keys)

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        found = list(pool.map(call, FAULTS))
    for fault, status, articles, requests, keys in found:
        assert (articles, keys) == (1, 1), (fault, articles, keys)
        assert requests == (2 if FAULTS[fault] else 1), (fault, requests)
        assert status in (200, 201), (fault, status)
    # An answer that came whole was lost in some: those were told 200.
    assert {s for f, s, *_ in found if f in ("reply-nothing", "gateway-timeout", "reset")} == {200}
    assert {s for f, s, *_ in found if f in ("nothing", "bad-gateway", "busy")} == {201}


@pytest.mark.parametrize("name, language, code", RECIPES, ids=[r[0] for r in RECIPES])
def test_a_refusal_is_not_repeated(server, tmp_path, name, language, code):
    file = tmp_path / f"client.{SUFFIX[language]}"
    file.write_text(code)
    title = f"{name} {uuid.uuid4()}"
    with LossyProxy(server) as proxy:
        assert run(server, proxy, language, program(language, file), {"title": title, "colour": "red"}, tmp_path / "run") == 422
        assert len(proxy.exchanges) == 1
    assert made(server, title) == 0


def test_c171_a_large_body_that_waits_to_be_asked_for_is_one_article_and_one_too_large_is_none(server, tmp_path):
    def curl(size):
        title = str(uuid.uuid4())
        (tmp_path / "body").write_text(json.dumps({"title": title, "content": "a" * size}))
        done = subprocess.run(["curl", "-sS", "-o", str(tmp_path / "out"), "-w", "%{http_code}", "-H", "Expect: 100-continue", "-H",
                               f"Authorization: Bearer {server.token}", "-H", "Content-Type: application/json", "-H", f"Idempotency-Key: {title}",
                               "--data-binary", f"@{tmp_path}/body", server.base + "/api/v1/articles"], capture_output=True, text=True, timeout=60)
        records = server.value("SELECT count(*) FROM idempotency_record WHERE idempotency_key = ?", title)
        return done.stdout, made(server, title), records

    assert curl(900 * 1024) == ("201", 1, 1)
    assert curl(3 * 1024 * 1024) == ("413", 0, 0)


def test_c172_a_chunked_body_is_refused_without_using_the_key_and_the_manual_says_so(server):
    key, title = stele.new_key(), str(uuid.uuid4())
    body = json.dumps({"title": title, "content": "Words."}).encode()
    head = (f"POST /api/v1/articles HTTP/1.1\r\nHost: {server.host}:{server.port}\r\nAuthorization: Bearer {server.token}\r\n"
            f"Content-Type: application/json\r\nIdempotency-Key: {key}\r\nTransfer-Encoding: chunked\r\n\r\n").encode()
    answer = server.raw(head + f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\n\r\n", timeout=5)
    assert answer.startswith(b"HTTP/1.1 411 ")
    assert server.value("SELECT count(*) FROM idempotency_record WHERE idempotency_key = ?", key) == 0
    assert server.request("POST", "/api/v1/articles", body=body, token=server.token, key=key, headers={"Content-Type": "application/json"}).status == 201
    for page in ("clients", "idempotency"):
        text = server.get(f"/docs/{page}").text
        assert "Content-Length" in text and "411" in text
