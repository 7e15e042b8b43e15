"""Faults that systems like this one had: lines of the list that need more than one request, a race or a whole family of inputs. test_faults.py has the others."""
import datetime
import re
import sqlite3
import subprocess

import pytest

import stele
from site_pages import edit, move, page, publish, resource_id, wait_for, word
from stele import ROOT, new_key
from test_moves import answer, create, step, topics
from test_races import writes_wait
from test_redirects import hop, make, patch as patch_redirect

ARTICLES = "/api/v1/articles"
WRITES = re.findall(r'^WRITE\(\w+, "(\w+)", "([^"]+)", (\w+)', (ROOT / "app/core/writes.def").read_text(), re.M)


def json_of(server, made, kind="articles"):
    return server.get(f"/api/v1/{kind}/{made['id']}", token=server.token).json()


# B. Slugs


@pytest.mark.parametrize("way", ["patch", "put", "schedule", "bulk", "revert", "duplicate title"])
def test_f28_no_other_way_of_writing_touches_the_slug(server, way):
    """A slug that was given stays, whatever else is written and however the title changes."""
    slug = word()
    a = create(server, slug=slug, state="draft", title="First title")
    at = f"{ARTICLES}/{a['id']}"
    if way == "patch":
        r = server.request("PATCH", at, {"title": "Other title"}, token=server.token, headers={"If-Match": '"1"'})
    elif way == "put":
        r = server.request("PUT", at, {"title": "Other title", "content": "c"}, token=server.token, headers={"If-Match": '"1"'})
    elif way == "schedule":
        r = server.post(f"{at}/schedule", {"publish_at": "2099-01-01T00:00:00Z"})
    elif way == "bulk":
        r = server.post(f"{ARTICLES}/bulk", {"action": "publish", "ids": [a["id"]]})
    elif way == "revert":
        assert server.request("PATCH", at, {"title": "Other title", "slug": slug + "-2"}, token=server.token, headers={"If-Match": '"1"'}).status == 200
        r, slug = server.post(f"{at}/revisions/1/restore", headers={"If-Match": '"2"'}), slug + "-2"
    else:
        create(server, title=slug)
        r = server.get(at, token=server.token)
    assert r.status == 200, r
    assert json_of(server, a)["path"] == f"/articles/{slug}"
    assert server.value("SELECT count(*) FROM path WHERE resource_id = ?", resource_id(server, a)) == 1


RESERVED = re.findall(r'^RESERVED\("([^"]+)", (\w+)', (ROOT / "app/core/reserved.def").read_text(), re.M)


def spellings_of_reserved_names():
    """In capitals, with escapes, with a slash too many, with something behind, as a whole URL."""
    for name, extent in RESERVED:
        yield from (f"/{name}", f"/{name.upper()}", f"/%{ord(name[0]):02x}{name[1:]}", f"/{name}//", f"/x/../{name}")
        if extent != "EXACT":
            yield f"/{name}x" if extent == "PREFIX" else f"/{name}/x"


def assert_no_row_has_a_reserved_name(server):
    firsts = {r[0].lower().split("/")[1] for table, column in (("path", "fold"), ("path_query", "path"), ("path_rule", "pattern"))
              for r in server.sql(f"SELECT DISTINCT {column} FROM {table}")}
    for name, extent in RESERVED:
        assert extent == "EXACT" or not [f for f in firsts if (f.startswith(name) if extent == "PREFIX" else f == name)], name
        assert extent != "EXACT" or server.value("SELECT count(*) FROM path WHERE fold = ?", f"/{name}") == 0


@pytest.mark.parametrize("entrance", ["move of a page", "move of an article", "redirect", "rule", "pairs"])
def test_f19_no_entrance_stores_a_path_under_a_name_of_the_system(server, entrance):
    a = create(server, "pages" if entrance == "move of a page" else "articles")
    assert len(RESERVED) > 10
    for path in spellings_of_reserved_names():
        if entrance.startswith("move"):
            r = server.post(f"/api/v1/{a['kind']}s/{a['id']}/move", {"path": path})
        else:
            end = {"redirect": "", "rule": "/*", "pairs": "?p=1"}[entrance]
            if entrance == "rule" and path.rstrip("/").rsplit("/", 1)[-1].lower().replace("%61", "a").replace("%74", "t") in ("articles", "tags", "authors"):
                continue            # what lies below a list is free
            r = server.post("/api/v1/redirects", {"source": path + end, "target": "/"})
        assert r.status == 422 and r.json()["code"] == "reserved", (path, r)
    assert_no_row_has_a_reserved_name(server)


