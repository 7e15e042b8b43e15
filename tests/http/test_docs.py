"""The manual says what is so: numbers, tables and lists are those of the program and of the settings in force."""
import html
import re
import shutil

import stele

PAGES = sorted(p.stem for p in (stele.ROOT / "templates" / "docs").glob("*.md"))
WRITE = re.compile(r'^WRITE\(\w+, "(\w+)", "([^"]*)", (\w+), (\w+), (\w+), "([^"]*)"\)', re.M)
ROUTE = re.compile(r'^ROUTE\((POST|PUT|PATCH|DELETE), "([^"]*)"', re.M)
ERROR = re.compile(r'^ERROR\(\w+, "(\w+)", (\d+), (true|false), "([^"]*)",\s*"([^"]*)"\)', re.M)


def source(path):
    return (stele.ROOT / path).read_text()


def words(answer):
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", answer.text)).split())


def rows(answer):
    """Cells of every table row, as text."""
    return [[" ".join(html.unescape(re.sub(r"<[^>]*>", "", cell)).split()) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row, re.S)]
            for row in re.findall(r"<tr>(.*?)</tr>", answer.text, re.S)]


def test_c168_every_route_that_writes_has_a_rule_and_a_row_in_the_manual(server):
    routes, rules = ROUTE.findall(source("app/http/routes.def")), WRITE.findall(source("app/core/writes.def"))
    assert len(routes) > 50 and len(set(routes)) == len(routes)
    assert sorted(routes) == sorted(r[:2] for r in rules)
    shown = {r[0]: r[1:] for r in rows(server.get("/docs/idempotency")) if len(r) == 5}
    kept = {"WRITE": "7 days", "STATE": "30 days", "FORM": "24 hours"}
    assert shown == {f"{method} {path}": [carrier.lower(), kept[retention], permission.lower(), reason]
                     for method, path, carrier, retention, permission, reason in rules}
    assert all(method == "POST" or carrier == "OPTIONAL" for method, _, carrier, *_ in rules)


def test_c167_times_in_the_manual_are_those_in_force(make_server):
    s = make_server(settings={"retention_write": "3d", "retention_state": "12d", "retention_form": "36h", "retention_operation": "5d"})
    page = s.get("/docs/idempotency")
    assert "Creates and updates are kept for 3 days, publishing and withdrawing for 12 days" in words(page) and "forms for 36 hours" in words(page)
    assert {r[2] for r in rows(page) if len(r) == 5} == {"3 days", "12 days"}
    assert "kept for 5 days after its end" in words(s.get("/docs/operations"))
    assert "which is 3 days for creates and updates, 12 days for publishing" in words(s.get("/docs/clients"))
    s.command("setting", "set", "retention_write", "1d")
    assert "Creates and updates are kept for 24 hours" in words(s.get("/docs/idempotency"))


def test_c167_the_rules_of_keys_codes_and_repeats_are_told(server):
    header = source("app/core/idempotency.h")
    least, most = (re.search(rf"#define {name} (\d+)", header)[1] for name in ("KEY_MIN", "KEY_MAX"))
    answer = re.search(r"#define ANSWER_MAX (\d+)", source("app/actions/facts.h"))[1]
    page = words(server.get("/docs/idempotency"))
    for said in (f"{least} to {most} characters of A-Z a-z 0-9 . _ : -", "the nil UUID is refused", "are the same key", "belongs to a user, a method and a route",
                 "Make a new one for a new operation", f"at most {answer} bytes", "Idempotent-Replayed: true", "Idempotency-Original-Status",
                 "chunked bodies are refused with 411"):
        assert said in page, said
    # What the page says of keys, a server does.
    for key, status in (("k" * int(least), 201), ("K" * int(most), 201), ("k" * (int(least) - 1), 400), ("k" * (int(most) + 1), 400)):
        assert server.post("/api/v1/articles", {"title": key[:20]}, key=key).status == status


def test_every_code_is_explained_and_what_may_be_repeated_is_listed(server):
    rows_of = ERROR.findall(source("app/base/errors.def"))
    assert len(rows_of) == source("app/base/errors.def").count("\nERROR(")
    page = server.get("/docs/errors")
    for code, status, retryable, title, help_text in rows_of:
        part = re.search(rf'<h3 id="{code}">(.*?)(?=<h[23]|</article>)', page.text, re.S)
        said = " ".join(html.unescape(re.sub(r"<[^>]*>", "", part[1])).replace("`", "").split())
        assert title in said and " ".join(help_text.replace("`", "").split()) in said
        assert ("may be sent again." in said.split(help_text.replace("`", ""))[-1]) == (retryable == "true")
    again = {code for code, _, retryable, *_ in rows_of if retryable == "true"}
    for name in ("errors", "idempotency"):
        assert again <= set(re.findall(r'href="[^"]*/docs/errors#(\w+)"', server.get(f"/docs/{name}").text))


def test_permissions_and_reserved_names_are_listed(server):
    table = {r[0]: r[1:] for r in rows(server.get("/docs/permissions")) if len(r) == 6}
    for name, scope, viewer, own, other, editor, admin in re.findall(r"^PERMISSION\((\w+), (\w+), (\w+), (\w+), (\w+), (\w+), (\w+)\)",
                                                                     source("app/core/permission.def"), re.M):
        yes = {"true": "yes", "false": "no"}
        assert table.pop(name.lower()) == [scope.lower(), yes[viewer], "yes" if other == "true" else "own" if own == "true" else "no", yes[editor], yes[admin]]
    assert not table
    names = [n for n, _ in re.findall(r'^RESERVED\("([^"]+)", (\w+)', source("app/core/reserved.def"), re.M)]
    shown = {r[0].split(" ")[0].rstrip(",") for r in rows(server.get("/docs/urls")) if r}
    assert names and {"/" + n for n in names} <= shown


def test_the_index_leads_to_every_page_and_every_link_of_the_manual_leads_somewhere(server):
    index = server.get("/docs")
    assert index.status == 200 and f'<link rel="canonical" href="{server.base}/docs">' in index.text
    assert server.get("/docs/index").status == 404
    listed = {h.rsplit("/", 1)[1] for h in re.findall(r'href="([^"]*/docs/[a-z-]+)"', index.text)}
    assert listed == set(PAGES) - {"index"}
    ids, links = {}, set()
    for name in PAGES:
        page = server.get("/docs" if name == "index" else f"/docs/{name}")
        assert page.status == 200 and "{{" not in page.text
        ids["/docs" if name == "index" else f"/docs/{name}"] = set(re.findall(r' id="([^"]+)"', page.text))
        links |= {(name, h.replace(server.base, "")) for h in re.findall(r'<a href="([^"]+)"', page.text)}
    for name, href in links:
        path, _, fragment = href.partition("#")
        if path in ids:
            assert not fragment or fragment in ids[path], (name, href)
        elif path.startswith("/"):
            assert server.get(path).status == 200, (name, href)


def test_a_page_that_asks_for_what_there_is_not_is_not_shown_half(make_server, tmp_path):
    for name in ("templates", "migrations", "assets"):
        shutil.copytree(stele.ROOT / name, tmp_path / name)
    (tmp_path / "templates" / "docs" / "urls.md").write_text("# Addresses\n\n{{no_such_value}} and {{key_min")
    s = make_server(config=f"share_dir = {tmp_path}\n")
    assert s.get("/docs/urls").status == 500
    assert any("no_such_value" in line for line in s.log_lines())
