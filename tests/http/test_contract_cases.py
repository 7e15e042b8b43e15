"""More cases of the contract of a retry, with real clients, every route and every table. The numbers are those of the contract."""
import concurrent.futures
import hashlib
import http.client
import json
import random
import re
import sqlite3
import subprocess
import threading

import pytest

from lossy import PASS, Cut, LossyProxy
from site_pages import locs, publish, resource_id, wait_for, word
from stele import ROOT, new_key
from test_idempotency import ARTICLES, P1, P2, STEPS, WRITES, Delta, assert_problem, assert_replay, body_for, check_invariants, expire, record, send_only, step_of
from test_operations import items, settled


# A. Serial and concurrent repeats


EFFECTS = ("resource", "revision", "rendered", "path", "path_query", "path_rule", "outbox", "change_log", "live_tag", "operation", "operation_entry", "audit_entry")


def effects(server):
    return {t: server.value(f"SELECT count(*) FROM {t}") for t in EFFECTS} | {
        "versions": server.value("SELECT coalesce(sum(edit_version), 0) FROM resource") + server.value("SELECT coalesce(sum(version), 0) FROM path")}


def write_of_every_route():
    return sorted((w[:2] for w in WRITES), key=lambda w: STEPS.index(step_of(*w)))


def sent(server, method, route, ids):
    """A function that sends one and the same request of that route, for what was made before; and the kind of thing it is about."""
    key, kind, step = new_key(), route.split("/")[3], step_of(method, route)
    headers = {"If-Match": "*"} if method in ("PATCH", "PUT", "DELETE") else {}
    body = body_for(kind, step)
    if isinstance(body, str):
        headers["Content-Type"] = "text/csv"
    path = route.replace("{id}", ids.get(kind, "")).replace("{n}", "1")
    return lambda connection=None: server.request(method, path, body, token=server.token, key=key, headers=headers, connection=connection), kind, step


def test_c2_a_write_of_any_route_that_is_sent_again_changes_nothing_and_gets_the_same_bytes(make_server):
    s = make_server()
    ids, seen = {}, set()
    for method, route in write_of_every_route():
        send, kind, step = sent(s, method, route, ids)
        first = send()
        if first.status == 202:
            settled(s, first.headers["Location"])
            first = send()
            assert first.headers["Idempotency-Original-Status"] == "202"
        if step == "CREATE":
            ids["operations" if "operations" in first.headers.get("Location", "") else kind] = first.json()["id"]
        before = effects(s)
        for _ in range(3):
            again = send()
            assert again.headers["Idempotent-Replayed"] == "true", (route, again)
            assert again.status == (409 if first.status == 409 else 200) and again.body == first.body, (route, again)
            for name in ("Location", "ETag", "Link", "Content-Type"):
                assert again.headers.get(name) == first.headers.get(name), (route, name)
        assert effects(s) == before, route
        seen.add(first.status)
    assert seen <= {200, 201, 409} and len(ids) > 5
    check_invariants(s)


def test_c3_a_write_of_any_route_that_comes_eight_times_at_once_is_done_once(make_server):
    s = make_server()
    ids = {}
    for method, route in write_of_every_route():
        send, kind, step = sent(s, method, route, ids)
        barrier = threading.Barrier(8)

        def one(_):
            barrier.wait()
            return send()

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(one, range(8)))
        done_now = [r for r in answers if r.headers["Idempotent-Replayed"] == "false"]
        if 202 in {r.status for r in answers}:
            assert len({r.headers["Location"] for r in answers}) == 1 and {r.status for r in answers} <= {200, 202}
            settled(s, answers[0].headers["Location"])
            assert s.value("SELECT count(*) FROM operation") == len([k for k in ids if k in ("operations", "imported")]) + 1
            ids["imported" if "operations" in ids else "operations"] = answers[0].headers["Location"].rsplit("/", 1)[1]
        else:
            assert len(done_now) == 1 and len({r.body for r in answers}) == 1, (route, answers)
            assert {r.status for r in answers} <= {done_now[0].status, 200}, (route, answers)
        if step == "CREATE" and kind != "imports":
            ids[kind] = answers[0].json()["id"]
        # What was done, was done once: one version more at most, and no event of it twice.
        assert s.sql("SELECT 1 FROM outbox GROUP BY aggregate, aggregate_id, topic, event_version HAVING count(*) > 1") == []
    for kind in ("article", "page", "tag", "author"):
        rid = s.value("SELECT id FROM resource WHERE uid = ?", ids[kind + "s"])
        topics = [r[0] for r in s.sql("SELECT topic FROM outbox WHERE aggregate_id = ? AND aggregate <> 'redirect'", rid)]
        assert [topics.count("resource." + what) for what in ("created", "deleted", "restored", "scheduled")] == [1, 1, 1, 1], (kind, topics)
    check_invariants(s)


