/* test_utf8.c - every code point, every kind of broken sequence. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/base.h"

static void
every_code_point_goes_there_and_back(void **unused)
{
	struct arena		*a = arena_new();
	struct arena_mark	 mark = arena_mark(a);

	for (int32_t c = 0; c <= 0x10ffff; c++) {
		struct buf	 b;
		size_t		 i = 0;

		if (c == 0xd800)
			c = 0xe000;
		buf_init(&b, a);
		buf_utf8(&b, c);
		assert_int_equal(utf8_next(buf_as_str(&b), &i), c);
		assert_int_equal(i, b.len);
		assert_true(utf8_valid(buf_as_str(&b)));
		assert_int_equal(utf8_count(buf_as_str(&b)), 1);
		if (b.len > 1)
			assert_false(utf8_valid(str_part(buf_as_str(&b), 0, b.len - 1)));
		arena_rewind(a, mark);
	}
	arena_free(a);
}

static void
broken_sequences_are_refused_wherever_they_stand(void **unused)
{
	static const struct str	 broken[] = {
		{ "\x80", 1 }, { "\xbf", 1 }, { "\xc0\x80", 2 }, { "\xc1\xbf", 2 }, { "\xc3", 1 }, { "\xc3\x28", 2 },
		{ "\xe0\x80\x80", 3 }, { "\xe0\x9f\xbf", 3 }, { "\xe2\x82", 2 }, { "\xe2\x28\xa1", 3 }, { "\xe2\x82\x28", 3 },
		{ "\xed\xa0\x80", 3 }, { "\xed\xbf\xbf", 3 }, { "\xf0\x80\x80\x80", 4 }, { "\xf0\x8f\xbf\xbf", 4 },
		{ "\xf0\x9f\x98", 3 }, { "\xf4\x90\x80\x80", 4 }, { "\xf5\x80\x80\x80", 4 }, { "\xff", 1 }, { "\xfe\xff", 2 },
		{ "\xf8\x88\x80\x80\x80", 5 },
	};
	struct arena		*a = arena_new();

	for (size_t i = 0; i < COUNT(broken); i++) {
		for (size_t before = 0; before < 20; before++) {
			struct buf	 b;
			size_t		 at = before;

			buf_init(&b, a);
			buf_add(&b, "aaaaaaaaaaaaaaaaaaaa", before);
			buf_str(&b, broken[i]);
			assert_false(utf8_valid(buf_as_str(&b)));
			assert_int_equal(utf8_next(buf_as_str(&b), &at), -1);
			assert_int_equal(at, before + 1);
			buf_add(&b, "bbbbbbbbbbbbbbbbbbbb", before);
			assert_false(utf8_valid(buf_as_str(&b)));
		}
	}
	assert_true(utf8_valid((struct str){ NULL, 0 }));
	assert_true(utf8_valid(STR("a\0b")));
	arena_free(a);
}

/* The quick check and the decoder are two codes for one rule. */
static void
validity_agrees_with_decoding_for_random_bytes(void **unused)
{
	static const unsigned char	 alphabet[] = { 'a', 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc2, 0xe0, 0xe1, 0xed,
		0xef, 0xf0, 0xf1, 0xf4 };
	uint64_t	 seed = 7;
	size_t		 valid = 0;
	char		 text[16];

	for (int round = 0; round < 2000000; round++) {
		size_t	 len, i = 0;
		bool	 ok = true;

		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
		len = (size_t)(seed >> 60);
		for (size_t k = 0; k < len; k++)
			text[k] = (char)alphabet[seed >> (4 * k % 56 + 4) & 15];
		while (i < len)
			ok = utf8_next((struct str){ text, len }, &i) != -1 && ok;
		assert_int_equal(i, len);
		assert_int_equal(utf8_valid((struct str){ text, len }), ok);
		valid += ok && len > 4;
	}
	assert_true(valid > 100);
}

static void
cut_ends_at_a_character(void **unused)
{
	struct str	 s = STR("a\u00e9\u4f60\U0001f600z");
	static const size_t	 want[] = { 0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10, 11, 11 };

	for (size_t max = 0; max < COUNT(want); max++) {
		assert_int_equal(utf8_cut(s, max).len, want[max]);
		assert_true(utf8_valid(utf8_cut(s, max)));
	}
	assert_int_equal(utf8_count(s), 5);
	assert_true(utf8_cut(STR("\x80\x80\x80\x80\x80\x80\x80\x80"), 6).len >= 2);
	assert_int_equal(utf8_cut((struct str){ NULL, 0 }, 3).len, 0);
}

static void
control_characters_are_found(void **unused)
{
	for (int c = 0; c < 0x20; c++) {
		char	 text[2] = { 'a', (char)c };

		assert_true(text_has_control((struct str){ text, 2 }, false));
		assert_int_equal(text_has_control((struct str){ text, 2 }, true), c != '\t' && c != '\n' && c != '\r');
	}
	assert_true(text_has_control(STR("\x7f"), true));
	assert_true(text_has_control(STR("a\uFFFE"), true));
	assert_true(text_has_control(STR("\uFFFF"), true));
	assert_false(text_has_control(STR("\uFFFD \uFEFF \xc2\x85 \u4f60 \xef\xbf"), false));
	assert_false(text_has_control((struct str){ NULL, 0 }, false));
}

static void
ascii_prefix_stops_at_the_first_other_byte(void **unused)
{
	char	 text[40];

	for (size_t at = 0; at < sizeof(text); at++) {
		memset(text, 'a', sizeof(text));
		text[at] = (char)0xc3;
		assert_int_equal(utf8_ascii_prefix((struct str){ text, sizeof(text) }), at);
		assert_int_equal(utf8_ascii_prefix((struct str){ text, at }), at);
	}
}

int
main(void)
{
	const struct CMUnitTest	 tests[] = {
		cmocka_unit_test(every_code_point_goes_there_and_back),
		cmocka_unit_test(broken_sequences_are_refused_wherever_they_stand),
		cmocka_unit_test(validity_agrees_with_decoding_for_random_bytes),
		cmocka_unit_test(cut_ends_at_a_character),
		cmocka_unit_test(control_characters_are_found),
		cmocka_unit_test(ascii_prefix_stops_at_the_first_other_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
