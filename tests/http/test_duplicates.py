"""One text, one canonical address: who is the original of it, at every step; and what people may decide about a copy."""
import concurrent.futures
import time

import pytest

from test_delete import delete
from test_moves import create, step, topics, word


def text():
    return " ".join(word() for _ in range(40))


def read(server, made):
    return server.get(f"/api/v1/articles/{made['id']}", token=server.token).json()


def pair(server, count=2):
    body, title = text(), word()
    return [create(server, title=title, content=body) for _ in range(count)]


def decide(server, made, body, status=200, **kw):
    r = server.post(f"/api/v1/articles/{made['id']}/duplicate", body, **kw)
    assert r.status == status, r.body
    return r


def listed(server, made):
    return server.value("SELECT count(*) FROM sitemap_entry WHERE path = ?", made["path"]) == 1


def check(server, original, *copies):
    now = read(server, original)
    assert (now["canonical"], now["duplicate_of"]) == (now["url"], None) and listed(server, now)
    for copy in copies:
        got = read(server, copy)
        assert got["canonical"] == now["url"] and got["duplicate_of"] is not None and not listed(server, got)
        page = server.get(got["path"])
        assert f'<link rel="canonical" href="{now["url"]}">' in page.text and f'<{now["url"]}>; rel="canonical"' in page.headers["Link"]


def test_the_first_to_have_a_text_is_its_original(server):
    first, second, third = pair(server, 3)
    check(server, first, second, third)


@pytest.mark.parametrize("how", ["withdraw", "delete", "noindex", "override", "rewrite"])
def test_the_next_becomes_the_original_when_the_first_is_none_any_more(server, how):
    first, second, third = pair(server, 3)
    if how == "withdraw":
        step(server, first, "withdraw")
    elif how == "delete":
        delete(server, first)
    else:
        members = {"noindex": {"seo": {"noindex": True}}, "override": {"seo": {"canonical": "https://elsewhere.example/x"}},
                   "rewrite": {"content": text()}}[how]
        r = server.request("PATCH", f"/api/v1/articles/{first['id']}", members, headers={"If-Match": '"1"'}, token=server.token)
        assert r.status == 200
        check(server, first, second, third)
        step(server, first, "publish")
    check(server, second, third)
    assert topics(server, second)[-1] == "resource.changed"


def test_a_move_of_the_original_moves_the_canonical_of_its_copies(server):
    first, second = pair(server)
    moved = step(server, first, "move", {"slug": word()})
    assert read(server, second)["canonical"] == moved["url"]
    check(server, first, second)


def test_short_texts_and_other_languages_are_nobodys_copy(server):
    title = word()
    for _ in range(2):
        made = create(server, title=title, content="short")
        assert made["duplicate_of"] is None
    body = text()
    a, b = create(server, title=title, content=body, locale="en"), create(server, title=title, content=body, locale="de")
    check(server, a)
    check(server, b)


def test_of_many_published_at_once_one_is_the_original(server):
    body, title = text(), word()
    made = [create(server, title=title, content=body, state="draft") for _ in range(8)]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda m: server.post(f"/api/v1/articles/{m['id']}/publish").status, made)) == {200}
    originals = [m for m in made if read(server, m)["duplicate_of"] is None]
    assert len(originals) == 1
    check(server, originals[0], *[m for m in made if m is not originals[0]])


def test_a_copy_may_be_declared_different_on_purpose_and_that_taken_back(server):
    first, second, third = pair(server, 3)
    key = word() + "-decision-key-01"
    said = decide(server, second, {"decision": "distinct", "reason": "a licence text that belongs on both pages"}, key=key)
    now = said.json()
    assert (now["canonical"], now["duplicate_of"], now["version"]) == (second["url"], None, 2)
    assert listed(server, second) and listed(server, first)
    check(server, first, third)
    assert f'href="{second["url"]}"' in server.get(second["path"]).text
    again = decide(server, second, {"decision": "distinct", "reason": "a licence text that belongs on both pages"}, key=key)
    assert again.headers["Idempotent-Replayed"] == "true" and again.body == said.body
    assert server.value("SELECT count(*) FROM audit_entry WHERE subject = ? AND action = 'duplicate.distinct'", second["id"]) == 1
    # What is said already changes nothing; it holds when the text is published again.
    assert decide(server, second, {"decision": "distinct", "reason": "a licence text that belongs on both pages"}).json()["version"] == 2
    step(server, second, "withdraw")
    step(server, second, "publish")
    assert read(server, second)["duplicate_of"] is None
    decide(server, second, {"decision": "undo"})
    check(server, first, second, third)
    assert server.value("SELECT count(*) FROM audit_entry WHERE subject = ?", second["id"]) == 2


def moved_to(server, path, url):
    r = server.get(path)
    return (r.status, r.headers.get("Location")) == (301, url)


