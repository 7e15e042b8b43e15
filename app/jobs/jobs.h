/* jobs.h - what runs after the commit: heartbeat, checkpoints, schedule, retention, long work. */
#ifndef JOBS_JOBS_H
#define JOBS_JOBS_H
#include "base/base.h"
#include "base/config.h"
#include "db/db.h"
#include "db/shared.h"

#define JOBS_BEAT 0		/* its heartbeat's slot in the shared page; never older than some seconds */

/* The loop of `stele jobs`. Runs until SIGTERM or SIGINT; a unit of work that was begun is finished first. A task that fails is logged and
 * tried again at its next turn: the loop itself ends only by a signal. */
enum status	 jobs_run(struct scope *, const struct config *, struct db *write, struct shared *) MUST_USE;
#endif
