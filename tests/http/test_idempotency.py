"""What a retry means, judged by rows and events. Numbers are those of the cases in the contract."""
import concurrent.futures
import json
import re
import socket
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

import site_pages
from stele import ROOT, new_key
from test_operations import settled

P1 = {"title": "T1", "content": "C1"}
P2 = {"title": "T2", "content": "C2"}
ARTICLES = "/api/v1/articles"
MEMBERS = {"type", "title", "status", "detail", "code", "retryable", "request_id"}


class Delta:
    """How many rows came since it was made."""

    QUERIES = {
        "art": "SELECT count(*) FROM resource WHERE kind = 'article'",
        "out": "SELECT count(*) FROM outbox",
        "idem": "SELECT count(*) FROM idempotency_record",
    }

    def __init__(self, server):
        self.server = server
        self.before = {n: server.value(q) for n, q in self.QUERIES.items()}

    def __getattr__(self, name):
        return self.server.value(self.QUERIES[name]) - self.before[name]


@pytest.fixture
def warm(server):
    """The shared server, whose users have their author resource already."""
    for token in (server.token, server.token_b):
        assert server.post(ARTICLES, {"title": "warm"}, token=token).status == 201
    return server


@pytest.fixture(autouse=True)
def invariants(request):
    yield
    if "server" in request.fixturenames:
        check_invariants(request.getfixturevalue("server"))


def check_invariants(server):
    assert server.value("PRAGMA integrity_check") == "ok"
    assert server.value("SELECT count(*) FROM idempotency_record WHERE status = 'PROCESSING'") == 0
    assert server.sql("SELECT path FROM path GROUP BY path HAVING count(*) > 1") == []
    assert server.sql("SELECT 1 FROM outbox GROUP BY aggregate, aggregate_id, event_version, topic HAVING count(*) > 1") == []
    assert server.sql("SELECT r.id FROM resource r LEFT JOIN path p ON p.resource_id = r.id AND p.role = 'canonical' WHERE p.path IS NULL") == []
    assert server.value("SELECT count(*) FROM pragma_foreign_key_check") == 0
    assert server.value("SELECT count(*) FROM operation WHERE state = 'PROCESSING' AND lease_until > 0 AND lease_until < ?", int(time.time() * 1000) - 120000) == 0
    if server.process is not None:
        # site_pages.locs refuses an address that stands twice.
        assert {site_pages.path_of(loc) for loc in site_pages.locs(server)} == {r["path"] for r in server.sql("SELECT path FROM sitemap_entry")}


def record(server, key):
    rows = server.sql("SELECT * FROM idempotency_record WHERE idempotency_key = ?", key)
    assert len(rows) <= 1
    return rows[0] if rows else None


def assert_problem(r, status, code):
    assert r.status == status, r
    assert r.headers["Content-Type"] == "application/problem+json"
    body = r.json()
    assert MEMBERS <= body.keys()
    assert (body["status"], body["code"]) == (status, code)
    return body


def assert_replay(r, first, original=201):
    assert r.status == 200, r
    assert r.headers["Idempotent-Replayed"] == "true"
    assert r.headers["Idempotency-Original-Status"] == str(original)
    assert r.body == first.body
    for name in ("Location", "ETag", "Link"):
        assert r.headers.get(name) == first.headers.get(name)
    assert r.headers["X-Request-Id"] != first.headers["X-Request-Id"]


