"""Public pages: what they say of themselves, and that they follow what is live."""
import hashlib
import os
import urllib.robotparser

import pytest

from site_pages import alias, edit, move, page, path_of, publish, wait_for, word, write_rows, resource_id


def test_article_names_one_canonical_address_everywhere(server):
    a = publish(server, "Straße & \"Zitat\" <1>", summary="Kurz & knapp")
    p = page(server, a["path"] + "?utm_source=x&page=3")
    assert p.canonical == a["url"] == a["canonical"]
    assert p.response.headers.all("Link") == [f"<{a['url']}>; rel=\"canonical\""]
    assert p.meta("og:url") == [a["url"]]
    assert [o["url"] for o in p.json_ld] == [a["url"]]
    assert p.json_ld[0]["headline"].startswith("Straße & \"Zitat\" <1>")
    assert p.tree.findtext("head/title").startswith("Straße & \"Zitat\" <1>")
    assert p.meta("description") == ["Kurz & knapp"]
    assert "utm_source" not in p.response.text
    assert len(list(p.tree.iter("h1"))) == 1
    assert "X-Robots-Tag" not in p.response.headers


def test_canonical_override_is_what_the_page_names(server):
    a = publish(server, seo={"canonical": "https://other.test/original"})
    p = page(server, a["path"])
    assert p.canonical == "https://other.test/original" == p.meta("og:url")[0]
    assert p.response.headers["Link"] == '<https://other.test/original>; rel="canonical"'


@pytest.mark.parametrize("spell", [lambda u: u, lambda u: u + "/", lambda u: u.replace("/articles", "/%61rticles"), lambda u: u + "#top",
                                   lambda u: u.replace("/articles", "//articles/."), lambda u: u.replace("http:", "HTTP:")])
def test_override_that_is_the_own_address_in_any_spelling_is_none(server, spell):
    slug = word()
    a = publish(server, slug=slug, seo={"canonical": spell(f"{server.base}/articles/{slug}")})
    assert a["canonical"] == a["url"] and a["in_sitemap"]["listed"]
    assert page(server, a["path"]).canonical == a["url"]
    assert f"<loc>{a['url']}</loc>" in server.get("/sitemap.xml").text


def test_duplicate_names_the_original(server):
    text = " ".join(word() for _ in range(40))
    first = publish(server, "Twice " + text[:20], content=text)
    second = publish(server, "Twice " + text[:20], content=text)
    assert page(server, first["path"]).canonical == first["url"]
    p = page(server, second["path"])
    assert p.canonical == first["url"] != second["url"]
    assert p.meta("robots") != ["noindex"] and "X-Robots-Tag" not in p.response.headers
    move(server, first, "withdraw")
    assert page(server, second["path"]).canonical == second["url"]


def test_duplicate_is_seen_behind_any_number_that_name_a_canonical_of_their_own(server):
    text = " ".join(word() for _ in range(40))
    for _ in range(66):
        publish(server, "Syndicated", content=text, seo={"canonical": "https://other.test/first"})
    first, second = (publish(server, "Syndicated", content=text) for _ in range(2))
    assert first["canonical"] == first["url"]
    assert second["canonical"] == first["url"] and second["duplicate_of"] == first["id"]
    assert f"<loc>{second['url']}</loc>" not in server.get("/sitemap.xml").text


def test_noindex_is_in_head_and_header(server):
    a = publish(server, seo={"noindex": True})
    p = page(server, a["path"])
    assert p.meta("robots") == ["noindex"]
    assert p.response.headers["X-Robots-Tag"] == "noindex"


def test_only_live_resources_are_there(server):
    tag = word()
    r = server.post("/api/v1/articles", {"title": word(), "content": "x", "tags": [tag]})
    draft = r.json()
    assert server.get(draft["path"]).status == 404
    # Credentials mean nothing on public routes.
    assert server.get(draft["path"], token=server.token).status == 404
    assert server.get(f"/tags/{tag}").status == 404
    move(server, draft, "publish")
    assert server.get(draft["path"]).status == 200
    assert draft["url"] in page(server, "/").hrefs
    assert draft["url"] in page(server, f"/tags/{tag}").hrefs
    assert any(h.endswith(f"/tags/{tag}") for h in page(server, draft["path"]).hrefs)
    move(server, draft, "withdraw")
    assert server.get(draft["path"]).status == 404
    assert server.get(f"/tags/{tag}").status == 404
    assert draft["url"] not in page(server, "/").hrefs
    move(server, draft, "publish")
    assert server.get(draft["path"]).status == 200


def test_edit_changes_nothing_public_until_it_is_published(server):
    a = publish(server, "Before " + word())
    before = server.get(a["path"])
    edit(server, a, title="After", content="Other text")
    assert server.get(a["path"]).headers["ETag"] == before.headers["ETag"]
    assert a["title"] in page(server, "/").text
    move(server, a, "publish")
    p = page(server, a["path"])
    assert "Other text" in p.text and p.canonical == a["url"]
    assert p.response.headers["ETag"] != before.headers["ETag"]
    assert a["title"] not in page(server, "/").text


