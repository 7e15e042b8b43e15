"""What an address means: one spelling answers, every other gets one redirect to it, nothing leads to another host."""
import json
import re

import pytest

import site_pages
from site_pages import alias, follow, move, page, publish, resource_id, wait_for, word, write_rows


def raw_get(server, target, host=None, extra=b""):
    """Bytes exactly as given; (status, headers as text)."""
    if isinstance(target, str):
        target = target.encode("latin-1")
    host = host or f"127.0.0.1:{server.port}"
    out = server.raw(b"GET " + target + b" HTTP/1.1\r\nHost: " + host.encode() + b"\r\nConnection: close\r\n" + extra + b"\r\n")
    head = out.split(b"\r\n\r\n")[0].decode("latin-1")
    return int(head.split()[1]), head


def location(head):
    found = re.findall(r"(?mi)^location: ([^\r\n]*)", head)
    assert len(found) <= 1
    return found[0] if found else None


@pytest.fixture(scope="module")
def article(server):
    return publish(server, "Straße " + word())


def spellings(path):
    slug = path.rsplit("/", 1)[1]
    return [path + "/", path + "//", "/" + path, path.upper(), path.replace("articles", "ARTICLES"), path.replace("/articles", "/%61rticles"),
            path.replace("%C3%9F", "%c3%9f"), path.replace("%C3%9F", "ss"), "/./articles/./" + slug, "/articles/x/../" + slug,
            "/../.." + path, "/articles//" + slug, path + "/.", path + "/x/.."]


def test_every_spelling_is_one_redirect_to_the_address(server, article):
    for target in spellings(article["path"]):
        for query in ("", "?a=1&b=%2f+%zz&c", "?page=1"):
            status, head = raw_get(server, target + query)
            assert status == 301 and location(head).startswith(article["url"]), (target, head)
            # The query byte for byte, but for what no header field may hold.
            assert location(head) == article["url"] + query, (target, location(head))
            assert server.get(location(head)[len(server.base):]).status == 200


def test_raw_utf8_and_decomposed_paths_are_the_same_address(server):
    a = publish(server, "Caffè " + word())
    slug = a["slug"]
    assert "è" in slug
    for text in (slug, slug.replace("è", "e\u0300"), slug.replace("è", "\u00c8")):
        for target in (b"/articles/" + text.encode(), b"/articles/" + "".join(f"%{b:02x}" for b in text.encode()).encode()):
            status, head = raw_get(server, target)
            assert status == 301 and location(head) == a["url"], (target, head)


def test_exact_address_keeps_foreign_parameters_to_itself(server, article):
    etag = None
    for query in ("", "?utm_source=x", "?fbclid=1&gclid=2", "?page=7", "?a=%zz", "?", "?" + "x" * 1500):
        r = server.get(article["path"] + query)
        assert r.status == 200
        etag = etag or r.headers["ETag"]
        assert r.headers["ETag"] == etag and r.headers["Link"] == f"<{article['url']}>; rel=\"canonical\""


def test_control_characters_are_refused(server):
    for target in (b"/%00", b"/a%00b", b"/a%0d%0aLocation:%20http://evil.test", b"/a%0A", b"/%7f", b"/a%1F/b"):
        status, head = raw_get(server, target)
        assert status == 400 and location(head) is None, (target, head)


@pytest.mark.parametrize("target", [
    b"//evil.test", b"//evil.test/..", b"/\\evil.test", b"/%5Cevil.test", b"/%2F%2Fevil.test", b"/%2f/evil.test/", b"///evil.test/%2e%2e",
    b"/.//evil.test", b"//evil.test/ARTICLES/..", b"/https:%2F%2Fevil.test/", b"/https://evil.test//", b"/@evil.test/", b"/;@evil.test/..",
    b"/x/..//evil.test/", b"/%2e%2e//evil.test", b"//evil.test/articles?x=//evil.test", b"/articles/?//evil.test", b"/ARTICLES?@evil.test"])
