/* test_writer.c - group commits: nothing lost, nothing doubled, whoever dies. */
#include "db/fixture.h"
#include <pthread.h>
#include "base/clock.h"

#define SCHEMA_VERSION 1000

/* A job that writes one not_found-like row: change_log with a name that no other job writes. */
struct task {
	struct write_job job;
	char		 name[64];
	const char	*text;		/* what is stored; NULL = name */
	enum status	 answer;	/* what apply says after it wrote */
	const char	*pragma;	/* run before writing */
	int		 sleep_ms;
	int		 applied, done;
	bool		 had_error;	/* scope->error was set when apply began */
};

static pthread_mutex_t	 done_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t	 done_cond = PTHREAD_COND_INITIALIZER;
static int		 done_count;

static enum status
apply(struct scope *s, struct db *db, void *arg)
{
	struct task *t = arg;
	int64_t seq;

	t->had_error = s->error != NULL;
	t->applied++;
	if (t->sleep_ms > 0)
		usleep((useconds_t)t->sleep_ms * 1000);
	if (t->pragma != NULL)
		TRY(db_exec(s, db, t->pragma));
	TRY(db_value(s, db, &seq, SQL_CHANGE_LOG_INSERT, ARGS(TEXT(t->text != NULL ? t->text : t->name), INT(s->now))));
	db_touch(db, "touched:%s", t->name);
	return t->answer == OK ? OK : fail(s, t->answer, NULL, "as asked");
}

static enum status
apply_violation(struct scope *s, struct db *db, void *arg)
{
	struct task *t = arg;

	t->applied++;
	TRY(db_run(s, db, SQL_CHANGE_LOG_INSERT, ARGS(TEXT(t->name), INT(1)), NULL));
	return db_run(s, db, SQL_MIGRATION_INSERT,
	    ARGS(INT(1), TEXT("x"), TEXT("0000000000000000000000000000000000000000000000000000000000000000"), INT(0)), NULL);
}

/* One statement without a statement journal: a full disk here ends the whole transaction. */
static enum status
apply_too_much(struct scope *s, struct db *db, void *arg)
{
	struct task *t = arg;
	char *big = scope_alloc(s, 2 << 20);

	t->applied++;
	memset(big, 'x', (2 << 20) - 1);
	return db_run(s, db, SQL_MIGRATION_INSERT,
	    ARGS(INT(-1), TEXT(big), TEXT("0000000000000000000000000000000000000000000000000000000000000000"), INT(0)), NULL);
}

static void
done(struct write_job *job)
{
	struct task *t = job->arg;

	pthread_mutex_lock(&done_lock);
	t->done++;
	done_count++;
	pthread_cond_broadcast(&done_cond);
	pthread_mutex_unlock(&done_lock);
}

static void
wait_done(int n)
{
	pthread_mutex_lock(&done_lock);
	while (done_count < n)
		pthread_cond_wait(&done_cond, &done_lock);
	pthread_mutex_unlock(&done_lock);
}

static struct task *
task_new(const char *name)
{
	struct scope *s = scope_new(name);
	struct task *t = scope_alloc(s, sizeof(*t));

	snprintf(t->name, sizeof(t->name), "%s", name);
	t->job.scope = s;
	t->job.apply = apply;
	t->job.arg = t;
	t->job.done = done;
	return t;
}

static void
task_free(struct task *t)
{
	scope_free(t->job.scope);
}

static int64_t
schema(struct fixture *f)
{
	int64_t version;

	assert_ok(f->s, db_schema_version(f->s, f->db, &version));
	return version;
}

static struct writer *
start(struct fixture *f, int max_queue)
{
	struct writer *w;

	done_count = 0;
	assert_ok(f->s, writer_start(f->s, &w, f->path, f->shared, max_queue, schema(f)));
	return w;
}

static void
submit(struct writer *w, struct task *t)
{
	assert_ok(t->job.scope, writer_submit(w, &t->job));
}

