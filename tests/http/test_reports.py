"""Reports: what is live and not in the sitemap, and why; what contradicts itself about its canonical address; what copies there are."""
import sqlite3
import time

import pytest

from test_delete import delete
from test_moves import create, step, word


def text():
    return " ".join(word() for _ in range(40))


def report(server, name, query="", token=None, limit=None):
    """All pages of a report, read as the Link header field leads."""
    path = f"/api/v1/reports/{name}?" + (f"limit={limit}&" if limit else "") + query
    items, pages = [], 0
    while path:
        r = server.get(path, token=token or server.token)
        assert r.status == 200, r.body
        items += r.json()["items"]
        link = r.headers.get("Link")
        assert (link is None) == (r.json()["next"] is None)
        path = link.split(">")[0][1:].replace(server.base, "") if link else None
        pages += 1
        assert pages < 200
    return items


def edit(server, sql, *values):
    db = sqlite3.connect(server.db)
    db.execute(sql, values)
    db.commit()
    db.close()


def excluded(server, **kw):
    return [(i["id"], i["reason"]) for i in report(server, "sitemap-exclusions", **kw)]


def some_of_each(s):
    content = text()
    first, copy = create(s, title="same", content=content), create(s, title="same", content=content)
    hidden = create(s, seo={"noindex": True})
    away = create(s, seo={"canonical": "https://elsewhere.example/x"})
    tag, author = create(s, "tags"), create(s, "authors")
    used = create(s, "tags")
    create(s, tags=[used["title"]])
    create(s, state="draft")
    delete(s, create(s))
    return [(author["id"], "empty"), (tag["id"], "empty"), (away["id"], "canonical"), (hidden["id"], "noindex"), (copy["id"], "duplicate")], first


def test_what_is_live_and_not_in_the_sitemap_is_listed_with_its_reason(make_server):
    s = make_server()
    assert excluded(s) == []
    wanted, first = some_of_each(s)
    assert excluded(s) == wanted
    for uid, reason in wanted:
        row = [i for i in report(s, "sitemap-exclusions", f"reason={reason}") if i["id"] == uid]
        assert len(row) == 1
        made = s.get(f"/api/v1/{row[0]['kind']}s/{uid}", token=s.token).json()
        assert made["in_sitemap"] == {"listed": False, "reason": reason}
        assert (row[0]["url"], row[0]["canonical"], row[0]["title"]) == (made["url"], made["canonical"], made["title"])
    for limit in (1, 2, 4):
        assert excluded(s, limit=limit) == wanted
        assert excluded(s, query="reason=empty", limit=limit) == wanted[:2]
    # Every live row is either listed or explained.
    live = s.value("SELECT count(*) FROM resource WHERE state = 'published'")
    assert s.value("SELECT count(*) FROM sitemap_entry WHERE path <> '/'") + len(excluded(s)) == live
    step(s, first, "withdraw")
    assert (wanted[4][0], "duplicate") not in excluded(s)


def test_a_closed_site_explains_every_row(make_server):
    s = make_server(settings={"noindex": "true"})
    made = [create(s) for _ in range(3)]
    assert {uid for uid, reason in excluded(s) if reason == "noindex"} >= {m["id"] for m in made}


def test_an_answer_looks_through_a_bounded_part_and_the_cursor_goes_on(make_server):
    s = make_server()
    early = create(s, seo={"noindex": True})
    edit(s, "UPDATE sqlite_sequence SET seq = 100000 WHERE name = 'resource'")
    late = create(s, seo={"noindex": True})
    first = s.get("/api/v1/reports/sitemap-exclusions", token=s.token).json()
    assert [i["id"] for i in first["items"]] == [late["id"]] and first["next"]
    assert [uid for uid, _ in excluded(s)] == [late["id"], early["id"]]


MISMATCHES = {
    "canonical-path": "UPDATE path SET role = 'alias' WHERE resource_id = {id} AND role = 'canonical'",
    "override": "UPDATE resource SET live_canonical = 'https://elsewhere.example/y' WHERE id = {id}",
    "duplicate": "UPDATE resource SET duplicate_of = (SELECT id FROM resource WHERE state = 'gone') WHERE id = {id}",
}


