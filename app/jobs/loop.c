/* loop.c - the loop of `stele jobs`: what is due runs, one short unit of work at a time. */
#include "jobs/jobs.h"
#include "jobs/operations.h"
#include "actions/import.h"
#include "actions/near.h"
#include "actions/operation.h"
#include "actions/reports.h"
#include "actions/schedule.h"
#include "actions/settings.h"
#include "actions/upkeep.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/priority.h"
#include "db/writer.h"

#include <signal.h>
#include <sys/stat.h>

#define TICK_MS 100
#define BATCH_ROWS 100			/* keeps a batch far below the 20 ms that a transaction may hold */
#define BATCHES_PER_TURN 20
#define PASSIVE_BYTES (INT64_C(8) << 20)
#define PASSIVE_FRAMES 2048		/* the same in pages of 4 kB */
#define RESTART_FRAMES 4096
#define REST_FRAMES 256			/* so few are moved in a moment */
#define REST_PASSES 4
#define TRUNCATE_BYTES (INT64_C(256) << 20)
#define OLD_MS 2000
#define TURN_MS 1000

struct jobs {
	const struct config *config;
	struct db	*db, *read;
	struct shared	*shared;
	const struct site *site;	/* while a purge runs that needs it */
	const char	*wal_path;
	struct timespec	 wal_time;	/* as of the last checkpoint: when the log was written to, */
	int64_t		 frames;	/* how many pages it had, */
	int64_t		 checkpoint_at;	/* and when that was, monotonic */
	int64_t		 near_at;	/* up to which id near duplicates were looked for */
	int64_t		 looked_at, mismatches;	/* of the look for canonical addresses that contradict themselves */
};

struct task {
	const char	*name;
	int		 every_ms;
	/* *more asks for another turn at the next tick. */
	enum status	(*run)(struct scope *, struct jobs *, bool *more);
};

static enum status	run_checkpoint(struct scope *, struct jobs *, bool *more);
static enum status	finish_log(struct scope *, struct jobs *, int64_t *bytes);
static enum status	run_schedule(struct scope *, struct jobs *, bool *more);
static enum status	run_purge(struct scope *, struct jobs *, bool *more);
static enum status	run_prune(struct scope *, struct jobs *, bool *more);
static enum status	run_prune_not_found(struct scope *, struct jobs *, bool *more);
static enum status	run_prune_stage(struct scope *, struct jobs *, bool *more);
static enum status	run_purge_operations(struct scope *, struct jobs *, bool *more);
static enum status	run_purge_messages(struct scope *, struct jobs *, bool *more);
static enum status	purge_by_age(struct scope *, struct jobs *, bool *more,
			    enum status (*apply)(struct scope *, struct db *, void *), const char *what);
static enum status	run_sweep(struct scope *, struct jobs *, bool *more);
static enum status	run_counts(struct scope *, struct jobs *, bool *more);
static enum status	run_mismatches(struct scope *, struct jobs *, bool *more);
static enum status	run_near(struct scope *, struct jobs *, bool *more);
static enum status	run_batches(struct scope *, struct jobs *, bool *more,
			    enum status (*apply)(struct scope *, struct db *, void *), int64_t *removed);
static bool		run_task(const struct task *, struct jobs *);
static bool		stop_was_asked(const sigset_t *);

static const struct task tasks[] = {
	{ "checkpoint", 100, run_checkpoint },
	{ "schedule", 1000, run_schedule },
	{ "purge_records", 60000, run_purge },
	{ "prune_changes", 60000, run_prune },
	{ "counts", 30000, run_counts },
	{ "mismatches", 5000, run_mismatches },
	{ "near", 2000, run_near },
	{ "prune_not_found", 10000, run_prune_not_found },
	{ "prune_stage", 60000, run_prune_stage },
	{ "purge_operations", 60000, run_purge_operations },
	{ "purge_messages", 60000, run_purge_messages },
	{ "sweep_imports", 60000, run_sweep },
};

