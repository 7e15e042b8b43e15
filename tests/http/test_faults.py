"""Faults that systems like this one had, each asked of ours with an input of its own. The numbers are those of the list of faults."""
import concurrent.futures
import datetime
import gzip
import re
import socket
import subprocess
import threading
import time
import urllib.robotparser

import html5lib
import pytest
from test_import import HEAD, TAIL, assert_sitemap_is_sound, counts, export, item, run
from test_sitemap import jump_to_id

import stele
from site_pages import alias, edit, locs, move, page, path_of, publish, resource_id, wait_for, word, write_rows
from stele import new_key

ARTICLES = "/api/v1/articles"
KINDS = ("articles", "pages", "tags", "authors")


def create(server, kind="articles", **members):
    r = server.post(f"/api/v1/{kind}", {"title": word(), **members})
    assert r.status == 201, r
    return r.json()


def patch(server, resource, body, key=None, version=None):
    return server.request("PATCH", f"/api/v1/{resource['kind']}s/{resource['id']}", body, token=server.token, key=key,
                          headers={"If-Match": f'"{version or resource["version"]}"'})


def at_once(count, work):
    barrier = threading.Barrier(count)

    def one(n):
        barrier.wait()
        return work(n)

    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return list(pool.map(one, range(count)))


def events(server, resource, topic):
    return server.value("SELECT count(*) FROM outbox WHERE aggregate_id = ? AND topic = ?", resource_id(server, resource), topic)


# A. Duplicates


def test_f01_publish_pressed_many_times(server):
    a, key = create(server), new_key()
    answers = at_once(6, lambda _: server.post(f"{ARTICLES}/{a['id']}/publish", key=key))
    assert {r.status for r in answers} == {200} and len({r.body for r in answers}) == 1
    assert sorted(r.headers["Idempotent-Replayed"] for r in answers) == ["false"] + ["true"] * 5
    assert events(server, a, "resource.published") == 1


def test_f02_reply_of_a_withdrawal_is_lost(server):
    a, key = publish(server), new_key()
    with server.connect() as s:
        s.sendall((f"POST {ARTICLES}/{a['id']}/withdraw HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nContent-Length: 0\r\n"
                   f"Authorization: Bearer {server.token}\r\nIdempotency-Key: {key}\r\n\r\n").encode())
        # Closed with a reset before anything of the answer was read.
        s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    wait_for(lambda: server.get(a["path"]).status == 404)
    r = server.post(f"{ARTICLES}/{a['id']}/withdraw", key=key)
    assert r.status == 200 and r.headers["Idempotent-Replayed"] == "true" and r.json()["state"] == "withdrawn"
    assert events(server, a, "resource.withdrawn") == 1


def test_f03_key_outlives_a_restart(make_server):
    s = make_server()
    t, key = create(s, "tags"), new_key()
    first = patch(s, t, {"title": "Renamed"}, key)
    assert first.status == 200
    s.restart(env={"STELE_CLOCK_OFFSET": str(3600 * 1000)})
    again = patch(s, t, {"title": "Renamed"}, key)
    assert (again.status, again.headers["Idempotent-Replayed"], again.body) == (200, "true", first.body)
    assert s.value("SELECT edit_version FROM resource WHERE uid = ?", t["id"]) == 2


@pytest.mark.parametrize("kind", KINDS)
def test_f05_same_key_is_the_same_resource_of_every_kind(server, kind):
    body, key = {"title": word()}, new_key()
    before = server.value("SELECT count(*) FROM resource WHERE kind = ?", kind[:-1])
    first, again = (server.post(f"/api/v1/{kind}", body, key=key) for _ in range(2))
    assert (first.status, again.status) == (201, 200) and again.body == first.body
    assert again.headers["Location"] == first.headers["Location"]
    assert server.value("SELECT count(*) FROM resource WHERE kind = ?", kind[:-1]) == before + 1


def test_f06_key_of_another_body_and_of_another_person(server):
    key, one, two = new_key(), {"title": word()}, {"title": word()}
    assert server.post("/api/v1/pages", one, key=key).status == 201
    r = server.post("/api/v1/pages", two, key=key)
    assert r.status == 409 and r.json()["code"] == "idempotency_key_conflict"
    assert server.value("SELECT count(*) FROM resource WHERE slug = ?", two["title"]) == 0
    assert server.post("/api/v1/pages", two, key=key, token=server.token_b).status == 201


