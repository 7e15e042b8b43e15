/* test_slug.c - slugs keep letters of all scripts, and nothing else. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/slug.h"
#include "core/url.h"
#include "base/unicode.h"
#include "core/corpus.h"

static const char *
from_title(struct scope *s, struct str title, enum slug_style style)
{
	const char	*slug;

	assert_int_equal(slug_from_title(s, &slug, title, style), OK);
	return slug;
}

static void
slug_keeps_letters_of_all_scripts(void **unused)
{
	static const char *const cases[][2] = {
		{ "Hello, World!", "hello-world" }, { "A", "a" }, { "  --a--b__c  ", "a-b-c" },
		{ "blog \xed\x95\x9c\xea\xb8\x80 \xe9\xa1\x8c\xe7\x9b\xae test",
		    "blog-\xed\x95\x9c\xea\xb8\x80-\xe9\xa1\x8c\xe7\x9b\xae-test" },
		    { "\xe5\xa4\xa9\xe5\x9c\xb0\xe4\xba\xba", "\xe5\xa4\xa9\xe5\x9c\xb0\xe4\xba\xba" },
		{ "\xd0\x9f\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82",
		"\xd0\xbf\xd1\x80\xd0\xb8\xd0\xb2\xd0\xb5\xd1\x82" },
		{ "\xe0\xb8\xaa\xe0\xb8\xa7\xe0\xb8\xb1\xe0\xb8\xaa\xe0\xb8\x94\xe0\xb8\xb5",
		"\xe0\xb8\xaa\xe0\xb8\xa7\xe0\xb8\xb1\xe0\xb8\xaa\xe0\xb8\x94\xe0\xb8\xb5" },
		{ "Don't stop", "dont-stop" }, { "L\xe2\x80\x99" "eau", "leau" }, { "'quoted'", "quoted" },
		{ "e\xcc\x81t\xc3\x89", "\xc3\xa9t\xc3\xa9" },
		{ "a\xc2\xad" "b", "ab" }, { "e\xc2\xad\xcc\x81", "\xc3\xa9" },
		{ "1\xef\xb8\x8f\xe2\x83\xa3 one", "1-one" }, { "C++ & C#", "c-c" }, { "100%", "100" },
		{ "a/b\\c?d#e", "a-b-c-d-e" }, { "../../etc", "etc" }, { "\xef\xbc\x8f" "a", "a" },
		{ "Stra\xc3\x9f" "e", "stra\xc3\x9f" "e" },
	};
	static const char *const empty[] = { "", " ", "-", "...", "\xf0\x9f\x8d\x9f\xf0\x9f\x8d\x9f", "!?/",
	    "\xe2\x80\x8b", "\xef\xb8\x8f", "\xcc\x81", "\xe3\x85\xa4" };
	struct scope	*s = scope_new("test");

	for (size_t i = 0; i < COUNT(cases); i++)
		assert_string_equal(from_title(s, str_of(cases[i][0]), SLUG_UNICODE), cases[i][1]);
	for (size_t i = 0; i < COUNT(empty); i++)
		assert_string_equal(from_title(s, str_of(empty[i]), SLUG_UNICODE), "");
	scope_free(s);
}

static void
ascii_slug_transliterates(void **unused)
{
	static const char *const cases[][2] = {
		{ "\xe4\xbd\xa0\xe5\xa5\xbd\xe4\xb8\x96\xe7\x95\x8c", "ni-hao-shi-jie" },
		{ "\xd0\x9a\xd0\xb8\xd1\x97\xd0\xb2", "kiiv" },
		{ "Stra\xc3\x9f" "e \xc3\x86r\xc3\xb8 \xc5\x81\xc3\xb3" "d\xc5\xba", "strasse-aero-lodz" },
		{ "Don't", "dont" }, { "Hello, World!", "hello-world" },
		{ "Ti\xe1\xba\xbfng Vi\xe1\xbb\x87t", "tieng-viet" }, { "\xf0\x9f\x8d\x9f", "" },
	};
	struct scope	*s = scope_new("test");

	for (size_t i = 0; i < COUNT(cases); i++)
		assert_string_equal(from_title(s, str_of(cases[i][0]), SLUG_ASCII), cases[i][1]);
	scope_free(s);
}

static void
long_titles_are_cut_at_a_character(void **unused)
{
	struct scope	*s = scope_new("test");
	struct buf	 title;
	const char	*slug;

	buf_init(&title, s->arena);
	buf_char(&title, 'a');
	for (int i = 0; i < 300; i++)
		buf_text(&title, "\xe5\xa4\xa9");
	slug = from_title(s, buf_as_str(&title), SLUG_UNICODE);
	assert_int_equal(strlen(slug), 199);
	assert_true(utf8_valid(str_of(slug)));
	buf_init(&title, s->arena);
	for (int i = 0; i < 199; i++)
		buf_char(&title, 'a');
	buf_text(&title, " bcd");
	assert_int_equal(strlen(from_title(s, buf_as_str(&title), SLUG_UNICODE)), 199);
	scope_free(s);
}

static void
given_slug_is_normalised_but_never_cut(void **unused)
{
	static const char *const good[][2] = { { "hello", "hello" }, { "Hello World", "hello-world" }, { " a ",
	    "a" }, { "\xc3\x89t\xc3\xa9", "\xc3\xa9t\xc3\xa9" },
		{ "a.html", "a-html" } };
	static const struct str bad[] = { STR(""), STR("  "), STR("-"), STR("a/b"), STR("/"), STR("a\0b"),
	    STR("a\nb"), STR("\x7f" "a"), STR("\xff"), STR("!!"),
		STR("\xf0\x9f\x8d\x9f") };
	struct scope	*s = scope_new("test");
	const char	*slug;
	struct buf	 text;

	for (size_t i = 0; i < COUNT(good); i++) {
		assert_int_equal(slug_given(s, &slug, str_of(good[i][0]), "slug"), OK);
		assert_string_equal(slug, good[i][1]);
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_int_equal(slug_given(s, &slug, bad[i], "slug"), ERR_INVALID);
		assert_string_equal(s->error->field, "slug");
	}
	buf_init(&text, s->arena);
	for (int i = 0; i < SLUG_MAX; i++)
		buf_char(&text, 'a');
	assert_int_equal(slug_given(s, &slug, buf_as_str(&text), "slug"), OK);
	buf_char(&text, 'a');
	assert_int_equal(slug_given(s, &slug, buf_as_str(&text), "slug"), ERR_INVALID);
	while (text.len < 5000000)
		buf_text(&text, "\xe5\xa4\xa9 \xc4\xb0");
	assert_int_equal(slug_given(s, &slug, buf_as_str(&text), "slug"), ERR_INVALID);
	scope_free(s);
}

static void
numbers_fit_behind_a_full_slug(void **unused)
{
	struct scope	*s = scope_new("test");
	struct buf	 text;

	assert_string_equal(slug_numbered(s, "hello", 2), "hello-2");
	buf_init(&text, s->arena);
	for (int i = 0; i < 100; i++)
		buf_text(&text, "\xc3\xa9");
	assert_int_equal(strlen(slug_numbered(s, text.p, 2)), 200);
	assert_int_equal(strlen(slug_numbered(s, text.p, 10)), 199);
	assert_true(utf8_valid(str_of(slug_numbered(s, text.p, 2147483647))));
	assert_string_equal(slug_numbered(s, scope_printf(s, "%.197s-bb",
	    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), 2) + 197, "-2");
	scope_free(s);
}

/* ASCII, Latin, Greek, Cyrillic, Han, Hangul: letters that never merge with the one before. */
static bool
is_plain_letter(int32_t c)
{
	return unicode_is_letter_or_digit(c) &&
	    (c < 0x250 || (c >= 0x370 && c < 0x483) || (c >= 0x4e00 && c < 0xa000) || (c >= 0xac00 && c < 0xd7a4));
}

