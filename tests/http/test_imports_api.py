"""Imports over the API: every item once, whatever is sent again; what is faulty is named and stops nothing else."""
import json
import os
import random
import signal
import threading

import pytest

import stele
from test_import import attachment, assert_sitemap_is_sound, export, item, png
from test_operations import Paused, articles, assert_sound, settled, wait_for

IMPORTS = "/api/v1/imports"


def word():
    return stele.new_key()[:8]


def send(server, items, key=None, query="", **kw):
    return server.post(IMPORTS + query, {"items": items}, key=key or stele.new_key(), **kw)


def done(server, answer):
    assert answer.status == 202, answer
    return settled(server, answer.headers["location"])


def report(server, location):
    out, path = [], location + "/report?limit=500"
    while path:
        page = server.get(path, token=server.token)
        assert page.status == 200, page
        out += page.json()["items"]
        path = page.headers["link"].split(">")[0][1 + len(server.base):] if page.json()["next"] else None
    return out


def made(server, prefix):
    return [r[0] for r in server.sql("SELECT v.title FROM resource r JOIN revision v ON v.resource_id = r.id AND v.number = 1 "
                                     "WHERE v.title LIKE ? ORDER BY r.id", prefix + " %")]


def numbered(prefix, count, ref="key", begin=1):
    """Articles told apart by an item key or a client_ref."""
    out = []
    for n in range(begin, begin + count):
        article = {"title": f"{prefix} {n}", "content": f"Words of {n}"}
        if ref == "client_ref":
            article["client_ref"] = f"{prefix}-{n}"
        out.append({"article": article, **({"key": f"{prefix}-{n}"} if ref == "key" else {})})
    return out


# -- A list of articles


@pytest.mark.parametrize("ref", ["key", "client_ref"])
def test_a_list_is_created_once_however_often_and_under_whatever_key_it_is_sent(server, ref):
    prefix, key = word(), stele.new_key()
    items = numbered(prefix, 100, ref)
    events = server.value("SELECT count(*) FROM outbox WHERE topic = 'resource.created'")
    first = send(server, items, key)
    end = done(server, first)
    assert (end["status"], end["progress"], end["result"]["created"]) == ("SUCCESS", {"done": 100, "total": 100}, 100)
    assert made(server, prefix) == [f"{prefix} {n}" for n in range(1, 101)]
    replay = send(server, items, key)
    assert (replay.status, replay.headers["idempotent-replayed"], replay.json()["result"]) == (200, "true", end["result"])
    other = send(server, items)
    end = done(server, other)
    assert (end["result"]["existing"], end["result"]["created"], end["result"]["failed"]) == (100, 0, 0)
    assert [e["subject"] for e in report(server, other.headers["location"])] == [e["subject"] for e in report(server, first.headers["location"])]
    assert len(made(server, prefix)) == 100
    assert server.value("SELECT count(*) FROM outbox WHERE topic = 'resource.created'") - events == 100


def test_faulty_items_are_named_in_their_order_and_the_others_are_made(server):
    prefix = word()
    items = numbered(prefix, 100)
    items[9]["article"] = {"title": "", "content": "c"}
    items[49]["article"]["nonsense"] = 1
    items[99]["article"]["slug"] = "feed/../x"
    first = send(server, items)
    end = done(server, first)
    assert (end["status"], end["result"]["created"], end["result"]["failed"]) == ("SUCCESS", 97, 3)
    lines = report(server, first.headers["location"])
    assert [e["number"] for e in lines] == list(range(1, 101))
    failed = {e["number"]: e["code"] for e in lines if e["result"] == "failed"}
    assert failed == {10: "validation_failed", 50: "unknown_field", 100: failed[100]}
    assert "title" in lines[9]["detail"] and "nonsense" in lines[49]["detail"]
    mended = numbered(prefix + "m", 3)
    assert done(server, send(server, mended))["result"]["created"] == 3
    # A key that a faulty item had is still unused.
    items[9]["article"] = {"title": f"{prefix} mended"}
    end = done(server, send(server, items))
    assert (end["result"]["created"], end["result"]["existing"], end["result"]["failed"]) == (1, 97, 2)
    assert len(made(server, prefix)) == 98