def test_f19_a_file_of_redirects_stores_no_name_of_the_system(make_server):
    s = make_server()
    sources = list(spellings_of_reserved_names())
    r = s.request("POST", "/api/v1/redirects/import", "/fine,/articles\n" + "".join(f"{p},/articles\n" for p in sources), token=s.token, key=new_key(),
                  headers={"Content-Type": "text/csv"})
    wait_for(lambda: s.get(r.headers["Location"], token=s.token).json()["status"] == "FAILED", 20)
    lines = s.get(r.headers["Location"] + "/report?limit=500", token=s.token).json()["items"]
    told = {line["number"] for line in lines if line["result"] == "failed"}
    assert told == set(range(2, len(sources) + 2)), sorted(set(range(2, len(sources) + 2)) - told)
    assert s.value("SELECT count(*) FROM path WHERE role <> 'canonical'") == 0


# C. Redirects: loops, chains, precedence


def test_f33_two_rules_that_would_lead_to_each_other_when_both_were_checked_before_either_was_stored(make_server):
    s = make_server(workers=1)
    a, b = word(), word()
    with writes_wait(s) as (send, answers):
        send("POST", "/api/v1/redirects", {"source": f"/{a}/*", "target": f"/{b}/*"}, key=True)
        send("POST", "/api/v1/redirects", {"source": f"/{b}/*", "target": f"/{a}/*"}, key=True)
    statuses = sorted(r.status for r in answers)
    assert statuses[0] == 201 and statuses[1] in (409, 422, 503), answers
    assert s.value("SELECT count(*) FROM path_rule") == 1
    assert hop(s, f"/{a}/x") == hop(s, f"/{b}/x") == (404, None)


def test_f33_two_rows_that_are_turned_round_at_the_same_time(make_server):
    """/x -> /articles and /y -> /tags; both are then told to lead to the other."""
    s = make_server(workers=1)
    x, y = make(s, "/x", "/articles"), make(s, "/y", "/tags")
    publish(s, tags=["t"])
    with writes_wait(s) as (send, answers):
        send("PATCH", f"/api/v1/redirects/{x['id']}", {"target": "/y"}, headers={"If-Match": '"1"'})
        send("PATCH", f"/api/v1/redirects/{y['id']}", {"target": "/x"}, headers={"If-Match": '"1"'})
    assert {r.status for r in answers} <= {200, 409, 412, 422, 503}
    for path in ("/x", "/y"):
        status, location = hop(s, path)
        assert status == 301 and s.get(location[len(s.base):]).status == 200, (path, location)


def test_f33_a_row_never_leads_to_a_path_that_another_row_takes_away_meanwhile(make_server):
    """A target that was an address when it was checked and is a redirect's source when it is stored."""
    s = make_server(workers=1)
    draft = create(s, state="draft", slug="first")
    with writes_wait(s) as (send, answers):
        send("PATCH", f"{ARTICLES}/{draft['id']}", {"slug": "second"}, headers={"If-Match": '"1"'})
        send("POST", "/api/v1/redirects", {"source": "/articles/first", "target": "/articles/first-was"}, key=True)
        send("POST", "/api/v1/redirects", {"source": "/old", "target": "/articles/first"}, key=True)
    assert answers[0].status == 200
    step(s, draft, "publish")
    for path in [r[0] for r in s.sql("SELECT path FROM path WHERE role <> 'canonical'")]:
        status, location = hop(s, path)
        assert status == 301 and location == f"{s.base}/articles/second", (path, status, location)


def test_f48_a_draft_that_is_removed_while_a_redirect_to_it_is_made(make_server):
    """Either the redirect stands and answers, or it was refused: never a row that leads to nothing."""
    s = make_server(workers=1)
    draft = create(s, state="draft")
    with writes_wait(s) as (send, answers):
        send("DELETE", f"{ARTICLES}/{draft['id']}", headers={"If-Match": '"1"'})
        send("POST", "/api/v1/redirects", {"source": "/to-nothing", "target": draft["id"]}, key=True)
    assert answers[0].status == 200 and answers[1].status in (201, 404, 409, 422, 503), answers
    assert s.value("SELECT count(*) FROM pragma_foreign_key_check") == 0
    # Were they written in the other order, what was led to is gone and says so.
    stands = answers[1].status == 201
    assert s.value("SELECT count(*) FROM path WHERE path = '/to-nothing'") == stands and hop(s, "/to-nothing") == (410 if stands else 404, None)


