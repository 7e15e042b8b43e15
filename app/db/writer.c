/* writer.c - the thread that commits for many: queue, group commit, turn-taking. */
#include "db/writer.h"
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/priority.h"
#include "db/sqlite.h"

#define BATCH_JOBS 64
#define BATCH_MS 15			/* no further job joins a batch that is this old */
#define TURN_MS 10000

enum activity { RESTING, WORKING, WAITING };	/* WAITING: for the turn, the lock or the disk */

struct writer {
	pthread_t	 thread;
	pthread_mutex_t	 lock;		/* guards the queue, `opened` and `stopping` */
	pthread_cond_t	 changed;
	struct write_job *first, **last;
	int		 length, max_queue;
	bool		 stopping;
	bool		 is_open;	/* the thread has tried; `opened` says how it went */
	enum status	 opened;
	struct scope	*starter;	/* writer_start's scope, lent to the thread until is_open */
	struct scope	*scope;		/* for what belongs to no job */
	char		*db_path;
	struct db	*db;
	struct shared	*shared;
	int64_t		 schema;
	_Atomic bool	 is_stale;
	_Atomic int	 activity;
	_Atomic int64_t	 progress_at;	/* clock_monotonic of the last step forward */
	_Atomic int64_t	 queued_at;	/* when the queue last stopped being empty */
};

struct batch {
	struct write_job *jobs[BATCH_JOBS];
	int		 count;
};

static void	*writer_main(void *);
static void	 block_signals(sigset_t *before);
static bool	 wait_for_work(struct writer *);
static void	 run_batch(struct writer *);
static bool	 fill(struct writer *, struct batch *);
static void	 apply_in_group(struct db *, struct write_job *);
static void	 count_violations(struct db *, struct shared *);
static void	 run_alone(struct writer *, struct write_job *);
static enum status run_unit(struct scope *, struct db *, struct shared *, int64_t schema,
		    enum status (*apply)(struct scope *, struct db *, void *), void *arg, bool *is_stale);
static enum status open_unit(struct scope *, struct db *, struct shared *, int64_t schema, bool *is_stale);
static struct write_job *pop(struct writer *);
static void	 refuse_queue(struct writer *, enum status);
static void	 refuse(struct writer *, struct write_job *, enum status);
static void	 finish(struct writer *, struct write_job *);
static void	 progress(struct writer *, enum activity);

enum status
writer_start(struct scope *s, struct writer **out, const char *db_path, struct shared *shared, int max_queue, int64_t schema)
{
	struct scope *own = scope_new("writer");
	struct writer *w = scope_alloc(own, sizeof(*w));
	enum status status;
	sigset_t before;
	int error;

	w->scope = own;
	w->db_path = scope_printf(own, "%s", db_path);
	w->shared = shared;
	w->max_queue = max_queue;
	w->schema = schema;
	w->last = &w->first;
	w->starter = s;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	progress(w, RESTING);
	block_signals(&before);
	error = pthread_create(&w->thread, NULL, writer_main, w);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (error != 0) {
		scope_free(own);
		return fail(s, ERR_BUSY, NULL, "cannot start the writer: %s", strerror(error));
	}
	pthread_mutex_lock(&w->lock);
	while (!w->is_open)
		pthread_cond_wait(&w->changed, &w->lock);
	status = w->opened;
	pthread_mutex_unlock(&w->lock);
	if (status != OK) {
		pthread_join(w->thread, NULL);
		scope_free(own);
		return status;
	}
	*out = w;
	return OK;
}

enum status
writer_submit(struct writer *w, struct write_job *job)
{
	bool taken;

	job->next = NULL;
	pthread_mutex_lock(&w->lock);
	if ((taken = !w->stopping && w->length < w->max_queue)) {
		if (w->length++ == 0)
			atomic_store(&w->queued_at, clock_monotonic());
		*w->last = job;
		w->last = &job->next;
		pthread_cond_signal(&w->changed);
	}
	pthread_mutex_unlock(&w->lock);
	if (taken)
		return OK;
	metric_add(w->shared, METRIC_WRITE_BUSY, 1);
	return fail(job->scope, ERR_BUSY, NULL, "too many writes are waiting");
}

void
writer_stop(struct writer *w)
{
	pthread_mutex_lock(&w->lock);
	w->stopping = true;
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->lock);
	pthread_join(w->thread, NULL);
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	scope_free(w->scope);
}