static int64_t
stored(struct fixture *f, const char *name)
{
	return ask(f, scope_printf(f->s, "SELECT count(*) FROM change_log WHERE dependencies = '%s'", name));
}

/* Holds the writer up, so that what is submitted now becomes one batch. */
static void
hold(struct fixture *f)
{
	assert_true(shared_turn_take(f->shared, 1000));
}

static void
let_go(struct fixture *f)
{
	usleep(50000);
	shared_turn_give(f->shared);
}

static void
a_job_is_stored_logged_and_bumped_before_it_is_done(void **state)
{
	struct fixture *f = *state;
	struct writer *w = start(f, 10);
	struct task *t = task_new("one");

	submit(w, t);
	wait_done(1);
	assert_int_equal(t->job.result, OK);
	assert_int_equal(t->applied, 1);
	assert_int_equal(stored(f, "one"), 1);
	assert_int_equal(stored(f, "touched:one"), 1);
	assert_true(shared_slot_generation(f->shared, shared_slot("touched:one")) > 0);
	assert_int_equal(writer_queue_length(w), 0);
	assert_in_range(writer_stalled_ms(w), 0, 1000);
	writer_stop(w);
	task_free(t);
}

static void
waiting_jobs_share_one_commit(void **state)
{
	struct fixture *f = *state;
	struct writer *w = start(f, 100);
	struct task *t[40];
	size_t i;

	hold(f);
	for (i = 0; i < COUNT(t); i++)
		submit(w, t[i] = task_new(scope_printf(f->s, "job %zu", i)));
	let_go(f);
	wait_done(COUNT(t));
	writer_stop(w);
	/* One, unless the machine stopped the writer for 15 ms in between. */
	assert_in_range(metric_get(f->shared, METRIC_WRITE_COMMITS), 1, 8);
	assert_int_equal(metric_get(f->shared, METRIC_WRITE_JOBS), COUNT(t));
	assert_int_equal(ask(f, "SELECT count(*) FROM change_log"), 2 * COUNT(t));
	for (i = 0; i < COUNT(t); i++) {
		assert_int_equal(t[i]->job.result, OK);
		assert_int_equal(t[i]->done, 1);
		task_free(t[i]);
	}
}

static void
a_batch_ends_at_64_jobs(void **state)
{
	struct fixture *f = *state;
	struct writer *w = start(f, 200);
	struct task *t[130];
	size_t i;

	hold(f);
	for (i = 0; i < COUNT(t); i++)
		submit(w, t[i] = task_new("x"));
	let_go(f);
	wait_done(COUNT(t));
	writer_stop(w);
	assert_in_range(metric_get(f->shared, METRIC_WRITE_COMMITS), 3, 20);
	for (i = 0; i < COUNT(t); i++)
		task_free(t[i]);
}

static void
a_slow_batch_gives_the_turn_after_15_ms(void **state)
{
	struct fixture *f = *state;
	struct writer *w = start(f, 100);
	int64_t before, worst = 0;
	struct task *t[40];
	size_t i;

	hold(f);
	for (i = 0; i < COUNT(t); i++) {
		t[i] = task_new("slow");
		t[i]->sleep_ms = 4;
		submit(w, t[i]);
	}
	let_go(f);
	while (writer_queue_length(w) > 0) {
		before = clock_monotonic();
		assert_true(shared_turn_take(f->shared, 5000));
		worst = clock_monotonic() - before > worst ? clock_monotonic() - before : worst;
		shared_turn_give(f->shared);
		usleep(200);
	}
	wait_done(COUNT(t));
	writer_stop(w);
	/* 4 ms each: the fourth or fifth ends a batch. A wall-clock limit on the wait would measure the machine. */
	assert_true(metric_get(f->shared, METRIC_WRITE_COMMITS) >= 8);
	print_message("longest wait for the turn %d ms\n", (int)worst);
	for (i = 0; i < COUNT(t); i++)
		task_free(t[i]);
}

