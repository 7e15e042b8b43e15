/* test_clock.c - civil dates against the C library, and the texts of RFC 3339, RFC 9110 and SQL. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/clock.h"

#define FIRST_MS	INT64_C(-62135596800000)
#define LAST_MS		INT64_C(253402300799999)

static void
refuse(bool (*parse)(struct str, int64_t *), const char *text)
{
	int64_t	 ms = 42;
	bool	 taken = parse(str_of(text), &ms);

	if (taken)
		print_error("was taken: %s\n", text);
	assert_false(taken);
	assert_int_equal(ms, 42);
}

static void
every_day_of_ten_thousand_years_agrees_with_the_c_library(void **unused)
{
	for (int64_t ms = FIRST_MS + 45296789; ms < LAST_MS; ms += 86400000 + 61001) {
		struct clock_date	 d = clock_split(ms);
		time_t			 seconds = (time_t)(ms >= 0 ? ms / 1000 : (ms - 999) / 1000);
		struct tm		 tm;

		assert_non_null(gmtime_r(&seconds, &tm));
		assert_int_equal(d.year, tm.tm_year + 1900);
		assert_int_equal(d.month, tm.tm_mon + 1);
		assert_int_equal(d.day, tm.tm_mday);
		assert_int_equal(d.hour, tm.tm_hour);
		assert_int_equal(d.minute, tm.tm_min);
		assert_int_equal(d.second, tm.tm_sec);
		assert_int_equal(d.weekday, tm.tm_wday);
		assert_int_equal(clock_join(&d), ms);
	}
}

static void
times_out_of_range_are_clamped(void **unused)
{
	char	 text[CLOCK_TEXT];

	assert_string_equal(clock_rfc3339(text, INT64_MIN), "0001-01-01T00:00:00.000Z");
	assert_string_equal(clock_rfc3339(text, FIRST_MS), "0001-01-01T00:00:00.000Z");
	assert_string_equal(clock_rfc3339(text, INT64_MAX), "9999-12-31T23:59:59.999Z");
	assert_string_equal(clock_http_date(text, INT64_MAX), "Fri, 31 Dec 9999 23:59:59 GMT");
}

static void
texts_are_written_as_the_standards_say(void **unused)
{
	char	 text[CLOCK_TEXT];

	assert_string_equal(clock_rfc3339(text, 0), "1970-01-01T00:00:00.000Z");
	assert_string_equal(clock_rfc3339(text, -1), "1969-12-31T23:59:59.999Z");
	assert_string_equal(clock_rfc3339(text, INT64_C(1796068217123)), "2026-11-30T19:50:17.123Z");
	assert_string_equal(clock_rfc3339_seconds(text, INT64_C(1796068217123)), "2026-11-30T19:50:17Z");
	assert_string_equal(clock_http_date(text, INT64_C(784111777999)), "Sun, 06 Nov 1994 08:49:37 GMT");
	assert_string_equal(clock_rfc3339(text, INT64_C(951782400000)), "2000-02-29T00:00:00.000Z");
}

static void
rfc3339_is_read(void **unused)
{
	static const struct { const char *text; int64_t ms; } good[] = {
		{ "1970-01-01T00:00:00Z", 0 },
		{ "2026-11-30T19:50:17.123Z", INT64_C(1796068217123) },
		{ "2026-11-30t20:50:17.1239999+01:00", INT64_C(1796068217123) },
		{ "2026-11-30T15:20:17.123456789-04:30", INT64_C(1796068217123) },
		{ "2026-11-30T19:50:17.1z", INT64_C(1796068217100) },
		{ "1990-12-31T23:59:60Z", INT64_C(662687999999) },
		{ "1990-12-31T15:59:60-08:00", INT64_C(662687999999) },
		{ "0001-01-01T00:00:00Z", FIRST_MS },
		{ "9999-12-31T23:59:59.999Z", LAST_MS },
		{ "2000-02-29T00:00:00-00:00", INT64_C(951782400000) },
	};
	static const char *const bad[] = { "", "2026", "2026-11-30", "2026-11-30T19:50:17", "2026-11-30 19:50:17Z",
		"2026-11-30T19:50:17.Z", "2026-11-30T19:50:17.1234567890Z", "2026-11-30T24:00:00Z", "2026-11-30T19:60:00Z",
		"2026-11-30T19:50:61Z", "2026-11-30T19:50:60Z", "1990-12-31T23:59:60-08:00", "2026-02-29T00:00:00Z",
		"1900-02-29T00:00:00Z", "2026-04-31T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
		"2026-01-00T00:00:00Z", "0000-01-01T00:00:00Z", "2026-11-30T19:50Z", "2026-11-30T19:50:17+24:00",
		"2026-11-30T19:50:17+0100", "2026-11-30T19:50:17+01:60", "2026-11-30T19:50:17Z ", " 2026-11-30T19:50:17Z",
		"+2026-11-30T19:50:17Z", "2026-1-30T19:50:17Z", "0001-01-01T00:00:00+00:01", "9999-12-31T23:59:59-00:01",
		"2026-11-30T19:50:17,5Z" };
	int64_t	 ms;

	for (size_t i = 0; i < COUNT(good); i++) {
		assert_true(clock_parse_rfc3339(str_of(good[i].text), &ms));
		assert_int_equal(ms, good[i].ms);
	}
	for (size_t i = 0; i < COUNT(bad); i++)
		refuse(clock_parse_rfc3339, bad[i]);
}

static void
what_is_written_is_read_back(void **unused)
{
	char	 text[CLOCK_TEXT];
	int64_t	 back;

	for (int64_t ms = FIRST_MS; ms < LAST_MS; ms += INT64_C(86400000) * 13 + 3600123) {
		assert_true(clock_parse_rfc3339(str_of(clock_rfc3339(text, ms)), &back));
		assert_int_equal(back, ms);
		assert_true(clock_parse_http_date(str_of(clock_http_date(text, ms)), &back));
		assert_int_equal(back / 1000, (ms - (ms % 1000 + 1000) % 1000) / 1000);
	}
}

static void
http_dates_are_read_in_all_three_forms(void **unused)
{
	static const char *const good[] = { "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
		"Sun Nov  6 08:49:37 1994" };
	static const char *const bad[] = { "", "Sun", "Sun,", "Sunday", "0", "Xyz, 06 Nov 1994 08:49:37 GMT",
		"Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 UTC",
		"Sun, 06 Nov 1994 08:49:37 GMT ", "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 31 Feb 1994 08:49:37 GMT",
		"Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:49:37", "Sunday, 06-Nov-1994 08:49:37 GMT",
		"Sun Nov 6 08:49:37 1994", "Sun Nov  6 08:49:37 94", "Sun Nov  0 08:49:37 1994", "Sun, 06 Nov 0000 08:49:37 GMT" };
	struct clock_date	 now = clock_split(clock_now());
	char			 text[64];
	int64_t			 ms;

	for (size_t i = 0; i < COUNT(good); i++) {
		assert_true(clock_parse_http_date(str_of(good[i]), &ms));
		assert_int_equal(ms, INT64_C(784111777000));
	}
	assert_true(clock_parse_http_date(STR("Wed Nov 16 08:49:37 1994"), &ms));
	for (size_t i = 0; i < COUNT(bad); i++)
		refuse(clock_parse_http_date, bad[i]);
	snprintf(text, sizeof(text), "Monday, 01-Jan-%02d 00:00:00 GMT", (now.year + 50) % 100);
	assert_true(clock_parse_http_date(str_of(text), &ms));
	assert_true(clock_split(ms).year == now.year + 50 || now.year % 100 >= 50);
	snprintf(text, sizeof(text), "Monday, 01-Jan-%02d 00:00:00 GMT", (now.year + 51) % 100);
	assert_true(clock_parse_http_date(str_of(text), &ms));
	assert_int_equal(clock_split(ms).year, now.year - 49);
}

static void
sql_times_are_read_as_utc(void **unused)
{
	int64_t	 ms;

	assert_true(clock_parse_sql(STR("2024-05-01 10:00:00"), &ms));
	assert_int_equal(ms, INT64_C(1714557600000));
	assert_false(clock_parse_sql(STR("0000-00-00 00:00:00"), &ms));
	assert_false(clock_parse_sql(STR("2024-05-01"), &ms));
	assert_false(clock_parse_sql(STR("2024-05-01T10:00:00"), &ms));
	assert_false(clock_parse_sql(STR("2024-05-01 10:00:00Z"), &ms));
	assert_false(clock_parse_sql(STR("2024-05-00 10:00:00"), &ms));
	assert_false(clock_parse_sql(STR("2024-05-01 10:00:60"), &ms));
	assert_false(clock_parse_sql((struct str){ NULL, 0 }, &ms));
}

/* Change one byte of a good text, or cut it: whatever is taken must be a time that can be written again. */
static void
altered_texts_never_give_a_time_out_of_range(void **unused)
{
	static const char *const texts[] = { "2026-11-30T19:50:17.123+01:00", "Sun, 06 Nov 1994 08:49:37 GMT",
		"Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "2024-05-01 10:00:00" };

	for (size_t t = 0; t < COUNT(texts); t++) {
		size_t	 len = strlen(texts[t]);

		for (size_t at = 0; at < len; at++) {
			for (int c = 0; c < 256; c++) {
				struct str	 s = { NULL, len };
				char		*copy = malloc(at + 1);
				char		 whole[64];
				int64_t		 ms = 0;

				memcpy(whole, texts[t], len);
				whole[at] = (char)c;
				s.p = whole;
				if (clock_parse_rfc3339(s, &ms) || clock_parse_http_date(s, &ms) || clock_parse_sql(s, &ms))
					assert_true(ms >= FIRST_MS && ms <= LAST_MS);
				memcpy(copy, whole, at + 1);
				s = (struct str){ copy, at + 1 };
				if (clock_parse_rfc3339(s, &ms) || clock_parse_http_date(s, &ms) || clock_parse_sql(s, &ms))
					assert_true(ms >= FIRST_MS && ms <= LAST_MS);
				free(copy);
			}
		}
	}
}

static void
clocks_run(void **unused)
{
	int64_t	 wall = clock_now(), steady = clock_monotonic();

	assert_true(llabs((long long)(wall / 1000 - (int64_t)time(NULL))) <= 1);
	usleep(3000);
	assert_true(clock_monotonic() - steady >= 2);
#ifdef STELE_TEST
	assert_int_equal(setenv("STELE_CLOCK_OFFSET", "86400000", 1), 0);
	assert_true(clock_now() - wall >= 86400000 && clock_now() - wall < 86400000 + 60000);
	assert_true(clock_monotonic() - steady < 60000);
	unsetenv("STELE_CLOCK_OFFSET");
#endif
}

int
main(void)
{
	const struct CMUnitTest	 tests[] = {
		cmocka_unit_test(every_day_of_ten_thousand_years_agrees_with_the_c_library),
		cmocka_unit_test(times_out_of_range_are_clamped),
		cmocka_unit_test(texts_are_written_as_the_standards_say),
		cmocka_unit_test(rfc3339_is_read),
		cmocka_unit_test(what_is_written_is_read_back),
		cmocka_unit_test(http_dates_are_read_in_all_three_forms),
		cmocka_unit_test(sql_times_are_read_as_utc),
		cmocka_unit_test(altered_texts_never_give_a_time_out_of_range),
		cmocka_unit_test(clocks_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
