/* test_log_file.c - the log is written in few large pieces, and nobody can tell but by counting. */
#include "db/fixture.h"

#define ROWS 300

/* Write system calls of this process so far. */
static int64_t
writes(void)
{
	FILE *file = fopen("/proc/self/io", "re");
	char line[100];
	int64_t n = -1;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file) != NULL)
		if (strncmp(line, "syscw: ", 7) == 0)
			n = strtoll(line + 7, NULL, 10);
	fclose(file);
	assert_true(n >= 0);
	return n;
}

static void
fill(struct fixture *f, int rows)
{
	char name[32];

	assert_ok(f->s, db_exec(f->s, f->db, "CREATE TABLE IF NOT EXISTS big (k TEXT PRIMARY KEY, v TEXT)"));
	assert_ok(f->s, db_begin(f->s, f->db));
	for (int i = 0; i < rows; i++) {
		snprintf(name, sizeof(name), "%d-%d", rows, i);
		assert_ok(f->s, db_exec(f->s, f->db, scope_printf(f->s, "INSERT INTO big VALUES ('%s', hex(randomblob(2500)))", name)));
	}
}

static void
a_commit_of_many_pages_is_few_writes(void **state)
{
	struct fixture *f = *state;
	int64_t before;

	fill(f, ROWS);
	before = writes();
	assert_ok(f->s, db_commit(f->s, f->db));
	/* 300 rows of 5 kB are more than 300 pages, which SQLite by itself writes with 600 calls. */
	assert_in_range(writes() - before, 1, 40);
	assert_true(db_wal_frames(f->db) > 300);
}

static void
other_connections_see_every_commit_whole(void **state)
{
	struct fixture *f = *state;
	struct db *reader;

	assert_ok(f->s, db_open(f->s, &reader, f->path, DB_READ));
	/* Less than the buffer, more than it, and more than SQLite's own cache, which spills. */
	for (int rows = 1; rows <= 3000; rows = rows == 1 ? 100 : rows * 30) {
		int64_t before = 0, now;

		if (rows > 1)
			assert_ok(f->s, db_ask(f->s, reader, &before, "SELECT count(*) FROM big"));
		fill(f, rows);
		if (rows > 1) {
			assert_ok(f->s, db_ask(f->s, reader, &now, "SELECT count(*) FROM big"));
			assert_int_equal(now, before);
		}
		assert_ok(f->s, db_commit(f->s, f->db));
		assert_ok(f->s, db_ask(f->s, reader, &now, "SELECT count(*) FROM big WHERE length(v) = 5000"));
		assert_int_equal(now, before + rows);
	}
	assert_ok(f->s, db_ask(f->s, reader, &(int64_t){ 0 }, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"));
	db_close(reader);
}

static void
what_was_spilled_and_rolled_back_is_gone(void **state)
{
	struct fixture *f = *state;

	fill(f, 1);
	assert_ok(f->s, db_commit(f->s, f->db));
	fill(f, 3000);
	/* Reads back pages that the transaction itself has spilled. */
	assert_int_equal(ask(f, "SELECT count(*) FROM big WHERE length(v) = 5000"), 3001);
	db_rollback(f->db);
	assert_int_equal(ask(f, "SELECT count(*) FROM big"), 1);
	fill(f, 10);
	assert_ok(f->s, db_commit(f->s, f->db));
	assert_int_equal(ask(f, "SELECT count(*) FROM big WHERE length(v) = 5000"), 11);
	assert_int_equal(ask(f, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check = 'ok'"), 1);
}

/* What a kill leaves of the log is what was synced. */
static void
a_committed_row_outlives_the_process(void **state)
{
	struct fixture *f = *state;
	struct db *db;
	int status;
	pid_t child = fork();

	if (child == 0) {
		struct scope *s = scope_new("child");

		if (db_open(s, &db, f->path, DB_WRITE) != OK || db_exec(s, db, "CREATE TABLE big (v TEXT)") != OK || db_begin(s, db) != OK ||
		    db_exec(s, db, "INSERT INTO big VALUES (hex(randomblob(300000)))") != OK || db_commit(s, db) != OK ||
		    db_begin(s, db) != OK || db_exec(s, db, "INSERT INTO big VALUES ('never')") != OK)
			_exit(1);
		kill(getpid(), SIGKILL);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(ask(f, "SELECT count(*) FROM big WHERE length(v) = 600000"), 1);
	assert_int_equal(ask(f, "SELECT count(*) FROM big"), 1);
}

/* The refusal comes from the write that was held back, and the commit must not survive it. */
static void
a_full_disk_fails_the_commit_and_nothing_else(void **state)
{
	struct fixture *f = *state;
	struct rlimit before, small;
	void (*handler)(int);

	fill(f, 1);
	assert_ok(f->s, db_commit(f->s, f->db));
	getrlimit(RLIMIT_FSIZE, &before);
	small = (struct rlimit){ 1 << 20, before.rlim_max };
	handler = signal(SIGXFSZ, SIG_IGN);
	fill(f, ROWS);
	setrlimit(RLIMIT_FSIZE, &small);
	assert_int_equal(db_commit(f->s, f->db), ERR_STORAGE);
	setrlimit(RLIMIT_FSIZE, &before);
	signal(SIGXFSZ, handler);
	f->s->error = NULL;
	assert_int_equal(ask(f, "SELECT count(*) FROM big"), 1);
	fill(f, ROWS);
	assert_ok(f->s, db_commit(f->s, f->db));
	assert_int_equal(ask(f, "SELECT count(*) FROM big WHERE length(v) = 5000"), ROWS + 1);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, database_setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_commit_of_many_pages_is_few_writes),
		TEST(other_connections_see_every_commit_whole),
		TEST(what_was_spilled_and_rolled_back_is_gone),
		TEST(a_committed_row_outlives_the_process),
		TEST(a_full_disk_fails_the_commit_and_nothing_else),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
