"""A WordPress export becomes a site: every row once, every old address one hop, and a report that hides nothing."""
import html
import os
import pathlib
import re
import signal
import struct
import subprocess
import time
import zlib
from xml.parsers import expat

import pytest
from lxml import etree

import stele

CORPORA = pathlib.Path(os.environ.get("STELE_CORPORA", stele.ROOT.parent / "shared" / "corpora")) / "wxr"
NS = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9"}
HEAD = """<?xml version="1.0" encoding="UTF-8" ?>
<rss version="2.0" xmlns:excerpt="http://wordpress.org/export/1.2/excerpt/" xmlns:content="http://purl.org/rss/1.0/modules/content/"
 xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:wp="http://wordpress.org/export/1.2/">
<channel><title>Old site</title><link>http://www.old.test</link><wp:wxr_version>1.2</wp:wxr_version>
<wp:base_site_url>http://www.old.test</wp:base_site_url><wp:base_blog_url>http://www.old.test</wp:base_blog_url>
"""
TAIL = "</channel></rss>\n"


def item(n, title="Post", kind="post", status="publish", content="Some text.", link=None, slug=None, parent=0, extra="", password=""):
    slug = f"post-{n}" if slug is None else slug
    link = f"http://www.old.test/2024/05/{slug}/" if link is None else link
    return f"""<item><title>{html.escape(title)}</title><link>{html.escape(link)}</link><dc:creator><![CDATA[ada]]></dc:creator>
<guid isPermaLink="false">http://www.old.test/?p={n}</guid><content:encoded><![CDATA[{content}]]></content:encoded>
<excerpt:encoded><![CDATA[]]></excerpt:encoded><wp:post_id>{n}</wp:post_id><wp:post_date>2024-05-{n % 27 + 1:02d} 12:00:00</wp:post_date>
<wp:post_date_gmt>2024-05-{n % 27 + 1:02d} 10:00:00</wp:post_date_gmt><wp:post_name>{slug}</wp:post_name><wp:status>{status}</wp:status>
<wp:post_parent>{parent}</wp:post_parent><wp:post_type>{kind}</wp:post_type><wp:post_password>{password}</wp:post_password>
<wp:is_sticky>0</wp:is_sticky>{extra}</item>
"""


def export(tmp_path, *items, head=HEAD, tail=TAIL, name="export.xml"):
    file = tmp_path / name
    file.write_text(head + "".join(items) + tail, encoding="utf-8", errors="surrogateescape")
    return file


def run(server, file, *options, check=True):
    return stele.command("import", "wxr", file, *options, data=server.data, check=check, timeout=300)


def counts(server):
    return {t: server.sql(f"SELECT count(*) FROM {t}")[0][0] for t in (
        "resource", "revision", "path", "path_query", "outbox", "live_tag", "media", "change_log")}


def sitemap_locs(server):
    response = server.request("GET", "/sitemap.xml", token=None)
    assert response.status == 200
    root = etree.fromstring(response.body)
    if root.tag.endswith("sitemapindex"):
        locs = []
        for part in root.findall("s:sitemap/s:loc", NS):
            answer = server.request("GET", part.text[len(server.base):], token=None)
            assert answer.status == 200
            locs += [e.text for e in etree.fromstring(answer.body).findall("s:url/s:loc", NS)]
        return locs
    return [e.text for e in root.findall("s:url/s:loc", NS)]


def assert_sitemap_is_sound(server):
    """Each address once; each answers 200 and names itself."""
    locs = sitemap_locs(server)
    assert len(locs) == len(set(locs))
    for loc in locs:
        page = server.request("GET", loc[len(server.base):] or "/", token=None)
        assert page.status == 200, loc
        canonical = re.findall(rb'<link rel="canonical" href="([^"]*)"', page.body)
        assert [html.unescape(c.decode()) for c in canonical] == [loc]
    published = server.sql("SELECT count(*) FROM sitemap_entry")[0][0]
    assert len(locs) == published
    return locs


def png():
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b""))


@pytest.fixture
def site(make_server):
    return make_server()