enum status
jobs_run(struct scope *s, const struct config *config, struct db *write, struct shared *shared)
{
	struct jobs jobs = { .config = config, .db = write, .shared = shared };
	int64_t due[COUNT(tasks)] = { 0 };
	sigset_t stop;

	priority_background();
	jobs.wal_path = config_path(s, config, "stele.db-wal");
	sigemptyset(&stop);
	sigaddset(&stop, SIGTERM);
	sigaddset(&stop, SIGINT);
	if (sigprocmask(SIG_BLOCK, &stop, NULL) == -1)
		return fail(s, ERR_INTERNAL, NULL, "sigprocmask: %s", strerror(errno));
	TRY(db_open(s, &jobs.read, config_path(s, config, "stele.db"), DB_READ));
	TRY(operations_start(s, config, shared));
	log_info(s, "jobs.started", "\"pid\":%d", (int)getpid());
	do {
		for (size_t i = 0; i < COUNT(tasks); i++) {
			shared_beat(shared, JOBS_BEAT, getpid());
			if (clock_monotonic() < due[i])
				continue;
			due[i] = run_task(&tasks[i], &jobs) ? 0 : clock_monotonic() + tasks[i].every_ms;
		}
	} while (!stop_was_asked(&stop));
	operations_stop();
	db_close(jobs.read);
	log_info(s, "jobs.stopped", "%s", "");
	return OK;
}

/* A unit of work has a scope of its own, so that nothing grows. True: there is more to do at once. */
static bool
run_task(const struct task *task, struct jobs *jobs)
{
	struct scope *s = scope_new(task->name);
	bool more = false;
	enum status status = task->run(s, jobs, &more);

	if (status != OK) {
		more = false;
		log_error(s, "jobs.failed", "\"task\":%s,\"code\":%s,\"detail\":%s", log_quote(s, task->name),
		    log_quote(s, status_info(status)->code), log_quote(s, s->error != NULL ? s->error->detail : ""));
	}
	scope_free(s);
	return more;
}

/* PASSIVE disturbs nobody but never catches up with writers that do not pause, and the log then grows. So now and then the little that some
 * passes left is moved while writers wait their turn: the next of them starts the log over. */
static enum status
run_checkpoint(struct scope *s, struct jobs *jobs, bool *more)
{
	int64_t now = clock_monotonic(), frames = metric_get(jobs->shared, METRIC_WAL_FRAMES), bytes;
	struct stat st;
	bool has_grown, is_old;

	if (stat(jobs->wal_path, &st) == -1)
		st = (struct stat){ 0 };
	metric_set(jobs->shared, METRIC_WAL_BYTES, st.st_size);
	if (frames < jobs->frames)
		jobs->frames = 0;
	has_grown = frames - jobs->frames >= PASSIVE_FRAMES || st.st_size > TRUNCATE_BYTES;
	/* Commands that were started before this page was made write without telling it. */
	is_old = st.st_size >= PASSIVE_BYTES && now - jobs->checkpoint_at >= OLD_MS
	    && (st.st_mtim.tv_sec != jobs->wal_time.tv_sec || st.st_mtim.tv_nsec != jobs->wal_time.tv_nsec);
	if (!has_grown && !is_old)
		return OK;
	jobs->wal_time = st.st_mtim;
	jobs->checkpoint_at = now;
	jobs->frames = frames;
	TRY(db_checkpoint(s, jobs->db, false, &bytes));
	(void)fault("checkpoint");
	if (frames >= RESTART_FRAMES || bytes > TRUNCATE_BYTES) {
		/* Again, for what was written meanwhile: writers should wait for a short rest only. */
		for (int i = 0; i < REST_PASSES && metric_get(jobs->shared, METRIC_WAL_FRAMES) - frames > REST_FRAMES; i++) {
			frames = metric_get(jobs->shared, METRIC_WAL_FRAMES);
			TRY(db_checkpoint(s, jobs->db, false, &bytes));
		}
		TRY(finish_log(s, jobs, &bytes));
	}
	metric_set(jobs->shared, METRIC_WAL_BYTES, bytes);
	return OK;
}

static enum status
finish_log(struct scope *s, struct jobs *jobs, int64_t *bytes)
{
	enum status status;

	if (!shared_turn_take(jobs->shared, TURN_MS))
		return OK;
	status = db_checkpoint(s, jobs->db, *bytes > TRUNCATE_BYTES, bytes);
	shared_turn_give(jobs->shared);
	return status;
}

/* What has its time come goes live within about a second of it. */
static enum status
run_schedule(struct scope *s, struct jobs *jobs, bool *more)
{
	struct schedule_run run = { 0 };
	struct site site;

	TRY(settings_site(s, jobs->read, jobs->config, &site));
	run.site = &site;
	TRY(schedule_run_due(s, jobs->db, jobs->read, jobs->shared, &run));
	*more = run.is_more;
	return OK;
}

