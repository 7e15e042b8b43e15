"""What an address means when several rows could say so: pairs, exact, folded, rules; and what rules fill in, never another host."""
import json

import pytest

from site_pages import publish, wait_for, word
from test_redirects import delete, hop, make, patch, read


def test_every_row_of_the_order_wins_over_those_below_it(server):
    w = word()
    pages = {name: publish(server, slug=f"{w}-{name}") for name in ("pairs", "exact", "folded", "rule")}
    made = {"rule": make(server, f"/{w}/:x", pages["rule"]["path"])}
    expect = [("rule", f"/{w}/Name"), ("rule", f"/{w}/name?p=1")]

    def check():
        for name, asked in expect:
            assert hop(server, asked) == (301, pages[name]["url"] + ("?p=1" if "?" in asked and name != "pairs" else "")), (name, asked)

    check()
    made["folded"] = make(server, f"/{w}/NAME", pages["folded"]["path"])
    expect = [("folded", f"/{w}/Name"), ("folded", f"/{w}/name?p=1"), ("rule", f"/{w}/other")]
    check()
    made["exact"] = make(server, f"/{w}/name", pages["exact"]["path"])
    expect = [("exact", f"/{w}/name"), ("folded", f"/{w}/NAME"), ("rule", f"/{w}/other"), ("exact", f"/{w}/name?p=1")]
    check()
    # Two rows share the fold now: a third spelling is nobody's, and no rule takes it.
    assert hop(server, f"/{w}/NaMe") == (404, None)
    made["pairs"] = make(server, f"/{w}/name?p=1", pages["pairs"]["path"])
    expect = [("pairs", f"/{w}/name?p=1"), ("exact", f"/{w}/name"), ("rule", f"/{w}/other")]
    check()
    assert hop(server, f"/{w}/name?a=b&p=1&c=d") == (301, pages["pairs"]["url"] + "?a=b&c=d")
    assert hop(server, f"/{w}/name?p=12") == (301, pages["exact"]["url"] + "?p=12")
    for name in ("pairs", "exact", "folded"):
        delete(server, made[name])
    expect = [("rule", f"/{w}/Name"), ("rule", f"/{w}/name?p=1")]
    check()


def test_a_page_is_found_before_any_rule(server):
    a, b = publish(server), publish(server)
    make(server, a["path"].rsplit("/", 1)[0] + "/" + word() + "/*", b["path"])
    rule = make(server, f"/{word()}/*", "/articles/*")
    base = rule["source"][:-2]
    assert hop(server, base + "/" + a["slug"]) == (301, a["url"])
    assert server.get(a["path"]).status == 200


def test_more_pairs_say_more_and_order_says_nothing(server):
    w, a, b = word(), publish(server), publish(server)
    one, two = make(server, f"/{w}?a=1", a["path"]), make(server, f"/{w}?b=2&a=1&b=2", b["path"])
    assert two["source"] == f"/{w}?a=1&b=2"
    for query in ("a=1&b=2", "b=2&a=1", "x=y&b=2&a=1"):
        status, location = hop(server, f"/{w}?{query}")
        assert (status, location.split("?")[0]) == (301, b["url"])
    assert hop(server, f"/{w}?a=1") == (301, a["url"]) and hop(server, f"/{w}?b=2") == (404, None) and hop(server, f"/{w}") == (404, None)
    # The source of the home page with its query, as WordPress writes it.
    make(server, f"/?p={w}", a["path"])
    assert hop(server, f"/?p={w}") == (301, a["url"]) and server.get("/?p=x" + w).status == 200