static void
a_refused_job_leaves_the_others_of_its_batch(void **state)
{
	struct fixture *f = *state;
	struct writer *w = start(f, 100);
	struct task *t[5];
	size_t i;

	for (i = 0; i < COUNT(t); i++)
		t[i] = task_new(scope_printf(f->s, "job %zu", i));
	t[1]->job.apply = apply_violation;
	t[3]->answer = ERR_STATE_CONFLICT;
	hold(f);
	for (i = 0; i < COUNT(t); i++)
		submit(w, t[i]);
	let_go(f);
	wait_done(COUNT(t));
	writer_stop(w);
	assert_true(metric_get(f->shared, METRIC_WRITE_COMMITS) < (int64_t)COUNT(t));
	assert_int_equal(metric_get(f->shared, METRIC_UNIQUE_OTHER), 1);
	for (i = 0; i < COUNT(t); i++) {
		assert_int_equal(t[i]->job.result, i == 1 ? ERR_CONFLICT : i == 3 ? ERR_STATE_CONFLICT : OK);
		assert_int_equal(stored(f, t[i]->name), t[i]->job.result == OK);
		assert_int_equal(stored(f, scope_printf(f->s, "touched:%s", t[i]->name)), t[i]->job.result == OK);
		assert_int_equal(shared_slot_generation(f->shared, shared_slot(scope_printf(f->s, "touched:%s", t[i]->name))) > 1,
		    t[i]->job.result == OK);
		assert_int_equal(t[i]->applied, 1);
	}
	assert_string_equal(t[3]->job.scope->error->detail, "as asked");
	for (i = 0; i < COUNT(t); i++)
		task_free(t[i]);
}

/* max_page_count stands for the disk. */
static void
a_full_disk_fails_only_what_does_not_fit(void **state)
{
	struct fixture *f = *state;
	struct writer *w = start(f, 100);
	struct task *t[6];
	size_t i;

	for (i = 0; i < COUNT(t); i++)
		t[i] = task_new(scope_printf(f->s, "job %zu", i));
	t[0]->pragma = scope_printf(f->s, "PRAGMA max_page_count = %" PRId64, ask(f, "PRAGMA page_count") + 20);
	t[3]->job.apply = apply_too_much;
	hold(f);
	for (i = 0; i < COUNT(t); i++)
		submit(w, t[i]);
	let_go(f);
	wait_done(COUNT(t));
	writer_stop(w);
	for (i = 0; i < COUNT(t); i++) {
		assert_int_equal(t[i]->job.result, i == 3 ? ERR_STORAGE : OK);
		assert_int_equal(stored(f, t[i]->name), i != 3);
		assert_in_range(t[i]->applied, i == 3 ? 2 : 1, 2);
		assert_int_equal(t[i]->done, 1);
		assert_false(t[i]->had_error);
	}
	assert_non_null(t[3]->job.scope->error);
	for (i = 0; i < COUNT(t); i++)
		task_free(t[i]);
}

/* The log of the database may not grow past the limit: COMMIT itself fails, for all of the batch. */
static void
commit_on_a_full_disk(struct fixture *f)
{
	char *big = scope_alloc(f->s, 400001);
	struct writer *w = start(f, 100);
	struct rlimit limit;
	struct task *t[6];
	int64_t wal;
	size_t i;

	memset(big, 'x', 400000);
	for (i = 0; i < COUNT(t); i++)
		t[i] = task_new(scope_printf(f->s, "job %zu", i));
	t[2]->text = big;
	submit(w, t[0]);
	wait_done(1);
	signal(SIGXFSZ, SIG_IGN);
	assert_ok(f->s, db_checkpoint(f->s, f->db, false, &wal));
	getrlimit(RLIMIT_FSIZE, &limit);
	limit.rlim_cur = 300000;
	assert_true(wal < 300000);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	hold(f);
	for (i = 1; i < COUNT(t); i++)
		submit(w, t[i]);
	let_go(f);
	wait_done(COUNT(t));
	writer_stop(w);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_FSIZE, &limit);
	for (i = 1; i < COUNT(t); i++) {
		if (t[i]->job.result != (i == 2 ? ERR_STORAGE : OK) || t[i]->applied < 1 + (i == 2) || t[i]->applied > 2 || t[i]->had_error)
			_exit(10 + (int)i);
		if (stored(f, t[i]->name) != (i != 2) || stored(f, scope_printf(f->s, "touched:%s", t[i]->name)) != (i != 2))
			_exit(20 + (int)i);
	}
	if (ask(f, "SELECT count(*) FROM change_log") != 10)
		_exit(30);
	for (i = 0; i < COUNT(t); i++)
		task_free(t[i]);
}