# B. Crash, restart, response loss


def told(sock):
    """Status and body of the answer, or None when it never came whole."""
    data = b""
    try:
        while piece := sock.recv(65536):
            data += piece
            head, _, body = data.partition(b"\r\n\r\n")
            length = re.search(rb"(?i)^content-length: (\d+)", head, re.M)
            if length and len(body) == int(length[1]):
                return int(head.split()[1]), json.loads(body)
    except OSError:
        pass
    return None


def test_c11_a_write_of_any_route_whose_answer_is_lost_is_told_of_when_it_is_sent_again(make_server):
    """The reply is cut before its first byte; the retry gets, byte for byte, what nobody saw, and the rows are those of one write."""
    s = make_server()
    ids = {}
    for method, route in write_of_every_route():
        send, kind, step = sent(s, method, route, ids)
        with LossyProxy(s, [Cut("reply", "nothing")]) as proxy:
            with pytest.raises((OSError, http.client.HTTPException)):
                send(http.client.HTTPConnection(proxy.host, proxy.port, timeout=20))
            lost = proxy.exchanges[0].reply
        status = int(lost.first_line.split()[1])
        if status == 202:
            settled(s, lost.field("location"))
        before = effects(s)
        again = send()
        assert again.headers["Idempotent-Replayed"] == "true" and again.headers.get("Location") == lost.field("location"), (route, again)
        assert again.status == (409 if status == 409 else 200), (route, again)
        assert status == 202 or again.body == lost.body, route
        assert again.headers.get("Idempotency-Original-Status") == str(status), (route, again)
        assert effects(s) == before, route
        if step == "CREATE":
            ids["operations" if status == 202 else kind] = again.json()["id"]
    check_invariants(s)


def test_c18_what_was_told_before_the_stop_is_told_again_after_it(make_server):
    """Twenty requests meet the end of the server: whoever got an answer gets the same one again, whoever got none gets one article."""
    s = make_server()
    assert s.post(ARTICLES, {"title": "warm"}).status == 201
    keys, d = [new_key() for _ in range(20)], Delta(s)
    socks = [send_only(s, k, {"title": f"n{i}"}) for i, k in enumerate(keys)]
    s.stop()
    first = [told(sock) for sock in socks]
    for sock in socks:
        sock.close()
    s.start()
    ids = []
    for i, (k, was) in enumerate(zip(keys, first)):
        again = s.post(ARTICLES, {"title": f"n{i}"}, key=k)
        ids.append(again.json()["id"])
        if was is not None and was[0] == 201:
            assert (again.status, again.headers["Idempotent-Replayed"], again.json()) == (200, "true", was[1])
        else:
            assert again.status in (200, 201)
            assert was is None or was[0] == 503
    assert len(set(ids)) == 20 and (d.art, d.idem, d.out) == (20, 20, 20)
    check_invariants(s)


