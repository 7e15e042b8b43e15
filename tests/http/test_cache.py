"""Ready answers: never older than the last acknowledged write, the same for all who may have them, and only for public pages."""
import gzip
import http.client
import threading
import time

import pytest

LONG = "Every word of this text counts, and so does every other one. " * 40


def publish(server, title, content=LONG, **more):
    made = server.post("/api/v1/articles", body={"title": title, "content": content, "state": "published", **more})
    assert made.status == 201, made
    return made.json()


def edit(server, article, **members):
    got = server.request("PATCH", f"/api/v1/articles/{article['id']}", body=members, token=server.token, key=True,
                         headers=[("If-Match", f'"{article["version"]}"')])
    assert got.status == 200, got
    article.update(got.json())
    got = server.post(f"/api/v1/articles/{article['id']}/publish", body={})
    assert got.status == 200, got
    article.update(got.json())


def warm(server, path, **kw):
    """Until every worker has it."""
    for _ in range(12):
        answer = server.get(path, **kw)
    return answer


def hits(server):
    time.sleep(0.6)		# counters leave a worker with its next tick
    return server.metrics()["cache_hits_total"]


def test_second_request_comes_from_the_cache(server):
    path = publish(server, "Cached at once")["path"]
    first = warm(server, path)
    before = hits(server)
    for _ in range(20):
        assert server.get(path).body == first.body
    assert hits(server) - before >= 18


def test_a_change_is_seen_by_all_workers_at_once(server):
    article = publish(server, "Changing title 0")
    other = publish(server, "A bystander")
    warm(server, article["path"])
    warm(server, "/")
    bystander = warm(server, other["path"])
    for i in range(1, 6):
        edit(server, article, title=f"Changing title {i}")
        for _ in range(8):
            assert f"Changing title {i}" in server.get(article["path"]).text
            assert f"Changing title {i}" in server.get("/").text
        assert server.get(other["path"]).body == bystander.body


def test_a_page_that_was_missing_appears_at_once(server):
    for i in range(5):
        path = f"/articles/appears-at-once-{i}"
        for _ in range(6):
            assert server.get(path).status == 404
        publish(server, f"Appears at once {i}")
        for _ in range(6):
            assert server.get(path).status == 200


def test_a_withdrawn_page_is_gone_at_once(server):
    article = publish(server, "Soon withdrawn")
    warm(server, article["path"])
    assert server.post(f"/api/v1/articles/{article['id']}/withdraw", body={}).status == 200
    for _ in range(10):
        assert server.get(article["path"]).status == 404


def test_flush_forgets_everything(server):
    path = publish(server, "Flushed")["path"]
    warm(server, path)
    before = server.metrics()["cache_misses_total"]
    server.command("flush")
    warm(server, path)
    time.sleep(0.6)
    assert server.metrics()["cache_misses_total"] > before


def test_conditional_requests(server):
    path = publish(server, "Conditional")["path"]
    for encoding in (None, "gzip", "br"):
        accept = [("Accept-Encoding", encoding)] if encoding else []
        full = warm(server, path, headers=accept)
        tag, date = full.headers["ETag"], full.headers["Last-Modified"]
        for _ in range(3):
            for method in ("GET", "HEAD"):
                for condition, status in (
                        ([("If-None-Match", tag)], 304), ([("If-None-Match", f'"other", W/{tag}')], 304), ([("If-None-Match", "*")], 304),
                        ([("If-None-Match", '"other"')], 200), ([("If-None-Match", '"other"'), ("If-Modified-Since", date)], 200),
                        ([("If-Modified-Since", date)], 304), ([("If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT")], 200),
                        ([("If-Modified-Since", "yesterday")], 200)):
                    got = server.request(method, path, headers=accept + condition)
                    assert got.status == status, (method, condition)
                    for name in ("ETag", "Cache-Control", "Vary", "Date"):
                        assert name in got.headers
                    if status == 304:
                        assert got.body == b"" and "Content-Type" not in got.headers and "Content-Encoding" not in got.headers
    for _ in range(3):
        assert server.get("/no-such-page", headers=[("If-None-Match", "*")]).status == 404


def test_codings(server):
    path = publish(server, "Encoded")["path"]
    plain = warm(server, path)
    assert "Content-Encoding" not in plain.headers and plain.headers["Vary"] == "Accept-Encoding"
    zipped = warm(server, path, headers=[("Accept-Encoding", "gzip")])
    assert zipped.headers["Content-Encoding"] == "gzip" and gzip.decompress(zipped.body) == plain.body
    brotli = warm(server, path, headers=[("Accept-Encoding", "gzip, deflate, br")])
    assert brotli.headers["Content-Encoding"] == "br" and len(brotli.body) < len(plain.body)
    assert len({plain.headers["ETag"], zipped.headers["ETag"], brotli.headers["ETag"]}) == 3
    for refused in ("gzip;q=0, br;q=0", "identity", "deflate", "*;q=0", ""):
        got = server.get(path, headers=[("Accept-Encoding", refused)])
        assert "Content-Encoding" not in got.headers and got.body == plain.body


