"""What two writes at once may not bring about: the second was prepared from what the first then changed."""
import contextlib
import sqlite3
import threading
import time

import pytest

ARTICLES = "/api/v1/articles"


@pytest.fixture
def site(make_server):
    return make_server(workers=1)


@contextlib.contextmanager
def writes_wait(server):
    """Requests are prepared, and written in the order they were sent when the block ends."""
    db = sqlite3.connect(server.db, isolation_level=None)
    db.execute("BEGIN IMMEDIATE")
    threads, answers = [], []

    def send(*args, **kw):
        at = len(answers)
        answers.append(None)

        def run():
            answers[at] = server.request(*args, token=server.token, **kw)

        threads.append(threading.Thread(target=run))
        threads[-1].start()
        time.sleep(0.25)

    try:
        yield send, answers
    finally:
        db.execute("ROLLBACK")
        db.close()
        for t in threads:
            t.join()


def assert_own_canonical(server, path):
    """The page is its own canonical, so it is in the sitemap."""
    url = server.base + path
    assert f'rel="canonical" href="{url}"' in server.get(path).text
    assert f"<loc>{url}</loc>" in server.get("/sitemap.xml").text


def test_override_that_becomes_the_own_address_before_it_is_published(site):
    made = site.post(ARTICLES, {"title": "Before", "content": "c", "seo": {"canonical": f"{site.base}/articles/after"}}).json()
    with writes_wait(site) as (send, answers):
        send("PATCH", f"{ARTICLES}/{made['id']}", {"slug": "after"}, headers={"If-Match": '"1"'})
        send("POST", f"{ARTICLES}/{made['id']}/publish", key=True)
    assert [r.status for r in answers] == [200, 200]
    assert_own_canonical(site, "/articles/after")


def test_override_that_is_no_longer_the_own_address_when_it_is_published(site):
    made = site.post(ARTICLES, {"title": "Before", "content": "c", "seo": {"canonical": f"{site.base}/articles/before"}}).json()
    with writes_wait(site) as (send, answers):
        send("PATCH", f"{ARTICLES}/{made['id']}", {"slug": "after"}, headers={"If-Match": '"1"'})
        send("POST", f"{ARTICLES}/{made['id']}/publish", key=True)
    assert [r.status for r in answers] == [200, 200]
    assert f'rel="canonical" href="{site.base}/articles/before"' in site.get("/articles/after").text
    assert "/articles/after<" not in site.get("/sitemap.xml").text


@pytest.mark.parametrize("override, is_own", [("/articles/fox-2", True), ("/articles/fox", False)])
def test_override_of_an_article_whose_slug_was_taken_meanwhile(site, override, is_own):
    with writes_wait(site) as (send, answers):
        send("POST", ARTICLES, {"title": "Fox", "content": "c", "state": "published"}, key=True)
        send("POST", ARTICLES, {"title": "Fox", "content": "c", "state": "published",
                                "seo": {"canonical": site.base + override}}, key=True)
    assert [r.json()["path"] for r in answers] == ["/articles/fox", "/articles/fox-2"]
    assert answers[1].json()["canonical"] == site.base + override
    if is_own:
        assert_own_canonical(site, "/articles/fox-2")
    else:
        assert f'rel="canonical" href="{site.base}/articles/fox"' in site.get("/articles/fox-2").text
        assert "/articles/fox-2<" not in site.get("/sitemap.xml").text


def test_pages_below_follow_into_a_parent_that_moved_meanwhile_or_nothing_moves(site):
    parent = site.post("/api/v1/pages", {"title": "Parent", "content": "c"}).json()
    with writes_wait(site) as (send, answers):
        send("PATCH", f"/api/v1/pages/{parent['id']}", {"slug": "moved"}, headers={"If-Match": '"1"'})
        send("POST", "/api/v1/pages", {"title": "Child", "content": "c", "parent": parent["id"]}, key="child-of-a-moved-parent")
    assert [r.status for r in answers] == [200, 503]
    again = site.post("/api/v1/pages", {"title": "Child", "content": "c", "parent": parent["id"]}, key="child-of-a-moved-parent")
    assert again.status == 201 and again.json()["path"] == "/moved/child"
