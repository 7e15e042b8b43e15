/* test_rule.c - redirect rules: what they take, what they fill in, which of two says more, and which leads into which. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/rule.h"

static struct scope	*s;

static int
setup(void **unused)
{
	s = scope_new("test");
	return 0;
}

static int
teardown(void **unused)
{
	scope_free(s);
	return 0;
}

static const char *
fill(const char *pattern, const char *path, const char *target)
{
	assert_true(rule_takes(str_of(pattern), str_of(path)));
	return rule_fill(s, str_of(pattern), str_of(path), str_of(target));
}

static const char *
target(const char *pattern, const char *text)
{
	const char *out;
	bool has_values;

	return rule_target(s, &out, &has_values, pattern, text, "target") == OK ? out : "refused";
}

static void
values_in_a_query_stay_one_value(void **unused)
{
	assert_string_equal(fill("/a/:b", "/a/x&y=z+1;2", "https://o.test/:b?p=:b&q=1#:b"), "https://o.test/x&y=z+1;2?p=x%26y%3Dz%2B1%3B2&q=1#x&y=z+1;2");
	assert_string_equal(fill("/a/*", "/a/x&y/%26", "https://o.test/?*"), "https://o.test/?x%26y/%26");
	assert_string_equal(fill("/a/:b", "/a/x&y", "/list?page=:b"), "/list?page=x%26y");
}

static void
only_whole_segments_are_marks(void **unused)
{
	assert_true(rule_is_pattern(STR("/a/:b")));
	assert_true(rule_is_pattern(STR("/a/*")));
	assert_true(rule_is_pattern(STR("/*/a")));
	assert_false(rule_is_pattern(STR("/a/b:c")));
	assert_false(rule_is_pattern(STR("/a/:")));
	assert_false(rule_is_pattern(STR("/a/:1")));
	assert_false(rule_is_pattern(STR("/a/b*")));
	assert_false(rule_is_pattern(STR("/a/:b-c")));
}

static void
a_name_takes_one_segment_and_the_splat_the_rest(void **unused)
{
	assert_true(rule_takes(STR("/a/*"), STR("/a")));
	assert_true(rule_takes(STR("/a/*"), STR("/a/b/c")));
	assert_false(rule_takes(STR("/a/*"), STR("/ab")));
	assert_true(rule_takes(STR("/a/:b"), STR("/a/x")));
	assert_false(rule_takes(STR("/a/:b"), STR("/a")));
	assert_false(rule_takes(STR("/a/:b"), STR("/a/x/y")));
	assert_false(rule_takes(STR("/a/:b/c"), STR("/a/x/d")));
}

static void
values_stand_behind_the_origin_only(void **unused)
{
	assert_string_equal(fill("/a/:b/*", "/a/x/y/z", "/n/:b-:b/*"), "/n/x-x/y/z");
	assert_string_equal(fill("/a/*", "/a/@evil.test", "https://ex.test/*"), "https://ex.test/@evil.test");
	assert_string_equal(fill("/a/*", "/a/b", "https://*"), "https://*");
	assert_string_equal(fill("/a/:x", "/a/b", "https://ex.test:80/:xy/:x"), "https://ex.test:80/:xy/b");
	assert_string_equal(fill("/a/*", "/a", "/*"), "/");
}

static void
targets_use_what_the_pattern_has(void **unused)
{
	assert_string_equal(target("/a/:b/*", "/x/:b/*"), "/x/:b/*");
	assert_string_equal(target("/a/*", "/x/:splat"), "/x/*");
	assert_string_equal(target("/a/:splat", "/x/:splat"), "/x/:splat");
	assert_string_equal(target("/a/:b", "/x/:c"), "refused");
	assert_string_equal(target("/a/:b", "/x/*"), "refused");
	assert_string_equal(target("/a/:b", "https://ex.test/p:c?q=:b"), "https://ex.test/p:c?q=:b");
}

static void
patterns_are_checked(void **unused)
{
	struct buf long_one;

	buf_init(&long_one, s->arena);
	for (int i = 0; i < RULE_SEGMENTS + 1; i++)
		buf_text(&long_one, "/x");
	buf_text(&long_one, "/:a");
	assert_int_equal(rule_check(s, "/a/:b/*", "source"), OK);
	assert_int_equal(rule_check(s, "/*", "source"), ERR_INVALID);
	assert_int_equal(rule_check(s, "/a/*/b", "source"), ERR_INVALID);
	assert_int_equal(rule_check(s, "/:a/:a", "source"), ERR_INVALID);
	assert_int_equal(rule_check(s, long_one.p, "source"), ERR_INVALID);
}

static void
the_more_specific_rule_is_found_in_any_order(void **unused)
{
	const struct rule a[] = { { "/a/*", "1", 0, 301 }, { "/a/:b", "2", 0, 301 }, { "/a/c", "3", 0, 301 }, { "/:a/c", "4", 0, 301 } };
	const struct rule b[] = { a[3], a[2], a[1], a[0] };
	const struct rule_set sets[] = { { a, COUNT(a) }, { b, COUNT(b) } };

	for (size_t i = 0; i < COUNT(sets); i++) {
		assert_string_equal(rule_find(&sets[i], STR("/a/c"))->target, "3");
		assert_string_equal(rule_find(&sets[i], STR("/a/d"))->target, "2");
		assert_string_equal(rule_find(&sets[i], STR("/a/d/e"))->target, "1");
		assert_string_equal(rule_find(&sets[i], STR("/b/c"))->target, "4");
		assert_null(rule_find(&sets[i], STR("/b/d")));
	}
}

static void
a_target_is_covered_when_whatever_it_becomes_is_taken(void **unused)
{
	assert_true(rule_covers(STR("/b/*"), STR("/b/*")));
	assert_true(rule_covers(STR("/b/*"), STR("/b/c/:d?x=:d")));
	assert_true(rule_covers(STR("/:a/:b"), STR("/b/:d")));
	assert_false(rule_covers(STR("/b/c"), STR("/b/:d")));
	assert_false(rule_covers(STR("/b/*"), STR("/*")));
	assert_false(rule_covers(STR("/:a"), STR("/*")));
	assert_false(rule_covers(STR("/b/:c"), STR("/b/*")));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(only_whole_segments_are_marks), T(a_name_takes_one_segment_and_the_splat_the_rest), T(values_stand_behind_the_origin_only), T(values_in_a_query_stay_one_value),
		T(targets_use_what_the_pattern_has), T(patterns_are_checked), T(the_more_specific_rule_is_found_in_any_order),
		T(a_target_is_covered_when_whatever_it_becomes_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
