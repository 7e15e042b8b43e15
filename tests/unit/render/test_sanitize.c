/* test_sanitize.c - the allow-list writer on HTML: what comes through, what is unwrapped, what is dropped. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>

#include "base/unicode.h"
#include "render/markdown.h"
#include "render/sanitize.h"

/* The sanitised form, which is checked to be its own sanitised form. */
static void
expect(const char *source, const char *html)
{
	struct scope *s = scope_new("test");
	struct rendered once, twice;

	assert_int_equal(render_content(s, &once, FORMAT_HTML, str_of(source)), OK);
	assert_string_equal(once.html, html);
	assert_int_equal(render_content(s, &twice, FORMAT_HTML, str_of(once.html)), OK);
	assert_string_equal(twice.html, once.html);
	assert_string_equal(twice.text, once.text);
	assert_string_equal(render_text(s, str_of(once.html)), once.text);
	scope_free(s);
}

static void
kept(const char *source)
{
	expect(source, source);
}

static void
publishing_elements_come_through(void **unused)
{
	kept("<h2 id=\"a\">a</h2><h6 id=\"b\">b</h6><p>c<br>d</p><hr><blockquote cite=\"/e\">f</blockquote><div>g</div>");
	kept("<ul><li>a</li></ul><ol start=\"3\" reversed type=\"a\"><li value=\"9\">b</li></ol><dl><dt>c</dt><dd>d</dd></dl>");
	kept("<pre><code class=\"language-c++\">a</code></pre>");
	kept("<table><caption>a</caption><thead><tr><th scope=\"col\" class=\"align-right\">b</th></tr></thead><tbody><tr>"
	    "<td colspan=\"2\" rowspan=\"3\">c</td></tr></tbody><tfoot><tr><td>d</td></tr></tfoot></table>");
	kept("<figure><img src=\"a.png\" alt=\"b\" width=\"1\" height=\"2\"><figcaption>c</figcaption></figure>");
	kept("<details open><summary>a</summary><p>b</p></details>");
	kept("<p><em>a</em><strong>b</strong><b>c</b><i>d</i><u>e</u><s>f</s><sup>g</sup><sub>h</sub><kbd>i</kbd><samp>j</samp><var>k</var>"
	    "<abbr title=\"l\">m</abbr><cite>n</cite><dfn>o</dfn><mark>p</mark><q cite=\"/q\">r</q><small>s</small>"
	    "<time datetime=\"2026-11-30\">t</time><del datetime=\"2026\">u</del><ins>v</ins><bdi>w</bdi><bdo dir=\"rtl\">x</bdo>y<wbr>z</p>");
	kept("<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>");
	kept("<p lang=\"en\" dir=\"ltr\">a <span lang=\"de\">b</span></p>");
	kept("<video src=\"a.mp4\" width=\"1\" poster=\"b.png\" muted controls><source src=\"c.webm\" type=\"video/webm\">"
	    "<track src=\"d.vtt\" kind=\"captions\" srclang=\"en\" label=\"e\">f</video><audio src=\"g.ogg\" preload=\"none\" controls></audio>");
	kept("<a href=\"/a\" title=\"b\" rel=\"nofollow ugc\" hreflang=\"de\">c</a>");
}

static void
other_attributes_are_dropped(void **unused)
{
	expect("<p style=\"color:red\" class=\"x\" onclick=\"y()\" data-z=1 title=\"\">a</p>", "<p>a</p>");
	expect("<a href=\"/a\" target=\"_blank\" rel=\"noopener opener NoFollow nofollow\">b</a>", "<a href=\"/a\" rel=\"noopener nofollow\">b</a>");
	expect("<img src=a srcset=\"b 2x\" onerror=c loading=eager width=100%>", "<img src=\"a\" alt=\"\">");
	expect("<video autoplay src=a></video>", "<video src=\"a\" controls></video>");
	expect("<td align=center>a", "a");
	expect("<table><td align=CENTER>a", "<table><tbody><tr><td class=\"align-center\">a</td></tr></tbody></table>");
	expect("<code class=\"x lang-js language-c\">a</code><code class=\"language-a&quot;b\">c</code>",
	    "<code class=\"language-js\">a</code><code>c</code>");
	expect("<ol start=x type=z><li value=1.5>a</ol>", "<ol><li>a</li></ol>");
	expect("<span>a</span><span lang=\"de\">b</span><span style=x>c</span><bdo>d</bdo>", "a<span lang=\"de\">b</span>cd");
	expect("<p dir=\"RTL\">a</p><p dir=\"up\">b</p>", "<p dir=\"rtl\">a</p><p>b</p>");
}