def test_f07_second_edit_while_the_first_is_in_flight(server):
    a, key = create(server), new_key()
    answers = at_once(8, lambda _: patch(server, a, {"title": "Twice"}, key))
    assert {r.status for r in answers} == {200} and len({r.body for r in answers}) == 1
    assert server.value("SELECT edit_version FROM resource WHERE uid = ?", a["id"]) == 2
    assert server.value("SELECT count(*) FROM revision WHERE resource_id = ?", resource_id(server, a)) == 2


def test_f08_two_programs_without_a_browser(server, tmp_path):
    title, key = word(), new_key()
    argv = ["curl", "-s", "-D", "-", "-o", "/dev/null", f"{server.base}/api/v1/pages", "-H", f"Authorization: Bearer {server.token}",
            "-H", f"Idempotency-Key: {key}", "-H", "Content-Type: application/json", "-d", f'{{"title": "{title}", "state": "published"}}']
    running = [subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    heads = [p.communicate()[0] for p in running]
    assert sorted(h.split()[1] for h in heads) == ["200", "200", "201"]
    assert len({re.search(r"(?i)^location: (\S+)", h, re.M)[1] for h in heads}) == 1
    assert server.value("SELECT count(*) FROM resource WHERE slug LIKE ?", title + "%") == 1


@pytest.mark.parametrize("step,state", [("publish", "published"), ("withdraw", "withdrawn")])
def test_f11_server_dies_between_commit_and_reply_of_a_move(make_server, step, state):
    s = make_server(workers=1)
    a, key = (create if step == "publish" else publish)(s), new_key()
    s.restart(env={"STELE_FAULT": "post_commit:kill"})
    with pytest.raises(OSError):
        s.post(f"{ARTICLES}/{a['id']}/{step}", key=key)
    s.restart()
    r = s.post(f"{ARTICLES}/{a['id']}/{step}", key=key)
    assert (r.status, r.headers["Idempotent-Replayed"], r.json()["state"]) == (200, "true", state)
    assert events(s, a, f"resource.{state}") == 1
    assert s.get(a["path"]).status == (200 if step == "publish" else 404)


def test_f12_items_without_a_slug_are_known_again(make_server, tmp_path):
    s = make_server()
    rows = [item(n, title=f"Lesson {n % 2}", slug="", status=status, kind=kind, link=f"http://www.old.test/?p={n}")
            for n, (status, kind) in enumerate([("draft", "post"), ("draft", "post"), ("pending", "page"), ("publish", "page")], 1)]
    run(s, export(tmp_path, *rows))
    before = counts(s)
    out = run(s, export(tmp_path, *reversed(rows), name="again.xml")).stdout
    assert "0 created" in out and "0 failed" in out
    assert counts(s) == before


# B. Slugs


@pytest.mark.parametrize("kind", ["pages", "tags"])
def test_f13_many_of_one_title_at_once(server, kind):
    title = word()
    above = {"parent": create(server, "pages")["id"]} if kind == "pages" else {}
    answers = at_once(12, lambda _: server.post(f"/api/v1/{kind}", {"title": title, **above}))
    assert {r.status for r in answers} <= {201, 409}
    made = [r.json()["path"] for r in answers if r.status == 201]
    assert len(set(made)) == len(made) == server.value("SELECT count(*) FROM resource WHERE slug LIKE ?", title + "%")
    if kind == "pages":
        assert {p.rsplit("/", 1)[1] for p in made} == {title} | {f"{title}-{n}" for n in range(2, 13)}


@pytest.mark.parametrize("kind", KINDS)
def test_f15_taken_slug_says_so_on_every_entrance(server, kind):
    slug = word()
    holder, other = create(server, kind, slug=slug), create(server, kind)
    for r in (server.post(f"/api/v1/{kind}", {"title": "x", "slug": slug}), patch(server, other, {"slug": slug}),
              server.post(f"/api/v1/{kind}", {"title": "x", "slug": slug, "state": "published"})):
        body = r.json()
        assert (r.status, body["code"], body["retryable"]) == (409, "slug_conflict", False)
        assert holder["id"] in body["detail"]
        assert [e["field"] for e in body["errors"]] == ["slug"]


def test_f17_one_address_whatever_the_language(server):
    slug = word()
    create(server, "pages", slug=slug, locale="de")
    r = server.post("/api/v1/pages", {"title": "x", "slug": slug, "locale": "pt-BR"})
    assert r.status == 409 and r.json()["code"] == "slug_conflict"
    assert create(server, "pages", title=slug, locale="pt-BR")["path"] == f"/{slug}-2"


def test_f18_made_slugs_are_numbered_and_given_ones_refused(server):
    title = f"Über {word()}"
    made = [create(server, "authors", title=title)["slug"] for _ in range(3)]
    assert made == [made[0], made[0] + "-2", made[0] + "-3"]
    assert server.post("/api/v1/authors", {"title": title, "slug": made[1]}).status == 409


RESERVED = re.findall(r'^RESERVED\("([^"]+)", (\w+)', (stele.ROOT / "app/core/reserved.def").read_text(), re.M)


@pytest.mark.parametrize("name,extent", RESERVED)
def test_f19_no_page_takes_a_name_of_the_system(server, name, extent):
    for given in {name, name.upper(), name + "x" if extent == "PREFIX" else name.title()}:
        r = server.post("/api/v1/pages", {"title": "x", "slug": given})
        if r.status == 201:          # a sign that no slug holds was dropped, and what is left is free
            assert r.json()["path"].lstrip("/") != given.lower()
        else:
            assert r.status in (409, 422) and r.json()["code"] in ("reserved", "validation_failed", "slug_conflict"), r
    made = create(server, "pages", title=name, state="published")
    assert made["path"] != f"/{name}" and server.get(made["path"]).status == 200
    assert page(server, made["path"]).canonical == made["url"]


@pytest.mark.parametrize("title", ["Ελλάδα", "हिन्दी", "العربية", "ไทย", "𝔘𝔫𝔦", "。、", "™", "⚡⚡", "\u200d\u200b", "' - '"])
def test_f22_every_title_has_a_slug_that_answers(server, title):
    a = publish(server, title)
    assert a["slug"] and server.get(path_of(a["url"])).status == 200
    if title[0].isalpha() and title[0].isprintable() and ord(title[0]) < 0x10000:
        assert not a["slug"].startswith("article-")


@pytest.mark.parametrize("title,parts", [("Größe 大小 размер", ["größe", "大小", "размер"]), ("iOS 안녕 v2", ["ios", "안녕", "v2"]),
                                         ("été/夏/summer", ["été", "夏", "summer"])])
def test_f23_no_script_of_a_mixed_title_is_lost(server, title, parts):
    slug = create(server, title=title)["slug"]
    assert re.fullmatch("-".join(parts) + r"(-\d+)?", slug)


def test_f25_long_titles_are_cut_and_long_slugs_refused(server):
    a = publish(server, "ß" * 190 + word())
    assert 190 < len(a["slug"].encode()) <= 200 and server.get(a["path"]).status == 200
    for slug in ("é" * 101, "語" * 67, "a" * 201):
        r = server.post(ARTICLES, {"title": "x", "slug": slug})
        assert r.status == 422 and [e["field"] for e in r.json()["errors"]] == ["slug"]
    assert create(server, slug="語" * 66 + word()[:2])["slug"].startswith("語" * 66)


def test_f26_the_bound_holds_for_imported_pages_too(make_server, tmp_path):
    s = make_server()
    out = run(s, export(tmp_path, item(1, kind="page", slug="%e8%aa%9e" * 900, link="http://www.old.test/?page_id=1"))).stdout
    assert "0 failed" in out and "page 1" in out or "post 1" in out
    slug = s.value("SELECT slug FROM resource WHERE client_ref LIKE '%:1' AND kind = 'page'")
    assert 0 < len(slug.encode()) <= 200
    assert_sitemap_is_sound(s)


@pytest.mark.parametrize("kind", ["articles", "pages", "authors"])
def test_f27_what_was_public_keeps_its_address(server, kind):
    holder = publish(server, kind=kind)
    move(server, holder, "withdraw")
    r = server.post(f"/api/v1/{kind}", {"title": "x", "slug": holder["slug"], "state": "published"})
    assert r.status == 409 and holder["id"] in r.json()["detail"] and "withdrawn" in r.json()["detail"]
    assert server.get(holder["path"]).status == 404
    move(server, holder, "publish")
    assert page(server, holder["path"]).canonical == holder["url"]


def test_f28_slug_text_and_state_travel_together(server):
    slug = word()
    a = create(server, title="Another title", slug=slug, content="Body.", state="published")
    assert a["path"] == f"/articles/{slug}" and "Body." in server.get(a["path"]).text
    draft = create(server)
    b = patch(server, draft, {"slug": slug + "b", "content": "New body."}).json()
    assert b["path"] == f"/articles/{slug}b"
    assert "New body." in server.get(f"{ARTICLES}/{b['id']}", token=server.token).json()["content"]


def test_f30_a_page_cannot_move_onto_another(server):
    a, b, slug = create(server, "pages"), create(server, "pages"), word()
    inner = create(server, "pages", parent=a["id"], slug=slug)
    below = create(server, "pages", parent=inner["id"])
    create(server, "pages", parent=b["id"], slug=slug)
    r = patch(server, inner, {"parent": b["id"]})
    assert r.status == 409 and r.json()["code"] in ("slug_conflict", "path_conflict"), r
    for p in (inner, below):
        assert server.get(f"/api/v1/pages/{p['id']}", token=server.token).json()["path"] == p["path"]
    assert server.value("SELECT count(*) FROM (SELECT fold FROM path WHERE was_canonical = 1 GROUP BY fold HAVING count(*) > 1)") == 0


@pytest.mark.parametrize("title,slug", [("Q", "q"), ("Ω", "ω"), ("我", "我"), ("7", "7"), ("É", "é")])
def test_f32_one_letter_is_a_slug(server, title, slug):
    a = publish(server, title)
    assert re.fullmatch(re.escape(slug) + r"(-\d+)?", a["slug"]) and server.get(a["path"]).status == 200
    r = server.post("/api/v1/tags", {"title": "x", "slug": slug})
    assert r.status == 201 and r.json()["slug"] == slug or r.status == 409


# E. Canonical addresses


def test_f68_every_page_of_a_list_is_its_own(make_server):
    s = make_server(settings={"per_page": "2"})
    for _ in range(5):
        publish(s, tags=["quarry"])
    for base in ("/articles", "/tags/quarry"):
        assert page(s, base).canonical == s.base + base
        for n in (2, 3):
            p = page(s, f"{base}?page={n}")
            assert p.canonical == f"{s.base}{base}?page={n}"
        for n in ("1", "01"):
            r = s.get(f"{base}?page={n}")
            assert (r.status, r.headers["Location"]) == (301, s.base + base)
        assert s.get(f"{base}?page=02").headers["Location"] == f"{s.base}{base}?page=2"
        for n in ("4", "0", "-1", "x", "2.0", "99999999999999999999"):
            assert s.get(f"{base}?page={n}").status == 404, n
    assert not any("page=" in loc for loc in locs(s))


@pytest.mark.parametrize("query", ["fbclid=1", "gclid=2&ref=home", "q=%3Cscript%3E", "page=2", "replytocom=3", "%63anonical=x"])
def test_f69_nothing_of_the_request_is_in_the_canonical(server, query):
    a = publish(server)
    p = page(server, f"{a['path']}?{query}")
    assert p.canonical == a["url"] and p.meta("og:url") == [a["url"]]
    assert f'<{a["url"]}>; rel="canonical"' in p.response.headers["Link"]
    assert query not in p.response.text


@pytest.fixture(scope="module")
def behind_tls():
    s = stele.Server(base_url="https://words.example", config="trusted_proxies = 127.0.0.1\naliases = www.words.example\n")
    try:
        s.start()
        r = s.post(ARTICLES, {"title": "Origin", "content": "x", "state": "published"}, headers=[("Host", "words.example")])
        assert r.status == 201, r
        yield s
    finally:
        s.close()


FORWARDED = [("X-Forwarded-Proto", "https")]


def test_f70_scheme_is_that_of_the_site(behind_tls):
    for headers in ([], FORWARDED, [("X-Forwarded-Port", "8080")], [("Forwarded", "proto=http")]):
        r = behind_tls.get("/articles/origin", headers=[("Host", "words.example"), *headers])
        assert r.status == 200 and "http://words.example" not in r.text + repr(r.headers)
        p = html5lib.parse(r.body, treebuilder="lxml", namespaceHTMLElements=False)
        assert [e.get("href") for e in p.iter("link") if e.get("rel") == "canonical"] == ["https://words.example/articles/origin"]


@pytest.mark.parametrize("field", ["X-Forwarded-Host", "X-Host", "X-Original-URL", "X-Rewrite-URL", "X-Forwarded-Server", "Forwarded"])
def test_f71_no_field_chooses_the_host(behind_tls, field):
    value = "host=evil.example" if field == "Forwarded" else "evil.example"
    for path in ("/articles/origin", "/", "/sitemap.xml", "/robots.txt", "/articles/ORIGIN"):
        for _ in range(3):
            r = behind_tls.get(path, headers=[("Host", "words.example"), (field, value), *FORWARDED])
            # The one field that a trusted proxy may say is taken at its word, and nobody answers for that name.
            assert r.status == (421 if field == "X-Forwarded-Host" else 301 if path.endswith("ORIGIN") else 200), r
            assert "evil" not in r.text + repr(r.headers)
        assert "evil" not in behind_tls.get(path, headers=[("Host", "words.example"), *FORWARDED]).text


def test_f71_nobody_is_believed_who_is_no_proxy(server):
    for field in ("X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-For"):
        r = server.get("/", headers=[(field, "evil.example")])
        assert r.status == 200 and "evil" not in r.text + repr(r.headers)


@pytest.mark.parametrize("kind", KINDS)
def test_f72_one_canonical_said_the_same_everywhere(server, kind):
    r = publish(server, f"A & B <i> {word()} ß", kind)
    if kind == "tags":
        publish(server, tags=[r["title"]])
    p = page(server, path_of(r["url"]))
    said = [p.canonical, *p.meta("og:url"), *re.findall(r'<([^>]*)>; rel="canonical"', p.response.headers["Link"])]
    assert said == [r["url"]] * 3 and r["canonical"] == r["url"]
    if kind in ("articles", "pages"):
        assert r["url"] in walk(p.json_ld)
    if kind not in ("authors",):
        assert r["url"] in locs(server)


def walk(value):
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for v in value:
            yield from walk(v)
    else:
        yield value


def test_f74_an_override_is_seen_by_page_and_sitemap_alike(server):
    a = publish(server, kind="pages")
    assert a["url"] in locs(server)
    other = "https://partner.example/the-original?id=1"
    edit(server, a, seo={"canonical": other})
    assert a["url"] in locs(server) and page(server, a["path"]).canonical == a["url"]        # not yet published
    assert move(server, a, "publish")["in_sitemap"]["listed"] is False
    p = page(server, a["path"])
    assert p.canonical == other and p.meta("og:url") == [other] and f"<{other}>" in p.response.headers["Link"]
    assert a["url"] not in locs(server)
    edit(server, a, seo={"canonical": None})
    move(server, a, "publish")
    assert a["url"] in locs(server) and page(server, a["path"]).canonical == a["url"]


# F. Sitemaps


def test_f78_f85_parts_follow_what_they_list(make_server):
    s = make_server()
    made = [publish(s)]
    jump_to_id(s, 9999)
    made += [publish(s) for _ in range(3)]          # the first of them ends a part, the next begins one
    assert [resource_id(s, a) for a in made[1:]] == [10000, 10001, 10002]
    jump_to_id(s, 20000)
    made.append(publish(s))
    for _ in range(6):                  # in the caches of both workers
        assert {a["url"] for a in made} <= set(locs(s))
    before = {n: s.get(f"/sitemap-{n}.xml") for n in (1, 10001, 20001)}
    made.append(publish(s))
    for _ in range(6):
        assert made[-1]["url"] in locs(s)
    assert s.get("/sitemap-20001.xml").headers["ETag"] != before[20001].headers["ETag"]
    assert s.get("/sitemap-10001.xml").headers["ETag"] == before[10001].headers["ETag"]
    edit(s, made[1], seo={"noindex": True})
    move(s, made[1], "publish")
    for _ in range(6):
        assert made[1]["url"] not in locs(s) and made[2]["url"] in locs(s)
    for n in (30001, 40001, 10000, 99, 20002):
        assert s.get(f"/sitemap-{n}.xml").status == 404
    plain = s.get("/sitemap-10001.xml")
    head = s.request("HEAD", "/sitemap-10001.xml")
    packed = s.get("/sitemap-10001.xml", headers={"Accept-Encoding": "gzip"})
    assert head.headers["Content-Length"] == str(len(plain.body)) and head.body == b""
    assert gzip.decompress(packed.body) == plain.body


def test_f80_f82_dates_are_whole_or_absent(make_server):
    s = make_server(users=(("admin", "admin"),))
    tag = publish(s, kind="tags")
    assert b"lastmod/>" not in s.get("/sitemap.xml").body and b"<lastmod></" not in s.get("/sitemap.xml").body
    a = publish(s, tags=[tag["title"]])
    move(s, a, "withdraw")
    assert tag["url"] not in locs(s)
    move(s, a, "publish")
    for loc, at in locs(s).items():
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", at), loc
        datetime.datetime.strptime(at, "%Y-%m-%dT%H:%M:%SZ")


def test_f81_nothing_but_a_visible_change_moves_the_date(make_server):
    s = make_server()
    a = publish(s, kind="pages", content="One *two* three.")
    before = locs(s)
    s.restart(env={"STELE_CLOCK_OFFSET": str(86400 * 1000)})
    assert locs(s) == before
    edit(s, a, content="One _two_ three.")              # other source, same page
    move(s, a, "publish")
    move(s, a, "withdraw")
    move(s, a, "publish")
    publish(s)
    assert locs(s)[a["url"]] == before[a["url"]]
    edit(s, a, content="One two three.")
    move(s, a, "publish")
    assert locs(s)[a["url"]] > before[a["url"]]


def test_f84_only_what_answers_for_itself_is_listed(make_server):
    s = make_server()
    listed = [publish(s), publish(s, kind="pages"), publish(s, tags=["Stone Age"])]
    hidden = [create(s), create(s, "pages"), publish(s, seo={"noindex": True}), publish(s, kind="pages", seo={"canonical": listed[0]["url"]}),
              create(s, state="scheduled", publish_at="2090-01-01T00:00:00+02:00")]
    hidden.append(publish(s))
    move(s, hidden[-1], "withdraw")
    alias(s, "/moved-away", listed[0])
    write_rows(s, ("INSERT INTO path (path, fold, role, target, status, was_public, created_at) "
                   "VALUES ('/out', '/out', 'external', 'https://partner.example/', 301, 1, 1)",))
    found = locs(s)
    assert not {a["url"] for a in hidden} & set(found)
    assert {a["url"] for a in listed} < set(found) and s.base + "/tags/stone-age" in found
    assert s.base + "/moved-away" not in found and s.base + "/out" not in found
    assert_sitemap_is_sound(s)


def test_f86_robots_let_everything_in_that_is_listed(server):
    publish(server, "Ünïcode & more " + word())
    publish(server, kind="pages")
    robots = urllib.robotparser.RobotFileParser()
    text = server.get("/robots.txt").text
    robots.parse(text.splitlines())
    for loc in [*locs(server), *re.findall(r"(?im)^sitemap:\s*(\S+)", text)]:
        assert loc.startswith(server.base) and robots.can_fetch("Googlebot", loc), loc


@pytest.mark.parametrize("rules,what", [("Disallow: /articles/", "/articles/quarry-work"), ("Disallow: /*work$", "/articles/quarry-work"),
                                        ("Disallow: /*.xml", "/sitemap.xml"),
                                        ("Disallow: /\nAllow: /$\nAllow: /sitemap\nAllow: /tags/\nAllow: /authors/", "/articles/quarry-work"),
                                        ("Allow: /x\nDisallow: /t", "/tags/rock"),
                                        ("Disallow: /private/\nUser-agent: greedy\nDisallow: /", None), ("Crawl-delay: 5", None)])
def test_f86_rules_against_the_sitemap_are_told_of(make_server, rules, what):
    s = make_server()
    publish(s, "Quarry work", tags=["rock"])
    r = s.command("setting", "set", "robots", rules)
    assert (f"warning: robots.txt now keeps crawlers from {s.base}{what}," in r.stderr) if what else r.stderr == "", r.stderr
    wait_for(lambda: rules in s.get("/robots.txt").text)


def test_f89_what_goes_live_by_its_time_is_listed_at_once(server):
    at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=2)
    tag = word()
    a = create(server, "pages", state="scheduled", publish_at=at.isoformat(timespec="milliseconds").replace("+00:00", "Z"))
    b = create(server, tags=[tag], state="scheduled", publish_at=at.isoformat(timespec="milliseconds").replace("+00:00", "Z"))
    for _ in range(8):                  # known to the caches of both workers as not there
        assert not {a["url"], b["url"]} & set(locs(server)) and server.get(a["path"]).status == 404
    wait_for(lambda: server.get(a["path"]).status == 200 and server.get(b["path"]).status == 200, 20)
    for _ in range(8):
        assert {a["url"], b["url"], f"{server.base}/tags/{tag}"} <= set(locs(server))
    assert b["title"] in server.get(f"/tags/{tag}").text and b["title"] in server.get("/articles").text


