"""Redirects by the API: what may be a source, what a target becomes, and that no chain or circle can be made."""
import json

import pytest

from site_pages import edit, move, publish, word
from stele import new_key


def make(server, source, target=None, status=None, token=None, expect=201, **members):
    body = {"source": source, **members}
    if target is not None:
        body["target"] = target
    if status is not None:
        body["status"] = status
    r = server.post("/api/v1/redirects", body, **({"token": token} if token else {}))
    assert r.status == expect, r
    return r.json()


def read(server, redirect):
    r = server.get(f"/api/v1/redirects/{redirect['id']}", token=server.token)
    assert r.status == 200, r
    assert r.headers["ETag"] == f'"{r.json()["version"]}"'
    return r.json()


def patch(server, redirect, members, version=None, expect=200):
    r = server.request("PATCH", f"/api/v1/redirects/{redirect['id']}", members, token=server.token,
                       headers={"If-Match": f'"{version or redirect["version"]}"'})
    assert r.status == expect, r
    return r.json()


def delete(server, redirect, expect=200):
    r = server.request("DELETE", f"/api/v1/redirects/{redirect['id']}", token=server.token, headers={"If-Match": f'"{redirect["version"]}"'})
    assert r.status == expect, r
    return r.json()


def hop(server, path):
    r = server.get(path)
    return r.status, r.headers.get("Location")


def events(server, topic):
    return [json.loads(row[0]) for row in server.sql("SELECT payload FROM outbox WHERE aggregate = 'redirect' AND topic = ? ORDER BY id", topic)]


def rows(server):
    return server.value("SELECT (SELECT count(*) FROM path WHERE role <> 'canonical') + (SELECT count(*) FROM path_query) + (SELECT count(*) FROM path_rule)")


def test_a_redirect_is_made_read_changed_and_removed(server):
    a, b, source = publish(server), publish(server), "/" + word()
    assert server.get(source).status == 404
    r = server.post("/api/v1/redirects", {"source": source, "target": a["path"], "note": "moved in"})
    made = r.json()
    assert r.status == 201 and r.headers["Location"] == f"/api/v1/redirects/{made['id']}" and r.headers["ETag"] == '"1"'
    assert made["source"] == source and made["match"] == "path" and made["target"] == a["url"] and made["status"] == 301
    assert made["resource"] == {"id": a["id"], "kind": "article", "state": "published"} and made["note"] == "moved in" and made["hits"] == 0
    # What was no page a moment ago leads there at once.
    assert hop(server, source) == (301, a["url"])
    assert read(server, made) == made
    changed = patch(server, made, {"target": b["id"], "status": 302, "note": None})
    assert changed["version"] == 2 and changed["resource"]["id"] == b["id"] and changed["note"] is None
    assert hop(server, source) == (302, b["url"])
    assert patch(server, changed, {"status": 302})["version"] == 2, "what changes nothing makes no version"
    delete(server, changed)
    assert hop(server, source) == (404, None)
    assert server.get(f"/api/v1/redirects/{made['id']}", token=server.token).status == 404
    assert [e["version"] for t in ("created", "changed", "deleted") for e in events(server, "redirect." + t) if e["id"] == made["id"]] == [1, 2, 3]


def test_a_create_sent_twice_makes_one_redirect_and_one_event(server):
    a, key, body = publish(server), new_key(), None
    source = "/" + word()
    body = {"source": source, "target": a["path"]}
    first, again = (server.post("/api/v1/redirects", body, key=key) for _ in range(2))
    assert (first.status, again.status) == (201, 200) and first.body == again.body
    assert server.value("SELECT count(*) FROM path WHERE path = ?", source) == 1
    assert len([e for e in events(server, "redirect.created") if e["source"] == source]) == 1


def test_writes_need_the_version_they_were_made_from(server):
    made = make(server, "/" + word(), "/articles")
    for method, body in (("PATCH", {"status": 302}), ("DELETE", None)):
        r = server.request(method, f"/api/v1/redirects/{made['id']}", body, token=server.token)
        assert r.status == 428 and r.json()["code"] == "precondition_required"
        for tag in ('"2"', 'W/"1"'):
            r = server.request(method, f"/api/v1/redirects/{made['id']}", body, token=server.token, headers={"If-Match": tag})
            assert r.status == 412 and r.json()["code"] == "version_conflict"
    assert read(server, made) == made


