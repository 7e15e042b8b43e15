/* clock.c - civil dates by arithmetic: no time zone file, no locale, no static buffer. */
#include "base/clock.h"

#define SECOND		INT64_C(1000)
#define DAY		(86400 * SECOND)
#define FIRST_MS	INT64_C(-62135596800000)	/* 0001-01-01T00:00:00.000Z */
#define LAST_MS		INT64_C(253402300799999)	/* 9999-12-31T23:59:59.999Z */

static const char	*const days[] = { "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday" };
static const char	 months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

static int64_t	 days_from_civil(int year, int month, int day);
static int64_t	 read_clock(clockid_t id);
static char	*put_digits(char *at, int value, int digits);
static char	*put_text(char *at, const char *text, size_t len);
static char	*put_date_time(char *at, const struct clock_date *d);
static bool	 take_digits(struct str *rest, int digits, int *out);
static bool	 take_char(struct str *rest, char c);
static bool	 take_text(struct str *rest, const char *text);
static bool	 take_time(struct str *rest, struct clock_date *d);
static bool	 take_month(struct str *rest, int *month);
static bool	 join_checked(const struct clock_date *d, int64_t *ms);

int64_t
clock_now(void)
{
	int64_t	 now = read_clock(CLOCK_REALTIME);
#ifdef STELE_TEST
	int64_t	 offset;

	if (parse_int64(str_of(getenv("STELE_CLOCK_OFFSET")), &offset))
		__builtin_add_overflow(now, offset, &now);
#endif
	return now;
}