def test_what_is_no_item_is_a_line_of_the_report_like_any_other(server):
    prefix = word()
    items = [5, None, "x", [], {}, {"article": []}, {"article": {"title": prefix + " a"}, "key": 7}, {"article": {"title": prefix + " b"}, "kay": "x"},
             {"article": {"title": prefix + " c"}, "key": ""}, {"article": {"title": prefix + " d"}, "key": "k" * 201},
             {"article": {"title": prefix + " e"}, "key": "a\u0007b"}, {"article": {"title": prefix + " f"}, "key": None}]
    answer = send(server, items)
    end = done(server, answer)
    assert (end["status"], end["result"]["created"], end["result"]["failed"]) == ("SUCCESS", 1, 11)
    assert all(e["code"] in ("validation_failed", "unknown_field") and e["detail"] for e in report(server, answer.headers["location"])[:-1])
    assert made(server, prefix) == [prefix + " f"]


def test_a_key_or_a_client_ref_of_other_content_is_refused_for_its_item_alone(server):
    prefix = word()
    done(server, send(server, [{"key": prefix, "article": {"title": prefix + " 1", "client_ref": prefix}}]))
    answer = send(server, [{"key": prefix, "article": {"title": prefix + " 2"}}, {"article": {"title": prefix + " 3", "client_ref": prefix}},
                           {"article": {"title": prefix + " 4"}}])
    assert done(server, answer)["result"]["created"] == 1
    assert [e.get("code") for e in report(server, answer.headers["location"])] == ["idempotency_key_conflict", "client_ref_conflict", None]
    assert made(server, prefix) == [prefix + " 1", prefix + " 4"]


def test_a_client_ref_means_the_same_in_a_list_and_alone(server):
    prefix = word()
    article = {"title": prefix + " 1", "content": "c", "client_ref": prefix, "fields": {"n": 1}}
    alone = server.post("/api/v1/articles", article)
    assert alone.status == 201
    answer = send(server, [{"article": article}])
    assert done(server, answer)["result"]["existing"] == 1
    assert report(server, answer.headers["location"])[0]["subject"] == alone.headers["location"]
    assert len(made(server, prefix)) == 1


def test_items_keep_the_keys_of_two_users_apart(make_server):
    server = make_server()
    for token in (server.token, server.token_b):
        assert done(server, server.post(IMPORTS, {"items": [{"key": "one", "article": {"title": "T"}}]}, token=token))["result"]["created"] == 1
    assert articles(server) == 2


def test_a_slug_that_two_items_want_goes_to_the_first(server):
    prefix = word()
    items = [{"key": f"{prefix}-{n}", "article": {"title": f"{prefix} {n}", "slug": prefix}} for n in range(2)]
    answer = send(server, items)
    assert (lambda r: (r["created"], r["failed"]))(done(server, answer)["result"]) == (1, 1)
    lines = report(server, answer.headers["location"])
    assert [e.get("code") for e in lines] == [None, "slug_conflict"]
    assert lines[0]["subject"].startswith("/api/v1/articles/") and lines[1]["subject"] == f"{prefix}-1"
    # The refusal was kept for the item's key.
    again = send(server, items)
    assert (lambda r: (r["existing"], r["failed"]))(done(server, again)["result"]) == (1, 1)
    assert report(server, again.headers["location"])[1]["code"] == "slug_conflict"


def test_overlapping_lists_at_the_same_time_create_their_union_once(server):
    prefix = word()
    parts = [numbered(prefix, 60), numbered(prefix, 60, begin=31), numbered(prefix, 60, begin=11), numbered(prefix, 60)]
    answers, gate = [None] * len(parts), threading.Barrier(len(parts))

    def run(n):
        gate.wait()
        answers[n] = send(server, parts[n])

    threads = [threading.Thread(target=run, args=(n,)) for n in range(len(parts))]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    ends = [done(server, a) for a in answers]
    assert [e["status"] for e in ends] == ["SUCCESS"] * len(parts)
    assert sum(e["result"]["created"] for e in ends) == 90
    assert sum(e["result"]["created"] + e["result"]["existing"] for e in ends) == 240
    assert sorted(made(server, prefix)) == sorted(f"{prefix} {n}" for n in range(1, 91))
    assert_sound(server)


def test_a_dry_run_of_a_list_says_what_would_come_and_changes_nothing_else(server):
    prefix = word()
    items = numbered(prefix, 3) + [{"article": {"title": ""}}]
    tables = ("resource", "path", "revision", "outbox")
    before = {t: server.value(f"SELECT count(*) FROM {t}") for t in tables}
    answer = send(server, items, query="?dry_run=1")
    end = done(server, answer)
    assert (end["result"]["created"], end["result"]["failed"]) == (3, 1)
    assert [e.get("subject") for e in report(server, answer.headers["location"])] == [f"{prefix}-{n}" for n in (1, 2, 3)] + [None]
    assert {t: server.value(f"SELECT count(*) FROM {t}") for t in tables} == before
    assert done(server, send(server, items))["result"]["created"] == 3
    assert done(server, send(server, items, query="?dry_run=true"))["result"]["existing"] == 3


