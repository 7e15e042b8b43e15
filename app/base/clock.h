/* clock.h - the time: Unix milliseconds UTC in, text out, and back. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H
#include "base/base.h"

/* Wall clock in Unix ms. The test build adds STELE_CLOCK_OFFSET (ms, from the environment). */
int64_t		 clock_now(void);
int64_t		 clock_monotonic(void);			/* ms, for deadlines */

/* Proleptic Gregorian, UTC; valid for years 0001..9999: times outside are taken for the first or last ms of these. */
struct clock_date { int year, month, day, hour, minute, second, ms, weekday; /* 0 = Sunday */ };
struct clock_date clock_split(int64_t ms);
int64_t		 clock_join(const struct clock_date *);	/* weekday ignored */

#define CLOCK_TEXT 32
/* RFC 3339 "2026-11-30T19:50:17.123Z"; without ms: "2026-11-30T19:50:17Z" (W3C Datetime, sitemaps). */
char		*clock_rfc3339(char out[CLOCK_TEXT], int64_t ms);
char		*clock_rfc3339_seconds(char out[CLOCK_TEXT], int64_t ms);
char		*clock_http_date(char out[CLOCK_TEXT], int64_t ms);	/* RFC 9110 5.6.7 IMF-fixdate */
/* RFC 3339 with a required offset or Z; up to 9 fraction digits, cut to ms; a leap second becomes :59.999. False if not. */
bool		 clock_parse_rfc3339(struct str, int64_t *ms);
bool		 clock_parse_http_date(struct str, int64_t *ms);	/* all three forms of RFC 9110 5.6.7 */
/* "2024-05-01 10:00:00" taken as UTC (WordPress); false for zero dates and nonsense. */
bool		 clock_parse_sql(struct str, int64_t *ms);

#endif
