/* upkeep.h - what keeps the database small: bounded batches for the loop of jobs. */
#ifndef ACTIONS_UPKEEP_H
#define ACTIONS_UPKEEP_H
#include "base/base.h"
#include "core/site.h"
#include "db/db.h"

/* Rows of change_log older than this have been seen by every worker and node long ago. */
#define CHANGE_LOG_KEEP_MS (24 * 3600 * INT64_C(1000))

struct upkeep_batch {
	int		 limit;		/* rows removed at most */
	int64_t		 removed;	/* out */
	const struct site *site;	/* for the two below that go by its settings */
};
/* For writer_run; the argument is a struct upkeep_batch. The newest row of change_log always stays. */
enum status	 upkeep_prune_changes(struct scope *, struct db *, void *batch) MUST_USE;
/* What was not found and is asked for no more, or too seldom; and what an import of redirects left that never came to its end. */
enum status	 upkeep_prune_not_found(struct scope *, struct db *, void *batch) MUST_USE;
enum status	 upkeep_prune_stage(struct scope *, struct db *, void *batch) MUST_USE;
/* Expired idempotency records, and whether the indexes stand without which none may be removed: see unit_purge. */
enum status	 upkeep_purge_records(struct scope *, struct db *, void *batch) MUST_USE;
enum status	 upkeep_guards_missing(struct scope *, struct db *, int64_t *missing) MUST_USE;
/* Operations that ended longer ago than retention_operation, with their reports; messages processed longer ago than retention_message. */
enum status	 upkeep_purge_operations(struct scope *, struct db *, void *batch) MUST_USE;
enum status	 upkeep_purge_messages(struct scope *, struct db *, void *batch) MUST_USE;
/* How many live resources are copies of another. */
enum status	 upkeep_count_copies(struct scope *, struct db *, int64_t *out) MUST_USE;
#endif
