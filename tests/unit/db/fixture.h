/* fixture.h - a migrated database in a folder of its own, for the tests of db/. */
#ifndef TEST_DB_FIXTURE_H
#define TEST_DB_FIXTURE_H
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#undef fail			/* cmocka's; ours records a refusal */
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "base/base.h"
#include "db/migrate.h"
#include "db/shared.h"
#include "db/sqlite.h"
#include "db/writer.h"

#define MIGRATIONS "migrations/sqlite"
#define assert_ok(s, expr)                                                                                 \
	do {                                                                                               \
		enum status st_ = (expr);                                                                  \
		if (st_ != OK) {                                                                           \
			print_error("%s: %s: %s\n", #expr, status_info(st_)->code, (s)->error ? (s)->error->detail : ""); \
			_fail(__FILE__, __LINE__);                                                         \
		}                                                                                          \
	} while (0)

struct fixture {
	struct scope	*s;
	char		*dir, *path;
	struct db	*db;		/* DB_WRITE */
	struct shared	*shared;	/* on DIR/run/shared */
};

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static inline int
folder_setup(void **state)
{
	struct scope *s = scope_new("test");
	struct fixture *f = scope_alloc(s, sizeof(*f));
	const char *tmp = getenv("TMPDIR");

	f->s = s;
	f->dir = scope_printf(s, "%s/stele-db-XXXXXX", tmp != NULL ? tmp : "/tmp");
	assert_non_null(mkdtemp(f->dir));
	f->path = scope_printf(s, "%s/stele.db", f->dir);
	*state = f;
	return 0;
}

static inline int
database_setup(void **state)
{
	struct migration_report report;
	struct fixture *f;

	folder_setup(state);
	f = *state;
	assert_ok(f->s, migrate(f->s, f->path, MIGRATIONS, false, &report));
	assert_ok(f->s, db_open(f->s, &f->db, f->path, DB_WRITE));
	assert_ok(f->s, shared_open(f->s, &f->shared, f->dir, true));
	return 0;
}

static inline int
teardown(void **state)
{
	struct fixture *f = *state;

	db_close(f->db);
	shared_close(f->shared);
	nftw(f->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	scope_free(f->s);
	return 0;
}

static inline int64_t
ask(struct fixture *f, const char *sql)
{
	int64_t n = -1;

	assert_ok(f->s, db_ask(f->s, f->db, &n, sql));
	return n;
}

static inline void
write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

/* Runs `body` in a child and returns its wait status. The child must not run cmocka's reports. */
static inline int
in_child(void (*body)(struct fixture *), struct fixture *f)
{
	int status;
	pid_t pid;

	fflush(NULL);
	if ((pid = fork()) == 0) {
		body(f);
		_exit(0);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}
#endif
