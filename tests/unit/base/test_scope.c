/* test_scope.c - a unit of work, its refusals, and the table of refusals. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/base.h"
#include "base/clock.h"

static enum status
inner(struct scope *s, bool refuse)
{
	if (refuse)
		return fail(s, ERR_CONFLICT, "slug", "%s is taken by %d", "stone", 7);
	return OK;
}

static enum status
outer(struct scope *s, bool refuse)
{
	TRY(inner(s, refuse));
	return OK;
}

static void
scope_knows_its_time_and_name(void **unused)
{
	int64_t		 before = clock_now();
	char		 name[] = "req-1";
	struct scope	*s = scope_new(name), *nameless = scope_new(NULL);

	name[0] = 'X';
	assert_string_equal(s->log_id, "req-1");
	assert_null(nameless->log_id);
	assert_null(s->error);
	assert_true(s->now >= before && s->now <= clock_now());
	scope_free(s);
	scope_free(nameless);
	scope_free(NULL);
}

static void
refusal_travels_with_its_detail(void **unused)
{
	struct scope	*s = scope_new("test");

	assert_int_equal(outer(s, false), OK);
	assert_null(s->error);
	assert_int_equal(outer(s, true), ERR_CONFLICT);
	assert_int_equal(s->error->status, ERR_CONFLICT);
	assert_string_equal(s->error->field, "slug");
	assert_string_equal(s->error->detail, "stone is taken by 7");
	assert_null(s->error->next);
	assert_int_equal(fail(s, ERR_BUSY, NULL, "again: %s", s->error->detail), ERR_BUSY);
	assert_string_equal(s->error->detail, "again: stone is taken by 7");
	assert_null(s->error->field);
	scope_free(s);
}

static void
first_refusal_decides_and_the_list_is_bounded(void **unused)
{
	struct scope	*s = scope_new("test");
	int		 n = 0;

	assert_int_equal(fail_more(s, ERR_INVALID, "a", "first"), ERR_INVALID);
	assert_int_equal(fail_more(s, ERR_UNKNOWN_FIELD, "b", "second"), ERR_INVALID);
	assert_int_equal(s->error->next->status, ERR_UNKNOWN_FIELD);
	assert_string_equal(s->error->next->field, "b");
	for (int i = 0; i < 10000; i++)
		assert_int_equal(fail_more(s, ERR_BUSY, NULL, "%d", i), ERR_INVALID);
	for (struct error *e = s->error; e != NULL; e = e->next)
		n++;
	assert_int_equal(n, FAIL_MAX);
	scope_free(s);
}

static void
every_status_is_described_once(void **unused)
{
	assert_string_equal(status_info(OK)->code, "ok");
	for (int i = 0; i < STATUS_COUNT; i++) {
		const struct status_info	*info = status_info((enum status)i);

		assert_non_null(info->code);
		assert_non_null(info->title);
		assert_non_null(info->help);
		assert_int_equal(strspn(info->code, "abcdefghijklmnopqrstuvwxyz_"), strlen(info->code));
		assert_true(i == OK ? info->http == 200 : info->http >= 400 && info->http <= 599);
		for (int k = 0; k < i; k++)
			assert_string_not_equal(info->code, status_info((enum status)k)->code);
	}
	assert_int_equal(status_info(ERR_VERSION)->http, 412);
	assert_true(status_info(ERR_BUSY)->retryable);
	assert_false(status_info(ERR_INVALID)->retryable);
}

int
main(void)
{
	const struct CMUnitTest	 tests[] = {
		cmocka_unit_test(scope_knows_its_time_and_name),
		cmocka_unit_test(refusal_travels_with_its_detail),
		cmocka_unit_test(first_refusal_decides_and_the_list_is_bounded),
		cmocka_unit_test(every_status_is_described_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