static void
schemes_are_judged_after_decoding(void **unused)
{
	static const char *const refused[] = { "javascript:a", "JavaScript:a", " \t\njavascript:a", "java\tscript:a", "java\nscript:a",
		"&#106;avascript:a", "&#x6A avascript:a", "javascript&colon;a", "\x01javascript:a", "vbscript:a", "data:text/html,a",
		"blob:a", "file:///a", "ftp://a", "about:blank", "view-source:a", "java\u00adscript:a", "\u00a0javascript:a", "a b:c", "%6aavascript:a" };

	for (size_t i = 0; i < COUNT(refused); i++) {
		struct scope *s = scope_new("test");
		expect(scope_printf(s, "<a href=\"%s\">x</a><img src=\"%s\" alt=\"y\"><q cite=\"%s\">z</q>", refused[i], refused[i], refused[i]), "xy<q>z</q>");
		scope_free(s);
	}
	expect("<a href=\" HTTP://a \">b</a><a href=//c>d</a><a href=?e:f>g</a><a href=#h:i>j</a><a href=./k:l>m</a>",
	    "<a href=\"HTTP://a\">b</a><a href=\"//c\">d</a><a href=\"?e:f\">g</a><a href=\"#h:i\">j</a><a href=\"./k:l\">m</a>");
	expect("<a href=\"mailto:a\">b</a><img src=\"mailto:a\" alt=c><img src=\"tel:1\">", "<a href=\"mailto:a\">b</a>c");
	expect("<a href=\"/a b\\&quot;<>`ü\">c</a>", "<a href=\"/a%20b%5C%22%3C%3E%60%C3%BC\">c</a>");
	expect("<a href>a</a><a>b</a><a href=\"\">c</a>", "<a href=\"\">a</a>b<a href=\"\">c</a>");
}

static void
scripts_and_styles_go_with_their_text(void **unused)
{
	expect("a<script>b</script><style>c</style><template><p>d</p></template><noscript><img src=e></noscript><title>f</title>g", "ag");
	expect("<noembed>a</noembed><noframes>b</noframes>c<!-- d --><![CDATA[e]]>", "c");
	expect("<svg><script>a</script><style>b</style><text>c</text></svg>d", "cd");
	expect("<math><annotation-xml encoding=\"text/html\"><style>a</style></annotation-xml><mi>x</mi></math>", "x");
	expect("<scr<script>ipt>alert(1)</script>", "ipt&gt;alert(1)");
}

static void
unknown_elements_leave_their_text(void **unused)
{
	expect("<x-y>a <font color=red>b</font></x-y><center>c</center><section><article>d</article></section>",
	    "a b<div>c</div><div><div>d</div></div>");
	expect("<button>a</button><label>b</label><input value=c><textarea>d</textarea><select><option>e<option>f</select>", "abd e f");
	expect("<svg><a xlink:href=\"javascript:1\"><text>a</text></a></svg><p>b", "a<p>b</p>");
	expect("<tt>a</tt><strike>b</strike><acronym title=c>d</acronym><xmp><e></xmp><menu><li>f</menu>",
	    "<code>a</code><s>b</s><abbr title=\"c\">d</abbr><pre>&lt;e&gt;</pre><ul><li>f</li></ul>");
	expect("<h1>a</h1>", "<h2 id=\"a\">a</h2>");
	expect("<input type=checkbox checked>a<input type=CHECKBOX>b", "☑ a☐ b");
}

static void
frames_stay_as_links(void **unused)
{
	expect("<iframe src=\"https://a/b\" onload=c>d</iframe>", "<a href=\"https://a/b\">https://a/b</a>");
	expect("<iframe src=\"javascript:a\"></iframe><iframe srcdoc=\"<script>\"></iframe><embed src=/b><object data=/c>d</object>",
	    "<a href=\"/b\">/b</a><a href=\"/c\">/c</a>d");
	expect("<a href=/a><iframe src=/b></iframe>c</a>", "<a href=\"/a\">c</a>");
}

static void
blocks_end_what_cannot_hold_them(void **unused)
{
	expect("<p>a<div>b</div>c", "<p>a</p><div>b</div>c");
	expect("<p><x-y><p>a</x-y>", "<p></p><p>a</p>");
	expect("<p><button><p>a</button>b", "<p></p><p>a</p>b");
	expect("<em>a<p>b</p>c</em>", "<em>a</em><p>b</p>c");
	expect("<h2>a<div>b</div><div>c</div></h2>", "<h2 id=\"a-b-c\">a b c</h2>");
	expect("<pre>a<div>b</div></pre>", "<pre>a\nb</pre>");
	expect("<a href=/a><p>b</p><h3>c</h3></a>", "<a href=\"/a\"><p>b</p><h3 id=\"c\">c</h3></a>");
	expect("<a href=/a>b<table><tr><td><a href=/c>d</a></table></a>",
	    "<a href=\"/a\">b<table><tbody><tr><td>d</td></tr></tbody></table></a>");
	expect("<video><video src=a></video><p>b</p></video>", "<video controls> b</video>");
}

