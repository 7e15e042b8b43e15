"""One site under several names: each address has one host, and every other name leads there in one hop."""
import pytest


@pytest.fixture(scope="module")
def site():
    import stele
    s = stele.Server(base_url="https://example.org", workers=1,
                     config="aliases = www.example.org old.example\ntrusted_proxies = 127.0.0.1\nadmin_origin = https://edit.example.org\n")
    try:
        s.start()
        made = s.post("/api/v1/articles", body={"title": "Which host", "content": "x", "state": "published"}, headers=[("Host", "edit.example.org")])
        assert made.status == 201, made
        yield s
    finally:
        s.close()


def at(site, host, path, method="GET", headers=(), **kw):
    return site.request(method, path, headers=[("Host", host), *headers], **kw)


@pytest.mark.parametrize("host", ["www.example.org", "WWW.Example.ORG", "old.example", "old.example:8080", "edit.example.org"])
def test_other_names_lead_to_the_public_one_in_one_hop(site, host):
    for path, target in (("/", "/"), ("/articles/which-host", "/articles/which-host"), ("/Articles/Which-Host/", "/articles/which-host"),
                         ("/articles//which-host?utm=1", "/articles/which-host?utm=1"), ("/robots.txt", "/robots.txt"), ("/sitemap.xml", "/sitemap.xml")):
        for method in ("GET", "HEAD"):
            got = at(site, host, path, method)
            assert (got.status, got.headers.get("Location")) == (301, "https://example.org" + target), path


def test_what_is_nowhere_is_not_moved(site):
    assert at(site, "www.example.org", "/articles/no-such-page").status == 404
    got = at(site, "www.example.org", "/", "POST")
    assert (got.status, got.headers["Allow"]) == (405, "GET, HEAD, OPTIONS")


@pytest.mark.parametrize("host", ["evil.example", "example.org.evil", "127.0.0.1", "localhost", "example.org:444"])
def test_unknown_names_are_not_answered_for(site, host):
    for path in ("/", "/articles/which-host", "/robots.txt", "/api/v1/articles"):
        assert at(site, host, path).status == 421
    for path in ("/healthz", "/readyz", "/metrics"):
        assert at(site, host, path).status == 200


def test_the_api_lives_at_its_own_origin(site):
    assert at(site, "edit.example.org", "/api/v1/articles").status == 200
    for host in ("example.org", "www.example.org"):
        got = at(site, host, "/api/v1/articles?limit=1")
        assert (got.status, got.headers["Location"]) == (301, "https://edit.example.org/api/v1/articles?limit=1")
        got = at(site, host, "/api/v1/articles", "POST", body={"title": "t", "content": "c"}, token=site.token, key=True)
        assert (got.status, got.headers["Location"]) == (308, "https://edit.example.org/api/v1/articles")
    assert site.value("SELECT count(*) FROM resource WHERE kind = 'article'") == 1


def test_plain_http_behind_the_proxy_moves_to_https(site):
    for _ in range(3):
        assert at(site, "example.org", "/articles/which-host").status == 200
        got = at(site, "example.org", "/articles/which-host", headers=[("X-Forwarded-Proto", "http")])
        assert (got.status, got.headers["Location"]) == (301, "https://example.org/articles/which-host")
        assert at(site, "example.org", "/articles/which-host", headers=[("X-Forwarded-Proto", "https")]).status == 200
    assert at(site, "127.0.0.1", "/", headers=[("X-Forwarded-Host", "example.org"), ("X-Forwarded-Proto", "https")]).status == 200


def test_others_cannot_choose_the_host(make_server):
    server = make_server(workers=1)
    for headers in ([("X-Forwarded-Host", "evil.example")], [("X-Forwarded-Proto", "http")], [("Forwarded", "host=evil.example")],
                    [("X-Host", "evil.example")], [("X-Original-URL", "/admin")]):
        got = server.get("/", headers=headers)
        assert got.status == 200 and "evil.example" not in got.text + repr(got.headers)