def test_renamed_author_and_tag_are_renamed_everywhere(server):
    author = publish(server, "Ann " + word(), kind="authors")
    tag = publish(server, "Tag " + word(), kind="tags")
    a = publish(server, author=author["slug"], tags=[tag["title"]])
    for path in (a["path"], "/", author["path"]):
        assert author["title"] in page(server, path).text
    assert tag["title"] in page(server, a["path"]).text
    for r, new in ((author, "Bea " + word()), (tag, "Mark " + word())):
        edit(server, r, title=new)
        move(server, r, "publish")
        for path in (a["path"], r["path"], "/" if r is author else "/tags"):
            assert new in page(server, path).text, path
            assert r["title"] not in page(server, path).text, path
        assert server.get(r["path"]).status == 200


def test_page_shows_its_parents(server):
    top = publish(server, kind="pages")
    below = publish(server, kind="pages", parent=top["id"])
    assert below["path"] == f"{top['path']}/{below['slug']}"
    assert top["url"] in page(server, below["path"]).hrefs


def test_link_to_an_old_address_is_printed_as_it_is_now(server):
    target = publish(server)
    old = "/old-" + word()
    a = publish(server, content=f"[one]({old}?x=1#part) [two]({server.base}{target['path'].upper()}/) [three](/no-{word()})")
    assert f"{old}?x=1#part" in page(server, a["path"]).hrefs
    alias(server, old, target)
    wait_for(lambda: f"{target['path']}?x=1#part" in page(server, a["path"]).hrefs)
    hrefs = page(server, a["path"]).hrefs
    assert old not in " ".join(hrefs) and target["url"] in hrefs


def test_lists_have_pages_of_their_own(make_server):
    s = make_server(settings={"per_page": "3"})
    made = [publish(s) for _ in range(7)]
    seen = []
    path = "/articles"
    for number in (1, 2, 3):
        p = page(s, path)
        assert p.canonical == s.base + path
        assert p.response.headers["Link"] == f"<{s.base}{path}>; rel=\"canonical\""
        seen += [h for h in p.hrefs if "/articles/" in h]
        following = p.links("next")
        assert len(p.links("prev")) == (number > 1)
        path = path_of(following[0]) if following else None
    assert path is None
    # "byte for byte": the same members, newest first, each once.
    assert [u for i, u in enumerate(seen) if u not in seen[:i]] == [a["url"] for a in reversed(made)]
    assert s.get("/articles?page=4").status == 404
    move(s, made[0], "withdraw")
    assert s.get("/articles?page=3").status == 404
    assert page(s, "/articles?page=2").links("next") == []


def test_tag_list_counts_and_leaves_out_the_empty(server):
    tag, empty = publish(server, "Counted " + word(), kind="tags"), publish(server, "Empty " + word(), kind="tags")
    for _ in range(2):
        publish(server, tags=[tag["title"]])
    p = page(server, "/tags")
    assert tag["url"] in p.hrefs and empty["url"] not in p.hrefs
    assert f"{tag['title']} 2" in p.text


def test_missing_pages_say_so(server):
    for path, status in (("/" + word(), 404), ("/%00", 400), ("/articles?page=0", 404)):
        p = page(server, path, status)
        assert p.links("canonical") == [] and p.meta("og:url") == []
        assert p.meta("robots") == ["noindex"] and p.response.headers["X-Robots-Tag"] == "noindex"
        assert "ETag" not in p.response.headers and "Location" not in p.response.headers
        assert f"{server.base}/" in p.hrefs
    assert "no page" not in page(server, "/%00", 400).text


def test_gone_resource_answers_410(server):
    a = publish(server)
    write_rows(server, ("UPDATE resource SET state = 'gone' WHERE id = ?", resource_id(server, a)))
    wait_for(lambda: server.get(a["path"]).status == 410)
    r = server.get(a["path"].upper() + "/")
    assert r.status == 410 and "Location" not in r.headers


def test_other_methods_are_refused(server):
    a = publish(server)
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        for path in (a["path"], "/", "/sitemap.xml", "/robots.txt"):
            r = server.request(method, path, body=b"")
            assert r.status == 405 and "GET" in r.headers["Allow"] and "HEAD" in r.headers["Allow"], (method, path, r)


def test_markup_of_titles_never_runs(server):
    evil = "</title></script><script>alert(1)</script><img src=x onerror=alert(1)>\u2028"
    a = publish(server, "T" + evil, content="x", summary=evil, tags=["x" + evil + word()])
    for path in (a["path"], "/", "/tags"):
        p = page(server, path)
        assert [e for e in p.tree.iter("script") if e.get("type") != "application/ld+json"] == []
        assert [e for e in p.tree.iter("img")] == []
    assert "alert(1)" in page(server, a["path"]).json_ld[0]["headline"]


