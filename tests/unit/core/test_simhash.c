/* test_simhash.c - near texts have near hashes, in every script; others do not; and the number never changes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/simhash.h"

static struct scope	*s;

/* `count` different words; from `other` on they are other words. */
static struct str
words(int count, int other, const char *between)
{
	struct buf b;

	buf_init(&b, s->arena);
	for (int i = 0; i < count; i++)
		buf_printf(&b, "%s%d%s", i < other ? "word" : "another", i * 7919 % 1009, between);
	return buf_as_str(&b);
}

static struct str
ideographs(int count, int changed)
{
	struct buf b;

	buf_init(&b, s->arena);
	for (int i = 0; i < count; i++) {
		int32_t c = 0x4E00 + i * 7919 % 5000 + (i == changed ? 7000 : 0);

		buf_printf(&b, "%c%c%c", 0xE0 | c >> 12, 0x80 | (c >> 6 & 0x3F), 0x80 | (c & 0x3F));
	}
	return buf_as_str(&b);
}

static void
a_text_with_a_changed_word_is_near(void **unused)
{
	uint64_t whole = simhash(s, words(600, 600, " "));

	assert_true(simhash_distance(whole, simhash(s, words(600, 599, " "))) <= SIMHASH_NEAR);
	assert_true(simhash_distance(whole, simhash(s, words(601, 601, " "))) <= SIMHASH_NEAR);
	assert_true(simhash_distance(simhash(s, ideographs(900, -1)), simhash(s, ideographs(900, 450))) <= SIMHASH_NEAR);
}

static void
another_text_is_far(void **unused)
{
	uint64_t whole = simhash(s, words(600, 600, " "));

	assert_true(simhash_distance(whole, simhash(s, words(600, 0, " "))) > 12);
	assert_true(simhash_distance(whole, simhash(s, words(600, 300, " "))) > SIMHASH_NEAR);
	assert_true(simhash_distance(simhash(s, ideographs(900, -1)), simhash(s, ideographs(300, -1))) > SIMHASH_NEAR);
}

static void
blanks_signs_and_case_do_not_count(void **unused)
{
	assert_true(simhash(s, words(50, 50, " ")) == simhash(s, words(50, 50, ", --- ")));
	assert_true(simhash(s, str_of("Ein STRASSENNAME ist lang")) == simhash(s, str_of("ein straßenname ist lang!")));
}

static void
the_number_is_for_ever(void **unused)
{
	assert_int_equal(simhash(s, str_of("")), 0);
	assert_int_equal(simhash(s, str_of("word")), 0);
	assert_true(simhash(s, str_of("The quick brown fox jumps over the lazy dog.")) == UINT64_C(0x20201b42c3047a82));
}

static void
two_near_hashes_share_a_block(void **unused)
{
	uint64_t a = UINT64_C(0x0123456789abcdef), b = a ^ UINT64_C(1) << 3 ^ UINT64_C(1) << 20 ^ UINT64_C(1) << 60;
	int shared = 0;

	assert_int_equal(simhash_distance(a, b), 3);
	for (int block = 0; block < SIMHASH_BLOCKS; block++)
		shared += simhash_block(a, block) == simhash_block(b, block);
	assert_int_equal(shared, 1);
	assert_int_equal(simhash_block(a, 0), 0xcdef);
	assert_int_equal(simhash_block(a, 3), 0x0123);
}

static int
setup(void **state)
{
	s = scope_new("test");
	return 0;
}

static int
teardown(void **state)
{
	scope_free(s);
	return 0;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_text_with_a_changed_word_is_near),
		cmocka_unit_test(another_text_is_far),
		cmocka_unit_test(blanks_signs_and_case_do_not_count),
		cmocka_unit_test(the_number_is_for_ever),
		cmocka_unit_test(two_near_hashes_share_a_block),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