static void
stray_parts_and_content_are_put_right(void **unused)
{
	expect("<li>a<td>b<dd>c<figcaption>d</figcaption><summary>e</summary><rt>f", "<div>ab<div>c<div>d</div><div>e</div>f</div></div>");
	expect("<ul>a<b>b</b><li>c</li><ul><li>d</ul></ul>", "<ul><li>a<b>b</b></li><li>c</li><li><ul><li>d</li></ul></li></ul>");
	expect("<dl>a<dt>b</dl>", "<dl><dd>a</dd><dt>b</dt></dl>");
	expect("<table>a<tr><td>b</table>", "a<table><tbody><tr><td>b</td></tr></tbody></table>");
	expect("<table><thead><tr><th>a</th></tr></thead><thead><tr><th>b</th></tr></thead></table>",
	    "<table><thead><tr><th>a</th></tr></thead><tbody><tr><th>b</th></tr></tbody></table>");
	expect("<table> <tr> <td>a</td> </tr> </table>", "<table><tbody><tr><td>a</td></tr></tbody></table>");
	expect("<table><form><tr><td>a</form></table>", "<table><tbody><tr><td><div></div></td></tr></tbody><tbody><tr><td>a</td></tr></tbody></table>");
	expect("<details>a<summary>b</summary></details>", "<details>a<div>b</div></details>");
	expect("<details> <summary>b</summary></details>", "<details> <summary>b</summary></details>");
}

static void
newline_behind_pre_survives(void **unused)
{
	kept("<pre>\n\na</pre>");
	expect("<pre>\na</pre>", "<pre>a</pre>");
	kept("<pre><code>\na</code></pre>");
	expect("<pre>&#10;&#10;a</pre>", "<pre>\n\na</pre>");
}

static void
ids_are_unique_and_tame(void **unused)
{
	expect("<p id=a>1</p><p id=a>2</p><p id=\"b c\">3</p><p id=\"fn:1\">4</p><p id=\"ü\">5</p><p id=\"&lt;\">6</p>",
	    "<p id=\"a\">1</p><p>2</p><p>3</p><p id=\"fn:1\">4</p><p id=\"ü\">5</p><p>6</p>");
	expect("<a name=a>b</a><a name=a>c</a>", "<a id=\"a\">b</a>c");
	expect("<p id=stele-main>a</p>", "<p>a</p>");
	expect("<h2 id=x>a</h2><h2>x</h2>", "<h2 id=\"x\">a</h2><h2 id=\"x-2\">x</h2>");
}

static void
parsing_is_bounded(void **unused)
{
	static const char *const pieces[] = { "<div>", "<div></x>", "<x-y>", "<b><p>", "<a b", "<table>", "<i><table>" };
	static char many[500000];

	for (size_t i = 0; i < COUNT(pieces); i++) {
		struct scope *s = scope_new("test");
		struct rendered r;
		size_t n = strlen(pieces[i]), len = sizeof(many) / n * n;
		clock_t from = clock();
		for (size_t at = 0; at < len; at += n)
			memcpy(many + at, pieces[i], n);
		enum status status = render_content(s, &r, FORMAT_HTML, (struct str){ many, len });
		if (i < 3)
			assert_int_equal(status, ERR_INVALID);	/* nests too deep, or takes too long */
		else
			assert_true(status == OK || status == ERR_INVALID);
		assert_in_range(clock() - from, 0, 5 * CLOCKS_PER_SEC);
		scope_free(s);
	}
}

/* The same check as with another parser in tests/property, here for every build. */
static void
corpus_of_attacks_leaves_nothing_behind(void **unused)
{
	const char *folder = getenv("STELE_CORPORA");
	struct scope *s = scope_new("test");
	json_t *cases = json_load_file(scope_printf(s, "%s/xss/dompurify-expect.json", folder != NULL ? folder : "../shared/corpora"), 0, NULL);

	if (cases == NULL) {
		print_message("corpora absent\n");
		scope_free(s);
		skip();
	}
	for (size_t i = 0; i < json_array_size(cases); i++) {
		const char *payload = json_string_value(json_object_get(json_array_get(cases, i), "payload"));
		struct rendered once, twice;
		assert_int_equal(render_content(s, &once, FORMAT_HTML, str_of(payload)), OK);
		assert_null(strcasestr(once.html, "<script"));
		assert_null(strcasestr(once.html, "href=\"javascript:"));
		assert_null(strcasestr(once.html, "src=\"data:"));
		assert_int_equal(render_content(s, &twice, FORMAT_HTML, str_of(once.html)), OK);
		assert_string_equal(once.html, twice.html);
	}
	assert_true(json_array_size(cases) > 200);
	json_decref(cases);
	scope_free(s);
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
		cmocka_unit_test(publishing_elements_come_through),
		cmocka_unit_test(other_attributes_are_dropped),
		cmocka_unit_test(schemes_are_judged_after_decoding),
		cmocka_unit_test(scripts_and_styles_go_with_their_text),
		cmocka_unit_test(unknown_elements_leave_their_text),
		cmocka_unit_test(frames_stay_as_links),
		cmocka_unit_test(blocks_end_what_cannot_hold_them),
		cmocka_unit_test(stray_parts_and_content_are_put_right),
		cmocka_unit_test(newline_behind_pre_survives),
		cmocka_unit_test(ids_are_unique_and_tame),
		cmocka_unit_test(parsing_is_bounded),
		cmocka_unit_test(corpus_of_attacks_leaves_nothing_behind),
	};

	return cmocka_run_group_tests(tests, warm_up, NULL);
}
