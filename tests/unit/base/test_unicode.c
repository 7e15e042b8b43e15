/* test_unicode.c - normal forms, folding, lower case, transliteration. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>

#include "base/unicode.h"

typedef enum status change(struct scope *, struct str *, struct str);

static struct scope	*s;

static void
gives(change *f, const char *in, const char *want)
{
	struct str	 out;

	assert_int_equal(f(s, &out, str_of(in)), OK);
	if (!str_is(out, want))
		print_error("%s gave %.*s, not %s\n", in, STR_FMT(out), want);
	assert_true(str_is(out, want));
}

static void
ascii_is_returned_as_it_is(void **unused)
{
	struct str	 in = STR("plain-text 123"), out;
	change *const	 all[] = { unicode_nfc, unicode_fold, unicode_lower, unicode_to_ascii };

	for (size_t i = 0; i < COUNT(all); i++) {
		assert_int_equal(all[i](s, &out, in), OK);
		assert_ptr_equal(out.p, in.p);
		assert_int_equal(out.len, in.len);
		assert_int_equal(all[i](s, &out, (struct str){ NULL, 0 }), OK);
		assert_int_equal(out.len, 0);
	}
	assert_int_equal(unicode_nfc(s, &out, STR("Upper")), OK);
	assert_true(str_is(out, "Upper"));
	gives(unicode_fold, "Upper-[@`{]", "upper-[@`{]");
	gives(unicode_lower, "ABCXYZ", "abcxyz");
}

static void
composed_and_decomposed_become_one(void **unused)
{
	gives(unicode_nfc, "cafe\u0301", "caf\u00e9");
	gives(unicode_nfc, "caf\u00e9", "caf\u00e9");
	gives(unicode_nfc, "\u1100\u1161", "\uac00");
	gives(unicode_nfc, "\u212b", "\u00c5");
	gives(unicode_nfc, "a\u0328\u0301", "\u0105\u0301");
	gives(unicode_nfc, "a\u0301\u0328", "\u0105\u0301");
}

static void
folding_makes_spellings_equal(void **unused)
{
	gives(unicode_fold, "Stra\u00dfe", "strasse");
	gives(unicode_fold, "\u03a3\u03c3\u03c2", "\u03c3\u03c3\u03c3");
	gives(unicode_fold, "\u0130", "i\u0307");
	gives(unicode_fold, "CAFE\u0301", "caf\u00e9");
	gives(unicode_fold, "\u00c9", "\u00e9");
	gives(unicode_fold, "\u041f\u0420\u0418\u0412\u0415\u0422", "\u043f\u0440\u0438\u0432\u0435\u0442");
	/* Canonically equal, and different when folded without taking apart first. */
	gives(unicode_fold, "\u03b1\u0345\u0301", "\u03ac\u03b9");
	gives(unicode_fold, "\u03b1\u0301\u0345", "\u03ac\u03b9");
}

static void
lower_case_is_full_and_without_locale(void **unused)
{
	gives(unicode_lower, "\u00c9COLE", "\u00e9cole");
	gives(unicode_lower, "\u039f\u0394\u039f\u03a3", "\u03bf\u03b4\u03bf\u03c2");
	gives(unicode_lower, "I\u0130", "ii\u0307");
	gives(unicode_lower, "Stra\u00dfe", "stra\u00dfe");
}

static void
titles_are_written_in_latin_letters(void **unused)
{
	gives(unicode_to_ascii, "\u4f60\u597d\u4e16\u754c", "ni hao shi jie");
	gives(unicode_to_ascii, "\u0441\u044a\u0435\u0448\u044c \u0435\u0449\u0451 \u043c\u044f\u0433\u043a\u0438\u0445", "s\"yesh' yeshche myagkikh");
	gives(unicode_to_ascii, "Stra\u00dfe \u00c6r\u00f8 \u0141\u00f3d\u017a \u0130stanbul", "strasse aero lodz istanbul");
	gives(unicode_to_ascii, "Ti\u1ebfng Vi\u1ec7t", "tieng viet");
	gives(unicode_to_ascii, "\ud55c\uad6d\uc5b4", "hangug-eo");
}

static void
text_that_is_not_utf8_is_refused(void **unused)
{
	static const struct str	 bad[] = { { "\xff", 1 }, { "caf\xc3", 4 }, { "\xed\xa0\x80", 3 }, { "\xc0\xaf", 2 }, { "ok \x80", 4 } };
	change *const		 all[] = { unicode_nfc, unicode_fold, unicode_lower, unicode_to_ascii };
	struct str		 out;

	for (size_t i = 0; i < COUNT(bad); i++)
		for (size_t f = 0; f < COUNT(all); f++)
			assert_int_equal(all[f](s, &out, bad[i]), ERR_INVALID);
}

