"""What content becomes, read with a parser that is not ours: foreign attack and Markdown corpora, and made-up markup."""
import html
import json
import os
import pathlib
import re
import struct
import subprocess
import unicodedata

import html5lib
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("STELE_BUILD", ROOT / "build" / "test")).resolve()
LIBRARIES = ["sqlite3", "libxml-2.0", "jansson", "icu-i18n", "icu-uc", "libcrypto", "libargon2", "libbrotlienc", "zlib"]
HTML = "{http://www.w3.org/1999/xhtml}"
SCHEMES = {"http", "https", "mailto", "tel"}
ELEMENTS = set(re.findall(r'^ELEMENT\(\w+, "(\w+)"', (ROOT / "app/render/elements.def").read_text(), re.M))
ATTRIBUTES = set(re.findall(r'^ATTRIBUTE\(\w+, "(\w+)"', (ROOT / "app/render/attributes.def").read_text(), re.M))


class Rendered:
    def __init__(self, html, text, excerpt, links, images):
        self.html, self.text, self.excerpt = html, text, excerpt
        self.links, self.images = json.loads(links), json.loads(images)


class Renderer:
    def __init__(self, program):
        self.process = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def _take(self, n):
        data = self.process.stdout.read(n)
        assert len(data) == n, f"the renderer died: {self.process.poll()}"
        return data

    def _text(self):
        return self._take(struct.unpack("<I", self._take(4))[0]).decode()

    def __call__(self, kind, source):
        """Rendered, or the text of the refusal."""
        data = source.encode() if isinstance(source, str) else source
        self.process.stdin.write(kind + struct.pack("<I", len(data)) + data)
        self.process.stdin.flush()
        answer = self._take(1)
        if answer == b"-":
            return self._text()
        made = Rendered(*[self._text() for _ in range(5)])
        assert answer == b"+", f"render_text differs from the text made while rendering:\n{made.html}\n{made.text}"
        return made

    def markdown(self, source):
        return self(b"m", source)

    def markup(self, source):
        return self(b"h", source)


@pytest.fixture(scope="session")
def render(tmp_path_factory):
    program = tmp_path_factory.mktemp("render") / "content_driver"
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", *LIBRARIES], capture_output=True, text=True, check=True).stdout
    san = ["-fsanitize=address,undefined"] if b"__asan_init" in (BUILD / "librender.a").read_bytes() else []
    subprocess.run(["cc", "-O1", "-D_GNU_SOURCE", *san, f"-I{ROOT}/app", "-o", program, ROOT / "tests/property/content_driver.c",
                    BUILD / "librender.a", BUILD / "libcore.a", BUILD / "libbase.a", *flags.split(),
                    "-lmd4c-html", "-lmd4c", "-lgumbo", "-lpthread"], check=True)
    r = Renderer(program)
    yield r
    r.process.stdin.close()
    assert r.process.wait(10) == 0


@pytest.fixture(scope="session")
def corpora():
    path = pathlib.Path(os.environ.get("STELE_CORPORA", ROOT.parent / "shared" / "corpora"))
    if not path.is_dir():
        pytest.skip("corpora absent")
    return path


def parse(markup):
    return html5lib.parseFragment(markup, container="div", treebuilder="etree")


def outline(node, depth=0):
    """Elements and text in document order with their depth."""
    found = []
    for text, child in [(node.text, None)] + [(c.tail, c) for c in node]:
        if child is not None:
            found += [(depth + 1, child.tag[len(HTML):])] + outline(child, depth + 1)
        if text:
            found.append((depth + 1, "#" + text))
    return found


def as_written(markup):
    """The same, by the tags alone: without anything that a parser would add, move or close."""
    found, open_, at = [], [], 0
    for tag in re.finditer(r"<(/?)(\w+)[^<>]*>|\Z", markup):
        text = html.unescape(markup[at:tag.start()])
        assert "<" not in markup[at:tag.start()]
        if open_ and open_[-1] == "pre" and found[-1][1] == "pre" and text.startswith("\n"):
            text = text[1:]
        if text:
            found.append((len(open_) + 1, "#" + text))
        at = tag.end()
        if tag[1]:
            assert open_.pop() == tag[2], markup
        elif tag[2]:
            found.append((len(open_) + 1, tag[2]))
            if tag[2] not in ("br", "img", "hr", "wbr", "source", "track"):
                open_.append(tag[2])
    assert not open_, markup
    return found