def test_posts_pages_terms_and_authors_arrive_and_old_addresses_answer_one_301(site, tmp_path):
    term = '<category domain="category" nicename="blue"><![CDATA[Blue]]></category>'
    file = export(
        tmp_path,
        "<wp:author><wp:author_login>ada</wp:author_login><wp:author_display_name>Ada L.</wp:author_display_name></wp:author>",
        "<wp:category><wp:category_nicename>blue</wp:category_nicename><wp:cat_name>Blue</wp:cat_name></wp:category>",
        item(1, "First", extra=term), item(2, "Child", kind="page", parent=3, slug="child", link="http://www.old.test/about/child/"),
        item(3, "About", kind="page", slug="about", link="http://www.old.test/about/"))
    out = run(site, file).stdout
    assert "0 failed" in out
    post = site.request("GET", "/api/v1/articles/post-1").json()
    assert (post["state"], post["title"], post["published_at"]) == ("published", "First", "2024-05-02T10:00:00.000Z")
    assert [t["name"] for t in post["tags"]] == ["Blue"]
    assert post["author"]["name"] == "Ada L."
    for old in ("/2024/05/post-1/", "/2024/05/post-1", "/?p=1", "/2024/05/POST-1/?utm_source=x"):
        answer = site.request("GET", old, token=None)
        assert answer.status == 301, old
        assert answer.headers["location"].split("?")[0] == post["url"]
    child = site.request("GET", "/about/child", token=None)
    assert child.status == 200
    assert site.request("GET", "/?page_id=2", token=None).headers["location"] == site.base + "/about/child"
    assert site.request("GET", "/category/blue/", token=None).headers["location"] == site.base + "/tags/blue"
    assert site.request("GET", "/author/ada/", token=None).headers["location"] == site.base + "/authors/ada"
    assert_sitemap_is_sound(site)


def test_a_second_run_changes_nothing(site, tmp_path):
    file = export(tmp_path, item(1), item(2, slug=""), item(3, kind="page", parent=4), item(4, kind="page"), item(5, status="draft", slug=""))
    run(site, file)
    before = counts(site)
    out = run(site, file).stdout
    assert "0 created" in out and "5 unchanged" in out
    assert counts(site) == before


def test_an_item_that_stands_twice_is_created_once(site, tmp_path):
    out = run(site, export(tmp_path, item(1), item(1), item(2))).stdout
    assert "3 created, 1 unchanged, 0 skipped, 0 failed, 0 warnings" in out      # two posts and their author


def test_an_item_that_changed_in_the_export_is_kept_as_it_is_here_and_reported(site, tmp_path):
    run(site, export(tmp_path, item(1, content="one")))
    out = run(site, export(tmp_path, item(1, content="two"))).stdout
    assert "skipped" in out and "changed since" in out
    assert "one" in site.request("GET", "/api/v1/articles/post-1").json()["html"]


def test_kept_permalinks_are_the_paths_themselves(site, tmp_path):
    run(site, export(tmp_path, item(1, "First")), "--keep-permalinks")
    assert site.request("GET", "/2024/05/post-1", token=None).status == 200
    assert site.request("GET", "/api/v1/articles/post-1").json()["path"] == "/2024/05/post-1"
    assert site.request("GET", "/2024/05/post-1/", token=None).headers["location"] == site.base + "/2024/05/post-1"
    assert_sitemap_is_sound(site)


def test_a_permalink_that_cannot_be_kept_is_reported_and_the_post_has_another(site, tmp_path):
    out = run(site, export(tmp_path, item(1, link="http://www.old.test/admin/x/"), item(2, link="http://www.old.test/same/"),
                           item(3, link="http://www.old.test/same/")), "--keep-permalinks").stdout
    assert out.count("could not be kept") == 2
    assert len([u for u in assert_sitemap_is_sound(site) if "/articles/" in u or "/same" in u]) == 3


def test_private_protected_and_unfinished_posts_are_drafts_and_named(site, tmp_path):
    out = run(site, export(tmp_path, item(1, status="private"), item(2, password="secret"), item(3, status="pending"),
                           item(4, status="future", slug="later"), item(5, status="trash"))).stdout
    assert "private: imported as a draft" in out and "protected by a password" in out and "in the trash" in out
    states = dict(site.sql("SELECT client_ref, state FROM resource WHERE kind = 'article'"))
    assert states == {"post:1": "draft", "post:2": "draft", "post:3": "draft", "post:4": "published"}
    assert "secret" not in site.request("GET", "/api/v1/articles?state=draft").text


