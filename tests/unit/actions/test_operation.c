/* test_operation.c - long work: who may write, who takes over, and that operation and record end together. */
#include "actions/writes.h"

#include "actions/operation.h"
#include "store/idempotency.h"

#define KEY "0123456789abcdef"

static struct config config;

static enum status
prepare(struct world *w, struct unit *u, void *arg)
{
	struct operation_new *n = operation_prepare(w->f.s, u, OPERATION_IMPORT_ITEMS);

	n->total = 2;
	return operation_file_store(w->f.s, &config, n, STR("{\"article\":{\"title\":\"A\"},\"key\":\"a\"}\n{\"article\":{\"title\":\"B\"},\"key\":\"b\"}\n"));
}

static struct unit *
begin(struct world *w, const char *content)
{
	struct unit *u = world_unit(w, &w->bob, CREATE, KEY, content);

	config = (struct config){ .data_dir = w->f.dir, .public_origin = BASE, .admin_origin = BASE };
	u->who.scopes = TOKEN_SCOPE_ALL;
	assert_ok(w->f.s, world_run(w, u, prepare, NULL));
	return u;
}

static int	steps_left;	/* pieces that are still done before the worker is to stop */

static bool
stop_after_steps(void)
{
	return steps_left-- <= 0;
}

static bool
work(struct world *w, int steps)
{
	struct operation_worker worker = { .write = w->f.db, .read = w->read, .shared = w->f.shared, .config = &config,
		.stop_was_asked = stop_after_steps };
	bool worked;

	steps_left = steps;
	assert_ok(w->f.s, operation_work(w->f.s, &worker, &worked));
	return worked;
}

static int64_t
articles(struct world *w)
{
	return ask(&w->f, "SELECT count(*) FROM resource WHERE kind = 'article'");
}

static void
the_claim_waits_until_the_work_is_done_and_then_holds_the_report(void **state)
{
	struct world *w = *state;
	struct unit *first = begin(w, "x"), *again = begin(w, "x");

	assert_int_equal(first->answer.status, 202);
	assert_false(first->answer.replayed);
	assert_int_equal(again->answer.status, 202);
	assert_true(again->answer.replayed);
	assert_string_equal(again->answer.location, first->answer.location);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM operation"), 1);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM idempotency_record WHERE status = 'PROCESSING' AND operation_id IS NOT NULL"), 1);
	assert_true(work(w, 10));
	assert_false(work(w, 10));
	assert_int_equal(articles(w), 2);
	again = begin(w, "x");
	assert_int_equal(again->answer.status, 200);
	assert_int_equal(again->answer.original_status, 202);
	assert_non_null(strstr(again->answer.body.p, "\"status\":\"SUCCESS\""));
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM idempotency_record WHERE status = 'SUCCESS' AND response_status = 202"), 1);
}

static void
another_request_with_the_key_is_a_conflict_while_it_runs(void **state)
{
	struct world *w = *state;
	struct unit *u;

	(void)begin(w, "x");
	u = world_unit(w, &w->bob, CREATE, KEY, "y");
	assert_int_equal(world_run(w, u, prepare, NULL), ERR_KEY_CONFLICT);
}

static void
a_stop_gives_the_lease_back_and_the_next_goes_on_at_the_next_item(void **state)
{
	struct world *w = *state;

	(void)begin(w, "x");
	assert_true(work(w, 1));
	assert_int_equal(articles(w), 1);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM operation WHERE lease_until = 0 AND owner_token IS NULL AND attempts = 1 AND done = 1"), 1);
	assert_true(work(w, 10));
	assert_int_equal(articles(w), 2);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM operation WHERE state = 'SUCCESS' AND attempts = 1"), 1);
}

static void
nobody_takes_what_is_held_and_one_takes_what_was_let_go(void **state)
{
	struct world *w = *state;
	struct scope *s = w->f.s;
	struct operation o, stale;
	bool moved;

	(void)begin(w, "x");
	assert_ok(s, store_operation_next(s, w->f.db, &o, &moved, s->now));
	assert_true(moved);
	assert_ok(s, store_operation_take(s, w->f.db, &o, "one", s->now, s->now + 1000, 5, &moved));
	assert_true(moved);
	assert_ok(s, store_operation_take(s, w->f.db, &o, "two", s->now, s->now + 1000, 5, &moved));
	assert_false(moved);
	assert_ok(s, store_operation_load(s, w->f.db, &stale, o.id));
	/* The lease runs out: a takeover, once. */
	assert_ok(s, store_operation_take(s, w->f.db, &stale, "two", s->now + 1000, s->now + 2000, 5, &moved));
	assert_true(moved);
	assert_ok(s, store_operation_take(s, w->f.db, &stale, "three", s->now + 1000, s->now + 2000, 5, &moved));
	assert_false(moved);
	assert_ok(s, store_operation_load(s, w->f.db, &o, o.id));
	assert_int_equal(o.generation, 2);
	assert_int_equal(o.attempts, 2);
	assert_string_equal(o.owner, "two");
	/* The first wakes. */
	stale.done = 2;
	assert_ok(s, store_operation_move(s, w->f.db, &stale, stale.owner, s->now + 9000, s->now, &moved));
	assert_false(moved);
	stale.state = OPERATION_SUCCESS;
	assert_ok(s, store_operation_finish(s, w->f.db, &stale, s->now, &moved));
	assert_false(moved);
	/* The same generation under another owner is no better. */
	stale.generation = 2;
	assert_ok(s, store_operation_move(s, w->f.db, &stale, stale.owner, s->now + 9000, s->now, &moved));
	assert_false(moved);
}