@pytest.mark.parametrize("path", ["/sitemap.xml", "/robots.txt", "/sitemap-1.xml", "/articles", "/assets/none.css"])
def test_f90_the_host_rule_is_for_every_route(behind_tls, path):
    for host in ("www.words.example", "WWW.words.example:443"):
        r = behind_tls.get(path, headers=[("Host", host), *FORWARDED])
        if path.startswith("/assets") or path == "/sitemap-1.xml":
            assert r.status in (301, 404)
        else:
            assert (r.status, r.headers["Location"]) == (301, "https://words.example" + path)
    assert behind_tls.get(path, headers=[("Host", "other.example")]).status == 421
    plain = behind_tls.get(path, headers=[("Host", "words.example"), ("X-Forwarded-Proto", "http")])
    assert plain.status in (301, 404)


# G. Escaping


@pytest.mark.parametrize("text", ['</script><img src=x onerror=alert(1)>', "Tom & \"J\" 'K'", "<!--<script>", "]]></script>", "\u2028x\u2029",
                                  "{{title}} {{{content_html}}}",
                                  '"},{"@type":"X', "\\u003c/script\\u003e"])
def test_f93_names_stay_text_in_every_place(server, text):
    title, tag = f"{text} {word()}", f"{text} {word()}"
    author = publish(server, f"{text} {word()}", kind="authors")
    a = publish(server, title, tags=[tag], author=author["slug"], summary=text, seo={"description": text})
    for path in (a["path"], "/articles", path_of(a["tags"][0]["url"]), path_of(author["url"]), "/tags"):
        r = server.get(path)
        p = page(server, path)
        scripts = [e for e in p.tree.iter("script")]
        assert all(e.get("type") == "application/ld+json" for e in scripts)
        assert not [e for e in p.tree.iter("img") if e.get("onerror")] and "onerror=alert(1)>" not in r.text
        assert "&amp;amp;" not in r.text and "&amp;quot;" not in r.text
    said = list(walk(page(server, a["path"]).json_ld))
    assert title in said and author["title"] in said
    assert " ".join(tag.split()) in page(server, a["path"]).text
    raw = server.get(a["path"]).text
    for inside in re.findall(r'(?s)<script type="application/ld\+json">(.*?)</script>', raw):
        assert not set("<>&\u2028\u2029") & set(inside)