def test_nothing_leads_to_another_host(server, target):
    write = ("INSERT OR IGNORE INTO path_rule (pattern, target, status, created_at) VALUES ('/moved/*', '/*', 301, 1)",)
    write_rows(server, write)
    for t in (target, b"/moved" + target, target + b"/", target.upper()):
        status, head = raw_get(server, t)
        assert status in (200, 301, 400, 404), (t, head)
        if status == 301:
            assert location(head).startswith(server.base + "/"), (t, head)


def test_host_of_the_request_is_never_printed(server, article):
    for host in ("evil.test", "evil.test:80", f"127.0.0.1.evil.test:{server.port}", f"127.0.0.1:{server.port + 1}"):
        status, head = raw_get(server, article["path"], host=host)
        assert status == 421 and "evil" not in head
    r = server.get(article["path"] + "/", headers={"X-Forwarded-Host": "evil.test", "X-Forwarded-Proto": "https", "Forwarded": "host=evil.test",
                                                   "X-Original-URL": "/x", "X-Rewrite-URL": "/x"})
    assert r.status == 301 and r.headers["Location"] == article["url"]
    r = server.get(article["path"], headers={"X-Forwarded-Host": "evil.test"})
    assert "evil" not in r.text and "evil" not in repr(r.headers)


def test_other_host_slash_case_and_old_path_are_one_hop(make_server):
    s = make_server(config="aliases = www.ex.test old.ex.test\n")
    a = publish(s)
    alias(s, "/2020/old", a)
    for host in ("www.ex.test", "old.ex.test", "WWW.EX.TEST"):
        for target in (a["path"], a["path"].upper() + "//", "/2020/OLD/"):
            status, head = raw_get(s, target + "?k=v", host=host)
            assert status == 301 and location(head) == a["url"] + "?k=v", head
        for target, expected in (("/", "/"), ("/sitemap.xml", "/sitemap.xml"), ("/robots.txt", "/robots.txt"), ("/articles/?page=1", "/articles")):
            status, head = raw_get(s, target, host=host)
            assert status == 301 and location(head) == s.base + expected, (target, head)
        assert raw_get(s, "/nothing-here", host=host)[0] == 404


def test_old_address_leads_to_the_resource_however_it_is_spelled(server):
    a = publish(server)
    old = "/2019/" + word()
    alias(server, old, a)
    wait_for(lambda: server.get(old).status == 301)
    for target in (old, old + "/", old.upper(), "/" + old, old + "?utm=1"):
        first, then = follow(server, target)
        assert first.status == 301 and then.status == 200
        assert first.headers["Location"] == a["url"] + ("?utm=1" if "?" in target else "")
    move(server, a, "withdraw")
    assert server.get(old).status == 404 and server.get(old + "/").status == 404


def test_address_with_a_query_is_told_apart_by_it(server):
    a, b = publish(server), publish(server)
    number = str(int(word()[1:7], 16))
    insert = "INSERT INTO path_query (path, pairs, resource_id, created_at) VALUES (?, ?, ?, 1)"
    write_rows(server, (insert, "/", f"p={number}", resource_id(server, a)),
               (insert, "/", f"page=2&q={number}", resource_id(server, b)))
    wait_for(lambda: server.get(f"/?p={number}").status == 301)
    for target, expected in ((f"/?p={number}", a["url"]), (f"/?x=y&p={number}&z", a["url"] + "?x=y&z"),
                             (f"//?p={number}", a["url"]), (f"/?q={number}&page=2", b["url"])):
        first, then = follow(server, target)
        assert (first.status, first.headers["Location"], then.status) == (301, expected, 200)
    assert server.get(f"/?p={number}0").status == 200
    # An old number is told from the home page even when that was asked for just before.
    assert server.get("/").status == 200 and server.get(f"/?p={number}").status == 301


