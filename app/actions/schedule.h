/* schedule.h - what is due goes live, by the same routine as the button. */
#ifndef ACTIONS_SCHEDULE_H
#define ACTIONS_SCHEDULE_H
#include "base/base.h"
#include "core/site.h"
#include "db/db.h"
#include "db/shared.h"

#define SCHEDULE_BATCH 20

struct schedule_run {
	const struct site *site;
	int64_t		 published;	/* out */
	bool		 is_more;	/* out: a full batch was taken and not for nothing, run again */
};
/* Publish what has publish_at <= s->now and withdraw what has withdraw_at <= s->now, the earliest first, at most SCHEDULE_BATCH: prepared on `read`, written one transaction each. Due rows are
 * found by query, so nothing is lost while nobody runs. One that changed meanwhile waits for the next run; one that cannot be published is logged
 * and does not hold up the others. */
enum status	 schedule_run_due(struct scope *, struct db *write, struct db *read, struct shared *, struct schedule_run *) MUST_USE;
#endif
