/* jobs.c - removing what jobs have outlived. */
#include "store/jobs.h"

enum status
store_change_log_prune(struct scope *s, struct db *db, int64_t before, int limit, int64_t *removed)
{
	return db_run(s, db, SQL_CHANGE_LOG_PRUNE, ARGS(INT(limit), INT(before)), removed);
}
