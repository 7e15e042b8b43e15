/* test_diff.c - the runs of a diff make the new text out of the old one, and are as few as can be. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/diff.h"

static struct scope	*s;

/* "=ab -c +d": equal lines, removed and added ones; each line is one letter. */
static const char *
shape(const char *old, const char *new)
{
	static const char signs[] = "=-+";
	struct buf a, b, out;
	struct diff d;

	buf_init(&a, s->arena);
	buf_init(&b, s->arena);
	for (; *old != '\0'; old++)
		buf_printf(&a, "%c\n", *old);
	for (; *new != '\0'; new++)
		buf_printf(&b, "%c\n", *new);
	diff_lines(s, &d, buf_as_str(&a), buf_as_str(&b));
	buf_init(&out, s->arena);
	for (size_t i = 0; i < d.run_count; i++) {
		buf_char(&out, signs[d.runs[i].op]);
		for (size_t k = 0; k < d.runs[i].count; k++)
			buf_str(&out, (d.runs[i].op == DIFF_ADDED ? d.new_lines : d.old_lines)[d.runs[i].from + k]);
	}
	return out.len == 0 ? "" : out.p;
}

static void
least_changes_are_found(void **unused)
{
	assert_string_equal(shape("", ""), "");
	assert_string_equal(shape("abc", "abc"), "=abc");
	assert_string_equal(shape("", "ab"), "+ab");
	assert_string_equal(shape("ab", ""), "-ab");
	assert_string_equal(shape("abc", "adc"), "=a-b+d=c");
	assert_string_equal(shape("abc", "bc"), "-a=bc");
	assert_string_equal(shape("bc", "abc"), "+a=bc");
	assert_string_equal(shape("abcabba", "cbabac"), "-ab=c+b=ab-b=a+c");
	assert_string_equal(shape("aaa", "a"), "=a-aa");
	assert_string_equal(shape("abcdef", "uvwxyz"), "-abcdef+uvwxyz");
}

/* Length of a longest common subsequence, the slow way. */
static size_t
common(const char *a, const char *b, size_t n, size_t m)
{
	size_t table[40][40] = { { 0 } };

	for (size_t i = 1; i <= n; i++)
		for (size_t j = 1; j <= m; j++)
			table[i][j] = a[i - 1] == b[j - 1] ? table[i - 1][j - 1] + 1 :
			    table[i - 1][j] > table[i][j - 1] ? table[i - 1][j] : table[i][j - 1];
	return table[n][m];
}

static void
any_two_texts_are_led_from_one_to_the_other(void **unused)
{
	srandom(20261201);
	for (int round = 0; round < 20000; round++) {
		char old[33], new[33];
		size_t n = (size_t)random() % 32, m = (size_t)random() % 32, at = 0, made = 0, removed = 0, added = 0;
		int letters = 1 + (int)(random() % 5);
		const char *p;

		for (size_t i = 0; i < n; i++)
			old[i] = (char)('a' + random() % letters);
		for (size_t i = 0; i < m; i++)
			new[i] = (char)('a' + random() % letters);
		old[n] = new[m] = '\0';
		for (p = shape(old, new); *p != '\0';) {
			char sign = *p++;

			for (; *p >= 'a'; p++) {
				if (sign != '+')
					assert_int_equal(old[at++], *p);
				if (sign != '-')
					assert_int_equal(new[made++], *p);
				removed += sign == '-';
				added += sign == '+';
			}
		}
		assert_int_equal(at, n);
		assert_int_equal(made, m);
		assert_int_equal(removed + added, n + m - 2 * common(old, new, n, m));
	}
}

static void
texts_too_far_apart_are_one_block_between_equal_ends(void **unused)
{
	struct buf a, b;
	struct diff d;

	buf_init(&a, s->arena);
	buf_init(&b, s->arena);
	buf_text(&a, "first\n");
	buf_text(&b, "first\n");
	for (int i = 0; i < 3000; i++) {
		buf_printf(&a, "old %d\n", i);
		buf_printf(&b, "new %d\n", i);
	}
	buf_text(&a, "last");
	buf_text(&b, "last");
	diff_lines(s, &d, buf_as_str(&a), buf_as_str(&b));
	assert_false(d.is_whole);
	assert_int_equal(d.run_count, 4);
	assert_true(d.runs[0].op == DIFF_SAME && d.runs[0].count == 1);
	assert_true(d.runs[1].op == DIFF_REMOVED && d.runs[1].from == 1 && d.runs[1].count == 3000);
	assert_true(d.runs[2].op == DIFF_ADDED && d.runs[2].from == 1 && d.runs[2].count == 3000);
	assert_true(d.runs[3].op == DIFF_SAME && d.runs[3].from == 3001 && d.runs[3].count == 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(least_changes_are_found),
		cmocka_unit_test(any_two_texts_are_led_from_one_to_the_other),
		cmocka_unit_test(texts_too_far_apart_are_one_block_between_equal_ends),
	};
	int failures;

	s = scope_new("test");
	failures = cmocka_run_group_tests(tests, NULL, NULL);
	scope_free(s);
	return failures;
}
