"""What is deleted: gone for good at every address it had, or without a trace when nobody ever saw it; and what comes back."""
import pytest

from test_moves import KINDS, answer, base, create, step, topics, word


def delete(server, made, status=200, kind="articles", version=None, **kw):
    headers = kw.pop("headers", {"If-Match": f'"{version or made["version"]}"'})
    kw.setdefault("token", server.token)
    r = server.request("DELETE", f"/api/v1/{kind}/{made['id']}", headers=headers, **kw)
    assert r.status == status, r.body
    return r


@pytest.mark.parametrize("kind", KINDS)
def test_every_address_it_had_is_gone(server, kind):
    made = create(server, kind)
    moved = step(server, made, "move", {"slug": word()}, kind=kind)
    gone = delete(server, moved, kind=kind).json()
    assert (gone["state"], gone["id"], gone["version"]) == ("gone", made["id"], moved["version"] + 1)
    for path in (made["path"], moved["path"], moved["path"].upper(), moved["path"] + "/"):
        assert answer(server, path) == (410, None)
    assert server.get(f"/api/v1/{kind}/{made['id']}").status in (404, 410)
    assert server.value("SELECT count(*) FROM sitemap_entry WHERE path IN (?, ?)", made["path"], moved["path"]) == 0
    assert topics(server, made)[-1] == "resource.deleted"
    assert create(server, kind, slug=made["slug"], status=409)["code"] == "slug_conflict"
    again = create(server, kind, title=moved["slug"])
    assert again["slug"] != moved["slug"]


def test_what_nobody_saw_leaves_no_row_and_frees_its_path(server):
    tag = word()
    made = create(server, state="draft", tags=[tag])
    server.request("PATCH", f"/api/v1/articles/{made['id']}", {"content": "second"}, token=server.token, headers={"If-Match": '"1"'})
    rid = server.value("SELECT id FROM resource WHERE uid = ?", made["id"])
    assert delete(server, made, version=2).json()["state"] == "gone"
    for table, column in (("resource", "id"), ("revision", "resource_id"), ("rendered", "resource_id"), ("path", "resource_id"), ("link", "resource_id")):
        assert server.value(f"SELECT count(*) FROM {table} WHERE {column} = ?", rid) == 0, table
    assert server.value("SELECT count(*) FROM pragma_foreign_key_check") == 0
    assert answer(server, made["path"]) == (404, None)
    assert create(server, slug=made["slug"])["path"] == made["path"]
    assert server.get(f"/api/v1/articles/{made['id']}", token=server.token).status == 404


def test_a_draft_page_with_pages_below_is_gone_but_keeps_its_path(server):
    top = create(server, "pages", state="draft")
    child = create(server, "pages", parent=top["id"])
    assert delete(server, top, kind="pages").json()["state"] == "gone"
    assert answer(server, top["path"]) == (410, None)
    assert answer(server, child["path"]) == (200, None)
    assert create(server, "pages", parent=top["id"], status=422)["errors"][0]["field"] == "parent"


def test_a_deleted_tag_and_author_are_no_longer_shown(server):
    tag = word()
    author = create(server, "authors")
    made = create(server, tags=[tag], author=author["slug"])
    term = server.get(f"/api/v1/tags/{tag}").json()
    assert tag in server.get(made["path"]).text and author["title"] in server.get(made["path"]).text
    delete(server, term, kind="tags")
    delete(server, author, kind="authors")
    text = server.get(made["path"]).text
    assert term["path"] not in text and author["path"] not in text
    assert answer(server, term["path"]) == answer(server, author["path"]) == (410, None)
    # The name is free for a new one, at another address.
    new = create(server, tags=[tag])["tags"]
    assert [t["name"] for t in new] == [tag] and new[0]["slug"] != term["slug"]


def test_a_tag_that_was_never_public_itself_but_stands_on_a_public_page_is_gone_and_not_removed(server):
    tag = create(server, "tags", state="draft")
    made = create(server, tags=[tag["title"]])
    assert made["tags"][0]["slug"] == tag["slug"]
    assert delete(server, tag, kind="tags").json()["state"] == "gone"
    assert server.value("SELECT state FROM resource WHERE uid = ?", tag["id"]) == "gone"
    back = step(server, tag, "restore", kind="tags")
    assert back["state"] == "withdrawn"
    step(server, tag, "publish", kind="tags")
    assert made["title"] in server.get(tag["path"]).text
    assert server.value("SELECT count(*) FROM live_tag t WHERE NOT EXISTS (SELECT 1 FROM resource r WHERE r.id = t.tag_id)") == 0


def test_what_was_deleted_comes_back_withdrawn_and_can_be_published(server):
    made = create(server)
    moved = step(server, made, "move", {"slug": word()})
    delete(server, moved)
    back = step(server, made, "restore")
    assert back["state"] == "withdrawn"
    assert answer(server, made["path"]) == answer(server, moved["path"]) == (404, None)
    assert step(server, made, "restore")["version"] == back["version"]
    step(server, made, "publish")
    assert answer(server, made["path"]) == (301, base(server, moved["path"]))
    assert answer(server, moved["path"]) == (200, None)
    assert topics(server, made)[-2:] == ["resource.restored", "resource.published"]
    assert step(server, made, "restore", status=409)["code"] == "state_conflict"


def test_a_delete_needs_the_version_and_is_replayed_by_its_key(server):
    made = create(server)
    assert delete(server, made, 428, headers={}).json()["code"] == "precondition_required"
    stale = delete(server, made, 412, version=9).json()
    assert stale["code"] == "version_conflict" and '"1"' in stale["detail"]
    key = word() + "-delete-key-00001"
    first = delete(server, made, key=key)
    again = delete(server, made, key=key)
    assert again.headers["Idempotent-Replayed"] == "true" and again.body == first.body
    assert topics(server, made).count("resource.deleted") == 1
    # With another key there is nothing left to delete.
    assert delete(server, made, 410, version=2, key=word() + "-delete-key-00002").json()["code"] == "gone"


def test_other_steps_from_the_dead_are_refused(server):
    made = create(server)
    delete(server, made)
    for what, body in (("publish", None), ("withdraw", None), ("schedule", {"publish_at": "2099-01-01T00:00:00Z"}), ("cancel", None),
                       ("move", {"slug": word()})):
        assert step(server, made, what, body, status=410)["code"] == "gone"


def test_redirects_to_what_is_deleted_answer_410(server):
    made = create(server)
    source = "/old/" + word()
    assert server.post("/api/v1/redirects", {"source": source, "target": made["id"]}).status == 201
    assert answer(server, source) == (301, base(server, made["path"]))
    delete(server, made)
    assert answer(server, source) == (410, None)


def test_a_copy_becomes_the_original_when_that_is_deleted(server):
    text = " ".join(word() for _ in range(60))
    first, second = create(server, title="Same " + text[:20], content=text), create(server, title="Same " + text[:20], content=text)
    assert second["canonical"] == first["url"]
    delete(server, first)
    now = server.get(f"/api/v1/articles/{second['id']}").json()
    assert now["canonical"] == now["url"] and now["duplicate_of"] is None
    assert server.value("SELECT count(*) FROM sitemap_entry WHERE path = ?", second["path"]) == 1


def test_only_who_may_deletes(server):
    made = create(server)
    assert delete(server, made, 403, token=server.tokens["viewer"]).status == 403
    assert delete(server, made, 403, token=server.tokens["author"]).status == 403
    assert delete(server, made, 401, token=None).status == 401
    assert answer(server, made["path"]) == (200, None)
