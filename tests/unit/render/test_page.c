/* test_page.c - the default theme over views: golden pages, and what every page of it must have. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/unicode.h"
#include "core/site.h"
#include "render/markdown.h"
#include "render/page.h"

static const char *const pages[] = { "article", "page", "home", "list", "tag", "author", "terms", "error" };
static struct templates *theme;
static struct site site;

static struct head
head_of(const char *name)
{
	struct head h = { .title = "A page - Site", .description = "Words", .canonical = "https://ex.com/x", .url = "https://ex.com/x",
		.kind = name, .site_title = "Site" };

	if (strcmp(name, "error") == 0)
		h = (struct head){ .title = "Gone - Site", .kind = "error", .noindex = true, .site_title = "Site" };
	if (strcmp(name, "article") == 0)
		h.published_at = h.changed_at = 1793610000000;
	return h;
}

static struct str
read_text(struct scope *s, const char *path)
{
	FILE *f = fopen(path, "r");
	struct buf b;
	int c;

	buf_init(&b, s->arena);
	while (f != NULL && (c = getc(f)) != EOF)
		buf_char(&b, (char)c);
	if (f != NULL)
		fclose(f);
	return buf_as_str(&b);
}

/* The page, with the theme's hash blotted out: it changes with every byte of the stylesheet. */
static char *
page(struct scope *s, const char *name)
{
	json_t *view = json_load_file(scope_printf(s, "tests/golden/pages/%s.json", name), 0, NULL);
	struct str source = read_text(s, scope_printf(s, "tests/golden/pages/%s.md", name)), out = { NULL, 0 };
	struct head h = head_of(name);
	struct rendered r;

	assert_non_null(view);
	if (source.len > 0) {
		assert_int_equal(render_content(s, &r, FORMAT_MARKDOWN, source), OK);
		json_object_set_new(view, "content_html", json_string(r.html));
	}
	assert_int_equal(page_render(s, theme, &site, name, &h, view, &out), OK);
	assert_null(json_object_get(view, "head_html"));
	json_decref(view);
	char *hash = strstr(out.p, templates_hash(theme));
	assert_non_null(hash);
	memset(hash, '0', 16);
	return str_dup(s->arena, out);
}

/* GOLDEN_UPDATE=1 writes them anew; the difference is then read before it is committed. */
static void
pages_are_as_recorded(void **unused)
{
	for (size_t i = 0; i < COUNT(pages); i++) {
		struct scope *s = scope_new("test");
		const char *path = scope_printf(s, "tests/golden/pages/%s.html", pages[i]), *made = page(s, pages[i]);
		if (getenv("GOLDEN_UPDATE") != NULL) {
			FILE *f = fopen(path, "w");
			assert_non_null(f);
			fputs(made, f);
			fclose(f);
		}
		assert_string_equal(made, read_text(s, path).p);
		scope_free(s);
	}
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
every_page_has_its_landmarks_once(void **unused)
{
	static const char *const once[] = { "<!doctype html>", "<html lang=\"en\" dir=\"ltr\">", "<title>", "</head>", "<h1>", "<main id=\"stele-main\"",
		"href=\"#stele-main\"", "<header class=\"masthead\">", "<footer class=\"colophon\">", "aria-label=\"Main\"", "rel=\"stylesheet\"",
		"<a href=\"https://ex.com/\" rel=\"home\">", "<a href=\"https://ex.com/articles\">", "<a href=\"https://ex.com/tags\">" };

	for (size_t i = 0; i < COUNT(pages); i++) {
		struct scope *s = scope_new("test");
		const char *html = page(s, pages[i]);
		for (size_t k = 0; k < COUNT(once); k++)
			assert_int_equal(count(html, once[k]), 1);
		assert_int_equal(count(html, "<script"), strcmp(pages[i], "article") == 0 || strcmp(pages[i], "page") == 0 || strcmp(pages[i], "home") == 0);
		assert_int_equal(count(html, " style="), 0);
		assert_int_equal(count(html, " onclick="), 0);
		scope_free(s);
	}
}

static void
locale_decides_language_and_direction(void **unused)
{
	static const struct { const char *locale, *dir; } locales[] = { { "ar-EG", "rtl" }, { "he", "rtl" }, { "zh-CN", "ltr" }, { "arn", "ltr" } };

	for (size_t i = 0; i < COUNT(locales); i++) {
		struct scope *s = scope_new("test");
		struct head h = head_of("error");
		json_t *view = json_object();
		struct str out;
		h.locale = locales[i].locale;
		assert_int_equal(page_render(s, theme, &site, "error", &h, view, &out), OK);
		assert_non_null(strstr(out.p, scope_printf(s, "<html lang=\"%s\" dir=\"%s\">", locales[i].locale, locales[i].dir)));
		json_decref(view);
		scope_free(s);
	}
}

static void
dates_are_written_as_the_language_does(void **unused)
{
	static const struct { const char *locale, *text; } dates[] = {
		{ "en", "2 March 2026" }, { "en-GB", "2 March 2026" }, { "en-US", "March 2, 2026" }, { "de-AT", "2. März 2026" },
		{ "fr", "2 mars 2026" }, { "es-MX", "2 de marzo de 2026" }, { "pt-BR", "2 de março de 2026" }, { "it", "2 marzo 2026" },
		{ "nl", "2 maart 2026" }, { "ru", "2 марта 2026 г." }, { "zh-CN", "2026年3月2日" }, { "ja", "2026年3月2日" },
		{ "ko", "2026년 3월 2일" }, { "eo", "2026-03-02" }, { "eng", "2026-03-02" }, { "", "2026-03-02" },
	};
	struct scope *s = scope_new("test");

	for (size_t i = 0; i < COUNT(dates); i++)
		assert_string_equal(date_text(s, 1772495999999, dates[i].locale), dates[i].text);
	assert_string_equal(date_text(s, 1772496000000, "en"), "3 March 2026");
	assert_string_equal(date_text(s, 0, NULL), "1970-01-01");
	scope_free(s);
}

static int
load_theme(void **unused)
{
	struct scope *s = scope_new("test");
	enum status status;

	unicode_warm_up();
	site_defaults(&site);
	site.title = "Site";
	site.description = "Notes on publishing.";
	site.public_origin = site.admin_origin = "https://ex.com";
	status = templates_load(s, &theme, "templates");
	if (status != OK)
		print_error("%s\n", s->error->detail);
	scope_free(s);
	return status != OK;
}

static int
free_theme(void **unused)
{
	templates_free(theme);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_are_as_recorded),
		cmocka_unit_test(every_page_has_its_landmarks_once),
		cmocka_unit_test(locale_decides_language_and_direction),
		cmocka_unit_test(dates_are_written_as_the_language_does),
	};

	return cmocka_run_group_tests(tests, load_theme, free_theme);
}