def test_links_to_the_old_site_lead_to_the_new_pages_and_nothing_of_the_text_is_lost(site, tmp_path):
    text = ("<!-- wp:paragraph -->\n<p>Before <a href=\"https://old.test/2024/05/post-2/#part\">link</a> after</p>\n<!-- /wp:paragraph -->\n\n"
            "[unknown attr=\"1\"]kept[/unknown]\n\nLast <script>alert(1)</script>line & more")
    run(site, export(tmp_path, item(1, content=text), item(2)))
    page = site.request("GET", "/articles/post-1", token=None).text
    assert 'href="' + site.base + '/articles/post-2#part"' in page or 'href="/articles/post-2#part"' in page
    body = re.sub(r"<[^>]*>", "", site.request("GET", "/api/v1/articles/post-1").json()["html"])
    for word in ("Before", "link", "after", "kept", "Last", "line &amp; more"):
        assert word in body
    assert "alert(1)" not in page


def test_uploads_become_media_when_their_folder_is_given(site, tmp_path):
    uploads = tmp_path / "uploads" / "2024"
    uploads.mkdir(parents=True)
    (uploads / "a.png").write_bytes(png())
    (tmp_path / "outside.png").write_bytes(png())
    content = ('<img src="http://www.old.test/wp-content/uploads/2024/a.png" alt="A"> <a href="/wp-content/uploads/2024/missing.png">m</a> '
               '<a href="http://www.old.test/wp-content/uploads/2024/../../outside.png">o</a>')
    attachment = item(9, kind="attachment", status="inherit",
                      extra="<wp:attachment_url>http://www.old.test/wp-content/uploads/2024/a.png</wp:attachment_url>")
    out = run(site, export(tmp_path, item(1, content=content), attachment), "--uploads", tmp_path / "uploads").stdout
    assert "still linked at the old site" in out
    page = site.request("GET", "/articles/post-1", token=None).text
    src = re.search(r'src="([^"]*/media/[0-9a-f]{64}\.png)"', page).group(1)
    image = site.request("GET", src.replace(site.base, ""), token=None)
    assert (image.status, image.headers["content-type"], image.body) == (200, "image/png", png())
    old = site.request("GET", "/wp-content/uploads/2024/a.png", token=None)
    assert (old.status, old.headers["location"]) == (301, site.base + src.replace(site.base, ""))
    assert len(os.listdir(os.path.join(site.data, "media"))) == 1


def test_a_dry_run_reports_and_changes_nothing(site, tmp_path):
    before = counts(site)
    out = run(site, export(tmp_path, item(1), item(2, kind="nav_menu_item")), "--dry-run").stdout
    assert "dry run" in out and "created: article /articles/post-1" in out and "nav_menu_item" in out
    assert counts(site) == before
    assert not [f for f in os.listdir(site.data) if f.startswith("dry-run")]


@pytest.mark.parametrize("text, word", [
    ('<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]><rss><channel>&b;</channel></rss>', "entity"),
    ('<?xml version="1.0"?><!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><rss><channel>&x;</channel></rss>', "entity"),
    (HEAD + item(1) + "<item><title>cut", "line "),
    ("PK\x03\x04", "zip"),
    ("<html><body>Log in</body></html>", "HTML"),
])
def test_what_is_no_whole_export_is_refused_before_anything_is_written(site, tmp_path, text, word):
    file = tmp_path / "bad.xml"
    file.write_text(text)
    before = counts(site)
    result = run(site, file, check=False)
    assert result.returncode == 1
    assert word in result.stderr
    assert counts(site) == before


def test_forbidden_characters_are_dropped_counted_and_named(site, tmp_path):
    out = run(site, export(tmp_path, item(1, title="a\x01b", content="c\x08d \udcff"))).stdout
    assert "forbidden characters dropped: 3" in out and "3 characters that no page may hold" in out
    assert site.request("GET", "/api/v1/articles/post-1").json()["title"] == "ab"


