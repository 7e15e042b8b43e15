"""The contract says what the site does: every route is in it, every example of it is sent, every answer is as it says."""
import json
import os
import re
import shutil
import subprocess
import time

import jsonschema
import pytest

import stele

PATH = "/api/v1/openapi.json"
ROUTE = re.compile(r'^ROUTE\((\w+), "(/api/[^"]*)"', re.M)
WRITE = re.compile(r'^WRITE\(\w+, "(\w+)", "([^"]*)", (\w+), (\w+), (\w+), "([^"]*)"\)', re.M)
NPM = stele.ROOT / "tests" / "npm"
METHODS = ("get", "put", "post", "delete", "patch")


def text(path):
    return (stele.ROOT / path).read_text()


@pytest.fixture(scope="module")
def site():
    """One site for all examples: some are about what others made."""
    s = stele.Server().start()
    yield s
    s.close()


@pytest.fixture(scope="module")
def contract(site):
    answer = site.get(PATH)
    assert answer.status == 200 and answer.headers["Content-Type"] == "application/json"
    return answer.json()


def operations(contract):
    return {(method.upper(), path): o for path, item in contract["paths"].items() for method, o in item.items()}


def test_every_route_of_the_api_is_in_it_and_nothing_else(contract):
    routes = set(ROUTE.findall(text("app/http/routes.def")))
    assert len(routes) > 80
    assert set(operations(contract)) == routes


def test_every_rule_about_repeats_is_in_it(contract):
    rules = WRITE.findall(text("app/core/writes.def"))
    assert len(rules) > 50
    seconds = {"WRITE": 7 * 86400, "STATE": 30 * 86400, "FORM": 86400}
    for method, path, carrier, retention, permission, reason in rules:
        o = operations(contract)[method, path]
        names = {p["$ref"].rsplit("/", 1)[1] for p in o["parameters"]}
        assert o["x-idempotency"] == {"key": carrier.lower(), "retention_seconds": seconds[retention], "reason": reason}
        assert o["x-permission"]["action"] == permission.lower()
        assert ("idempotency_key" in names, "idempotency_key_optional" in names) == (carrier == "REQUIRED", carrier == "OPTIONAL")
        codes = codes_of(contract, o, "400")
        assert ("idempotency_key_required" in codes) == (carrier == "REQUIRED")
        assert "idempotency_key_conflict" in codes_of(contract, o, "409")
    reads = [o for key, o in operations(contract).items() if key not in {r[:2] for r in rules}]
    assert reads and all(o["x-idempotency"]["key"] == "none" for o in reads)


def resolve(contract, o):
    while "$ref" in o:
        found = contract
        for name in o["$ref"][2:].split("/"):
            found = found[name]
        o = found
    return o


def codes_of(contract, operation, status):
    if status not in operation["responses"]:
        return []
    response = resolve(contract, operation["responses"][status])
    return response["content"]["application/problem+json"]["schema"]["allOf"][1]["properties"]["code"]["enum"]


def test_permissions_are_those_of_the_list(contract):
    rows = re.findall(r"^PERMISSION\((\w+), (\w+), (\w+), (\w+), (\w+), (\w+), (\w+)\)", text("app/core/permission.def"), re.M)
    table = {row[0].lower(): row[1:] for row in rows}
    for o in operations(contract).values():
        scope, viewer, own, other, editor, admin = table[o["x-permission"]["action"]]
        may = [name for name, yes in (("viewer", viewer), ("author", other), ("editor", editor), ("admin", admin)) if yes == "true"]
        assert o["x-permission"]["scope"] == (None if scope == "NONE" else scope.lower())
        assert [r for r in o["x-permission"]["roles"] if r != "none"] == may
        assert o["x-permission"]["roles_for_own"] == (["author"] if own == "true" and other == "false" else [])


def test_every_operation_is_told_in_words_with_examples(contract):
    ids = [o["operationId"] for o in operations(contract).values()]
    assert len(set(ids)) == len(ids)
    for key, o in operations(contract).items():
        assert o["summary"] and len(o["tags"]) == 1 and o["x-examples"], key
        assert all(e["name"] and e["summary"] and 200 <= e["status"] < 600 for e in o["x-examples"]), key
        assert any(e["status"] < 300 for e in o["x-examples"]) or "cancel" in o["operationId"], key


# -- the examples, sent