@pytest.mark.parametrize("body, code", [
    ({}, "validation_failed"), ({"items": []}, "validation_failed"), ({"items": {}}, "validation_failed"), ({"items": [1] * 1001}, "validation_failed"),
    ({"items": [1], "more": 1}, "unknown_field"), ([], "validation_failed"), ({"path": "x", "items": [1]}, "unknown_field"),
    ({"path": "x.xml"}, "validation_failed"), ({"path": 5}, "validation_failed"),
])
def test_what_is_no_import_is_refused_and_leaves_the_key_unused(server, body, code):
    key = stele.new_key()
    before = server.value("SELECT count(*) FROM operation")
    refused = server.post(IMPORTS, body, key=key)
    assert (refused.status, refused.json()["code"]) == (422, code)
    assert server.value("SELECT count(*) FROM operation") == before
    assert server.sql("SELECT 1 FROM idempotency_record WHERE idempotency_key = ?", key) == []


def test_imports_are_for_admins_with_the_scope_and_need_a_key(server):
    items = {"items": [{"article": {"title": "T"}}]}
    assert server.request("POST", IMPORTS, items).status == 401
    for name in ("editor", "author", "viewer"):
        assert server.post(IMPORTS, items, token=server.tokens[name]).status == 403
    narrow = server.command("token", "add", "--user", "admin", "--scopes", "read,write,publish").stdout.strip()
    assert server.post(IMPORTS, items, token=narrow).status == 403
    assert server.request("POST", IMPORTS, items, token=server.token).json()["code"] == "idempotency_key_required"
    assert server.post(IMPORTS + "?dry_run=maybe", items).json()["code"] == "validation_failed"


def test_an_item_that_is_too_large_fails_alone_and_a_list_that_is_too_large_as_a_whole(server):
    prefix = word()
    huge = {"key": f"{prefix}-huge", "article": {"title": f"{prefix} huge", "content": "x" * (3 << 20)}}
    answer = send(server, numbered(prefix, 2) + [huge] + numbered(prefix, 2, begin=3))
    end = done(server, answer)
    assert (end["result"]["created"], end["result"]["failed"]) == (4, 1)
    assert [e.get("code") for e in report(server, answer.headers["location"])] == [None, None, "too_large", None, None]
    key = stele.new_key()
    assert send(server, [huge] * 3, key).status == 413
    assert server.sql("SELECT 1 FROM idempotency_record WHERE idempotency_key = ?", key) == []
    deep = {"article": {"title": prefix + " deep", "fields": json.loads("[" * 25 + "]" * 25)}}
    assert done(server, send(server, [deep]))["result"]["failed"] == 1


# -- An export that is sent


def form(parts, boundary="b0undary"):
    out = b""
    for name, value, *file in parts:
        head = f'form-data; name="{name}"' + (f'; filename="{file[0]}"' if file else "")
        out += f"--{boundary}\r\nContent-Disposition: {head}\r\n".encode()
        out += b"Content-Type: text/xml\r\n" if file else b""
        out += b"\r\n" + (value if isinstance(value, bytes) else value.encode()) + b"\r\n"
    return out + f"--{boundary}--\r\n".encode(), {"Content-Type": f"multipart/form-data; boundary={boundary}"}


def upload(server, content, key=None, query="", boundary="b0undary", **fields):
    parts = [("file", content, "export.xml"), *fields.items()]
    body, headers = form(parts, boundary)
    return server.post(IMPORTS + query, body, key=key or stele.new_key(), headers=headers)


