/* test_pattern.c - the path of a resource, from its kind's pattern. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/resource.h"
#include "core/url.h"
#include "core/corpus.h"

#define MAY_2024 INT64_C(1714557600000)		/* 2024-05-01 10:00 */
#define NEW_YEAR INT64_C(1735689599999)		/* the last ms of 2024 */

static const char *
path_of(const char *pattern, const struct resource *r, const char *parent)
{
	static char	out[URL_PATH_MAX + 1];
	struct scope	*s = scope_new("test");
	const char	*path;

	if (path_from_pattern(s, &path, pattern, r, parent) != OK)
		snprintf(out, sizeof(out), "%s: %s", status_info(s->error->status)->code, s->error->field);
	else
		snprintf(out, sizeof(out), "%s", path);
	scope_free(s);
	return out;
}

static void
patterns_are_filled_in(void **unused)
{
	struct resource	r = { .uid = "01900000-0000-7000-8000-0123456789ab", .slug = "hello",
	    .created_at = MAY_2024 };

	assert_string_equal(path_of("/articles/{slug}", &r, NULL), "/articles/hello");
	assert_string_equal(path_of("/{yyyy}/{mm}/{slug}", &r, NULL), "/2024/05/hello");
	assert_string_equal(path_of("/{id}-{slug}", &r, NULL), "/01234567-hello");
	assert_string_equal(path_of("/{parent}/{slug}", &r, NULL), "/hello");
	assert_string_equal(path_of("/{parent}/{slug}", &r, "/about/us"), "/about/us/hello");
	assert_string_equal(path_of("/x/{parent}/{slug}.html", &r, NULL), "/x/hello.html");
	r.first_published_at = NEW_YEAR;
	assert_string_equal(path_of("/{yyyy}/{mm}/{slug}", &r, NULL), "/2024/12/hello");
	r.first_published_at = 0;
	r.publish_at = NEW_YEAR + 1;
	assert_string_equal(path_of("/{yyyy}/{mm}/{slug}", &r, NULL), "/2025/01/hello");
}

static void
the_result_is_in_stored_form(void **unused)
{
	static const char *const slugs[] = { "\xc3\xa9t\xc3\xa9", "e\xcc\x81", "a/b", "a%2Fb", "a?b#c", "a b",
	    "\\", ";", "%" };
	struct resource	r = { .uid = "01900000-0000-7000-8000-0123456789ab", .created_at = MAY_2024 };
	struct scope	*s = scope_new("test");
	struct url_form	 form;
	const char	*path;

	for (size_t i = 0; i < COUNT(slugs); i++) {
		r.slug = slugs[i];
		assert_int_equal(path_from_pattern(s, &path, "/p/{slug}", &r, NULL), OK);
		assert_int_equal(url_form(s, &form, str_of(path)), OK);
		assert_true(form.is_exact && !form.had_slash);
		assert_true(str_starts(str_of(path), "/p/"));
		assert_null(strchr(path + 3, '/'));
	}
	scope_free(s);
}

static void
slugs_that_are_no_segment_are_refused(void **unused)
{
	static const char *const slugs[] = { NULL, "", ".", "..", "a\nb", "\x7f" };
	struct resource	r = { .uid = "01900000-0000-7000-8000-0123456789ab", .created_at = MAY_2024 };
	char		long_slug[URL_PATH_MAX + 1];

	for (size_t i = 0; i < COUNT(slugs); i++) {
		r.slug = slugs[i];
		assert_string_equal(path_of("/p/{slug}", &r, NULL), "validation_failed: slug");
	}
	memset(long_slug, 'a', sizeof(long_slug) - 1);
	long_slug[sizeof(long_slug) - 1] = '\0';
	r.slug = long_slug;
	assert_string_equal(path_of("/p/{slug}", &r, NULL), "validation_failed: slug");
}

static void
patterns_are_checked(void **unused)
{
	static const char *const good[] = { "/articles/{slug}", "/{slug}", "/{parent}/{slug}",
	    "/{yyyy}/{mm}/{slug}", "/{id}", "/blog/{slug}.html", "/%C3%A9/{slug}",
		"/{yyyy}-{mm}/{id}-{slug}" };
	static const char *const bad[] = { "", "/", "{slug}", "articles/{slug}", "/articles", "/{slug}/x",
	    "/articles/{slug}/", "//{slug}", "/a//{slug}", "/./{slug}",
		"/../{slug}", "/{slug", "/slug}", "/{}", "/{Slug}", "/{day}/{slug}", "/{{slug}}",
		"/x{parent}/{slug}", "/a?b/{slug}", "/a#/{slug}", "/a b/{slug}",
		"/\xc3\xa9/{slug}", "/%c3%a9/{slug}", "/a\n/{slug}", "/admin/{slug}", "/API/{slug}",
		"/%61dmin/{slug}", "/en/{slug}", "/_x/{slug}", "/{yyyy}", "/{parent}",
		"/%zz/{slug}" };
	struct scope	*s = scope_new("test");
	struct buf	 text;

	for (size_t i = 0; i < COUNT(good); i++) {
		if (pattern_check(s, good[i], "pattern_article") != OK)
			claim_fails("refused: %s (%s)", good[i], s->error->detail);
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		if (pattern_check(s, bad[i], "pattern_article") != ERR_INVALID)
			claim_fails("accepted: %s", bad[i]);
		assert_string_equal(s->error->field, "pattern_article");
	}
	buf_init(&text, s->arena);
	while (text.len < 300)
		buf_text(&text, "/a");
	buf_text(&text, "/{slug}");
	assert_int_equal(pattern_check(s, text.p, "pattern_article"), ERR_INVALID);
	scope_free(s);
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(patterns_are_filled_in),
		cmocka_unit_test(the_result_is_in_stored_form),
		cmocka_unit_test(slugs_that_are_no_segment_are_refused),
		cmocka_unit_test(patterns_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