def test_names_and_the_splat_are_filled_in_and_the_more_specific_rule_wins(server):
    w = word()
    for source, target, status in ((f"/{w}/*", "https://other.test/all/*", 302), (f"/{w}/:y/:m/:slug", "https://other.test/:slug/in/:y-:m?from=:y", 301),
                                   (f"/{w}/:y/07/:slug", "https://other.test/july/:slug", 308), (f"/{w}/f/:name/*", "https://other.test/:name/:splat#*", 301)):
        make(server, source, target, status)
    for asked, answer in ((f"/{w}", (302, "https://other.test/all/")), (f"/{w}/a", (302, "https://other.test/all/a")),
                          (f"/{w}/2024/05/x", (301, "https://other.test/x/in/2024-05?from=2024")), (f"/{w}/2024/07/x", (308, "https://other.test/july/x")),
                          (f"/{w}/2024/05/x/y", (302, "https://other.test/all/2024/05/x/y")), (f"/{w}/2024/05/x?q=1", (301, "https://other.test/x/in/2024-05?from=2024&q=1")),
                          (f"/{w}/f/n/a/b", (301, "https://other.test/n/a/b#a/b"))):
        assert hop(server, asked) == answer, asked


@pytest.mark.parametrize("typed", ["//evil.test", "/\\evil.test", "@evil.test", "%2F%2Fevil.test", "https:%2F%2Fevil.test", "..//evil.test", ".evil.test", ":80@evil.test", "%0d%0aLocation:x"])
def test_what_a_visitor_types_never_chooses_the_host(server, typed):
    w = word()
    make(server, f"/{w}/*", "https://other.test/*")
    make(server, f"/{w}-own/*", "/articles/*")
    for base, host in ((f"/{w}/", "https://other.test/"), (f"/{w}-own/", server.base + "/")):
        status, location = hop(server, base + typed)
        assert (location is None and status in (400, 404)) or location.startswith(host), (status, location)


@pytest.mark.parametrize("source, target, field", [
    ("/*", "/articles", "source"), ("/{w}/*/x", "/articles", "source"), ("/{w}/:a/:a", "/articles", "source"), ("/{w}/:a?x=1", "/articles", "source"),
    ("/admin/:a", "/articles", "source"), ("/{w}/:a", "/articles/:b", "target"), ("/{w}/:a", "/articles/*", "target"), ("/{w}/*", "https://:splat/x", "target"),
    ("/{w}/*", "/{w}/*", "target"), ("/{w}/*", "/{w}/x/*", "target"), ("/{w}/:a", "/api/:a", "target"), ("/{w}/:a", "/nothing-" + "here", "target"),
    ("/{w}" + "/:a1" * 1 + "".join(f"/x{i}" for i in range(40)), "/articles", "source"),
])
def test_rules_that_could_not_work_are_refused(server, source, target, field):
    w = word()
    r = server.post("/api/v1/redirects", {"source": source.replace("{w}", w), "target": target.replace("{w}", w)})
    assert r.status == 422 and f'"{field}"' in r.text, r
    assert server.value("SELECT count(*) FROM path_rule WHERE pattern LIKE ?", f"/{w}%") == 0


def test_rules_cannot_lead_to_one_another_whichever_came_first(server):
    """F46 by way of rules: /a/* -> /b/*, /b/* -> anything, in both orders and by a change."""
    a, b, c = word(), word(), word()
    first = make(server, f"/{a}/*", f"/{b}/*")
    assert make(server, f"/{b}/:x", f"https://other.test/:x")["match"] == "rule", "takes some of it only: at most one rule applies to an address"
    assert make(server, f"/{b}/*", f"/{a}/*", expect=422)["errors"][0]["field"] in ("source", "target")
    assert make(server, f"/{b}/*", status=410, expect=422)["errors"][0]["field"] == "source"
    other = make(server, f"/{c}/*", "/articles/*")
    assert patch(server, first, {"target": f"/{c}/x/*"}, expect=422)["errors"][0]["field"] == "target"
    assert hop(server, f"/{a}/q") == (404, None)
    assert hop(server, f"/{b}/q") == (301, "https://other.test/q")
    assert read(server, first)["version"] == 1 and read(server, other)["version"] == 1