def test_an_export_that_is_sent_becomes_what_the_command_makes_of_it(make_server, tmp_path):
    server, other = make_server(), make_server()
    parts = [item(1), item(2, kind="page", slug="above"), item(3, kind="page", parent=2, slug="below"), item(4, kind="nav_menu_item"),
             item(5, status="private"), item(6, title="", content="no title", slug="")]
    file = export(tmp_path, *parts)
    other.command("import", "wxr", file)
    key = stele.new_key()
    end = done(server, answer := upload(server, file.read_bytes(), key))
    assert end["status"] == "SUCCESS", end
    query = "SELECT kind, state, slug, client_ref FROM resource ORDER BY kind, slug"
    assert [tuple(r) for r in server.sql(query)] == [tuple(r) for r in other.sql(query)]
    paths = "SELECT path, role FROM path ORDER BY path"
    assert [tuple(r) for r in server.sql(paths)] == [tuple(r) for r in other.sql(paths)]
    assert (end["result"]["created"], end["result"]["skipped"], end["result"]["details"]["posts"]) == (6, 1, 3)
    lines = report(server, answer.headers["location"])
    assert [e["result"] for e in lines if e.get("subject") == "post:4"] == ["skipped"]
    assert any(e["result"] == "warning" and "private" in e["detail"] and e["number"] > 1 for e in lines)
    assert_sitemap_is_sound(server)
    assert upload(server, file.read_bytes(), key).status == 200
    end = done(server, upload(server, file.read_bytes()))
    assert (end["result"]["created"], end["result"]["existing"]) == (0, 5)     # the author was not declared
    assert os.listdir(os.path.join(server.data, "imports")) == []


def test_parts_count_and_not_where_their_borders_are_drawn(server, tmp_path):
    key, content = stele.new_key(), export(tmp_path, item(int(random.random() * 1e9), slug=word()), tail="<!--a--></channel></rss>").read_bytes()
    first = upload(server, content, key)
    assert first.status == 202
    assert upload(server, content, key, boundary="other").headers["location"] == first.headers["location"]
    changed = content.replace(b"<!--a-->", b"<!--b-->")
    assert len(changed) == len(content)
    conflict = upload(server, changed, key)
    assert (conflict.status, conflict.json()["code"]) == (409, "idempotency_key_conflict")
    assert upload(server, content, key, keep_permalinks="0").status == 409
    assert server.post(IMPORTS, {"items": [{"article": {"title": "T"}}]}, key=key).status == 409
    settled(server, first.headers["location"])
    assert upload(server, content, key).status == 200


def test_permalinks_are_kept_when_the_form_says_so(make_server, tmp_path):
    server = make_server()
    done(server, upload(server, export(tmp_path, item(1)).read_bytes(), keep_permalinks="1"))
    assert server.get("/2024/05/post-1").status == 200


def test_a_dry_run_of_an_export_reports_each_item_and_changes_nothing(make_server, tmp_path):
    server = make_server()
    tables = ("resource", "path", "revision", "outbox", "media")
    before = {t: server.value(f"SELECT count(*) FROM {t}") for t in tables}
    answer = upload(server, export(tmp_path, item(1), item(2, kind="nav_menu_item")).read_bytes(), query="?dry_run=1")
    end = done(server, answer)
    assert (end["result"]["created"], end["result"]["skipped"], end["result"]["details"]["dry_run"]) == (2, 1, True)
    assert any("article /articles/post-1" in e["detail"] for e in report(server, answer.headers["location"]))
    assert {t: server.value(f"SELECT count(*) FROM {t}") for t in tables} == before
    assert not [f for f in os.listdir(server.data) if f.startswith("dry-run")]


@pytest.mark.parametrize("content, word_in_detail", [
    (b"PK\x03\x04", "zip"), (b"<html><body>Log in</body></html>", "HTML"), (b"\x00\xff\xfe" * 1000, ""),
    (b'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><rss><channel>&x;</channel></rss>', "entity"),
    (b'<?xml version="1.0"?><rss><channel><item><title>cut', "line "),
])
def test_what_is_no_export_fails_for_good_and_says_why(server, content, word_in_detail):
    key = stele.new_key()
    end = done(server, upload(server, content, key))
    assert (end["status"], end["error"]["code"], end["retryable"]) == ("FAILED", "validation_failed", False)
    assert word_in_detail in end["error"]["detail"]
    again = upload(server, content, key)
    assert (again.status, again.headers["idempotent-replayed"], again.headers["idempotency-original-status"]) == (422, "true", "202")
    assert os.listdir(os.path.join(server.data, "imports")) == []


def raw_form(server, body, content_type, key):
    return server.post(IMPORTS, body, key=key, headers={"Content-Type": content_type})


