#include "actions/writes.h"

#define KEY "0123456789abcdef"
#define P1 "{\"title\":\"T1\"}"
#define P2 "{\"title\":\"T2\"}"

static void
replay_gives_the_same_bytes(void **state)
{
	struct world *w = *state;
	struct unit *first, *again;

	assert_ok(w->f.s, world_create(w, &w->alice, KIND_ARTICLE, P1, KEY, &first));
	assert_int_equal(first->answer.status, 201);
	assert_false(first->answer.replayed);
	assert_ok(w->f.s, world_create(w, &w->alice, KIND_ARTICLE, P1, KEY, &again));
	assert_int_equal(again->answer.status, 200);
	assert_true(again->answer.replayed);
	assert_int_equal(again->answer.original_status, 201);
	assert_int_equal(again->answer.body.len, first->answer.body.len);
	assert_memory_equal(again->answer.body.p, first->answer.body.p, first->answer.body.len);
	assert_string_equal(again->answer.location, first->answer.location);
	assert_string_equal(again->answer.etag, "\"1\"");
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM resource WHERE kind = 'article'"), 1);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM outbox"), 1);
}

static void
writer_decides_when_both_readers_found_nothing(void **state)
{
	struct world *w = *state;
	struct scope *s = w->f.s;
	struct creation c = { KIND_ARTICLE, json_loads(P1, 0, NULL) };
	struct unit *units[3];
	size_t i;

	for (i = 0; i < 3; i++) {
		units[i] = world_unit(w, &w->alice, CREATE, KEY, i == 2 ? P2 : P1);
		assert_ok(s, db_begin(s, w->read));
		assert_ok(s, world_prepare_creation(w, units[i], &c));
		db_rollback(w->read);
	}
	assert_ok(s, writer_run(s, w->f.db, w->f.shared, unit_apply, units[0]));
	assert_ok(s, writer_run(s, w->f.db, w->f.shared, unit_apply, units[1]));
	assert_true(units[1]->answer.replayed);
	assert_int_equal(writer_run(s, w->f.db, w->f.shared, unit_apply, units[2]), ERR_KEY_CONFLICT);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM resource WHERE kind = 'article'"), 1);
	json_decref(c.body);
}

static void
other_request_with_the_key_is_a_conflict(void **state)
{
	struct world *w = *state;
	struct unit *u;

	assert_ok(w->f.s, world_create(w, &w->alice, KIND_ARTICLE, P1, KEY, &u));
	assert_int_equal(world_create(w, &w->alice, KIND_ARTICLE, P2, KEY, &u), ERR_KEY_CONFLICT);
	assert_ok(w->f.s, world_create(w, &w->alice, KIND_ARTICLE, P1, KEY, &u));
	assert_true(u->answer.replayed);
}

static void
keys_of_two_users_do_not_meet(void **state)
{
	struct world *w = *state;
	struct unit *a, *b;

	assert_ok(w->f.s, world_create(w, &w->alice, KIND_ARTICLE, P1, KEY, &a));
	assert_ok(w->f.s, world_create(w, &w->bob, KIND_ARTICLE, P2, KEY, &b));
	assert_int_equal(b->answer.status, 201);
	assert_null(strstr(b->answer.body.p, "alice"));
}

static void
refusal_is_replayed_and_never_becomes_success(void **state)
{
	struct world *w = *state;
	struct unit *first, *again;

	json_decref(world_made(w, &w->alice, KIND_ARTICLE, "{\"title\":\"a\",\"slug\":\"s\"}", 201));
	assert_ok(w->f.s, world_create(w, &w->alice, KIND_ARTICLE, "{\"title\":\"b\",\"slug\":\"s\"}", KEY, &first));
	assert_int_equal(first->answer.status, 409);
	assert_false(first->answer.replayed);
	assert_ok(w->f.s, world_create(w, &w->alice, KIND_ARTICLE, "{\"title\":\"b\",\"slug\":\"s\"}", KEY, &again));
	assert_int_equal(again->answer.status, 409);
	assert_true(again->answer.replayed && again->answer.is_problem);
	assert_int_equal(again->answer.body.len, first->answer.body.len);
	assert_memory_equal(again->answer.body.p, first->answer.body.p, first->answer.body.len);
	assert_int_equal(world_create(w, &w->alice, KIND_ARTICLE, "{\"title\":\"b\",\"slug\":\"t\"}", KEY, &again), ERR_KEY_CONFLICT);
}

