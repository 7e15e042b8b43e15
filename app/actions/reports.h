/* reports.h - what is not as an editor might think: live but not in the sitemap, or with a canonical address that contradicts itself.
 *
 * Both look through the rows a range of ids at a time, so an answer costs some milliseconds whatever the site holds. It may therefore be short or empty
 * and still name a cursor; the list is over when `next` is null. For whoever may read reports. */
#ifndef ACTIONS_REPORTS_H
#define ACTIONS_REPORTS_H
#include "core/permission.h"
#include "core/site.h"
#include "db/db.h"

struct report_filter { const char *reason, *limit, *cursor; };	/* NULL = not given */

/* { items: [{ id, kind, title, url, canonical, reason }], next }, newest first. `reason`: noindex, canonical, duplicate or empty. ERR_INVALID, ERR_CURSOR. */
enum status	 report_exclusions(struct scope *, struct db *, const struct site *, const struct principal *, const struct report_filter *,
		    struct str *json, const char **next_cursor) MUST_USE;
/* { items: [{ id, kind, url, check, detail, advice }], next }: the rows that `stele audit` finds about canonical addresses. */
enum status	 report_mismatches(struct scope *, struct db *, const struct site *, const struct principal *, const struct report_filter *,
		    struct str *json, const char **next_cursor) MUST_USE;
/* A piece of counting them: *at moves on from 0, *found rises by what this range holds (100 at most); *done when all was looked at. */
enum status	 report_count_mismatches(struct scope *, struct db *, const struct site *, int64_t *at, int64_t *found, bool *done) MUST_USE;
#endif