def test_rule_and_external_rows_are_followed_to_the_end(server):
    a = publish(server)
    w = word()
    slug = a["slug"]
    rule = "INSERT INTO path_rule (pattern, target, status, created_at) VALUES (?, ?, ?, 1)"
    row = "INSERT INTO path (path, fold, role, target, status, created_at) VALUES (?, ?, 'external', ?, ?, 1)"
    write_rows(server, (rule, f"/{w}/:year/:slug", "/articles/:slug", 301), (rule, f"/{w}-gone/*", "", 410),
               (rule, f"/{w}-out/*", "https://other.test/x/*", 302), (row, f"/{w}-list", f"/{w}-list", "/Articles/", 301),
               (row, f"/{w}-a", f"/{w}-a", f"/{w}-b", 301), (row, f"/{w}-b", f"/{w}-b", f"/{w}-a", 301))
    wait_for(lambda: server.get(f"/{w}-list").status == 301)
    first, then = follow(server, f"/{w}/2020/{slug.upper()}/?k=v")
    assert (first.status, first.headers["Location"], then.status) == (301, a["url"] + "?k=v", 200)
    first, then = follow(server, f"/{w}-list?page=1&k=v")
    assert (first.headers["Location"], then.status) == (f"{server.base}/articles?k=v", 200)
    r = server.get(f"/{w}-out/a/b?c=d")
    assert (r.status, r.headers["Location"]) == (302, "https://other.test/x/a/b?c=d")
    assert server.get(f"/{w}-gone/a").status == 410
    assert server.get(f"/{w}-a").status == 404


def test_page_numbers_have_one_spelling(server):
    for _ in range(11):
        publish(server)
    assert server.get("/articles?page=2").status == 200
    for query, expected in (("page=1", "/articles"), ("page=01", "/articles"), ("page=02", "/articles?page=2"), ("page=%32", "/articles?page=2"),
                            ("p%61ge=2", "/articles?page=2"), ("page=2&page=3", "/articles?page=2"), ("a=b&page=1&c=d", "/articles?a=b&c=d")):
        first, then = follow(server, "/articles?" + query)
        assert first.status == 301 and first.headers["Location"] == server.base + expected, query
        assert then.status == 200
    for query in ("page=0", "page=-1", "page=two", "page=", "page=2.0", "page=+2", "page=1e1", "page=999", "page=1001", "page=18446744073709551618",
                  "page=2%00"):
        assert server.get("/articles?" + query).status == 404, query


def test_slash_policy_of_the_site(make_server):
    s = make_server(settings={"trailing_slash": "always"})
    a = publish(s)
    assert a["url"].endswith("/")
    p = page(s, site_pages.path_of(a["url"]))
    assert p.canonical == a["url"]
    first, then = follow(s, a["url"][len(s.base):-1] + "?k=v")
    assert (first.status, first.headers["Location"], then.status) == (301, a["url"] + "?k=v", 200)
    assert a["url"] in site_pages.locs(s)
    for loc in site_pages.locs(s):
        assert page(s, loc[len(s.base):]).canonical == loc
    for path in ("/articles", "/tags", "/authors"):
        assert s.get(path + "/").status == 200 and s.get(path).status == 301
        # Nothing that the site links to is a redirect.
    for h in page(s, "/").hrefs:
        if h.startswith(s.base) or h.startswith("/"):
            assert s.get(h[len(s.base):] if h.startswith(s.base) else h).status == 200, h


def test_whatwg_paths_of_our_own_host_never_fail(server, corpora):
    """Thousands of odd URLs, sent as the path they are after their host: an answer, and no way out."""
    cases = [c for c in json.loads((corpora / "whatwg-url" / "urltestdata.json").read_text()) if isinstance(c, dict)]
    assert len(cases) > 500
    with server.connect() as _:
        pass
    seen = set()
    for c in cases:
        text = re.sub(r"^[a-z]+:/*[^/?#]*", "", c["input"], flags=re.I)
        target = ("/" + text).split("#")[0].encode("utf-8", "surrogatepass")
        if re.search(rb"[\x00-\x20\x7f]", target) or len(target) > 1500 or target in seen:
            continue
        seen.add(target)
        status, head = raw_get(server, target)
        assert status in (200, 301, 400, 404), (target, head)
        if location(head):
            assert location(head).startswith(server.base + "/"), (target, head)
            assert location(head).isascii()
            second, head2 = raw_get(server, location(head)[len(server.base):])
            assert second == 200, (target, head, head2)
    assert len(seen) > 200
