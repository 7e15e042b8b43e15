/* upkeep.c - retention: which rows are old enough to go. */
#include "actions/upkeep.h"
#include "actions/unit.h"
#include "actions/hits.h"
#include "store/duplicates.h"
#include "store/hits.h"
#include "store/jobs.h"
#include "store/operations.h"
#include "store/stage.h"

#define STAGE_KEEP_MS (24 * 3600 * INT64_C(1000))	/* longer than any import takes */

enum status
upkeep_prune_changes(struct scope *s, struct db *db, void *arg)
{
	struct upkeep_batch *batch = arg;

	return store_change_log_prune(s, db, s->now - CHANGE_LOG_KEEP_MS, batch->limit, &batch->removed);
}

enum status
upkeep_prune_not_found(struct scope *s, struct db *db, void *arg)
{
	struct upkeep_batch *batch = arg;

	return store_not_found_prune(s, db, s->now - NOT_FOUND_KEEP_MS, NOT_FOUND_KEEP, batch->limit, &batch->removed);
}

enum status
upkeep_prune_stage(struct scope *s, struct db *db, void *arg)
{
	struct upkeep_batch *batch = arg;
	int64_t before = s->now - STAGE_KEEP_MS;

	/* Runs are named by UUIDv7, whose first 48 bits are the time. */
	return store_stage_clear_old(s, db, scope_printf(s, "%08" PRIx64 "-%04" PRIx64, before >> 16, before & 0xffff), batch->limit, &batch->removed);
}

enum status
upkeep_purge_records(struct scope *s, struct db *db, void *arg)
{
	struct upkeep_batch *batch = arg;

	return unit_purge(s, db, batch->limit, &batch->removed);
}

enum status
upkeep_purge_operations(struct scope *s, struct db *db, void *arg)
{
	struct upkeep_batch *batch = arg;

	return store_operation_purge(s, db, s->now - batch->site->retention_operation, batch->limit, &batch->removed);
}

enum status
upkeep_purge_messages(struct scope *s, struct db *db, void *arg)
{
	struct upkeep_batch *batch = arg;

	return store_message_purge(s, db, s->now - batch->site->retention_message, batch->limit, &batch->removed);
}

enum status
upkeep_guards_missing(struct scope *s, struct db *db, int64_t *missing)
{
	return unit_guards_missing(s, db, missing);
}

enum status
upkeep_count_copies(struct scope *s, struct db *db, int64_t *out)
{
	return store_duplicates_count(s, db, out);
}
