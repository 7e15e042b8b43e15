/* test_multipart.c - multipart/form-data, as browsers and tools write it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "http/parse.h"

static struct scope *s;
static struct part *parts;
static size_t count;

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

#define TYPE "multipart/form-data; boundary=XX"
#define NAME "Content-Disposition: form-data; name=\"a\"\r\n"

static enum status
parse(const char *type, const char *body)
{
	return parse_multipart(s, str_of(type), str_of(body), &parts, &count);
}

static void
fields_and_files_are_told_apart(void **state)
{
	assert_int_equal(parse(TYPE, "--XX\r\n" NAME "\r\nvalue\r\n--XX\r\ncontent-disposition:form-data;filename=\"x;y\\\".txt\" ; name=b\r\n"
	    "Content-Type: image/png\r\nX: y\r\n\r\n\r\n--X\r\n\r\n--XX--\r\nepilogue"), OK);
	assert_int_equal(count, 2);
	assert_true(str_is(parts[0].name, "a") && str_is(parts[0].content, "value") && str_is(parts[0].type, "text/plain"));
	assert_false(parts[0].is_file);
	assert_true(str_is(parts[1].name, "b") && str_is(parts[1].file_name, "x;y\".txt") && str_is(parts[1].type, "image/png"));
	assert_true(parts[1].is_file);
	assert_true(str_is(parts[1].content, "\r\n--X\r\n"));
}

static void
empty_values_and_no_parts_are_fine(void **state)
{
	assert_int_equal(parse(TYPE, "--XX\r\n" NAME "\r\n\r\n--XX--"), OK);
	assert_int_equal(count, 1);
	assert_int_equal(parts[0].content.len, 0);
	assert_int_equal(parse(TYPE, "--XX--\r\n"), OK);
	assert_int_equal(count, 0);
	assert_int_equal(parse(TYPE, "preamble\r\n--XX  \r\n" NAME "\r\nv\r\n--XX--"), OK);
	assert_true(str_is(parts[0].content, "v"));
}

static void
boundaries_are_quoted_or_not_and_anywhere(void **state)
{
	static const char *const types[] = {
		"multipart/form-data; charset=utf-8; boundary=XX", "Multipart/Form-Data;boundary=\"XX\"; x=y", "multipart/form-data; x; boundary=XX",
		"multipart/form-data; x=\"; boundary=YY\"; BOUNDARY=XX",
	};

	for (size_t i = 0; i < COUNT(types); i++) {
		assert_int_equal(parse(types[i], "--XX\r\n" NAME "\r\nv\r\n--XX--"), OK);
		assert_int_equal(count, 1);
	}
}

static void
other_types_and_broken_bodies_are_refused(void **state)
{
	static const char *const bodies[] = {
		"", "--YY\r\n", "--XX", "--XX\r\n", "--XX\r\n" NAME, "--XX\r\n" NAME "\r\nv", "--XX\r\n" NAME "\r\nv\r\n--XX",
		"--XX\r\n\r\nv\r\n--XX--", "--XX\r\nContent-Disposition: form-data\r\n\r\nv\r\n--XX--",
		"--XX\r\nContent-Disposition: attachment; name=a\r\n\r\nv\r\n--XX--", "--XXX\r\n" NAME "\r\nv\r\n--XX--",
		"--XX\r\nContent-Disposition: form-data; name=\"\xff\"\r\n\r\nv\r\n--XX--",
	};

	assert_int_equal(parse("multipart/mixed; boundary=XX", "--XX--"), ERR_MEDIA_TYPE);
	assert_int_equal(parse("text/plain", "--XX--"), ERR_MEDIA_TYPE);
	assert_int_equal(parse("multipart/form-data", "--XX--"), ERR_MALFORMED_REQUEST);
	assert_int_equal(parse("multipart/form-data; boundary=", "--XX--"), ERR_MALFORMED_REQUEST);
	for (size_t i = 0; i < COUNT(bodies); i++)
		assert_int_equal(parse(TYPE, bodies[i]), ERR_MALFORMED_REQUEST);
}

static void
parts_are_bounded(void **state)
{
	struct buf b;

	for (int n = 100; n <= 101; n++) {
		buf_init(&b, s->arena);
		for (int i = 0; i < n; i++)
			buf_text(&b, "--XX\r\n" NAME "\r\nv\r\n");
		buf_text(&b, "--XX--");
		assert_int_equal(parse(TYPE, b.p), n == 100 ? OK : ERR_TOO_LARGE);
	}
	for (int n = 16; n <= 17; n++) {
		buf_init(&b, s->arena);
		buf_text(&b, "--XX\r\n" NAME);
		for (int i = 1; i < n; i++)
			buf_text(&b, "X: y\r\n");
		buf_text(&b, "\r\nv\r\n--XX--");
		assert_int_equal(parse(TYPE, b.p), n == 16 ? OK : ERR_TOO_LARGE);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(fields_and_files_are_told_apart, setup, teardown),
		cmocka_unit_test_setup_teardown(empty_values_and_no_parts_are_fine, setup, teardown),
		cmocka_unit_test_setup_teardown(boundaries_are_quoted_or_not_and_anywhere, setup, teardown),
		cmocka_unit_test_setup_teardown(other_types_and_broken_bodies_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(parts_are_bounded, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
