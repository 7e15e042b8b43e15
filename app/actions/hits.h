/* hits.h - how often redirects are used and what was not found: counted in memory, written in batches, so that a GET never waits for a write.
 *
 * Per process and bounded: 2,048 sources and paths. Where there is no room, one that was asked for once makes way, so a flood of addresses that
 * nobody asks for twice takes no place from those that are. At most 100 rows are written at a time, the most asked for first; what does
 * not fit stays for the next time or is forgotten: these are statistics. */
#ifndef ACTIONS_HITS_H
#define ACTIONS_HITS_H
#include "actions/resolve.h"

#define HITS_PATH_MAX 500		/* bytes; a longer path that was not found is not remembered */
#define NOT_FOUND_KEEP 10000		/* paths, the most asked for */
#define NOT_FOUND_KEEP_MS (90 * 86400 * INT64_C(1000))	/* since it was last asked for */

/* By what an address turned out to mean; any thread. */
void		 hits_count(const struct resolution *, int64_t now);
bool		 hits_pending(void);
enum status	 hits_flush(struct scope *, struct db *, void *unused) MUST_USE;	/* a write_job's apply */

/* { items: [{ path, hits, first_at, last_at }], next }: the most asked for first. limit 1..100, default 20. */
struct principal;
enum status	 not_found_list(struct scope *, struct db *, const struct principal *, const char *limit, const char *cursor, struct str *json,
		    const char **next_cursor) MUST_USE;
#endif