int64_t
clock_monotonic(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

static int64_t
read_clock(clockid_t id)
{
	struct timespec	 ts;

	if (clock_gettime(id, &ts) == -1)
		abort();
	return (int64_t)ts.tv_sec * SECOND + ts.tv_nsec / 1000000;
}

/* Both directions count years from March, so that the leap day is a year's last, and eras of 400 years (146,097 days). */
struct clock_date
clock_split(int64_t ms)
{
	struct clock_date	 d;
	int64_t			 day, era, in_era, year, in_year, month, in_day;

	if (ms < FIRST_MS)
		ms = FIRST_MS;
	if (ms > LAST_MS)
		ms = LAST_MS;
	day = ms / DAY - (ms % DAY < 0);
	in_day = ms - day * DAY;
	d.weekday = (int)((day + 719468 + 3) % 7);
	day += 719468;			/* since 0000-03-01; positive for all years taken here */
	era = day / 146097;
	in_era = day % 146097;
	year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
	in_year = in_era - (365 * year + year / 4 - year / 100);
	month = (5 * in_year + 2) / 153;
	d.day = (int)(in_year - (153 * month + 2) / 5 + 1);
	d.month = (int)(month < 10 ? month + 3 : month - 9);
	d.year = (int)(year + era * 400 + (d.month <= 2));
	d.hour = (int)(in_day / (3600 * SECOND));
	d.minute = (int)(in_day / (60 * SECOND) % 60);
	d.second = (int)(in_day / SECOND % 60);
	d.ms = (int)(in_day % SECOND);
	return d;
}

int64_t
clock_join(const struct clock_date *d)
{
	int64_t	 seconds = d->hour * INT64_C(3600) + d->minute * 60 + d->second;

	return days_from_civil(d->year, d->month, d->day) * DAY + seconds * SECOND + d->ms;
}

static int64_t
days_from_civil(int year, int month, int day)
{
	int64_t	 y = month <= 2 ? year - 1 : year;
	int64_t	 era = y / 400, in_era = y % 400;
	int64_t	 in_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;

	return era * 146097 + in_era * 365 + in_era / 4 - in_era / 100 + in_year - 719468;
}

char *
clock_rfc3339(char out[CLOCK_TEXT], int64_t ms)
{
	struct clock_date	 d = clock_split(ms);
	char			*at = put_date_time(out, &d);

	*at++ = '.';
	at = put_digits(at, d.ms, 3);
	*at++ = 'Z';
	*at = '\0';
	return out;
}

char *
clock_rfc3339_seconds(char out[CLOCK_TEXT], int64_t ms)
{
	struct clock_date	 d = clock_split(ms);
	char			*at = put_date_time(out, &d);

	*at++ = 'Z';
	*at = '\0';
	return out;
}

char *
clock_http_date(char out[CLOCK_TEXT], int64_t ms)
{
	struct clock_date	 d = clock_split(ms);
	char			*at = put_text(out, days[d.weekday], 3);

	at = put_text(at, ", ", 2);
	at = put_digits(at, d.day, 2);
	*at++ = ' ';
	at = put_text(at, months + 3 * (d.month - 1), 3);
	*at++ = ' ';
	at = put_digits(at, d.year, 4);
	*at++ = ' ';
	at = put_digits(at, d.hour, 2);
	*at++ = ':';
	at = put_digits(at, d.minute, 2);
	*at++ = ':';
	at = put_digits(at, d.second, 2);
	at = put_text(at, " GMT", 4);
	*at = '\0';
	return out;
}

static char *
put_date_time(char *at, const struct clock_date *d)
{
	at = put_digits(at, d->year, 4);
	*at++ = '-';
	at = put_digits(at, d->month, 2);
	*at++ = '-';
	at = put_digits(at, d->day, 2);
	*at++ = 'T';
	at = put_digits(at, d->hour, 2);
	*at++ = ':';
	at = put_digits(at, d->minute, 2);
	*at++ = ':';
	return put_digits(at, d->second, 2);
}

static char *
put_digits(char *at, int value, int digits)
{
	for (int i = digits - 1; i >= 0; i--) {
		at[i] = (char)('0' + value % 10);
		value /= 10;
	}
	return at + digits;
}

static char *
put_text(char *at, const char *text, size_t len)
{
	memcpy(at, text, len);
	return at + len;
}

bool
clock_parse_rfc3339(struct str s, int64_t *ms)
{
	struct clock_date	 d = { 0 };
	int			 hours, minutes, sign, digit, scale = 100;
	int64_t			 at;
	bool			 leap;

	if (!take_digits(&s, 4, &d.year) || !take_char(&s, '-') || !take_digits(&s, 2, &d.month) ||
	    !take_char(&s, '-') || !take_digits(&s, 2, &d.day) || !(take_char(&s, 'T') || take_char(&s, 't')) ||
	    !take_time(&s, &d))
		return false;
	if (take_char(&s, '.')) {
		for (int i = 0; i < 9 && take_digits(&s, 1, &digit); i++, scale /= 10)
			d.ms += digit * scale;
		if (scale == 100)
			return false;
	}
	hours = minutes = 0;
	sign = take_char(&s, '+') ? 1 : take_char(&s, '-') ? -1 : 0;
	if (sign != 0) {
		if (!take_digits(&s, 2, &hours) || !take_char(&s, ':') || !take_digits(&s, 2, &minutes) || hours > 23 ||
		    minutes > 59)
			return false;
	} else if (!take_char(&s, 'Z') && !take_char(&s, 'z')) {
		return false;
	}
	leap = d.second == 60;
	if (s.len != 0 || !join_checked(&d, &at))
		return false;
	at -= sign * (hours * 60 + minutes) * 60 * SECOND;
	/* Leap seconds end a day in UTC, whatever the clock on the wall says. */
	if (at < FIRST_MS || at > LAST_MS || (leap && (at + 1) % DAY != 0))
		return false;
	*ms = at;
	return true;
}

bool
clock_parse_http_date(struct str s, int64_t *ms)
{
	struct clock_date	 d = { 0 };
	struct clock_date	 now;
	size_t			 i;

	for (i = 0; i < COUNT(days) && !(s.len >= 3 && memcmp(s.p, days[i], 3) == 0); i++)
		;
	if (i == COUNT(days))
		return false;
	if (take_text(&s, days[i])) {
		/* RFC 850: a year more than 50 years ahead is the last one that ended so. */
		if (!take_text(&s, ", ") || !take_digits(&s, 2, &d.day) || !take_char(&s, '-') ||
		    !take_month(&s, &d.month) || !take_char(&s, '-') || !take_digits(&s, 2, &d.year) ||
		    !take_char(&s, ' ') || !take_time(&s, &d) || !take_text(&s, " GMT"))
			return false;
		now = clock_split(clock_now());
		d.year += now.year / 100 * 100;
		if (d.year > now.year + 50)
			d.year -= 100;
	} else {
		s = str_part(s, 3, s.len);
		if (take_text(&s, ", ")) {
			if (!take_digits(&s, 2, &d.day) || !take_char(&s, ' ') || !take_month(&s, &d.month) ||
			    !take_char(&s, ' ') || !take_digits(&s, 4, &d.year) || !take_char(&s, ' ') ||
			    !take_time(&s, &d) || !take_text(&s, " GMT"))
				return false;
		} else if (!take_char(&s, ' ') || !take_month(&s, &d.month) || !take_char(&s, ' ') ||
		    !(take_char(&s, ' ') ? take_digits(&s, 1, &d.day) : take_digits(&s, 2, &d.day)) ||
		    !take_char(&s, ' ') || !take_time(&s, &d) || !take_char(&s, ' ') || !take_digits(&s, 4, &d.year)) {
			return false;
		}
	}
	return s.len == 0 && join_checked(&d, ms);
}

bool
clock_parse_sql(struct str s, int64_t *ms)
{
	struct clock_date	 d = { 0 };

	return take_digits(&s, 4, &d.year) && take_char(&s, '-') && take_digits(&s, 2, &d.month) && take_char(&s, '-') &&
	    take_digits(&s, 2, &d.day) && take_char(&s, ' ') && take_time(&s, &d) && s.len == 0 && d.second < 60 &&
	    join_checked(&d, ms);
}

static bool
take_digits(struct str *rest, int digits, int *out)
{
	int	 value = 0;

	if (rest->len < (size_t)digits)
		return false;
	for (int i = 0; i < digits; i++) {
		if (rest->p[i] < '0' || rest->p[i] > '9')
			return false;
		value = value * 10 + rest->p[i] - '0';
	}
	*rest = str_part(*rest, (size_t)digits, rest->len);
	*out = value;
	return true;
}

static bool
take_char(struct str *rest, char c)
{
	if (rest->len == 0 || rest->p[0] != c)
		return false;
	*rest = str_part(*rest, 1, rest->len);
	return true;
}

static bool
take_text(struct str *rest, const char *text)
{
	if (!str_starts(*rest, text))
		return false;
	*rest = str_part(*rest, strlen(text), rest->len);
	return true;
}

static bool
take_time(struct str *rest, struct clock_date *d)
{
	return take_digits(rest, 2, &d->hour) && take_char(rest, ':') && take_digits(rest, 2, &d->minute) &&
	    take_char(rest, ':') && take_digits(rest, 2, &d->second);
}

static bool
take_month(struct str *rest, int *month)
{
	for (int i = 0; i < 12 && rest->len >= 3; i++) {
		if (memcmp(rest->p, months + (size_t)(3 * i), 3) == 0) {
			*rest = str_part(*rest, 3, rest->len);
			*month = i + 1;
			return true;
		}
	}
	return false;
}

static bool
join_checked(const struct clock_date *d, int64_t *ms)
{
	static const int	 lengths[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
	struct clock_date	 fixed = *d;
	bool			 leap_year = (d->year % 4 == 0 && d->year % 100 != 0) || d->year % 400 == 0;

	if (d->year < 1 || d->year > 9999 || d->month < 1 || d->month > 12 || d->day < 1)
		return false;
	if (d->day > lengths[d->month - 1] + (d->month == 2 && leap_year))
		return false;
	if (d->hour > 23 || d->minute > 59 || d->second > 60)
		return false;
	if (d->second == 60) {
		fixed.second = 59;
		fixed.ms = 999;
	}
	*ms = clock_join(&fixed);
	return true;
}
