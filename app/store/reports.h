/* reports.h - what reports look through. */
#ifndef STORE_REPORTS_H
#define STORE_REPORTS_H
#include "db/db.h"

/* Live resources with from <= id < below that the sitemap may not list, newest first, at most `limit`; `all` gives every live one. */
enum status	 store_report_unlisted(struct scope *, struct db *, int64_t below, int64_t from, bool all, int64_t *ids, size_t limit,
		    size_t *count) MUST_USE;
#endif
