"""Validators: a client that has the current bytes is not sent them again, and one that has not always is."""
import email.utils
import gzip
import subprocess
import time

import pytest

from site_pages import alias, edit, move, publish, wait_for, word, write_rows


def date(seconds):
    return email.utils.formatdate(seconds, usegmt=True)


def at(response):
    return email.utils.parsedate_to_datetime(response.headers["Last-Modified"]).timestamp()


@pytest.fixture(scope="module")
def article(server):
    return publish(server, content="Text. " * 400)


@pytest.fixture(params=["article", "/", "/articles", "/sitemap.xml", "/robots.txt", "/docs/errors"])
def path(request, article):
    return article["path"] if request.param == "article" else request.param


def test_every_public_200_has_validators_and_says_how_it_varies(server, path):
    r = server.get(path)
    assert r.status == 200
    assert r.headers["ETag"].startswith('"') and len(r.headers.all("ETag")) == 1
    assert at(r) <= email.utils.parsedate_to_datetime(r.headers["Date"]).timestamp()
    assert r.headers["Cache-Control"].startswith("public")
    if len(r.body) >= 256:
        assert r.headers["Vary"] == "Accept-Encoding"


@pytest.mark.parametrize("condition", ["{}", 'W/{}', '"x", {}, "y"', 'W/"x",{}', "*", '"a,b", {}'])
def test_known_tag_is_304(server, path, condition):
    etag = server.get(path).headers["ETag"]
    for method in ("GET", "HEAD"):
        r = server.request(method, path, headers={"If-None-Match": condition.format(etag)})
        assert r.status == 304 and r.body == b"", (condition, r)


@pytest.mark.parametrize("condition", ['"x"', "x", '"', "W/", '""', "{unquoted}", "{lower}x"])
def test_unknown_or_broken_tag_is_200(server, path, condition):
    etag = server.get(path).headers["ETag"]
    r = server.get(path, headers={"If-None-Match": condition.format(unquoted=etag.strip('"'), lower=etag.lower())})
    assert r.status == 200 and r.body


def test_304_repeats_what_the_200_would_say_and_nothing_of_the_body(server, path):
    full = server.get(path)
    short = server.get(path, headers={"If-None-Match": full.headers["ETag"]})
    for name in ("ETag", "Cache-Control", "Vary"):
        assert short.headers.all(name) == full.headers.all(name)
    assert "Date" in short.headers
    for name in ("Content-Length", "Content-Type", "Content-Encoding"):
        assert name not in short.headers or short.headers[name] == full.headers[name]


def test_date_conditions(server, path):
    t = at(server.get(path))
    assert server.get(path, headers={"If-Modified-Since": date(t)}).status == 304
    assert server.get(path, headers={"If-Modified-Since": date(t + 1)}).status == 304
    assert server.get(path, headers={"If-Modified-Since": date(t - 1)}).status == 200
    parsed = time.gmtime(t)
    rfc850 = time.strftime("%A, %d-%b-%y %H:%M:%S GMT", parsed)
    asctime = time.strftime("%a %b ", parsed) + f"{parsed.tm_mday:2d}" + time.strftime(" %H:%M:%S %Y", parsed)
    for text in (rfc850, asctime):
        assert server.get(path, headers={"If-Modified-Since": text}).status == 304, text
    for text in ("yesterday", "", str(int(t)), "2026-01-01T00:00:00Z"):
        assert server.get(path, headers={"If-Modified-Since": text}).status == 200, text


def test_tag_decides_and_the_date_is_not_looked_at(server, path):
    r = server.get(path)
    later = date(at(r) + 1000)
    assert server.get(path, headers={"If-None-Match": '"x"', "If-Modified-Since": later}).status == 200
    assert server.get(path, headers={"If-None-Match": r.headers["ETag"], "If-Modified-Since": date(0)}).status == 304