def eventually(value, seconds=5):
    deadline = time.monotonic() + seconds
    while not (got := value()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return got


# A. Serial and concurrent repeats


def test_c1_first_create(warm):
    key, d = new_key(), Delta(warm)
    r = warm.post(ARTICLES, P1, key=key)
    assert r.status == 201
    assert r.headers["Location"] == f"{ARTICLES}/{r.json()['id']}"
    assert r.headers["ETag"] == '"1"'
    assert r.headers["Idempotent-Replayed"] == "false"
    assert (d.art, d.idem, d.out) == (1, 1, 1)
    row = record(warm, key)
    assert (row["status"], row["response_status"], row["method"], row["route"]) == ("SUCCESS", 201, "POST", ARTICLES)
    assert len(row["request_hash"]) == 64
    assert warm.value("SELECT uid FROM resource WHERE id = ?", row["resource_id"]) == r.json()["id"]
    assert row["response_body"].encode() == r.body
    assert row["first_request_id"] == r.headers["X-Request-Id"]


def test_c2_ten_repeats_in_series(warm):
    key, d = new_key(), Delta(warm)
    first = warm.post(ARTICLES, P1, key=key)
    replays = [warm.post(ARTICLES, P1, key=key) for _ in range(10)]
    for r in replays:
        assert_replay(r, first)
    assert (d.art, d.out) == (1, 1)
    assert eventually(lambda: record(warm, key)["replay_count"] == 10)
    assert record(warm, key)["last_request_id"] in {r.headers["X-Request-Id"] for r in replays}
    assert record(warm, key)["first_request_id"] == first.headers["X-Request-Id"]


def test_c3_hundred_in_parallel(warm):
    key, d = new_key(), Delta(warm)
    barrier = threading.Barrier(100)

    def one(_):
        barrier.wait()
        return warm.post(ARTICLES, P1, key=key)

    with concurrent.futures.ThreadPoolExecutor(100) as pool:
        answers = list(pool.map(one, range(100)))
    assert sorted(r.status for r in answers) == [200] * 99 + [201]
    first = next(r for r in answers if r.status == 201)
    for r in answers:
        if r is not first:
            assert_replay(r, first)
    assert (d.art, d.idem, d.out) == (1, 1, 1)


def test_c4_hundred_keys_with_one_client_ref(warm):
    d, ref = Delta(warm), new_key()
    barrier = threading.Barrier(100)

    def one(_):
        barrier.wait()
        return warm.post(ARTICLES, {**P1, "client_ref": ref})

    with concurrent.futures.ThreadPoolExecutor(100) as pool:
        answers = list(pool.map(one, range(100)))
    assert sorted(r.status for r in answers) == [200] * 99 + [201]
    assert len({r.json()["id"] for r in answers}) == 1
    assert all(r.headers["Idempotent-Replayed"] == "true" for r in answers if r.status == 200)
    assert (d.art, d.out, d.idem) == (1, 1, 100)


def test_c9_write_lock_held_too_long(make_server):
    s = make_server(workers=1)
    key = new_key()
    db = sqlite3.connect(s.db, isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    r = s.post(ARTICLES, P1, key=key, timeout=60)
    db.execute("ROLLBACK")
    db.close()
    assert_problem(r, 503, "busy")
    assert r.json()["retryable"] is True
    assert r.headers["Retry-After"] == "1"
    assert record(s, key) is None
    assert s.post(ARTICLES, P1, key=key).status == 201


def test_c10_all_look_before_anyone_claims(make_server):
    """Nobody gets the lock until every request of every worker has looked in vain; then one claims and the others find that."""
    s = make_server(workers=2)
    assert s.post(ARTICLES, {"title": "warm"}).status == 201
    key, d = new_key(), Delta(s)
    lock = sqlite3.connect(s.db, isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        waiting = [pool.submit(s.post, ARTICLES, P1, key=key) for _ in range(16)]
        time.sleep(1)
        assert not any(w.done() for w in waiting)
        lock.execute("COMMIT")
        lock.close()
        answers = sorted((w.result() for w in waiting), key=lambda r: -r.status)
    assert [r.status for r in answers] == [201] + [200] * 15
    for r in answers[1:]:
        assert_replay(r, answers[0])
    assert (d.art, d.idem, d.out) == (1, 1, 1)
    check_invariants(s)


# B. Crash, restart, response loss


def send_only(server, key, body):
    """A request whose answer nobody reads."""
    data = json.dumps(body).encode()
    sock = server.connect()
    sock.sendall(f"POST {ARTICLES} HTTP/1.1\r\nHost: {server.host}:{server.port}\r\nAuthorization: Bearer {server.token}\r\n"
                 f"Content-Type: application/json\r\nIdempotency-Key: {key}\r\nContent-Length: {len(data)}\r\n\r\n".encode() + data)
    return sock


@pytest.mark.parametrize("how", ["close", "reset"])
def test_c11_answer_lost(warm, how):
    key, d = new_key(), Delta(warm)
    sock = send_only(warm, key, P1)
    if how == "reset":
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        time.sleep(0.05)
    sock.close()
    eventually(lambda: record(warm, key))
    r = warm.post(ARTICLES, P1, key=key)
    assert r.status in (200, 201)
    assert (d.art, d.idem, d.out) == (1, 1, 1)


def post_into_crash(make_server, point, key):
    """A site whose worker dies at `point` of its first write; then the same site in good health."""
    s = make_server(start=False, workers=1)
    s.start(env={"STELE_FAULT": f"{point}:kill"})
    with pytest.raises(OSError):
        s.post(ARTICLES, P1, key=key, timeout=20)
    # Not asked to stop: Kore's parent may spin after this, until the supervisor's patience ends.
    s.kill()
    return s.start()


def test_c13_killed_between_commit_and_answer(make_server):
    key = new_key()
    s = post_into_crash(make_server, "post_commit", key)
    r = s.post(ARTICLES, P1, key=key)
    assert r.status == 200 and r.headers["Idempotent-Replayed"] == "true"
    assert r.headers["Idempotency-Original-Status"] == "201"
    assert record(s, key)["first_request_id"] != r.headers["X-Request-Id"]
    assert s.value("SELECT count(*) FROM resource WHERE kind = 'article'") == 1
    check_invariants(s)


@pytest.mark.parametrize("point", ["pre_claim", "post_claim", "pre_commit"])
def test_c14_c15_killed_before_the_commit(make_server, point):
    key = new_key()
    s = post_into_crash(make_server, point, key)
    assert record(s, key) is None
    assert s.value("SELECT count(*) FROM resource") == 0
    r = s.post(ARTICLES, P1, key=key)
    assert r.status == 201 and r.headers["Idempotent-Replayed"] == "false"
    assert s.value("SELECT count(*) FROM resource WHERE kind = 'article'") == 1
    check_invariants(s)


CLIENT = """
import http.client, json, pathlib, sys, uuid
port, token, file = sys.argv[1:]
file = pathlib.Path(file)
if not file.exists():
    file.write_text(str(uuid.uuid4()))
conn = http.client.HTTPConnection("127.0.0.1", int(port), timeout=30)
conn.request("POST", "/api/v1/articles", json.dumps({"title": "T1", "content": "C1"}), {"Content-Type": "application/json",
             "Authorization": "Bearer " + token, "Idempotency-Key": file.read_text()})
print("sent", flush=True)
answer = conn.getresponse()
print(json.dumps([answer.status, answer.getheader("Idempotent-Replayed"), json.loads(answer.read())["id"]]))
"""


def test_c16_client_that_was_killed_goes_on_with_its_key(make_server, tmp_path):
    s = make_server(workers=1, env={"STELE_FAULT": "pre_claim:sleep1:1"})
    argv = [sys.executable, "-c", CLIENT, str(s.port), s.token, str(tmp_path / "key")]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as client:
        assert client.stdout.readline() == "sent\n"
        client.kill()
    assert eventually(lambda: record(s, (tmp_path / "key").read_text()))
    status, replayed, uid = json.loads(subprocess.run(argv, capture_output=True, text=True, check=True).stdout.splitlines()[1])
    assert (status, replayed) == (200, "true")
    assert [r["uid"] for r in s.sql("SELECT uid FROM resource WHERE kind = 'article'")] == [uid]
    check_invariants(s)


def test_c18_terminated_among_twenty(make_server):
    s = make_server()
    keys = [new_key() for _ in range(20)]
    socks = [send_only(s, k, {"title": f"n{i}"}) for i, k in enumerate(keys)]
    s.stop()
    for sock in socks:
        sock.close()
    s.start()
    for i, k in enumerate(keys):
        assert s.post(ARTICLES, {"title": f"n{i}"}, key=k).status in (200, 201)
    assert s.value("SELECT count(*) FROM resource WHERE kind = 'article'") == 20
    check_invariants(s)


def test_c20_doubled_by_the_transport(warm):
    """Twice on one connection without reading between, as a client does that took its connection for dead."""
    key, d = new_key(), Delta(warm)
    a, b = send_only(warm, key, P1), send_only(warm, key, P1)
    a.close()
    head = b.recv(65536).decode()
    b.close()
    assert head.split()[1] in ("200", "201")
    assert (d.art, d.idem, d.out) == (1, 1, 1)


def test_c21_impatient_gateway(make_server):
    s = make_server(workers=1, env={"STELE_FAULT": "reader:sleep2:1"}, start=False)
    s.start(wait=False)
    time.sleep(0.5)
    s.env = {}
    s.wait_ready(30)
    key = new_key()
    results = []
    slow = threading.Thread(target=lambda: results.append(s.post(ARTICLES, P1, key=key)))
    slow.start()
    results.append(s.post(ARTICLES, P1, key=key))
    slow.join()
    assert sorted(r.status for r in results) == [200, 201]
    assert s.value("SELECT count(*) FROM resource WHERE kind = 'article'") == 1


# C. Scope of the key


def test_c23_c24_two_users(warm):
    key = new_key()
    a = warm.post(ARTICLES, P1, key=key)
    b = warm.post(ARTICLES, P1, key=key, token=warm.token_b)
    assert a.status == b.status == 201
    assert a.json()["id"] != b.json()["id"]
    assert b.json()["author"]["name"] != a.json()["author"]["name"]
    c = warm.post(ARTICLES, P2, key=key, token=warm.tokens["editor"])
    assert c.status == 201


def test_c25_two_tokens_of_one_user(warm):
    key = new_key()
    other = warm.command("token", "add", "--user", "admin").stdout.strip()
    first = warm.post(ARTICLES, P1, key=key)
    assert_replay(warm.post(ARTICLES, P1, key=key, token=other), first)


def test_c27_right_that_was_lost(make_server):
    s = make_server()
    key = new_key()
    assert s.post(ARTICLES, P1, key=key, token=s.tokens["author"]).status == 201
    s.stop()
    db = sqlite3.connect(s.db)
    db.execute("UPDATE user SET role = 'viewer' WHERE name = 'author'")
    db.commit()
    db.close()
    s.start()
    r = s.post(ARTICLES, P1, key=key, token=s.tokens["author"])
    assert_problem(r, 403, "forbidden")
    assert b"T1" not in r.body


def test_c28_one_key_on_two_routes(warm):
    key = new_key()
    a, b = warm.post(ARTICLES, P1, key=key), warm.post("/api/v1/pages", P1, key=key)
    assert a.status == b.status == 201
    assert a.json()["kind"] == "article" and b.json()["kind"] == "page"


@pytest.mark.parametrize("headers", [{}, {"Authorization": "Bearer stele_wrong"}, {"Authorization": "Basic eDp5"}])
def test_c32_anonymous(warm, headers):
    key = new_key()
    r = warm.request("POST", ARTICLES, P1, key=key, headers=headers)
    assert_problem(r, 401, "unauthenticated")
    assert "Bearer" in r.headers["WWW-Authenticate"]
    assert record(warm, key) is None


# D. What counts as the same request


def test_c34_c35_other_request(warm):
    key, d = new_key(), Delta(warm)
    first = warm.post(ARTICLES, P1, key=key)
    row = tuple(record(warm, key))
    conflicts = warm.metrics()["idem_conflict_total"]
    r = warm.post(ARTICLES, P2, key=key)
    body = assert_problem(r, 409, "idempotency_key_conflict")
    assert body["retryable"] is False
    assert "new key" in body["detail"]
    assert "Retry-After" not in r.headers
    assert 'rel="describedby"' in r.headers["Link"]
    assert b"T1" not in r.body and first.json()["id"].encode() not in r.body
    assert d.art == 1
    assert tuple(record(warm, key))[:17] == row[:17]
    assert eventually(lambda: record(warm, key)["conflict_count"] == 1)
    assert warm.metrics()["idem_conflict_total"] == conflicts + 1
    assert_replay(warm.post(ARTICLES, P1, key=key), first)


JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize("again", [
    '{ "title" : "T1",\n\t"content":"C1" }\n', '{"content":"C1","title":"T1"}', '{"title":"\\u00541","content":"C\\u0031"}'])
def test_c37_other_spelling_of_the_same_json(warm, again):
    key = new_key()
    first = warm.post(ARTICLES, '{"title":"T1","content":"C1"}', key=key, headers=JSON)
    assert first.status == 201
    assert_replay(warm.post(ARTICLES, again, key=key, headers=JSON), first)


def test_numbers_are_compared_by_value(warm):
    key = new_key()
    first = warm.post(ARTICLES, '{"title":"T1","fields":{"n":1,"m":-1001234567890123456789}}', key=key, headers=JSON)
    assert first.status == 201, first
    assert_replay(warm.post(ARTICLES, '{"title":"T1","fields":{"n":1.0e0,"m":-1001234567890123456789}}', key=key, headers=JSON), first)
    assert warm.post(ARTICLES, '{"title":"T1","fields":{"n":1,"m":-1001234567890123456788}}', key=key, headers=JSON).status == 409


def test_c39_no_normalisation_in_the_hash(warm):
    key = new_key()
    assert warm.post(ARTICLES, {"title": "caf\u00e9"}, key=key).status == 201
    assert_problem(warm.post(ARTICLES, {"title": "cafe\u0301"}, key=key), 409, "idempotency_key_conflict")


def test_c40_two_keys_for_two_normal_forms(warm):
    a = warm.post(ARTICLES, {"title": "na\u00efve caf\u00e9"})
    b = warm.post(ARTICLES, {"title": "nai\u0308ve cafe\u0301"})
    assert a.status == b.status == 201
    assert b.json()["slug"] == a.json()["slug"] + "-2"


def test_c42_number_and_text(warm):
    key = new_key()
    assert warm.post(ARTICLES, {**P1, "fields": {"n": 1}}, key=key).status == 201
    row = tuple(record(warm, key))
    assert warm.post(ARTICLES, {**P1, "fields": {"n": "1"}}, key=key).status == 409
    assert tuple(record(warm, key))[:17] == row[:17]


def test_c44_null_and_missing(warm):
    key = new_key()
    assert warm.post(ARTICLES, {**P1, "summary": None}, key=key).status == 201
    assert warm.post(ARTICLES, P1, key=key).status == 409


BAD_JSON = {
    "c46 twice the same name": b'{"title":"a","title":"b"}',
    "c47 cut": b'{"title":"a"',
    "c47 invalid UTF-8": b'{"title":"a\xff"}',
    "c47 lone surrogate": b'{"title":"\\ud800"}',
    "c47 raw NUL": b'{"title":"a\0"}',
    "c47 deep": b'{"title":"a","fields":' + b'{"a":' * 100 + b"1" + b"}" * 101,
    "c47 trailing": b'{"title":"a"} x',
    "c48 BOM": b'\xef\xbb\xbf{"title":"a"}',
    "empty": b"",
}


@pytest.mark.parametrize("body", BAD_JSON.values(), ids=BAD_JSON)
def test_c46_c47_c48_malformed(warm, body):
    key, d = new_key(), Delta(warm)
    for _ in range(2):
        assert_problem(warm.post(ARTICLES, body, key=key, headers=JSON), 400, "malformed_json")
    assert record(warm, key) is None and d.art == 0
    assert warm.post(ARTICLES, P1, key=key).status == 201


def test_c50_charset_is_no_difference(warm):
    key = new_key()
    first = warm.post(ARTICLES, P1, key=key, headers={"Content-Type": "application/json; charset=utf-8"})
    assert first.status == 201
    assert_replay(warm.post(ARTICLES, P1, key=key), first)


def test_c51_other_media_type(warm):
    key = new_key()
    first = warm.post(ARTICLES, P1, key=key)
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    assert_problem(warm.post(ARTICLES, "title=T1&content=C1", key=key, headers=form), 409, "idempotency_key_conflict")
    assert_replay(warm.post(ARTICLES, P1, key=key), first)
    key = new_key()
    assert_problem(warm.post(ARTICLES, "title=T1&content=C1", key=key, headers=form), 415, "unsupported_media_type")
    assert record(warm, key) is None


def test_c52_what_is_not_in_the_hash(warm):
    key = new_key()
    first = warm.post(ARTICLES, P1, key=key)
    again = warm.post(ARTICLES, P1, key=key, headers={"User-Agent": "other", "Accept-Language": "de", "Cookie": "a=b",
                                                      "Host": f"127.0.0.1:{warm.port}", "X-Request-Id": "mine"})
    assert_replay(again, first)


def test_c56_coded_body(warm):
    key = new_key()
    r = warm.post(ARTICLES, b"\x1f\x8b", key=key, headers={**JSON, "Content-Encoding": "gzip"})
    assert_problem(r, 415, "unsupported_media_type")
    assert warm.post(ARTICLES, P1, key=key).status == 201


# E. The key itself


def test_c58_no_key(warm):
    d = Delta(warm)
    r = warm.post(ARTICLES, P1, key=None)
    assert_problem(r, 400, "idempotency_key_required")
    assert 'rel="describedby"' in r.headers["Link"]
    assert d.art == 0


def test_c59_empty_header(warm):
    d = Delta(warm)
    assert warm.post(ARTICLES, P1, key=None, headers=[("Idempotency-Key", "")]).status == 400
    assert d.art == 0


@pytest.mark.parametrize("value", ['""', "   ", "x" * 15, "x" * 65, "x" * 5000, '"' + "x" * 16, "x" * 16 + ";a=1", "a" * 16 + "," + "b" * 16,
                                   "a%0ab-1234567890", "'; DROP TABLE resource; --", 'quote"inside-1234', "00000000-0000-0000-0000-000000000000",
                                   "tab\tinside-123456"])
def test_c60_c61_c63_c64_c73_bad_keys(warm, value):
    d = Delta(warm)
    r = warm.post(ARTICLES, P1, key=None, headers=[("Idempotency-Key", value)])
    assert r.status == 400, r
    assert r.json()["code"] in ("idempotency_key_invalid", "idempotency_key_required")
    assert (d.art, d.idem) == (0, 0)
    assert warm.value("SELECT count(*) FROM sqlite_schema WHERE name = 'resource'") == 1


def test_c64_bytes_that_are_no_text(warm):
    d = Delta(warm)
    r = warm.post(ARTICLES, P1, key=None, headers=[("Idempotency-Key", "ümlaut-key-123456")])
    assert r.status == 400
    assert d.art == 0


def test_two_key_lines(warm):
    k = new_key()
    r = warm.post(ARTICLES, P1, key=None, headers=[("Idempotency-Key", k), ("Idempotency-Key", k)])
    assert_problem(r, 400, "idempotency_key_invalid")


@pytest.mark.parametrize("length", [16, 64])
def test_c61_lengths_at_the_border(warm, length):
    key = (new_key() + new_key())[:length]
    assert warm.post(ARTICLES, P1, key=key).status == 201
    assert record(warm, key)["idempotency_key"] == key


def test_c65_quoted_and_bare(warm):
    key = new_key()
    first = warm.post(ARTICLES, P1, key=key)
    assert_replay(warm.post(ARTICLES, P1, key=f'"{key}"'), first)


def test_c67_case_counts(warm):
    key = new_key()
    d = Delta(warm)
    assert warm.post(ARTICLES, P1, key=key).status == 201
    assert warm.post(ARTICLES, P1, key=key.upper()).status == 201
    assert d.idem == 2


def test_c69_case_of_the_name_does_not(warm):
    key = new_key()
    first = warm.post(ARTICLES, P1, key=None, headers=[("IDEMPOTENCY-KEY", key)])
    assert first.status == 201
    assert_replay(warm.post(ARTICLES, P1, key=key), first)


def test_c70_key_in_the_body(warm):
    key = new_key()
    first = warm.post(ARTICLES, {**P1, "idempotency_key": key}, key=None)
    assert first.status == 201
    assert_replay(warm.post(ARTICLES, P1, key=key), first)


def test_c71_key_in_both(warm):
    key = new_key()
    r = warm.post(ARTICLES, {**P1, "idempotency_key": new_key()}, key=key)
    assert_problem(r, 400, "idempotency_key_mismatch")
    assert 'rel="describedby"' in r.headers["Link"]
    assert warm.post(ARTICLES, {**P1, "idempotency_key": key}, key=key).status == 201
    for bad in (7, "short", ""):
        assert_problem(warm.post(ARTICLES, {**P1, "idempotency_key": bad}, key=None), 400, "idempotency_key_invalid")


def test_c73_weak_key_of_two_users(warm):
    a = warm.post(ARTICLES, P1, key="1234567890123456")
    b = warm.post(ARTICLES, P1, key="1234567890123456", token=warm.token_b)
    assert a.status == b.status == 201


def test_c74_reads_write_nothing(warm):
    a = warm.post(ARTICLES, {**P1, "state": "published"}).json()
    urls = ["/", a["path"], "/articles", "/tags", "/sitemap.xml", "/robots.txt", "/nothing", f"{ARTICLES}/{a['id']}", ARTICLES]
    d = Delta(warm)
    rows = warm.value("SELECT (SELECT count(*) FROM change_log) + (SELECT count(*) FROM revision) + (SELECT count(*) FROM path)")
    for _ in range(25):
        for url in urls:
            assert warm.get(url, key=new_key()).status in (200, 404)
            warm.request("HEAD", url, key=new_key())
    assert (d.art, d.idem, d.out) == (0, 0, 0)
    assert warm.value("SELECT (SELECT count(*) FROM change_log) + (SELECT count(*) FROM revision) + (SELECT count(*) FROM path)") == rows


# F. Failures


def test_c76_refusals_leave_the_key(warm):
    key = new_key()
    r = warm.post(ARTICLES, P1, key=key, token=None)
    assert r.status == 401
    assert warm.post(ARTICLES, P1, key=key, token=warm.tokens["viewer"]).status == 403
    assert warm.post(f"{ARTICLES}/nothing/publish", key=key).status == 404
    assert warm.request("PUT", ARTICLES, P1, token=warm.token, key=key).status == 405
    assert warm.request("POST", ARTICLES, b"2\r\n{}\r\n0\r\n\r\n", token=warm.token, key=key,
                        headers={**JSON, "Transfer-Encoding": "chunked", "Content-Length": "2"}).status in (400, 411)
    r = warm.post(ARTICLES, b" " * (2 * 1024 * 1024 + 1), key=key, headers=JSON)
    assert r.status == 413 and "Retry-After" not in r.headers
    assert warm.post(ARTICLES, b"x", key=key, headers={"Content-Type": "text/plain"}).status == 415
    assert warm.post(ARTICLES, {"titel": "x"}, key=key).status == 422
    assert record(warm, key) is None
    assert warm.post(ARTICLES, P1, key=key).status == 201


def test_c76_too_many_requests(make_server):
    s = make_server(workers=1, env={"STELE_REQUEST_RATE": "2"})
    key = new_key()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: s.get(ARTICLES, token=s.token), range(20)))
    assert {r.status for r in answers} == {200, 429}
    r = s.post(ARTICLES, P1, key=key)
    assert_problem(r, 429, "rate_limited")
    assert int(r.headers["Retry-After"]) >= 1
    assert record(s, key) is None
    # Somebody else has a bucket of their own.
    assert s.post(ARTICLES, P1, token=s.token_b).status == 201
    time.sleep(1.2)
    assert s.post(ARTICLES, P1, key=key).status == 201


def test_replays_are_free_of_the_write_quota(make_server):
    s = make_server(workers=1, env={"STELE_WRITE_RATE": "1"})
    key = new_key()
    first = s.post(ARTICLES, P1, key=key)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        fresh = list(pool.map(lambda _: s.post(ARTICLES, P1).status, range(10)))
    assert 429 in fresh
    for _ in range(10):
        assert_replay(s.post(ARTICLES, P1, key=key), first)


def test_c77_c78_c82_refusal_is_kept(warm):
    slug, key = f"s-{new_key()}", new_key()
    holder = warm.post(ARTICLES, {**P1, "slug": slug}).json()
    d = Delta(warm)
    first = warm.post(ARTICLES, {**P2, "slug": slug}, key=key)
    body = assert_problem(first, 409, "slug_conflict")
    assert body["retryable"] is False
    assert holder["id"] in body["detail"] and "draft" in body["detail"]
    assert first.headers["Idempotent-Replayed"] == "false"
    row = record(warm, key)
    assert (row["status"], row["retryable"], row["response_status"]) == ("FAILED", 0, 409)
    for _ in range(3):
        again = warm.post(ARTICLES, {**P2, "slug": slug}, key=key)
        assert again.status == 409 and again.headers["Idempotent-Replayed"] == "true"
        assert again.headers["Content-Type"] == "application/problem+json"
        assert again.body == first.body
    assert d.art == 0 and d.out == 0
    other = {**P2, "slug": f"t-{new_key()}"}
    assert_problem(warm.post(ARTICLES, other, key=key), 409, "idempotency_key_conflict")
    assert warm.post(ARTICLES, other).status == 201


@pytest.mark.parametrize("point", ["pre_claim", "post_claim", "pre_commit"])
def test_c79_failure_on_our_side_is_not_kept(make_server, point):
    s = make_server(workers=1, env={"STELE_FAULT": f"{point}:error:1"})
    key = new_key()
    r = s.post(ARTICLES, P1, key=key)
    assert r.status in (500, 503), r
    assert r.json()["retryable"] is True
    assert s.value("SELECT count(*) FROM resource") == 0
    assert record(s, key) is None
    r = s.post(ARTICLES, P1, key=key)
    assert r.status == 201 and r.headers["Idempotent-Replayed"] == "false"


def test_c81_log_tells_of_every_attempt(warm):
    key = new_key()
    ids = [warm.post(ARTICLES, {"titel": "x"}, key=key).headers["X-Request-Id"] for _ in range(3)]
    ids.append(warm.post(ARTICLES, P1, key=key).headers["X-Request-Id"])
    lines = eventually(lambda: [x for x in (e for e in warm.log_events("request") if e.get("idempotency_key") == key)][3:]) and \
        [e for e in warm.log_events("request") if e.get("idempotency_key") == key]
    assert [e["request_id"] for e in lines] == ids
    assert [e["status"] for e in lines] == [422, 422, 422, 201]
    assert warm.token not in warm.log_text()


# G. Expiry


def expire(server, key):
    db = sqlite3.connect(server.db, timeout=10)
    db.execute("UPDATE idempotency_record SET expired_at = 1 WHERE idempotency_key = ?", (key,))
    db.commit()
    db.close()


def test_c91_expired_is_absent(warm):
    key, d = new_key(), Delta(warm)
    assert warm.post(ARTICLES, P1, key=key).status == 201
    expire(warm, key)
    assert warm.post(ARTICLES, P2, key=key).status == 201
    assert (d.art, d.idem) == (2, 1)


def test_c92_natural_key_still_guards(warm):
    key, d, body = new_key(), Delta(warm), {**P1, "client_ref": new_key()}
    first = warm.post(ARTICLES, body, key=key)
    expire(warm, key)
    r = warm.post(ARTICLES, body, key=key)
    assert r.status == 200 and r.headers["Idempotent-Replayed"] == "true"
    assert r.json()["id"] == first.json()["id"]
    assert d.art == 1
    assert_problem(warm.post(ARTICLES, {**body, "title": "other"}), 409, "client_ref_conflict")


def test_c93_given_slug_still_guards(warm):
    key, body = new_key(), {**P1, "slug": f"s-{new_key()}", "state": "published"}
    first = warm.post(ARTICLES, body, key=key)
    expire(warm, key)
    problem = assert_problem(warm.post(ARTICLES, body, key=key), 409, "slug_conflict")
    assert first.json()["id"] in problem["detail"] and "live" in problem["detail"]
    assert warm.value("SELECT count(*) FROM path WHERE path = ?", first.json()["path"]) == 1


WRITES = re.findall(r'^WRITE\(\w+, "(\w+)", "([^"]+)", \w+, (\w+),', (ROOT / "app/core/writes.def").read_text(), re.M)
DAYS = {"WRITE": 7, "STATE": 30}


# What each route takes, in an order in which each state allows the next: the last part of the route, or else the method.
STEPS = ("CREATE", "bulk", "import", "PATCH", "PUT", "move", "publish", "withdraw", "schedule", "cancel", "duplicate", "DELETE", "restore")


def step_of(method, route):
    last = route.rsplit("/", 1)[1]
    return last if last in STEPS else "CREATE" if method == "POST" else method


def body_for(kind, step):
    if step == "duplicate":
        return {"decision": "undo"}
    if kind == "imports":
        return {"items": [{"article": {"title": new_key()}}]}
    if kind == "redirects":
        return {"CREATE": {"source": f"/{new_key()}", "target": "https://example.org/"}, "PATCH": {"target": "https://example.org/other"},
                "import": f"source,target\n/{new_key()},https://example.org/\n"}.get(step)
    title = {"title": new_key()}
    return {"CREATE": title, "PATCH": title, "PUT": {**title, "content": "c"}, "move": {"slug": new_key()},
            "schedule": {"publish_at": "2999-01-01T00:00:00Z"}, "bulk": {"action": "publish", "ids": [new_key()]}}.get(step)


def test_c98_every_route_keeps_its_records_as_long_as_the_manual_says(warm):
    longest_retry = 3 * 24 * 3600 * 1000
    assert len(WRITES) == len({w[:2] for w in WRITES}) > 0
    manual = " ".join(warm.get("/docs/idempotency").text.split())
    assert "kept for 7 days" in manual and "withdrawing for 30" in manual
    ids = {}
    for method, route, retention in sorted(WRITES, key=lambda w: STEPS.index(step_of(*w[:2]))):
        key, kind, step = new_key(), route.split("/")[3], step_of(method, route)
        headers = {"If-Match": "*"} if method in ("PATCH", "PUT", "DELETE") else {}
        body = body_for(kind, step)
        if isinstance(body, str):
            headers["Content-Type"] = "text/csv"
        r = warm.request(method, route.replace("{id}", ids.get(kind, "")).replace("{n}", "1"), body, token=warm.token, key=key, headers=headers)
        # An operation is over by then: a refusal that is kept like any answer.
        assert r.status in (200, 201, 202) or (kind, r.status) == ("operations", 409), (route, r)
        if step == "CREATE":
            ids["operations" if r.status == 202 else kind] = r.json()["id"]
        row = record(warm, key)
        assert (row["method"], row["route"]) == (method, route)
        assert row["expired_at"] - row["created_at"] == DAYS[retention] * 24 * 3600 * 1000 > longest_retry
        if r.status == 202:
            settled(warm, r.headers["Location"])


def test_c98_retention(warm):
    a = warm.post(ARTICLES, P1, key=(create := new_key())).json()
    warm.post(f"{ARTICLES}/{a['id']}/publish", key=(publish := new_key()))
    for key, days in ((create, 7), (publish, 30)):
        row = record(warm, key)
        assert row["expired_at"] - row["created_at"] == days * 24 * 3600 * 1000


# H. Same content, other key


TEXT = "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor. " * 5


def test_c99_same_text_twice(warm):
    text = f"{new_key()} {TEXT}"
    a = warm.post(ARTICLES, {"title": "Same", "content": text, "state": "published"}).json()
    b = warm.post(ARTICLES, {"title": "Same", "content": text, "state": "published"}).json()
    assert len({a["id"], b["id"]}) == len({a["slug"], b["slug"]}) == len({a["url"], b["url"]}) == 2
    assert b["canonical"] == a["url"] and a["canonical"] == a["url"]
    assert b["duplicate_of"] == a["id"]
    listed = [r["path"] for r in warm.sql("SELECT path FROM sitemap_entry")]
    assert a["path"] in listed and b["path"] not in listed


def test_c100_one_slug_for_two_at_once(warm):
    slug = f"s-{new_key()}"
    keys, d = (new_key(), new_key()), Delta(warm)
    barrier = threading.Barrier(2)

    def one(at):
        barrier.wait()
        return warm.post(ARTICLES, {**P1, "slug": slug, "state": "published"}, token=(warm.token, warm.token_b)[at], key=keys[at])

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        answers = sorted(pool.map(one, (0, 1)), key=lambda r: r.status)
    assert [r.status for r in answers] == [201, 409]
    body = assert_problem(answers[1], 409, "slug_conflict")
    assert body["retryable"] is False and answers[0].json()["id"] in body["detail"]
    assert sorted(tuple(record(warm, k)[c] for c in ("status", "retryable", "response_status")) for k in keys) == [("FAILED", 0, 409), ("SUCCESS", 0, 201)]
    assert (d.art, d.idem) == (1, 2)
    assert warm.value("SELECT count(*) FROM outbox WHERE topic = 'resource.published' AND aggregate_id = (SELECT resource_id FROM path WHERE path = ?)", answers[0].json()["path"]) == 1
    assert warm.value("SELECT count(*) FROM sitemap_entry WHERE path = ?", answers[0].json()["path"]) == 1


def test_f13_twenty_equal_titles_at_once(warm):
    title = new_key()
    with concurrent.futures.ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda _: warm.post(ARTICLES, {"title": title}), range(20)))
    assert {r.status for r in answers} == {201}
    assert {r.json()["slug"] for r in answers} == {title} | {f"{title}-{n}" for n in range(2, 21)}


