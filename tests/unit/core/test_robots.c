/* test_robots.c - what a robots.txt lets a crawler read. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/robots.h"
#include "core/url.h"
#include "corpus.h"

static bool
allows(struct scope *s, const char *robots, const char *agent, const char *target)
{
	return robots_allow(s, str_of(robots), agent, str_of(target));
}

static void
longest_rule_decides_and_allow_wins_a_tie(void **unused)
{
	static const char robots[] = "User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /a/b/c$\nAllow: /x\nDisallow: /x\nDisallow:\n";
	struct scope *s = scope_new("test");

	assert_true(allows(s, robots, "*", "/"));
	assert_false(allows(s, robots, "*", "/ab"));
	assert_true(allows(s, robots, "*", "/a/bc"));
	assert_false(allows(s, robots, "*", "/a/b/c"));
	assert_true(allows(s, robots, "*", "/a/b/cd"));
	assert_true(allows(s, robots, "*", "/x"));
	scope_free(s);
}

static void
stars_and_ends_match_as_written(void **unused)
{
	static const struct { const char *pattern, *target; bool matches; } rows[] = {
		{ "/*.pdf$", "/a/b.pdf", true }, { "/*.pdf$", "/a.pdf?x", false }, { "*", "/", true }, { "/a*b*c", "/axbxxc", true },
		{ "/a*b*c", "/axcxb", false }, { "/$", "/", true }, { "/$", "/a", false }, { "/a**$", "/a", true }, { "$", "/", false },
		{ "/%e5%a4%a9", "/%E5%A4%A9", true }, { "/\xe5\xa4\xa9", "/%E5%A4%A9/x", true }, { "/*a*a*a*a*a*b", "/aaaaaaaaaaaaaaaaaaaa", false },
	};
	struct scope *s = scope_new("test");

	for (size_t i = 0; i < COUNT(rows); i++)
		if (allows(s, scope_printf(s, "User-agent: *\nDisallow: %s\n", rows[i].pattern), "*", rows[i].target) == rows[i].matches)
			claim_fails("%s against %s", rows[i].pattern, rows[i].target);
	scope_free(s);
}

static void
a_group_of_its_own_hides_that_of_all(void **unused)
{
	static const char robots[] = "User-agent: *\nDisallow: /\n\nUser-agent: one\nUser-agent: TWO/1.0\nSitemap: x\nAllow: /\n"
	    "User-agent: three\n";
	struct scope *s = scope_new("test");

	assert_false(allows(s, robots, "*", "/p"));
	assert_false(allows(s, robots, "four", "/p"));
	assert_true(allows(s, robots, "One", "/p"));
	assert_true(allows(s, robots, "two", "/p"));
	assert_true(allows(s, robots, "three", "/p"));
	scope_free(s);
}

static void
verdicts_of_the_corpus_are_ours(void **unused)
{
	struct scope *s = scope_new("test");
	json_t *cases, *one;
	size_t i, tried = 0;

	corpus_require(s);
	cases = corpus_json(s, "robots/google-robotstxt-cases.json");
	json_array_foreach(cases, i, one) {
		struct str robots = json_text(json_object_get(one, "robots")), url = json_text(json_object_get(one, "url"));
		const char *agent = json_string_value(json_object_get(one, "agent")), *test = json_string_value(json_object_get(one, "test"));
		size_t scheme = str_find_str(url, STR("://")), slash;

		/* What that library does beyond the standard; and what is no address. */
		if (strncmp(test, "GoogleOnly_", 11) == 0 || scheme == url.len)
			continue;
		url = str_part(url, scheme + 3, url.len);
		slash = str_find(url, '/');
		url = slash == url.len ? STR("/") : str_part(url, slash, url.len);
		if (robots_allow(s, robots, agent, url) != json_boolean_value(json_object_get(one, "allowed")))
			claim_fails("%s: %s asks for %.*s of\n%.*s", test, agent, STR_FMT(url), STR_FMT(robots));
		tried++;
	}
	assert_true(tried >= 70);
	json_decref(cases);
	scope_free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(longest_rule_decides_and_allow_wins_a_tie),
		cmocka_unit_test(stars_and_ends_match_as_written),
		cmocka_unit_test(a_group_of_its_own_hides_that_of_all),
		cmocka_unit_test(verdicts_of_the_corpus_are_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