static void
nul_and_length_are_kept(void **unused)
{
	struct str	 out;

	assert_int_equal(unicode_nfc(s, &out, STR("\u00e9\0e\u0301")), OK);
	assert_true(str_eq(out, STR("\u00e9\0\u00e9")));
	assert_int_equal(unicode_fold(s, &out, STR("A\0B")), OK);
	assert_true(str_eq(out, STR("a\0b")));
}

static void
characters_have_their_class(void **unused)
{
	static const int32_t	 letters[] = { 'a', 'Z', '7', 0xe9, 0x4f60, 0x301, 0x94d, 0xac00, 0x2160, 0x20000 };
	static const int32_t	 others[] = { -1, ' ', '-', '_', '.', 0, 0x2014, 0x1f600, 0xd800, 0xffff, 0x110000, 0x200d, 0xe000 };
	static const int32_t	 spaces[] = { ' ', '\t', '\n', 0xa0, 0x2003, 0x3000, 0x85 };

	for (size_t i = 0; i < COUNT(letters); i++)
		assert_true(unicode_is_letter_or_digit(letters[i]));
	for (size_t i = 0; i < COUNT(others); i++)
		assert_false(unicode_is_letter_or_digit(others[i]));
	for (size_t i = 0; i < COUNT(spaces); i++)
		assert_true(unicode_is_space(spaces[i]));
	assert_false(unicode_is_space('a'));
	assert_false(unicode_is_space(0x200b));
	assert_false(unicode_is_space(-1));
}

/* Always the same bytes: a failure comes again. */
static void
fill(unsigned char *out, size_t n)
{
	static uint64_t	 state = 88172645463325252u;

	while (n-- > 0) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		*out++ = (unsigned char)(state >> 32);
	}
}

static struct str
random_text(struct scope *in, size_t max)
{
	static const int32_t	 starts[] = { 0x20, 0xa0, 0x2c0, 0x300, 0x370, 0x400, 0x5d0, 0x620, 0x900, 0xe00, 0x1100, 0x1e00,
		0x1f00, 0x2000, 0x3040, 0x4e00, 0xac00, 0xf900, 0xfb00, 0x10400, 0x1d150, 0x1f600, 0x20000, 0xe0000 };
	unsigned char		 bytes[3];
	struct buf		 b;

	buf_init(&b, in->arena);
	fill(bytes, 1);
	for (size_t n = bytes[0] % max; n > 0; n--) {
		fill(bytes, 3);
		buf_utf8(&b, starts[bytes[0] % COUNT(starts)] + bytes[1] % 0x80 + (bytes[2] > 250 ? 0x80 : 0));
	}
	return buf_as_str(&b);
}

static void
folding_and_normalising_twice_changes_nothing(void **unused)
{
	for (int round = 0; round < 20000; round++) {
		struct scope	*r = scope_new("round");
		struct str	 text = random_text(r, 40), once, twice, nfc, lower;

		assert_int_equal(unicode_nfc(r, &nfc, text), OK);
		assert_int_equal(unicode_nfc(r, &twice, nfc), OK);
		assert_true(str_eq(nfc, twice));
		assert_int_equal(unicode_fold(r, &once, text), OK);
		assert_int_equal(unicode_fold(r, &twice, once), OK);
		assert_true(str_eq(once, twice));
		assert_int_equal(unicode_fold(r, &twice, nfc), OK);
		assert_true(str_eq(once, twice));
		assert_int_equal(unicode_lower(r, &lower, text), OK);
		assert_true(utf8_valid(once) && utf8_valid(lower) && utf8_valid(nfc));
		scope_free(r);
	}
}

static void
transliteration_survives_any_text(void **unused)
{
	for (int round = 0; round < 300; round++) {
		struct scope	*r = scope_new("round");
		struct str	 out;

		assert_int_equal(unicode_to_ascii(r, &out, random_text(r, 200)), OK);
		assert_true(utf8_valid(out));
		scope_free(r);
	}
}