def test_robots_txt_lets_crawlers_to_what_the_sitemap_lists(server):
    r = server.get("/robots.txt")
    assert r.status == 200 and r.headers["Content-Type"] == "text/plain; charset=utf-8"
    robots = urllib.robotparser.RobotFileParser()
    robots.parse(r.text.splitlines())
    assert robots.site_maps() == [f"{server.base}/sitemap.xml"]
    a = publish(server)
    assert robots.can_fetch("Googlebot", a["url"]) and robots.can_fetch("x", f"{server.base}/assets/theme.css")
    assert not robots.can_fetch("Googlebot", f"{server.base}/admin/x")
    assert not robots.can_fetch("Googlebot", f"{server.base}/api/v1/articles")


def test_staging_site_is_closed_to_crawlers(make_server):
    s = make_server(settings={"noindex": "true"})
    a = publish(s)
    for path in ("/", a["path"], "/articles"):
        p = page(s, path)
        assert p.meta("robots") == ["noindex"] and p.response.headers["X-Robots-Tag"] == "noindex"
    robots = s.get("/robots.txt").text
    assert "\nDisallow: /\n" in robots and "Sitemap:" not in robots
    # A sitemap lists what may be indexed, which is nothing.
    assert s.get("/sitemap.xml").status == s.get("/sitemap-1.xml").status == 404
    assert s.get(f"/api/v1/articles/{a['id']}").json()["in_sitemap"] == {"listed": False, "reason": "noindex"}
    s.command("setting", "set", "noindex", "false")
    assert a["url"] in s.get("/sitemap.xml").text and "Sitemap:" in s.get("/robots.txt").text


def test_manual_explains_every_error_that_answers_name(server):
    errors = page(server, "/docs/errors")
    ids = {e.get("id") for e in errors.tree.iter() if e.get("id")}
    r = server.post("/api/v1/articles", {"title": "x", "content": "x"}, key=None)
    page_path, fragment = r.json()["type"].split("#")
    assert page_path.endswith("/docs/errors") and fragment in ids and fragment == r.json()["code"]
    for name in ("idempotency", "urls"):
        p = page(server, f"/docs/{name}")
        assert p.canonical == f"{server.base}/docs/{name}"
        for h in p.hrefs:
            if "/docs/errors#" in h:
                assert h.split("#")[1] in ids
    for path in ("/docs/none", "/docs/..%2Furls", "/docs/URLS", "/docs/%75rls", "/docs/urls.md"):
        assert server.get(path).status == 404


def store_media(server, content, extension):
    digest = hashlib.sha256(content).hexdigest()
    folder = os.path.join(server.data, "media")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, f"{digest}.{extension}"), "wb") as f:
        f.write(content)
    return f"/media/{digest}.{extension}"


@pytest.mark.parametrize("extension, kind", [("png", "image/png"), ("jpg", "image/jpeg"), ("pdf", "application/pdf"),
                                             ("mp4", "video/mp4")])
def test_media_are_served_as_what_they_are_and_for_ever(server, extension, kind):
    content = os.urandom(70_000) + b"<script>"
    r = server.get(store_media(server, content, extension), headers={"Accept-Encoding": "gzip"})
    assert r.status == 200 and r.body == content
    assert r.headers["Content-Type"] == kind and r.headers["X-Content-Type-Options"] == "nosniff"
    assert "immutable" in r.headers["Cache-Control"] and "max-age=31536000" in r.headers["Cache-Control"]
    assert "Content-Encoding" not in r.headers
    again = server.get(store_media(server, content, extension), headers={"If-None-Match": r.headers["ETag"]})
    assert again.status == 304 and "immutable" in again.headers["Cache-Control"]


def test_media_route_reads_nothing_else(server):
    path = store_media(server, b"abc", "html")
    good = store_media(server, b"abc", "png")
    secret = os.path.join(server.data, "media", "secret.png")
    with open(secret, "w") as f:
        f.write("secret")
    outside = "/media/" + "0" * 64 + ".png"
    os.symlink(server.db, os.path.join(server.data, "media", "0" * 64 + ".png"))
    for p in (path, "/media/secret.png", outside, "/media/..%2Fstele.db", "/media/../stele.db", "/media/%2e%2e/stele.db", "/media/",
              "/media", good + "/", good + "%00", good.upper(), good.replace(".png", ".PNG"), good.replace("png", "jpg"),
              good.replace(".png", "")):
        r = server.get(p)
        assert r.status in (400, 404) or (r.status == 301 and "stele" not in r.text), (p, r)
        assert b"secret" not in r.body and b"SQLite" not in r.body