@pytest.mark.parametrize("state", ["published", "withdrawn", "rescheduled"])
def test_f37_f38_an_address_that_was_public_is_changed_by_a_move_alone(server, state):
    """Saving, saving and publishing, going back to a revision, a step for many: none changes the address; the one way that does leaves a 301."""
    a = publish(server, kind="pages")
    parent = create(server, "pages")
    if state != "published":
        move(server, a, "withdraw")
    if state == "rescheduled":
        step(server, a, "schedule", {"publish_at": "2099-01-01T00:00:00Z"}, kind="pages")
    at = f"/api/v1/pages/{a['id']}"
    rows = server.sql("SELECT * FROM path WHERE resource_id = ?", resource_id(server, a))
    for method, body in (("PATCH", {"slug": word()}), ("PATCH", {"slug": word(), "title": "With more"}), ("PATCH", {"parent": parent["id"]}),
                         ("PUT", {"title": "t", "content": "c", "slug": word()}), ("PUT", {"title": "t", "content": "c", "parent": parent["id"]})):
        version = json_of(server, a, "pages")["version"]
        r = server.request(method, at, body, token=server.token, headers={"If-Match": f'"{version}"'})
        assert r.status in (409, 422), (method, body, r)
        assert json_of(server, a, "pages")["version"] == version, "refused as a whole"
    edit(server, a, title="Saved under another title")
    server.post(f"{at}/revisions/1/restore", headers={"If-Match": "*"})
    server.post("/api/v1/pages/bulk", {"action": "publish", "ids": [a["id"]]})
    assert [tuple(r)[:6] for r in server.sql("SELECT * FROM path WHERE resource_id = ?", resource_id(server, a))] == [tuple(r)[:6] for r in rows]
    assert answer(server, a["path"]) == (200, None)
    moved = step(server, a, "move", {"slug": word()}, kind="pages")
    assert answer(server, a["path"]) == (301, moved["url"]) and answer(server, moved["path"]) == (200, None)


@pytest.mark.parametrize("source", ["/", "//", "/.", "/%2e", "/x/..", "/%2E%2E/", "{base}", "{base}/", "/?", "/#top", "/*", "{base}/*", "/x/../*"])
def test_f40_the_home_page_and_everything_are_no_source_however_they_are_spelled(server, source):
    a = publish(server)
    before = server.value("SELECT (SELECT count(*) FROM path) + (SELECT count(*) FROM path_query) + (SELECT count(*) FROM path_rule)")
    r = server.post("/api/v1/redirects", {"source": source.replace("{base}", server.base), "target": a["path"]})
    assert r.status == 422 and [e["field"] for e in r.json()["errors"]] == ["source"], r
    assert server.value("SELECT (SELECT count(*) FROM path) + (SELECT count(*) FROM path_query) + (SELECT count(*) FROM path_rule)") == before
    assert server.get("/").status == 200


def test_f40_a_source_is_that_path_and_nothing_that_begins_like_it(server):
    a, w = publish(server), word()
    make(server, f"/{w}", a["path"])
    for path in (f"/{w}x", f"/{w}/x", f"/x{w}", f"/x/{w}", f"/{w}%2Fx", f"/{w[:-1]}", f"/{w}.html"):
        assert hop(server, path) == (404, None), path


def test_f42_pairs_of_a_query_close_no_circle(server):
    w, a = word(), publish(server)
    for source, target in ((f"/{w}?p=1", f"/{w}?p=1"), (f"/{w}?p=1", f"/{w}"), (f"/?{w}=1", f"/?{w}=1"), (f"/{w}?b=2&a=1", f"/{w}?a=1&b=2"),
                           (f"/{w}?a=1", f"/{w.upper()}/?a=1&b=2")):
        r = server.post("/api/v1/redirects", {"source": source, "target": target})
        # What is left of a source without its pairs may be a page, the home page for one: then that is where it ends.
        assert r.status == 422 or hop(server, source)[1] == server.base + "/", (source, target, r)
    # The own address of a page with pairs: they are taken off, all of them, and that is one hop.
    make(server, f"{a['path']}?amp=1", a["path"])
    for query in ("amp=1", "amp=1&amp=1", "amp=1&x=y&amp=1", "x=y&amp=1"):
        status, location = hop(server, f"{a['path']}?{query}")
        assert status == 301 and location.split("?")[0] == a["url"]
        assert hop(server, location[len(server.base):]) == (200, None), (query, location)