static void
a_commit_that_fails_is_done_again_job_by_job(void **state)
{
	assert_int_equal(in_child(commit_on_a_full_disk, *state), 0);
}

static void
a_locked_database_is_busy_for_all_that_wait(void **state)
{
	struct fixture *f = *state;
	struct writer *w = start(f, 100);
	struct task *t[100];
	int64_t before = clock_monotonic();
	size_t i;

	hold(f);
	for (i = 0; i < COUNT(t); i++)
		submit(w, t[i] = task_new("never"));
	assert_ok(f->s, db_begin(f->s, f->db));
	let_go(f);
	wait_done(COUNT(t));
	assert_in_range(clock_monotonic() - before, 4500, 9000);
	assert_int_equal(writer_stalled_ms(w), 0);
	db_rollback(f->db);
	for (i = 0; i < COUNT(t); i++) {
		assert_int_equal(t[i]->job.result, ERR_BUSY);
		assert_int_equal(t[i]->applied, 0);
	}
	done_count = 0;
	t[0]->done = 0;
	submit(w, t[0]);
	wait_done(1);
	assert_int_equal(t[0]->job.result, OK);
	assert_null(t[0]->job.scope->error);
	writer_stop(w);
	for (i = 0; i < COUNT(t); i++)
		task_free(t[i]);
}

static void
a_full_queue_refuses(void **state)
{
	struct fixture *f = *state;
	struct writer *w = start(f, 2);
	struct task *t[4];
	size_t i;

	for (i = 0; i < COUNT(t); i++)
		t[i] = task_new("x");
	hold(f);
	submit(w, t[0]);
	submit(w, t[1]);
	assert_int_equal(writer_submit(w, &t[2]->job), ERR_BUSY);
	assert_non_null(t[2]->job.scope->error);
	assert_int_equal(writer_queue_length(w), 2);
	assert_int_equal(metric_get(f->shared, METRIC_WRITE_BUSY), 1);
	let_go(f);
	wait_done(2);
	submit(w, t[3]);
	wait_done(3);
	writer_stop(w);
	assert_int_equal(t[2]->applied, 0);
	for (i = 0; i < COUNT(t); i++)
		task_free(t[i]);
}

static void
stop_finishes_what_is_queued(void **state)
{
	struct fixture *f = *state;
	struct writer *w = start(f, 1000);
	struct task *t[300];
	size_t i;

	for (i = 0; i < COUNT(t); i++)
		submit(w, t[i] = task_new("x"));
	writer_stop(w);
	assert_int_equal(done_count, COUNT(t));
	assert_int_equal(stored(f, "x"), COUNT(t));
	for (i = 0; i < COUNT(t); i++)
		task_free(t[i]);
}

static void
another_schema_makes_the_writer_stale(void **state)
{
	struct fixture *f = *state;
	struct writer *w = start(f, 10);
	struct task *a = task_new("before"), *b = task_new("after");

	submit(w, a);
	wait_done(1);
	assert_false(writer_is_stale(w));
	assert_ok(f->s, db_run(f->s, f->db, SQL_MIGRATION_INSERT, ARGS(INT(SCHEMA_VERSION), TEXT("x"),
	    TEXT("0000000000000000000000000000000000000000000000000000000000000000"), INT(0)), NULL));
	submit(w, b);
	wait_done(2);
	assert_true(writer_is_stale(w));
	writer_stop(w);
	assert_int_equal(a->job.result, OK);
	assert_int_equal(b->job.result, ERR_BUSY);
	assert_int_equal(b->applied, 0);
	assert_int_equal(stored(f, "after"), 0);
	task_free(a);
	task_free(b);
}