int64_t
writer_stalled_ms(struct writer *w)
{
	int activity = atomic_load(&w->activity);
	int64_t since = atomic_load(&w->progress_at), queued_at = atomic_load(&w->queued_at), now = clock_monotonic();

	if (activity == WAITING || (activity == RESTING && writer_queue_length(w) == 0))
		return 0;
	/* A writer that rests has only been idle since there was something to do. */
	if (activity == RESTING && queued_at > since)
		since = queued_at;
	return now > since ? now - since : 0;
}

bool
writer_is_stale(struct writer *w)
{
	return atomic_load(&w->is_stale);
}

int
writer_queue_length(struct writer *w)
{
	int length;

	pthread_mutex_lock(&w->lock);
	length = w->length;
	pthread_mutex_unlock(&w->lock);
	return length;
}

enum status
writer_run(struct scope *s, struct db *db, struct shared *shared,
    enum status (*apply)(struct scope *, struct db *, void *), void *arg)
{
	return run_unit(s, db, shared, 0, apply, arg, NULL);
}

static void *
writer_main(void *arg)
{
	struct writer *w = arg;
	enum status status = db_open(w->starter, &w->db, w->db_path, DB_WRITE);

	priority_background();
	pthread_mutex_lock(&w->lock);
	w->opened = status;
	w->is_open = true;
	pthread_cond_broadcast(&w->changed);
	pthread_mutex_unlock(&w->lock);
	if (status != OK)
		return NULL;
	while (wait_for_work(w)) {
		struct arena_mark mark = arena_mark(w->scope->arena);

		run_batch(w);
		w->scope->error = NULL;
		arena_rewind(w->scope->arena, mark);
	}
	db_close(w->db);
	return NULL;
}

/* Signals are for the threads that expect them; what a fault of this thread raises stays its own. */
static void
block_signals(sigset_t *before)
{
	static const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGTRAP };
	sigset_t all;
	size_t i;

	sigfillset(&all);
	for (i = 0; i < COUNT(faults); i++)
		sigdelset(&all, faults[i]);
	pthread_sigmask(SIG_BLOCK, &all, before);
}

static bool
wait_for_work(struct writer *w)
{
	bool has_work;

	progress(w, RESTING);
	pthread_mutex_lock(&w->lock);
	while (w->first == NULL && !w->stopping)
		pthread_cond_wait(&w->changed, &w->lock);
	has_work = w->first != NULL;
	pthread_mutex_unlock(&w->lock);
	return has_work;
}

static void
run_batch(struct writer *w)
{
	struct batch batch = { .count = 0 };
	enum status status;
	bool is_stale = false, faulty = false;
	int i;

	progress(w, WAITING);
	status = open_unit(w->scope, w->db, w->shared, w->schema, &is_stale);
	progress(w, WORKING);
	if (is_stale)
		atomic_store(&w->is_stale, true);
	if (status != OK) {
		refuse_queue(w, status);
		return;
	}
	if (fill(w, &batch) && !(faulty = fault("pre_commit"))) {
		progress(w, WAITING);
		status = db_commit(w->scope, w->db);
		progress(w, WORKING);
	} else
		status = faulty ? fail(w->scope, ERR_INTERNAL, NULL, "fault") :
		    fail(w->scope, ERR_STORAGE, NULL, "the storage gave up the transaction");
	if (status == OK) {
		(void)fault("post_commit");
		db_touched_bump(w->db, w->shared);
		metric_set(w->shared, METRIC_WAL_FRAMES, db_wal_frames(w->db));
		metric_add(w->shared, METRIC_WRITE_COMMITS, 1);
	} else
		db_rollback(w->db);
	progress(w, WAITING);
	shared_turn_give(w->shared);
	progress(w, WORKING);
	for (i = 0; i < batch.count; i++) {
		if (faulty)
			refuse(w, batch.jobs[i], status);
		else if (status != OK)
			run_alone(w, batch.jobs[i]);
		else
			finish(w, batch.jobs[i]);
	}
}

/* Takes jobs from the queue, also those that come while it runs. False when SQLite gave up the whole transaction. */
static bool
fill(struct writer *w, struct batch *batch)
{
	int64_t until = clock_monotonic() + BATCH_MS;
	struct write_job *job;

	do {
		if ((job = pop(w)) == NULL)
			break;
		batch->jobs[batch->count++] = job;
		apply_in_group(w->db, job);
		progress(w, WORKING);
	} while (db_in_transaction(w->db) && batch->count < BATCH_JOBS && clock_monotonic() < until);
	count_violations(w->db, w->shared);
	return db_in_transaction(w->db);
}