@pytest.mark.parametrize("query", ["", "?", "?q=a", "?q=a&amp;b", "?page=1", "?page=2", "?p=1", "?utm_source=x&p=1", "?%70=1", "?x=%2F..%2F"])
def test_f42_every_kind_of_redirect_is_one_hop_whatever_the_query(server, query):
    w, a = word(), publish(server)
    tag = word()
    publish(server, tags=[tag])
    for source, target in ((f"/{w}-a", a["path"]), (f"/{w}-b?p=1", a["path"]), (f"/{w}-c/:slug", "/articles/:slug"), (f"/{w}-d/*", "/articles/*"),
                           (f"/{w}-e", "/articles"), (f"/{w}-f", f"/tags/{tag}"), (f"/{w}-g", f"/{w}-a"), (f"/{w}-h", "/")):
        make(server, source, target)
        path = source.split("?")[0].replace(":slug", a["slug"]).replace("*", a["slug"])
        status, location = hop(server, path + query)
        if status == 404:
            # Its pairs are not there, or the list has no second page.
            assert (source.endswith("?p=1") and "p=1" not in query.replace("%70", "p")) or ("page=2" in query and source.endswith("-f")), (source, query)
            continue
        assert status == 301 and location.startswith(server.base + "/"), (source, query)
        then = hop(server, location[len(server.base):])
        # A number of a page beyond the end of a list is not there; nothing is redirected twice.
        assert then == (200, None) or (then == (404, None) and "page=" in query), (source, query, location, then)


def test_f45_what_is_nowhere_is_404_under_every_name_and_never_a_way_home(make_server):
    s = make_server(base_url="https://words.example", config="trusted_proxies = 127.0.0.1\naliases = www.words.example old.example\nadmin_origin = https://edit.words.example\n")
    for host in ("words.example", "www.words.example", "old.example", "edit.words.example"):
        for path in ("/nothing", "/articles/nothing", "/tags/nothing/", "/NOTHING?x=1", "/sitemap-99.xml", "/media/none.png", "/page/2"):
            for proto in ("https", "http"):
                r = s.get(path, headers=[("Host", host), ("X-Forwarded-Proto", proto)])
                hops = 0
                while r.status in (301, 308) and hops < 3:
                    location = r.headers["Location"]
                    assert location.startswith("https://words.example/") and location != "https://words.example/"
                    r, hops = s.get(location[len("https://words.example"):], headers=[("Host", "words.example"), ("X-Forwarded-Proto", "https")]), hops + 1
                assert r.status == 404 and hops <= 1, (host, path, proto, r)


def test_f51_what_leads_to_a_page_follows_all_its_moves_in_one_hop(server):
    """A row, a row with pairs, a rule and a row to its old address, through three moves and one back."""
    a, w = publish(server), word()
    made = [make(server, f"/{w}", a["path"]), make(server, f"/{w}?p=1", a["path"]), make(server, f"/{w}/*", a["id"])]
    slugs = [word(), word(), a["slug"], word()]
    for n, slug in enumerate(slugs):
        moved = step(server, a, "move", {"slug": slug})
        made.append(make(server, f"/{w}-{n}", a["path"] if n != 2 else f"/articles/{slugs[0]}"))
        for m in made:
            assert hop(server, m["source"].replace("*", "x")) == (301, moved["url"])
            assert server.get(f"/api/v1/redirects/{m['id']}", token=server.token).json()["target"] == moved["url"]


@pytest.mark.parametrize("own", ["http://words.example./", "https://WWW.words.example./", "//old.example./", "https://words.example%2E/", "https://edit.words.example./"])
def test_f45_f59_an_own_name_with_the_dot_of_the_root_is_no_other_site(make_server, own):
    """A name server takes both for one name, so a redirect there would come back to us."""
    s = make_server(base_url="https://words.example", config="trusted_proxies = 127.0.0.1\naliases = www.words.example old.example\nadmin_origin = https://edit.words.example\n")
    at = [("Host", "edit.words.example"), ("X-Forwarded-Proto", "https")]
    a = s.post(ARTICLES, {"title": "Stone", "content": "x", "state": "published"}, headers=at).json()
    r = s.post("/api/v1/redirects", {"source": own + "old", "target": own + "articles/stone"}, headers=at)
    assert r.status == 201 and (r.json()["source"], r.json()["target"], r.json()["resource"]["id"]) == ("/old", a["url"], a["id"]), r
    r = s.post("/api/v1/redirects", {"source": "/x", "target": own + "nowhere"}, headers=at)
    assert r.status == 422 and [e["field"] for e in r.json()["errors"]] == ["target"]
    other = s.post("/api/v1/redirects", {"source": "/y", "target": "https://other.test./z"}, headers=at).json()
    assert other["target"] == "https://other.test./z", "another site's name is as it was given"