def assert_harmless(markup):
    for node in parse(markup).iter():
        if not isinstance(node.tag, str):
            pytest.fail(f"a comment came through: {markup}")
        if node.tag == "DOCUMENT_FRAGMENT":
            continue
        assert node.tag.startswith(HTML), (node.tag, markup)
        name = node.tag[len(HTML):]
        assert name in ELEMENTS, (name, markup)
        for key, value in node.attrib.items():
            assert key in ATTRIBUTES or key in ("controls", "loading"), (key, markup)
            if key in ("href", "src", "cite", "poster"):
                assert value.isascii() and not re.search(r"[\x00-\x20\x7f]", value), (value, markup)
                head = re.split("[/?#]", value)[0]
                if ":" in head:
                    assert head.split(":")[0].lower() in SCHEMES, (value, markup)
            if key == "class":
                assert re.fullmatch(r"language-[-\w+#.]+|align-(left|center|right)", value), markup


def assert_sound(render, made):
    """Harmless, a tree that other parsers read alike, with unique ids, and unchanged by rendering it again."""
    assert_harmless(made.html)
    again = render.markup(made.html)
    assert again.html == made.html
    assert (again.text, again.links, again.images) == (made.text, made.links, made.images)
    tree = parse(made.html)
    assert outline(tree) == as_written(made.html), made.html
    ids = [n.attrib["id"] for n in tree.iter() if "id" in n.attrib]
    assert len(ids) == len(set(ids))
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff]", made.html + made.text)
    assert "<h1" not in made.html


def payloads(corpora):
    folder = corpora / "xss"
    for case in json.loads((folder / "dompurify-expect.json").read_text()):
        yield case["payload"]
    for test in json.loads((folder / "bleach-clean-params.json").read_text()):
        for row in test["rows"]:
            yield from (v for v in row["values"] if isinstance(v, str))
    for case in json.loads((folder / "bleach-clean.json").read_text()) + json.loads((folder / "bleach-data.json").read_text()):
        yield case["input"]


def test_no_attack_of_the_corpora_survives(render, corpora):
    count = 0
    for payload in payloads(corpora):
        if not isinstance(payload, str):
            continue
        payload = payload.encode("utf-8", "replace").decode()
        for kind in (b"h", b"m"):
            made = render(kind, payload)
            assert isinstance(made, Rendered), (payload, made)
            assert_sound(render, made)
            count += 1
    assert count > 500


def words(markup):
    """The visible text, without blanks, of what html5lib makes of the markup."""
    tree = html5lib.parse(markup)
    for node in list(tree.iter()):
        for child in list(node):
            name = child.tag.rpartition("}")[2] if isinstance(child.tag, str) else "!"
            if name in ("script", "style", "!", "title", "textarea"):
                keep = child.tail or ""
                at = list(node).index(child)
                node.remove(child)
                if at == 0:
                    node.text = (node.text or "") + keep
                else:
                    node[at - 1].tail = (node[at - 1].tail or "") + keep
            elif name == "img" and not re.match("https?:|[^:]*$", child.attrib.get("src", "")):
                child.text = child.attrib.get("alt", "")
    return re.sub(r"\s+", "", "".join(tree.itertext()))


# 171: textarea begins an HTML block; 354: symbols beside emphasis; 625, 626: comments. All four are newer than md4c 0.4.8.
KNOWN = {171, 354, 625, 626}


def test_commonmark_examples_keep_their_text(render, corpora):
    different = set()
    for case in json.loads((corpora / "commonmark" / "commonmark-0.31.2-spec.json").read_text()):
        made = render.markdown(case["markdown"])
        assert isinstance(made, Rendered), case
        assert_sound(render, made)
        if words(made.html) != words(case["html"]):
            different.add(case["example"])
    print("CommonMark examples with another text:", sorted(different))
    assert different <= KNOWN | EXTENSIONS


# Where tables, strikethrough, bare links and task lists read the source in their own way, as they should.
EXTENSIONS = set()


def raw_free(source):
    """Can the source go the short way? Then both ways must meet."""
    return not re.search(r"[<&]", source)


