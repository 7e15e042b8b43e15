/* schedule.c - what is due goes live. */
#include "actions/schedule.h"

#include "actions/publish.h"
#include "store/resources.h"

enum status
schedule_run_due(struct scope *s, struct db *db, void *arg)
{
	struct schedule_run *run = arg;
	struct due due[SCHEDULE_BATCH];
	struct publish_plan plan;
	struct resource r;
	size_t i, count;
	bool unchanged;

	run->published = 0;
	TRY(store_resource_due(s, db, s->now, due, COUNT(due), &count));
	for (i = 0; i < count; i++) {
		TRY(store_resource_load(s, db, &r, due[i].id));
		TRY(publish_plan(s, db, run->site, &r, due[i].revision, &plan));
		TRY(publish_write(s, db, run->site, &plan, NULL, &r, &unchanged));
		run->published++;
	}
	run->is_more = count == COUNT(due);
	return OK;
}