def test_f59_slash_and_case_close_no_circle_where_addresses_end_in_a_slash(make_server):
    s = make_server(settings={"trailing_slash": "always"})
    a = publish(s, slug="stone")
    for source, target in (("/p", "/p/"), ("/p/", "/p"), ("/t", "/T"), ("/T/", "/t/"), ("/%70", "/p/")):
        assert s.post("/api/v1/redirects", {"source": source, "target": target}).status == 422, (source, target)
    make(s, "/p", "/articles/stone")
    for path in ("/p", "/p/", "/P", "/%70/"):
        assert hop(s, path + "?k=v") == (301, a["url"] + "?k=v") and a["url"].endswith("/")
    assert s.post("/api/v1/redirects", {"source": a["path"] + "/", "target": "/p"}).status == 409


# D. Redirects: matching, encoding, query strings


@pytest.mark.parametrize("target,location", [
    ("https://other.test/שלום", "https://other.test/%D7%A9%D7%9C%D7%95%D7%9D"), ("https://other.test/ä?q=ö#ü", "https://other.test/%C3%A4?q=%C3%B6#%C3%BC"),
    ("https://bücher.example/x", "https://xn--bcher-kva.example/x"), ("https://other.test/%d7%a9", None), ("https://other.test/a b", "https://other.test/a%20b"),
    ("https://other.test/\U0001F35F", "https://other.test/%F0%9F%8D%9F"), ('https://other.test/"<>', "https://other.test/%22%3C%3E")])
@pytest.mark.parametrize("rule", [False, True])
def test_f54_a_target_of_any_script_is_ascii_in_the_field(server, target, location, rule):
    w = word()
    r = server.post("/api/v1/redirects", {"source": f"/{w}/:x" if rule else f"/{w}", "target": target})
    assert r.status == 201, r
    out = server.raw(f"GET /{w}{'/y' if rule else ''} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nConnection: close\r\n\r\n".encode())
    head = out.split(b"\r\n\r\n")[0]
    assert head.startswith(b"HTTP/1.1 301 ") and head.isascii()
    got = re.findall(rb"(?mi)^location: ([^\r\n]*)", head)
    assert len(got) == 1 and re.fullmatch(rb"https://[!-~]+", got[0])
    assert location is None and got[0].lower() == target.encode() or got[0].decode() == location


@pytest.mark.parametrize("source,asked", [("q=a b", ["q=a%20b", "q=a+b", "q=a%20b&x=y"]), ("q=ภาษา", ["q=%E0%B8%A0%E0%B8%B2%E0%B8%A9%E0%B8%B2", "q=%e0%b8%a0%e0%b8%b2%e0%b8%a9%e0%b8%b2"]),
                                          ("q=%61", ["q=a", "%71=a", "q=%61"]), ("q=e\u0301", ["q=%C3%A9"]), ("q=a%2Fb", ["q=a/b", "q=a%2fb"]), ("q", ["q", "q="]),
                                          ("q=1&q=2", ["q=2&q=1"])])
def test_f52_f55_pairs_of_a_source_have_one_spelling_too(server, source, asked):
    w, a = word(), publish(server)
    m = make(server, f"/{w}?{source}", a["path"])
    for query in asked:
        status, location = hop(server, f"/{w}?{query}")
        assert status == 301 and location.split("?")[0] == a["url"], (m["source"], query)
    for query in ("", "q=other", "Q=a"):
        assert hop(server, f"/{w}?{query}") == (404, None), query
    for query in asked[:1]:
        assert server.post("/api/v1/redirects", {"source": f"/{w}?{query.split('&x')[0]}", "target": "/articles"}).status == 409


@pytest.mark.parametrize("bad", ["https://other.test/\r\nSet-Cookie: a=b", "https://other.test/x\n", "https://other.test/\u0000", "https://other.test/\u007f", "/articles\r\n",
                                 "https://oth\r\ner.test/", "https://other.test/\u0085x", "https://other.test/\u2028x"])
def test_f54_no_target_ends_the_field(server, bad):
    """Refused by its name, or harmless in the field: one Location, nothing behind it."""
    w = word()
    r = server.post("/api/v1/redirects", {"source": f"/{w}", "target": bad})
    if r.status == 201:
        head = server.raw(f"GET /{w} HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nConnection: close\r\n\r\n".encode()).split(b"\r\n\r\n")[0]
        assert re.fullmatch(rb"https://other\.test/[!-~]*", re.findall(rb"(?mi)^location: (.*)\r$", head + b"\r\n", re.M)[0]) and b"ookie" not in head
        assert "\r" not in bad and "\n" not in bad and "\0" not in bad
    else:
        assert r.status == 422 and [e["field"] for e in r.json()["errors"]] == ["target"], r


