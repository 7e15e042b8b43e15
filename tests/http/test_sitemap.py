"""The sitemap lists what is live, indexable, unique and canonical at its own address; nothing else, and byte for byte."""
import re
import sqlite3

import lxml.etree

from site_pages import SITEMAP, alias, edit, locs, move, page, publish, resource_id, wait_for, word, write_rows


def test_every_address_answers_200_and_is_its_own_canonical(server):
    tag = word()
    made = [publish(server, "Größe & Maß " + word(), tags=[tag]), publish(server, kind="pages")]
    listed = locs(server)
    assert {a["url"] for a in made} <= set(listed)
    assert f"{server.base}/tags/{tag}" in listed and server.base + "/" in listed
    for loc in listed:
        p = page(server, loc[len(server.base):])
        assert p.canonical == loc
        assert "X-Robots-Tag" not in p.response.headers and p.meta("robots") != ["noindex"]
        assert len(loc) < 2048 and loc.isascii()


def test_what_is_hidden_is_not_listed(server):
    text = " ".join(word() for _ in range(40))
    draft = server.post("/api/v1/articles", {"title": word(), "content": "x"}).json()
    noindex = publish(server, seo={"noindex": True})
    override = publish(server, seo={"canonical": "https://other.test/x"})
    first = publish(server, "Same", content=text)
    second = publish(server, "Same", content=text)
    withdrawn = publish(server)
    move(server, withdrawn, "withdraw")
    old = publish(server)
    alias(server, "/was-" + old["slug"], old)
    empty = publish(server, kind="tags")
    idle = publish(server, kind="authors")
    listed = set(locs(server))
    for r in (draft, noindex, override, second, withdrawn, empty, idle):
        assert r["url"] not in listed, r
    assert first["url"] in listed and old["url"] in listed
    assert f"{server.base}/was-{old['slug']}" not in listed
    # Whole paths: a tag may well be called "articles".
    assert not any(re.fullmatch(r"[^?]*\?.*|/articles|/tags|/authors|/docs(/.*)?", loc[len(server.base):]) for loc in listed)


def test_every_move_shows_at_once(server):
    a = publish(server, tags=[tag := word()])
    assert a["url"] in locs(server) and f"{server.base}/tags/{tag}" in locs(server)
    move(server, a, "withdraw")
    assert a["url"] not in locs(server) and f"{server.base}/tags/{tag}" not in locs(server)
    move(server, a, "publish")
    assert a["url"] in locs(server)
    edit(server, a, seo={"noindex": True})
    assert a["url"] in locs(server)
    move(server, a, "publish")
    assert a["url"] not in locs(server)


def test_duplicate_takes_its_place_when_the_original_leaves(server):
    text = " ".join(word() for _ in range(40))
    first = publish(server, "Same", content=text)
    second = publish(server, "Same", content=text)
    move(server, first, "withdraw")
    assert second["url"] in locs(server) and first["url"] not in locs(server)
    move(server, first, "publish")
    assert len({first["url"], second["url"]} & set(locs(server))) == 1


def test_lastmod_moves_with_visible_text_alone(make_server):
    s = make_server()
    a = publish(s, "Title " + word())
    before = locs(s)
    pattern = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
    assert all(pattern.fullmatch(t) for t in before.values())
    assert page(s, a["path"]).json_ld[0]["dateModified"] == before[a["url"]]
    s.restart()
    assert locs(s) == before
    later = {"STELE_CLOCK_OFFSET": str(3 * 86400 * 1000)}
    s.restart(env=later)
    assert locs(s) == before
    edit(s, a, title=a["title"], content=s.get(f"/api/v1/articles/{a['id']}").json()["content"] + "\n\n")
    move(s, a, "publish")
    assert locs(s)[a["url"]] == before[a["url"]]
    edit(s, a, content="Other text")
    move(s, a, "publish")
    after = locs(s)
    assert after[a["url"]] > before[a["url"]] and after[s.base + "/"] == after[a["url"]]


def test_empty_site_lists_its_home_page(make_server):
    s = make_server(users=())
    r = s.get("/sitemap.xml")
    root = lxml.etree.fromstring(r.body)
    assert [e.text for e in root.iter(SITEMAP + "loc")] == [s.base + "/"]
    assert not list(root.iter(SITEMAP + "lastmod"))


def test_sitemap_is_valid_by_its_schema(server, corpora):
    publish(server, "A & B <c> 'd' \"e\" " + word())
    schema = lxml.etree.XMLSchema(lxml.etree.parse(str(next((corpora / "sitemap").glob("xsd-*/**/sitemap.xsd")))))
    schema.assertValid(lxml.etree.fromstring(server.get("/sitemap.xml").body))


def jump_to_id(server, last):
    """As if `last` resources had been made and purged."""
    db = sqlite3.connect(server.db, timeout=20)
    with db:
        db.execute("UPDATE sqlite_sequence SET seq = ? WHERE name = 'resource'", (last,))
    db.close()


def test_parts_stand_still_when_others_change(make_server, corpora):
    s = make_server()
    one = publish(s)
    assert lxml.etree.fromstring(s.get("/sitemap.xml").body).tag == SITEMAP + "urlset"
    jump_to_id(s, 10000)
    two = publish(s)
    jump_to_id(s, 30000)
    three = publish(s)
    r = s.get("/sitemap.xml")
    root = lxml.etree.fromstring(r.body)
    schema = lxml.etree.XMLSchema(lxml.etree.parse(str(next((corpora / "sitemap").glob("xsd-*/**/siteindex.xsd")))))
    schema.assertValid(root)
    assert [e.text for e in root.iter(SITEMAP + "loc")] == [f"{s.base}/sitemap-{n}.xml" for n in (1, 10001, 30001)]
    assert {one["url"], two["url"], three["url"], s.base + "/"} <= set(locs(s))
    parts = {n: s.get(f"/sitemap-{n}.xml") for n in (1, 10001, 30001)}
    move(s, two, "withdraw")
    assert s.get("/sitemap-30001.xml").headers["ETag"] == parts[30001].headers["ETag"]
    assert two["url"] not in locs(s) and {one["url"], three["url"]} <= set(locs(s))
    # Empty now: neither listed nor there.
    assert s.get("/sitemap-10001.xml").status == 404
    assert b"sitemap-10001" not in s.get("/sitemap.xml").body
    four = publish(s)
    assert four["url"].encode() in s.get("/sitemap-30001.xml").body
    for name in ("0", "01", "2", "20001", "40001", "-1", "1.0", "%31"):
        assert s.get(f"/sitemap-{name}.xml").status == 404, name


def test_head_and_coding_agree(server):
    publish(server)
    plain = server.get("/sitemap.xml")
    assert plain.headers["Content-Type"] == "application/xml; charset=utf-8"
    head = server.request("HEAD", "/sitemap.xml")
    assert head.body == b"" and head.headers["Content-Length"] == str(len(plain.body)) and head.headers["ETag"] == plain.headers["ETag"]
    import gzip
    packed = server.get("/sitemap.xml", headers={"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip" and gzip.decompress(packed.body) == plain.body
    assert packed.headers["ETag"] != plain.headers["ETag"] and "Accept-Encoding" in packed.headers["Vary"]
    assert server.get("/sitemap.xml", headers={"If-None-Match": plain.headers["ETag"]}).status == 304
    publish(server)
    assert server.get("/sitemap.xml", headers={"If-None-Match": plain.headers["ETag"]}).status == 200


def test_longest_slug_is_listed_byte_for_byte(server):
    a = publish(server, "ありがとう" * 60)
    assert a["url"] in locs(server) and page(server, a["path"]).canonical == a["url"]