def test_only_those_who_manage_redirects_see_and_change_them(server):
    made = make(server, "/" + word(), "/tags", token=server.tokens["editor"])
    for name, expected in (("viewer", 403), ("author", 403), (None, 401)):
        token = server.tokens[name] if name else None
        for method, path, body in (("GET", "/api/v1/redirects", None), ("GET", f"/api/v1/redirects/{made['id']}", None),
                                   ("POST", "/api/v1/redirects", {"source": "/" + word(), "target": "/"}),
                                   ("PATCH", f"/api/v1/redirects/{made['id']}", {"status": 302}),
                                   ("DELETE", f"/api/v1/redirects/{made['id']}", None), ("GET", "/api/v1/reports/dead-targets", None)):
            r = server.request(method, path, body, token=token, key=True if method == "POST" else None, headers={"If-Match": '"1"'})
            assert r.status == expected, (name, method, r)
    assert read(server, made) == made


@pytest.mark.parametrize("body, field, code", [
    ({}, "source", "validation_failed"), ({"source": "/x1"}, "target", "validation_failed"), ({"source": "", "target": "/"}, "source", "validation_failed"),
    ({"source": "/x1", "target": ""}, "target", "validation_failed"), ({"source": "/x1", "target": "/", "status": 303}, "status", "validation_failed"),
    ({"source": "/x1", "target": "/", "status": "301"}, "status", "validation_failed"),
    ({"source": "/x1", "target": "/", "status": 410}, "target", "validation_failed"),
    ({"source": "/x1?a=b", "status": 410}, "status", "validation_failed"),
    ({"source": "https://other.test/x", "target": "/"}, "source", "validation_failed"), ({"source": "/%00", "target": "/"}, "source", "validation_failed"),
    ({"source": "/x1", "target": "javascript:alert(1)"}, "target", "validation_failed"), ({"source": "/x1", "target": "mailto:a@b.test"}, "target", "validation_failed"),
    ({"source": "/x1", "target": "https://user:pw@b.test/"}, "target", "validation_failed"),
    ({"source": "/x1", "target": "/nowhere-at-all"}, "target", "validation_failed"), ({"source": "/x1", "target": "/articles#top"}, "target", "validation_failed"),
    ({"source": "/x1", "target": "/api/articles"}, "target", "validation_failed"), ({"source": "/x1", "target": "/admin"}, "target", "validation_failed"),
    ({"source": "/x1", "target": "01900000-0000-7000-8000-000000000000"}, "target", "validation_failed"),
    ({"source": "/", "target": "/articles"}, "source", "reserved"), ({"source": "/admin/x", "target": "/"}, "source", "reserved"),
    ({"source": "/API/x", "target": "/"}, "source", "reserved"), ({"source": "/sitemap-old.xml", "target": "/"}, "source", "reserved"),
    ({"source": "/articles", "target": "/"}, "source", "reserved"), ({"source": "/feed?x=1", "target": "/"}, "source", "reserved"),
    ({"source": "/x1", "target": "/", "kind": 1}, "kind", "unknown_field"),
    ({"source": "/x1", "target": "/", "note": "n" * 201}, "note", "validation_failed"),
    ({"source": "/x1\r\nSet-Cookie: a", "target": "/"}, "source", "validation_failed"), ({"source": "/" + "x" * 1600, "target": "/"}, "source", "validation_failed"),
])
def test_what_cannot_be_stored_is_refused_by_its_field(server, body, field, code):
    before = rows(server)
    r = server.post("/api/v1/redirects", body)
    assert r.status == 422 and r.json()["code"] == code, r
    assert field in [e["field"] for e in r.json().get("errors", [])] or f'"{field}"' in r.text, r
    assert rows(server) == before


def test_the_address_of_a_page_is_no_source_and_its_holder_is_named(server):
    for page in (publish(server), publish(server, kind="pages", state="draft")):
        for source in (page["path"], page["path"].upper(), page["path"] + "/", server.base + page["path"]):
            r = server.post("/api/v1/redirects", {"source": source, "target": "/articles"})
            assert r.status == 409 and r.json()["code"] == "path_conflict" and page["id"] in r.text, r
    assert server.get(page["path"]).status == 404


def test_a_source_that_is_taken_names_the_redirect_that_has_it(server):
    for source in ("/" + word(), f"/{word()}?p=1", f"/{word()}/*"):
        made = make(server, source, "/articles")
        again = make(server, source, "/tags", expect=409)
        assert again["code"] == "path_conflict" and made["id"] in again["detail"]
        assert read(server, made) == made


