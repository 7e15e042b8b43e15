/* test_markdown.c - Markdown, the two ways through it, and what is read off a text on the way. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/unicode.h"
#include "render/markdown.h"

static struct rendered
markdown(struct scope *s, const char *source)
{
	struct rendered r = { NULL };

	assert_int_equal(render_content(s, &r, FORMAT_MARKDOWN, str_of(source)), OK);
	assert_string_equal(render_text(s, str_of(r.html)), r.text);
	return r;
}

static void
expect(const char *source, const char *html)
{
	struct scope *s = scope_new("test");

	assert_string_equal(markdown(s, source).html, html);
	scope_free(s);
}

static void
expect_text(const char *source, const char *text)
{
	struct scope *s = scope_new("test");

	assert_string_equal(markdown(s, source).text, text);
	scope_free(s);
}

static void
expect_refused(const char *source, size_t len, const char *detail)
{
	struct scope *s = scope_new("test");
	struct rendered r;

	assert_int_equal(render_content(s, &r, FORMAT_MARKDOWN, (struct str){ source, len }), ERR_INVALID);
	assert_string_equal(s->error->field, "content");
	assert_non_null(strstr(s->error->detail, detail));
	scope_free(s);
}

static void
blocks_become_their_elements(void **unused)
{
	expect("", "");
	expect("a *b* **c** `d` ~~e~~", "<p>a <em>b</em> <strong>c</strong> <code>d</code> <del>e</del></p>\n");
	expect("> a\n\n---\n", "<blockquote>\n<p>a</p>\n</blockquote>\n<hr>\n");
	expect("- a\n- b\n", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n");
	expect("7. a\n\n   b\n", "<ol start=\"7\">\n<li><p>a</p>\n<p>b</p>\n</li>\n</ol>\n");
	expect("- [ ] a\n- [X] b\n", "<ul>\n<li>☐ a</li>\n<li>☑ b</li>\n</ul>\n");
	expect("```c++ x\n<a> & \"b\"\n```\n", "<pre><code class=\"language-c++\">&lt;a&gt; &amp; &quot;b&quot;\n</code></pre>\n");
	expect("```\n\nx\n```\n", "<pre><code>\nx\n</code></pre>\n");
	expect("a  \nb\\\nc\nd", "<p>a<br>\nb<br>\nc\nd</p>\n");
	expect("|a|b|\n|:-:|--:|\n|1|2|\n", "<table><thead><tr><th class=\"align-center\">a</th><th class=\"align-right\">b</th></tr></thead>"
	    "<tbody><tr><td class=\"align-center\">1</td><td class=\"align-right\">2</td></tr></tbody></table>\n");
}

static void
headings_are_anchored_and_leave_h1_to_the_page(void **unused)
{
	expect("# A b\n## A b\n### Café 天地\n###### x\n", "<h2 id=\"a-b\">A b</h2>\n<h2 id=\"a-b-2\">A b</h2>\n"
	    "<h3 id=\"café-天地\">Café 天地</h3>\n<h6 id=\"x\">x</h6>\n");
	expect("# *a* `b`\n", "<h2 id=\"a-b\"><em>a</em> <code>b</code></h2>\n");
	expect("# !\n# ?\n#\n", "<h2 id=\"section\">!</h2>\n<h2 id=\"section-2\">?</h2>\n<h2></h2>\n");
	expect("# Stele main\n", "<h2 id=\"stele-main-2\">Stele main</h2>\n");
	/* A made id never meets one that was given, in whatever order they come. */
	expect("# a\n# a\n<p id=\"a-3\">x</p>\n\n# a\n", "<h2 id=\"a\">a</h2>\n<h2 id=\"a-2\">a</h2>\n<p id=\"a-3\">x</p>\n<h2 id=\"a-4\">a</h2>\n");
}

static void
links_keep_allowed_schemes_only(void **unused)
{
	expect("[a](http://x/?a=1&b=2 \"t\")", "<p><a href=\"http://x/?a=1&amp;b=2\" title=\"t\">a</a></p>\n");
	expect("[a](/b#c) [d](#e) [f](mailto:g@h) [i](tel:+1)", "<p><a href=\"/b#c\">a</a> <a href=\"#e\">d</a> <a href=\"mailto:g@h\">f</a> "
	    "<a href=\"tel:+1\">i</a></p>\n");
	expect("[a](javascript:b) [c](JAVA&#x0a;SCRIPT:d) [e](data:f) [g](vbscript:h) [i](&#32;javascript:j)", "<p>a c e g i</p>\n");
	expect("[a](<ä b.html>) [c](x~y'z)", "<p><a href=\"%C3%A4%20b.html\">a</a> <a href=\"x~y%27z\">c</a></p>\n");
	expect("<http://a.b> www.a.b c@d.ef", "<p><a href=\"http://a.b\">http://a.b</a> <a href=\"http://www.a.b\">www.a.b</a> "
	    "<a href=\"mailto:c@d.ef\">c@d.ef</a></p>\n");
}