def test_c107_published_in_parallel_is_listed_once(warm):
    key, title = new_key(), new_key()
    with concurrent.futures.ThreadPoolExecutor(30) as pool:
        answers = list(pool.map(lambda _: warm.post(ARTICLES, {"title": title, "state": "published"}, key=key), range(30)))
    assert {r.status for r in answers} == {200, 201}
    assert [loc for loc in site_pages.locs(warm) if title in loc] == [answers[0].json()["url"]]


# M. PATCH with If-Match


def patch(server, id, body, etag=None, key=None):
    return server.request("PATCH", f"{ARTICLES}/{id}", body, token=server.token, key=key, headers={"If-Match": etag} if etag else {})


def test_c153_without_if_match(warm):
    a = warm.post(ARTICLES, P1).json()
    assert_problem(patch(warm, a["id"], {"title": "x"}), 428, "precondition_required")


def test_c154_lost_answer_of_an_update(warm):
    a = warm.post(ARTICLES, P1).json()
    key = new_key()
    first = patch(warm, a["id"], {"title": "x"}, '"1"', key)
    assert first.status == 200 and first.headers["ETag"] == '"2"' and first.headers["Idempotent-Replayed"] == "false"
    again = patch(warm, a["id"], {"title": "x"}, '"1"', key)
    assert_replay(again, first, 200)
    assert warm.value("SELECT edit_version FROM resource WHERE uid = ?", a["id"]) == 2
    # Without a key the version is what stops a repeat.
    assert_problem(patch(warm, a["id"], {"title": "x"}, '"1"'), 412, "version_conflict")


