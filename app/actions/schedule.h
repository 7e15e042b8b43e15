/* schedule.h - what is due goes live, by the same routine as the button. */
#ifndef ACTIONS_SCHEDULE_H
#define ACTIONS_SCHEDULE_H
#include "base/base.h"
#include "core/site.h"
#include "db/db.h"

#define SCHEDULE_BATCH 20

struct schedule_run {
	const struct site *site;
	int64_t		 published;	/* out */
	bool		 is_more;	/* out: a full batch was taken, run again */
};
/* For writer_run or a write_job, the argument is a struct schedule_run: publish what has publish_at <= s->now, the earliest first, at most SCHEDULE_BATCH. Due rows
 * are found by query, so nothing is lost while nobody runs. */
enum status	 schedule_run_due(struct scope *, struct db *, void *run) MUST_USE;
#endif