@pytest.mark.parametrize("typed,filled", [("a%26b=c", "a%26b%3Dc"), ("a&admin=1", "a%26admin%3D1"), ("a+b", "a%2Bb"), ("a%2Bb", "a%2Bb"), ("a;b", "a%3Bb"), ("a%23b", "a%23b"),
                                          ("a%3Fb", "a%3Fb"), ("%C3%BC", "%C3%BC"), (":x", ":x"), ("*", "*"), ("a%25b", "a%25b")])
def test_f54_what_a_visitor_types_stays_one_value_of_the_query(server, typed, filled):
    """A segment that a rule puts into the query of another site neither adds a pair there nor ends the value."""
    w = word()
    make(server, f"/{w}/:x", "https://other.test/find?q=:x&lang=en#:x")
    make(server, f"/{w}/all/*", "https://other.test/?path=*")
    status, location = hop(server, f"/{w}/{typed}")
    assert status == 301 and location.split("#")[0] == f"https://other.test/find?q={filled}&lang=en", location
    assert hop(server, f"/{w}/all/{typed}/z") == (301, f"https://other.test/?path={filled}/z")


def test_f54_a_page_of_any_script_is_ascii_in_every_redirect_to_it(server):
    for title in ("ภาษาไทย", "שלום עולם", "天地人", "Ærø ýmir"):
        a, w = publish(server, f"{title} {word()}"), word()
        make(server, f"/{w}", a["path"])
        make(server, f"/{w}/*", a["id"])
        for path in (f"/{w}", f"/{w}/x", a["path"] + "/", a["path"].lower().replace("/articles", "/ARTICLES")):
            status, location = hop(server, path)
            assert (status, location) == (301, a["url"]) and location.isascii(), path


@pytest.mark.parametrize("how", ["redirect", "rule", "pairs", "deleted"])
def test_f64_gone_says_so_with_a_small_page_and_no_way_on(server, how):
    w = word()
    path = f"/{w}"
    if how == "deleted":
        a = publish(server)
        path = a["path"]
        assert server.request("DELETE", f"{ARTICLES}/{a['id']}", token=server.token, headers={"If-Match": '"1"'}).status == 200
    elif how == "pairs":
        a = publish(server)
        make(server, f"/{w}?p=1", a["path"])
        path += "?p=1"
        assert server.request("DELETE", f"{ARTICLES}/{a['id']}", token=server.token, headers={"If-Match": '"1"'}).status == 200
    else:
        make(server, f"/{w}/*" if how == "rule" else f"/{w}", status=410)
        path += "/x" if how == "rule" else ""
    for method in ("GET", "HEAD"):
        r = server.request(method, path)
        assert r.status == 410 and "Location" not in r.headers and "Refresh" not in r.headers
        assert r.headers["Content-Type"] == "text/html; charset=utf-8" and 0 < int(r.headers["Content-Length"]) < 20000
    p = page(server, path, 410)
    assert p.meta("robots") == ["noindex"] or "noindex" in (p.response.headers.get("X-Robots-Tag") or "")
    assert not p.links("canonical") and "http-equiv" not in p.response.text


@pytest.mark.parametrize("origin", ["https://words.example/blog", "https://words.example/a/b/", "https://words.example/?x=1", "https://words.example#top", "https://user@words.example",
                                    "words.example", "ftp://words.example", "https://"])
def test_f65_an_origin_with_a_path_is_refused_at_the_start(make_server, origin):
    """There is no prefix to strip in two places: the site lives at the root of its origin."""
    s = make_server(start=False)
    run = subprocess.run([str(stele.STELE), "serve", "--data", s.data, "--listen", f"127.0.0.1:{s.port}", "--base-url", origin], capture_output=True, text=True, timeout=20,
                         cwd=s.home)
    assert run.returncode == 2 and "--base-url" in run.stderr and "origin" in run.stderr, run
    assert s.value("SELECT count(*) FROM resource") == 0


TEXTS = {"articles": ("title", "slug", "content", "summary", "author", "locale", "client_ref"), "pages": ("title", "slug", "parent"), "tags": ("title", "slug"),
         "authors": ("title", "slug"), "redirects": ("source", "target", "note")}


