/* test_head.c - what a page says about itself. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "render/head.h"

static struct head
article(void)
{
	return (struct head){ .title = "A \"title\" & <more> - Site", .description = "Words & more", .canonical = "https://ex.com/a?b&c",
		.url = "https://ex.com/x", .locale = "en-GB", .kind = "article", .site_title = "Site", .image = "https://ex.com/i.png",
		.published_at = 1700000000123, .changed_at = 1750000000000, .author_name = "Ann </script>", .author_url = "https://ex.com/ann" };
}

static size_t
count(const char *text, const char *needle)
{
	size_t n = 0;

	for (; (text = strstr(text, needle)) != NULL; text++)
		n++;
	return n;
}

static void
everything_is_said_once_and_escaped(void **unused)
{
	struct scope *s = scope_new("test");
	struct head h = article();
	const char *html = head_html(s, &h);

	assert_int_equal(count(html, "<title>A &quot;title&quot; &amp; &lt;more&gt; - Site</title>"), 1);
	assert_int_equal(count(html, "name=\"description\" content=\"Words &amp; more\""), 1);
	assert_int_equal(count(html, "rel=\"canonical\" href=\"https://ex.com/a?b&amp;c\""), 1);
	assert_int_equal(count(html, "property=\"og:url\" content=\"https://ex.com/a?b&amp;c\""), 1);
	assert_int_equal(count(html, "\"url\":\"https://ex.com/a?b\\u0026c\""), 1);
	assert_int_equal(count(html, "property=\"og:title\" content=\"A &quot;title&quot; &amp; &lt;more&gt;\""), 1);
	assert_int_equal(count(html, "\"headline\":\"A \\\"title\\\" \\u0026 \\u003cmore\\u003e\""), 1);
	assert_int_equal(count(html, "content=\"max-image-preview:large\""), 1);
	assert_int_equal(count(html, "content=\"en_GB\""), 1);
	assert_int_equal(count(html, "article:published_time\" content=\"2023-11-14T22:13:20Z\""), 1);
	assert_int_equal(count(html, "\"dateModified\":\"2025-06-15T15:06:40Z\""), 1);
	assert_int_equal(count(html, "</script>"), 1);
	assert_int_equal(count(html, "https://ex.com/x"), 0);
	scope_free(s);
}

static void
encoding_and_canonical_come_early_and_in_order(void **unused)
{
	static const char *const order[] = { "<meta charset=\"utf-8\">", "viewport", "<title>", "\"description\"", "\"canonical\"", "\"robots\"",
		"rel=\"prev\"", "rel=\"next\"", "og:type", "article:published_time", "ld+json", "theme-color" };
	struct scope *s = scope_new("test");
	struct head h = article();
	const char *at;

	h.prev_url = "https://ex.com/p";
	h.next_url = "https://ex.com/n";
	at = head_html(s, &h);
	assert_ptr_equal(strstr(at, order[0]), at);
	for (size_t i = 0; i < COUNT(order); i++) {
		at = strstr(at, order[i]);
		assert_non_null(at);
	}
	scope_free(s);
}

static void
pages_without_canonical_say_little(void **unused)
{
	struct scope *s = scope_new("test");
	struct head h = { .title = "Gone", .kind = "error", .noindex = true, .site_title = "Site" };
	const char *html = head_html(s, &h);

	assert_int_equal(count(html, "canonical"), 0);
	assert_int_equal(count(html, "og:"), 0);
	assert_int_equal(count(html, "<script"), 0);
	assert_int_equal(count(html, "description"), 0);
	assert_int_equal(count(html, "name=\"robots\" content=\"noindex\""), 1);
	assert_null(head_link(s, &h));
	assert_string_equal(head_robots(&h), "noindex");
	scope_free(s);
}

static void
structured_data_fits_the_kind(void **unused)
{
	static const struct { const char *kind, *type; } kinds[] = { { "article", "\"Article\"" }, { "page", "\"WebPage\"" }, { "home", "\"WebSite\"" },
		{ "list", NULL }, { "tag", NULL }, { "author", NULL } };

	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct scope *s = scope_new("test");
		struct head h = article();
		h.kind = kinds[i].kind;
		const char *html = head_html(s, &h), *start = strstr(html, "ld+json\">");
		assert_int_equal(start != NULL, kinds[i].type != NULL);
		if (start != NULL) {
			start += strlen("ld+json\">");
			json_t *o = json_loadb(start, (size_t)(strstr(start, "</script>") - start), 0, NULL);
			assert_non_null(o);
			assert_non_null(strstr(kinds[i].type, json_string_value(json_object_get(o, "@type"))));
			assert_string_equal(json_string_value(json_object_get(o, "url")), h.canonical);
			json_decref(o);
		}
		assert_int_equal(count(html, "content=\"article\""), strcmp(kinds[i].kind, "article") == 0);
		scope_free(s);
	}
}

static void
script_text_cannot_leave_its_element(void **unused)
{
	struct scope *s = scope_new("test");
	json_t *v = json_pack("{s:s}", "a", "</script><!-- & \xE2\x80\xA8 \xE2\x80\xA9 \" \\");
	const char *text = json_for_script(s, v);
	json_t *back = json_loads(text, 0, NULL);

	assert_null(strpbrk(text, "<>&"));
	assert_null(strstr(text, "\xE2\x80\xA8"));
	assert_null(strstr(text, "\xE2\x80\xA9"));
	assert_true(json_equal(v, back));
	json_decref(v);
	json_decref(back);
	scope_free(s);
}

static void
header_values_repeat_the_canonical(void **unused)
{
	struct scope *s = scope_new("test");
	struct head h = article();

	assert_string_equal(head_link(s, &h), "<https://ex.com/a?b&c>; rel=\"canonical\"");
	assert_null(head_robots(&h));
	scope_free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_is_said_once_and_escaped),
		cmocka_unit_test(encoding_and_canonical_come_early_and_in_order),
		cmocka_unit_test(pages_without_canonical_say_little),
		cmocka_unit_test(structured_data_fits_the_kind),
		cmocka_unit_test(script_text_cannot_leave_its_element),
		cmocka_unit_test(header_values_repeat_the_canonical),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