@pytest.mark.parametrize("body, content_type", [
    (b"", "multipart/form-data"), (b"x", "multipart/form-data; boundary="), (b"--b\r\n", "multipart/form-data; boundary=b"),
    (b"--b--\r\n", "multipart/form-data; boundary=b"), (b"--b\r\n\r\nx\r\n--b--\r\n", "multipart/form-data; boundary=b"),
    (b'--b\r\nContent-Disposition: form-data; name="file"\r\n\r\n\r\n--b--\r\n', "multipart/form-data; boundary=b"),
    (b'--b\r\nContent-Disposition: form-data; name="file"\r\n\r\ncut', "multipart/form-data; boundary=b"),
    (b'--b\r\nContent-Disposition: form-data; name="other"\r\n\r\nx\r\n--b--\r\n', "multipart/form-data; boundary=b"),
    (b'--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nx\r\n--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nx\r\n--b--\r\n',
     "multipart/form-data; boundary=b"),
    (b'--b\r\nContent-Disposition: form-data; name="keep_permalinks"\r\n\r\nmaybe\r\n--b--\r\n', "multipart/form-data; boundary=b"),
    (b'--b\r\nContent-Disposition: form-data; name="fi\x00le"\r\n\r\nx\r\n--b--\r\n', "multipart/form-data; boundary=b"),
    (b'--b\r\nContent-Disposition: form-data; name="\xff"\r\n\r\nx\r\n--b--\r\n', "multipart/form-data; boundary=b"),
    (b'--b\r\nContent-Disposition: form-data; name="file"\r\n\r\nx\r\n' * 101 + b"--b--\r\n", "multipart/form-data; boundary=b"),
    (b'--b\r\nContent-Disposition: form-data; name="' + b"n" * 9000 + b'"\r\n\r\nx\r\n--b--\r\n', "multipart/form-data; boundary=b"),
    (b"--" + b"b" * 71 + b"\r\n", "multipart/form-data; boundary=" + "b" * 71), (b"a=b", "application/x-www-form-urlencoded"),
    (b"<rss/>", "text/xml"), (b"{}", "text/plain"),
], ids=range(18))
def test_a_hostile_form_is_refused_and_leaves_the_key_unused(server, body, content_type):
    key = stele.new_key()
    before = server.value("SELECT count(*) FROM operation")
    refused = raw_form(server, body, content_type, key)
    assert 400 <= refused.status < 500 and refused.status != 409, refused
    assert refused.json()["request_id"]
    assert server.value("SELECT count(*) FROM operation") == before
    assert server.sql("SELECT 1 FROM idempotency_record WHERE idempotency_key = ?", key) == []


def test_a_file_name_is_a_name_and_no_path(make_server, tmp_path):
    server = make_server()
    body, headers = form([("file", export(tmp_path, item(1)).read_bytes(), "../../../../stele.conf")])
    assert done(server, server.post(IMPORTS, body, headers=headers))["result"]["created"] == 2
    assert sorted(os.listdir(server.home)) == ["data", "log"]


def test_a_body_over_the_limit_is_refused_unread(server):
    key = stele.new_key()
    with server.connect() as s:
        s.sendall(f"POST {IMPORTS} HTTP/1.1\r\nHost: {server.host}:{server.port}\r\nAuthorization: Bearer {server.token}\r\nIdempotency-Key: {key}\r\n"
                  f"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {(32 << 20) + 1}\r\n\r\n".encode())
        assert s.recv(100).startswith(b"HTTP/1.1 413 ")
    assert server.sql("SELECT 1 FROM idempotency_record WHERE idempotency_key = ?", key) == []


def test_a_large_export_is_taken_in_while_the_site_answers(make_server, tmp_path):
    server = make_server()
    content = export(tmp_path, *[item(n, content="many words " * 200) for n in range(1, 1500)]).read_bytes()
    assert len(content) > 3 << 20
    answer = upload(server, content)
    assert server.get("/").status == 200
    assert server.post("/api/v1/articles", {"title": "Meanwhile"}).status == 201
    end = done(server, answer)
    assert (end["result"]["created"], end["progress"]) == (1500, {"done": 1499, "total": 1499})
    assert articles(server) == 1500


def test_an_export_whose_worker_is_killed_is_taken_up_and_counted_whole(make_server, tmp_path):
    server = make_server(env={"STELE_LEASE_MS": "600"})
    parts = [item(n) for n in range(1, 800)] + [item(900, kind="nav_menu_item"), item(901, status="private")]
    answer = upload(server, export(tmp_path, *parts).read_bytes())
    first = server.child_pid("jobs")
    wait_for(lambda: articles(server) >= 100)
    os.kill(first, signal.SIGKILL)
    end = done(server, answer)
    assert (end["status"], end["attempts"]) == ("SUCCESS", 2)
    assert (end["result"]["created"], end["result"]["existing"], end["result"]["skipped"], end["result"]["warning"]) == (801, 0, 1, 1)
    assert tuple(server.sql("SELECT count(*), count(DISTINCT client_ref) FROM resource WHERE kind = 'article'")[0]) == (800, 800)
    assert_sound(server)
    assert_sitemap_is_sound(server)