def test_a_slug_over_the_bound_is_cut_and_reported(site, tmp_path):
    out = run(site, export(tmp_path, item(1, slug="x" * 5000))).stdout
    assert "cannot be kept" in out and "2 created" in out and "0 failed" in out
    slug = site.sql("SELECT slug FROM resource WHERE client_ref = 'post:1'")[0][0]
    assert 0 < len(slug.encode()) <= 200


def test_titles_without_text_or_slug_still_get_an_address(site, tmp_path):
    run(site, export(tmp_path, item(1, title="", slug=""), item(2, title="🍟🍟", slug=""), item(3, title="天地人", slug="%e5%a4%a9%e5%9c%b0")))
    locs = [u for u in assert_sitemap_is_sound(site) if "/articles/" in u]
    assert len(locs) == 3
    assert site.base + "/articles/%E5%A4%A9%E5%9C%B0" in locs


def test_an_import_that_was_killed_goes_on_where_it_stopped(site, tmp_path):
    file = export(tmp_path, *[item(n) for n in range(1, 2000)])
    process = subprocess.Popen([stele.STELE, "import", "wxr", file, "--data", site.data], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 30
    while site.sql("SELECT count(*) FROM resource WHERE kind = 'article'")[0][0] < 100 and time.monotonic() < deadline:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    process.wait()
    done = site.sql("SELECT count(*) FROM resource WHERE kind = 'article'")[0][0]
    assert 100 <= done
    out = run(site, file).stdout
    assert f"{1999 - done} created" in out or f"{2000 - done} created" in out
    assert tuple(site.sql("SELECT count(*), count(DISTINCT client_ref) FROM resource WHERE kind = 'article'")[0]) == (1999, 1999)


def test_a_post_that_cannot_be_shown_is_reported_and_the_others_arrive(site, tmp_path):
    tangled = "<p>" + "<b><i>" * 200000
    out = run(site, export(tmp_path, item(1), item(2, content="long " * 300000), item(3, content=tangled), item(4))).stdout
    assert "2 failed" in out and out.count(": failed: ") == 2 and "post 2: failed" in out and "post 3: failed" in out
    assert {r[0] for r in site.sql("SELECT client_ref FROM resource WHERE kind = 'article'")} == {"post:1", "post:4"}


def test_an_excerpt_that_cannot_be_read_leaves_the_text_of_its_post_alone(site, tmp_path):
    broken = item(1, content="<p>a <em>b</em></p>").replace("<excerpt:encoded><![CDATA[]]>", "<excerpt:encoded><![CDATA[" + "<b><i>" * 200000 + "]]>")
    run(site, export(tmp_path, broken))
    post = site.request("GET", "/api/v1/articles/post-1").json()
    assert (post["format"], post["html"].strip()) == ("html", "<p>a <em>b</em></p>")


def test_pages_below_pages_are_told_of_once_whatever_their_order(site, tmp_path):
    deep = [item(n, kind="page", parent=n + 1 if n < 8 else 0, slug=f"p{n}") for n in range(1, 9)]
    bad = item(20, kind="page", parent=7, content="long " * 300000)
    orphan = item(30, kind="page", parent=999, slug="orphan")
    file = export(tmp_path, bad, orphan, *deep)
    out = run(site, file).stdout
    assert out.count(": failed: ") == 1 and "1 failed" in out
    assert out.count("its parent (post 999) is not in the export") == 1
    path = "/" + "/".join(f"p{n}" for n in range(8, 0, -1))
    assert site.request("GET", path, token=None).status == 200
    assert site.request("GET", "/orphan", token=None).status == 200
    out = run(site, file).stdout
    assert "0 created, 9 unchanged, 0 skipped, 1 failed" in out


def attachment(n, name, host="www.old.test"):
    url = f"http://{host}/wp-content/uploads/{name}"
    return item(n, kind="attachment", status="inherit", link=f"http://{host}/?attachment_id={n}",
                extra=f"<wp:attachment_url>{url}</wp:attachment_url>")


def test_files_are_stored_once_and_a_second_run_says_so(site, tmp_path):
    uploads = tmp_path / "uploads"
    uploads.mkdir()
    for name in ("a.png", "same.png"):
        (uploads / name).write_bytes(png())
    file = export(tmp_path, attachment(1, "a.png"), attachment(2, "same.png"))
    assert "1 created, 1 unchanged" in run(site, file, "--uploads", uploads).stdout
    for name in ("a.png", "same.png"):
        assert site.request("GET", "/wp-content/uploads/" + name, token=None).status == 301
    before = counts(site)
    assert "0 created, 2 unchanged" in run(site, file, "--uploads", uploads).stdout
    assert counts(site) == before


def test_two_sites_with_a_file_of_one_name_each_keep_their_own(site, tmp_path):
    for host, tail in (("one.test", b""), ("two.test", b"another")):
        folder = tmp_path / host
        folder.mkdir()
        (folder / "a.png").write_bytes(png() + tail)
        text = f'<img src="http://{host}/wp-content/uploads/a.png" alt="A">'
        run(site, export(tmp_path, item(1, slug=host[:3], content=text, link=f"http://{host}/{host[:3]}/"), head=HEAD.replace("www.old.test", host)),
            "--uploads", folder)
    sources = [re.search(r'/media/[0-9a-f]{64}\.png', site.request("GET", "/api/v1/articles/" + slug).json()["html"]).group(0)
               for slug in ("one", "two")]
    assert site.request("GET", sources[0], token=None).body == png()
    assert site.request("GET", sources[1], token=None).body == png() + b"another"


def test_an_old_address_under_a_reserved_name_is_reported_and_not_stored(site, tmp_path):
    out = run(site, export(tmp_path, item(1, link="http://www.old.test/feed/x/"), item(2, link="http://www.old.test/EN/y/"))).stdout
    assert out.count("it is reserved") == 2 and "0 failed" in out
    assert site.sql("SELECT count(*) FROM path WHERE fold LIKE '/feed%' OR fold LIKE '/en%'")[0][0] == 0


MEMORY_KB = 32768


def test_memory_does_not_grow_with_the_export(site, tmp_path):
    if os.path.isdir(stele.BUILD / "kore"):
        pytest.skip("sanitizers take memory of their own")
    uploads = tmp_path / "uploads"
    uploads.mkdir()
    (uploads / "a.png").write_bytes(png())
    run(site, export(tmp_path, item(1)))
    known = export(tmp_path, *[item(1)] * 20000, name="known.xml")
    files = export(tmp_path, *[attachment(n, "a.png") for n in range(2000)], name="files.xml")
    between = export(tmp_path, "<wp:note>words</wp:note>\n" * 400000, item(1), "<wp:note>words</wp:note>\n" * 400000, name="between.xml")
    channel = export(tmp_path, ("<description>" + "long words " * 100000 + "</description>") * 60, item(1), name="channel.xml")
    for file in (known, files, between, channel):
        result = subprocess.run(["sh", "-c", f'ulimit -d {MEMORY_KB} && exec "$@"', "sh", stele.STELE, "import", "wxr", file, "--data", site.data,
                                 "--uploads", uploads], capture_output=True, text=True, timeout=120)
        assert result.returncode == 0, (file, result.stderr)


CORPUS = sorted(CORPORA.rglob("*.xml"))


@pytest.mark.parametrize("file", CORPUS or [None], ids=lambda f: f.name if f else "none")
def test_every_export_of_the_corpus_becomes_a_sound_site(file, make_server):
    if file is None:
        pytest.skip("corpora absent")
    site = make_server()
    result = run(site, file, check=False)
    try:        # without namespaces, which exports cut by hand often lack
        expat.ParserCreate().Parse(file.read_bytes(), True)
        whole = True
    except expat.ExpatError:
        whole = False
    assert result.returncode == (0 if whole else 1), result.stderr
    if not whole:
        assert "line " in result.stderr
        return
    assert " failed" in result.stdout
    assert_sitemap_is_sound(site)
    before = counts(site)
    assert run(site, file).stdout.count("0 created") == 1
    assert counts(site) == before
