"""Redirects as CSV: what people save is read, the whole file is checked before its first row is stored, chains are collapsed, twice is once."""
import csv
import io
import os
import pathlib

import pytest

from site_pages import publish, wait_for, word, write_rows
from stele import Server, new_key
from test_redirects import events, hop, make, read


def send(server, text, dry_run=False, key=None, expect=202, **kw):
    body = text if isinstance(text, bytes) else text.encode()
    r = server.request("POST", "/api/v1/redirects/import" + ("?dry_run=1" if dry_run else ""), body, token=kw.pop("token", server.token),
                       key=key or new_key(), headers={"Content-Type": "text/csv", **kw.pop("headers", {})}, **kw)
    assert r.status == expect, r
    return r


def finish(server, answer):
    """The operation when it is over, and the lines of its report."""
    where = answer.headers["Location"]
    wait_for(lambda: server.get(where, token=server.token).json()["status"] != "PROCESSING", 20)
    op = server.get(where, token=server.token).json()
    report = server.get(where + "/report?limit=100", token=server.token).json()["items"]
    assert server.value("SELECT count(*) FROM redirect_stage WHERE run = ?", op["id"]) == 0
    return op, report


def load(server, text, **kw):
    return finish(server, send(server, text, **kw))


def everything(server):
    """Every redirect as a row of the table of its kind, without what counts and dates."""
    return [tuple(r) for r in server.sql("""
        SELECT path, '', coalesce(resource_id, 0), target, status, note FROM path WHERE role <> 'canonical'
        UNION ALL SELECT path, pairs, coalesce(resource_id, 0), target, status, note FROM path_query
        UNION ALL SELECT pattern, '*', coalesce(resource_id, 0), target, status, note FROM path_rule ORDER BY 1, 2""")]


def cli(server, text, *args, check=True):
    file = pathlib.Path(server.home, word() + ".csv")
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return server.command("import", "redirects", file, *args, check=check)


@pytest.fixture(scope="module")
def started():
    s = Server()
    try:
        s.start()
        s.a, s.b = publish(s, slug="aa"), publish(s, slug="bb")
        yield s
        s.stop()
        assert not s.crashes(), s.crashes()
    finally:
        s.close()


@pytest.fixture
def site(started):
    """Two articles and no redirects."""
    yield started
    write_rows(started, ("DELETE FROM path WHERE role <> 'canonical'",), ("DELETE FROM path_query",), ("DELETE FROM path_rule",),
               ("DELETE FROM outbox WHERE aggregate = 'redirect'",), ("DELETE FROM operation WHERE state <> 'PROCESSING'",),
               ("INSERT INTO change_log (dependencies, created_at) VALUES ('rules', 1)",))


def test_a_file_is_stored_in_one_operation_and_one_event(site):
    op, report = load(site, "source,target,status,note\n/one,/articles/aa,,first\n/two,https://other.test/x,302,\n/three,,410,\n/?p=7,/articles/bb,,\n/old/*,/articles/*,,\n")
    assert op["status"] == "SUCCESS" and op["result"]["created"] == 5 and report == [], op
    assert hop(site, "/one") == (301, site.a["url"]) and hop(site, "/two") == (302, "https://other.test/x") and hop(site, "/three") == (410, None)
    assert hop(site, "/?p=7") == (301, site.b["url"]) and hop(site, "/old/aa") == (301, site.a["url"])
    assert [(e["id"], e["created"], e["changed"]) for e in events(site, "redirect.imported")] == [(op["id"], 5, 0)]
    assert site.value("SELECT note FROM path WHERE path = '/one'") == "first"
    assert site.value("SELECT count(DISTINCT uid) FROM path WHERE uid IS NOT NULL") == 3


