"""Moves of the address: every old one leads to the new one in one hop, and no path that was ever public means anything else."""
import concurrent.futures
import json

import pytest

import site_pages

KINDS = ("articles", "pages", "tags", "authors")


def word():
    return site_pages.word()


def create(server, kind="articles", status=201, **members):
    r = server.post(f"/api/v1/{kind}", {"title": word(), "content": "x", "state": "published", **members})
    assert r.status == status, r.body
    return r.json()


def step(server, made, what, body=None, status=200, kind="articles", **kw):
    r = server.post(f"/api/v1/{kind}/{made['id']}/{what}", body, **kw)
    assert r.status == status, r.body
    return r.json()


def answer(server, path):
    r = server.request("GET", path, token=None)
    return r.status, r.headers.get("Location")


def base(server, path):
    return server.base + path


def live_article(server, tag):
    return create(server, tags=[tag])


def topics(server, made):
    return [t for (t,) in server.sql("SELECT topic FROM outbox o JOIN resource r ON r.id = o.aggregate_id WHERE r.uid = ? ORDER BY o.id", made["id"])]


@pytest.mark.parametrize("kind", KINDS)
def test_the_old_address_leads_to_the_new_one(server, kind):
    tag = word()
    made = create(server, kind) if kind != "tags" else None
    if kind == "tags":
        made = create(server, kind, title=tag)
        live_article(server, tag)
    slug = word()
    assert answer(server, made["path"]) == (200, None)
    moved = step(server, made, "move", {"slug": slug}, kind=kind)
    assert moved["slug"] == slug and moved["path"].endswith("/" + slug) and moved["version"] == made["version"] + 1
    assert answer(server, moved["path"]) == (200, None)
    assert answer(server, made["path"]) == (301, base(server, moved["path"]))
    assert answer(server, made["path"].upper() + "/?utm=1") == (301, base(server, moved["path"] + "?utm=1"))
    assert topics(server, made)[-1] == "resource.moved"
    payload = json.loads(server.value("SELECT payload FROM outbox WHERE topic = 'resource.moved' ORDER BY id DESC LIMIT 1"))
    assert (payload["url"], payload["from"]) == (base(server, moved["path"]), base(server, made["path"]))
    # An author who wrote nothing is not listed.
    assert server.value("SELECT count(*) FROM sitemap_entry WHERE path = ?", moved["path"]) == (kind != "authors")
    assert server.value("SELECT count(*) FROM sitemap_entry WHERE path = ?", made["path"]) == 0


def test_back_and_forth_never_makes_a_loop_or_a_chain(server):
    made = create(server)
    slugs = [made["slug"], word(), word()]
    paths = ["/articles/" + s for s in slugs]
    for turn in (1, 2, 0, 1, 0, 2, 1, 0):
        moved = step(server, made, "move", {"slug": slugs[turn]})
        assert moved["path"] == paths[turn]
        for i, path in enumerate(paths):
            if server.value("SELECT count(*) FROM path WHERE path = ?", path):
                assert answer(server, path) == ((200, None) if i == turn else (301, base(server, paths[turn])))
    assert server.value("SELECT count(*) FROM path p JOIN resource r ON r.id = p.resource_id WHERE r.uid = ?", made["id"]) == 3
    assert server.value("SELECT count(*) FROM path p JOIN resource r ON r.id = p.resource_id WHERE r.uid = ? AND role = 'canonical'", made["id"]) == 1


def test_a_move_to_another_spelling_is_a_move(server):
    name = word()
    made = create(server, slug=name)
    moved = step(server, made, "move", {"path": "/articles/" + name.upper()})
    assert moved["path"] == "/articles/" + name.upper()
    assert answer(server, moved["path"]) == (200, None)
    assert answer(server, made["path"]) == (301, base(server, moved["path"]))
    back = step(server, made, "move", {"slug": name})
    assert answer(server, back["path"]) == (200, None)
    assert answer(server, moved["path"]) == (301, base(server, back["path"]))


def test_the_same_address_changes_nothing(server):
    made = create(server)
    before = server.value("SELECT count(*) FROM outbox")
    same = step(server, made, "move", {"slug": made["slug"]})
    assert same["version"] == made["version"]
    assert server.value("SELECT count(*) FROM outbox") == before


def test_whoever_was_never_public_leaves_no_trace(server):
    made = create(server, state="draft")
    moved = step(server, made, "move", {"slug": word()})
    assert server.value("SELECT count(*) FROM path WHERE path = ?", made["path"]) == 0
    assert "resource.moved" not in topics(server, made)
    other = create(server, slug=made["slug"])
    assert answer(server, other["path"]) == (200, None)
    assert answer(server, moved["path"]) == (404, None)