static void
a_late_write_takes_its_rows_along(void **state)
{
	struct world *w = *state;
	struct scope *s = w->f.s;
	struct operation_run run = { .write = w->f.db, .read = w->read, .shared = w->f.shared, .config = &config, .site = &w->site, .scope = s };
	bool moved;

	(void)begin(w, "x");
	run.who = w->bob;
	assert_ok(s, store_operation_next(s, w->f.db, &run.op, &moved, s->now));
	assert_ok(s, store_operation_take(s, w->f.db, &run.op, "one", s->now, s->now + 1000, 5, &moved));
	run.op.owner = "one";
	run.file = operation_file_path(s, &config, run.op.id);
	assert_ok(s, import_items_step(s, &run));
	assert_int_equal(articles(w), 1);
	assert_ok(s, db_exec(s, w->f.db, "UPDATE operation SET generation = generation + 1"));
	assert_int_equal(import_items_step(s, &run), ERR_STATE_CONFLICT);
	assert_true(run.is_over);
	assert_int_equal(articles(w), 1);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM operation_entry"), 1);
	assert_int_equal(ask(&w->f, "SELECT done FROM operation"), 1);
}

static void
the_sixth_lapse_gives_up_and_the_same_request_begins_anew(void **state)
{
	struct world *w = *state;
	struct unit *u;

	(void)begin(w, "x");
	assert_ok(w->f.s, db_exec(w->f.s, w->f.db, "UPDATE operation SET owner_token = 'gone', lease_until = 1, attempts = 6"));
	assert_true(work(w, 10));
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM operation WHERE state = 'FAILED' AND retryable = 1"), 1);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM idempotency_record WHERE status = 'FAILED' AND retryable = 1"), 1);
	assert_int_equal(metric_get(w->f.shared, METRIC_PROCESSING_TIMEOUT), 1);
	assert_false(work(w, 10));
	u = begin(w, "x");
	assert_int_equal(u->answer.status, 202);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM operation WHERE state = 'PROCESSING' AND attempts = 1"), 1);
	assert_true(work(w, 10));
	assert_int_equal(articles(w), 2);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM idempotency_record WHERE status = 'SUCCESS' AND operation_id IS NOT NULL"), 1);
}

static void
what_cannot_be_read_is_tried_again_later_and_told_as_ours(void **state)
{
	struct world *w = *state;
	struct operation o;
	bool found;

	(void)begin(w, "x");
	assert_ok(w->f.s, store_operation_next(w->f.s, w->f.db, &o, &found, w->f.s->now));
	assert_int_equal(unlink(operation_file_path(w->f.s, &config, o.id)), 0);
	assert_true(work(w, 10));
	assert_ok(w->f.s, store_operation_load(w->f.s, w->f.db, &o, o.id));
	assert_int_equal(o.state, OPERATION_PROCESSING);
	assert_null(o.owner);
	assert_true(o.lease_until > w->f.s->now);
	assert_ok(w->f.s, db_exec(w->f.s, w->f.db, "UPDATE operation SET lease_until = 1, attempts = 5"));
	assert_true(work(w, 10));
	assert_ok(w->f.s, store_operation_load(w->f.s, w->f.db, &o, o.id));
	assert_int_equal(o.state, OPERATION_FAILED);
	assert_true(o.retryable);
	assert_non_null(strstr(o.error, "\"code\":\"internal\""));
	assert_null(strstr(o.error, "item 1"));
}

/* The last write does not commit: the work is not over, and what it is made from is still there. */
static void
an_end_that_was_not_stored_is_no_end(void **state)
{
#ifdef STELE_TEST
	struct world *w = *state;
	struct operation o;
	bool found;

	(void)begin(w, "x");
	assert_ok(w->f.s, store_operation_next(w->f.s, w->f.db, &o, &found, w->f.s->now));
	setenv("STELE_FAULT", "pre_commit:error:3", 1);		/* the taking, the first item, the second */
	assert_true(work(w, 10));
	unsetenv("STELE_FAULT");
	assert_int_equal(access(operation_file_path(w->f.s, &config, o.id), F_OK), 0);
	assert_int_equal(articles(w), 1);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM operation WHERE state = 'PROCESSING' AND done = 1 AND owner_token IS NULL"), 1);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM idempotency_record WHERE status = 'PROCESSING'"), 1);
	assert_ok(w->f.s, db_exec(w->f.s, w->f.db, "UPDATE operation SET lease_until = 1"));
	assert_true(work(w, 10));
	assert_int_equal(articles(w), 2);
	assert_int_equal(access(operation_file_path(w->f.s, &config, o.id), F_OK), -1);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM operation WHERE state = 'SUCCESS' AND done = 2"), 1);
#else
	skip();
#endif
}

#define T(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(the_claim_waits_until_the_work_is_done_and_then_holds_the_report), T(another_request_with_the_key_is_a_conflict_while_it_runs),
		T(a_stop_gives_the_lease_back_and_the_next_goes_on_at_the_next_item), T(nobody_takes_what_is_held_and_one_takes_what_was_let_go),
		T(a_late_write_takes_its_rows_along), T(the_sixth_lapse_gives_up_and_the_same_request_begins_anew),
		T(what_cannot_be_read_is_tried_again_later_and_told_as_ours), T(an_end_that_was_not_stored_is_no_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