def test_a_copy_may_be_given_up_for_its_original(server):
    first, second, third = pair(server, 3)
    old = second["path"]
    second = step(server, second, "move", {"slug": word()})
    source = "/" + word()
    assert server.post("/api/v1/redirects", {"source": source, "target": second["id"]}).status == 201
    linking = create(server, content=f"[there]({second['path']})")
    key = word() + "-redirect-key-1"
    said = decide(server, second, {"decision": "redirect"}, key=key)
    now = said.json()
    assert (now["state"], now["merged_into"], now["duplicate_of"], now["canonical"]) == ("gone", first["id"], None, first["url"])
    assert topics(server, second)[-1] == "resource.merged"
    for path in (second["path"], old, source):
        assert moved_to(server, path, first["url"]) and moved_to(server, path + "/?a=1", first["url"] + "?a=1")
    assert f'href="{first["url"]}"' in server.get(linking["path"]).text or f'href="{first["path"]}"' in server.get(linking["path"]).text
    check(server, first, third)
    again = decide(server, second, {"decision": "redirect"}, key=key)
    assert again.headers["Idempotent-Replayed"] == "true" and again.body == said.body
    assert decide(server, second, {"decision": "redirect"}).json()["version"] == now["version"]
    assert server.value("SELECT count(*) FROM audit_entry WHERE subject = ? AND action = 'duplicate.redirect'", second["id"]) == 1
    # The original moves: still one hop. It goes: nothing is there, or nothing any more.
    first = step(server, first, "move", {"slug": word()})
    assert moved_to(server, old, first["url"])
    first = step(server, first, "withdraw")
    assert server.get(old).status == 404 and server.get(second["path"]).status == 404
    delete(server, first)
    assert server.get(old).status == 410
    # Nobody else gets the address, and restoring brings it back.
    assert server.post("/api/v1/articles", {"title": "x", "content": "x", "slug": second["slug"]}).status == 409
    back = step(server, second, "restore")
    assert (back["state"], back["merged_into"], back["canonical"]) == ("withdrawn", None, second["url"])
    assert server.get(old).status == 404
    step(server, second, "publish")
    assert server.get(second["path"]).status == 200 and moved_to(server, old, second["url"])


def test_what_was_given_up_for_a_copy_that_is_given_up_leads_to_the_last_in_one_hop(server):
    first, second, third = pair(server, 3)
    decide(server, third, {"decision": "redirect"})
    step(server, first, "withdraw")
    assert server.get(third["path"]).status == 404
    # The second is the original now, the first its copy, and then given up: the third goes along.
    step(server, first, "publish")
    assert read(server, first)["duplicate_of"] == second["id"]
    decide(server, first, {"decision": "redirect"})
    assert moved_to(server, third["path"], second["url"]) and moved_to(server, first["path"], second["url"])
    assert read(server, third)["merged_into"] == second["id"]
    assert server.value("SELECT count(*) FROM outbox o JOIN resource r ON r.id = o.aggregate_id WHERE r.uid = ? AND o.event_version = r.event_version",
                        third["id"]) == 1


def test_who_may_not_delete_may_not_give_up(server):
    first, second = pair(server)
    assert decide(server, first, {"decision": "redirect"}, 409).json()["code"] == "state_conflict"
    assert decide(server, second, {"decision": "redirect"}, 403, token=server.tokens["author"]).json()["code"] == "forbidden"
    delete(server, second)
    assert decide(server, second, {"decision": "redirect"}, 410).json()["code"] == "gone"
    assert decide(server, second, {"decision": "undo"}, 410).json()["code"] == "gone"


def test_what_cannot_be_decided_is_refused(server):
    first, second = pair(server)
    assert decide(server, first, {"decision": "distinct", "reason": "x"}, 409).json()["code"] == "state_conflict"
    for body, field in (({}, "decision"), ({"decision": "maybe"}, "decision"), ({"decision": "distinct"}, "reason"),
                        ({"decision": "distinct", "reason": " "}, "reason"), ({"decision": "undo", "why": 1}, "why")):
        assert decide(server, second, body, 422).json()["errors"][0]["field"] == field
    assert decide(server, second, {"decision": "distinct", "reason": "x"}, 403, token=server.tokens["author"]).json()["code"] == "forbidden"
    assert decide(server, second, {"decision": "distinct", "reason": "x"}, 412, headers={"If-Match": '"9"'}).json()["code"] == "version_conflict"
    check(server, first, second)


def test_copies_are_reported_and_counted(make_server):
    s = make_server()
    assert s.get("/api/v1/reports/duplicate-content", token=s.token).json() == {"items": [], "next": None}
    groups = [pair(s, 3) for _ in range(3)]
    seen, query = [], "?limit=2"
    while query:
        r = s.get("/api/v1/reports/duplicate-content" + query, token=s.token)
        seen += r.json()["items"]
        query = f"?limit=2&cursor={r.json()['next']}" if r.json()["next"] else None
    wanted = [(copy["id"], group[0]["id"], copy["url"], group[0]["url"]) for group in groups for copy in group[1:]]
    assert [(i["copy"]["id"], i["original"]["id"], i["copy"]["url"], i["original"]["url"]) for i in seen] == wanted
    assert s.get("/api/v1/reports/duplicate-content", token=None).status == 401
    assert s.get("/api/v1/reports/duplicate-content", token=s.tokens["author"]).status == 403
    s.restart()
    deadline = time.monotonic() + 20
    while s.metrics()["duplicate_content_urls"] != 6 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert s.metrics()["duplicate_content_urls"] == 6
    s.command("audit", "--via", f"{s.host}:{s.port}")