@pytest.mark.parametrize("who, says", [("live", "which is live"), ("draft", "never public"), ("withdrawn", "which is withdrawn"), ("gone", "is gone"),
                                       ("alias", "old address")])
def test_a_taken_path_names_its_holder_and_what_may_be_done(server, who, says):
    holder = create(server, state="draft" if who == "draft" else "published")
    if who == "withdrawn":
        step(server, holder, "withdraw")
    if who == "gone":
        assert server.request("DELETE", f"/api/v1/articles/{holder['id']}", headers={"If-Match": '"1"'}, token=server.token).status == 200
    if who == "alias":
        step(server, holder, "move", {"slug": word()})
    made = create(server)
    key = site_pages.word() + "-holder-key-0001"
    body = {"slug": holder["slug"]}
    refused = server.post(f"/api/v1/articles/{made['id']}/move", body, key=key)
    assert (refused.status, refused.json()["code"]) == (409, "slug_conflict")
    assert holder["id"] in refused.json()["detail"] and says in refused.json()["detail"] and "choose another path" in refused.json()["detail"]
    again = server.post(f"/api/v1/articles/{made['id']}/move", body, key=key)
    assert again.status == 409 and again.headers["Idempotent-Replayed"] == "true" and again.body == refused.body
    assert answer(server, made["path"]) == (200, None)
    assert create(server, slug=holder["slug"], status=409)["code"] == "slug_conflict"


def test_reserved_and_malformed_addresses_are_refused(server):
    made = create(server)
    assert step(server, made, "move", {"path": "/api/v1/x"}, status=422)["code"] == "reserved"
    assert step(server, made, "move", {"path": "/sitemap.xml"}, status=422)["code"] == "reserved"
    for body in ({}, {"slug": ""}, {"slug": "a/b"}, {"path": "//evil.example/x"}, {"path": "relative"}, {"slug": 1}, {"slug": "a", "colour": "red"},
                 {"parent": None}, {"path": "/" + "x" * 3000}, {"path": "/"}):
        r = server.post(f"/api/v1/articles/{made['id']}/move", body)
        assert r.status in (400, 422), (body, r.body)
    assert answer(server, made["path"]) == (200, None)


@pytest.mark.parametrize("path", ["/a%00", "/%0d%0aX", "/" + "é" * 400, "/*", "/a/*", "/:any", "/a/:b/c"])
def test_a_path_that_cannot_be_an_address_is_named_as_the_field(server, path):
    """A segment that a redirect reads as a pattern would, exported as an old address and imported again, take the addresses of others."""
    made = live_article(server, word())
    r = server.post(f"/api/v1/articles/{made['id']}/move", {"path": path})
    assert r.status == 422 and [e["field"] for e in r.json()["errors"]] == ["path"], r
    assert [tuple(r) for r in server.sql("SELECT path, role FROM path WHERE resource_id = (SELECT id FROM resource WHERE uid = ?)", made["id"])] == [
        (made["path"], "canonical")]


def test_a_page_moves_with_everything_below(server):
    top = create(server, "pages")
    child = create(server, "pages", parent=top["id"])
    grandchild = create(server, "pages", parent=child["id"])
    hidden = create(server, "pages", parent=top["id"], state="draft")
    other = create(server, "pages")
    moved = step(server, top, "move", {"slug": word(), "parent": other["id"]}, kind="pages")
    assert moved["path"].startswith(other["path"] + "/")
    for below in (child, grandchild):
        new = moved["path"] + below["path"][len(top["path"]):]
        assert answer(server, new) == (200, None)
        assert answer(server, below["path"]) == (301, base(server, new))
        assert topics(server, below)[-1] == "resource.moved"
        assert server.value("SELECT count(*) FROM sitemap_entry WHERE path = ?", new) == 1
    assert server.value("SELECT count(*) FROM path WHERE path = ?", hidden["path"]) == 0
    assert server.get(f"/api/v1/pages/{hidden['id']}", token=server.token).json()["path"] == moved["path"] + hidden["path"][len(top["path"]):]
    # And back to where it was.
    back = step(server, top, "move", {"slug": top["slug"], "parent": None}, kind="pages")
    assert back["path"] == top["path"]
    for below in (child, grandchild):
        assert answer(server, below["path"]) == (200, None)
        assert answer(server, moved["path"] + below["path"][len(top["path"]):]) == (301, base(server, below["path"]))
    assert step(server, top, "move", {"parent": grandchild["id"]}, status=422, kind="pages")["errors"][0]["field"] == "parent"