static void
count_violations(struct db *db, struct shared *shared)
{
	for (enum metric m = METRIC_UNIQUE_PATH; m <= METRIC_UNIQUE_OTHER; m++)
		metric_add(shared, m, db_take_violations(db, m));
}

static void
apply_in_group(struct db *db, struct write_job *job)
{
	struct scope *s = job->scope;

	s->error = NULL;
	if ((job->result = db_savepoint(s, db)) != OK)
		return;
	if ((job->result = job->apply(s, db, job->arg)) == OK) {
		assert(db_depth(db) == 1);
		if ((job->result = db_touched_save(s, db)) == OK && (job->result = db_release(s, db)) == OK)
			return;
	}
	while (db_depth(db) > 0)
		db_undo(db);
}

/* Why the group failed is not known to be this job's doing: it gets a transaction of its own, and its own verdict. */
static void
run_alone(struct writer *w, struct write_job *job)
{
	bool is_stale = false;

	progress(w, WAITING);
	job->result = run_unit(job->scope, w->db, w->shared, w->schema, job->apply, job->arg, &is_stale);
	progress(w, WORKING);
	if (is_stale)
		atomic_store(&w->is_stale, true);
	if (job->result == ERR_STORAGE)
		log_error(job->scope, "writer.not_stored", "\"reason\":%s", log_quote(job->scope, job->scope->error->detail));
	finish(w, job);
}

static enum status
run_unit(struct scope *s, struct db *db, struct shared *shared, int64_t schema,
    enum status (*apply)(struct scope *, struct db *, void *), void *arg, bool *is_stale)
{
	enum status status;

	s->error = NULL;
	TRY(open_unit(s, db, shared, schema, is_stale));
	status = apply(s, db, arg);
	assert(status != OK || db_depth(db) == 0);
	if (status == OK)
		status = db_touched_save(s, db);
	if (status == OK && fault("pre_commit"))
		status = fail(s, ERR_INTERNAL, NULL, "fault");
	if (status == OK)
		status = db_commit(s, db);
	if (status == OK) {
		(void)fault("post_commit");
		db_touched_bump(db, shared);
		metric_set(shared, METRIC_WAL_FRAMES, db_wal_frames(db));
		metric_add(shared, METRIC_WRITE_COMMITS, 1);
	} else
		db_rollback(db);
	shared_turn_give(shared);
	count_violations(db, shared);
	return status;
}

/* The turn and an open transaction, or neither. `schema` 0 takes the database as it is. */
static enum status
open_unit(struct scope *s, struct db *db, struct shared *shared, int64_t schema, bool *is_stale)
{
	enum status status;
	int64_t found;

	if (!shared_turn_take(shared, TURN_MS))
		return fail(s, ERR_BUSY, NULL, "other writers did not finish in %d s", TURN_MS / 1000);
	if ((status = db_begin(s, db)) == OK && schema != 0 && (status = db_schema_version(s, db, &found)) == OK &&
	    found != schema) {
		*is_stale = true;
		status = fail(s, ERR_BUSY, NULL, "the database has schema %" PRId64 ", this program knows %" PRId64, found, schema);
	}
	if (status != OK) {
		db_rollback(db);
		shared_turn_give(shared);
	}
	return status;
}

static struct write_job *
pop(struct writer *w)
{
	struct write_job *job;

	pthread_mutex_lock(&w->lock);
	if ((job = w->first) != NULL) {
		if ((w->first = job->next) == NULL)
			w->last = &w->first;
		w->length--;
		job->next = NULL;
	}
	pthread_mutex_unlock(&w->lock);
	return job;
}

/* All that wait now: a lock that was not to be had in so many seconds must not keep each batch as long again. */
static void
refuse_queue(struct writer *w, enum status status)
{
	struct write_job *job;
	int n;

	log_error(w->scope, "writer.refused", "\"code\":\"%s\",\"reason\":%s", status_info(status)->code,
	    log_quote(w->scope, w->scope->error->detail));
	for (n = writer_queue_length(w); n > 0 && (job = pop(w)) != NULL; n--)
		refuse(w, job, status);
}

static void
refuse(struct writer *w, struct write_job *job, enum status status)
{
	job->scope->error = NULL;
	job->result = fail(job->scope, status, NULL, "%s", w->scope->error->detail);
	finish(w, job);
}

static void
finish(struct writer *w, struct write_job *job)
{
	metric_add(w->shared, METRIC_WRITE_JOBS, 1);
	job->done(job);
	progress(w, WORKING);
}

static void
progress(struct writer *w, enum activity activity)
{
	atomic_store(&w->progress_at, clock_monotonic());
	atomic_store(&w->activity, activity);
}
