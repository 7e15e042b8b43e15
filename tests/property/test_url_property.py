"""For every spelling of a published path that anybody can think of: 200, or exactly one 301 whose target answers 200 and names the
same canonical address. And no path at all leads to another host."""
import pathlib
import sys
import unicodedata
from urllib.parse import unquote_to_bytes, urlencode

import pytest
from hypothesis import HealthCheck, assume, given, settings, strategies as st

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "http"))

import stele  # noqa: E402
from site_pages import Page, alias, publish, wait_for  # noqa: E402

TITLES = ["Plain words", "Straße nach Łódź", "Ελληνικά Σίσυφος", "你好 世界", "Ångström ñandú", "한글 제목", "हिन्दी शीर्षक", "Привет Мир", "ﬁne ligature", "a"]
PROFILE = settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))


@pytest.fixture(scope="module")
def server():
    if not stele.STELE.exists():
        pytest.fail(f"{stele.STELE} is missing: run `make test-build`, or set STELE_BUILD")
    s = stele.Server()
    try:
        s.start()
        s.made = [publish(s, t) for t in TITLES] + [publish(s, t, kind="pages") for t in ("Über uns", "Contact")]
        s.made.append(publish(s, "Unter Seite", kind="pages", parent=s.made[-1]["id"]))
        s.made += [publish(s, "Sticky Émile", kind="authors", content="About.")]
        publish(s, "Tagged", tags=["Grüne Äpfel"])
        s.pages = [a["url"] for a in s.made] + [f"{s.base}/{p}" for p in ("articles", "tags", "authors")]
        s.pages.append(f"{s.base}/tags/gr%C3%BCne-%C3%A4pfel")
        yield s
    finally:
        s.close()


def fold(text):
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", text).casefold())


def ask(server, target):
    """Status, Location, body of a target sent as these very bytes."""
    data = server.raw(b"GET " + target + b" HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nConnection: close\r\n\r\n" % server.port)
    assert data.startswith(b"HTTP/1.1 "), (target, data[:200])
    head, body = data.split(b"\r\n\r\n", 1)
    fields = [line.split(b": ", 1) for line in head.split(b"\r\n")[1:]]
    found = [v.decode("ascii") for k, v in fields if k.lower() == b"location"]
    assert len(found) <= 1
    types = [v.decode("ascii") for k, v in fields if k.lower() == b"content-type"]
    return int(head.split()[1]), found[0] if found else None, stele.Response(200, [("Content-Type", types[0])], body)


def check(server, target, url):
    status, location, response = ask(server, target)
    if status == 301:
        # One hop: byte for byte the address, and whatever query came along.
        assert location.split("?")[0] == url, (target, location)
        assert location.partition("?")[2].encode() == target.partition(b"?")[2], (target, location)
        status, again, response = ask(server, location[len(server.base):].encode())
        assert again is None, (target, location, again)
    assert status == 200, (target, url)
    assert Page(response).canonical == url, target
    return location


@st.composite
def spelled(draw, path):
    """Bytes of a target that mean `path`: other case, other normal form, other escapes, more slashes and dots, a query."""
    text = unquote_to_bytes(path).decode()
    form = draw(st.sampled_from(["NFC", "NFD"]))
    changed = "".join(draw(st.sampled_from([c, c.upper(), c.lower(), c.swapcase()])) if draw(st.booleans()) else c for c in text)
    changed = unicodedata.normalize(form, changed)
    assume(fold(changed) == fold(text))
    out = b""
    for segment in changed.split("/")[1:]:
        out += draw(st.sampled_from([b"/", b"/", b"/", b"//", b"/./", b"/x/../", b"///", b"/%2e/", b"/a%20b/%2E%2e/"]))
        style = draw(st.sampled_from(["usual", "raw", "all", "mixed"]))
        for byte in segment.encode():
            plain = chr(byte).isascii() and (chr(byte).isalnum() or chr(byte) in "-._~")
            if style == "raw" or (style == "usual" and plain) or (style == "mixed" and draw(st.booleans())):
                out += bytes([byte])
            else:
                out += (b"%%%02X" if draw(st.booleans()) else b"%%%02x") % byte
    out += draw(st.sampled_from([b"", b"", b"/", b"//", b"/.", b"/y/..", b"/%2E"]))
    query = draw(st.lists(st.sampled_from([b"utm_source=x", b"a=%2f", b"b", b"=", b"c=1+2", b"q=%zz", b"d=a|b^c`{}\"<>'\\"]), max_size=3))
    return out + (b"?" + b"&".join(query) if query else b"")


@PROFILE
@given(data=st.data())
def test_any_spelling_of_a_live_address_is_one_hop_away(server, data):
    url = data.draw(st.sampled_from(server.pages))
    check(server, data.draw(spelled(url[len(server.base):])), url)