static void
a_writer_without_database_does_not_start(void **state)
{
	struct fixture *f = *state;
	struct shared *shared;
	struct writer *w = NULL;

	assert_ok(f->s, shared_open(f->s, &shared, f->dir, false));
	assert_int_equal(writer_start(f->s, &w, f->path, shared, 10, 1), ERR_STORAGE);
	assert_null(w);
	assert_non_null(f->s->error);
	shared_close(shared);
}

static void
a_job_that_hangs_is_seen_as_a_stall(void **state)
{
	struct fixture *f = *state;
	struct writer *w = start(f, 10);
	struct task *t = task_new("slow");

	usleep(300000);
	t->sleep_ms = 600;
	hold(f);
	submit(w, t);
	usleep(300000);
	assert_int_equal(writer_stalled_ms(w), 0);	/* it waits for its turn */
	shared_turn_give(f->shared);
	usleep(400000);
	assert_in_range(writer_stalled_ms(w), 250, 600);
	wait_done(1);
	usleep(10000);
	assert_int_equal(writer_stalled_ms(w), 0);
	writer_stop(w);
	task_free(t);
}

static void
run_is_one_job_on_the_callers_handle(void **state)
{
	struct fixture *f = *state;
	struct task *t = task_new("command");
	uint64_t before = shared_generation(f->shared);

	assert_ok(f->s, writer_run(f->s, f->db, f->shared, apply, t));
	assert_int_equal(stored(f, "command"), 1);
	assert_int_equal(stored(f, "touched:command"), 1);
	assert_true(shared_slot_generation(f->shared, shared_slot("touched:command")) > before);
	snprintf(t->name, sizeof(t->name), "refused");
	t->answer = ERR_DENIED;
	assert_int_equal(writer_run(f->s, f->db, f->shared, apply, t), ERR_DENIED);
	assert_int_equal(stored(f, "refused"), 0);
	assert_int_equal(shared_slot_generation(f->shared, shared_slot("touched:refused")), 0);
	assert_false(db_in_transaction(f->db));
	assert_true(shared_turn_take(f->shared, 0));
	shared_turn_give(f->shared);
	t->answer = OK;
	assert_ok(f->s, writer_run(f->s, f->db, f->shared, apply, t));
	task_free(t);
}

#define THREADS 8
#define JOBS 2000
#define PROCESSES 2

struct crowd { struct fixture *f; struct writer *writer; int process, thread; };

static void
done_and_free(struct write_job *job)
{
	struct task *t = job->arg;

	if (job->result != OK || t->applied != 1)
		_exit(3);
	pthread_mutex_lock(&done_lock);
	done_count++;
	pthread_mutex_unlock(&done_lock);
	task_free(t);
}

static void *
submit_many(void *arg)
{
	struct crowd *c = arg;
	struct task *t;
	int i;

	for (i = 0; i < JOBS; i++) {
		t = task_new("crowd");
		snprintf(t->name, sizeof(t->name), "%d.%d.%d", c->process, c->thread, i);
		t->job.done = done_and_free;
		while (writer_submit(c->writer, &t->job) != OK)
			usleep(500);
	}
	return NULL;
}

