#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "actions/input.h"
#include "actions/json.h"

static json_t *
parsed(const char *text)
{
	json_t *value = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);

	assert_non_null(value);
	return value;
}

static void
merge_patch_does_what_rfc_7396_lists(void **state)
{
	/* Appendix A. */
	static const struct { const char *target, *patch, *result; } cases[] = {
		{ "{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}" }, { "{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}" },
		{ "{\"a\":\"b\"}", "{\"a\":null}", "{}" }, { "{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}" },
		{ "{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}" }, { "{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}" },
		{ "{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}" },
		{ "{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}" }, { "[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]" },
		{ "{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]" }, { "{\"a\":\"foo\"}", "null", "null" }, { "{\"a\":\"foo\"}", "\"bar\"", "\"bar\"" },
		{ "{\"e\":null}", "{\"a\":1}", "{\"a\":1,\"e\":null}" }, { "[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}" },
		{ "{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}" },
	};
	struct scope *s = scope_new("test");
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		json_t *target = parsed(cases[i].target), *patch = parsed(cases[i].patch), *result = input_merge(target, patch);

		assert_string_equal(input_dump(s, result), cases[i].result);
		/* What was merged stays as it was. */
		json_t *before = parsed(cases[i].target);
		assert_true(json_equal(target, before));
		json_decref(before);
		json_decref(target);
		json_decref(patch);
		json_decref(result);
	}
	scope_free(s);
}

static void
texts_are_bounded_in_characters(void **state)
{
	struct scope *s = scope_new("test");
	json_t *body = parsed("{\"a\":\"\xf0\x90\x8c\xb0\xf0\x90\x8c\xb0\",\"b\":\"x\\ny\",\"c\":\"x\\u0000y\",\"d\":null}");
	struct input in = input_of(s, body, "");

	assert_string_equal(input_text(&in, "a", 2, false), "\xf0\x90\x8c\xb0\xf0\x90\x8c\xb0");
	assert_string_equal(input_text(&in, "b", 3, true), "x\ny");
	assert_null(input_text(&in, "d", 3, true));
	assert_int_equal(in.status, OK);
	assert_null(input_text(&in, "a", 1, false));
	assert_null(input_text(&in, "b", 3, false));
	assert_null(input_text(&in, "c", 3, true));
	assert_int_equal(in.status, ERR_INVALID);
	assert_string_equal(s->error->field, "a");
	assert_string_equal(s->error->next->field, "b");
	assert_string_equal(s->error->next->next->field, "c");
	json_decref(body);
	scope_free(s);
}

static void
what_is_written_reads_back(void **state)
{
	static const char *const texts[] = { "", "plain", "\"\\\n\r\t\x01\x1f\x7f", "h\xc3\xa9\xe2\x80\xa8", "</script>" };
	struct scope *s = scope_new("test");
	struct buf b;
	size_t i;

	for (i = 0; i < COUNT(texts); i++) {
		buf_init(&b, s->arena);
		buf_char(&b, '{');
		json_put_name(&b, "a");
		json_put_text(&b, texts[i]);
		json_put_name(&b, "b");
		json_put_text(&b, NULL);
		json_put_name(&b, "c");
		json_put_time(&b, 1);
		buf_char(&b, '}');
		json_t *value = parsed(b.p);
		assert_string_equal(json_string_value(json_object_get(value, "a")), texts[i]);
		assert_true(json_is_null(json_object_get(value, "b")));
		assert_string_equal(json_string_value(json_object_get(value, "c")), "1970-01-01T00:00:00.001Z");
		json_decref(value);
	}
	scope_free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(merge_patch_does_what_rfc_7396_lists), cmocka_unit_test(texts_are_bounded_in_characters),
		cmocka_unit_test(what_is_written_reads_back) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