class Stage:
    """What an example is about: made anew for each."""

    def __init__(self, site, path):
        self.site = site
        self.collection = path.split("/")[3]
        self.count = 0

    def make(self, given):
        return getattr(self, "made_" + given)()

    def resource(self, collection, state):
        Stage.serial = getattr(Stage, "serial", 0) + 1
        body = {"title": f"Example {Stage.serial}", "content": "Words.", "state": state}
        if state == "scheduled":
            body["publish_at"] = "2099-01-01T00:00:00Z"
        made = self.site.post(f"/api/v1/{collection}", body)
        assert made.status == 201, made
        return made.json()

    def own(self, state):
        return self.resource(self.collection if self.collection in ("articles", "pages", "tags", "authors") else "articles", state)

    def step(self, r, name):
        done = self.site.post(f"/api/v1/{self.collection}/{r['id']}/{name}")
        assert done.status == 200, done
        return done.json()

    def made_draft(self):
        return self.own("draft")

    def made_published(self):
        return self.own("published")

    def made_scheduled(self):
        return self.own("scheduled")

    def made_gone(self):
        r = self.own("published")
        done = self.site.request("DELETE", f"/api/v1/{self.collection}/{r['id']}", token=self.site.token, headers={"If-Match": '"1"'}, key=True)
        assert done.status == 200, done
        return done.json()

    def made_edited(self):
        """Three revisions."""
        r = self.own("draft")
        for version in (1, 2):
            done = self.site.request("PATCH", f"/api/v1/{self.collection}/{r['id']}", {"content": f"Words.\n\nMore: {version}."}, token=self.site.token,
                                     headers={"If-Match": f'"{version}"'}, key=True)
            assert done.status == 200, done
        return done.json()

    def made_copy(self):
        """The second of two with one text, which is long enough to tell."""
        collection = self.collection if self.collection == "pages" else "articles"
        first = self.resource(collection, "draft")
        body = {"title": first["title"], "content": "Words enough. " * 20, "state": "published"}
        made = [self.site.post(f"/api/v1/{collection}", body).json() for _ in range(2)]
        assert made[1]["duplicate_of"] == made[0]["id"]
        return made[1]

    def made_redirect(self, target="/"):
        Stage.serial = getattr(Stage, "serial", 0) + 1
        made = self.site.post("/api/v1/redirects", {"source": f"/example-{Stage.serial}", "target": target})
        assert made.status == 201, made
        return made.json()

    def made_dead_redirect(self):
        r = self.resource("articles", "published")
        self.made_redirect(r["id"])
        assert self.site.post(f"/api/v1/articles/{r['id']}/withdraw").status == 200
        return r

    def made_operation(self):
        key = stele.new_key()
        body = {"items": [{"article": {"title": "From a list"}}, {"article": {"title": ""}}]}
        for _ in range(600):
            a = self.site.post("/api/v1/imports", body, key=key)
            if a.status == 200:
                return a.json()
            assert a.status == 202, a
            self.site.post("/api/v1/articles", {"title": "Meanwhile"})
        raise AssertionError("the import did not end")

    def made_miss(self):
        assert self.site.get("/nobody-is-here").status == 404
        return {}


def cases():
    """From the files, so that each example is a test of its own; that the served document has the same ones is a test too."""
    out = []
    folder = stele.ROOT / "templates" / "docs" / "openapi"
    kinds = [("article", "articles", "Article"), ("page", "pages", "Page"), ("tag", "tags", "Tag"), ("author", "authors", "Author")]
    for file in sorted(folder.glob("*.json")):
        words = file.read_text()
        for names in {"texts": kinds[:2], "terms": kinds[2:], "resources": kinds}.get(file.stem, kinds[:1]):
            filled = words
            for mark, name in zip(("@kind@", "@kinds@", "@Kind@"), names):
                filled = filled.replace(mark, name)
            for key, o in json.loads(filled).get("operations", {}).items():
                out += [(*key.split(" "), e) for e in o["examples"]]
    return out


CASES = cases()


def test_the_document_has_every_example(contract):
    assert sum(len(o["x-examples"]) for o in operations(contract).values()) == len(CASES) > 200


def fill(value, r):
    """@id@ and @slug@ in an example are those of what it is about."""
    return json.loads(json.dumps(value).replace("@id@", r.get("id", "@id@")).replace("@slug@", r.get("slug", "@slug@")))


def check(contract, name, value):
    schema = {"$ref": "#/components/schemas/" + name} if isinstance(name, str) else name
    jsonschema.Draft202012Validator({**schema, "components": contract["components"]}, format_checker=jsonschema.FormatChecker()).validate(value)