static void
expired_record_counts_as_absent(void **state)
{
	struct world *w = *state;
	struct unit *u;

	assert_ok(w->f.s, world_create(w, &w->alice, KIND_ARTICLE, P1, KEY, &u));
	assert_ok(w->f.s, db_exec(w->f.s, w->f.db, "UPDATE idempotency_record SET expired_at = 1, replay_count = 7"));
	assert_ok(w->f.s, world_create(w, &w->alice, KIND_ARTICLE, P2, KEY, &u));
	assert_int_equal(u->answer.status, 201);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM idempotency_record"), 1);
	assert_int_equal(ask(&w->f, "SELECT replay_count = 0 AND expired_at > 1 AND status = 'SUCCESS' FROM idempotency_record"), 1);
}

static void
retention_follows_the_rule(void **state)
{
	struct world *w = *state;
	json_t *a = world_made(w, &w->alice, KIND_ARTICLE, P1, 201);

	json_decref(world_moved(w, &w->alice, KIND_ARTICLE, text_at(a, "id"), MOVE_PUBLISH));
	assert_int_equal(ask(&w->f, "SELECT (expired_at - created_at) / 86400000 FROM idempotency_record WHERE route = '/api/v1/articles'"), 7);
	assert_int_equal(ask(&w->f, "SELECT (expired_at - created_at) / 86400000 FROM idempotency_record WHERE route <> '/api/v1/articles'"), 30);
	json_decref(a);
}

static void
right_that_was_lost_is_lost_for_the_replay(void **state)
{
	struct world *w = *state;
	struct principal demoted = w->alice;
	struct unit *u;

	assert_ok(w->f.s, world_create(w, &w->alice, KIND_ARTICLE, P1, KEY, &u));
	demoted.role = ROLE_VIEWER;
	assert_int_equal(world_create(w, &demoted, KIND_ARTICLE, P1, KEY, &u), ERR_DENIED);
	assert_int_equal(u->answer.status, 0);
}

/* What an action may meet: a plain failure, a refusal, a constraint. */
static enum status next_failure;

static enum status
failing_apply(struct scope *s, struct db *db, struct unit *u)
{
	assert_ok(s, db_run(s, db, SQL_SETTING_PUT, ARGS(TEXT("title"), TEXT("half done"), INT(s->now)), NULL));
	return fail(s, next_failure, NULL, "as the test says");
}

static enum status
prepare_failure(struct world *w, struct unit *u, void *arg)
{
	u->apply = failing_apply;
	return OK;
}

static void
only_a_refusal_is_kept(void **state)
{
	static const struct { enum status status; int kept; } cases[] = {
		{ ERR_INTERNAL, 0 }, { ERR_BUSY, 0 }, { ERR_STORAGE, 0 }, { ERR_VERSION, 0 }, { ERR_GONE, 0 }, { ERR_INVALID, 0 }, { ERR_CONFLICT, 0 },
		{ ERR_DENIED, 0 }, { ERR_STATE_CONFLICT, 1 }, { ERR_SLUG_CONFLICT, 1 }, { ERR_PATH_CONFLICT, 1 }, { ERR_REF_CONFLICT, 1 },
	};
	struct world *w = *state;
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		struct unit *u = world_unit(w, &w->alice, CREATE, NULL, "x");
		int64_t before = ask(&w->f, "SELECT count(*) FROM idempotency_record");

		next_failure = cases[i].status;
		assert_int_equal(world_run(w, u, prepare_failure, NULL), cases[i].kept ? OK : cases[i].status);
		assert_int_equal(ask(&w->f, "SELECT count(*) FROM idempotency_record") - before, cases[i].kept);
		assert_int_equal(ask(&w->f, "SELECT count(*) FROM setting"), 0);
	}
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM idempotency_record WHERE status = 'PROCESSING'"), 0);
}

static void
without_a_key_nothing_is_kept(void **state)
{
	struct world *w = *state;
	struct unit *u = world_unit(w, &w->alice, CREATE, NULL, "x");

	u->key = NULL;
	next_failure = ERR_STATE_CONFLICT;
	assert_int_equal(world_run(w, u, prepare_failure, NULL), ERR_STATE_CONFLICT);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM idempotency_record"), 0);
}

static int told_replays, told_conflicts;

static void
count_told(const struct unit *u, enum status status)
{
	*(status == OK ? &told_replays : &told_conflicts) += 1;
	if (status == OK)
		unit_count_replay(u);
	else
		unit_count_conflict(u);
}

