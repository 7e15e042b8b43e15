"""PUT replaces a whole document, and only the version that was read."""
import concurrent.futures

import pytest

from test_moves import KINDS, answer, create, word


def put(server, made, body, status=200, kind="articles", etag=None, **kw):
    headers = {"If-Match": etag or f'"{made["version"]}"'} if etag != "" else {}
    kw.setdefault("token", server.token)
    r = server.request("PUT", f"/api/v1/{kind}/{made['id']}", body, headers=headers, **kw)
    assert r.status == status, r.body
    return r


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_absent_is_taken_away(server, kind):
    made = create(server, kind, state="draft", content="first", summary="sum", fields={"a": 1}, seo={"title": "t", "noindex": True})
    new = put(server, made, {"title": "New title", "content": "second"}, kind=kind).json()
    assert (new["title"], new["summary"], new["fields"], new["version"]) == ("New title", None, {}, 2)
    assert new["seo"]["title"] is None and new["seo"]["noindex"] is False
    assert (new["slug"], new["path"]) == (made["slug"], made["path"])
    full = server.get(f"/api/v1/{kind}/{made['id']}", token=server.token).json()
    assert full["content"] == "second"


def test_tags_go_and_the_author_stays(server):
    author = create(server, "authors")
    made = create(server, tags=[word(), word()], author=author["slug"])
    new = put(server, made, {"title": "t", "content": "c"}).json()
    assert new["tags"] == [] and new["author"]["slug"] == author["slug"]


def test_nothing_public_changes_until_it_is_published(server):
    made = create(server, content="first words")
    assert put(server, made, {"title": "Another", "content": "second words"}).json()["has_unpublished_changes"] is True
    assert "first words" in server.get(made["path"]).text
    server.post(f"/api/v1/articles/{made['id']}/publish")
    assert "second words" in server.get(made["path"]).text


def test_without_the_version_nothing_is_replaced(server):
    made = create(server)
    missing = put(server, made, {"title": "t", "content": "c"}, 428, etag="")
    assert missing.json()["code"] == "precondition_required" and missing.headers["ETag"] == '"1"'
    for etag in ('"2"', 'W/"1"', "1", '"one"'):
        stale = put(server, made, {"title": "t", "content": "c"}, 412, etag=etag)
        assert stale.json()["code"] == "version_conflict" and '"1"' in stale.json()["detail"] and stale.headers["ETag"] == '"1"'
    assert put(server, made, {"title": "t", "content": "c"}, etag="*").json()["version"] == 2


@pytest.mark.parametrize("media", ["application/merge-patch+json", "application/merge-patch+json; charset=utf-8", "application/json"])
def test_a_merge_patch_may_be_called_one(server, media):
    made = create(server)
    r = server.request("PATCH", f"/api/v1/articles/{made['id']}", b'{"title": "Named"}', headers={"If-Match": '"1"', "Content-Type": media}, token=server.token, key=True)
    assert r.status == 200 and r.json()["title"] == "Named", r
    r = server.request("PUT", f"/api/v1/articles/{made['id']}", b'{"title": "x", "content": ""}', headers={"If-Match": '"2"', "Content-Type": media}, token=server.token, key=True)
    assert r.status == (415 if "merge" in media else 200)


def test_a_lost_answer_is_replayed_and_not_a_conflict(server):
    made = create(server)
    key = word() + "-replace-key-0001"
    body = {"title": "t", "content": "c"}
    first = put(server, made, body, key=key)
    again = put(server, made, body, key=key)
    assert again.status == 200 and again.headers["Idempotent-Replayed"] == "true" and again.body == first.body
    assert server.get(f"/api/v1/articles/{made['id']}", token=server.token).json()["version"] == 2
    assert put(server, made, {"title": "u", "content": "c"}, 409, key=key).json()["code"] == "idempotency_key_conflict"


def test_of_two_at_once_one_wins(server):
    made = create(server)
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        codes = sorted(pool.map(lambda i: server.request("PUT", f"/api/v1/articles/{made['id']}", {"title": f"t{i}", "content": "c"},
                                                         headers={"If-Match": '"1"'}, token=server.token).status, range(8)))
    assert codes == [200] + [412] * 7
    # Whoever lost learns from the writer too what the version is now.
    assert put(server, made, {"title": "t", "content": "c"}, 412, etag='"1"').headers["ETag"] == '"2"'
    assert server.get(f"/api/v1/articles/{made['id']}", token=server.token).json()["version"] == 2


@pytest.mark.parametrize("body, field", [({"content": "c"}, "title"), ({"title": "t"}, "content"), ({"title": " ", "content": "c"}, "title"),
                                         ({"title": "t", "content": "c", "state": "published"}, "state"), ({"title": 1, "content": "c"}, "title"),
                                         ({"title": "t", "content": None}, "content")])
def test_mistakes_name_their_field(server, body, field):
    made = create(server)
    r = put(server, made, body, 422).json()
    assert field in [e["field"] for e in r["errors"]]
    assert answer(server, made["path"]) == (200, None)


@pytest.mark.parametrize("body", [b"[]", b'"text"', b"1", b"null"])
def test_what_is_no_object_is_refused(server, body):
    made = create(server)
    r = server.request("PUT", f"/api/v1/articles/{made['id']}", body, token=server.token,
                       headers={"If-Match": '"1"', "Content-Type": "application/json"})
    assert r.status == 422 and r.json()["code"] == "validation_failed"