@pytest.mark.parametrize("method, path, example", CASES, ids=[f"{m}-{p[8:]}-{e['name']}" for m, p, e in CASES])
def test_example(site, contract, method, path, example):
    o = operations(contract)[method, path]
    r = Stage(site, path).make(example["given"]) if "given" in example else {}
    params = {"id": r.get("id"), "n": "1", **example.get("params", {})}
    target = re.sub(r"{(\w+)}", lambda m: str(params[m[1]]), path) + example.get("query", "")
    headers = dict(example.get("headers", {}))
    if any(p["$ref"].endswith("/if_match") for p in o["parameters"]) and "If-Match" not in headers:
        headers["If-Match"] = f'"{r.get("version", 1)}"'
    key = o["x-idempotency"]["key"] == "required" and "Idempotency-Key" not in headers
    headers = {k: v for k, v in headers.items() if v is not None}
    body = fill(example["body"], r) if "body" in example else None
    if isinstance(body, str):
        headers.setdefault("Content-Type", "application/json")
    if isinstance(body, dict) and example["status"] < 300:
        check(contract, resolve(contract, o["requestBody"]["content"]["application/json"]["schema"]), body)
    token = {"none": None}.get(example.get("token"), site.tokens.get(example.get("token", "admin")))
    request = dict(body=body, token=token, headers=headers)
    key = stele.new_key() if key else None
    answer = site.request(method, target, key=key, **request)
    assert answer.status == example["status"], answer
    response = resolve(contract, o["responses"][str(answer.status)])
    media = answer.headers["Content-Type"].split(";")[0]
    schema = response["content"][media]["schema"]
    if media == "text/csv":
        assert answer.text.startswith("source,")
    else:
        check(contract, schema, answer.json())
    for name in response.get("headers", {}):
        if name not in ("Idempotency-Original-Status", "ETag", "Location"):
            assert name in answer.headers, name
    if "code" in example:
        assert answer.json()["code"] == example["code"] and example["code"] in codes_of(contract, o, str(answer.status))
    # A repeat is as the contract says, too.
    if key and answer.status < 300:
        again = site.request(method, target, key=key, **request)
        # Of work that goes on behind its answer both answers are looked at.
        deadline = time.monotonic() + 30
        while again.status == 202 and time.monotonic() < deadline:
            check(contract, resolve(contract, o["responses"]["202"])["content"]["application/json"]["schema"], again.json())
            time.sleep(0.1)
            again = site.request(method, target, key=key, **request)
        assert again.status in (200, 202) and str(again.status) in o["responses"], again
        if again.status == 200:
            assert again.headers["Idempotent-Replayed"] == "true"
            if media != "text/csv":
                check(contract, resolve(contract, o["responses"]["200"])["content"]["application/json"]["schema"], again.json())


def test_bodies_that_the_schemas_refuse_are_refused(site, contract):
    """Names that no schema knows: what is written down is all there is."""
    for (method, path), o in operations(contract).items():
        if method != "POST" or path.count("/") != 3 or "application/json" not in o.get("requestBody", {}).get("content", {}):
            continue
        body = {"surely_unknown": 1}
        schema = o["requestBody"]["content"]["application/json"]["schema"]
        with pytest.raises(jsonschema.ValidationError):
            check(contract, schema, body)
        assert site.post(path, body).status == 422, path


def test_examples_are_requests_as_they_stand(contract):
    shown = 0
    for o in operations(contract).values():
        for media in o.get("requestBody", {}).get("content", {}).values():
            for example in media.get("examples", {}).values():
                assert "@" not in json.dumps(example["value"]), example
                shown += 1
    assert shown > 20


def test_it_is_cached_and_compared(site):
    first = site.get(PATH)
    assert first.headers["ETag"] and "max-age" in first.headers["Cache-Control"]
    assert site.get(PATH, headers={"If-None-Match": first.headers["ETag"]}).status == 304
    assert site.request("HEAD", PATH).headers["ETag"] == first.headers["ETag"]
    assert site.post(PATH).status == 405
    for secret in [*site.tokens.values(), site.data, str(stele.ROOT)]:
        assert secret not in first.text


def test_it_follows_the_settings(make_server):
    s = make_server()
    before = s.get(PATH)
    s.command("setting", "set", "retention_write", "3d")
    after = s.get(PATH)
    create = lambda a: a.json()["paths"]["/api/v1/articles"]["post"]["x-idempotency"]["retention_seconds"]
    assert (create(before), create(after)) == (7 * 86400, 3 * 86400)
    assert before.headers["ETag"] != after.headers["ETag"]
    assert before.json()["servers"] == [{"url": s.base}]


@pytest.mark.parametrize("file, old, new, said", [
    ("operations.json", '"POST /api/v1/imports"', '"POST /api/v1/exports"', "POST /api/v1/imports"),
    ("reports.json", '"operations": {', '"operations": {"GET /api/v1/nothing": {},', "GET /api/v1/nothing"),
    ("redirects.json", '"path_conflict"', '"no_such_code"', "unknown error"),
    ("redirects.json", '"RedirectNew"', '"RedirectOld"', "RedirectNew"),
    ("reports.json", '"manage_redirects"', '"manage_nothing"', "permission"),
])
def test_a_contract_that_does_not_fit_the_routes_is_not_served(make_server, tmp_path, file, old, new, said):
    for name in ("templates", "migrations", "assets"):
        shutil.copytree(stele.ROOT / name, tmp_path / name)
    words = tmp_path / "templates" / "docs" / "openapi" / file
    words.write_text(words.read_text().replace(old, new, 1))
    s = make_server(config=f"share_dir = {tmp_path}\n")
    assert s.get(PATH).status == 500
    assert any("the contract" in line and said in line for line in s.log_lines()), s.log_tail()


def test_a_strict_linter_finds_nothing(contract, tmp_path):
    linter = NPM / "node_modules" / ".bin" / "redocly"
    if not linter.exists():
        pytest.skip("npm packages absent")
    (tmp_path / "openapi.json").write_text(json.dumps(contract))
    run = subprocess.run([linter, "lint", f"--config={NPM}/redocly.yaml", "openapi.json"], cwd=tmp_path, capture_output=True, text=True, timeout=120,
                         env={**os.environ, "REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true", "CI": "true"})
    assert run.returncode == 0, run.stdout + run.stderr
    assert "is valid" in run.stdout + run.stderr