@settings(PROFILE, max_examples=150)
@given(data=st.data())
def test_any_spelling_of_an_old_address_is_one_hop_away(server, data):
    if not hasattr(server, "old"):
        server.old = {f"/2020/old-{i}": a["url"] for i, a in enumerate(server.made[:5])}
        for (old, _), a in zip(server.old.items(), server.made):
            alias(server, old, a)
        wait_for(lambda: all(server.get(old).status == 301 for old in server.old))
    old = data.draw(st.sampled_from(sorted(server.old)))
    assert check(server, data.draw(spelled(old)), server.old[old]) is not None


FRAGMENTS = st.sampled_from([b"/", b"//", b"\\", b"%5C", b"%2F", b"%2f", b"evil.test", b"@", b":", b":80", b"..", b".", b"%2e", b";", b"http:", b"https://",
                             b"articles", b"ARTICLES", b"plain-words", b"tags", b"%", b"%2", b"%zz", b"%25", b"%252f", b"\xff", b"%ff", b"%C3", b"%C3%28",
                             b"\xc3\xa9", b"%ED%A0%80", b"%F4%90%80%80", b"%C0%AF", b"?", b"?page=2", b"&page=0", b"?page=1", b"=", b"+", b"*", b"%3B", b"admin",
                             b"robots.txt", b"sitemap.xml", b"sitemap-1.xml", b"media/", b"docs/errors", b"a" * 300, b"%61" * 100, b"|", b"\"", b"<script>"])


@PROFILE
@given(pieces=st.lists(FRAGMENTS, max_size=12))
def test_no_path_at_all_leads_elsewhere_or_fails(server, pieces):
    target = b"/" + b"".join(pieces)
    assume(len(target) < 1900)
    status, location, _ = ask(server, target)
    assert status in (200, 301, 400, 404, 405, 414), (target, status)
    if status == 301:
        assert location.startswith(server.base + "/"), (target, location)
        status, again, _ = ask(server, location[len(server.base):].encode())
        assert status == 200 and again is None, (target, location, status, again)


@settings(PROFILE, max_examples=150)
@given(raw=st.binary(max_size=80))
def test_bytes_are_refused_or_answered(server, raw):
    target = b"/" + bytes(b for b in raw if b > 0x20)
    status, location, _ = ask(server, target)
    assert status in (200, 301, 400, 404), (target, status)
    if location:
        assert location.startswith(server.base + "/") and location.isascii()


PAIRS = [{"q": "a b"}, {"ключ": "зн&=+%"}, {"e": "é"}, {"a": "", "b": "=c;d/?"}, {"p": "12", "page_id": "7"}, {"q": "#[]{}|"}]


@st.composite
def spelled_pairs(draw, pairs):
    """Bytes of a query that holds these pairs, in any order, among others, in any spelling."""
    out = []
    for name, value in draw(st.permutations(sorted(pairs.items()))):
        parts = []
        for text, stays in ((name, "&=+%#"), (value, "&+%#")):
            form = draw(st.sampled_from(["NFC", "NFD"]))
            part = b""
            for byte in unicodedata.normalize(form, text).encode():
                c = chr(byte)
                must = c in stays or byte < 0x21 or byte > 0x7e and draw(st.booleans())
                if c == " " and draw(st.booleans()):
                    part += b"+"
                elif must or draw(st.booleans()):
                    part += draw(st.sampled_from([b"%%%02x", b"%%%02X"])) % byte
                else:
                    part += bytes([byte])
            parts.append(part)
        out.append(parts[0] if not value and draw(st.booleans()) else b"=".join(parts))
        out += draw(st.lists(st.sampled_from([b"", b"utm=1", b"x", b"%zz=1"]), max_size=2))
    return b"&".join(out)


@PROFILE
@given(st.data())
def test_any_spelling_of_the_pairs_of_a_source_leads_to_its_target(server, data):
    if not hasattr(server, "with_pairs"):
        server.with_pairs = [(f"/pairs-{n}", pairs) for n, pairs in enumerate(PAIRS)]
        for path, pairs in server.with_pairs:
            r = server.post("/api/v1/redirects", {"source": f"{path}?{urlencode(pairs)}", "target": server.made[0]["id"]})
            assert r.status == 201, r
    path, pairs = data.draw(st.sampled_from(server.with_pairs))
    query = data.draw(spelled_pairs(pairs))
    status, location, _ = ask(server, path.encode() + b"?" + query)
    assert status == 301 and location.split("?")[0] == server.made[0]["url"], (query, location)
    # The others are kept, these are gone.
    assert set(filter(None, location.partition("?")[2].split("&"))) == {p.decode() for p in query.split(b"&") if p in (b"utm=1", b"x", b"%zz=1")}, (query, location)
    missing = b"&".join(query.split(b"&")[1:]) if len(pairs) > 1 and query.split(b"&")[0] else b"other=1"
    assert ask(server, path.encode() + b"?" + missing)[0] == 404
