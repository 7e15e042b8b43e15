"""What tests of public pages share: making resources, reading pages as a browser parses them, rows that no route writes yet."""
import json
import sqlite3
import time
import uuid
from urllib.parse import urlsplit

import html5lib
import lxml.etree

SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


def word():
    """A word no other test has."""
    return "w" + uuid.uuid4().hex[:12]


def publish(server, title=None, kind="articles", **members):
    """A live resource; its JSON."""
    title = title or word()
    body = {"title": title, "state": "published", **members}
    if kind in ("articles", "pages"):
        body.setdefault("content", f"Text of {title}.")
    r = server.post(f"/api/v1/{kind}", body)
    assert r.status == 201, r
    return r.json()


def move(server, resource, step):
    r = server.post(f"/api/v1/{resource['kind']}s/{resource['id']}/{step}", {})
    assert r.status == 200, r
    return r.json()


def edit(server, resource, **members):
    r = server.get(f"/api/v1/{resource['kind']}s/{resource['id']}", token=server.token)
    r = server.request("PATCH", f"/api/v1/{resource['kind']}s/{resource['id']}", members, token=server.token,
                       headers={"If-Match": r.headers["ETag"]})
    assert r.status == 200, r
    return r.json()


class Page:
    """Head of an HTML page by the rules browsers parse by."""

    def __init__(self, response):
        assert response.headers["Content-Type"] == "text/html; charset=utf-8", response
        self.response = response
        self.tree = html5lib.parse(response.body, treebuilder="lxml", namespaceHTMLElements=False,
                                   transport_encoding="utf-8")
        self.head = self.tree.find("head")

    def meta(self, key):
        return [m.get("content") for m in self.head.iterfind("meta") if key in (m.get("name"), m.get("property"))]

    def links(self, rel):
        return [e.get("href") for e in self.head.iterfind("link") if e.get("rel") == rel]

    @property
    def canonical(self):
        found = self.links("canonical")
        assert len(found) == 1, found
        # Nothing in the body may say another one.
        assert [e for e in self.tree.iter("link") if e.get("rel") == "canonical"] == [
            e for e in self.head.iter("link") if e.get("rel") == "canonical"]
        return found[0]

    @property
    def json_ld(self):
        return [json.loads(e.text) for e in self.head.iterfind("script") if e.get("type") == "application/ld+json"]

    @property
    def hrefs(self):
        return [e.get("href") for e in self.tree.find("body").iter("a") if e.get("href")]

    @property
    def text(self):
        return " ".join("".join(self.tree.find("body").itertext()).split())


def page(server, path, status=200, **kw):
    r = server.get(path, **kw)
    assert r.status == status, (path, r)
    return Page(r)


def path_of(url):
    parts = urlsplit(url)
    return parts.path + (f"?{parts.query}" if parts.query else "")


def follow(server, target):
    """Status and target of one request and, when it is a redirect, of the next."""
    r = server.get(target)
    if r.status not in (301, 302, 307, 308):
        return r, None
    location = r.headers["Location"]
    assert location.startswith(server.base + "/"), location
    return r, server.get(location[len(server.base):])


def locs(server):
    """Every address of the sitemap with its lastmod, through the index when there is one."""
    out = {}
    root = lxml.etree.fromstring(server.get("/sitemap.xml").body)
    roots = [root]
    if root.tag == SITEMAP + "sitemapindex":
        roots = []
        for e in root.iter(SITEMAP + "loc"):
            assert e.text.startswith(server.base + "/sitemap-")
            roots.append(lxml.etree.fromstring(server.get(e.text[len(server.base):]).body))
    for r in roots:
        assert r.tag == SITEMAP + "urlset"
        for url in r.iter(SITEMAP + "url"):
            loc = url.findtext(SITEMAP + "loc")
            assert loc not in out, loc
            out[loc] = url.findtext(SITEMAP + "lastmod")
    return out


def write_rows(server, *statements):
    """Straight into the tables, as another tool would, and then `stele flush` as such a tool should."""
    db = sqlite3.connect(server.db, timeout=20)
    try:
        with db:
            for statement, *values in statements:
                db.execute(statement, values)
    finally:
        db.close()
    server.command("flush")


def resource_id(server, resource):
    return server.value("SELECT id FROM resource WHERE uid = ?", resource["id"])


def alias(server, path, resource, status=301):
    write_rows(server, ("INSERT INTO path (path, fold, role, resource_id, status, was_public, was_canonical, created_at) "
                        "VALUES (?, ?, 'alias', ?, ?, 1, 1, 1)", path, path.lower(), resource_id(server, resource), status))


def wait_for(check, seconds=5):
    """Cached answers of all workers follow within 250 ms when the change came from another process."""
    deadline = time.monotonic() + seconds
    while True:
        if check():
            return
        assert time.monotonic() < deadline, "did not come about"
        time.sleep(0.05)