@pytest.mark.parametrize("nul", ["%00", "a%00b", "%2500", "%c0%80"])
def test_f61_a_null_byte_in_any_address_of_the_api_finds_nothing_and_breaks_nothing(server, nul):
    gets = re.findall(r'^ROUTE\(GET, "([^"]+)"', (ROOT / "app/http/routes.def").read_text(), re.M)
    for route in gets:
        if "{" in route:
            r = server.get(re.sub(r"\{\w+\}", nul, route), token=server.token)
            assert r.status in (400, 404), (route, r)
    for query in ("state", "tag", "author", "locale", "changed_since", "sort", "limit", "cursor"):
        r = server.get(f"{ARTICLES}?{query}={nul}", token=server.token)
        assert r.status in (200, 400, 422), (query, r)
        assert r.status != 200 or r.json()["items"] == [], query
    for query in ("source", "match", "status", "resource", "cursor", "limit"):
        assert server.get(f"/api/v1/redirects?{query}={nul}", token=server.token).status in (200, 400, 422), query
    for path in (f"/{nul}", f"/articles/{nul}", f"/tags/x{nul}", f"/?p={nul}", f"/articles?page={nul}"):
        assert server.get(path).status in ((200,) if path.startswith("/?p=") else (400, 404)), path


@pytest.mark.parametrize("kind,member", [(kind, member) for kind, members in TEXTS.items() for member in members])
def test_f61_a_null_byte_in_any_member_is_refused_before_anything_is_stored(server, kind, member):
    before = server.value("SELECT (SELECT count(*) FROM resource) + (SELECT count(*) FROM path)")
    body = {"source": "/" + word(), "target": "/articles"} if kind == "redirects" else {"title": word()}
    key = new_key()
    for text in ("a\0b", "\0"):
        r = server.post(f"/api/v1/{kind}", {**body, member: text}, key=key)
        assert r.status in (400, 422), r
    assert server.value("SELECT (SELECT count(*) FROM resource) + (SELECT count(*) FROM path)") == before
    assert server.value("SELECT count(*) FROM idempotency_record WHERE idempotency_key = ?", key) == 0


# H. Scheduling and time


def test_f98_the_button_and_the_timer_at_the_same_moment_publish_once(server):
    """Ten articles come due while their button is pressed again and again."""
    due = [create(server, state="scheduled", publish_at=local(1.5, 0)) for _ in range(10)]
    deadline = datetime.datetime.now() + datetime.timedelta(seconds=20)
    while any(json_of(server, a)["publish_at"] for a in due) and datetime.datetime.now() < deadline:
        for a in due[::2]:
            if answer(server, a["path"])[0] == 200 or datetime.datetime.now(datetime.timezone.utc).isoformat() > a["publish_at"]:
                assert server.post(f"{ARTICLES}/{a['id']}/publish").status == 200
    for a in due:
        wait_for(lambda: answer(server, a["path"]) == (200, None), 20)
        now = json_of(server, a)
        assert (now["state"], now["publish_at"], now["version"]) == ("published", None, 2)
        assert topics(server, a).count("resource.published") == 1
        assert server.value("SELECT count(*) FROM sitemap_entry WHERE path = ?", a["path"]) == 1


def local(seconds, hours):
    """An instant so many seconds from now, as a clock shows it that is so many hours ahead of UTC."""
    at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)
    return at.astimezone(datetime.timezone(datetime.timedelta(hours=hours))).isoformat(timespec="milliseconds")


@pytest.mark.parametrize("hours", [-11, 5.5, 14])
def test_f101_an_instant_is_the_same_wherever_its_clock_hangs(server, hours):
    """Two seconds from now is two seconds from now, though one clock shows tomorrow and another yesterday."""
    scheduled = create(server, state="scheduled", publish_at=local(2, hours))
    draft = create(server, state="draft")
    stepped = step(server, draft, "schedule", {"publish_at": local(2, hours)})
    for a in (scheduled, stepped):
        assert a["state"] == "scheduled" and a["publish_at"].endswith("Z")
        wait_for(lambda: answer(server, a["path"]) == (200, None), 20)
        now = json_of(server, a)
        assert now["published_at"] >= a["publish_at"] and now["publish_at"] is None
        assert topics(server, a).count("resource.published") == 1


