/* schedule.c - what is due goes live. */
#include "actions/schedule.h"

#include "actions/lifecycle.h"
#include "actions/publish.h"
#include "base/log.h"
#include "db/writer.h"
#include "store/resources.h"

struct due_write {
	const struct site *site;
	struct publish_plan plan;
	const char	*version;	/* as an entity tag: what was planned is what is written, or nothing is */
	bool		 unchanged;	/* out */
};

static enum status	publish_one(struct scope *, struct db *write, struct db *read, struct shared *, const struct site *, const struct due *,
			    bool *published);
static enum status	write_one(struct scope *, struct db *, void *due_write);
static enum status	withdraw_due(struct scope *, struct db *write, struct db *read, struct shared *, struct schedule_run *);
static enum status	withdraw_one(struct scope *, struct db *, void *due_write);

enum status
schedule_run_due(struct scope *s, struct db *write, struct db *read, struct shared *shared, struct schedule_run *run)
{
	struct due due[SCHEDULE_BATCH];
	size_t i, count;

	run->published = 0;
	TRY(store_resource_due(s, read, s->now, due, COUNT(due), &count));
	for (i = 0; i < count; i++) {
		struct arena_mark mark = arena_mark(s->arena);
		bool published = false;
		enum status status = publish_one(s, write, read, shared, run->site, &due[i], &published);

		if (status != OK && status != ERR_VERSION)
			log_error(s, "schedule.failed", "\"resource\":%" PRId64 ",\"code\":\"%s\",\"detail\":%s", due[i].id, status_info(status)->code,
			    log_quote(s, s->error != NULL ? s->error->detail : ""));
		run->published += published;
		s->error = NULL;
		arena_rewind(s->arena, mark);
	}
	run->is_more = count == COUNT(due) && run->published > 0;
	return withdraw_due(s, write, read, shared, run);
}

static enum status
publish_one(struct scope *s, struct db *write, struct db *read, struct shared *shared, const struct site *site, const struct due *due,
    bool *published)
{
	struct due_write w = { .site = site };
	struct resource r;

	TRY(store_resource_load(s, read, &r, due->id));
	w.version = scope_printf(s, "\"%" PRId64 "\"", r.edit_version);
	/* Between the two queries it may have been cancelled. */
	if (r.publish_at == 0 || r.publish_at > s->now || r.scheduled_revision != due->revision)
		return OK;
	TRY(publish_plan(s, read, &r, due->revision, &w.plan));
	TRY(writer_run(s, write, shared, write_one, &w));
	*published = !w.unchanged;
	return OK;
}

static enum status
write_one(struct scope *s, struct db *db, void *arg)
{
	struct due_write *w = arg;
	struct resource r;

	return publish_write(s, db, w->site, &w->plan, w->version, &r, &w->unchanged);
}

static enum status
withdraw_due(struct scope *s, struct db *write, struct db *read, struct shared *shared, struct schedule_run *run)
{
	int64_t due[SCHEDULE_BATCH], withdrawn = 0;
	size_t i, count;

	TRY(store_resource_due_out(s, read, s->now, due, COUNT(due), &count));
	for (i = 0; i < count; i++) {
		struct arena_mark mark = arena_mark(s->arena);
		struct due_write w = { .site = run->site, .plan = { .id = due[i] } };
		enum status status = writer_run(s, write, shared, withdraw_one, &w);

		if (status != OK)
			log_error(s, "schedule.failed", "\"resource\":%" PRId64 ",\"code\":\"%s\",\"detail\":%s", due[i], status_info(status)->code,
			    log_quote(s, s->error != NULL ? s->error->detail : ""));
		withdrawn += status == OK && !w.unchanged;
		s->error = NULL;
		arena_rewind(s->arena, mark);
	}
	run->is_more = run->is_more || (count == COUNT(due) && withdrawn > 0);
	return OK;
}

/* Between query and turn it may have been cancelled, or given a later time. */
static enum status
withdraw_one(struct scope *s, struct db *db, void *arg)
{
	struct due_write *w = arg;
	struct resource r;

	TRY(store_resource_load(s, db, &r, w->plan.id));
	w->unchanged = r.state != STATE_PUBLISHED || r.withdraw_at == 0 || r.withdraw_at > s->now;
	return w->unchanged ? OK : withdraw_write(s, db, w->site, w->plan.id, NULL, &r, &w->unchanged);
}