static void
long_texts_are_bounded(void **unused)
{
	struct buf	 b;
	struct str	 out;

	buf_init(&b, s->arena);
	while (b.len < 65530)
		buf_utf8(&b, 0x4f60);
	assert_int_equal(unicode_to_ascii(s, &out, buf_as_str(&b)), OK);
	assert_true(str_starts(out, "ni ni ni"));
	while (b.len <= 65536)
		buf_utf8(&b, 0x4f60);
	assert_int_equal(unicode_to_ascii(s, &out, buf_as_str(&b)), ERR_TOO_LARGE);
	/* The characters that grow most. */
	buf_init(&b, s->arena);
	for (int i = 0; i < 20000; i++) {
		buf_utf8(&b, 0x1d160);
		buf_utf8(&b, 0x390);
		buf_utf8(&b, 0xfb2c);
		buf_utf8(&b, 0x1f82);
	}
	assert_int_equal(unicode_nfc(s, &out, buf_as_str(&b)), OK);
	assert_int_equal(unicode_fold(s, &out, buf_as_str(&b)), OK);
	assert_int_equal(unicode_lower(s, &out, buf_as_str(&b)), OK);
}

static void *
transliterate(void *wrong)
{
	struct scope	*mine = scope_new("thread");
	struct str	 out;

	for (int i = 0; i < 500; i++) {
		if (unicode_to_ascii(mine, &out, STR("\u4f60\u597d\u4e16\u754c \u043c\u044f\u0433\u043a\u0438\u0445")) != OK ||
		    !str_is(out, "ni hao shi jie myagkikh"))
			++*(int *)wrong;
	}
	scope_free(mine);
	return NULL;
}

static void
threads_do_not_disturb_each_other(void **unused)
{
	pthread_t	 threads[6];
	int		 wrong[6] = { 0 };

	for (size_t i = 0; i < COUNT(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, transliterate, &wrong[i]), 0);
	for (size_t i = 0; i < COUNT(threads); i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(wrong[i], 0);
	}
}

static struct str
characters(struct str field)
{
	struct str	 hex;
	struct buf	 b;

	buf_init(&b, s->arena);
	while (str_next(&field, ' ', &hex))
		buf_utf8(&b, (int32_t)strtol(str_dup(s->arena, hex), NULL, 16));
	return buf_as_str(&b);
}

/* UAX 15: c2 == NFC(c1) == NFC(c2) == NFC(c3); c4 == NFC(c4) == NFC(c5). */
static void
nfc_passes_the_conformance_test_of_unicode(void **unused)
{
	const char	*corpora = getenv("STELE_CORPORA");
	char		*path = scope_printf(s, "%s/unicode/NormalizationTest.txt.bz2", corpora != NULL ? corpora : "../shared/corpora");
	FILE		*f = NULL;
	char		 line[4096];
	int		 cases = 0;

	if (access(path, R_OK) == 0 && strpbrk(path, "'\\") == NULL)
		f = popen(scope_printf(s, "bzip2 -dc '%s' 2>/dev/null", path), "r");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		struct arena_mark	 mark = arena_mark(s->arena);
		struct str		 rest = str_of(line), field, c[5], out;

		if (line[0] == '#' || line[0] == '@')
			continue;
		for (size_t i = 0; i < 5; i++) {
			assert_true(str_next(&rest, ';', &field));
			c[i] = characters(field);
		}
		for (size_t i = 0; i < 5; i++) {
			assert_int_equal(unicode_nfc(s, &out, c[i]), OK);
			assert_true(str_eq(out, c[i < 3 ? 1 : 3]));
		}
		cases++;
		arena_rewind(s->arena, mark);
	}
	if (f != NULL)
		pclose(f);
	if (cases == 0) {
		print_message("corpora absent\n");
		skip();
	}
	print_message("%d cases\n", cases);
	assert_true(cases > 18000);
}

int
main(void)
{
	const struct CMUnitTest	 tests[] = {
		cmocka_unit_test(ascii_is_returned_as_it_is),
		cmocka_unit_test(composed_and_decomposed_become_one),
		cmocka_unit_test(folding_makes_spellings_equal),
		cmocka_unit_test(lower_case_is_full_and_without_locale),
		cmocka_unit_test(titles_are_written_in_latin_letters),
		cmocka_unit_test(text_that_is_not_utf8_is_refused),
		cmocka_unit_test(nul_and_length_are_kept),
		cmocka_unit_test(characters_have_their_class),
		cmocka_unit_test(folding_and_normalising_twice_changes_nothing),
		cmocka_unit_test(transliteration_survives_any_text),
		cmocka_unit_test(long_texts_are_bounded),
		cmocka_unit_test(threads_do_not_disturb_each_other),
		cmocka_unit_test(nfc_passes_the_conformance_test_of_unicode),
	};
	int			 failures;

	unicode_warm_up();
	s = scope_new("test");
	failures = cmocka_run_group_tests(tests, NULL, NULL);
	scope_free(s);
	return failures;
}