def test_c154_if_match_is_part_of_the_request(warm):
    a = warm.post(ARTICLES, P1).json()
    key = new_key()
    assert patch(warm, a["id"], {"title": "x"}, '"1"', key).status == 200
    assert_problem(patch(warm, a["id"], {"title": "x"}, '"2"', key), 409, "idempotency_key_conflict")


def test_c156_two_edits_of_one_version(warm):
    a = warm.post(ARTICLES, P1).json()
    barrier = threading.Barrier(2)

    def one(title):
        barrier.wait()
        return patch(warm, a["id"], {"title": title}, '"1"', new_key())

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(one, ("x", "y")))
    assert sorted(r.status for r in answers) == [200, 412]
    row = warm.sql("SELECT edit_version, head_revision FROM resource WHERE uid = ?", a["id"])[0]
    assert tuple(row) == (2, 2)


def test_c159_star_and_weak(warm):
    a = warm.post(ARTICLES, P1).json()
    assert_problem(patch(warm, a["id"], {"title": "x"}, 'W/"1"'), 412, "version_conflict")
    assert patch(warm, a["id"], {"title": "x"}, "*").status == 200


def test_stale_version_leaves_the_key(warm):
    a = warm.post(ARTICLES, P1).json()
    key = new_key()
    r = patch(warm, a["id"], {"title": "x"}, '"9"', key)
    assert_problem(r, 412, "version_conflict")
    assert '"1"' in r.json()["detail"].replace("\\", "")
    assert record(warm, key) is None
    assert patch(warm, a["id"], {"title": "x"}, '"1"', key).status == 200