def test_c20_curl_that_silently_sends_again_on_a_new_connection(server, tmp_path):
    """Without any option to retry: the kept connection closes without a byte although the server did the work, and curl sends the POST once more."""
    first, second = (tmp_path / name for name in ("first", "second"))
    titles, keys = [word(), word()], [new_key(), new_key()]
    with LossyProxy(server, [PASS, Cut("reply", "nothing"), PASS]) as proxy:
        argv = ["curl", "-sS"]
        for n, file in enumerate((first, second)):
            argv += ["--next", "-sS"] if n else []
            argv += ["-o", str(file), "-w", "%{http_code} ", f"http://{proxy.host}:{proxy.port}{ARTICLES}", "-H", f"Authorization: Bearer {server.token}",
                     "-H", f"Idempotency-Key: {keys[n]}", "-H", "Content-Type: application/json", "-d", json.dumps({"title": titles[n]})]
        run = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    assert run.returncode == 0 and run.stdout.split() == ["201", "200"], run
    assert [e.request.field("idempotency-key") for e in proxy.exchanges] == [keys[0], keys[1], keys[1]]
    assert second.read_bytes() == proxy.exchanges[1].reply.body
    for title in titles:
        assert server.value("SELECT count(*) FROM resource WHERE slug = ?", title) == 1
        assert server.value("SELECT count(*) FROM outbox o JOIN resource r ON r.id = o.aggregate_id WHERE r.slug = ?", title) == 1


# C. Scope of the key


def test_c27_replay_of_what_is_no_longer_ones_own(make_server):
    """The right to the resource of the record is asked for again, not only the role."""
    s = make_server()
    key, token = new_key(), s.tokens["author"]
    mine = s.post(ARTICLES, {"title": "Secret", "content": "c"}, token=token).json()
    first = s.request("PATCH", f"{ARTICLES}/{mine['id']}", {"title": "Secret two"}, token=token, key=key, headers={"If-Match": '"1"'})
    assert first.status == 200
    db = sqlite3.connect(s.db, timeout=10)
    with db:
        db.execute("UPDATE resource SET owner_user = (SELECT id FROM user WHERE name = 'editor') WHERE uid = ?", (mine["id"],))
    db.close()
    again = s.request("PATCH", f"{ARTICLES}/{mine['id']}", {"title": "Secret two"}, token=token, key=key, headers={"If-Match": '"1"'})
    assert again.status in (403, 404) and b"Secret" not in again.body, again
    assert s.value("SELECT edit_version FROM resource WHERE uid = ?", mine["id"]) == 2


def test_c25_another_token_of_the_user_gets_no_more_than_it_may(make_server):
    """The saved answer belongs to the user; a token that may not write is refused before anything is looked up."""
    s = make_server()
    key, narrow = new_key(), s.command("token", "add", "--user", "admin", "--scopes", "read").stdout.strip()
    first = s.post(ARTICLES, {"title": "Secret"}, key=key)
    r = s.post(ARTICLES, {"title": "Secret"}, key=key, token=narrow)
    assert_problem(r, 403, "forbidden")
    assert b"Secret" not in r.body and first.json()["id"].encode() not in r.body
    wide = s.command("token", "add", "--user", "admin").stdout.strip()
    assert_replay(s.post(ARTICLES, {"title": "Secret"}, key=key, token=wide), first)


@pytest.mark.parametrize("how", ["UPDATE user SET is_active = 0 WHERE name = 'author'", "UPDATE api_token SET expires_at = 1", "DELETE FROM api_token"])
def test_c32_who_is_nobody_any_more_gets_no_replay(make_server, how):
    s = make_server()
    key, token = new_key(), s.tokens["author"]
    assert s.post(ARTICLES, {"title": "Secret"}, key=key, token=token).status == 201
    s.stop()
    db = sqlite3.connect(s.db, timeout=10)
    with db:
        db.execute(how)
    db.close()
    s.start()
    row = tuple(record(s, key))
    r = s.post(ARTICLES, {"title": "Secret"}, key=key, token=token)
    assert_problem(r, 401, "unauthenticated")
    assert b"Secret" not in r.body and tuple(record(s, key)) == row


