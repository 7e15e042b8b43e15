/* test_problem.c - RFC 9457 documents. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <jansson.h>

#include "render/problem.h"

static json_t *
problem(struct scope *s, enum status status)
{
	struct str text = problem_json(s, status);
	json_t *o = json_loadb(text.p, text.len, 0, NULL);

	assert_non_null(o);
	return o;
}

static const char *
text_of(json_t *o, const char *name)
{
	return json_string_value(json_object_get(o, name));
}

static void
status_alone_gives_the_general_words(void **unused)
{
	for (enum status e = OK + 1; e < STATUS_COUNT; e++) {
		struct scope *s = scope_new("request-7");
		json_t *o = problem(s, e);
		assert_int_equal(json_integer_value(json_object_get(o, "status")), status_info(e)->http);
		assert_string_equal(text_of(o, "code"), status_info(e)->code);
		assert_string_equal(text_of(o, "type"), scope_printf(s, "/docs/errors#%s", status_info(e)->code));
		assert_string_equal(text_of(o, "title"), status_info(e)->title);
		assert_string_equal(text_of(o, "detail"), status_info(e)->help);
		assert_string_equal(text_of(o, "request_id"), "request-7");
		assert_int_equal(json_is_true(json_object_get(o, "retryable")), status_info(e)->retryable);
		assert_null(json_object_get(o, "errors"));
		json_decref(o);
		scope_free(s);
	}
}

static void
detail_of_the_refusal_wins(void **unused)
{
	struct scope *s = scope_new("test");
	enum status status = fail(s, ERR_CONFLICT, NULL, "held by \"%s\" \n", "x");
	json_t *o = problem(s, status);

	assert_string_equal(text_of(o, "detail"), "held by \"x\" \n");
	assert_null(json_object_get(o, "errors"));
	json_decref(o);
	/* What was said of another status does not belong to this answer. */
	o = problem(s, ERR_INTERNAL);
	assert_string_equal(text_of(o, "detail"), status_info(ERR_INTERNAL)->help);
	json_decref(o);
	scope_free(s);
}

static void
every_wrong_member_is_named(void **unused)
{
	struct scope *s = scope_new("test");
	json_t *o, *errors;

	assert_int_equal(fail(s, ERR_INVALID, "title", "is empty"), ERR_INVALID);
	assert_int_equal(fail_more(s, ERR_UNKNOWN_FIELD, "titel", "is not known"), ERR_INVALID);
	o = problem(s, ERR_INVALID);
	errors = json_object_get(o, "errors");
	assert_int_equal(json_array_size(errors), 2);
	assert_string_equal(text_of(json_array_get(errors, 0), "field"), "title");
	assert_string_equal(text_of(json_array_get(errors, 0), "code"), "validation_failed");
	assert_string_equal(text_of(json_array_get(errors, 1), "detail"), "is not known");
	assert_string_equal(text_of(json_array_get(errors, 1), "code"), "unknown_field");
	json_decref(o);
	scope_free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(status_alone_gives_the_general_words),
		cmocka_unit_test(detail_of_the_refusal_wins),
		cmocka_unit_test(every_wrong_member_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