MARKS = ["*", "**", "_", "`", "~~", "# ", "## ", "- ", "1. ", "> ", "[", "](", ")", "![", "\n", "\n\n", "    ", "| ", "|\n|---|---|\n", "---\n",
         "```", "\\", "&amp;", "&#65;", "&nbsp;", "&copy;", "http://a.b/c", "www.x.yz", "a@b.cd", "word", " ", "天地", "é", "\t", "- [x] ",
         "{}", ":", "\"", "'", "<b>", "</b>", "<div>", "</div>", "<!-- c -->", "<a href='x'>", "javascript:", "\r\n", "\u00a0", "=", "!"]
NAMES = sorted(ELEMENTS) + ["script", "style", "svg", "math", "mtext", "template", "noscript", "iframe", "form", "select", "option", "textarea",
                            "title", "h1", "font", "center", "section", "button", "object", "xmp", "plaintext", "foreignObject", "input",
                            "frameset", "nobr", "applet", "marquee", "col", "colgroup", "body", "html", "head", "x-y", "annotation-xml"]
VALUES = ["x", "", "1", "javascript:alert(1)", "JaVa\tScript:1", "&#106;avascript:1", "http://a/b?c=d&e", "data:text/html,x", "/p q", "rtl",
          "language-c", "align-left", "checkbox", "a b", "\u00e9", "en-GB", "\"'<>"]
KEYS = sorted(ATTRIBUTES) + ["style", "onclick", "onerror", "xlink:href", "name", "align", "checked", "data-x", "xmlns", "srcdoc", "formaction"]

markup_pieces = st.one_of(
    st.builds(lambda n, a: "<" + n + "".join(f' {k}="{html.escape(v)}"' for k, v in a) + ">", st.sampled_from(NAMES),
              st.lists(st.tuples(st.sampled_from(KEYS), st.sampled_from(VALUES)), max_size=3)),
    st.builds(lambda n: f"</{n}>", st.sampled_from(NAMES)),
    st.sampled_from(["text", " ", "\n", "&amp;", "&lt;", "&#0;", "&#13;", "&#x1f;", "<!--", "-->", "<![CDATA[", "]]>", "<", "</", "<?", "é", "\x00"]),
    st.text(max_size=5))
checked = settings(max_examples=int(os.environ.get("STELE_EXAMPLES", "400")), deadline=None,
                   suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


@checked
@given(st.lists(markup_pieces, max_size=25).map("".join))
def test_any_markup_becomes_sound(render, source):
    made = render.markup(source.encode("utf-8", "ignore").decode())
    assert isinstance(made, Rendered), made
    assert_sound(render, made)


@checked
@given(st.lists(st.one_of(st.sampled_from(MARKS), st.text(max_size=3)), max_size=40).map("".join))
def test_any_markdown_becomes_sound(render, source):
    source = source.encode("utf-8", "ignore").decode()
    made = render.markdown(source)
    assert isinstance(made, Rendered), made
    assert_sound(render, made)


@checked
@given(st.lists(st.one_of(st.sampled_from([m for m in MARKS if raw_free(m)]), st.text(alphabet="ab é天\n", max_size=3)), max_size=40).map("".join))
def test_the_short_way_and_the_parser_agree(render, source):
    """A comment in front, which leaves nothing behind, sends the same text through the HTML parser."""
    short = render.markdown(source)
    long = render.markdown("<!-- -->\n\n" + source)
    assert long.html.lstrip("\n") == short.html.lstrip("\n")
    assert long.links == short.links and long.images == short.images and long.text == short.text


def test_excerpts_end_at_a_word(render):
    made = render.markdown("# Title\n\n" + "seven words of text stand in here " * 20)
    assert made.excerpt.startswith("seven words") and made.excerpt.endswith("…")
    assert 160 <= len(made.excerpt) - 1 <= 200
    assert made.text[len("Title "):].startswith(made.excerpt[:-1] + " ")
    chinese = render.markdown("地址不会自己改变，" * 40)
    assert 160 <= len(chinese.excerpt) - 1 <= 200 and chinese.excerpt.endswith("，…")
    assert unicodedata.is_normalized("NFC", chinese.excerpt)