def test_c28_what_the_path_names_is_part_of_the_request(server):
    """One key, one route, two articles: the second is another request."""
    a, b, key = publish(server), publish(server), new_key()
    assert server.post(f"{ARTICLES}/{a['id']}/withdraw", key=key).status == 200
    r = server.post(f"{ARTICLES}/{b['id']}/withdraw", key=key)
    assert_problem(r, 409, "idempotency_key_conflict")
    assert a["id"].encode() not in r.body
    assert server.value("SELECT state FROM resource WHERE uid = ?", b["id"]) == "published"
    again = server.post(f"{ARTICLES}/{a['id']}/withdraw", key=key)
    assert (again.status, again.headers["Idempotent-Replayed"]) == (200, "true")


def test_c28_what_the_query_says_is_part_of_the_request_and_its_order_is_not(server):
    key, body = new_key(), items(1, word())
    first = server.post("/api/v1/imports?dry_run=1", body, key=key)
    assert first.status == 202
    assert_problem(server.post("/api/v1/imports", body, key=key), 409, "idempotency_key_conflict")
    settled(server, first.headers["Location"])
    assert server.post("/api/v1/imports?dry_run=1", body, key=key).headers["Idempotent-Replayed"] == "true"
    assert server.value("SELECT count(*) FROM resource WHERE slug LIKE ?", body["items"][0]["key"].split("-")[0] + "%") == 0


# D. What counts as the same request


@pytest.mark.parametrize("one,two", [({"summary": None}, {}), ({"tags": []}, {}), ({"tags": ["a", "b"]}, {"tags": ["b", "a"]}), ({"fields": {"n": True}}, {"fields": {"n": 1}}),
                                     ({"fields": {"n": 0.1}}, {"fields": {"n": 0.10000000000000001}}), ({"content": "C1 "}, {}), ({"title": "t1"}, {})])
def test_c42_c44_values_that_look_alike_are_other_requests(server, one, two):
    """Null is not missing, order in a list counts, true is not 1, and numbers are compared as they were written, not as doubles."""
    key = new_key()
    first = server.post(ARTICLES, json.dumps({**P1, **one}), key=key, headers={"Content-Type": "application/json"})
    assert first.status == 201
    row = tuple(record(server, key))[:17]
    second = json.dumps({**P1, **two})
    if "fields" in two and isinstance(two["fields"]["n"], float):
        second = second.replace("0.1}", "0.10000000000000001}")
    assert_problem(server.post(ARTICLES, second, key=key, headers={"Content-Type": "application/json"}), 409, "idempotency_key_conflict")
    assert tuple(record(server, key))[:17] == row
    assert_replay(server.post(ARTICLES, json.dumps({**P1, **one}), key=key, headers={"Content-Type": "application/json"}), first)


# E. The key itself


@pytest.mark.parametrize("value", [b'"event":"forged"-12345', b"%0a{%22event%22:%22x%22}", b"\\n\\u000a-0123456789", b"k\xc3\xa9y-0123456789abc", b"<script>alert(1)</script>", b"\x7f-0123456789abcdef"])
def test_c64_a_key_of_any_bytes_is_refused_and_leaves_one_whole_line_of_log(make_server, value):
    s = make_server(workers=1)
    d, body = Delta(s), json.dumps(P1).encode()
    out = s.raw(b"POST /api/v1/articles HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\n"
                b"Idempotency-Key: %s\r\nContent-Length: %d\r\n\r\n%s" % (s.port, s.token.encode(), value, len(body), body))
    assert out.startswith(b"HTTP/1.1 400 ")
    assert (d.art, d.idem) == (0, 0)
    assert s.post(ARTICLES, P1).status == 201
    wait_for(lambda: any(e["status"] == 201 for e in s.log_events("request")))
    for line in s.log_lines():
        assert isinstance(json.loads(line), dict)
    assert not [e for e in s.log_events("forged") + s.log_events("x")]