def test_a_page_cannot_take_the_source_of_a_redirect(server):
    slug = word()
    make(server, "/articles/" + slug, "/articles")
    r = server.post("/api/v1/articles", {"title": "T", "content": "x", "slug": slug})
    assert r.status == 409 and r.json()["code"] == "slug_conflict", r


def test_an_old_address_belongs_to_its_resource_for_good(server, make_server):
    import site_pages
    a, other, old = publish(server), publish(server), "/articles/" + word()
    site_pages.write_rows(server, (f"""INSERT INTO path (path, fold, role, resource_id, status, was_public, was_canonical, created_at)
        VALUES ('{old}', '{old}', 'alias', (SELECT id FROM resource WHERE uid = '{a['id']}'), 301, 1, 1, 1)""",))
    r = server.post("/api/v1/redirects", {"source": old, "target": other["path"]})
    assert r.status == 409 and a["id"] in r.text
    listed = server.get(f"/api/v1/redirects?resource={a['id']}", token=server.token).json()["items"]
    assert [i["source"] for i in listed] == [old] and listed[0]["id"].startswith("~") and listed[0]["was_public"]
    moved = listed[0]
    assert read(server, moved) == moved
    assert patch(server, moved, {"target": other["id"]}, expect=409)["code"] == "path_conflict"
    assert delete(server, moved, expect=409)["code"] == "path_conflict"
    assert hop(server, old) == (301, a["url"])
    # It may be marked as gone, and has an id of its own from then on; it is nobody else's even so.
    gone = patch(server, moved, {"status": 410})
    assert gone["status"] == 410 and gone["target"] is None and not gone["id"].startswith("~") and gone["version"] == 2
    assert hop(server, old) == (410, None)
    assert server.get(f"/api/v1/redirects/{moved['id']}", token=server.token).status == 404
    assert patch(server, gone, {"target": other["id"]}, expect=409)["code"] == "path_conflict"
    assert delete(server, gone, expect=409)["code"] == "path_conflict"
    r = server.post("/api/v1/articles", {"title": "T", "content": "x", "slug": old.rsplit("/", 1)[1]})
    assert r.status == 409
    assert hop(server, old) == (410, None)


def test_a_target_that_is_an_old_address_becomes_what_it_stands_for(server):
    """/a -> /b, /b -> /c, /c -> page: each leads to the page in one hop, whatever the order they were made in."""
    a, first = publish(server), "/" + word()
    sources = [first]
    made = [make(server, first, a["path"])]
    for _ in range(4):
        sources.append("/" + word())
        made.append(make(server, sources[-1], sources[-2].upper() + "/"))
    for source, m in zip(sources, made):
        assert m["resource"]["id"] == a["id"] and m["target"] == a["url"]
        assert hop(server, source) == (301, a["url"])
    assert server.value("SELECT count(*) FROM path WHERE role = 'external' AND target LIKE '/w%'") == 0
    away = make(server, "/" + word(), "https://other.test/x")
    assert make(server, "/" + word(), away["source"])["target"] == "https://other.test/x"


def test_circles_cannot_be_made_in_any_order(server):
    """F33, F46, F59: what would close a circle has nothing at its end, and is refused."""
    x, y = "/" + word(), "/" + word()
    assert make(server, x, y, expect=422)["errors"][0]["field"] == "target"
    assert make(server, x, x, expect=422)["errors"][0]["field"] == "target"
    assert make(server, x, x.upper() + "/", expect=422)["errors"][0]["field"] == "target"
    m = make(server, x, "/articles")
    n = make(server, y, x)
    assert n["target"] == server.base + "/articles"
    assert patch(server, m, {"target": y})["target"] == server.base + "/articles"
    assert hop(server, x) == hop(server, y) == (301, server.base + "/articles")


def test_own_urls_are_no_other_site(make_server):
    """Addresses of our own origin and of its other names are paths, so a row for another site never leads back here."""
    s = make_server(config="aliases = www.ex.test old.ex.test\n")
    a = publish(s)
    for prefix in (s.base, "https://www.ex.test", "http://OLD.ex.test", "//www.ex.test"):
        m = make(s, "/" + word(), prefix + a["path"].upper())
        assert m["resource"]["id"] == a["id"], m
        assert make(s, "/" + word(), prefix + "/" + word(), expect=422)["code"] == "validation_failed"
        assert make(s, prefix + "/" + word(), a["path"])["source"].startswith("/w")
    assert s.value("SELECT count(*) FROM path WHERE role = 'external'") == 0