/* Is every plain letter of `title` in `slug`, in this order? One that an accent follows may have merged with it. */
static bool
letters_survive(struct str title, struct str slug)
{
	size_t	i = 0, at = 0, next;
	int32_t	c, follower, found;

	while (i < title.len) {
		c = utf8_next(title, &i);
		next = i;
		follower = next < title.len ? utf8_next(title, &next) : ' ';
		if (!is_plain_letter(c) || (follower >= 0x80 && !is_plain_letter(follower)))
			continue;
		for (found = -1; at < slug.len && found != c;)
			found = utf8_next(slug, &at);
		if (found != c)
			return false;
	}
	return true;
}

/* The promises of a slug, whatever it was made from. */
static void
promises_hold(struct str title)
{
	struct scope	*s = scope_new("test");
	const char	*slug, *again;
	struct str	 nfc, lower, text;
	struct url_form	 form;

	slug = from_title(s, title, SLUG_UNICODE);
	text = str_of(slug);
	assert_true(text.len <= SLUG_MAX && utf8_valid(text));
	assert_int_equal(unicode_nfc(s, &nfc, text), OK);
	if (!str_eq(nfc, text))
		claim_fails("not NFC: %s", slug);
	assert_true(str_find(text, '/') == text.len && strstr(slug, "--") == NULL);
	assert_true(text.len == 0 || (text.p[0] != '-' && text.p[text.len - 1] != '-'));
	again = from_title(s, text, SLUG_UNICODE);
	if (strcmp(again, slug) != 0)
		claim_fails("%s becomes %s", slug, again);
	if (text.len > 0) {
		assert_int_equal(slug_given(s, &again, text, "slug"), OK);
		assert_string_equal(again, slug);
		assert_int_equal(url_form(s, &form, str_of(scope_printf(s, "/%s", url_segment(s, text)))), OK);
		assert_true(form.is_exact);
	}
	assert_int_equal(unicode_lower(s, &lower, title), OK);
	if (text.len < SLUG_MAX - 4 && !letters_survive(lower, text))
		claim_fails("'%.*s' lost letters in '%s'", STR_FMT(title), slug);
	slug = from_title(s, title, SLUG_ASCII);
	assert_int_equal(slug[strspn(slug, "abcdefghijklmnopqrstuvwxyz0123456789-")], '\0');
	assert_true(strlen(slug) <= SLUG_MAX && strstr(slug, "--") == NULL && slug[0] != '-');
	assert_true(slug[0] == '\0' || slug[strlen(slug) - 1] != '-');
	assert_string_equal(from_title(s, str_of(slug), SLUG_ASCII), slug);
	scope_free(s);
}

