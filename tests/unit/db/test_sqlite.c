/* test_sqlite.c - connections, statements, transactions, savepoints. */
#include "db/fixture.h"
#include "base/clock.h"

#define ZEROS "0000000000000000000000000000000000000000000000000000000000000000"
#define SAY(text) ARGS(TEXT(text), INT(7))

static void
say(struct fixture *f, const char *text)
{
	int64_t seq;

	assert_ok(f->s, db_value(f->s, f->db, &seq, SQL_CHANGE_LOG_INSERT, SAY(text)));
}

static int64_t
said(struct fixture *f)
{
	return ask(f, "SELECT count(*) FROM change_log");
}

static void
open_creates_nothing(void **state)
{
	struct fixture *f = *state;
	struct db *db = NULL;

	assert_int_equal(db_open(f->s, &db, f->path, DB_WRITE), ERR_STORAGE);
	assert_int_equal(db_open(f->s, &db, f->path, DB_READ), ERR_STORAGE);
	assert_null(db);
	assert_int_equal(access(f->path, F_OK), -1);
}

static void
open_refuses_a_file_that_is_no_database(void **state)
{
	struct fixture *f = *state;
	struct db *db = NULL;

	write_file(f->path, "this is a text and not a database, and it is long enough to be read as a header of one, is it not? yes it is.");
	assert_int_equal(db_open(f->s, &db, f->path, DB_WRITE), ERR_STORAGE);
	assert_int_equal(db_open(f->s, &db, f->path, DB_READ), ERR_STORAGE);
}

static void
connections_are_durable_and_strict(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(ask(f, "PRAGMA synchronous"), 2);
	assert_int_equal(ask(f, "PRAGMA foreign_keys"), 1);
	assert_int_equal(ask(f, "PRAGMA wal_autocheckpoint"), 0);
	assert_int_equal(ask(f, "PRAGMA trusted_schema"), 0);
	assert_int_equal(ask(f, "SELECT count(*) FROM pragma_journal_mode WHERE journal_mode = 'wal'"), 1);
	assert_int_equal(db_exec(f->s, f->db, "SELECT \"no such column\""), ERR_INTERNAL);
	assert_int_equal(db_exec(f->s, f->db, "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema"), ERR_INTERNAL);
}

static void
every_statement_can_be_prepared(void **state)
{
	struct fixture *f = *state;
	struct db *reader;

	assert_ok(f->s, db_prepare_all(f->s, f->db));
	assert_ok(f->s, db_open(f->s, &reader, f->path, DB_READ));
	assert_ok(f->s, db_prepare_all(f->s, reader));
	db_close(reader);
}

static void
values_come_back_as_they_went_in(void **state)
{
	struct fixture *f = *state;
	static const char bytes[] = "nul\0inside \xe4\xbd\xa0";
	struct db_rows *rows;
	int64_t seq;

	assert_ok(f->s, db_value(f->s, f->db, &seq, SQL_CHANGE_LOG_INSERT,
	    ARGS(STRV(((struct str){ bytes, sizeof(bytes) - 1 })), INT(INT64_MIN))));
	assert_int_equal(seq, 1);
	assert_int_equal(db_insert_id(f->db), 1);
	assert_ok(f->s, db_value(f->s, f->db, &seq, SQL_CHANGE_LOG_INSERT, ARGS(STRV(((struct str){ "", 0 })), INT(INT64_MAX))));
	assert_int_equal(ask(f, "SELECT created_at = -9223372036854775807 - 1 FROM change_log WHERE seq = 1"), 1);
	assert_int_equal(ask(f, "SELECT created_at FROM change_log WHERE seq = 2"), INT64_MAX);
	assert_ok(f->s, db_query(f->s, f->db, &rows, SQL_CHANGE_LOG_AFTER, ARGS(INT(0), INT(10))));
	assert_true(db_next(rows));
	assert_int_equal(col_int(rows, 0), 1);
	assert_true(col_bool(rows, 0));
	assert_int_equal(col_str(rows, 1).len, sizeof(bytes) - 1);
	assert_memory_equal(col_str(rows, 1).p, bytes, sizeof(bytes) - 1);
	assert_memory_equal(col_text(f->s, rows, 1), bytes, sizeof(bytes));
	assert_true(db_next(rows));
	assert_false(col_null(rows, 1));
	assert_string_equal(col_text(f->s, rows, 1), "");
	assert_false(db_next(rows));
	assert_false(db_next(rows));
	assert_ok(f->s, db_end(f->s, rows));
}