def test_any_number_of_sources_may_begin_with_the_same_pair(server):
    path, target = "/" + word() + ".php", publish(server)["id"]
    for n in range(130):
        assert server.post("/api/v1/redirects", {"source": f"{path}?lang=de&p={n}", "target": target}).status == 201
    for n in (0, 99, 100, 129):
        assert server.get(f"{path}?p={n}&lang=de").status == 301, n
    assert server.get(f"{path}?p=130&lang=de").status == 404


def test_a_source_that_escapes_make_too_long_is_refused(server):
    for source in ("/zzz?a=" + "+" * 1400, "/" + "ü" * 300 + "?a=" + "+" * 800):
        r = server.post("/api/v1/redirects", {"source": source, "target": "/articles"})
        assert r.status == 422 and r.json()["errors"][0]["field"] == "source"
    assert server.post("/api/v1/redirects", {"source": "/zzz?a=" + "+" * 600, "target": "/articles"}).status == 201


def test_a_target_follows_its_resource(server):
    """F51: the id is stored, so an address that changes is met."""
    draft = publish(server, state="draft", slug=word())
    source = "/" + word()
    m = make(server, source, draft["path"])
    assert m["target"] == draft["url"] and hop(server, source) == (404, None)
    renamed = edit(server, draft, slug=word())
    assert read(server, m)["target"] == renamed["url"] != draft["url"]
    live = move(server, draft, "publish")
    assert hop(server, source) == (301, live["url"])
    move(server, draft, "withdraw")
    assert hop(server, source) == (404, None)
    dead = server.get("/api/v1/reports/dead-targets?limit=100", token=server.token).json()
    assert source in [i["source"] for i in dead["items"]] and all(i["resource"]["state"] != "published" for i in dead["items"])


def test_every_status_answers_as_itself_and_gone_has_no_location(server):
    a = publish(server)
    for status in (301, 302, 307, 308):
        source = "/" + word()
        make(server, source, a["path"], status)
        assert hop(server, source + "?utm=1") == (status, a["url"] + "?utm=1")
    for status in (410, 451):
        source = "/" + word()
        m = make(server, source, status=status)
        assert m["target"] is None and hop(server, source) == (status, None)
        assert patch(server, m, {"target": a["path"]})["status"] == 301
        assert hop(server, source) == (301, a["url"])


def test_sources_have_one_spelling(server):
    """F52, F54, F55, F56, F59: text, escapes, case and slash mean one source; Location is ASCII."""
    a, w = publish(server, "Straße " + word()), word()
    for given, stored, asked in ((f"/{w}ภาษา", f"/{w}%E0%B8%A0%E0%B8%B2%E0%B8%A9%E0%B8%B2", f"/{w}%e0%b8%a0%E0%B8%B2%E0%B8%A9%E0%B8%B2/"),
                                 (f"/{w}a%20b/", f"/{w}a%20b", f"/{w}a%20b"), (f"/{w}e\u0301", f"/{w}%C3%A9", f"/{w}%C3%A9?x=1"),
                                 (f"/{w}//x/../y", f"/{w}/y", f"/{w.upper()}/Y"), (f"{w}-plain", f"/{w}-plain", f"/{w}-plain")):
        m = make(server, given, a["path"])
        assert m["source"] == stored
        status, location = hop(server, asked)
        assert status == 301 and location.split("?")[0] == a["url"] and location.isascii()
        assert make(server, asked.split("?")[0].replace(w.upper() + "/Y", w + "/y"), "/articles", expect=409)