# N. Constraints


@pytest.mark.parametrize("sql", [
    "INSERT INTO idempotency_record SELECT * FROM idempotency_record LIMIT 1",
    "INSERT INTO path (path, fold, role, resource_id, was_canonical, created_at) SELECT path, 'x', role, resource_id, 1, 1 FROM path WHERE role = 'canonical' LIMIT 1",
    "INSERT INTO path (path, fold, role, resource_id, was_canonical, created_at) SELECT '/other', fold, 'alias', resource_id, 1, 1 FROM path "
    "WHERE was_canonical = 1 LIMIT 1",
    "INSERT INTO path (path, fold, role, resource_id, was_canonical, created_at) SELECT '/other', '/other', 'canonical', resource_id, 1, 1 "
    "FROM path WHERE role = 'canonical' LIMIT 1",
    "INSERT INTO outbox (aggregate, aggregate_id, event_version, topic, payload, created_at) SELECT aggregate, aggregate_id, event_version, "
    "topic, payload, created_at FROM outbox LIMIT 1",
    "UPDATE resource SET ref_source = 'x', client_ref = 'x', ref_hash = 'x' WHERE id IN (SELECT id FROM resource LIMIT 2)",
    "UPDATE resource SET uid = (SELECT max(uid) FROM resource)",
    "INSERT INTO processed_message (source, message_id, processed_at) VALUES ('bot', '7', 1), ('bot', '7', 2)",
    "INSERT INTO path_query (path, pairs, target, created_at) VALUES ('/', 'p=1', '/articles', 1), ('/', 'p=1', '/tags', 2)",
    "INSERT INTO path_rule (pattern, target, created_at) VALUES ('/twice/*', '/a/*', 1), ('/twice/*', '/b/*', 2)",
    "INSERT INTO revision SELECT * FROM revision LIMIT 1",
])
def test_c166_constraints_stand_in_the_database(warm, sql):
    db = sqlite3.connect(warm.db, timeout=10)
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
        db.execute(sql)
    db.rollback()
    db.close()
