"""llms.txt and security.txt."""
import datetime
import re

import pytest

from test_delete import delete
from test_moves import create, step, word


def test_llms_txt_lists_what_the_sitemap_lists_newest_first(make_server):
    s = make_server(settings={"title": "A [site]", "description": "of *this*"})
    made = [create(s, title=f"Text_{i} [x]", summary="one\\two" if i else None) for i in range(2)]
    create(s, seo={"noindex": True}), create(s, state="draft")
    gone = create(s)
    delete(s, gone)
    r = s.get("/llms.txt")
    assert (r.status, r.headers["Content-Type"]) == (200, "text/markdown; charset=utf-8")
    lines = r.text.splitlines()
    assert lines[0] == r"# A \[site\]" and lines[2] == r"> of \*this\*" and sum(line.startswith("# ") for line in lines) == 1
    articles = lines[lines.index("## Articles") + 2:lines.index("## Optional") - 1]
    assert articles == [rf"- [Text\_1 \[x\]]({made[1]['url']}): one\\two", rf"- [Text\_0 \[x\]]({made[0]['url']})"]
    for url in re.findall(r"\]\((http[^)]*)\)", r.text):
        assert s.get(url.replace(s.base, "")).status == 200, url
    moved = step(s, made[0], "move", {"slug": word()})
    assert moved["url"] in s.get("/llms.txt").text and made[0]["url"] + ")" not in s.get("/llms.txt").text


def test_a_closed_site_has_no_llms_txt(make_server):
    assert make_server(settings={"noindex": "true"}).get("/llms.txt").status == 404


def test_security_txt_is_there_with_a_contact_and_has_not_expired(make_server):
    s = make_server()
    assert s.get("/.well-known/security.txt").status == 404
    s.command("setting", "set", "security_contact", "mailto:security@example.org")
    r = s.get("/.well-known/security.txt")
    assert r.status == 200 and r.headers["Content-Type"] == "text/plain; charset=utf-8"
    fields = dict(line.split(": ", 1) for line in r.text.splitlines())
    assert fields["Contact"] == "mailto:security@example.org" and fields["Canonical"] == s.base + "/.well-known/security.txt"
    left = datetime.datetime.fromisoformat(fields["Expires"].replace("Z", "+00:00")) - datetime.datetime.now(datetime.timezone.utc)
    assert datetime.timedelta(days=250) < left < datetime.timedelta(days=366)


@pytest.mark.parametrize("value", ["me@example.org", "http://example.org/", "mailto:a b", "https://x\ny"])
def test_what_is_no_contact_is_refused(server, value):
    assert server.command("setting", "set", "security_contact", value, check=False).returncode == 1
