/* test_wxr.c - the stream of a WordPress export, and the text of a post. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "render/wxr.h"

#define HEAD                                                                                                         \
	"<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n<rss version=\"2.0\" xmlns:content=\"http://purl.org/rss/1.0/modules/content/\"\n"   \
	" xmlns:excerpt=\"http://wordpress.org/export/1.2/excerpt/\" xmlns:dc=\"http://purl.org/dc/elements/1.1/\"\n"        \
	" xmlns:wp=\"http://wordpress.org/export/1.2/\">\n<channel>\n<title>Site</title>\n"                                 \
	"<wp:base_site_url>http://old.test</wp:base_site_url>\n"
#define TAIL "</channel>\n</rss>\n"

static char file_name[64];

static const char *
file_with(const void *bytes, size_t len)
{
	int fd;

	snprintf(file_name, sizeof file_name, "/tmp/stele-wxr-XXXXXX");
	fd = mkstemp(file_name);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), (ssize_t)len);
	close(fd);
	return file_name;
}

static const char *
file_of(const char *text)
{
	return file_with(text, strlen(text));
}

/* Reads to the end; counts items; keeps the last status. */
static enum status
read_all(struct scope *s, const char *file, int *items)
{
	enum wxr_event event = WXR_CHANNEL;
	enum status status;
	struct wxr *w = NULL;

	*items = 0;
	if ((status = wxr_open(s, &w, file)) == OK)
		while ((status = wxr_next(s, w, &event)) == OK && event != WXR_END)
			*items += event == WXR_ITEM;
	wxr_close(w);
	unlink(file);
	return status;
}

static void
item_members_are_read_from_cdata_and_plain_text(void **state)
{
	struct scope *s = scope_new("test");
	const struct wxr_item *item;
	enum wxr_event event;
	struct wxr *w;

	(void)state;
	assert_int_equal(wxr_open(s, &w, file_of(HEAD "<item>\n<title>A &amp; B</title><link>http://old.test/a/</link>"
	    "<content:encoded><![CDATA[one]]><![CDATA[ two]]> three</content:encoded><wp:post_id>7</wp:post_id>"
	    "<wp:post_date_gmt>2024-05-01 10:00:00</wp:post_date_gmt><wp:status>publish</wp:status><wp:is_sticky>1</wp:is_sticky>"
	    "<category domain=\"post_tag\" nicename=\"blue\"><![CDATA[Blue]]></category>"
	    "<wp:postmeta><wp:meta_key>k</wp:meta_key><wp:meta_value><![CDATA[v]]></wp:meta_value></wp:postmeta>"
	    "<wp:comment><wp:comment_content>hm</wp:comment_content></wp:comment></item>" TAIL)), OK);
	assert_int_equal(wxr_next(s, w, &event), OK);
	assert_int_equal(event, WXR_CHANNEL);
	assert_string_equal(wxr_channel(w)->site_url, "http://old.test");
	assert_int_equal(wxr_next(s, w, &event), OK);
	assert_int_equal(event, WXR_ITEM);
	item = wxr_item(w);
	assert_string_equal(item->title, "A & B");
	assert_string_equal(item->content, "one two three");
	assert_int_equal(item->post_id, 7);
	assert_int_equal(item->date_gmt, INT64_C(1714557600000));
	assert_true(item->is_sticky);
	assert_int_equal(item->term_count, 1);
	assert_int_equal(item->terms[0].kind, WXR_TAG);
	assert_string_equal(item->terms[0].name, "Blue");
	assert_string_equal(item->meta[0].value, "v");
	assert_int_equal(item->comment_count, 1);
	assert_int_equal(wxr_next(s, w, &event), OK);
	assert_int_equal(event, WXR_END);
	wxr_close(w);
	unlink(file_name);
	scope_free(s);
}

static void
truncated_xml_is_refused_with_its_line(void **state)
{
	struct scope *s = scope_new("test");
	int items;

	(void)state;
	assert_int_equal(read_all(s, file_of(HEAD "<item><title>x</title></item>\n<item><title>y</tit"), &items), ERR_INVALID);
	assert_int_equal(items, 1);
	assert_non_null(strstr(s->error->detail, "line "));
	scope_free(s);
}