static void
absent_text_binds_null(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(db_run(f->s, f->db, SQL_CHANGE_LOG_INSERT, ARGS(TEXT(NULL), INT(1)), NULL), ERR_CONFLICT);
	assert_int_equal(db_run(f->s, f->db, SQL_CHANGE_LOG_INSERT, ARGS(STRV(((struct str){ NULL, 0 })), INT(1)), NULL), ERR_CONFLICT);
	assert_int_equal(db_run(f->s, f->db, SQL_CHANGE_LOG_INSERT, ARGS(TEXT("x"), ID(0)), NULL), ERR_CONFLICT);
	assert_non_null(strstr(f->s->error->detail, "NOT NULL"));
	assert_ok(f->s, db_run(f->s, f->db, SQL_CHANGE_LOG_INSERT, ARGS(TEXT("x"), ID(5)), NULL));
}

static void
a_wrong_number_of_values_is_refused(void **state)
{
	struct fixture *f = *state;
	struct db_rows *rows;

	assert_int_equal(db_query(f->s, f->db, &rows, SQL_CHANGE_LOG_INSERT, ARGS(INT(1))), ERR_INTERNAL);
	assert_int_equal(db_query(f->s, f->db, &rows, SQL_CHANGE_LOG_INSERT, NO_ARGS), ERR_INTERNAL);
	assert_non_null(strstr(f->s->error->detail, "takes 2 values, not 0"));
	say(f, "the statement is free again");
}

static void
a_statement_may_be_queried_while_it_runs(void **state)
{
	struct fixture *f = *state;
	struct db_rows *outer, *inner;
	int pairs = 0;

	say(f, "a");
	say(f, "b");
	say(f, "c");
	assert_ok(f->s, db_query(f->s, f->db, &outer, SQL_CHANGE_LOG_AFTER, ARGS(INT(0), INT(9))));
	while (db_next(outer)) {
		assert_ok(f->s, db_query(f->s, f->db, &inner, SQL_CHANGE_LOG_AFTER, ARGS(INT(col_int(outer, 0)), INT(9))));
		while (db_next(inner)) {
			assert_true(col_int(inner, 0) > col_int(outer, 0));
			pairs++;
		}
		assert_ok(f->s, db_end(f->s, inner));
	}
	assert_ok(f->s, db_end(f->s, outer));
	assert_int_equal(pairs, 3);
}

static void
run_counts_changes(void **state)
{
	struct fixture *f = *state;
	int64_t changes = -1;

	assert_ok(f->s, db_run(f->s, f->db, SQL_CHANGE_LOG_INSERT, SAY("x"), &changes));
	assert_int_equal(changes, 1);
	assert_ok(f->s, db_run(f->s, f->db, SQL_CHANGE_LOG_AFTER, ARGS(INT(0), INT(9)), &changes));
	assert_int_equal(changes, 0);
}

static void
value_without_row_is_not_found(void **state)
{
	struct fixture *f = *state;
	int64_t n = 77;

	assert_int_equal(db_value(f->s, f->db, &n, SQL_CHANGE_LOG_AFTER, ARGS(INT(5), INT(1))), ERR_NOT_FOUND);
	assert_int_equal(n, 77);
}