@pytest.mark.parametrize("step", ["patch", "put", "delete", "publish", "move", "bulk", "redirect"])
def test_c70_the_key_may_stand_in_the_body_of_any_write(server, step):
    a, key = publish(server), new_key()
    at = f"{ARTICLES}/{a['id']}"
    method, path, body = {"patch": ("PATCH", at, {"title": "x"}), "put": ("PUT", at, {"title": "x", "content": "c"}), "delete": ("DELETE", at, {}), "publish": ("POST", at + "/publish", {}),
                          "move": ("POST", at + "/move", {"slug": word()}), "bulk": ("POST", ARTICLES + "/bulk", {"action": "withdraw", "ids": [a["id"]]}),
                          "redirect": ("POST", "/api/v1/redirects", {"source": "/" + word(), "target": a["path"]})}[step]
    headers = {"If-Match": '"1"'} if method != "POST" else {}
    first = server.request(method, path, {**body, "idempotency_key": key}, token=server.token, headers=headers)
    assert first.status in (200, 201) and first.headers["Idempotent-Replayed"] == "false", first
    again = server.request(method, path, body, token=server.token, key=key, headers=headers)
    assert (again.status, again.headers["Idempotent-Replayed"], again.body) == (200, "true", first.body)
    assert record(server, key)["response_body"].encode() == first.body


GETS = re.findall(r'^ROUTE\(GET, "([^"]+)"', (ROOT / "app/http/routes.def").read_text(), re.M)


def content_of(server, but=()):
    """Every row of every table, as one hash each."""
    out = {}
    tables = [r[0] for r in server.sql("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")]
    for table in tables:
        digest = hashlib.sha256()
        for row in server.sql(f'SELECT * FROM "{table}" ORDER BY 1, 2'):
            digest.update(repr(tuple(row)).encode())
        out[table] = digest.hexdigest()
    return {t: h for t, h in out.items() if t not in but}


def test_c74_no_read_of_any_route_writes_anything(make_server):
    """A thousand reads of all routes, by anybody, with keys: the database holds the same bytes as before."""
    s = make_server(settings={"security_contact": "mailto:x@example.org"})
    made = {kind: publish(s, kind=kind) for kind in ("articles", "pages", "tags", "authors")}
    publish(s, tags=[made["tags"]["title"]], author=made["authors"]["slug"])
    made["redirects"] = s.post("/api/v1/redirects", {"source": "/old", "target": made["articles"]["id"]}).json()
    started = s.post("/api/v1/imports", items(1))
    settled(s, started.headers["Location"])
    made["operations"] = {"id": started.headers["Location"].rsplit("/", 1)[1]}
    asset = re.search(r"/assets/([^\"']+)", s.get("/").text)[1]
    paths = []
    for route in GETS:
        path = route.replace("{part}", "1").replace("{extension}", "atom").replace("{term}", made["tags"]["id"] + ".atom").replace("{file}", asset).replace("{page}", "errors").replace("{n}", "1").replace("*", made["articles"]["path"])
        if "{id}" in path:
            path = path.replace("{id}", made[path.split("/")[3]]["id"])
        paths.append(path + "?url=/" if path.endswith("/resolve") else path)
    assert not [p for p in paths if "{" in p] and len(paths) > 30
    answered = {}
    before = None
    for round in range(12):
        for path in paths:
            token = (None, s.token, s.tokens["viewer"])[round % 3]
            for method in ("GET", "HEAD"):
                r = s.request(method, path, token=token, key=True, headers=[("If-Match", '"1"')] if round % 2 else [])
                answered.setdefault(path, set()).add(r.status)
        if before is None:
            before = content_of(s)
    assert content_of(s, ()) == before
    for path, statuses in answered.items():
        assert 200 in statuses or path == "/sitemap-1.xml" or path.startswith("/media/"), (path, statuses)


# F. Failures


def test_c76_gone_leaves_the_key_for_when_it_is_back(server):
    a, key = publish(server), new_key()
    assert server.request("DELETE", f"{ARTICLES}/{a['id']}", token=server.token, headers={"If-Match": '"1"'}).status == 200
    for _ in range(2):
        assert_problem(server.post(f"{ARTICLES}/{a['id']}/publish", key=key), 410, "gone")
    assert record(server, key) is None
    assert server.post(f"{ARTICLES}/{a['id']}/restore").status == 200
    r = server.post(f"{ARTICLES}/{a['id']}/publish", key=key)
    assert (r.status, r.headers["Idempotent-Replayed"], r.json()["state"]) == (200, "false", "published")


