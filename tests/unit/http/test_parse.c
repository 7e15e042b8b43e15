/* test_parse.c - forms, cookies, media types and entity tags. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "http/parse.h"

static struct scope *s;

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

static void
a_form_is_decoded_in_order(void **state)
{
	struct form_field *f;
	size_t n;

	assert_int_equal(parse_form(s, STR("a=1&b=x+y%2Bz&&a=%E4%B8%96&c&=d&e=f=g&"), &f, &n), OK);
	assert_int_equal(n, 6);
	assert_true(str_is(f[0].name, "a") && str_is(f[0].value, "1"));
	assert_true(str_is(f[1].value, "x y+z"));
	assert_true(str_is(f[2].name, "a") && str_is(f[2].value, "\xe4\xb8\x96"));
	assert_true(str_is(f[3].name, "c") && f[3].value.len == 0);
	assert_true(f[4].name.len == 0 && str_is(f[4].value, "d"));
	assert_true(str_is(f[5].value, "f=g"));
	assert_int_equal(parse_form(s, STR(""), &f, &n), OK);
	assert_int_equal(n, 0);
}

static void
a_form_that_is_no_text_is_refused(void **state)
{
	static const char *const bodies[] = { "a=%", "a=%4", "a=%zz", "a=%00", "a=%FF", "%C0%80=a", "a=\xff" };
	struct form_field *f;
	size_t n;

	for (size_t i = 0; i < COUNT(bodies); i++)
		assert_int_equal(parse_form(s, str_of(bodies[i]), &f, &n), ERR_MALFORMED_REQUEST);
	assert_int_equal(parse_form(s, (struct str){ "a=\0", 3 }, &f, &n), ERR_MALFORMED_REQUEST);
}

static void
a_form_has_a_greatest_number_of_fields(void **state)
{
	char body[2 * 1001 + 1];
	struct form_field *f;
	size_t n;

	for (size_t i = 0; i < sizeof(body); i++)
		body[i] = i % 2 == 0 ? 'a' : '&';
	assert_int_equal(parse_form(s, (struct str){ body, 2000 }, &f, &n), OK);
	assert_int_equal(n, 1000);
	assert_int_equal(parse_form(s, (struct str){ body, 2001 }, &f, &n), ERR_TOO_LARGE);
}

static void
cookies_are_found_by_their_whole_name(void **state)
{
	const struct header fields[] = {
		{ STR("Cookie"), STR("xa=1; a=b=c\"; ; a=second;b=") }, { STR("cookie"), STR("d = \"q\" ") }, { STR("X"), STR("e=1") },
	};
	const struct request r = { .headers = fields, .header_count = COUNT(fields) };

	assert_true(str_is(parse_cookie(&r, "a"), "b=c\""));
	assert_non_null(parse_cookie(&r, "xa").p);
	assert_int_equal(parse_cookie(&r, "b").len, 0);
	assert_true(str_is(parse_cookie(&r, "d"), "\"q\""));
	assert_null(parse_cookie(&r, "A").p);
	assert_null(parse_cookie(&r, "e").p);
	assert_null(parse_cookie(&r, "").p);
}

static void
media_types_are_read_with_their_charset(void **state)
{
	static const char *const bad[] = { "", "text", "/html", "text/", "te xt/html", "text/html/x", "text/h<l" };
	const char *essence;
	struct str charset;

	assert_true(parse_media_type(s, STR(" Text/HTML ; boundary=x; Charset=\"UTF-8\""), &essence, &charset));
	assert_string_equal(essence, "text/html");
	assert_true(str_is(charset, "UTF-8"));
	assert_true(parse_media_type(s, STR("application/problem+json"), &essence, &charset));
	assert_null(charset.p);
	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(parse_media_type(s, str_of(bad[i]), &essence, &charset));
}

static void
none_match_compares_weakly(void **state)
{
	assert_true(etag_none_match_hit(STR("\"a\""), "\"a\""));
	assert_true(etag_none_match_hit(STR("W/\"a\""), "\"a\""));
	assert_true(etag_none_match_hit(STR("\"x\" , W/\"y\",\"a\""), "W/\"a\""));
	assert_true(etag_none_match_hit(STR(" * "), "\"a\""));
	assert_true(etag_none_match_hit(STR("\"x,\\\",\"a\""), "\"a\""));
	assert_false(etag_none_match_hit(STR("\"b\""), "\"a\""));
	assert_false(etag_none_match_hit(STR("a"), "\"a\""));
	assert_false(etag_none_match_hit(STR("\"a"), "\"a\""));
	assert_false(etag_none_match_hit(STR("\"x, \"a\"\""), "\"a\""));
	assert_false(etag_none_match_hit(STR(""), "\"a\""));
}

static void
match_compares_strongly(void **state)
{
	assert_true(etag_match(STR("\"1\""), "\"1\""));
	assert_true(etag_match(STR("\"2\", \"1\""), "\"1\""));
	assert_true(etag_match(STR("*"), "\"1\""));
	assert_false(etag_match(STR("W/\"1\""), "\"1\""));
	assert_false(etag_match(STR("\"1\""), "W/\"1\""));
	assert_false(etag_match(STR("1"), "\"1\""));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_form_is_decoded_in_order, setup, teardown),
		cmocka_unit_test_setup_teardown(a_form_that_is_no_text_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(a_form_has_a_greatest_number_of_fields, setup, teardown),
		cmocka_unit_test_setup_teardown(cookies_are_found_by_their_whole_name, setup, teardown),
		cmocka_unit_test_setup_teardown(media_types_are_read_with_their_charset, setup, teardown),
		cmocka_unit_test(none_match_compares_weakly),
		cmocka_unit_test(match_compares_strongly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