def test_an_export_is_cancelled_in_its_middle_and_nothing_more_is_written(make_server, tmp_path):
    server = make_server()
    answer = upload(server, export(tmp_path, *[item(n) for n in range(1, 3000)]).read_bytes())
    wait_for(lambda: articles(server) >= 50)
    cancelled = server.post(answer.headers["location"] + "/cancel")
    assert (cancelled.status, cancelled.json()["status"]) == (200, "FAILED")
    left = articles(server)
    assert left < 2999
    wait_for(lambda: server.log_events("operation.left"))
    assert articles(server) == left
    assert server.value("SELECT count(*) FROM resource") == cancelled.json()["result"]["created"]
    assert_sound(server)


def test_a_restart_in_the_middle_of_an_export_loses_nothing(make_server, tmp_path):
    server = make_server()
    answer = upload(server, export(tmp_path, *[item(n) for n in range(1, 1000)]).read_bytes())
    wait_for(lambda: articles(server) >= 50)
    server.restart()
    end = done(server, answer)
    assert (end["status"], end["result"]["created"], end["attempts"], articles(server)) == ("SUCCESS", 1000, 1, 999)


# -- An export that lies on the server


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "imports"
    path.mkdir()
    return path


def test_a_file_of_the_folder_for_imports_is_taken_in_with_its_uploads(make_server, tmp_path, folder):
    (folder / "files" / "2024").mkdir(parents=True)
    (folder / "files" / "2024" / "a.png").write_bytes(png())
    export(folder, item(1), attachment(2, "2024/a.png"))
    server = make_server(config=f"import_dir = {folder}\n")
    answer = server.post(IMPORTS, {"path": "export.xml", "uploads": "files"})
    end = done(server, answer)
    assert (end["status"], end["result"]["created"]) == ("SUCCESS", 3)
    assert len(os.listdir(os.path.join(server.data, "media"))) == 1
    assert (folder / "export.xml").exists()


def test_nothing_outside_the_folder_for_imports_can_be_named(make_server, tmp_path, folder):
    export(tmp_path, item(1), name="outside.xml")
    (folder / "link.xml").symlink_to(tmp_path / "outside.xml")
    (folder / "up").symlink_to(tmp_path)
    (folder / "sub").mkdir()
    os.mkfifo(folder / "fifo")
    (tmp_path / "imports-too").mkdir()
    export(tmp_path / "imports-too", item(1))
    server = make_server(config=f"import_dir = {folder}\n")
    details = set()
    for path in ("../outside.xml", "link.xml", "up/outside.xml", str(tmp_path / "outside.xml"), "/etc/passwd", "sub", ".", "", "fifo", "missing.xml",
                 "sub/../../outside.xml", "../imports-too/export.xml", "a\u0000b", "x" * 1001, "%2e%2e/outside.xml"):
        refused = server.post(IMPORTS, {"path": path})
        assert (refused.status, refused.json()["code"]) == (422, "validation_failed"), path
        details.add(refused.json()["errors"][0]["detail"])
    assert len([d for d in details if "no such" in d]) == 1
    export(folder, item(1))
    assert server.post(IMPORTS, {"path": "export.xml", "uploads": ".."}).status == 422
    assert articles(server) == 0
    assert server.value("SELECT count(*) FROM operation") == 0
    # Where the name led when it was checked is not where it must lead later.
    with Paused(server):
        answer = server.post(IMPORTS, {"path": "export.xml"})
        (folder / "export.xml").unlink()
        (folder / "export.xml").symlink_to(tmp_path / "outside.xml")
    end = done(server, answer)
    assert (end["status"], end["error"]["code"], articles(server)) == ("FAILED", "validation_failed", 0)


def test_without_the_setting_no_file_of_the_server_is_read(server):
    refused = server.post(IMPORTS, {"path": "export.xml"})
    assert refused.status == 422 and "import_dir" in refused.json()["errors"][0]["detail"]


def test_the_manual_says_what_an_import_takes(server):
    page = server.get("/docs/operations")
    assert page.status == 200
    for text in ("1 to 1000", "8 MB together, 2 MB each", "At most 32 MB", "lease of 60 seconds", "import_dir", "respond-async", "first 10,000 lines"):
        assert text in page.text