# G. Expiry


@pytest.mark.parametrize("kind", ["pages", "tags", "authors"])
def test_c92_a_reference_of_the_client_guards_every_kind_and_belongs_to_one_thing(server, kind):
    body = {"title": word(), "client_ref": new_key()}
    first = server.post(f"/api/v1/{kind}", body)
    again = server.post(f"/api/v1/{kind}", body)
    assert (first.status, again.status, again.headers["Idempotent-Replayed"]) == (201, 200, "true")
    assert again.json()["id"] == first.json()["id"] and again.headers["Location"] == first.headers["Location"]
    for other in (kind, "articles"):
        r = server.post(f"/api/v1/{other}", {**body, "title": body["title"] + " other"} if other == kind else body)
        assert_problem(r, 409, "client_ref_conflict")
        assert first.json()["id"] in r.json()["detail"]
    assert server.post("/api/v1/articles", body, token=server.token_b).status == 201, "another user's references are theirs"
    assert server.value("SELECT count(*) FROM resource WHERE client_ref = ?", body["client_ref"]) == 2


def test_c91_a_refusal_that_expired_is_absent_too(server):
    """A kept 409 ends with its record: the same key then runs again and finds what is so by now."""
    key, slug = new_key(), word()
    holder = server.post(ARTICLES, {"title": "x", "slug": slug}).json()
    body = {"title": "y", "slug": slug}
    assert server.post(ARTICLES, body, key=key).status == 409
    assert server.request("DELETE", f"{ARTICLES}/{holder['id']}", token=server.token, headers={"If-Match": '"1"'}).status == 200
    again = server.post(ARTICLES, body, key=key)
    assert (again.status, again.headers["Idempotent-Replayed"]) == (409, "true"), "what was answered is answered until then"
    expire(server, key)
    made = server.post(ARTICLES, body, key=key)
    assert (made.status, made.headers["Idempotent-Replayed"], made.json()["slug"]) == (201, "false", slug)
    assert tuple(record(server, key)[c] for c in ("status", "response_status", "retryable", "replay_count")) == ("SUCCESS", 201, 0, 0)
    assert_replay(server.post(ARTICLES, body, key=key), made)


def test_c98_settings_say_how_long_a_record_is_kept(make_server):
    s = make_server(settings={"retention_write": "3d", "retention_state": "12d"})

    def days(key):
        row = record(s, key)
        return (row["expired_at"] - row["created_at"]) / (24 * 3600 * 1000)

    keys = [new_key() for _ in range(4)]
    a = s.post(ARTICLES, P1, key=keys[0]).json()
    assert s.post(f"{ARTICLES}/{a['id']}/publish", key=keys[1]).status == 200
    s.command("setting", "set", "retention_write", "36h")
    wait_for(lambda: s.post(ARTICLES, P1, key=keys.append(new_key()) or keys[-1]).status == 201 and days(keys[-1]) == 1.5)
    assert (days(keys[0]), days(keys[1])) == (3, 12), "what was promised stays"
    for wrong in ("0", "-1d", "1s", "soon", "9999999d"):
        assert s.command("setting", "set", "retention_write", wrong, check=False).returncode != 0, wrong


# H. Same content, other key