def test_the_same_file_again_changes_nothing(site):
    text = "/one,/articles/aa\n/two,/one\n/r/:x,/articles/:x,302\n/?p=1,/articles\n"
    load(site, text)
    before = everything(site), site.value("SELECT count(*) FROM outbox"), site.value("SELECT group_concat(uid || version) FROM path WHERE role <> 'canonical'")
    op, report = load(site, text)
    assert op["status"] == "SUCCESS" and op["result"]["existing"] == 4 and not op["result"].get("created")
    assert (everything(site), site.value("SELECT count(*) FROM outbox"), site.value("SELECT group_concat(uid || version) FROM path WHERE role <> 'canonical'")) == before
    assert "4 unchanged" in cli(site, text).stdout


def test_a_retry_with_its_key_is_the_same_operation(site):
    key, text = new_key(), "/one,/articles/aa\n"
    first = send(site, text, key=key)
    op, _ = finish(site, first)
    again = send(site, text, key=key, expect=200)
    assert again.headers["Idempotent-Replayed"] == "true"
    assert site.value("SELECT count(*) FROM operation") == 1 and len(everything(site)) == 1
    assert send(site, text + "/two,/articles/aa\n", key=key, expect=409).json()["code"] == "idempotency_key_conflict"


def test_a_dry_run_says_what_would_be_and_changes_nothing(site):
    make(site, "/one", "/articles")
    op, report = load(site, "/one,/articles/aa\n/two,/articles/aa\n", dry_run=True)
    assert op["status"] == "SUCCESS" and (op["result"]["created"], op["result"]["updated"]) == (1, 1), op
    assert len(everything(site)) == 1 and hop(site, "/one") == (301, site.base + "/articles")
    assert "1 created, 1 changed" in cli(site, "/one,/articles/aa\n/two,/articles/aa\n", "--dry-run").stdout
    assert len(everything(site)) == 1 and events(site, "redirect.imported") == []


@pytest.mark.parametrize("text", [
    "/one,/articles/aa\n/two,/articles/bb\n", "/one,/articles/aa\r\n/two,/articles/bb\r\n", "/one,/articles/aa\r/two,/articles/bb", "\ufeff/one,/articles/aa\n/two,/articles/bb",
    "source,target\n/one,/articles/aa\n/two,/articles/bb\n", "Source URL;Target URL\n/one;/articles/aa\n/two;/articles/bb\n",
    "\ufeffTarget URL\tSource URL\n/articles/aa\t/one\n/articles/bb\t/two\n", "sep=;\r\n/one;/articles/aa\r\n/two;/articles/bb\r\n",
    '"/one","/articles/aa"\n"/two" , "/articles/bb"\n', "\n\n  /one ,  /articles/aa\n\n\r\n/two,/articles/bb\n\n", '="/one",="/articles/aa"\n/two,/articles/bb\n',
    "from,extra,to\n/one,x,/articles/aa\n/two,,/articles/bb\n", "/one,/articles/aa,301,\"a note; with, marks\n\"\n".replace("\n\"", "\"") + "/two,/articles/bb\n",
])
def test_what_people_save_is_read(site, text):
    op, report = load(site, text)
    assert op["status"] == "SUCCESS" and op["result"]["created"] == 2, (op, report)
    assert hop(site, "/one") == (301, site.a["url"]) and hop(site, "/two") == (301, site.b["url"])