static void
images_have_alternative_text_and_later_ones_wait(void **unused)
{
	expect("![a *b* [c](d)](e.png \"f\") ![](g.png)", "<p><img src=\"e.png\" alt=\"a b c\" title=\"f\"> "
	    "<img src=\"g.png\" alt=\"\" loading=\"lazy\"></p>\n");
	expect("![a](data:b) ![c](mailto:d)", "<p>a c</p>\n");
}

static void
entities_are_characters(void **unused)
{
	expect("&amp; &lt; &quot; &#65; &#x42; &nbsp;", "<p>&amp; &lt; &quot; A B \u00a0</p>\n");
	expect("&#0; &#xd800; &#x110000; &#x1;", "<p>\ufffd \ufffd \ufffd \ufffd</p>\n");
	expect("&copy; &ouml; &nosuch;", "<p>© ö &amp;nosuch;</p>\n");
	expect("[a](b \"&hellip;\") [c](/&uuml;)", "<p><a href=\"b\" title=\"…\">a</a> <a href=\"/%C3%BC\">c</a></p>\n");
}

/* A comment, which leaves nothing, sends the text through the HTML parser. */
static void
both_ways_give_the_same_bytes(void **unused)
{
	static const char *const sources[] = {
		"# A title\n\nText *with* **all** `kinds` of ~~marks~~ \"and\" quotes & <http://x.y/?a&b>.\n\n> quoted\n> > twice\n",
		"1. a\n   - b\n     - c\n\n   d\n2. e\n\n- [x] f\n- [ ] g\n",
		"|a|b|\n|---|:--|\n|*x*|`|`|\n\n```js\nif (a < b && c) { }\n```\n\n    indented\n\tcode\n",
		"![i *j*](k.png 'l') ![m](n.png) [o ![p](q)](r)\n\n***\n\na\\\nb  \nc\n",
		"&amp;&#x20AC;&nbsp;&#9731; \\* [s](t \"&quot;\") www.u.v w@x.yz http://~a.b/c'd~\n",
		"# x\n# x\n## y z\n\nSetext\n======\n",
	};

	for (size_t i = 0; i < COUNT(sources); i++) {
		struct scope *s = scope_new("test");
		struct rendered shortly = markdown(s, sources[i]), parsed = markdown(s, scope_printf(s, "<!-- -->\n\n%s", sources[i]));
		assert_string_equal(parsed.html + strspn(parsed.html, "\n"), shortly.html);
		assert_string_equal(parsed.text, shortly.text);
		assert_string_equal(parsed.links, shortly.links);
		assert_string_equal(parsed.images, shortly.images);
		scope_free(s);
	}
}

static void
raw_html_is_kept_as_far_as_it_is_allowed(void **unused)
{
	expect("a <b onclick=\"x\">b</b> <script>c</script>", "<p>a <b>b</b> </p>\n");
	expect("<div>\n\n*a*\n\n</div>\n", "<div>\n<p><em>a</em></p>\n</div>\n");
	expect("<!-- gone -->\n", "\n");
}

/* md4c's bare links may end spans that began outside of them. */
static void
crossed_spans_come_out_as_a_tree(void **unused)
{
	struct scope *s = scope_new("test");
	struct rendered once = markdown(s, "|a|b|\n|:-:|--:t\n| **.3**\x11 1 http://*.2**\x11 ~~g~~ http://example.coo ~~g~~ http://*.2**\x11 |\n"), twice;

	assert_int_equal(render_content(s, &twice, FORMAT_HTML, str_of(once.html)), OK);
	assert_string_equal(once.html, twice.html);
	scope_free(s);
}

static void
text_is_what_a_reader_sees(void **unused)
{
	expect_text("# A\n\nb *c*\nd\n\n- e\n- f\n", "A b c d e f");
	expect_text("a**b**c [d](e) ![f](g)", "abc d");
	expect_text("|a|b|\n|---|---|\n|c|d|\n", "a b c d");
	expect_text("a<br>b<span>c</span>", "a bc");
	expect_text("`  a   b  `\n\n```\nx\n   y\n```\n", "a b x y");
	expect_text("&lt;b&gt; &amp; \"q\"", "<b> & \"q\"");
}

static void
line_ends_and_forbidden_characters_are_levelled(void **unused)
{
	expect("a\r\nb\rc\n\nd", "<p>a\nb\nc</p>\n<p>d</p>\n");
	expect("a\x01" "b\x7f" "c\xc2\x80" "d\ufffe" "e\ufdd0" "f", "<p>abcdef</p>\n");
	expect("[a\x01](b\x02 \"c\x03\")", "<p><a href=\"b\" title=\"c\">a</a></p>\n");
}

static void
links_and_images_are_listed(void **unused)
{
	struct scope *s = scope_new("test");
	struct rendered r = markdown(s, "[a](/b?c&d) [e](javascript:f) <https://g> ![h \"i\"](j.png) ![\\\\](k)");

	assert_string_equal(r.links, "[\"/b?c&d\",\"https://g\"]");
	assert_string_equal(r.images, "[{\"src\":\"j.png\",\"alt\":\"h \\\"i\\\"\"},{\"src\":\"k\",\"alt\":\"\\\\\"}]");
	r = markdown(s, "nothing");
	assert_string_equal(r.links, "[]");
	assert_string_equal(r.images, "[]");
	scope_free(s);
}