def test_c108_what_was_asked_for_is_never_listed(make_server):
    """A thousand addresses that do not exist are asked for, some of them nearly right; the sitemap and the rows behind it are as before."""
    s = make_server()
    a = publish(s, tags=["stone"])
    before, dice = locs(s), random.Random(108)
    rows = s.value("SELECT count(*) FROM path")
    shapes = ("/articles/{}", "/tags/{}", "/authors/{}", "/{}", "/{}/{}", a["path"] + "/{}", a["path"] + "-{}", "/{}" + a["path"], "/articles/{}/")

    def ask(_):
        shape = dice.choice(shapes)
        return s.get(shape.format(word(), word()) + dice.choice(("", "?utm_source=x", "?page=2")), headers={"Referer": f"{s.base}/{word()}"}).status

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert set(pool.map(ask, range(1000))) == {404}
    wait_for(lambda: s.value("SELECT count(*) FROM not_found") > 0, 20)
    assert locs(s) == before and s.value("SELECT count(*) FROM path") == rows


# M. PUT, PATCH and DELETE with If-Match


def test_c157_the_removal_of_a_draft_is_replayed_though_nothing_of_it_is_left(server):
    create, remove = new_key(), new_key()
    first = server.post(ARTICLES, {"title": word()}, key=create)
    at = f"{ARTICLES}/{first.json()['id']}"
    done = server.request("DELETE", at, token=server.token, key=remove, headers={"If-Match": '"1"'})
    assert (done.status, done.headers["Idempotent-Replayed"], done.json()["state"]) == (200, "false", "gone")
    assert server.value("SELECT count(*) FROM resource WHERE uid = ?", first.json()["id"]) == 0
    again = server.request("DELETE", at, token=server.token, key=remove, headers={"If-Match": '"1"'})
    assert (again.status, again.headers["Idempotent-Replayed"], again.body) == (200, "true", done.body)
    assert server.request("DELETE", at, token=server.token, key=new_key(), headers={"If-Match": '"1"'}).status == 404
    # The create's late repeat tells what was made then, and makes nothing.
    assert_replay(server.post(ARTICLES, {"title": first.json()["title"]}, key=create), first)
    assert server.value("SELECT count(*) FROM resource WHERE slug = ?", first.json()["slug"]) == 0


# N. Metrics, logs, constraints


def parallel(server, work, count, expected):
    """All are looked at before the first is stored: only the constraint can tell them apart."""
    lock = sqlite3.connect(server.db, isolation_level=None, timeout=10)
    lock.execute("BEGIN IMMEDIATE")
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        waiting = [pool.submit(work, n) for n in range(count)]
        concurrent.futures.wait(waiting, 0.7)
        lock.execute("COMMIT")
        lock.close()
        assert sorted(w.result() for w in waiting) == expected


def test_c161_every_count_moves_by_what_was_done_and_by_no_more(make_server):
    s = make_server(workers=1)
    assert s.post(ARTICLES, {"title": "warm"}).status == 201

    def moved(work):
        before = s.metrics()
        work()
        after = s.metrics()
        return {n: after[n] - before[n] for n in after if after[n] != before[n] and n.startswith(("idem_", "unique_"))}

    key = new_key()
    assert moved(lambda: s.post(ARTICLES, P1, key=key)) == {"idem_requests_total": 1}
    assert moved(lambda: [s.post(ARTICLES, P1, key=key) for _ in range(10)]) == {"idem_requests_total": 10, "idem_replay_total": 10}
    assert moved(lambda: [s.post(ARTICLES, P2, key=key) for _ in range(3)]) == {"idem_requests_total": 3, "idem_conflict_total": 3}
    assert moved(lambda: [s.get(ARTICLES, key=True), s.post(ARTICLES, P1, key=None), s.post(ARTICLES, P1, key="short")]) == {}
    slug = word()
    s.post(ARTICLES, {"title": "x", "slug": slug})
    assert moved(lambda: parallel(s, lambda _: s.post(ARTICLES, {"title": "x", "slug": slug + "-at-once"}).status, 6, [201] + [409] * 5)) == {"idem_requests_total": 6, 'unique_violation_total{index="path"}': 5}
    assert moved(lambda: s.post(ARTICLES, {"title": "x", "slug": slug})) == {"idem_requests_total": 1, 'unique_violation_total{index="path"}': 1}
    taken = new_key()
    assert moved(lambda: [s.post(ARTICLES, {"title": "x", "slug": slug}, key=taken) for _ in range(3)]) == {
        "idem_requests_total": 3, "idem_replay_total": 2, 'unique_violation_total{index="path"}': 1}
    for source, index in (("/twice", "path"), ("/twice?p=1", "path_query"), ("/twice/*", "path_rule")):
        s.post("/api/v1/redirects", {"source": source, "target": "/articles"})
        at_once = moved(lambda: parallel(s, lambda _: s.post("/api/v1/redirects", {"source": source + "-2" if index == "path" else source.replace("twice", "two"), "target": "/articles"}).status,
                                         4, [201] + [409] * 3))
        assert at_once == {"idem_requests_total": 4, f'unique_violation_total{{index="{index}"}}': 3}, index


