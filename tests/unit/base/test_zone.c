/* test_zone.c - local times as instants, over the days on which clocks change. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"
#include "base/zone.h"

static struct scope	*s;

static void
local_times_are_instants(void **unused)
{
	static const struct { const char *local, *zone, *utc; } times[] = {
		{ "2027-01-15T12:00", "Europe/Berlin", "2027-01-15T11:00:00.000Z" },
		{ "2027-07-15T12:00:30", "Europe/Berlin", "2027-07-15T10:00:30.000Z" },
		{ "2027-07-15T12:00", "Asia/Shanghai", "2027-07-15T04:00:00.000Z" },
		{ "2027-07-15T12:00", "Asia/Kathmandu", "2027-07-15T06:15:00.000Z" },
		{ "2027-07-15T12:00", "UTC", "2027-07-15T12:00:00.000Z" },
		/* Berlin skips 02:00 to 03:00 on 28 March 2027. */
		{ "2027-03-28T01:59:59", "Europe/Berlin", "2027-03-28T00:59:59.000Z" },
		{ "2027-03-28T02:30", "Europe/Berlin", "2027-03-28T01:30:00.000Z" },
		{ "2027-03-28T03:30", "Europe/Berlin", "2027-03-28T01:30:00.000Z" },
		/* It has 02:00 to 03:00 twice on 31 October 2027. */
		{ "2027-10-31T02:30", "Europe/Berlin", "2027-10-31T00:30:00.000Z" },
		{ "2027-10-31T03:00", "Europe/Berlin", "2027-10-31T02:00:00.000Z" },
		/* Half an hour on Lord Howe Island. */
		{ "2027-10-03T02:15", "Australia/Lord_Howe", "2027-10-02T15:45:00.000Z" },
	};
	char text[CLOCK_TEXT];
	int64_t ms;

	for (size_t i = 0; i < COUNT(times); i++) {
		assert_int_equal(zone_time(s, &ms, str_of(times[i].local), times[i].zone, "publish_at"), OK);
		clock_rfc3339(text, ms);
		assert_string_equal(text, times[i].utc);
	}
}

static void
what_is_no_time_or_no_zone_is_refused(void **unused)
{
	static const struct { const char *local, *zone, *field; } bad[] = {
		{ "2027-01-15T12:00Z", "Europe/Berlin", "publish_at" }, { "2027-01-15T12:00:00+01:00", "Europe/Berlin", "publish_at" },
		{ "2027-02-29T12:00", "Europe/Berlin", "publish_at" }, { "2027-01-15", "Europe/Berlin", "publish_at" },
		{ "", "Europe/Berlin", "publish_at" }, { "tomorrow", "Europe/Berlin", "publish_at" },
		{ "2027-01-15T12:00", "", "time_zone" }, { "2027-01-15T12:00", "Berlin", "time_zone" },
		{ "2027-01-15T12:00", "Europe/Berlin/../../etc/passwd", "time_zone" }, { "2027-01-15T12:00", "GMT+99:99", "time_zone" },
		{ "2027-01-15T12:00", "\xff", "time_zone" },
		{ "2027-01-15T12:00", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "time_zone" },
	};
	int64_t ms;

	for (size_t i = 0; i < COUNT(bad); i++) {
		s->error = NULL;
		assert_int_equal(zone_time(s, &ms, str_of(bad[i].local), bad[i].zone, "publish_at"), ERR_INVALID);
		assert_string_equal(s->error->field, bad[i].field);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(local_times_are_instants),
		cmocka_unit_test(what_is_no_time_or_no_zone_is_refused),
	};
	int failures;

	s = scope_new("test");
	failures = cmocka_run_group_tests(tests, NULL, NULL);
	scope_free(s);
	return failures;
}