static void
replays_and_conflicts_are_counted_in_batches(void **state)
{
	struct world *w = *state;
	struct scope *s = w->f.s;
	struct unit *u;
	bool found;
	int i;

	assert_ok(s, world_create(w, &w->alice, KIND_ARTICLE, P1, KEY, &u));
	told_replays = told_conflicts = 0;
	for (i = 0; i < 12; i++) {
		u = world_unit(w, &w->alice, CREATE, KEY, i < 10 ? P1 : P2);
		u->settled = count_told;
		assert_int_equal(unit_find(s, w->read, u, &found), i < 10 ? OK : ERR_KEY_CONFLICT);
	}
	assert_int_equal(told_replays, 10);
	assert_int_equal(told_conflicts, 2);
	assert_true(unit_counts_pending());
	assert_int_equal(ask(&w->f, "SELECT replay_count FROM idempotency_record"), 0);
	assert_ok(s, writer_run(s, w->f.db, w->f.shared, unit_counts_flush, NULL));
	assert_false(unit_counts_pending());
	assert_int_equal(ask(&w->f, "SELECT replay_count * 100 + conflict_count FROM idempotency_record"), 1002);
}

static void
more_keys_than_slots_do_no_harm(void **state)
{
	struct world *w = *state;
	int i;

	for (i = 0; i < 3000; i++)
		unit_count_replay(&(struct unit){ .rule = CREATE, .who = w->alice, .key = scope_printf(w->f.s, "some-long-key-%05d", i), .request_id = "r" });
	assert_ok(w->f.s, writer_run(w->f.s, w->f.db, w->f.shared, unit_counts_flush, NULL));
	assert_false(unit_counts_pending());
}

static void
purge_takes_what_expired_and_nothing_else(void **state)
{
	struct world *w = *state;
	struct scope *s = w->f.s;
	int64_t removed = 0;
	int i;

	for (i = 0; i < 10; i++)
		json_decref(world_made(w, &w->alice, KIND_ARTICLE, P1, 201));
	assert_ok(s, db_exec(s, w->f.db, "UPDATE idempotency_record SET expired_at = 1 WHERE rowid <= 6;"
	    "UPDATE idempotency_record SET status = 'PROCESSING' WHERE rowid = 1"));
	assert_ok(s, unit_purge(s, w->f.db, 3, &removed));
	assert_int_equal(removed, 3);
	assert_ok(s, unit_purge(s, w->f.db, 100, &removed));
	assert_int_equal(removed, 2);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM idempotency_record"), 5);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM idempotency_record WHERE status = 'PROCESSING'"), 1);
}

static void
purge_stops_when_a_guard_is_missing(void **state)
{
	static const char *const guards[] = { "resource_client_ref", "path_one_canonical", "path_fold_canonical", "idempotency_scope", "outbox_once" };
	struct world *w = *state;
	struct scope *s = w->f.s;
	int64_t removed;
	size_t i;

	json_decref(world_made(w, &w->alice, KIND_ARTICLE, P1, 201));
	assert_ok(s, db_exec(s, w->f.db, "UPDATE idempotency_record SET expired_at = 1"));
	for (i = 0; i < COUNT(guards); i++) {
		assert_ok(s, db_begin(s, w->f.db));
		assert_ok(s, db_exec(s, w->f.db, scope_printf(s, "DROP INDEX %s", guards[i])));
		assert_int_equal(unit_purge(s, w->f.db, 10, &removed), ERR_INTERNAL);
		db_rollback(w->f.db);
	}
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM idempotency_record"), 1);
}

static void
failure_around_the_claim_leaves_no_key(void **state)
{
#ifdef STELE_TEST
	static const char *const faults[] = { "pre_claim:error", "post_claim:error", "pre_commit:error" };
	struct world *w = *state;
	struct unit *u;
	size_t i;

	for (i = 0; i < COUNT(faults); i++) {
		setenv("STELE_FAULT", faults[i], 1);
		assert_int_not_equal(world_create(w, &w->alice, KIND_ARTICLE, P1, KEY, &u), OK);
		unsetenv("STELE_FAULT");
		assert_int_equal(ask(&w->f, "SELECT count(*) FROM idempotency_record"), 0);
		assert_int_equal(ask(&w->f, "SELECT count(*) FROM resource"), 0);
	}
	assert_ok(w->f.s, world_create(w, &w->alice, KIND_ARTICLE, P1, KEY, &u));
	assert_int_equal(u->answer.status, 201);
#else
	skip();
#endif
}

#define T(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(replay_gives_the_same_bytes), T(writer_decides_when_both_readers_found_nothing), T(other_request_with_the_key_is_a_conflict),
		T(keys_of_two_users_do_not_meet), T(refusal_is_replayed_and_never_becomes_success), T(expired_record_counts_as_absent),
		T(retention_follows_the_rule), T(right_that_was_lost_is_lost_for_the_replay), T(only_a_refusal_is_kept),
		T(without_a_key_nothing_is_kept), T(replays_and_conflicts_are_counted_in_batches), T(more_keys_than_slots_do_no_harm),
		T(purge_takes_what_expired_and_nothing_else), T(purge_stops_when_a_guard_is_missing), T(failure_around_the_claim_leaves_no_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