static void
unique_violations_are_conflicts_and_counted(void **state)
{
	struct fixture *f = *state;
	struct db_args again = ARGS(INT(1), TEXT("x"), TEXT("y"), INT(0));

	assert_int_equal(db_run(f->s, f->db, SQL_MIGRATION_INSERT, again, NULL), ERR_CONFLICT);
	assert_int_equal(db_take_violations(f->db, METRIC_UNIQUE_OTHER), 0);	/* the CHECK of sha256 comes first */
	again = ARGS(INT(1), TEXT("x"), TEXT(ZEROS), INT(0));
	assert_int_equal(db_run(f->s, f->db, SQL_MIGRATION_INSERT, again, NULL), ERR_CONFLICT);
	assert_int_equal(db_take_violations(f->db, METRIC_UNIQUE_OTHER), 1);
	/* The statement is as good as before. */
	assert_int_equal(db_run(f->s, f->db, SQL_MIGRATION_INSERT, again, NULL), ERR_CONFLICT);
	assert_int_equal(db_take_violations(f->db, METRIC_UNIQUE_OTHER), 1);
}

static void
inserts_that_do_nothing_because_of_a_constraint_are_counted_too(void **state)
{
	struct fixture *f = *state;
	struct db_args user = ARGS(TEXT("ada"), TEXT("admin"), TEXT(NULL), INT(0));
	int64_t changed = 7;

	assert_int_equal(db_run(f->s, f->db, SQL_USER_INSERT, user, &changed), OK);
	assert_int_equal(changed, 1);
	assert_int_equal(db_take_violations(f->db, METRIC_UNIQUE_OTHER), 0);
	assert_int_equal(db_run(f->s, f->db, SQL_USER_INSERT, user, &changed), OK);
	assert_int_equal(changed, 0);
	assert_int_equal(db_take_violations(f->db, METRIC_UNIQUE_OTHER), 1);
	/* A statement that may change no row for another reason is none. */
	assert_int_equal(db_run(f->s, f->db, SQL_RESOURCE_SET_ADDRESS, ARGS(TEXT("x"), TEXT(NULL), INT(99)), &changed), OK);
	assert_int_equal(changed, 0);
	for (enum metric m = 0; m < METRIC_COUNT; m++)
		assert_int_equal(db_take_violations(f->db, m), 0);
}

static void
a_read_transaction_keeps_its_snapshot_from_begin_on(void **state)
{
	struct fixture *f = *state;
	struct db *reader;
	int64_t n;

	assert_ok(f->s, db_open(f->s, &reader, f->path, DB_READ));
	assert_ok(f->s, db_begin(f->s, reader));
	assert_true(db_in_transaction(reader));
	say(f, "after the snapshot, before the first query");
	assert_ok(f->s, db_value(f->s, reader, &n, SQL_CHANGE_LOG_LAST, NO_ARGS));
	assert_int_equal(n, 0);
	assert_ok(f->s, db_commit(f->s, reader));
	assert_ok(f->s, db_value(f->s, reader, &n, SQL_CHANGE_LOG_LAST, NO_ARGS));
	assert_int_equal(n, 1);
	db_close(reader);
}

static void
a_reader_cannot_write(void **state)
{
	struct fixture *f = *state;
	struct db *reader;

	assert_ok(f->s, db_open(f->s, &reader, f->path, DB_READ));
	assert_int_equal(db_run(f->s, reader, SQL_CHANGE_LOG_INSERT, SAY("x"), NULL), ERR_STORAGE);
	db_close(reader);
	assert_int_equal(said(f), 0);
}

static void
rollback_takes_all_back(void **state)
{
	struct fixture *f = *state;

	assert_ok(f->s, db_begin(f->s, f->db));
	say(f, "x");
	db_rollback(f->db);
	assert_false(db_in_transaction(f->db));
	db_rollback(f->db);
	assert_int_equal(said(f), 0);
	assert_ok(f->s, db_begin(f->s, f->db));
	say(f, "y");
	assert_ok(f->s, db_commit(f->s, f->db));
	assert_int_equal(said(f), 1);
}