/* A process of its own: own handle on the page, own writer, eight threads that submit. */
static void
crowd_process(struct fixture *f, int process)
{
	struct scope *s = scope_new("crowd");
	struct crowd crowd[THREADS];
	pthread_t threads[THREADS];
	struct shared *shared;
	struct writer *w;
	int i;

	done_count = 0;
	if (shared_open(s, &shared, f->dir, false) != OK || writer_start(s, &w, f->path, shared, 1024, 0) != OK)
		_exit(1);
	for (i = 0; i < THREADS; i++) {
		crowd[i] = (struct crowd){ f, w, process, i };
		pthread_create(&threads[i], NULL, submit_many, &crowd[i]);
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	writer_stop(w);
	shared_close(shared);
	scope_free(s);
	_exit(done_count == THREADS * JOBS ? 0 : 2);
}

static void
nothing_is_lost_or_doubled_by_many_writers(void **state)
{
	struct fixture *f = *state;
	int64_t before = clock_monotonic();
	pid_t pids[PROCESSES];
	int i, status;

	fflush(NULL);
	for (i = 0; i < PROCESSES; i++)
		if ((pids[i] = fork()) == 0)
			crowd_process(f, i);
	for (i = 0; i < PROCESSES; i++) {
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	print_message("%d jobs, %d commits, %d ms\n", THREADS * JOBS * PROCESSES, (int)metric_get(f->shared, METRIC_WRITE_COMMITS),
	    (int)(clock_monotonic() - before));
	assert_int_equal(ask(f, "SELECT count(*) FROM change_log WHERE dependencies NOT LIKE 'touched:%'"), THREADS * JOBS * PROCESSES);
	assert_int_equal(ask(f, "SELECT count(DISTINCT dependencies) FROM change_log WHERE dependencies NOT LIKE 'touched:%'"), THREADS * JOBS * PROCESSES);
	assert_int_equal(ask(f, "SELECT count(DISTINCT dependencies) FROM change_log WHERE dependencies LIKE 'touched:%'"), THREADS * JOBS * PROCESSES);
	assert_int_equal(metric_get(f->shared, METRIC_WRITE_JOBS), THREADS * JOBS * PROCESSES);
	assert_true(metric_get(f->shared, METRIC_WRITE_COMMITS) < THREADS * JOBS * PROCESSES / 4);
	assert_true(shared_slot_generation(f->shared, shared_slot("touched:1.7.1999")) > 0);
}

#ifdef STELE_TEST
static int acknowledge_fd;

static void
acknowledge(struct write_job *job)
{
	struct task *t = job->arg;

	if (job->result != OK || write(acknowledge_fd, t->name, sizeof(t->name)) != (ssize_t)sizeof(t->name))
		_exit(4);
}

static void *
submit_acknowledged(void *arg)
{
	struct crowd *c = arg;
	struct task *t;
	int i;

	for (i = 0; i < JOBS; i++) {
		t = task_new("x");
		snprintf(t->name, sizeof(t->name), "k.%d", i);
		t->job.done = acknowledge;
		while (writer_submit(c->writer, &t->job) != OK)
			usleep(200);
	}
	return NULL;
}

/* Kills a writer at the point, while it has the turn; gives the number of jobs it had acknowledged, all of which must be stored. */
static int
kill_at(struct fixture *f, const char *faults)
{
	int ends[2], status, n = 0;
	char name[64];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	if ((pid = fork()) == 0) {
		struct crowd c = { f, NULL, 0, 0 };

		close(ends[0]);
		acknowledge_fd = ends[1];
		setenv("STELE_FAULT", faults, 1);
		if (writer_start(f->s, &c.writer, f->path, f->shared, 1024, 0) != OK)
			_exit(1);
		submit_acknowledged(&c);
		writer_stop(c.writer);
		_exit(0);
	}
	close(ends[1]);
	for (; read(ends[0], name, sizeof(name)) == (ssize_t)sizeof(name); n++)
		assert_int_equal(stored(f, name), 1);
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	return n;
}

static void
a_writer_killed_with_the_turn_stops_nobody(void **state)
{
	struct fixture *f = *state;
	struct writer *w = start(f, 10);
	struct task *t;
	int i, n;

	for (i = 0; i < 3; i++) {
		n = kill_at(f, "pre_commit:kill:3");
		assert_int_equal(ask(f, "SELECT count(*) FROM change_log WHERE dependencies LIKE 'k.%'"), n);
		t = task_new("after");
		done_count = 0;
		submit(w, t);
		wait_done(1);
		assert_int_equal(t->job.result, OK);
		task_free(t);
		assert_int_equal(ask(f, "DELETE FROM change_log WHERE dependencies LIKE 'k.%'"), 0);
	}
	writer_stop(w);
}

/* What was committed and not acknowledged is stored whole, and its bump is made up for. */
static void
a_death_between_commit_and_bump_is_made_up_for(void **state)
{
	struct fixture *f = *state;
	struct task *t = task_new("first");
	uint32_t first_lost, last_lost;
	int64_t all, named;
	uint64_t before;
	int n;

	assert_ok(f->s, writer_run(f->s, f->db, f->shared, apply, t));
	task_free(t);
	assert_ok(f->s, db_changes_apply(f->s, f->db, f->shared));
	before = shared_generation(f->shared);
	n = kill_at(f, "post_commit:kill:2");
	all = ask(f, "SELECT count(*) FROM change_log WHERE dependencies LIKE 'k.%'");
	named = ask(f, "SELECT count(*) FROM change_log WHERE dependencies LIKE 'touched:k.%'");
	assert_true(all > n);
	assert_int_equal(all, named);
	first_lost = shared_slot(scope_printf(f->s, "touched:k.%d", n));
	last_lost = shared_slot(scope_printf(f->s, "touched:k.%d", (int)all - 1));
	assert_true(shared_slot_generation(f->shared, first_lost) <= before);
	assert_ok(f->s, db_changes_apply(f->s, f->db, f->shared));
	assert_true(shared_slot_generation(f->shared, first_lost) > before);
	assert_true(shared_slot_generation(f->shared, last_lost) > before);
}

static void
an_error_before_commit_fails_the_batch(void **state)
{
	struct fixture *f = *state;
	struct task *a = task_new("a"), *b = task_new("b"), *c = task_new("c");
	struct writer *w;

	setenv("STELE_FAULT", "pre_commit:error:1", 1);
	w = start(f, 10);
	hold(f);
	submit(w, a);
	submit(w, b);
	let_go(f);
	wait_done(2);
	submit(w, c);
	wait_done(3);
	writer_stop(w);
	unsetenv("STELE_FAULT");
	assert_int_equal(a->job.result, ERR_INTERNAL);
	assert_int_equal(b->job.result, ERR_INTERNAL);
	assert_int_equal(c->job.result, OK);
	assert_int_equal(ask(f, "SELECT count(*) FROM change_log WHERE dependencies IN ('a', 'b')"), 0);
	assert_int_equal(shared_slot_generation(f->shared, shared_slot("touched:a")), 0);
	assert_int_equal(stored(f, "c"), 1);
	task_free(a);
	task_free(b);
	task_free(c);
}
#endif

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, database_setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_writer_without_database_does_not_start, folder_setup, teardown),
		TEST(a_job_is_stored_logged_and_bumped_before_it_is_done),
		TEST(waiting_jobs_share_one_commit),
		TEST(a_batch_ends_at_64_jobs),
		TEST(a_slow_batch_gives_the_turn_after_15_ms),
		TEST(a_refused_job_leaves_the_others_of_its_batch),
		TEST(a_full_disk_fails_only_what_does_not_fit),
		TEST(a_commit_that_fails_is_done_again_job_by_job),
		TEST(a_locked_database_is_busy_for_all_that_wait),
		TEST(a_full_queue_refuses),
		TEST(stop_finishes_what_is_queued),
		TEST(another_schema_makes_the_writer_stale),
		TEST(a_job_that_hangs_is_seen_as_a_stall),
		TEST(run_is_one_job_on_the_callers_handle),
		TEST(nothing_is_lost_or_doubled_by_many_writers),
#ifdef STELE_TEST
		TEST(a_writer_killed_with_the_turn_stops_nobody),
		TEST(a_death_between_commit_and_bump_is_made_up_for),
		TEST(an_error_before_commit_fails_the_batch),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
