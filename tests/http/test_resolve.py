"""The resolve API: what any address means, the same as a browser finds, and the head of its page byte for byte."""
import html
import json
import re
import urllib.parse

import pytest

from test_delete import delete
from test_moves import create, step, word


def meaning(server, url, status=200, **kw):
    kw.setdefault("token", None)
    r = server.get("/api/v1/resolve?" + urllib.parse.urlencode({"url": url}), **kw)
    assert r.status == status, r.body
    return r.json()


def agrees(server, path):
    """Says what a browser finds at this path of the site."""
    said, found = meaning(server, path), server.get(path)
    assert said["status"] == found.status and said["url"] == path, (said, found)
    assert said["location"] == found.headers.get("Location") and said["hops"] == (1 if said["meaning"] == "redirect" else 0)
    assert said["meaning"] == {200: "page", 301: "redirect", 302: "redirect", 307: "redirect", 308: "redirect", 410: "gone", 451: "gone", 404: "none"}[found.status]
    if found.status == 200:
        page = found.text
        head = page[page.index("<head>") + 7:page.index('<link rel="stylesheet"')]
        assert said["head"]["html"] == head
        canonical = html.unescape(re.search(r'<link rel="canonical" href="([^"]*)">', head)[1])
        assert said["head"]["json"]["canonical"] == canonical and f"<{canonical}>" in found.headers["Link"]
        ld = re.search(r'<script type="application/ld\+json">(.*?)</script>', head)
        assert said["head"]["json"]["json_ld"] == (json.loads(ld[1]) if ld else None)
    elif said["meaning"] != "redirect" or not said["location"].startswith(server.base):
        assert said["head"] is None and said["resource"] is None and said["list"] is None
    return said


def test_every_kind_of_address_means_what_a_browser_finds(make_server):
    s = make_server(settings={"per_page": "2"})
    tag, author = create(s, "tags"), create(s, "authors")
    made = [create(s, title=f'<&"\'> 中文 {i}', tags=[tag["title"]], author=author["slug"], summary="a & b") for i in range(3)]
    page, draft, gone = create(s, "pages"), create(s, state="draft"), create(s)
    delete(s, gone)
    moved = step(s, made[0], "move", {"slug": word()})
    copy = [create(s, title="same", content="words enough " * 30) for _ in range(2)][1]
    away = create(s, seo={"canonical": "https://elsewhere.example/x"})
    for source, target, status in (("/r/a", made[1]["id"], 302), ("/r/b", "https://elsewhere.example/b", 308), ("/r/c/*", "/articles", 301), ("/r?p=1", page["id"], 301)):
        assert s.post("/api/v1/redirects", {"source": source, "target": target, "status": status}).status == 201
    assert s.post("/api/v1/redirects", {"source": "/r/gone", "status": 451}).status == 201
    paths = ["/", "/articles", "/articles?page=2", "/articles?page=1", "/articles?page=99", "/tags", "/authors", "/?page=2", made[0]["path"], moved["path"], moved["path"] + "/",
             moved["path"].upper(), moved["path"] + "?utm_source=x", page["path"], draft["path"], gone["path"], copy["path"], away["path"], tag["path"], author["path"],
             "/r/a", "/r/a/?x=1", "/r/b", "/r/c/d", "/r?p=1", "/r?p=1&q=2", "/r", "/r/gone", "/nobody", "/%C3%A9", "//double", "/a%2Fb"]
    for path in paths:
        agrees(s, path)
    assert agrees(s, made[0]["path"])["resource"]["id"] == moved["id"]
    assert agrees(s, moved["path"])["resource"] == {k: moved[k] for k in ("id", "kind", "title", "url")}
    assert agrees(s, "/articles")["list"] == "articles" and agrees(s, "/")["list"] == "home"
    assert meaning(s, made[0]["path"])["head"] == meaning(s, moved["path"])["head"]


def test_an_absolute_address_is_read_as_browsers_read_it(make_server):
    s = make_server(base_url="https://example.org", args=())
    host = {"Host": "example.org"}
    path = s.post("/api/v1/articles", {"title": "Here", "content": "x", "state": "published"}, headers=host).json()["path"]

    def ask(url):
        said = meaning(s, url, headers=host)
        return said["meaning"], said["location"]

    url = "https://example.org" + path
    for same in (url, "HTTPS://EXAMPLE.org:443" + path, url + "#top", "//example.org" + path, " " + url):
        assert ask(same) == ("page", None), same
    for other in ("http://example.org" + path, url + "/", "https://example.org./" + path.lstrip("/").upper()):
        assert ask(other) == ("redirect", url), other
    for elsewhere in ("https://www.example.org" + path, "https://example.org:8443" + path, "https://example.org.evil.example" + path):
        assert ask(elsewhere) == ("none", None), elsewhere
    assert ask("https://example.org")[0] == ask("https://example.org/")[0] == "page"


@pytest.mark.parametrize("url", ["", "articles", "javascript:alert(1)", "https://", "https://u:p@x/", "mailto:a@b"])
def test_what_is_no_address_is_refused_by_its_field(server, url):
    problem = meaning(server, url, status=422)
    assert problem["code"] == "validation_failed" and problem["errors"][0]["field"] == "url"


def test_nobody_learns_of_what_is_not_public(server):
    draft = create(server, state="draft", title="secret plan")
    said = meaning(server, draft["path"], token=server.token)
    assert said["meaning"] == "none" and "secret plan" not in json.dumps(said) and said["resource"] is None


def test_an_answer_is_kept_and_a_change_is_seen_at_once(make_server):
    s = make_server(workers=1)
    made = create(s, title="before")
    for _ in range(3):
        assert meaning(s, made["path"])["resource"]["title"] == "before"
    r = s.request("PATCH", f"/api/v1/articles/{made['id']}", {"title": "after"}, headers={"If-Match": '"1"'}, token=s.token)
    assert r.status == 200
    step(s, made, "publish")
    assert meaning(s, made["path"])["resource"]["title"] == "after"
    moved = step(s, made, "move", {"slug": word()})
    assert meaning(s, made["path"])["location"] == moved["url"]
    step(s, made, "withdraw")
    assert meaning(s, made["path"])["meaning"] == "none"
    etag = s.get("/api/v1/resolve?url=/").headers["ETag"]
    assert s.get("/api/v1/resolve?url=/", headers={"If-None-Match": etag}).status == 304


@pytest.mark.parametrize("value", ["*", "https://front.example"])
def test_scripts_of_another_origin_may_read_it_where_the_setting_says_so(make_server, value):
    s = make_server(settings={"cors_origin": value})
    assert s.get("/api/v1/resolve?url=/").headers["Access-Control-Allow-Origin"] == value


def test_without_the_setting_they_may_not(server):
    assert "Access-Control-Allow-Origin" not in server.get("/api/v1/resolve?url=/").headers
