"""Feeds: three formats of the same entries, permanent ids, one list of what is canonical at its own address; no text can break one."""
import email.utils
import json
import sqlite3
import xml.sax

import pytest
from lxml import etree

from test_delete import delete
from test_moves import create, step, word

ATOM = "{http://www.w3.org/2005/Atom}"
CONTENT = "{http://purl.org/rss/1.0/modules/content/}encoded"
FORMATS = {"atom": "application/atom+xml; charset=utf-8", "rss": "application/rss+xml; charset=utf-8",
           "json": "application/feed+json; charset=utf-8"}


def entries(server, path="/feed"):
    """What the three formats say of each entry, which must be the same: id -> (url, title)."""
    answers = {}
    for name, kind in FORMATS.items():
        r = server.get(f"{path}.{name}")
        assert (r.status, r.headers["Content-Type"]) == (200, kind), (path, name, r.body)
        assert f'<{server.base}{path}.{name}>; rel="self"' in r.headers["Link"]
        answers[name] = r.body
    atom, rss, feed = etree.fromstring(answers["atom"]), etree.fromstring(answers["rss"]), json.loads(answers["json"])
    xml.sax.parseString(answers["atom"], xml.sax.ContentHandler())
    xml.sax.parseString(answers["rss"], xml.sax.ContentHandler())
    found = [[(e.findtext(ATOM + "id"), e.find(f"{ATOM}link[@rel='alternate']").get("href"), e.findtext(ATOM + "title")) for e in atom.findall(ATOM + "entry")],
             [(i.findtext("guid"), i.findtext("link"), i.findtext("title")) for i in rss.iter("item")],
             [(i["id"], i["url"], i["title"]) for i in feed["items"]]]
    assert found[0] == found[1] == found[2]
    assert atom.findtext(ATOM + "title") == rss.findtext("channel/title") == feed["title"]
    assert atom.find(f"{ATOM}link[@rel='self']").get("href") == f"{server.base}{path}.atom"
    assert feed["feed_url"] == f"{server.base}{path}.json" and feed["version"] == "https://jsonfeed.org/version/1.1"
    assert len({e[0] for e in found[0]}) == len(found[0])
    for item in rss.iter("item"):
        assert item.find("guid").get("isPermaLink") == "false"
        assert email.utils.parsedate_to_datetime(item.findtext("pubDate")).utcoffset().total_seconds() == 0
    return {e[0]: e[1:] for e in found[0]}


def edit(server, sql, *values):
    db = sqlite3.connect(server.db)
    db.execute(sql, values)
    db.commit()
    db.close()


def test_all_formats_say_the_same_and_ids_survive_a_move(make_server):
    s = make_server()
    assert entries(s) == {}
    first, second = create(s, title="One & <two>"), create(s, title='"quoted" 中文')
    urn = [f"urn:uuid:{m['id']}" for m in (second, first)]
    assert list(entries(s).items()) == [(urn[0], (second["url"], '"quoted" 中文')), (urn[1], (first["url"], "One & <two>"))]
    moved = step(s, first, "move", {"slug": word()})
    assert entries(s)[urn[1]] == (moved["url"], "One & <two>") and moved["url"] != first["url"]


def test_only_what_the_sitemap_lists_is_in_a_feed(make_server):
    s = make_server()
    text = " ".join(word() for _ in range(60))
    first, copy = create(s, title="same", content=text), create(s, title="same", content=text)
    others = [create(s, state="draft"), create(s, seo={"noindex": True}), create(s, seo={"canonical": "https://elsewhere.example/x"}), create(s, "pages")]
    gone, withdrawn = create(s), create(s)
    delete(s, gone)
    step(s, withdrawn, "withdraw")
    assert copy["duplicate_of"] == first["id"] and len(others) == 4
    assert {url for url, _ in entries(s).values()} == {first["url"]}
    # The next copy takes the place of an original that leaves, in the same moment.
    step(s, first, "withdraw")
    assert {url for url, _ in entries(s).values()} == {copy["url"]}


def test_a_tag_and_an_author_have_feeds_that_a_move_does_not_change(make_server):
    s = make_server()
    tag, author = create(s, "tags"), create(s, "authors")
    made, other = create(s, tags=[tag["title"]], author=author["slug"]), create(s)
    for term, kind in ((tag, "tags"), (author, "authors")):
        path = f"/feed/{term['id']}"
        assert {url for url, _ in entries(s, path).values()} == {made["url"]}
        page = s.get(term["path"]).text
        for name, media in FORMATS.items():
            assert f'<link rel="alternate" type="{media.split(";")[0]}"' in page and f'href="{s.base}{path}.{name}">' in page
        step(s, term, "move", {"slug": word()}, kind=kind)
        assert {url for url, _ in entries(s, path).values()} == {made["url"]}
    assert other["url"] in {url for url, _ in entries(s).values()}
    assert f'href="{s.base}/feed.atom">' in s.get("/").text and f'href="{s.base}/feed.json">' in s.get(made["path"]).text
    step(s, made, "withdraw")
    assert s.get(f"/feed/{tag['id']}.atom").status == 404
    delete(s, dict(author, version=2), kind="authors")
    assert s.get(f"/feed/{author['id']}.rss").status == 410


@pytest.mark.parametrize("path", ["/feed.xml", "/feed.ATOM", "/feed/atom", "/feed/x.atom", "/feed/00000000-0000-7000-8000-000000000000.atom", "/feed/.atom"])
def test_what_is_no_feed_is_not_found(server, path):
    assert server.get(path).status == 404