static void
promises_hold_for_inputs_of_other_sluggers(void **unused)
{
	static const char *const files[] = { "slug/django-slugify.json", "slug/python-slugify.json",
	    "slug/github-slugger/fixtures.json" };
	struct scope	*s = scope_new("test");
	json_t		*cases, *one;
	size_t		 i, count = 0;

	corpus_require(s);
	for (size_t f = 0; f < COUNT(files); f++) {
		cases = corpus_json(s, files[f]);
		json_array_foreach(cases, i, one) {
			if (json_is_string(json_object_get(one, "input")) &&
			    utf8_valid(json_text(json_object_get(one, "input")))) {
				promises_hold(json_text(json_object_get(one, "input")));
				count++;
			}
		}
		json_decref(cases);
	}
	print_message("%zu inputs\n", count);
	assert_true(count > 100);
	scope_free(s);
}

static void
promises_hold_for_every_character(void **unused)
{
	struct scope	*s;
	struct buf	 title;

	for (int32_t c = 1; c < 0x3200; c++) {
		s = scope_new("test");
		buf_init(&title, s->arena);
		buf_text(&title, "a");
		buf_utf8(&title, c);
		buf_text(&title, "x\xcc\x81 ");
		buf_utf8(&title, c);
		promises_hold(buf_as_str(&title));
		scope_free(s);
	}
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(slug_keeps_letters_of_all_scripts),
		cmocka_unit_test(ascii_slug_transliterates),
		cmocka_unit_test(long_titles_are_cut_at_a_character),
		cmocka_unit_test(given_slug_is_normalised_but_never_cut),
		cmocka_unit_test(numbers_fit_behind_a_full_slug),
		cmocka_unit_test(promises_hold_for_inputs_of_other_sluggers),
		cmocka_unit_test(promises_hold_for_every_character),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