/* A missing unique index stops the purge and shows as a gauge, and in /readyz, until it is mended. */
static enum status
run_purge(struct scope *s, struct jobs *jobs, bool *more)
{
	int64_t removed = 0, missing;
	enum status status = upkeep_guards_missing(s, jobs->read, &missing);

	metric_set(jobs->shared, METRIC_SCHEMA_GUARD, missing);
	if (status == OK)
		status = run_batches(s, jobs, more, upkeep_purge_records, &removed);
	metric_add(jobs->shared, METRIC_IDEM_PURGED, removed);
	if (removed > 0)
		log_info(s, "jobs.purged", "\"records\":%" PRId64, removed);
	return status;
}

static enum status
run_prune(struct scope *s, struct jobs *jobs, bool *more)
{
	int64_t removed;

	return run_batches(s, jobs, more, upkeep_prune_changes, &removed);
}

static enum status
run_prune_not_found(struct scope *s, struct jobs *jobs, bool *more)
{
	int64_t removed;

	return run_batches(s, jobs, more, upkeep_prune_not_found, &removed);
}

static enum status
run_prune_stage(struct scope *s, struct jobs *jobs, bool *more)
{
	int64_t removed;

	return run_batches(s, jobs, more, upkeep_prune_stage, &removed);
}

static enum status
run_purge_operations(struct scope *s, struct jobs *jobs, bool *more)
{
	return purge_by_age(s, jobs, more, upkeep_purge_operations, "operations");
}

static enum status
run_purge_messages(struct scope *s, struct jobs *jobs, bool *more)
{
	return purge_by_age(s, jobs, more, upkeep_purge_messages, "messages");
}

static enum status
purge_by_age(struct scope *s, struct jobs *jobs, bool *more, enum status (*apply)(struct scope *, struct db *, void *), const char *what)
{
	int64_t removed = 0;
	struct site site;
	enum status status;

	TRY(settings_site(s, jobs->read, jobs->config, &site));
	jobs->site = &site;
	status = run_batches(s, jobs, more, apply, &removed);
	jobs->site = NULL;
	if (removed > 0)
		log_info(s, "jobs.purged", "\"%s\":%" PRId64, what, removed);
	return status;
}

/* Files that were stored for an operation that is over, or never came to be. */
static enum status
run_sweep(struct scope *s, struct jobs *jobs, bool *more)
{
	import_trials_sweep(s, jobs->config->data_dir);
	return operation_files_sweep(s, jobs->read, jobs->config);
}

static enum status
run_counts(struct scope *s, struct jobs *jobs, bool *more)
{
	int64_t copies;

	(void)more;
	TRY(upkeep_count_copies(s, jobs->read, &copies));
	metric_set(jobs->shared, METRIC_DUPLICATES, copies);
	return OK;
}

/* A piece each time: a million rows are looked through in about a quarter of an hour. */
static enum status
run_mismatches(struct scope *s, struct jobs *jobs, bool *more)
{
	struct site site;
	bool done;

	(void)more;
	TRY(settings_site(s, jobs->read, jobs->config, &site));
	TRY(report_count_mismatches(s, jobs->read, &site, &jobs->looked_at, &jobs->mismatches, &done));
	if (done) {
		metric_set(jobs->shared, METRIC_CANONICAL_MISMATCH, jobs->mismatches);
		jobs->looked_at = jobs->mismatches = 0;
	}
	return OK;
}

static enum status
run_near(struct scope *s, struct jobs *jobs, bool *more)
{
	return near_keep(s, jobs->db, jobs->read, jobs->shared, &jobs->near_at, more);
}

/* Several small transactions; writers get their turn between any two. */
static enum status
run_batches(struct scope *s, struct jobs *jobs, bool *more, enum status (*apply)(struct scope *, struct db *, void *),
    int64_t *removed)
{
	struct upkeep_batch batch = { .limit = BATCH_ROWS, .site = jobs->site };

	*removed = 0;
	for (int i = 0; i < BATCHES_PER_TURN; i++) {
		batch.removed = 0;
		shared_beat(jobs->shared, JOBS_BEAT, getpid());
		TRY(writer_run(s, jobs->db, jobs->shared, apply, &batch));
		*removed += batch.removed;
		if (batch.removed < batch.limit)
			return OK;
	}
	*more = true;
	return OK;
}

/* The pause of the loop. */
static bool
stop_was_asked(const sigset_t *stop)
{
	const struct timespec tick = { 0, TICK_MS * 1000000L };

	return sigtimedwait(stop, NULL, &tick) > 0;
}