def test_the_id_of_another_system_is_kept_where_it_is_an_iri(make_server):
    s = make_server()
    good, bad = create(s), create(s)
    edit(s, "UPDATE resource SET guid = 'https://old.example/?p=12' WHERE uid = ?", good["id"])
    edit(s, "UPDATE resource SET guid = 'no iri' WHERE uid = ?", bad["id"])
    s.command("flush")
    assert set(entries(s)) == {"https://old.example/?p=12", f"urn:uuid:{bad['id']}"}


def test_a_feed_is_made_of_absolute_addresses_and_of_links_as_they_are_now(make_server):
    s = make_server()
    target = create(s)
    made = create(s, content=f"[there]({target['path']}) [up](#top) ![x](/media/x.png) [out](https://e.example/a?b=1&c=2) <p><a href=\"y\">y</a></p>")
    moved = step(s, target, "move", {"slug": word()})
    item = [i for i in json.loads(s.get("/feed.json").body)["items"] if i["url"] == made["url"]][0]
    html = item["content_html"]
    assert f'href="{moved["url"]}"' in html and f'src="{s.base}/media/x.png"' in html and 'href="https://e.example/a?b=1&amp;c=2"' in html
    assert f'href="{s.base}/y"' in html and target["path"] + '"' not in html
    atom = etree.fromstring(s.get("/feed.atom").body)
    assert html in [e.findtext(ATOM + "content") for e in atom.findall(ATOM + "entry")]
    assert html in [i.findtext(CONTENT) for i in etree.fromstring(s.get("/feed.rss").body).iter("item")]


def test_settings_say_how_many_and_how_much(make_server):
    s = make_server(settings={"feed_items": "2", "feed_content": "summary", "websub_hub": "https://hub.example/"})
    made = [create(s, content="the whole text", summary="in short") for _ in range(3)]
    assert [url for url, _ in entries(s).values()] == [made[2]["url"], made[1]["url"]]
    r = s.get("/feed.atom")
    assert '<https://hub.example/>; rel="hub"' in r.headers["Link"] and b"whole text" not in r.body and b"in short" in r.body
    assert etree.fromstring(r.body).find(f"{ATOM}link[@rel='hub']").get("href") == "https://hub.example/"
    item = json.loads(s.get("/feed.json").body)["items"][0]
    assert "content_html" not in item and item["content_text"] == "in short"


def test_an_unchanged_feed_is_304_and_a_change_is_seen(make_server):
    s = make_server()
    made = create(s)
    for name in FORMATS:
        r = s.get(f"/feed.{name}")
        again = s.get(f"/feed.{name}", headers={"If-None-Match": r.headers["ETag"]})
        assert (again.status, again.body) == (304, b"") and s.get(f"/feed.{name}", headers={"If-Modified-Since": r.headers["Last-Modified"]}).status == 304
        assert s.request("HEAD", f"/feed.{name}").headers["ETag"] == r.headers["ETag"]
        new = create(s)
        assert s.get(f"/feed.{name}", headers={"If-None-Match": r.headers["ETag"]}).status == 200
        assert new["url"] in s.get(f"/feed.{name}").text and made["url"] in s.get(f"/feed.{name}").text


BAD = ["a\u000bb", "a\ufffeb\uffff", "]]>", "&amp;&lt;", "</title><script>alert(1)</script>", "a\x1fb", "\U0001f600", "\u202e\u2028\u2029"]


def test_one_bad_character_can_never_break_a_feed(make_server):
    """Refused on input, most of them; what stands in the database all the same is dropped where XML is written."""
    s = make_server()
    tag = create(s, "tags")
    for i, text in enumerate(BAD):
        made = create(s, title=f"t{i}", tags=[tag["title"]], content=f"c{i}")
        edit(s, "UPDATE resource SET live_title = ?, live_summary = ? WHERE uid = ?", f"t{i} {text}", text, made["id"])
        edit(s, "UPDATE rendered SET html = ? WHERE resource_id = (SELECT id FROM resource WHERE uid = ?)", f"<p>{text.replace('<', '&lt;')}</p>", made["id"])
    edit(s, "UPDATE resource SET live_title = ? WHERE uid = ?", "tag \u000b]]>", tag["id"])
    s.command("flush")
    for path in ("/feed", f"/feed/{tag['id']}"):
        for name in ("atom", "rss"):
            root = etree.fromstring(s.get(f"{path}.{name}").body)
            titles = [e.text for e in root.iter(ATOM + "title" if name == "atom" else "title")]
            assert len([t for t in titles if t.startswith("t") and t[1:2].isdigit()]) == len(BAD)
            assert "t2 ]]>" in titles and "t0 ab" in titles and "t4 </title><script>alert(1)</script>" in titles
        assert len(json.loads(s.get(f"{path}.json").body)["items"]) == len(BAD)


def test_texts_that_are_too_much_together_are_told_by_their_summaries(make_server):
    s = make_server()
    for i in range(4):
        create(s, content="a word of it " * 30000, summary=f"in short {i}")
    r = s.get("/feed.json")
    items = json.loads(r.body)["items"]
    assert [("content_html" in i, i["summary"]) for i in items] == [(True, "in short 3"), (True, "in short 2"), (False, "in short 1"), (False, "in short 0")]
    assert len(r.body) < 2 << 20 and items[3]["content_text"] == "in short 0"


def test_a_closed_site_keeps_its_feeds_out_of_the_index(make_server):
    s = make_server(settings={"noindex": "true"})
    assert s.get("/feed.atom").headers["X-Robots-Tag"] == "noindex"
