/* test_text.c - borrowed strings, buffers, numbers. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/base.h"

static const struct str	 empty = { NULL, 0 };

static void
parts_are_clamped(void **unused)
{
	struct str	 s = STR("stone");

	assert_true(str_is(str_part(s, 1, 3), "to"));
	assert_true(str_is(str_part(s, 2, SIZE_MAX), "one"));
	assert_int_equal(str_part(s, 5, 9).len, 0);
	assert_int_equal(str_part(s, 4, 2).len, 0);
	assert_int_equal(str_part(s, SIZE_MAX, SIZE_MAX).len, 0);
	assert_int_equal(str_part(empty, 0, 3).len, 0);
}

static void
comparison_looks_at_every_byte(void **unused)
{
	assert_true(str_eq(empty, STR("")));
	assert_true(str_is(empty, ""));
	assert_false(str_is(STR("stone"), "ston"));
	assert_false(str_is(STR("ston"), "stone"));
	assert_false(str_eq(STR("a\0b"), STR("a\0c")));
	assert_false(str_is_nocase(STR("a\0b"), "a"));
	assert_false(str_is_nocase(STR("a"), "ab"));
	assert_true(str_is_nocase(STR("GzIp"), "gZiP"));
	assert_false(str_is_nocase(STR("@["), "`{"));
	assert_true(str_is_nocase(empty, ""));
	assert_int_equal(str_of(NULL).len, 0);
}

static void
prefixes_and_suffixes(void **unused)
{
	assert_true(str_starts(STR("/api/v1"), "/api"));
	assert_false(str_starts(STR("/ap"), "/api"));
	assert_true(str_starts(empty, ""));
	assert_true(str_ends(STR("title_html"), "_html"));
	assert_false(str_ends(STR("html"), "_html"));
	assert_true(str_ends(empty, ""));
}

static void
trim_takes_blanks_of_both_ends(void **unused)
{
	assert_true(str_is(str_trim(STR(" \t\r\n a b \n")), "a b"));
	assert_int_equal(str_trim(STR(" \t ")).len, 0);
	assert_true(str_is(str_trim(STR("\v")), "\v"));
	assert_int_equal(str_trim(empty).len, 0);
}

static void
find_gives_the_index_or_the_length(void **unused)
{
	assert_int_equal(str_find(STR("a=b"), '='), 1);
	assert_int_equal(str_find(STR("ab"), '='), 2);
	assert_int_equal(str_find(empty, '='), 0);
	assert_int_equal(str_find_str(STR("http://x"), STR("://")), 4);
	assert_int_equal(str_find_str(STR("ht"), STR("://")), 2);
	assert_int_equal(str_find_str(STR("ht"), empty), 0);
	assert_int_equal(str_find_str(empty, STR("a")), 0);
}

static void
next_cuts_pieces(void **unused)
{
	static const struct { const char *text, *pieces; } cases[] = {
		{ "a,,b", "[a][][b]" }, { "", "" }, { "a", "[a]" }, { "a,", "[a]" }, { ",a", "[][a]" }, { ",", "[]" },
	};
	struct arena	*a = arena_new();

	for (size_t i = 0; i < COUNT(cases); i++) {
		struct str	 rest = str_of(cases[i].text), piece;
		struct buf	 got;

		buf_init(&got, a);
		while (str_next(&rest, ',', &piece))
			buf_printf(&got, "[%.*s]", STR_FMT(piece));
		assert_string_equal(got.p, cases[i].pieces);
	}
	arena_free(a);
}

static void
buffer_is_always_terminated(void **unused)
{
	struct arena	*a = arena_new();
	struct buf	 b, late = { .arena = a };

	buf_init(&b, a);
	assert_string_equal(b.p, "");
	buf_text(&b, NULL);
	buf_str(&b, empty);
	buf_text(&b, "");
	assert_string_equal(b.p, "");
	buf_char(&b, 'x');
	assert_string_equal(b.p, "x");
	buf_printf(&b, "%d", 12);
	buf_str(&b, STR("-y"));
	assert_string_equal(b.p, "x12-y");
	assert_int_equal(buf_as_str(&b).len, 5);
	buf_add(&late, "late", 4);
	assert_string_equal(late.p, "late");
	arena_free(a);
}

static void
buffer_holds_what_was_added(void **unused)
{
	struct arena	*a = arena_new();
	struct buf	 b, other;
	char		 line[1200];

	buf_init(&b, a);
	buf_init(&other, a);
	memset(line, 'l', sizeof(line));
	for (int i = 0; i < 3000; i++) {
		buf_char(&b, 'c');
		buf_printf(&b, "%.*s", i % 1200, line);
		buf_add(&b, line, (size_t)(i % 77));
		buf_printf(&other, "%d,", i);
		assert_int_equal(b.p[b.len], '\0');
	}
	for (size_t i = 0, at = 0; i < 3000; i++) {
		assert_int_equal(b.p[at], 'c');
		at += 1 + i % 1200;
		at += i % 77;
		if (i == 2999)
			assert_int_equal(at, b.len);
	}
	assert_int_equal(other.len, strlen(other.p));
	assert_true(str_ends(buf_as_str(&other), "2998,2999,"));
	arena_free(a);
}

static void
whole_numbers_only(void **unused)
{
	static const struct { const char *text; int64_t value; } good[] = {
		{ "0", 0 }, { "-0", 0 }, { "007", 7 }, { "-1", -1 }, { "9223372036854775807", INT64_MAX },
		{ "-9223372036854775808", INT64_MIN },
	};
	static const char *const bad[] = { "", "-", "+1", " 1", "1 ", "1.0", "1e3", "0x1", "--1", "9223372036854775808",
		"-9223372036854775809", "99999999999999999999999", "\xd9\xa1" };
	int64_t	 value = 42;

	for (size_t i = 0; i < COUNT(good); i++) {
		assert_true(parse_int64(str_of(good[i].text), &value));
		assert_int_equal(value, good[i].value);
	}
	value = 42;
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(parse_int64(str_of(bad[i]), &value));
	assert_false(parse_int64(STR("1\0"), &value));
	assert_int_equal(value, 42);
}

int
main(void)
{
	const struct CMUnitTest	 tests[] = {
		cmocka_unit_test(parts_are_clamped),
		cmocka_unit_test(comparison_looks_at_every_byte),
		cmocka_unit_test(prefixes_and_suffixes),
		cmocka_unit_test(trim_takes_blanks_of_both_ends),
		cmocka_unit_test(find_gives_the_index_or_the_length),
		cmocka_unit_test(next_cuts_pieces),
		cmocka_unit_test(buffer_is_always_terminated),
		cmocka_unit_test(buffer_holds_what_was_added),
		cmocka_unit_test(whole_numbers_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