@pytest.mark.parametrize("content", [
    "<svg/onload=alert(1)>", "<a href=\"java\tscript:alert(1)\">x</a>", "[x](javascript:alert(1))", "![x](data:text/html,<script>alert(1)</script>)",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>", "<form action=//evil><input autofocus onfocus=alert(1)>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table></mtext></math>",
    "<details open ontoggle=alert(1)>x</details>", "`</code><script>alert(1)</script>`",
    "<style>@import 'http://evil'</style>", "<base href=//evil>", "<meta http-equiv=refresh content='0;url=//evil'>",
    "<a href=\"&#106;avascript:alert(1)\">x</a>"])
@pytest.mark.parametrize("format", ["markdown", "html"])
def test_f95_no_markup_of_a_text_runs(server, content, format):
    a = publish(server, content=f"Before {content} after", format=format)
    p = page(server, a["path"])
    for e in p.tree.iter():
        if not isinstance(e.tag, str):
            continue
        assert not [k for k in e.attrib if k.lower().startswith("on") or k in ("srcdoc", "action", "formaction")], e.tag
        for name in ("href", "src"):
            assert not re.match(r"\s*(javascript|data|vbscript):", re.sub(r"[\t\n\r]", "", e.get(name) or ""), re.I)
    body = p.tree.find("body")
    assert not [e for e in body.iter() if e.tag in ("iframe", "form", "base", "meta", "style", "svg", "math", "object", "embed")]
    assert [e.get("type") for e in p.tree.iter("script")] in ([], ["application/ld+json"])
    policy = p.response.headers["Content-Security-Policy"]
    assert "unsafe-inline" not in policy and "default-src" in policy
    assert "Before" in p.text and "after" in p.text


