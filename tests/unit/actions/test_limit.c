#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "actions/limit.h"

static void
burst_is_spent_and_comes_back_with_time(void **state)
{
	struct limiter *l = limiter_new(10, 5);
	int i, wait;

	for (i = 0; i < 5; i++)
		assert_true(limiter_take(l, STR("a"), 1000, &wait));
	assert_false(limiter_take(l, STR("a"), 1000, &wait));
	assert_int_equal(wait, 1);
	assert_false(limiter_take(l, STR("a"), 1099, &wait));
	assert_true(limiter_take(l, STR("a"), 1100, &wait));
	assert_false(limiter_take(l, STR("a"), 1100, &wait));
	limiter_free(l);
}

static void
pause_fills_no_more_than_the_burst(void **state)
{
	struct limiter *l = limiter_new(1000, 3);
	int i, taken = 0, wait;

	assert_true(limiter_take(l, STR("a"), 1, &wait));
	for (i = 0; i < 10; i++)
		taken += limiter_take(l, STR("a"), INT64_MAX / 2, &wait);
	assert_int_equal(taken, 3);
	/* A clock that went back gives nothing and breaks nothing. */
	assert_false(limiter_take(l, STR("a"), 5, &wait));
	limiter_free(l);
}

static void
principals_have_their_own_buckets(void **state)
{
	struct limiter *l = limiter_new(1, 1);
	int wait;

	assert_true(limiter_take(l, STR("user:1"), 1, &wait));
	assert_false(limiter_take(l, STR("user:1"), 1, &wait));
	assert_true(limiter_take(l, STR("user:2"), 1, &wait));
	limiter_free(l);
}

int
main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(burst_is_spent_and_comes_back_with_time),
		cmocka_unit_test(pause_fills_no_more_than_the_burst), cmocka_unit_test(principals_have_their_own_buckets) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