def test_the_list_is_paged_filtered_and_complete(make_server):
    s = make_server()
    a, b = publish(s), publish(s)
    made = [make(s, f"/old/{n:02}", (a if n % 2 else b)["path"], 302 if n % 3 == 0 else 301) for n in range(12)]
    made += [make(s, f"/?p={n}", a["path"]) for n in range(5)] + [make(s, f"/r{n}/*", "https://other.test/*") for n in range(3)]
    made.append(make(s, "/gone", status=410))

    def walk(query):
        items, url = [], f"/api/v1/redirects?{query}"
        while url:
            r = s.get(url, token=s.token)
            assert r.status == 200, r
            page = r.json()
            items += page["items"]
            assert len(page["items"]) <= 2
            url = None
            if page["next"]:
                url = r.headers["Link"].split(">")[0][1 + len(s.base):]
                assert page["next"] in url
        return items

    everything = walk("limit=2")
    assert sorted(i["id"] for i in everything) == sorted(m["id"] for m in made)
    assert [i["source"] for i in everything if i["match"] == "path"] == sorted(m["source"] for m in made if m["match"] == "path")
    assert {i["source"] for i in walk("limit=2&source=/old/0")} == {f"/old/{n:02}" for n in range(10)}
    assert {i["source"] for i in walk("limit=2&source=/old/03")} == {"/old/03"}
    assert {i["source"] for i in walk("limit=1&match=rule")} == {"/r0/*", "/r1/*", "/r2/*"}
    assert {i["source"] for i in walk("limit=2&match=query")} == {f"/?p={n}" for n in range(5)}
    assert {i["source"] for i in walk(f"limit=2&resource={b['id']}")} == {f"/old/{n:02}" for n in range(0, 12, 2)}
    assert {i["source"] for i in walk(f"limit=2&resource={a['id']}&match=query")} == {f"/?p={n}" for n in range(5)}
    assert {i["source"] for i in walk("limit=2&status=302")} == {f"/old/{n:02}" for n in range(0, 12, 3)}
    assert [i["source"] for i in walk("limit=2&status=410")] == ["/gone"]
    assert walk(f"resource=01900000-0000-7000-8000-000000000000") == []
    for bad in ("limit=0", "limit=101", "status=303", "match=x", "source=x", "cursor=x", "cursor=a.b"):
        r = s.get(f"/api/v1/redirects?{bad}", token=s.token)
        assert r.status in (400, 422) and bad.split("=")[0] in r.text
    cursor = s.get("/api/v1/redirects?limit=1", token=s.token).json()["next"]
    assert s.get(f"/api/v1/redirects?status=301&cursor={cursor}", token=s.token).json()["code"] == "invalid_cursor"


def test_parallel_creates_of_one_source_make_one(server):
    import concurrent.futures
    a, source = publish(server), "/" + word()
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda n: server.post("/api/v1/redirects", {"source": source, "target": a["path"], "note": str(n)}), range(8)))
    assert sorted(r.status for r in answers) == [201] + [409] * 7
    made = [r for r in answers if r.status == 201][0].json()
    assert read(server, made) == made and len([e for e in events(server, "redirect.created") if e["source"] == source]) == 1


def test_what_leads_to_a_page_that_is_deleted_is_gone_and_reported(server):
    """F48: the rows stay, answer 410, and the report names them."""
    a, w = publish(server), word()
    sources = [f"/{w}-1", f"/{w}-2", f"/{w}?p=1"]
    made = [make(server, source, a["path"]) for source in sources]
    r = server.get(f"/api/v1/articles/{a['id']}", token=server.token)
    r = server.request("DELETE", f"/api/v1/articles/{a['id']}", token=server.token, headers={"If-Match": r.headers["ETag"]})
    assert r.status == 200, r
    for m in made:
        assert hop(server, m["source"]) == (410, None)
        assert read(server, m)["resource"]["state"] == "gone"
    found, url = [], "/api/v1/reports/dead-targets?limit=100"
    while url:
        r = server.get(url, token=server.token)
        found += [i["source"] for i in r.json()["items"]]
        url = r.headers["Link"].split(">")[0][1 + len(server.base):] if r.json()["next"] else None
    assert set(sources) <= set(found)


def test_a_move_leaves_an_old_address_that_is_listed_and_stays(server):
    a = publish(server)
    r = server.post(f"/api/v1/articles/{a['id']}/move", {"slug": word()})
    assert r.status == 200, r
    moved = server.get(f"/api/v1/articles/{a['id']}", token=server.token).json()
    assert hop(server, a["path"]) == (301, moved["url"])
    listed = server.get(f"/api/v1/redirects?resource={a['id']}", token=server.token).json()["items"]
    assert [(i["source"], i["was_public"], i["target"]) for i in listed] == [(a["path"], True, moved["url"])]
    assert make(server, a["path"], "/articles", expect=409)["code"] == "path_conflict"
    # What leads to the old address leads to the resource, wherever it moves next.
    m = make(server, "/" + word(), a["path"])
    server.post(f"/api/v1/articles/{a['id']}/move", {"slug": word()})
    now = server.get(f"/api/v1/articles/{a['id']}", token=server.token).json()
    assert hop(server, m["source"]) == hop(server, a["path"]) == (301, now["url"])