def mismatch_metric(server, wanted):
    deadline = time.monotonic() + 30
    while server.metrics()["canonical_mismatch_urls"] != wanted and time.monotonic() < deadline:
        time.sleep(0.1)
    return server.metrics()["canonical_mismatch_urls"]


def test_c110_a_canonical_address_that_contradicts_itself_is_reported_and_counted(make_server):
    s = make_server()
    delete(s, create(s))
    made = [create(s) for _ in range(len(MISMATCHES))]
    assert report(s, "canonical-mismatch") == []
    ids = [s.value("SELECT id FROM resource WHERE uid = ?", m["id"]) for m in made]
    edit(s, MISMATCHES["override"].format(id=ids[0]))
    rows = report(s, "canonical-mismatch")
    assert [(r["id"], r["check"]) for r in rows] == [(made[0]["id"], "override")] and rows[0]["url"] == made[0]["url"] and rows[0]["advice"]
    assert mismatch_metric(s, 1) == 1
    edit(s, "UPDATE resource SET live_canonical = NULL WHERE id = ?", ids[0])
    for (check, sql), m, i in zip(MISMATCHES.items(), made, ids):
        edit(s, sql.format(id=i))
    for limit in (None, 1, 2):
        found = {(r["id"], r["check"]) for r in report(s, "canonical-mismatch", limit=limit)}
        assert found >= {(m["id"], check) for check, m in zip(MISMATCHES, made)}
        assert {uid for uid, _ in found} == {m["id"] for m in made}
    assert mismatch_metric(s, len(made)) == len(made)


def test_an_override_that_a_new_origin_makes_the_own_address_is_reported(make_server):
    s = make_server()
    slug = word()
    made = create(s, slug=slug, seo={"canonical": f"https://new.example{'/articles/'}{slug}"})
    assert report(s, "canonical-mismatch") == []
    s.stop()
    s.base = "https://new.example"
    s.start()
    r = s.get("/api/v1/reports/canonical-mismatch", token=s.token, headers={"Host": "new.example"})
    assert [(i["id"], i["check"]) for i in r.json()["items"]] == [(made["id"], "own-override")]


def test_c99_the_pair_is_reported_once_and_counted(make_server):
    s = make_server()
    content = text()
    first, second = create(s, title="one text", content=content), create(s, title="one text", content=content)
    assert (second["canonical"], first["canonical"]) == (first["url"], first["url"]) and second["slug"] != first["slug"]
    rows = report(s, "duplicate-content")
    assert [(r["copy"]["id"], r["original"]["id"]) for r in rows] == [(second["id"], first["id"])]
    s.restart()
    deadline = time.monotonic() + 30
    while s.metrics()["duplicate_content_urls"] != 1 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert s.metrics()["duplicate_content_urls"] == 1


@pytest.mark.parametrize("name", ["sitemap-exclusions", "canonical-mismatch", "duplicate-content"])
def test_only_editors_and_admins_read_reports(server, name):
    path = f"/api/v1/reports/{name}"
    assert server.get(path).status == 401
    for role, status in (("viewer", 403), ("author", 403), ("editor", 200)):
        assert server.get(path, token=server.tokens[role]).status == status, role
    for query in ("limit=0", "limit=101", "limit=x", "cursor=x", "cursor="):
        assert server.get(f"{path}?{query}", token=server.token).status in (400, 422), query


def test_a_redirect_to_what_answers_404_is_reported(make_server):
    s = make_server(settings={"per_page": "2"})
    tag = create(s, "tags")
    made = [create(s, tags=[tag["title"]]) for _ in range(3)]
    for source, target in (("/to-tag", tag["id"]), ("/to-page", "/articles?page=2"), ("/to-list", "/articles"), ("/to-file", "/docs/errors")):
        assert s.post("/api/v1/redirects", {"source": source, "target": target}).status == 201, source
    assert report(s, "dead-targets") == []
    for m in made:
        step(s, m, "withdraw")
    assert [i["source"] for i in report(s, "dead-targets")] == ["/to-page", "/to-tag"]
    for i in ("/to-page", "/to-tag"):
        assert s.get(i).status == 404


def test_a_reason_that_there_is_none_of_is_refused(server):
    r = server.get("/api/v1/reports/sitemap-exclusions?reason=draft", token=server.token)
    assert r.status == 422 and r.json()["errors"][0]["field"] == "reason"
