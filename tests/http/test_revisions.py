"""What was written stays readable, comparable, and can be brought back; nothing of it is ever changed."""
import pytest

from test_moves import KINDS, create, word


def patch(server, made, members, version, kind="articles"):
    r = server.request("PATCH", f"/api/v1/{kind}/{made['id']}", members, headers={"If-Match": f'"{version}"'}, token=server.token)
    assert r.status == 200, r.body
    return r.json()


def get(server, made, more="", kind="articles", **kw):
    kw.setdefault("token", server.token)
    return server.request("GET", f"/api/v1/{kind}/{made['id']}/revisions{more}", **kw)


def restore(server, made, n, status=200, kind="articles", **kw):
    r = server.post(f"/api/v1/{kind}/{made['id']}/revisions/{n}/restore", **kw)
    assert r.status == status, r.body
    return r


@pytest.fixture
def written(server):
    made = create(server, content="one\ntwo\nthree\n", summary="first", tags=[word()])
    patch(server, made, {"content": "one\n2\nthree\n", "title": "Second title"}, 1)
    patch(server, made, {"summary": None, "seo": {"noindex": True}}, 2)
    return made


def test_revisions_are_listed_newest_first_with_what_each_is(server, written):
    items = get(server, written).json()["items"]
    assert [i["number"] for i in items] == [3, 2, 1]
    assert [(i["is_head"], i["is_live"], i["is_scheduled"]) for i in items] == [(True, False, False), (False, False, False), (False, True, False)]
    assert {i["editor"] for i in items} == {"admin"} and items[1]["title"] == "Second title"
    server.post(f"/api/v1/articles/{written['id']}/schedule", {"publish_at": "2099-01-01T00:00:00Z"})
    assert [i["is_scheduled"] for i in get(server, written).json()["items"]] == [True, False, False]


def test_long_histories_go_on_by_cursor(server):
    made = create(server)
    for version in range(1, 8):
        patch(server, made, {"content": f"text {version}"}, version)
    seen, path = [], "?limit=3"
    while path:
        r = get(server, made, path)
        seen += [i["number"] for i in r.json()["items"]]
        cursor = r.json()["next"]
        assert ("Link" in r.headers) == (cursor is not None)
        path = f"?limit=3&cursor={cursor}" if cursor else None
    assert seen == list(range(8, 0, -1))
    other = create(server)
    first = get(server, made, "?limit=3").json()["next"]
    assert get(server, other, f"?cursor={first}").status == 400
    assert get(server, made, "?limit=0").status == get(server, made, "?limit=101").status == 422


@pytest.mark.parametrize("kind", KINDS)
def test_an_old_revision_is_read_as_it_was(server, kind):
    made = create(server, kind, content="the first text")
    patch(server, made, {"content": "the second text", "title": "New"}, 1, kind)
    old = get(server, made, "/1", kind).json()
    assert (old["number"], old["is_head"], old["document"]["title"], old["document"]["content"]) == (1, False, made["title"], "the first text")
    assert "the first text" in old["document"]["html"]
    new = get(server, made, "/2", kind).json()
    assert (new["document"]["title"], new["document"]["content"]) == ("New", "the second text")
    for n in ("0", "3", "-1", "x", "99999999999999999999"):
        assert get(server, made, "/" + n, kind).status == 404


def test_a_diff_names_members_and_lines(server, written):
    diff = get(server, written, "/3/diff?against=1").json()
    assert (diff["from"], diff["to"], diff["is_whole"]) == (1, 3, True)
    assert diff["lines"] == [{"op": "same", "text": "one"}, {"op": "removed", "text": "two"}, {"op": "added", "text": "2"}, {"op": "same", "text": "three"}]
    assert diff["fields"] == {"title": {"from": written["title"], "to": "Second title"}, "summary": {"from": "first", "to": None},
                              "seo.noindex": {"from": "false", "to": "true"}}
    assert get(server, written, "/3/diff").json()["from"] == 2
    assert get(server, written, "/1/diff").json()["fields"]["title"] == {"from": "", "to": written["title"]}
    assert get(server, written, "/1/diff?against=1").json()["fields"] == {}
    assert get(server, written, "/3/diff?against=9").status == 404
    assert get(server, written, "/3/diff?against=two").json()["errors"][0]["field"] == "against"