def test_a_rule_may_lead_to_a_row_and_that_is_one_hop(server):
    w, a = word(), publish(server)
    make(server, f"/{w}/old-name", a["path"])
    make(server, f"/{w}-before/*", f"/{w}/*")
    assert hop(server, f"/{w}-before/old-name") == (301, a["url"])
    assert hop(server, f"/{w}-before/OLD-name/") == (301, a["url"])


def test_a_rule_never_leads_below_the_names_of_forms_and_api(server):
    w, a = word(), publish(server)
    make(server, f"/{w}/*", "/*")
    assert hop(server, f"/{w}{a['path']}") == (301, a["url"])
    assert hop(server, f"/{w}/feed.atom") == (301, server.base + "/feed.atom")
    for name in ("api/v1/articles", "admin", "healthz", "metrics", "login", "en/x", "_x", "%61pi/v1", "API/v1"):
        assert hop(server, f"/{w}/{name}") == (404, None), name


def test_a_rule_of_a_resource_follows_it_and_410_takes_all_below(server):
    w, a = word(), publish(server)
    m = make(server, f"/{w}/*", a["id"], 302)
    assert m["resource"]["id"] == a["id"] and hop(server, f"/{w}/x/y?z=1") == (302, a["url"] + "?z=1")
    gone = make(server, f"/{w}-gone/*", status=410)
    assert hop(server, f"/{w}-gone/a/b") == (410, None) and gone["target"] is None
    patch(server, gone, {"target": a["path"]})
    assert hop(server, f"/{w}-gone/a/b") == (301, a["url"])


def test_readers_of_every_worker_keep_rules_and_let_go_of_them_at_once(server):
    """A rule is in force, changed and gone with the answer that says so, on all workers."""
    w = word()
    m = make(server, f"/{w}/*", "https://one.test/*")
    for n in range(20):
        assert hop(server, f"/{w}/{n}") == (301, f"https://one.test/{n}")
    m = patch(server, m, {"target": "https://two.test/*"})
    for n in range(20):
        assert hop(server, f"/{w}/{n}") == (301, f"https://two.test/{n}")
    delete(server, m)
    for n in range(20):
        assert hop(server, f"/{w}/{n}") == (404, None)


def test_a_thousand_rules_and_not_one_more(make_server):
    from test_redirect_csv import load
    s = make_server()
    op, _ = load(s, "".join(f"/r{n}/:a,https://other.test/{n}/:a\n" for n in range(1000)))
    assert op["result"]["created"] == 1000
    assert hop(s, "/r999/x") == (301, "https://other.test/999/x") and hop(s, "/r0/y") == (301, "https://other.test/0/y")
    assert "1000 rules" in json.dumps(make(s, "/one-more/*", "/articles", expect=422))
    op, report = load(s, "/another/*,/articles\n")
    assert op["status"] == "FAILED" and "1000 rules" in str(report)


def test_rules_that_others_wrote_are_read_or_refused_but_never_break(server, corpora):
    """Netlify's parser cases: taken or refused with the field's name, and what is taken never leads to a host of the visitor's making."""
    folder = corpora / "redirects"
    if not folder.is_dir():
        pytest.skip("corpora absent")
    taken = refused = 0
    for file in sorted(p for p in folder.rglob("*") if p.is_file() and p.suffix not in (".md", ".toml", ".json")):
        for line in file.read_text(errors="replace").splitlines():
            parts = line.split("#")[0].split()
            if len(parts) < 2 or not parts[0].startswith("/"):
                continue
            source, target = f"/{word()}{parts[0]}", parts[1]
            r = server.post("/api/v1/redirects", {"source": source, "target": target})
            assert r.status in (201, 409, 422), (line, r)
            taken += r.status == 201
            refused += r.status != 201
            if r.status == 201:
                status, location = hop(server, source.replace("*", "//evil.test").replace(":", "x"))
                assert location is None or "//evil.test/" not in location.split("/", 3)[2], (line, location)
    assert taken + refused > 0