def test_credentials_and_cookies_change_nothing_on_public_pages(server):
    path = publish(server, "For everybody")["path"]
    plain = warm(server, path)
    for headers in ([("Cookie", "stele=x")], [("Authorization", f"Bearer {server.token}")], [("Authorization", "Basic eDp5")]):
        got = server.get(path, headers=headers)
        assert got.body == plain.body and got.headers["Cache-Control"] == plain.headers["Cache-Control"]


def test_the_api_is_never_kept(server):
    article = publish(server, "Read by the API")
    for _ in range(3):
        for path in ("/api/v1/articles", f"/api/v1/articles/{article['id']}"):
            got = server.get(path, token=server.token)
            assert got.status == 200
            assert got.headers["Cache-Control"] == "private, no-store"
    before = hits(server)
    for _ in range(20):
        server.get(f"/api/v1/articles/{article['id']}")
    assert hits(server) == before


def test_unknown_parameters_do_not_fill_the_cache(server):
    path = publish(server, "Campaign")["path"]
    plain = warm(server, path)
    for i in range(20):
        got = server.get(f"{path}?utm_source={i}")
        assert (got.status, got.body) == (200, plain.body)


def test_other_hosts_get_nothing_from_the_cache(server):
    path = publish(server, "Only here")["path"]
    warm(server, path)
    for _ in range(5):
        assert server.get(path, headers=[("Host", "evil.example")]).status == 421
        assert server.get(path).status == 200


def test_many_who_ask_at_once_are_all_served(server):
    """Misses for one page share one rendering; each gets the whole answer, with or without conditions."""
    article = publish(server, "Asked for by many", "z" * 200000)
    for round_ in range(5):
        edit(server, article, title=f"Asked for by many {round_}")
        results = []

        def ask(i):
            headers = [("If-None-Match", '"x"')] if i % 3 == 0 else []
            got = server.request("HEAD" if i % 5 == 0 else "GET", article["path"], headers=headers)
            results.append((i, got))

        crowd = [threading.Thread(target=ask, args=(i,)) for i in range(60)]
        for t in crowd:
            t.start()
        for t in crowd:
            t.join()
        assert len(results) == 60
        for i, got in results:
            assert got.status == 200
            assert (got.body == b"") == (i % 5 == 0)
            assert i % 5 == 0 or f"Asked for by many {round_}" in got.text


def test_reads_and_writes_at_once_never_show_an_old_page(server):
    """Whoever reads after a write was acknowledged sees it, whichever worker answers."""
    article = publish(server, "Version 0")
    acknowledged, stop, wrong = [0], threading.Event(), []

    def read():
        conn = http.client.HTTPConnection(server.host, server.port, timeout=20)
        while not stop.is_set():
            least = acknowledged[0]
            conn.request("GET", article["path"])
            text = conn.getresponse().read().decode()
            seen = int(text.split("<h1")[1].split("Version ")[1].split("<")[0])
            if seen < least:
                wrong.append((least, seen))
        conn.close()

    crowd = [threading.Thread(target=read) for _ in range(6)]
    for t in crowd:
        t.start()
    for i in range(1, 60):
        edit(server, article, title=f"Version {i}")
        acknowledged[0] = i
    stop.set()
    for t in crowd:
        t.join()
    assert wrong == []


def test_a_change_without_a_bump_is_found(make_server):
    """The writer dies between COMMIT and telling the caches: the log of changes makes up for it."""
    server = make_server(workers=2)
    article = publish(server, "Before the crash")
    warm(server, article["path"])
    server.restart(env={"STELE_FAULT": "post_commit:kill:2"})
    warm(server, article["path"])
    with pytest.raises((http.client.HTTPException, OSError, AssertionError)):
        for i in range(4):
            edit(server, article, title=f"After the crash {i}")
    deadline = time.monotonic() + 10
    while len(server.log_events("worker.started")) < 5:
        assert time.monotonic() < deadline, "no worker died"
        time.sleep(0.05)
    while time.monotonic() < deadline:
        title = server.value("SELECT live_title FROM resource WHERE uid = ?", article["id"])
        try:
            if all(title in server.get(article["path"]).text for _ in range(6)):
                break
        except (http.client.HTTPException, OSError):
            pass
        time.sleep(0.1)
    else:
        raise AssertionError("still old")


def test_assets_carry_the_theme_in_their_name(server):
    page = server.get("/").text
    address = page.split('rel="stylesheet" href="')[1].split('"')[0].replace(server.base, "")
    got = server.get(address)
    assert got.status == 200 and got.headers["Content-Type"].startswith("text/css")
    assert "immutable" in got.headers["Cache-Control"] and "ETag" in got.headers and "Last-Modified" in got.headers
    old = address.rsplit("-", 1)[0] + "-0123456789abcdef.css"
    got = server.get(old)
    assert got.status == 200 and "immutable" not in got.headers["Cache-Control"]
    for bad in ("/assets/", "/assets/none.css", "/assets/..%2Fstele.conf", "/assets/.hidden.css", "/assets/theme.mustache", "/assets/a%00.css"):
        assert server.get(bad).status in (400, 404), bad