def test_equal_parts_of_long_texts_are_skipped(server):
    lines = [f"line {i}" for i in range(1000)]
    made = create(server, content="\n".join(lines))
    lines[500] = "changed"
    patch(server, made, {"content": "\n".join(lines)}, 1)
    diff = get(server, made, "/2/diff").json()["lines"]
    assert [d["op"] for d in diff] == ["skipped"] + ["same"] * 3 + ["removed", "added"] + ["same"] * 3 + ["skipped"]
    assert (diff[0]["count"], diff[-1]["count"]) == (497, 496)


def test_texts_with_nothing_in_common_are_compared_in_bounds(server):
    made = create(server, content="\n".join(f"old {i} {word()}" for i in range(20000)))
    patch(server, made, {"content": "\n".join(f"new {i} {word()}" for i in range(20000))}, 1)
    diff = get(server, made, "/2/diff").json()
    assert diff["is_whole"] is False
    assert [sum(d["op"] == op for d in diff["lines"]) for op in ("removed", "added", "same")] == [20000, 20000, 0]


def test_a_comparison_shows_so_many_lines_and_counts_the_others(server):
    made = create(server, content="\n" * 300000 + "old")
    patch(server, made, {"content": "\nx" * 200000}, 1)
    r = get(server, made, "/2/diff")
    lines = r.json()["lines"]
    assert len(lines) == 50001 and "omitted" not in {d["op"] for d in lines[:-1]}
    # 300,001 lines before and 200,001 now: the first is empty in both.
    assert lines[-1] == {"op": "omitted", "count": 300001 + 200001 - 1 - 50000}
    assert len(r.body) < 4000000


def test_an_old_revision_comes_back_as_a_new_one(server, written):
    before = server.get(written["path"]).text
    key = word() + "-revert-key-0001"
    back = restore(server, written, 1, key=key)
    now = back.json()
    assert (now["title"], now["summary"], now["version"], now["tags"]) == (written["title"], "first", 4, written["tags"])
    assert [i["number"] for i in get(server, written).json()["items"]] == [4, 3, 2, 1]
    assert get(server, written, "/4").json()["document"]["content"] == "one\ntwo\nthree\n"
    assert get(server, written, "/4/diff?against=1").json()["fields"] == {}
    assert server.get(written["path"]).text == before
    again = restore(server, written, 1, key=key)
    assert again.headers["Idempotent-Replayed"] == "true" and again.body == back.body
    # The head again changes nothing.
    assert restore(server, written, 4).json()["version"] == 4
    assert restore(server, written, 9, status=404).json()["code"] == "not_found"
    assert restore(server, written, 1, status=412, headers={"If-Match": '"1"'}).json()["code"] == "version_conflict"


def test_others_histories_are_not_there(server):
    made = create(server)
    assert get(server, made, token=None).status == 401
    for more in ("", "/1", "/1/diff"):
        assert get(server, made, more, token=server.tokens["author"]).status == 404
    mine = server.post("/api/v1/articles", {"title": word()}, token=server.tokens["author"]).json()
    assert get(server, mine, token=server.tokens["author"]).status == 200
    assert restore(server, made, 1, status=403, token=server.tokens["author"]).json()["code"] == "forbidden"


def test_a_deleted_article_keeps_its_history_but_takes_nothing_back(server, written):
    assert server.request("DELETE", f"/api/v1/articles/{written['id']}", headers={"If-Match": '"3"'}, token=server.token).status == 200
    assert len(get(server, written).json()["items"]) == 3
    assert restore(server, written, 1, status=410).json()["code"] == "gone"