static void
close_rolls_back(void **state)
{
	struct fixture *f = *state;

	assert_ok(f->s, db_begin(f->s, f->db));
	say(f, "x");
	db_close(f->db);
	assert_ok(f->s, db_open(f->s, &f->db, f->path, DB_WRITE));
	assert_int_equal(said(f), 0);
	db_close(NULL);
}

static void
savepoints_nest(void **state)
{
	struct fixture *f = *state;

	assert_ok(f->s, db_begin(f->s, f->db));
	assert_ok(f->s, db_savepoint(f->s, f->db));
	say(f, "outer");
	assert_ok(f->s, db_savepoint(f->s, f->db));
	say(f, "inner, undone");
	db_undo(f->db);
	assert_ok(f->s, db_savepoint(f->s, f->db));
	say(f, "inner, kept");
	assert_ok(f->s, db_release(f->s, f->db));
	assert_int_equal(said(f), 2);
	assert_int_equal(db_depth(f->db), 1);
	db_undo(f->db);
	assert_int_equal(said(f), 0);
	say(f, "after");
	assert_ok(f->s, db_commit(f->s, f->db));
	assert_int_equal(said(f), 1);
}

static void
a_lost_lock_is_busy(void **state)
{
	struct fixture *f = *state;
	struct db *other;
	int64_t before;

	assert_ok(f->s, db_open(f->s, &other, f->path, DB_WRITE));
	assert_ok(f->s, db_exec(f->s, other, "PRAGMA busy_timeout = 100"));
	assert_ok(f->s, db_begin(f->s, f->db));
	before = clock_monotonic();
	assert_int_equal(db_begin(f->s, other), ERR_BUSY);
	assert_true(clock_monotonic() - before >= 90);
	assert_false(db_in_transaction(other));
	db_rollback(f->db);
	assert_ok(f->s, db_begin(f->s, other));
	db_rollback(other);
	db_close(other);
}

/* SQLite may give up a whole transaction; a statement after that would commit by itself. */
static void
nothing_runs_after_a_full_disk_ended_the_transaction(void **state)
{
	struct fixture *f = *state;
	char *big = scope_alloc(f->s, 3 << 20);
	struct db_rows *rows;

	memset(big, 'x', (3 << 20) - 1);
	assert_ok(f->s, db_begin(f->s, f->db));
	say(f, "first");
	assert_ok(f->s, db_exec(f->s, f->db, "PRAGMA max_page_count = 1"));
	assert_int_equal(db_run(f->s, f->db, SQL_MIGRATION_INSERT, ARGS(INT(99), TEXT(big), TEXT(ZEROS), INT(0)), NULL), ERR_STORAGE);
	assert_false(db_in_transaction(f->db));
	assert_int_equal(db_run(f->s, f->db, SQL_CHANGE_LOG_INSERT, SAY("stray"), NULL), ERR_STORAGE);
	assert_int_equal(db_query(f->s, f->db, &rows, SQL_CHANGE_LOG_LAST, NO_ARGS), ERR_STORAGE);
	assert_int_equal(db_savepoint(f->s, f->db), ERR_STORAGE);
	assert_int_equal(db_commit(f->s, f->db), ERR_STORAGE);
	assert_ok(f->s, db_exec(f->s, f->db, "PRAGMA max_page_count = 1000000"));
	assert_int_equal(said(f), 0);
	say(f, "again");
	assert_int_equal(said(f), 1);
}

static void
too_large_a_value_is_too_large(void **state)
{
	struct fixture *f = *state;
	size_t n = 1100u << 20;
	char *big = malloc(n);

	assert_non_null(big);
	memset(big, 'x', 1);
	assert_int_equal(db_run(f->s, f->db, SQL_CHANGE_LOG_INSERT, ARGS(STRV(((struct str){ big, n })), INT(1)), NULL), ERR_TOO_LARGE);
	free(big);
	say(f, "small");
}