def test_a_page_whose_child_would_meet_another_page_stays(server):
    a, b = create(server, "pages"), create(server, "pages")
    name = word()
    x = create(server, "pages", parent=a["id"], slug=name)
    y = create(server, "pages", parent=b["id"], slug=name)
    assert step(server, x, "move", {"parent": b["id"]}, status=409, kind="pages")["code"] == "slug_conflict"
    for page in (x, y):
        assert answer(server, page["path"]) == (200, None)


def test_pages_that_print_a_link_print_the_new_one_at_once(server):
    tag = word()
    named = create(server, "authors")
    made = create(server, tags=[tag], author=named["slug"])
    linking = create(server, content=f"[there]({made['path']})")
    term = server.get(f"/api/v1/tags/{tag}").json()
    for path in (linking["path"], term["path"], "/articles", "/"):
        assert made["path"] in server.get(path).text
    moved = step(server, made, "move", {"slug": word()})
    for path in (linking["path"], term["path"], "/articles", "/"):
        text = server.get(path).text
        assert moved["path"] in text and made["path"] + '"' not in text, path
    new_term = step(server, term, "move", {"slug": word()}, kind="tags")
    assert new_term["path"] in server.get(moved["path"]).text
    new_author = step(server, named, "move", {"slug": word()}, kind="authors")
    assert new_author["path"] in server.get(moved["path"]).text


def test_a_move_is_seen_by_every_worker_at_once(server):
    made = create(server)
    for _ in range(8):
        assert answer(server, made["path"])[0] == 200
    moved = step(server, made, "move", {"slug": word()})
    for _ in range(20):
        assert answer(server, made["path"]) == (301, base(server, moved["path"]))
        assert answer(server, moved["path"]) == (200, None)


def test_of_two_moves_at_once_to_one_address_one_wins(server):
    slug = word()
    made = [create(server) for _ in range(8)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda m: server.post(f"/api/v1/articles/{m['id']}/move", {"slug": slug}), made))
    assert sorted(r.status for r in results) == [200] + [409] * 7
    winner = next(r.json() for r in results if r.status == 200)
    for m in made:
        assert answer(server, m["path"]) == ((301, base(server, winner["path"])) if m["id"] == winner["id"] else (200, None))


def test_of_two_moves_of_one_article_at_once_both_leave_a_redirect(server):
    made = create(server)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        results = list(pool.map(lambda i: server.post(f"/api/v1/articles/{made['id']}/move", {"slug": word()}), range(8)))
    assert all(r.status == 200 for r in results)
    final = server.get(f"/api/v1/articles/{made['id']}").json()["path"]
    for path in [made["path"]] + [r.json()["path"] for r in results]:
        assert answer(server, path) == ((200, None) if path == final else (301, base(server, final)))


def test_two_pages_never_stand_below_each_other(server):
    """Each keeps its path, so neither plan looks old to the writer."""
    for _ in range(30):
        a, b = create(server, "pages"), create(server, "pages")
        bodies = [(a, {"parent": b["id"], "path": a["path"]}), (b, {"parent": a["id"], "path": b["path"]})]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            results = list(pool.map(lambda job: server.post(f"/api/v1/pages/{job[0]['id']}/move", job[1]).status, bodies))
        assert sorted(results) == [200, 422]
        assert server.value("SELECT count(*) FROM resource a JOIN resource b ON b.id = a.parent_id WHERE b.parent_id = a.id") == 0


def test_a_move_made_with_an_old_version_is_refused(server):
    made = create(server)
    r = server.post(f"/api/v1/articles/{made['id']}/move", {"slug": word()}, headers={"If-Match": '"7"'})
    assert r.status == 412 and '"1"' in r.json()["detail"]


def test_old_addresses_follow_the_state(server):
    made = create(server)
    moved = step(server, made, "move", {"slug": word()})
    step(server, made, "withdraw")
    assert answer(server, made["path"]) == answer(server, moved["path"]) == (404, None)
    step(server, made, "publish")
    assert answer(server, made["path"]) == (301, base(server, moved["path"]))


def test_authors_move_their_own_only_and_viewers_nothing(server):
    mine = server.post("/api/v1/articles", {"title": word(), "state": "published"}, token=server.tokens["author"]).json()
    theirs = create(server)
    assert server.post(f"/api/v1/articles/{mine['id']}/move", {"slug": word()}, token=server.tokens["author"]).status == 200
    assert server.post(f"/api/v1/articles/{theirs['id']}/move", {"slug": word()}, token=server.tokens["author"]).status == 403
    assert server.post(f"/api/v1/articles/{theirs['id']}/move", {"slug": word()}, token=server.tokens["viewer"]).status == 403
    assert server.post(f"/api/v1/articles/{theirs['id']}/move", {"slug": word()}, token=None).status == 401
