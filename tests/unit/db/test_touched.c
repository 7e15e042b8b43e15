/* test_touched.c - dependency names on their way to change_log and the shared page. */
#include "db/fixture.h"

static int64_t
rows(struct fixture *f)
{
	return ask(f, "SELECT count(*) FROM change_log");
}

static const char *
logged(struct fixture *f, int64_t after)
{
	struct db_rows *r;
	const char *text = NULL;

	assert_ok(f->s, db_query(f->s, f->db, &r, SQL_CHANGE_LOG_AFTER, ARGS(INT(after), INT(1))));
	if (db_next(r))
		text = col_text(f->s, r, 1);
	assert_ok(f->s, db_end(f->s, r));
	return text;
}

static bool
newer(struct fixture *f, const char *name, uint64_t generation)
{
	return shared_slot_generation(f->shared, shared_slot(name)) > generation;
}

static void
begin(struct fixture *f)
{
	assert_ok(f->s, db_begin(f->s, f->db));
}

static void
save_and_commit(struct fixture *f)
{
	assert_ok(f->s, db_touched_save(f->s, f->db));
	assert_ok(f->s, db_commit(f->s, f->db));
}

static void
names_are_logged_once_and_bumped_after_the_commit(void **state)
{
	struct fixture *f = *state;
	uint64_t before = shared_generation(f->shared);

	begin(f);
	db_touch(f->db, "resource:%d", 42);
	db_touch(f->db, "list:article");
	db_touch(f->db, "resource:42");
	save_and_commit(f);
	assert_string_equal(logged(f, 0), "resource:42\nlist:article");
	assert_int_equal(shared_generation(f->shared), before);
	db_touched_bump(f->db, f->shared);
	assert_true(newer(f, "resource:42", before));
	assert_true(newer(f, "list:article", before));
	assert_false(newer(f, "resource:43", before));
	assert_int_equal(shared_generation(f->shared), before + 2);
	db_touched_bump(f->db, f->shared);
	assert_int_equal(shared_generation(f->shared), before + 2);
}

static void
a_transaction_that_touched_nothing_logs_nothing(void **state)
{
	struct fixture *f = *state;

	begin(f);
	save_and_commit(f);
	db_touched_bump(f->db, f->shared);
	assert_int_equal(rows(f), 0);
}

static void
undo_drops_names(void **state)
{
	struct fixture *f = *state;
	uint64_t before = shared_generation(f->shared);

	begin(f);
	db_touch(f->db, "kept:1");
	assert_ok(f->s, db_savepoint(f->s, f->db));
	db_touch(f->db, "dropped:1");
	assert_ok(f->s, db_touched_save(f->s, f->db));
	db_undo(f->db);
	assert_ok(f->s, db_savepoint(f->s, f->db));
	db_touch(f->db, "kept:2");
	assert_ok(f->s, db_release(f->s, f->db));
	save_and_commit(f);
	db_touched_bump(f->db, f->shared);
	assert_int_equal(rows(f), 1);
	assert_string_equal(logged(f, 0), "kept:1\nkept:2");
	assert_true(newer(f, "kept:1", before) && newer(f, "kept:2", before));
	assert_false(newer(f, "dropped:1", before));
}

static void
rollback_drops_names(void **state)
{
	struct fixture *f = *state;

	begin(f);
	db_touch(f->db, "dropped");
	db_rollback(f->db);
	begin(f);
	save_and_commit(f);
	assert_int_equal(rows(f), 0);
	assert_int_equal(shared_generation(f->shared), 1);
}

static void
names_that_cannot_be_kept_mean_everything(void **state)
{
	struct fixture *f = *state;
	uint64_t before = shared_generation(f->shared);
	char name[200];

	memset(name, 'x', sizeof(name));
	name[100] = '\0';
	begin(f);
	db_touch(f->db, "%s", name);
	save_and_commit(f);
	assert_string_equal(logged(f, 0), name);
	db_touched_bump(f->db, f->shared);
	assert_false(newer(f, "other", before));
	name[100] = 'x';
	name[101] = '\0';
	begin(f);
	db_touch(f->db, "%s", name);
	db_touch(f->db, "two\nlines");
	db_touch(f->db, "%s", "");
	save_and_commit(f);
	assert_string_equal(logged(f, 1), "*");
	db_touched_bump(f->db, f->shared);
	assert_true(newer(f, "other", before));
}