def test_codings_are_negotiated_and_told_apart(server, article):
    plain = server.get(article["path"])
    tags = {plain.headers["ETag"]}
    for accept, coding in (("gzip", "gzip"), ("br", "br"), ("gzip, br", "br"), ("gzip;q=1, br;q=0.5", "gzip"), ("*", "br"), ("br;q=0, *", "gzip")):
        r = server.get(article["path"], headers={"Accept-Encoding": accept})
        assert r.headers["Content-Encoding"] == coding, accept
        assert len(r.body) < len(plain.body) and r.headers["ETag"] not in {plain.headers["ETag"]}
        tags.add(r.headers["ETag"])
        if coding == "gzip":
            assert gzip.decompress(r.body) == plain.body
        again = server.get(article["path"], headers={"Accept-Encoding": accept, "If-None-Match": r.headers["ETag"]})
        assert again.status == 304 and again.headers["ETag"] == r.headers["ETag"]
    assert len(tags) == 3
    for accept in ("identity", "gzip;q=0", "br;q=0, gzip;q=0.0", "x-unknown", "gzip;q=0, *;q=0, identity"):
        r = server.get(article["path"], headers={"Accept-Encoding": accept})
        assert "Content-Encoding" not in r.headers and r.headers["ETag"] == plain.headers["ETag"], accept


def test_head_says_what_get_says(server, path):
    for headers in ({}, {"Accept-Encoding": "gzip"}):
        get, head = server.get(path, headers=headers), server.request("HEAD", path, headers=headers)
        changing = {"date", "x-request-id"}
        assert [(k, v) for k, v in head.headers if k.lower() not in changing] == [(k, v) for k, v in get.headers if k.lower() not in changing]
        assert head.body == b""


def test_conditions_do_not_touch_redirects_and_errors(server, article):
    every = {"If-None-Match": "*", "If-Modified-Since": date(time.time() + 10 ** 6)}
    assert server.get(article["path"] + "/", headers=every).status == 301
    assert server.get("/" + word(), headers=every).status == 404
    assert server.get("/%00", headers=every).status == 400


def test_every_public_change_changes_the_tag(server):
    a = publish(server, tags=[word()])
    paths = [a["path"], "/", "/articles"]
    before = {p: server.get(p) for p in paths}
    edit(server, a, content="Other " + word(), summary="New summary " + word())
    for p in paths:
        assert server.get(p, headers={"If-None-Match": before[p].headers["ETag"]}).status == 304, p
    move(server, a, "publish")
    for p in paths:
        r = server.get(p, headers={"If-None-Match": before[p].headers["ETag"]})
        assert r.status == 200 and r.headers["ETag"] != before[p].headers["ETag"], p


def test_list_that_lost_a_member_is_new_for_who_knows_only_the_date(make_server):
    s = make_server()
    a, b = publish(s, tags=[tag := word()]), publish(s, tags=[tag])
    s.restart(env={"STELE_CLOCK_OFFSET": "10000"})
    known = {p: s.get(p).headers["Last-Modified"] for p in ("/", "/articles", f"/tags/{tag}", "/sitemap.xml")}
    s.restart(env={"STELE_CLOCK_OFFSET": "60000"})
    move(s, a, "withdraw")
    for p, t in known.items():
        r = s.get(p, headers={"If-Modified-Since": t})
        assert r.status == 200 and a["url"].encode() not in r.body and b["url"].encode() in r.body, p


def test_other_workers_follow_a_change_at_once(make_server):
    """Each worker has its own cache; a write through one of them counts for all."""
    s = make_server(workers=4)
    a = publish(s)
    for round in range(5):
        for _ in range(12):
            assert s.get(a["path"]).status == 200
        move(s, a, "withdraw")
        assert [s.get(a["path"]).status for _ in range(12)] == [404] * 12
        move(s, a, "publish")


def test_curl_agrees(server, article):
    """A client that is not ours: the second run with its saved tag fetches nothing."""
    import os
    tags = os.path.join(server.home, "tags-" + word())
    run = ["curl", "-s", "--compressed", "--etag-save", tags, "--etag-compare", tags, "-o", os.path.join(server.home, "out"), "-w", "%{http_code}",
           server.base + article["path"]]
    open(tags, "w").close()
    assert [subprocess.run(run, capture_output=True, text=True).stdout for _ in range(2)] == ["200", "304"]