static void
entities_and_external_dtds_are_refused(void **state)
{
	static const char *const bombs[] = {
		"<?xml version=\"1.0\"?>\n<!DOCTYPE rss [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]><rss><channel><title>&b;</title>" TAIL,
		"<?xml version=\"1.0\"?>\n<!DOCTYPE rss [<!ENTITY x SYSTEM \"file:///etc/hostname\">]><rss><channel><title>&x;</title>" TAIL,
		"<?xml version=\"1.0\"?>\n<!DOCTYPE rss SYSTEM \"http://127.0.0.1:9/x.dtd\"><rss><channel>" TAIL,
	};
	struct scope *s = scope_new("test");
	size_t i;
	int items;

	(void)state;
	for (i = 0; i < COUNT(bombs); i++) {
		assert_int_equal(read_all(s, file_of(bombs[i]), &items), ERR_INVALID);
		assert_non_null(strstr(s->error->detail, "entity"));
	}
	scope_free(s);
}

static void
characters_that_xml_forbids_are_dropped_and_counted_where_they_stand(void **state)
{
	struct scope *s = scope_new("test");
	enum wxr_event event;
	struct wxr *w;

	(void)state;
	assert_int_equal(wxr_open(s, &w, file_of(HEAD "<item><title>a\x01" "b\xff" "c\xef\xbf\xbe</title></item><item><title>d</title></item>" TAIL)), OK);
	assert_int_equal(wxr_next(s, w, &event), OK);
	assert_int_equal(wxr_next(s, w, &event), OK);
	assert_string_equal(wxr_item(w)->title, "abc");
	assert_int_equal(wxr_item(w)->dropped_characters, 3);
	assert_int_equal(wxr_next(s, w, &event), OK);
	assert_int_equal(wxr_item(w)->dropped_characters, 0);
	assert_int_equal(wxr_dropped(w), 3);
	wxr_close(w);
	unlink(file_name);
	scope_free(s);
}

static void
other_files_are_named_for_what_they_are(void **state)
{
	static const struct { const char *bytes; size_t len; const char *word; } files[] = {
		{ "PK\x03\x04zzzz", 8, "zip" }, { "\x1f\x8b\x08", 3, "gzip" }, { "<!DOCTYPE html><html>", 21, "HTML" },
		{ "{\"db\":[]}", 9, "JSON" }, { "", 0, "empty" }, { "hello", 5, "no XML" }, { "<feed></feed>", 13, "not a WordPress export" },
	};
	struct scope *s = scope_new("test");
	size_t i;
	int items;

	(void)state;
	for (i = 0; i < COUNT(files); i++) {
		assert_int_equal(read_all(s, file_with(files[i].bytes, files[i].len), &items), ERR_INVALID);
		assert_non_null(strstr(s->error->detail, files[i].word));
	}
	assert_int_equal(read_all(s, "/nonexistent/file.xml", &items), ERR_NOT_FOUND);
	scope_free(s);
}

static void
a_text_over_the_bound_is_cut_and_marked(void **state)
{
	struct scope *s = scope_new("test");
	size_t len = WXR_FIELD_MAX + 100000;
	struct buf b;
	enum wxr_event event;
	struct wxr *w;

	(void)state;
	buf_init(&b, s->arena);
	buf_text(&b, HEAD "<item><content:encoded><![CDATA[");
	while (b.len < len)
		buf_text(&b, "words and words and words and words ");
	buf_text(&b, "]]></content:encoded></item>" TAIL);
	assert_int_equal(wxr_open(s, &w, file_with(b.p, b.len)), OK);
	assert_int_equal(wxr_next(s, w, &event), OK);
	assert_int_equal(wxr_next(s, w, &event), OK);
	assert_true(wxr_item(w)->is_cut);
	assert_int_equal(strlen(wxr_item(w)->content), WXR_FIELD_MAX);
	wxr_close(w);
	unlink(file_name);
	scope_free(s);
}

/* The only item of an export. */
static const struct wxr_item *
only_item(struct scope *s, struct wxr **w, const char *inside)
{
	enum wxr_event event;

	assert_int_equal(wxr_open(s, w, file_of(scope_printf(s, HEAD "<item>%s</item>" TAIL, inside))), OK);
	assert_int_equal(wxr_next(s, *w, &event), OK);
	assert_int_equal(wxr_next(s, *w, &event), OK);
	assert_int_equal(event, WXR_ITEM);
	return wxr_item(*w);
}

static void
what_stands_deeper_is_no_member(void **state)
{
	struct scope *s = scope_new("test");
	const struct wxr_item *item;
	struct wxr *w;

	(void)state;
	item = only_item(s, &w, "<title>Mine</title><media><title>Other</title><wp:post_id>9</wp:post_id></media><wp:post_id>7</wp:post_id>");
	assert_string_equal(item->title, "Mine");
	assert_int_equal(item->post_id, 7);
	wxr_close(w);
	unlink(file_name);
	scope_free(s);
}

