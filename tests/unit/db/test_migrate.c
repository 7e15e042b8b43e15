/* test_migrate.c - numbered files become a schema, once, whole, in order. */
#include "db/fixture.h"
#include "base/hash.h"

#define FIRST                                                                                              \
	"CREATE TABLE schema_migration (version INTEGER PRIMARY KEY, name TEXT NOT NULL, sha256 TEXT NOT NULL, applied_at INTEGER NOT NULL);\n" \
	"CREATE TABLE a (id INTEGER PRIMARY KEY);\n"

static char *
file(struct fixture *f, const char *name)
{
	return scope_printf(f->s, "%s/%s", f->dir, name);
}

static enum status
run(struct fixture *f, bool served, struct migration_report *report)
{
	return migrate(f->s, f->path, f->dir, served, report);
}

static int64_t
count(struct fixture *f, const char *sql)
{
	int64_t n;

	db_close(f->db);
	f->db = NULL;
	assert_ok(f->s, db_open(f->s, &f->db, f->path, DB_WRITE));
	n = ask(f, sql);
	db_close(f->db);
	f->db = NULL;
	return n;
}

static void
files_are_applied_in_order_and_once(void **state)
{
	struct fixture *f = *state;
	struct migration_report report;
	char sha256[SHA256_HEX];
	int64_t newest;

	write_file(file(f, "0002_b.sql"), "ALTER TABLE a ADD COLUMN b TEXT;");
	write_file(file(f, "0001_a.sql"), FIRST);
	write_file(file(f, "README"), "not a migration");
	assert_ok(f->s, migrate_newest(f->s, f->dir, &newest));
	assert_int_equal(newest, 2);
	assert_ok(f->s, run(f, false, &report));
	assert_int_equal(report.from, 0);
	assert_int_equal(report.to, 2);
	assert_int_equal(report.applied, 2);
	sha256_hex_of(str_of(FIRST), sha256);
	assert_int_equal(count(f, scope_printf(f->s, "SELECT count(*) FROM schema_migration WHERE version = 1 AND name = '0001_a.sql' "
	    "AND sha256 = '%s' AND applied_at > 1600000000000", sha256)), 1);
	assert_ok(f->s, run(f, false, &report));
	assert_int_equal(report.from, 2);
	assert_int_equal(report.to, 2);
	assert_int_equal(report.applied, 0);
	write_file(file(f, "0003_c.sql"), "CREATE TABLE c (id INTEGER PRIMARY KEY);");
	assert_ok(f->s, run(f, false, &report));
	assert_int_equal(report.from, 2);
	assert_int_equal(report.applied, 1);
	assert_int_equal(count(f, "SELECT max(version) FROM schema_migration"), 3);
}