@pytest.mark.parametrize("text, line, says", [
    (",\n", 1, "source"), ("/ok,/articles\n,/articles\n", 2, "source"), ("/ok,/articles\n/x,\n", 2, "target"), ("/ok,/articles\n\n/x,/articles,200\n", 3, "status"),
    ("/ok,/articles\n/x,/articles,abc\n", 2, "status"), ("/ok,/articles\n/admin/x,/articles\n", 2, "source"), ("/ok,/articles\n/articles/aa,/articles\n", 2, "aa"),
    ("/ok,/articles\n/x,/nothing-here\n", 2, "nothing"), ("/ok,/articles\n/x,/x\n", 2, "itself"), ("/ok,/articles\n/x,/articles\n/x,/tags\n", 3, "line 2"),
    ("/ok,/articles\n/x,/y\n/y,/z\n/z,/x\n", 2, "circle"), ("/ok,/articles\n/x,/y\n/y,,410\n", 2, "line 3"), ("/ok,/articles\n/*,/articles\n", 2, "every"),
    ("/ok,/articles\n/a/*,/b/*\n/b/*,/c/*\n", 3, "rule"), ("/ok,/articles\n/a/*/b,/articles\n", 2, "last"), ("/ok,/articles\n/x,javascript:alert(1)\n", 2, "target"),
    ('/ok,/articles\n/x,"/articles\n/y,/tags\n', 2, "quotation"), ('/ok,/articles\n/x,"/articles"y\n', 2, "closing"), ("/ok,/articles\n/x,/articles,410\n", 2, "nowhere"),
    (b"/ok,/articles\n/caf\xe9,/articles\n", 2, "UTF-8"), (b"/ok,/articles\n/a\x00b,/articles\n", 2, "NUL"), ("/ok,/articles\n" + "/x" * 5000 + ",/articles\n", 2, "long"),
    ("/ok,/articles\n/x,/articles,301," + "n" * 300 + "\n", 2, "note"), ("/ok,/articles\n/x,/articles#part\n", 2, "fragment"),
])
def test_one_bad_line_keeps_the_whole_file_out_and_is_named(site, text, line, says):
    before, versions = everything(site), site.value("SELECT count(*) FROM outbox")
    op, report = load(site, text)
    assert op["status"] == "FAILED" and not op["retryable"] and "nothing was changed" in str(op["error"]), op
    found = [e for e in report if says in str(e)]
    assert found and any(e.get("number", e.get("line")) == line for e in found), report
    assert (everything(site), site.value("SELECT count(*) FROM outbox")) == (before, versions)
    run = cli(site, text, check=False)
    assert run.returncode == 1 and f"line {line}: failed" in run.stdout and "nothing was changed" in run.stderr
    assert everything(site) == before and site.value("SELECT count(*) FROM redirect_stage") == 0


def test_utf16_is_told_apart(site):
    op, _ = load(site, "/one,/articles\n".encode("utf-16"))
    assert op["status"] == "FAILED" and "UTF-16" in str(op["error"]) and everything(site) == []


def test_chains_in_a_file_are_one_hop_and_long_ones_take_linear_time(site):
    n = 5000
    links = [f"/c{i:05},/c{i + 1:05}" for i in range(n)] + [f"/c{n:05},/articles/aa"]
    links = links[1::2] + links[0::2]
    op, report = load(site, "\n".join(links) + "\n")
    assert op["status"] == "SUCCESS" and op["result"]["created"] == n + 1, (op, report)
    assert site.value("SELECT count(*) FROM path WHERE role = 'alias' AND resource_id = (SELECT id FROM resource WHERE slug = 'aa')") == n + 1
    for i in (0, 1, 2500, n):
        assert hop(site, f"/c{i:05}") == (301, site.a["url"])
    # One cycle hidden among many lines.
    op, report = load(site, "\n".join(f"/d{i:05},/d{(i + 1) % n:05}" for i in range(n)))
    assert op["status"] == "FAILED" and site.value("SELECT count(*) FROM path WHERE path LIKE '/d%'") == 0


def test_an_old_address_keeps_its_resource_whatever_a_file_says(site):
    write_rows(site, (f"""INSERT INTO path (path, fold, role, resource_id, was_public, was_canonical, created_at)
        SELECT '/articles/was', '/articles/was', 'alias', id, 1, 1, 1 FROM resource WHERE uid = '{site.a["id"]}'""",))
    op, report = load(site, "/articles/was,/articles/bb\n")
    assert op["status"] == "FAILED" and site.a["id"] in str(report)
    op, report = load(site, "/articles/was,/articles/aa\n/x,/articles/was\n")
    assert op["result"]["existing"] == 1 and op["result"]["created"] == 1
    assert hop(site, "/articles/was") == hop(site, "/x") == (301, site.a["url"])


