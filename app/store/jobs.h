/* jobs.h - rows that the loop of jobs removes or takes up. */
#ifndef STORE_JOBS_H
#define STORE_JOBS_H
#include "base/base.h"
#include "db/db.h"

/* Remove the oldest rows of change_log made before `before`, at most `limit`, never the newest row. */
enum status	 store_change_log_prune(struct scope *, struct db *, int64_t before, int limit, int64_t *removed) MUST_USE;
#endif
