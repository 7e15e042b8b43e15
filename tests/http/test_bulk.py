"""One step for many resources: each has its own verdict, and one refusal undoes nothing of the others."""
import json

from test_moves import answer, create, topics, word


def bulk(server, action, ids, status=200, kind="articles", **kw):
    r = server.post(f"/api/v1/{kind}/bulk", {"action": action, "ids": ids}, **kw)
    assert r.status == status, r.body
    return r


def test_each_row_has_its_own_result(server):
    live, draft, gone = create(server), create(server, state="draft"), create(server)
    server.request("DELETE", f"/api/v1/articles/{gone['id']}", headers={"If-Match": '"1"'}, token=server.token)
    results = bulk(server, "withdraw", [live["id"], draft["slug"], gone["id"], "no-such-thing", live["id"]]).json()["results"]
    assert [(r["status"], r.get("state") or r.get("code")) for r in results] == [
        (200, "withdrawn"), (409, "state_conflict"), (410, "gone"), (404, "not_found"), (200, "withdrawn")]
    assert [r["id"] for r in results] == [live["id"], draft["id"], gone["id"], "no-such-thing", live["id"]]
    assert answer(server, live["path"]) == (404, None)
    assert topics(server, live).count("resource.withdrawn") == 1


def test_forty_are_published_in_one_answer_that_can_be_replayed(server):
    made = [create(server, state="draft") for _ in range(40)]
    key = word() + "-bulk-key-000001"
    first = bulk(server, "publish", [m["id"] for m in made], key=key)
    assert [r["state"] for r in first.json()["results"]] == ["published"] * 40
    assert len(first.body) <= 4096
    again = bulk(server, "publish", [m["id"] for m in made], key=key)
    assert again.headers["Idempotent-Replayed"] == "true" and again.body == first.body
    for m in made:
        assert answer(server, m["path"]) == (200, None)
        assert topics(server, m).count("resource.published") == 1


def test_names_of_any_length_keep_the_answer_in_bounds(server):
    results = bulk(server, "publish", ["\u00fc" * 150 + str(i) for i in range(40)])
    assert len(results.body) <= 4096
    assert {r["code"] for r in results.json()["results"]} == {"not_found"}


def test_names_that_json_makes_longer_are_shown_shorter(server):
    for name in ('"' * 40, "\u0001" * 40, "\\" * 40):
        r = server.post("/api/v1/articles/bulk", {"action": "publish", "ids": [name + str(i) for i in range(40)]})
        assert r.status == 200 and [row["code"] for row in r.json()["results"]] == ["not_found"] * 40
    assert server.get("/healthz").status == 200


def test_a_version_guards_its_row(server):
    a, b = create(server), create(server)
    server.request("PATCH", f"/api/v1/articles/{b['id']}", {"title": "edited meanwhile"}, headers={"If-Match": '"1"'}, token=server.token)
    results = bulk(server, "delete", [{"id": a["id"], "version": 1}, {"id": b["id"], "version": 1}]).json()["results"]
    assert [(r["status"], r.get("code")) for r in results] == [(200, None), (412, "version_conflict")]
    assert answer(server, a["path"]) == (410, None) and answer(server, b["path"]) == (200, None)
    assert bulk(server, "restore", [a["id"]]).json()["results"][0]["state"] == "withdrawn"


def test_a_draft_that_is_named_twice_is_deleted_once(server):
    made = create(server, state="draft")
    results = bulk(server, "delete", [made["id"], made["id"]]).json()["results"]
    assert [r["status"] for r in results] == [200, 410]


def test_others_rows_are_refused_and_own_ones_done(server):
    token = server.tokens["author"]
    mine = server.post("/api/v1/articles", {"title": word(), "state": "published"}, token=token).json()
    theirs = create(server)
    results = bulk(server, "withdraw", [theirs["id"], mine["id"]], token=token).json()["results"]
    assert [(r["status"], r.get("code")) for r in results] == [(403, "forbidden"), (200, None)]
    assert bulk(server, "withdraw", [theirs["id"]], 403, token=server.tokens["viewer"]).json()["code"] == "forbidden"


def test_mistakes_are_named(server):
    made = create(server)
    for body in ({"action": "publish"}, {"ids": [made["id"]]}, {"action": "explode", "ids": [made["id"]]}, {"action": "publish", "ids": []},
                 {"action": "publish", "ids": [1]}, {"action": "publish", "ids": [{"id": made["id"], "verion": 1}]},
                 {"action": "publish", "ids": [{"id": made["id"], "version": 0}]}, {"action": "publish", "ids": [made["id"]] * 41},
                 {"action": "publish", "ids": "all"}, {"action": "schedule", "ids": [made["id"]]}, {"action": "publish", "ids": [made["id"]], "x": 1}):
        r = server.post("/api/v1/articles/bulk", body)
        assert r.status == 422 and r.json()["errors"], (body, r.body)
    assert json.loads(server.get(f"/api/v1/articles/{made['id']}").body)["version"] == 1
