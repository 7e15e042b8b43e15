/* upkeep.c - retention: which rows are old enough to go. */
#include "actions/upkeep.h"
#include "actions/unit.h"
#include "store/jobs.h"
#include "store/operations.h"

enum status
upkeep_prune_changes(struct scope *s, struct db *db, void *arg)
{
	struct upkeep_batch *batch = arg;

	return store_change_log_prune(s, db, s->now - CHANGE_LOG_KEEP_MS, batch->limit, &batch->removed);
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