def test_c164_one_key_leads_to_the_request_the_row_and_its_events(server):
    """From the key alone: every attempt in the log, the record, the article, and what was told of it."""
    key, title = new_key(), word()
    first = server.post(ARTICLES, {"title": title, "state": "published"}, key=key)
    again = server.post(ARTICLES, {"title": title, "state": "published"}, key=key)
    wait_for(lambda: len([e for e in server.log_events("request") if e.get("idempotency_key") == key]) == 2)
    lines = [e for e in server.log_events("request") if e.get("idempotency_key") == key]
    assert [e["request_id"] for e in lines] == [first.headers["X-Request-Id"], again.headers["X-Request-Id"]]
    assert [(e["status"], e["method"], e["route"]) for e in lines] == [(201, "POST", ARTICLES), (200, "POST", ARTICLES)]
    row = record(server, key)
    assert row["first_request_id"] == lines[0]["request_id"]
    rid = resource_id(server, first.json())
    assert {e["resource"] for e in lines} == {row["resource_id"]} == {rid}
    assert server.value("SELECT name FROM user WHERE id = ?", lines[0]["user"]) == "admin"
    told = server.sql("SELECT topic, payload FROM outbox WHERE aggregate_id = ? AND aggregate <> 'redirect'", rid)
    assert [r["topic"] for r in told].count("resource.published") == 1
    assert any(json.loads(r["payload"])["id"] == first.json()["id"] for r in told)


UNIQUE = {
    ("user", "name", ""), ("session", "id_hash", ""), ("api_token", "token_hash", ""), ("resource", "uid", ""),
    ("resource", "ref_source, client_ref", "client_ref IS NOT NULL"), ("revision", "resource_id, number", ""), ("rendered", "resource_id, number", ""),
    ("autosave", "user_id, uid", ""), ("path", "path", ""), ("path", "resource_id", "role = 'canonical'"), ("path", "fold", "was_canonical = 1"),
    ("path", "uid", "uid IS NOT NULL"), ("path_query", "path, pairs", ""), ("path_query", "uid", "uid IS NOT NULL"), ("path_rule", "pattern", ""),
    ("path_rule", "uid", "uid IS NOT NULL"), ("idempotency_record", "user_id, method, route, idempotency_key", ""),
    ("processed_message", "source, message_id", ""), ("outbox", "aggregate, aggregate_id, event_version, topic", ""), ("delivery", "outbox_id, sink", ""),
    ("operation", "id", ""), ("live_tag", "resource_id, tag_id", ""), ("media", "sha256", ""), ("not_found", "path", ""), ("setting", "key", ""), ("webhook", "url", ""),
}


def test_c165_every_unique_index_of_the_contract_is_there_with_its_columns_and_its_condition(server):
    found = set()
    for table, index, partial in server.sql('SELECT m.name, l.name, l.partial FROM sqlite_schema m, pragma_index_list(m.name) l WHERE m.type = \'table\' AND l."unique" = 1'):
        columns = ", ".join(r[0] for r in server.sql("SELECT name FROM pragma_index_info(?) ORDER BY seqno", index))
        where = server.value("SELECT sql FROM sqlite_schema WHERE name = ?", index).partition(" WHERE ")[2] if partial else ""
        found.add((table, columns, where))
    assert UNIQUE <= found, UNIQUE - found