static void
excerpts_begin_behind_the_title_and_end_at_a_word(void **unused)
{
	struct scope *s = scope_new("test");
	struct rendered r = markdown(s, "# Title\n\nShort text.\n\n## More\n\nof it");
	struct buf b;
	size_t len;

	assert_string_equal(r.excerpt, "Short text. More of it");
	assert_string_equal(markdown(s, "# Only\n\n## Titles\n").excerpt, "Only Titles");
	buf_init(&b, s->arena);
	for (int i = 0; i < 60; i++)
		buf_text(&b, "words ");
	r = markdown(s, b.p);
	len = strlen(r.excerpt) - strlen("…");
	assert_in_range(len, 160, 200);
	assert_string_equal(r.excerpt + len - 6, " words…");
	b.len = 0;
	for (int i = 0; i < 100; i++)
		buf_text(&b, "石碑，");
	r = markdown(s, b.p);
	assert_in_range(utf8_count(str_of(r.excerpt)) - 1, 160, 200);
	assert_true(str_ends(str_of(r.excerpt), "，…"));
	b.len = 0;
	for (int i = 0; i < 500; i++)
		buf_text(&b, "ß");
	assert_int_equal(utf8_count(str_of(markdown(s, b.p).excerpt)), 201);
	scope_free(s);
}

static const char *
moved(struct scope *s, void *arg, struct str url)
{
	size_t *calls = arg;

	++*calls;
	return str_is(url, "/old?a&b") ? "/new?\"c\"&d" : NULL;
}

static void
link_targets_are_replaced_when_a_page_is_built(void **unused)
{
	struct scope *s = scope_new("test");
	struct rendered r = markdown(s, "`<a href=\"/old?a&b\">` [x](/old?a&b \"t\") ![y](/old?a&b) [z](/else)");
	size_t calls = 0;
	struct str out = render_links(s, str_of(r.html), moved, &calls);

	assert_int_equal(calls, 2);
	assert_string_equal(str_dup(s->arena, out), "<p><code>&lt;a href=&quot;/old?a&amp;b&quot;&gt;</code> "
	    "<a href=\"/new?&quot;c&quot;&amp;d\" title=\"t\">x</a> <img src=\"/old?a&amp;b\" alt=\"y\"> <a href=\"/else\">z</a></p>\n");
	out = render_links(s, STR("<p>none</p>"), moved, &calls);
	assert_true(str_is(out, "<p>none</p>"));
	scope_free(s);
}

static void
depth_size_and_time_are_bounded(void **unused)
{
	static char many[SOURCE_MAX + 2];

	memset(many, '>', 60000);
	expect_refused(many, 60000, "deeper than 256");
	memset(many, 'a', sizeof(many));
	expect_refused(many, SOURCE_MAX + 1, "longer than");
	expect_refused("\xc3", 1, "UTF-8");
	expect_refused("a\xed\xa0\x80", 4, "UTF-8");
	/* Each of these is quadratic somewhere in careless parsers. */
	static const char *const pieces[] = { "[", "![", "*a ", "`", "<", "&#", "[a](", "a|", "- ", "<b>", "</x>", "~~", "\n# a", "<a b=c " };
	for (size_t i = 0; i < COUNT(pieces); i++) {
		struct scope *s = scope_new("test");
		struct rendered r;
		size_t n = strlen(pieces[i]);
		for (size_t at = 0; at + n <= 60000; at += n)
			memcpy(many + at, pieces[i], n);
		enum status status = render_content(s, &r, FORMAT_MARKDOWN, (struct str){ many, 60000 / n * n });
		assert_true(status == OK || status == ERR_INVALID);
		scope_free(s);
	}
}

static int
warm_up(void **unused)
{
	unicode_warm_up();
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_become_their_elements),
		cmocka_unit_test(headings_are_anchored_and_leave_h1_to_the_page),
		cmocka_unit_test(links_keep_allowed_schemes_only),
		cmocka_unit_test(images_have_alternative_text_and_later_ones_wait),
		cmocka_unit_test(entities_are_characters),
		cmocka_unit_test(both_ways_give_the_same_bytes),
		cmocka_unit_test(raw_html_is_kept_as_far_as_it_is_allowed),
		cmocka_unit_test(crossed_spans_come_out_as_a_tree),
		cmocka_unit_test(text_is_what_a_reader_sees),
		cmocka_unit_test(line_ends_and_forbidden_characters_are_levelled),
		cmocka_unit_test(links_and_images_are_listed),
		cmocka_unit_test(excerpts_begin_behind_the_title_and_end_at_a_word),
		cmocka_unit_test(link_targets_are_replaced_when_a_page_is_built),
		cmocka_unit_test(depth_size_and_time_are_bounded),
	};

	return cmocka_run_group_tests(tests, warm_up, NULL);
}