static void
too_many_names_mean_everything(void **state)
{
	struct fixture *f = *state;
	uint64_t before = shared_generation(f->shared);
	const char *text;
	int i;

	begin(f);
	for (i = 0; i < 5000; i++)
		db_touch(f->db, "resource:%d", i);
	save_and_commit(f);
	text = logged(f, 0);
	assert_string_equal(text + strlen(text) - 14, "resource:510\n*");
	db_touched_bump(f->db, f->shared);
	assert_true(newer(f, "resource:4999", before));
	assert_true(newer(f, "other", before));
}

/* The writer died after COMMIT: nobody bumped. */
static void
changes_nobody_bumped_are_found(void **state)
{
	struct fixture *f = *state;
	uint64_t before;

	begin(f);
	db_touch(f->db, "first");
	save_and_commit(f);
	db_touched_bump(f->db, f->shared);
	assert_ok(f->s, db_changes_apply(f->s, f->db, f->shared));
	assert_int_equal(shared_changes_seen(f->shared), 1);
	begin(f);
	db_touch(f->db, "lost:1");
	db_touch(f->db, "lost:2");
	save_and_commit(f);
	before = shared_generation(f->shared);
	begin(f);
	db_touch(f->db, "third");
	save_and_commit(f);
	db_touched_bump(f->db, f->shared);
	assert_int_equal(shared_changes_seen(f->shared), 1);	/* a bump does not skip what lies before it */
	assert_false(newer(f, "lost:1", before));
	assert_ok(f->s, db_changes_apply(f->s, f->db, f->shared));
	assert_true(newer(f, "lost:1", before) && newer(f, "lost:2", before));
	assert_false(newer(f, "other", before));
	assert_int_equal(shared_changes_seen(f->shared), 3);
	before = shared_generation(f->shared);
	assert_ok(f->s, db_changes_apply(f->s, f->db, f->shared));
	assert_int_equal(shared_generation(f->shared), before);
}

static void
many_changes_are_applied_in_one_call(void **state)
{
	struct fixture *f = *state;
	uint64_t before;

	begin(f);
	db_touch(f->db, "first");
	save_and_commit(f);
	db_touched_bump(f->db, f->shared);
	assert_ok(f->s, db_exec(f->s, f->db, "WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 1700) "
	    "INSERT INTO change_log (dependencies, created_at) SELECT 'resource:' || i, i FROM n"));
	before = shared_generation(f->shared);
	assert_ok(f->s, db_changes_apply(f->s, f->db, f->shared));
	assert_int_equal(shared_changes_seen(f->shared), 1700);
	assert_true(newer(f, "resource:2", before) && newer(f, "resource:1700", before));
	assert_int_equal(shared_generation(f->shared), before + 1699);
}

static void
a_gap_in_the_log_means_everything(void **state)
{
	struct fixture *f = *state;
	uint64_t before;

	assert_true(shared_changes_advance(f->shared, 0, 5));
	assert_ok(f->s, db_exec(f->s, f->db, "INSERT INTO change_log VALUES (9, 'nine', 0)"));
	before = shared_generation(f->shared);
	assert_ok(f->s, db_changes_apply(f->s, f->db, f->shared));
	assert_true(newer(f, "other", before));
	assert_int_equal(shared_changes_seen(f->shared), 9);
}

static void
a_new_page_begins_at_the_end_of_the_log(void **state)
{
	struct fixture *f = *state;
	uint64_t before = shared_generation(f->shared);

	assert_ok(f->s, db_changes_apply(f->s, f->db, f->shared));
	assert_int_equal(shared_generation(f->shared), before);
	assert_ok(f->s, db_exec(f->s, f->db, "INSERT INTO change_log VALUES (9, 'nine', 0)"));
	assert_ok(f->s, db_changes_apply(f->s, f->db, f->shared));
	assert_int_equal(shared_changes_seen(f->shared), 9);
	assert_true(newer(f, "other", before));
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, database_setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(names_are_logged_once_and_bumped_after_the_commit),
		TEST(a_transaction_that_touched_nothing_logs_nothing),
		TEST(undo_drops_names),
		TEST(rollback_drops_names),
		TEST(names_that_cannot_be_kept_mean_everything),
		TEST(too_many_names_mean_everything),
		TEST(changes_nobody_bumped_are_found),
		TEST(many_changes_are_applied_in_one_call),
		TEST(a_gap_in_the_log_means_everything),
		TEST(a_new_page_begins_at_the_end_of_the_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
