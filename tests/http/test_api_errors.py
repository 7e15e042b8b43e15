"""Every refusal of the API: its status, its code, its form."""
import json
import re

import pytest

from stele import new_key

JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def article(server):
    return server.post("/api/v1/articles", {"title": "Errors", "state": "published"}).json()


def problem(r, status, code):
    assert r.status == status, r
    assert r.headers["Content-Type"] == "application/problem+json"
    assert "no-store" in r.headers["Cache-Control"]
    body = r.json()
    assert body["code"] == code
    assert body["status"] == status
    assert body["type"].endswith("/docs/errors#" + code)
    assert body["request_id"] == r.headers["X-Request-Id"]
    assert isinstance(body["retryable"], bool) and body["title"] and body["detail"]
    return body


@pytest.mark.parametrize("method,path,status,code", [
    ("GET", "/api/v1/nothing", 404, "not_found"),
    ("GET", "/api/v1/articles/nothing", 404, "not_found"),
    ("GET", "/api/v1/articles/019a0000-0000-7000-8000-000000000000", 404, "not_found"),
    ("GET", "/api/v1/articles/a%00b", 404, "not_found"),
    ("GET", "/api/v1/articles/a%2Fb", 404, "not_found"),
    ("GET", "/api", 404, "not_found"),
    ("PUT", "/api/v1/articles", 405, "method_not_allowed"),
    ("DELETE", "/api/v1/articles", 405, "method_not_allowed"),
    ("GET", "/api/v1/articles/x/publish", 405, "method_not_allowed"),
    ("GET", "/api/v1/articles?cursor=x", 400, "invalid_cursor"),
    ("GET", "/api/v1/articles?limit=1000", 422, "validation_failed"),
])
def test_plain_refusals(server, method, path, status, code):
    r = server.request(method, path, token=server.token)
    if status == 404 and "%" in path:
        assert r.status in (400, 404)
        return
    problem(r, status, code)
    assert status != 405 or r.headers["Allow"]


@pytest.mark.parametrize("method,path", [("POST", "/api/v1/articles"), ("POST", "/api/v1/articles/x/publish"), ("PATCH", "/api/v1/articles/x"),
                                         ("POST", "/api/v1/tags"), ("POST", "/api/v1/pages/x/withdraw")])
