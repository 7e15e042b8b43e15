#include "base/zone.h"
#include "base/clock.h"

#include <unicode/ucal.h>
#include <unicode/ustring.h>

#define ZONE_MAX 64

static enum status	open_zone(struct scope *, UCalendar **, const char *zone);

enum status
zone_time(struct scope *s, int64_t *ms, struct str local, const char *zone, const char *field)
{
	const char *text = scope_printf(s, local.len == strlen("2027-03-28T02:30") ? "%.*s:00Z" : "%.*sZ", STR_FMT(local));
	UErrorCode error = U_ZERO_ERROR;
	struct clock_date d;
	UCalendar *calendar;
	UDate instant;

	if (!clock_parse_rfc3339(str_of(text), ms))
		return fail(s, ERR_INVALID, field, "must be a local time without an offset, like 2026-11-30T19:50, when time_zone is given");
	d = clock_split(*ms);
	TRY(open_zone(s, &calendar, zone));
	ucal_clear(calendar);
	ucal_setDateTime(calendar, d.year, d.month - 1, d.day, d.hour, d.minute, d.second, &error);
	instant = ucal_getMillis(calendar, &error);
	ucal_close(calendar);
	if (U_FAILURE(error))
		return fail(s, ERR_INVALID, field, "is no time in %s", zone);
	*ms = (int64_t)instant;
	return OK;
}

static enum status
open_zone(struct scope *s, UCalendar **out, const char *zone)
{
	UChar id[ZONE_MAX + 1], canonical[ZONE_MAX + 1];
	UErrorCode error = U_ZERO_ERROR;
	UBool is_system = false;
	int32_t len;

	u_strFromUTF8(id, ZONE_MAX, &len, zone, -1, &error);
	if (U_SUCCESS(error))
		(void)ucal_getCanonicalTimeZoneID(id, len, canonical, ZONE_MAX, &is_system, &error);
	if (U_FAILURE(error) || !is_system)
		return fail(s, ERR_INVALID, "time_zone", "is not known; name one of the IANA database, like Europe/Berlin or Asia/Shanghai");
	*out = ucal_open(id, len, "en", UCAL_GREGORIAN, &error);
	if (U_FAILURE(error))
		return fail(s, ERR_INTERNAL, NULL, "the calendar of %s cannot be opened: %s", zone, u_errorName(error));
	ucal_setAttribute(*out, UCAL_REPEATED_WALL_TIME, UCAL_WALLTIME_FIRST);
	ucal_setAttribute(*out, UCAL_SKIPPED_WALL_TIME, UCAL_WALLTIME_LAST);
	return OK;
}