static void
too_many_metas_leave_the_first_as_they_are(void **state)
{
	struct scope *s = scope_new("test");
	const struct wxr_item *item;
	struct buf b;
	struct wxr *w;
	int i;

	(void)state;
	buf_init(&b, s->arena);
	for (i = 0; i < WXR_META_MAX + 20; i++)
		buf_printf(&b, "<wp:postmeta><wp:meta_key>k%d</wp:meta_key><wp:meta_value>v%d</wp:meta_value></wp:postmeta>", i, i);
	item = only_item(s, &w, b.p);
	assert_int_equal(item->meta_count, WXR_META_MAX);
	assert_string_equal(item->meta[WXR_META_MAX - 1].key, scope_printf(s, "k%d", WXR_META_MAX - 1));
	assert_string_equal(item->meta[WXR_META_MAX - 1].value, scope_printf(s, "v%d", WXR_META_MAX - 1));
	wxr_close(w);
	unlink(file_name);
	scope_free(s);
}

static void
many_texts_of_one_item_are_bounded_together(void **state)
{
	struct scope *s = scope_new("test");
	const struct wxr_item *item;
	struct buf b, text;
	struct wxr *w;
	int i;

	(void)state;
	buf_init(&b, s->arena);
	buf_init(&text, s->arena);
	while (text.len < 1000000)
		buf_text(&text, "words and words ");
	for (i = 0; i < 30; i++)
		buf_printf(&b, "<unknown>%s</unknown>", text.p);
	item = only_item(s, &w, b.p);
	assert_true(item->is_cut);
	wxr_close(w);
	unlink(file_name);
	scope_free(s);
}

static void
expect_html(const char *content, const char *html)
{
	struct scope *s = scope_new("test");

	assert_string_equal(wxr_content_html(s, str_of(content)).p, html);
	scope_free(s);
}

static void
blank_lines_make_paragraphs_and_line_ends_breaks(void **state)
{
	(void)state;
	expect_html("one\r\ntwo\r\n\r\nthree", "<p>one<br>\ntwo</p>\n<p>three</p>\n");
	expect_html("a\n<ul>\n<li>x</li>\n</ul>\nb", "<p>a</p>\n<ul>\n<li>x</li>\n</ul>\n<p>b</p>\n");
	expect_html("<pre>a\n\nb</pre>", "<pre>a\n\nb</pre>\n");
	expect_html("<blockquote>q\n\nr</blockquote>", "<blockquote>\n<p>q</p>\n<p>r</p>\n</blockquote>\n");
}

static void
block_comments_vanish_and_their_text_stays(void **state)
{
	(void)state;
	expect_html("<!-- wp:paragraph {\"a\":1} -->\n<p>x</p>\n<!-- /wp:paragraph -->", "<p>x</p>\n");
	expect_html("before<!--more-->after", "<p>before</p>\n<p>after</p>\n");
}

static void
shortcodes_become_html_or_stay_as_text(void **state)
{
	(void)state;
	expect_html("[caption id=\"a\" width=\"3\"]<img src=\"/i.png\"> A cat[/caption]",
	    "<figure><img src=\"/i.png\"><figcaption>A cat</figcaption></figure>\n");
	expect_html("[embed]https://v.test/1[/embed]", "<p><a href=\"https://v.test/1\">https://v.test/1</a></p>\n");
	expect_html("https://v.test/1", "<p><a href=\"https://v.test/1\">https://v.test/1</a></p>\n");
	expect_html("[contact-form to=\"x\"] hello", "<p>[contact-form to=\"x\"] hello</p>\n");
	expect_html("[", "<p>[</p>\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(item_members_are_read_from_cdata_and_plain_text),
		cmocka_unit_test(truncated_xml_is_refused_with_its_line),
		cmocka_unit_test(entities_and_external_dtds_are_refused),
		cmocka_unit_test(characters_that_xml_forbids_are_dropped_and_counted_where_they_stand),
		cmocka_unit_test(other_files_are_named_for_what_they_are),
		cmocka_unit_test(a_text_over_the_bound_is_cut_and_marked),
		cmocka_unit_test(what_stands_deeper_is_no_member),
		cmocka_unit_test(too_many_metas_leave_the_first_as_they_are),
		cmocka_unit_test(many_texts_of_one_item_are_bounded_together),
		cmocka_unit_test(blank_lines_make_paragraphs_and_line_ends_breaks),
		cmocka_unit_test(block_comments_vanish_and_their_text_stays),
		cmocka_unit_test(shortcodes_become_html_or_stay_as_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
