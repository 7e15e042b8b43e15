"""A hundred connections over all workers at the same moment, judged by rows, versions and events."""
import collections
import concurrent.futures
import threading

import pytest

from site_pages import locs, publish, resource_id, word
from stele import new_key
from test_idempotency import assert_replay, record

ARTICLES = "/api/v1/articles"
MANY = 100


def at_once(work):
    barrier = threading.Barrier(MANY)

    def one(n):
        barrier.wait()
        return work(n)

    with concurrent.futures.ThreadPoolExecutor(MANY) as pool:
        return list(pool.map(one, range(MANY)))


def count(answers):
    return collections.Counter(r.status for r in answers)


def events(server, made, topic=None):
    return server.value("SELECT count(*) FROM outbox WHERE aggregate_id = ? AND (? IS NULL OR topic = ?)", resource_id(server, made), topic, topic)


def draft(server):
    r = server.post(ARTICLES, {"title": word(), "content": "c"})
    assert r.status == 201
    return r.json()


def conditional(server, method, made, body, key, version=1):
    return server.request(method, f"{ARTICLES}/{made['id']}", body, token=server.token, key=key, headers={"If-Match": f'"{version}"'})


def test_one_key_and_two_requests(server):
    """Whichever comes first has the key; the other one gets nothing of it, whoever sends it."""
    key, titles = new_key(), [word(), word()]
    answers = at_once(lambda n: server.post(ARTICLES, {"title": titles[n % 2]}, key=key))
    assert count(answers) == {201: 1, 200: MANY // 2 - 1, 409: MANY // 2}
    first = next(r for r in answers if r.status == 201)
    won = titles.index(first.json()["title"])
    for n, r in enumerate(answers):
        if n % 2 != won:
            assert r.json()["code"] == "idempotency_key_conflict" and first.json()["id"].encode() not in r.body
        elif r is not first:
            assert_replay(r, first)
    assert [server.value("SELECT count(*) FROM resource WHERE slug LIKE ?", t + "%") for t in titles] == [1 - won, won]


def test_one_slug_that_all_ask_for(server):
    slug, keys = word(), [new_key() for _ in range(MANY)]

    def send(n):
        return server.post(ARTICLES, {"title": f"Title {n}", "slug": slug, "state": "published"}, key=keys[n])

    answers = at_once(send)
    assert count(answers) == {201: 1, 409: MANY - 1}
    assert {r.json()["code"] for r in answers if r.status == 409} == {"slug_conflict"}
    again = at_once(send)
    for was, now in zip(answers, again):
        assert (now.status, now.body, now.headers["Idempotent-Replayed"]) == (200 if was.status == 201 else 409, was.body, "true")
    assert server.value("SELECT count(*) FROM path WHERE path = ?", f"/articles/{slug}") == 1
    assert len([loc for loc in locs(server) if slug in loc]) == 1


def test_one_article_that_all_publish(server):
    made = draft(server)
    answers = at_once(lambda n: server.post(f"{ARTICLES}/{made['id']}/publish"))
    assert count(answers) == {200: MANY}
    assert {(r.json()["state"], r.json()["version"]) for r in answers} == {("published", 2)}
    assert events(server, made, "resource.published") == 1
    assert server.value("SELECT count(*) FROM sitemap_entry WHERE path = ?", made["path"]) == 1


def test_publishers_and_withdrawers_take_turns(server):
    made = draft(server)
    steps = ["publish", "withdraw"]
    answers = at_once(lambda n: server.post(f"{ARTICLES}/{made['id']}/{steps[n % 2]}"))
    assert set(count(answers)) <= {200, 409}
    # A draft is not withdrawn; everything else moves on by one version and one event, or changes nothing.
    state, version = server.sql("SELECT state, edit_version FROM resource WHERE uid = ?", made["id"])[0]
    published, withdrawn = events(server, made, "resource.published"), events(server, made, "resource.withdrawn")
    assert version - 1 == published + withdrawn and published - withdrawn == (state == "published")
    assert {r.json()["version"] for r in answers if r.status == 200} <= set(range(1, version + 1))
    assert server.get(made["path"]).status == (200 if state == "published" else 404)


@pytest.mark.parametrize("method,body", [("PATCH", lambda n: {"title": f"Title {n}"}), ("DELETE", lambda n: None)])
def test_one_version_that_all_started_from(server, method, body):
    made = publish(server)
    keys = [new_key() for _ in range(MANY)]
    answers = at_once(lambda n: conditional(server, method, made, body(n), keys[n]))
    statuses = count(answers)
    assert statuses[200] == 1 and set(statuses) <= {200, 404, 410, 412}
    row = server.sql("SELECT edit_version, state, (SELECT count(*) FROM revision WHERE resource_id = r.id) FROM resource r WHERE uid = ?", made["id"])[0]
    assert tuple(row) == ((2, "published", 2) if method == "PATCH" else (2, "gone", 1))
    # Only what was done is remembered: whoever was late may use the key for the version of now.
    assert sum(record(server, k) is not None for k in keys) == 1
    assert events(server, made, "resource.deleted") == (method == "DELETE")


def test_one_edit_that_all_send_again(server):
    made, key = draft(server), new_key()
    answers = at_once(lambda n: conditional(server, "PATCH", made, {"title": "Once"}, key))
    assert count(answers) == {200: MANY} and len({r.body for r in answers}) == 1
    assert [r.headers["Idempotent-Replayed"] for r in answers].count("false") == 1
    assert server.value("SELECT edit_version FROM resource WHERE uid = ?", made["id"]) == 2


def test_one_address_that_all_move_to(server):
    made, slug = [publish(server) for _ in range(10)], word()
    answers = at_once(lambda n: server.post(f"{ARTICLES}/{made[n % 10]['id']}/move", {"slug": slug}))
    assert set(count(answers)) == {200, 409}
    moved = {r.json()["id"] for r in answers if r.status == 200}
    assert len(moved) == 1
    for a in made:
        r = server.get(a["path"])
        assert (r.status, r.headers.get("Location")) == ((301, f"{server.base}/articles/{slug}") if a["id"] in moved else (200, None))
        assert events(server, a, "resource.moved") == (a["id"] in moved)


def test_one_source_that_all_redirect(server):
    targets, source = [publish(server) for _ in range(2)], "/" + word()
    answers = at_once(lambda n: server.post("/api/v1/redirects", {"source": source, "target": targets[n % 2]["id"]}))
    assert count(answers) == {201: 1, 409: MANY - 1}
    won = next(n for n, r in enumerate(answers) if r.status == 201) % 2
    r = server.get(source)
    assert (r.status, r.headers["Location"]) == (301, targets[won]["url"])
    assert server.value("SELECT count(*) FROM path WHERE path = ?", source) == 1