@pytest.mark.parametrize("hours", [-12, 8, 14])
def test_f101_an_instant_that_is_over_is_not_the_future_because_its_clock_is_ahead(server, hours):
    draft = create(server, state="draft")
    late = local(-60, hours)
    refused = step(server, draft, "schedule", {"publish_at": late}, status=422)
    assert [e["field"] for e in refused["errors"]] == ["publish_at"]
    r = server.post(ARTICLES, {"title": word(), "state": "scheduled", "publish_at": late})
    assert r.status == 422 and [e["field"] for e in r.json()["errors"]] == ["publish_at"]
    r = server.post(ARTICLES, {"title": word(), "state": "scheduled", "publish_at": local(3600, hours)[:-6]})
    assert r.status == 422 and [e["field"] for e in r.json()["errors"]] == ["publish_at"], "without an offset it is no instant"
    assert json_of(server, draft)["version"] == 1


# I. Concurrency, ETag, revisions


def test_f102_two_editors_of_different_members_lose_nothing(server):
    """Both opened version 1. The second is told which version stands and, when it starts from that, both changes are there."""
    a = create(server, summary="old summary", content="old text", fields={"n": 1})
    at = f"{ARTICLES}/{a['id']}"
    key = new_key()
    assert server.request("PATCH", at, {"summary": "new summary"}, token=server.token, headers={"If-Match": '"1"'}).status == 200
    for method, body in (("PATCH", {"content": "new text"}), ("PUT", {"title": "t", "content": "new text"})):
        lost = server.request(method, at, body, token=server.token_b, key=key if method == "PATCH" else None, headers={"If-Match": '"1"'})
        assert (lost.status, lost.json()["code"]) == (412, "version_conflict") and '"2"' in lost.json()["detail"]
    now = server.get(at, token=server.token_b)
    assert now.headers["ETag"] == '"2"' and (now.json()["summary"], now.json()["content"]) == ("new summary", "old text")
    again = server.request("PATCH", at, {"content": "new text"}, token=server.token_b, key=key, headers={"If-Match": now.headers["ETag"]})
    assert again.status == 200 and again.headers["Idempotent-Replayed"] == "false"
    both = json_of(server, a)
    assert (both["version"], both["summary"], both["content"], both["fields"]) == (3, "new summary", "new text", {"n": 1})
    assert server.value("SELECT count(*) FROM revision WHERE resource_id = ?", resource_id(server, a)) == 3


@pytest.mark.parametrize("method,route", sorted({w[:2] for w in WRITES if w[0] in ("PUT", "PATCH", "DELETE")}))
def test_f103_no_write_of_any_route_is_blind(server, method, route):
    kind = route.split("/")[3]
    made = make(server, f"/{word()}", "/articles") if kind == "redirects" else create(server, kind)
    body = {"PATCH": {"note": "n"} if kind == "redirects" else {"title": "Blind"}, "PUT": {"title": "Blind", "content": "c"}, "DELETE": None}[method]
    tables = ("resource", "revision", "path", "outbox", "idempotency_record", "change_log")
    before = {t: server.value(f"SELECT count(*) FROM {t}") for t in tables}, server.get(route.replace("{id}", made["id"]), token=server.token).json()
    for key in (None, new_key()):
        r = server.request(method, route.replace("{id}", made["id"]), body, token=server.token, key=key)
        assert (r.status, r.json()["code"]) == (428, "precondition_required"), r
    assert ({t: server.value(f"SELECT count(*) FROM {t}") for t in tables}, server.get(route.replace("{id}", made["id"]), token=server.token).json()) == before


def test_f106_a_step_for_many_does_not_publish_what_was_written_since_the_list_was_made(server):
    """The list showed version 1 of both. One has got changes meanwhile: that row is refused, the other one is done."""
    edited, other = create(server, state="draft", content="as listed"), create(server, state="draft", content="as listed")
    live = create(server, content="as listed")
    for a in (edited, live):
        assert server.request("PATCH", f"{ARTICLES}/{a['id']}", {"content": "not ready"}, token=server.token, headers={"If-Match": '"1"'}).status == 200
    results = server.post(f"{ARTICLES}/bulk", {"action": "publish", "ids": [{"id": a["id"], "version": 1} for a in (edited, other, live)]}).json()["results"]
    assert [(r["status"], r.get("code")) for r in results] == [(412, "version_conflict"), (200, None), (412, "version_conflict")]
    assert answer(server, edited["path"]) == (404, None) and json_of(server, edited)["state"] == "draft"
    assert "as listed" in server.get(live["path"]).text and json_of(server, live)["has_unpublished_changes"] is True
    assert "as listed" in server.get(other["path"]).text
    # Withdrawing and bringing back shows what was live and nothing newer, unless it is published as it is now.
    results = server.post(f"{ARTICLES}/bulk", {"action": "withdraw", "ids": [{"id": live["id"], "version": 2}]}).json()["results"]
    assert results[0]["status"] == 200 and json_of(server, live)["content"] == "not ready"
