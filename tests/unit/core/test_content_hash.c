/* test_content_hash.c - when two texts count as the same. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/resource.h"

static const char *
text_of(struct scope *s, const char *word, int times, const char *blank)
{
	struct buf	text;

	buf_init(&text, s->arena);
	for (int i = 0; i < times; i++)
		buf_printf(&text, "%s%s", word, blank);
	return text.p;
}

static void
case_blanks_and_composition_do_not_count(void **unused)
{
	struct scope	*s = scope_new("test");
	char		 one[65], two[65];

	assert_true(content_hash(s, one, "en", "Caf\xc3\xa9", text_of(s, "Stra\xc3\x9f" "e", 50, " ")));
	assert_true(content_hash(s, two, "en", " CAFE\xcc\x81 ", text_of(s, "STRASSE", 50, " \n\xc2\xa0\t")));
	assert_string_equal(one, two);
	assert_int_equal(strlen(one), 64);
	scope_free(s);
}

static void
title_text_and_locale_count(void **unused)
{
	struct scope	*s = scope_new("test");
	const char	*text = text_of(s, "stone", 50, " ");
	char		 one[65], two[65];

	assert_true(content_hash(s, one, "en", "a", text));
	assert_true(content_hash(s, two, "en", "b", text));
	assert_string_not_equal(one, two);
	assert_true(content_hash(s, two, "de", "a", text));
	assert_string_not_equal(one, two);
	assert_true(content_hash(s, two, "en", "a", text_of(s, "stone", 51, " ")));
	assert_string_not_equal(one, two);
	/* A word that moves from the title to the text is another article. */
	assert_true(content_hash(s, one, "en", "a stone", text));
	assert_true(content_hash(s, two, "en", "a", scope_printf(s, "stone %s", text)));
	assert_string_not_equal(one, two);
	scope_free(s);
}

static void
short_texts_have_no_hash(void **unused)
{
	struct scope	*s = scope_new("test");
	char		 out[65];

	assert_false(content_hash(s, out, "en", "title", ""));
	assert_false(content_hash(s, out, "en", "title", text_of(s, "a", 199, "")));
	assert_true(content_hash(s, out, "en", "title", text_of(s, "a", 200, "")));
	assert_true(content_hash(s, out, "en", "title", text_of(s, "\xe5\xa4\xa9", 200, "")));
	assert_false(content_hash(s, out, "en", "title", text_of(s, "\xe5\xa4\xa9", 199, "")));
	assert_false(content_hash(s, out, "en", "title", text_of(s, " \n", 500, " ")));
	assert_false(content_hash(s, out, "en", text_of(s, "a", 500, ""), "short"));
	assert_false(content_hash(s, out, "en", "title", text_of(s, "\xff", 500, "")));
	scope_free(s);
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(case_blanks_and_composition_do_not_count),
		cmocka_unit_test(title_text_and_locale_count),
		cmocka_unit_test(short_texts_have_no_hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