def test_what_is_exported_is_imported_as_it_was(site, make_server):
    text = ("/plain,/articles/aa,302,\"with \"\"quotes\"\", commas; and more\"\n/ext,https://other.test/a?b=c&d=%20#e,,\n/gone,,410,\n/law,,451,=1+1\n/?p=1,/articles/aa,,\n"
            "/index.php?b=2&a=1,/,307,\n/r/:x/*,/articles/:x,308,\n/e/*,https://other.test/*?from=e,,\n/ภาษา ไทย,/articles?page=2,,  \n/dead/*,,410,\n")
    op, report = load(site, text)
    assert op["status"] == "SUCCESS" and op["result"]["created"] == 10, (op, report)
    r = site.get("/api/v1/redirects/export?format=csv", token=site.token)
    assert r.status == 200 and r.headers["Content-Type"].startswith("text/csv") and r.headers.get("Link") is None
    assert site.command("export", "redirects").stdout.encode() == r.body.replace(b"\r\n", b"\n")
    rows = list(csv.DictReader(io.StringIO(r.text)))
    assert len(rows) == 10 and {r["source"] for r in rows} >= {"/?p=1", "/index.php?a=1&b=2", "/r/:x/*", "/gone"}
    again, _ = load(site, r.body)
    assert again["result"]["existing"] == 10 and not again["result"].get("created")
    other = make_server()
    publish(other, slug="aa")
    publish(other, slug="bb")
    op, _ = load(other, r.body)
    assert op["result"]["created"] == 10
    assert everything(other) == everything(site)


def test_only_csv_of_those_who_manage_redirects_is_taken(server):
    source = "/" + word()
    for name, expected in (("author", 403), ("viewer", 403)):
        send(server, f"{source},/articles\n", token=server.tokens[name], expect=expected)
    r = server.request("POST", "/api/v1/redirects/import", {}, token=server.token, key=True)
    assert r.status == 415 and "text/csv" in r.text
    send(server, f"{source},/articles", headers={"Content-Type": "text/csv; charset=iso-8859-1"}, expect=415)
    r = server.request("POST", "/api/v1/redirects/import", f"{source},/articles", token=server.token, headers={"Content-Type": "text/csv"})
    assert r.status == 400 and r.json()["code"] == "idempotency_key_required"
    send(server, "", expect=422)
    assert server.get("/api/v1/redirects/export", token=server.tokens["author"]).status == 403
    assert server.value("SELECT count(*) FROM path WHERE path = ?", source) == 0


def test_an_import_that_was_killed_goes_on_and_ends_as_if_it_had_not_been(make_server, tmp_path):
    """The jobs process dies at the 600th line; the next one carries on behind what was committed."""
    once = tmp_path / "once"
    once.mkdir()
    s = make_server(env={"STELE_FAULT": "worker_item_501:kill", "STELE_FAULT_ONCE": str(once), "STELE_LEASE_MS": "1500"})
    publish(s, slug="aa")
    op, report = load(s, "\n".join(f"/k{i:04},/articles/aa" for i in range(1200)))
    assert list(once.iterdir()), "the fault never came"
    assert op["status"] == "SUCCESS" and op["result"]["created"] == 1200, (op, report)
    assert s.value("SELECT count(*) FROM path WHERE path LIKE '/k%'") == 1200
    assert s.value("SELECT attempts FROM operation") >= 2
    assert len(events(s, "redirect.imported")) == 1


def test_a_large_file_is_sorted_in_pieces_and_leaves_nothing_behind(make_server):
    s = make_server(start=False)
    lines = [f"/big/{(i * 7919) % 60000:06}/{'x' * 300},https://other.test/{'z' * 200}" for i in range(60000)]
    before = set(os.listdir(s.data))
    run = cli(s, "\n".join(lines))
    assert "60000 created" in run.stdout, run.stdout
    assert s.value("SELECT count(*) FROM path") == 60000 and s.value("SELECT count(*) FROM redirect_stage") == 0
    assert {f for f in set(os.listdir(s.data)) - before if f.startswith("sort")} == set()
