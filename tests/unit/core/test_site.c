/* test_site.c - settings of the database are checked before they count. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/site.h"
#include "core/corpus.h"

#define DAY INT64_C(86400000)

static void
defaults_pass_their_own_checks(void **unused)
{
	static const char *const keys[KIND_COUNT] = { "pattern_article", "pattern_page", "pattern_tag",
	    "pattern_author" };
	struct scope	*s = scope_new("test");
	struct site	 site, copy;

	site_defaults(&site);
	copy = site;
	for (int i = 0; i < KIND_COUNT; i++)
		assert_int_equal(site_set(s, &copy, keys[i], site.pattern[i]), OK);
	assert_int_equal(site_set(s, &copy, "title", site.title), OK);
	assert_int_equal(site_set(s, &copy, "locale", site.locale), OK);
	assert_int_equal(site_set(s, &copy, "description", site.description), OK);
	assert_int_equal(site_set(s, &copy, "robots", site.robots), OK);
	assert_int_equal(site.per_page, 10);
	assert_true(site.retention_form == DAY && site.retention_write == 7 * DAY &&
	    site.retention_state == 30 * DAY);
	assert_false(site.always_slash || site.noindex);
	scope_free(s);
}

static void
good_settings_are_taken(void **unused)
{
	static const char *const good[][2] = { { "title", "B\xc3\xbc" "cher & mehr" }, { "description", "" },
	    { "locale", "pt-BR" }, { "slug_style", "ascii" },
		{ "trailing_slash", "always" }, { "noindex", "true" }, { "per_page", "100" }, { "robots",
		"User-agent: x\nDisallow: /tmp/\n" },
		{ "pattern_page", "/p/{parent}/{slug}" }, { "retention_form", "36h" }, { "retention_write",
		"14d" }, { "retention_state", "365d" } };
	struct scope	*s = scope_new("test");
	struct site	 site;

	site_defaults(&site);
	for (size_t i = 0; i < COUNT(good); i++) {
		if (site_set(s, &site, good[i][0], good[i][1]) != OK)
			claim_fails("%s = %s: %s", good[i][0], good[i][1], s->error->detail);
	}
	assert_string_equal(site.title, good[0][1]);
	assert_string_equal(site.locale, "pt-BR");
	assert_int_equal(site.slug_style, SLUG_ASCII);
	assert_true(site.always_slash && site.noindex);
	assert_int_equal(site.per_page, 100);
	assert_string_equal(site.robots, good[7][1]);
	assert_string_equal(site.pattern[KIND_PAGE], "/p/{parent}/{slug}");
	assert_string_equal(site.pattern[KIND_ARTICLE], "/articles/{slug}");
	assert_true(site.retention_form == DAY + DAY / 2 && site.retention_write == 14 * DAY &&
	    site.retention_state == 365 * DAY);
	assert_int_equal(site_set(s, &site, "trailing_slash", "never"), OK);
	assert_false(site.always_slash);
	scope_free(s);
}

static void
bad_settings_change_nothing(void **unused)
{
	static const char *const bad[][2] = { { "title", "" }, { "title", " " }, { "title", "a\nb" }, { "title",
	    "\xff" }, { "locale", "" }, { "locale", "e" },
		{ "locale", "english" }, { "locale", "en_US" }, { "locale", "en-" }, { "locale", "-en" },
		{ "locale", "en--us" }, { "locale", "e1" }, { "slug_style", "Ascii" },
		{ "slug_style", "" }, { "trailing_slash", "yes" }, { "noindex", "1" }, { "per_page", "0" },
		{ "per_page", "101" }, { "per_page", "ten" }, { "per_page", "" },
		{ "pattern_article", "/x" }, { "pattern_article", "/{parent}/{slug}" }, { "pattern_article",
		"/admin/{slug}" }, { "pattern_", "/{slug}" },
		{ "pattern_articles", "/{slug}" }, { "retention_form", "30m" }, { "retention_form", "0h" },
		{ "retention_form", "31d" }, { "retention_write", "23h" },
		{ "retention_write", "-7d" }, { "retention_write", "7" }, { "retention_write", "d" },
		{ "retention_state", "366d" },
		{ "retention_state", "99999999999999999d" }, { "retention_x", "7d" }, { "Title", "x" }, { "",
		"x" }, { "robots", "a\x01" } };
	struct scope	*s = scope_new("test");
	struct site	 site, before;

	site_defaults(&site);
	before = site;
	for (size_t i = 0; i < COUNT(bad); i++) {
		if (site_set(s, &site, bad[i][0], bad[i][1]) != ERR_INVALID)
			claim_fails("accepted: %s = %s", bad[i][0], bad[i][1]);
		assert_string_equal(s->error->field, bad[i][0]);
		assert_memory_equal(&site, &before, sizeof(site));
	}
	scope_free(s);
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(defaults_pass_their_own_checks),
		cmocka_unit_test(good_settings_are_taken),
		cmocka_unit_test(bad_settings_change_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