# J. Import


def test_f107_an_export_that_grew_adds_what_is_new(make_server, tmp_path):
    s = make_server()
    rows = [item(n, title="Same title", slug="" if n % 2 else "same", link=f"http://www.old.test/?p={n}") for n in range(1, 7)]
    run(s, export(tmp_path, *rows))
    paths = {r[0] for r in s.sql("SELECT path FROM path")}
    for name in ("copy.xml", "other-name.xml"):
        assert "0 created" in run(s, export(tmp_path, *rows, name=name)).stdout
    assert {r[0] for r in s.sql("SELECT path FROM path")} == paths
    out = run(s, export(tmp_path, item(9, title="Same title"), *rows, name="grown.xml")).stdout
    assert "1 created" in out and s.value("SELECT count(*) FROM resource WHERE kind = 'article'") == 7


def test_f109_spelling_of_the_xml_does_not_matter(make_server, tmp_path):
    def spelled(n, cdata):
        wrap = (lambda t: f"<![CDATA[{t}]]>") if cdata else (lambda t: t.replace("&", "&amp;").replace("<", "&lt;"))
        glue = "" if cdata else "\n\t\t"
        return (f"<item>{glue}<title>{wrap('Tom & Co')}</title>{glue}<link>http://www.old.test/a{n}/</link>{glue}<wp:post_id\n>{n}</wp:post_id\n>"
                f"{glue}<dc:creator>{wrap('eve')}</dc:creator>{glue}<content:encoded>{wrap('<p>Some <b>text</b> &amp; more</p>')}</content:encoded>{glue}"
                f"<wp:post_name>{wrap(f'a{n}')}</wp:post_name>{glue}<wp:status>{wrap('publish')}</wp:status>{glue}<wp:post_type>{wrap('post')}</wp:post_type>"
                f"{glue}<wp:post_date_gmt>2020-02-0{n} 10:00:00</wp:post_date_gmt>{glue}<category domain='post_tag'\n nicename='x-y'>{wrap('X & Y')}</category>"
                f"{glue}</item>")
    author = "<wp:author\n>\n <wp:author_login\n>eve</wp:author_login>\n <wp:author_display_name><![CDATA[Eve & Co]]></wp:author_display_name>\n</wp:author>"
    s = make_server()
    assert "0 failed" in run(s, export(tmp_path, author, spelled(1, True), spelled(2, False))).stdout
    one, two = (s.get(f"{ARTICLES}/a{n}").json() for n in (1, 2))
    assert one["author"]["name"] == "Eve & Co"
    for member in ("title", "html", "author", "tags", "state"):
        assert one[member] == two[member], member
    assert "<b>text</b> &amp; more" in one["html"] or "<strong>text</strong> &amp; more" in one["html"]