static void
a_read_query_ends_after_its_time(void **state)
{
	struct fixture *f = *state;
	int64_t before, n;
	struct db *reader;
	struct db_rows *rows;

	assert_ok(f->s, db_exec(f->s, f->db, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) "
	    "INSERT INTO change_log (dependencies, created_at) SELECT 'x', i FROM n"));
	assert_ok(f->s, db_open(f->s, &reader, f->path, DB_READ));
	assert_ok(f->s, db_query(f->s, reader, &rows, SQL_CHANGE_LOG_AFTER, ARGS(INT(0), INT(-1))));
	assert_true(db_next(rows));
	before = clock_monotonic();
	sleep(5);
	while (db_next(rows))
		continue;
	assert_int_equal(db_end(f->s, rows), ERR_BUSY);
	assert_true(clock_monotonic() - before < 6000);
	assert_ok(f->s, db_value(f->s, reader, &n, SQL_CHANGE_LOG_LAST, NO_ARGS));
	assert_int_equal(n, 200000);
	db_close(reader);
}

static void
schema_version_of_an_empty_database_is_zero(void **state)
{
	struct fixture *f = *state;
	int64_t version = -1;

	write_file(f->path, "");
	assert_ok(f->s, db_open(f->s, &f->db, f->path, DB_WRITE));
	assert_ok(f->s, db_schema_version(f->s, f->db, &version));
	assert_int_equal(version, 0);
}

static void
checkpoint_waits_for_no_reader(void **state)
{
	struct fixture *f = *state;
	int64_t wal = -1, before;
	struct db *reader;

	say(f, "x");
	assert_ok(f->s, db_open(f->s, &reader, f->path, DB_READ));
	assert_ok(f->s, db_begin(f->s, reader));
	say(f, "y");
	before = clock_monotonic();
	assert_ok(f->s, db_checkpoint(f->s, f->db, true, &wal));
	assert_true(clock_monotonic() - before < 1000);
	assert_true(wal > 0);
	assert_ok(f->s, db_checkpoint(f->s, f->db, false, &wal));
	assert_ok(f->s, db_commit(f->s, reader));
	assert_ok(f->s, db_checkpoint(f->s, f->db, true, &wal));
	assert_int_equal(wal, 0);
	assert_int_equal(ask(f, "PRAGMA busy_timeout"), 5000);
	db_close(reader);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, database_setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(open_creates_nothing, folder_setup, teardown),
		cmocka_unit_test_setup_teardown(open_refuses_a_file_that_is_no_database, folder_setup, teardown),
		cmocka_unit_test_setup_teardown(schema_version_of_an_empty_database_is_zero, folder_setup, teardown),
		TEST(connections_are_durable_and_strict),
		TEST(every_statement_can_be_prepared),
		TEST(values_come_back_as_they_went_in),
		TEST(absent_text_binds_null),
		TEST(a_wrong_number_of_values_is_refused),
		TEST(a_statement_may_be_queried_while_it_runs),
		TEST(run_counts_changes),
		TEST(value_without_row_is_not_found),
		TEST(unique_violations_are_conflicts_and_counted),
		TEST(inserts_that_do_nothing_because_of_a_constraint_are_counted_too),
		TEST(a_read_transaction_keeps_its_snapshot_from_begin_on),
		TEST(a_reader_cannot_write),
		TEST(rollback_takes_all_back),
		TEST(close_rolls_back),
		TEST(savepoints_nest),
		TEST(a_lost_lock_is_busy),
		TEST(nothing_runs_after_a_full_disk_ended_the_transaction),
		TEST(too_large_a_value_is_too_large),
		TEST(a_read_query_ends_after_its_time),
		TEST(checkpoint_waits_for_no_reader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