static void
the_database_is_made_for_its_owner_alone(void **state)
{
	struct fixture *f = *state;
	struct migration_report report;
	struct stat st;

	write_file(file(f, "0001_a.sql"), FIRST);
	umask(0);
	assert_ok(f->s, run(f, false, &report));
	umask(022);
	assert_int_equal(stat(f->path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
}

static void
a_changed_file_is_refused(void **state)
{
	struct fixture *f = *state;
	struct migration_report report;

	write_file(file(f, "0001_a.sql"), FIRST);
	assert_ok(f->s, run(f, false, &report));
	write_file(file(f, "0001_a.sql"), FIRST " ");
	write_file(file(f, "0002_b.sql"), "CREATE TABLE b (id INTEGER PRIMARY KEY);");
	assert_int_equal(run(f, false, &report), ERR_CONFLICT);
	assert_int_equal(count(f, "SELECT max(version) FROM schema_migration"), 1);
	write_file(file(f, "0001_a.sql"), FIRST);
	assert_int_equal(rename(file(f, "0001_a.sql"), file(f, "0001_renamed.sql")), 0);
	assert_int_equal(run(f, false, &report), ERR_CONFLICT);
}

static void
a_gap_or_a_double_number_is_refused(void **state)
{
	struct fixture *f = *state;
	struct migration_report report;
	int64_t newest;

	write_file(file(f, "0001_a.sql"), FIRST);
	write_file(file(f, "0003_c.sql"), "CREATE TABLE c (id INTEGER PRIMARY KEY);");
	assert_int_equal(run(f, false, &report), ERR_CONFLICT);
	assert_int_equal(migrate_newest(f->s, f->dir, &newest), ERR_CONFLICT);
	assert_int_equal(access(f->path, F_OK), -1);
	write_file(file(f, "0002_b.sql"), "CREATE TABLE b (id INTEGER PRIMARY KEY);");
	write_file(file(f, "0002_bb.sql"), "CREATE TABLE bb (id INTEGER PRIMARY KEY);");
	assert_int_equal(run(f, false, &report), ERR_CONFLICT);
}

static void
a_hole_in_the_database_is_refused(void **state)
{
	struct fixture *f = *state;
	struct migration_report report;

	write_file(file(f, "0001_a.sql"), FIRST);
	write_file(file(f, "0002_b.sql"), "CREATE TABLE b (id INTEGER PRIMARY KEY);");
	assert_ok(f->s, run(f, false, &report));
	count(f, "DELETE FROM schema_migration WHERE version = 1 RETURNING version");
	assert_int_equal(run(f, false, &report), ERR_CONFLICT);
}

static void
a_newer_database_is_refused(void **state)
{
	struct fixture *f = *state;
	struct migration_report report;

	write_file(file(f, "0001_a.sql"), FIRST);
	write_file(file(f, "0002_b.sql"), "CREATE TABLE b (id INTEGER PRIMARY KEY);");
	assert_ok(f->s, run(f, false, &report));
	assert_int_equal(unlink(file(f, "0002_b.sql")), 0);
	assert_int_equal(run(f, false, &report), ERR_CONFLICT);
	assert_non_null(strstr(f->s->error->detail, "newer"));
}

static void
a_database_of_something_else_is_left_alone(void **state)
{
	struct fixture *f = *state;
	struct migration_report report;

	write_file(f->path, "");
	assert_int_equal(count(f, "CREATE TABLE cookies (id INTEGER)"), 0);
	write_file(file(f, "0001_a.sql"), FIRST);
	assert_int_equal(run(f, false, &report), ERR_CONFLICT);
	assert_int_equal(count(f, "SELECT count(*) FROM sqlite_schema"), 1);
}

static void
bad_names_are_refused(void **state)
{
	static const char *const names[] = { "1_a.sql", "00001_a.sql", "0002-b.sql", "0002_B.sql", "0002_.sql", "0000_a.sql", "0002_b.x.sql", "x.sql" };
	struct fixture *f = *state;
	struct migration_report report;
	size_t i;

	write_file(file(f, "0001_a.sql"), FIRST);
	for (i = 0; i < COUNT(names); i++) {
		write_file(file(f, names[i]), "SELECT 1;");
		assert_int_equal(run(f, false, &report), ERR_INVALID);
		assert_int_equal(unlink(file(f, names[i])), 0);
	}
	assert_ok(f->s, run(f, false, &report));
}

static void
an_empty_folder_is_no_schema(void **state)
{
	struct fixture *f = *state;
	struct migration_report report;

	assert_int_equal(run(f, false, &report), ERR_NOT_FOUND);
	assert_int_equal(migrate(f->s, f->path, file(f, "absent"), false, &report), ERR_NOT_FOUND);
	write_file(file(f, "0001_a.sql"), "");
	assert_int_equal(run(f, false, &report), ERR_INTERNAL);		/* it makes no schema_migration */
}

static void
a_migration_that_fails_leaves_the_former_version(void **state)
{
	static const char *const bad[] = {
		"CREATE TABLE b (id INTEGER); INSERT INTO b VALUES (1); CREATE TABLE b (id INTEGER);",
		"CREATE TABLE b (id INTEGER PRIMARY KEY); INSERT INTO b VALUES (1); INSERT INTO b VALUES (1);",
		"CREATE TABLE b (id INTEGER); COMMIT; BEGIN;",
		"CREATE TABLE b (id INTEGER); ROLLBACK;",
		"CREATE TABLE b (id INTEGER); SAVEPOINT x;",
		"CREATE TABLE b (id INTEGER); PRAGMA foreign_keys = ON;",
		"CREATE TABLE b (id INTEGER); ATTACH '/tmp/x' AS x;",
		"CREATE TABLE b (id INTEGER REFERENCES a (id)); INSERT INTO b VALUES (77);",
	};
	struct fixture *f = *state;
	struct migration_report report;
	size_t i;

	write_file(file(f, "0001_a.sql"), FIRST);
	for (i = 0; i < COUNT(bad); i++) {
		write_file(file(f, "0002_b.sql"), bad[i]);
		assert_int_equal(run(f, false, &report), ERR_INTERNAL);
		assert_int_equal(report.to, 1);
		assert_int_equal(count(f, "SELECT max(version) FROM schema_migration"), 1);
		assert_int_equal(count(f, "SELECT count(*) FROM sqlite_schema WHERE name = 'b'"), 0);
	}
	write_file(file(f, "0002_b.sql"), "CREATE TABLE b (id INTEGER PRIMARY KEY);");
	assert_ok(f->s, run(f, false, &report));
	assert_int_equal(report.to, 2);
}

/* Dropping the old table would otherwise fail, or take the rows that refer to it along. */
static void
a_table_that_others_refer_to_can_be_rebuilt(void **state)
{
	struct fixture *f = *state;
	struct migration_report report;

	write_file(file(f, "0001_a.sql"), FIRST "CREATE TABLE b (a INTEGER REFERENCES a (id)); INSERT INTO a VALUES (5); INSERT INTO b VALUES (5);");
	write_file(file(f, "0002_b.sql"), "CREATE TABLE a2 (id INTEGER PRIMARY KEY, x TEXT); INSERT INTO a2 SELECT id, 'x' FROM a;"
	    "DROP TABLE a; ALTER TABLE a2 RENAME TO a;");
	assert_ok(f->s, run(f, false, &report));
	assert_int_equal(count(f, "SELECT count(*) FROM a JOIN b ON b.a = a.id WHERE x = 'x'"), 1);
}

static void
a_served_site_takes_online_files_only(void **state)
{
	struct fixture *f = *state;
	struct migration_report report;

	write_file(file(f, "0001_a.sql"), FIRST);
	assert_int_equal(run(f, true, &report), ERR_CONFLICT);
	assert_ok(f->s, run(f, false, &report));
	write_file(file(f, "0002_b.sql"), "-- online\nCREATE TABLE b (id INTEGER PRIMARY KEY);");
	write_file(file(f, "0003_c.sql"), "-- not online\nCREATE TABLE c (id INTEGER PRIMARY KEY);");
	assert_int_equal(run(f, true, &report), ERR_CONFLICT);
	assert_int_equal(count(f, "SELECT max(version) FROM schema_migration"), 1);	/* all or nothing is decided first */
	write_file(file(f, "0003_c.sql"), "-- online\nCREATE TABLE c (id INTEGER PRIMARY KEY);");
	assert_ok(f->s, run(f, true, &report));
	assert_int_equal(report.to, 3);
	assert_ok(f->s, run(f, true, &report));		/* nothing to do is no reason to stop a site */
}

#ifdef STELE_TEST
static void
migrate_and_die(struct fixture *f)
{
	struct migration_report report;

	setenv("STELE_FAULT", "migrate:kill:2", 1);
	_exit(run(f, false, &report) == OK ? 0 : 1);
}

static void
a_crash_in_the_middle_leaves_the_former_version(void **state)
{
	struct fixture *f = *state;
	struct migration_report report;

	write_file(file(f, "0001_a.sql"), FIRST);
	write_file(file(f, "0002_b.sql"), "CREATE TABLE b (id INTEGER PRIMARY KEY); INSERT INTO b VALUES (1);");
	assert_int_equal(in_child(migrate_and_die, f), SIGKILL);
	assert_int_equal(count(f, "SELECT max(version) FROM schema_migration"), 1);
	assert_int_equal(count(f, "SELECT count(*) FROM sqlite_schema WHERE name = 'b'"), 0);
	assert_ok(f->s, run(f, false, &report));
	assert_int_equal(report.from, 1);
	assert_int_equal(count(f, "SELECT count(*) FROM b"), 1);
}
#endif

static void
migrate_once(struct fixture *f)
{
	struct migration_report report;
	enum status status = run(f, false, &report);

	_exit(status == OK || status == ERR_BUSY ? 0 : 1);
}

static void
two_at_once_apply_each_file_once(void **state)
{
	struct fixture *f = *state;
	int i, status;
	pid_t pids[4];

	write_file(file(f, "0001_a.sql"), FIRST);
	for (i = 2; i <= 9; i++)
		write_file(file(f, scope_printf(f->s, "000%d_x.sql", i)), "INSERT INTO a VALUES (NULL);");
	fflush(NULL);
	for (i = 0; i < 4; i++)
		if ((pids[i] = fork()) == 0)
			migrate_once(f);
	for (i = 0; i < 4; i++) {
		waitpid(pids[i], &status, 0);
		assert_int_equal(status, 0);
	}
	assert_int_equal(count(f, "SELECT count(*) FROM a"), 8);
	assert_int_equal(count(f, "SELECT count(*) FROM schema_migration"), 9);
}

static void
the_real_migrations_apply(void **state)
{
	struct fixture *f = *state;
	struct migration_report report;
	int64_t newest, version;

	assert_ok(f->s, migrate_newest(f->s, MIGRATIONS, &newest));
	assert_ok(f->s, migrate(f->s, f->path, MIGRATIONS, false, &report));
	assert_int_equal(report.to, newest);
	assert_ok(f->s, db_open(f->s, &f->db, f->path, DB_WRITE));
	assert_ok(f->s, db_schema_version(f->s, f->db, &version));
	assert_int_equal(version, newest);
	assert_int_equal(ask(f, "SELECT count(*) FROM pragma_integrity_check WHERE integrity_check <> 'ok'"), 0);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, folder_setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(files_are_applied_in_order_and_once),
		TEST(the_database_is_made_for_its_owner_alone),
		TEST(a_changed_file_is_refused),
		TEST(a_gap_or_a_double_number_is_refused),
		TEST(a_hole_in_the_database_is_refused),
		TEST(a_newer_database_is_refused),
		TEST(a_database_of_something_else_is_left_alone),
		TEST(bad_names_are_refused),
		TEST(an_empty_folder_is_no_schema),
		TEST(a_migration_that_fails_leaves_the_former_version),
		TEST(a_table_that_others_refer_to_can_be_rebuilt),
		TEST(a_served_site_takes_online_files_only),
#ifdef STELE_TEST
		TEST(a_crash_in_the_middle_leaves_the_former_version),
#endif
		TEST(two_at_once_apply_each_file_once),
		TEST(the_real_migrations_apply),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