def test_writes_need_credentials_before_all_else(server, method, path):
    r = server.request(method, path, b"not json", headers=JSON)
    problem(r, 401, "unauthenticated")
    assert r.headers["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize("value", ["", "Bearer", "Bearer ", "Basic abc", "bearerx", "Bearer a b", "Bearer " + "x" * 300, "Bearer stele_\u00e9"])
def test_authorization_that_is_none(server, value):
    r = server.request("POST", "/api/v1/articles", {"title": "x"}, key=True, headers=[("Authorization", value)])
    assert r.status == 401 and r.json()["code"] == "unauthenticated"


def test_two_authorizations_are_none(server):
    r = server.request("GET", "/api/v1/articles", headers=[("Authorization", f"Bearer {server.token}")] * 2)
    assert r.status in (400, 401)


def test_scheme_is_read_without_case(server):
    r = server.request("POST", "/api/v1/articles", {"title": "x"}, key=True, headers=[("Authorization", f"bEARER {server.token}")])
    assert r.status == 201


@pytest.mark.parametrize("kind", [None, "", "text/plain", "application/jsonx", "json", "application/json; charset=latin-1",
                                  "multipart/form-data; boundary=x"])
def test_only_json_is_taken(server, kind):
    r = server.post("/api/v1/articles", b'{"title":"x"}', headers={} if kind is None else {"Content-Type": kind})
    problem(r, 415, "unsupported_media_type")


def test_every_mistake_of_one_body_is_told(server):
    r = server.post("/api/v1/articles", {"titel": "x", "content": 7, "format": "rtf", "seo": {"canonical": "x", "more": 1}, "tags": [7]})
    body = problem(r, 422, "unknown_field")
    assert {e["field"] for e in body["errors"]} == {"titel", "title", "content", "format", "seo.canonical", "seo.more", "tags"}
    assert all(e["code"] and e["detail"] for e in body["errors"])


def test_thousand_mistakes_stay_a_small_answer(server):
    r = server.post("/api/v1/articles", {f"x{i}": i for i in range(5000)})
    problem(r, 422, "unknown_field")
    assert len(r.body) < 20000


def test_names_and_texts_of_the_request_come_back_escaped(server):
    name = '<script>"\\\u2028&'
    r = server.post("/api/v1/articles", {"title": "x", name: 1})
    assert problem(r, 422, "unknown_field")["errors"][0]["field"] == name
    assert json.loads(r.body)


def test_unknown_member_of_an_update(server, article):
    r = server.request("PATCH", f"/api/v1/articles/{article['id']}", {"state": "draft"}, token=server.token, headers={"If-Match": "*"})
    assert problem(r, 422, "unknown_field")["errors"][0]["field"] == "state"


def test_precondition_comes_before_the_content_is_looked_at(server, article):
    r = server.request("PATCH", f"/api/v1/articles/{article['id']}", {"nonsense": 1}, token=server.token)
    problem(r, 428, "precondition_required")


@pytest.mark.parametrize("tag", ['"2"', 'W/"1"', "1", '"1', "''", '"0x1"', '"+1"', "\"\""])
def test_stale_or_strange_versions(server, tag):
    a = server.post("/api/v1/articles", {"title": "x"}).json()
    r = server.request("PATCH", f"/api/v1/articles/{a['id']}", {"title": "y"}, token=server.token, headers={"If-Match": tag})
    problem(r, 412, "version_conflict")


def test_list_of_versions_with_the_right_one(server):
    a = server.post("/api/v1/articles", {"title": "x"}).json()
    r = server.request("PATCH", f"/api/v1/articles/{a['id']}", {"title": "y"}, token=server.token, headers={"If-Match": '"7", W/"8" , "1"'})
    assert r.status == 200


def test_writes_to_what_is_not_there(server):
    for path in ("/api/v1/articles/nothing/publish", "/api/v1/pages/nothing/withdraw"):
        problem(server.post(path), 404, "not_found")
    r = server.request("PATCH", "/api/v1/tags/nothing", {"title": "x"}, token=server.token, headers={"If-Match": "*"})
    problem(r, 404, "not_found")


def test_kind_is_part_of_the_address(server, article):
    for kind in ("pages", "tags", "authors"):
        problem(server.get(f"/api/v1/{kind}/{article['id']}"), 404, "not_found")
        problem(server.post(f"/api/v1/{kind}/{article['id']}/publish"), 404, "not_found")


def test_retry_after_is_for_those_who_may_retry(server):
    refused = [server.post("/api/v1/articles", {"titel": "x"}), server.post("/api/v1/articles", b"{", headers=JSON),
               server.post("/api/v1/articles", {"title": "x"}, key=None), server.get("/api/v1/nothing")]
    for r in refused:
        assert r.status >= 400 and "Retry-After" not in r.headers
        assert r.json()["retryable"] is False


def test_key_problems_lead_to_the_manual(server):
    r = server.post("/api/v1/articles", {"title": "x"}, key=None)
    target = re.match(r'<([^>]+)>; rel="describedby"', r.headers["Link"])[1]
    assert server.get(target[target.index("/docs"):]).status == 200


def test_no_answer_names_what_lies_inside(server, article):
    for r in (server.post("/api/v1/articles", {"title": "x", "slug": article["slug"]}), server.get("/api/v1/articles/'%20OR%201=1--"),
              server.post("/api/v1/articles", {"title": "x", "client_ref": "'; DROP TABLE resource; --"})):
        text = r.body.decode().lower()
        for word in ("sqlite", "select ", "/work", ".c:", "constraint failed"):
            assert word not in text
    assert server.value("SELECT count(*) FROM resource") > 0


def test_what_broke_on_our_side_is_told_to_the_log_alone(make_server):
    s = make_server(env={"STELE_FAULT": "post_claim:error"})
    r = s.post("/api/v1/articles", {"title": "x"})
    assert r.status == 500 and "the claim" not in r.text
    told = [e for e in s.log_events("request.failed") if e["request_id"] == r.json()["request_id"]]
    assert len(told) == 1 and "the claim" in told[0]["detail"] and told[0]["level"] == "error"


@pytest.mark.parametrize("method, path, status", [
    ("POST", "/api/articles", 308), ("GET", "/api/articles?limit=1&cursor=x", 301), ("PATCH", "/api/pages/%2e%2e", 308),
    ("POST", "/api/tags/a/publish", 308), ("GET", "/api/nothing", 404), ("GET", "/api", 404), ("GET", "/api/v2/articles", 404),
    ("GET", "/apiary", 404), ("GET", "/api//articles", 404)])
def test_address_without_version_is_one_redirect(server, method, path, status):
    before = server.value("SELECT count(*) FROM resource")
    r = server.request(method, path, {"title": "x"} if method != "GET" else None, token=server.token, key=method == "POST")
    assert r.status == status
    assert r.headers.get("Location") == (server.base + path.replace("/api", "/api/v1") if status != 404 else None)
    assert server.value("SELECT count(*) FROM resource") == before


def test_body_of_a_read_is_not_looked_at(server, article):
    r = server.request("GET", f"/api/v1/articles/{article['id']}", b"{{{{", headers=JSON)
    assert r.status == 200


def test_head_of_the_api(server, article):
    r = server.request("HEAD", f"/api/v1/articles/{article['id']}")
    assert r.status == 200 and r.body == b"" and r.headers["ETag"] == '"1"'


def test_same_refusal_whatever_the_key(server):
    keys = [new_key(), new_key()]
    codes = {server.post("/api/v1/articles", {"titel": "x"}, key=k).json()["code"] for k in keys * 2}
    assert codes == {"unknown_field"}