@pytest.mark.parametrize("content,word_of_it", [
    (b"\x1f\x8b\x08\x00junk", "gzip"), (b"{\"posts\": []}", "JSON"), (b"%PDF-1.7\n", "PDF"), (b"-- MySQL dump\nINSERT", "XML"), (b"", "empty"),
    (b"<?xml version='1.0'?><feed xmlns='http://www.w3.org/2005/Atom'/>", "export")])
def test_f111_another_kind_of_file_is_named(make_server, tmp_path, content, word_of_it):
    s = make_server(start=False)
    file = tmp_path / "export.xml"
    file.write_bytes(content)
    r = run(s, file, check=False)
    assert r.returncode == 1 and word_of_it.lower() in r.stderr.lower(), r.stderr
    assert s.value("SELECT count(*) FROM resource") == 0


@pytest.mark.parametrize("cut", [0.2, 0.5, 0.9, 0.999])
def test_f112_half_an_export_is_none(make_server, tmp_path, cut):
    s = make_server(start=False)
    whole = (HEAD + "".join(item(n) for n in range(1, 41)) + TAIL).rstrip()
    file = tmp_path / "half.xml"
    file.write_text(whole[:int(len(whole) * cut)])
    before = counts(s)
    for options in ((), ("--dry-run",)):
        r = run(s, file, *options, check=False)
        assert r.returncode == 1 and re.search(r"line \d+", r.stderr), r.stderr
        assert counts(s) == before
    file.write_text(whole)
    assert "41 created" in run(s, file, "--dry-run").stdout        # forty posts and who wrote them
    assert counts(s) == before
