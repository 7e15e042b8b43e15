/* zone.h - what an editor's clock shows, as an instant. Time zones are ICU's own copy of the IANA database: no file is read. */
#ifndef BASE_ZONE_H
#define BASE_ZONE_H
#include "base/base.h"

/* "2027-03-28T02:30[:15]" in "Europe/Berlin". RFC 5545 3.3.5: a time that the clocks skip counts by the offset before the gap (02:30 is 03:30), of
 * a time that comes twice the first is meant. ERR_INVALID with `field`; for the zone the field is "time_zone". */
enum status	 zone_time(struct scope *, int64_t *ms, struct str local, const char *zone, const char *field) MUST_USE;
#endif
