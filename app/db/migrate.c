/* migrate.c - forward-only schema changes from numbered files. */
#include "db/migrate.h"
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "base/clock.h"
#include "base/hash.h"
#include "db/sqlite.h"
#include "db/writer.h"

#define MAX_FILES 1000
#define MAX_FILE_BYTES (4 << 20)

struct migration {
	char		*name;		/* "0001_foundation.sql" */
	struct str	 text;
	char		 sha256[SHA256_HEX];
	bool		 online;
};
/* Number n stands at index n - 1: the files are numbered from 1 without a gap. */
struct migrations {
	struct migration *files;
	int64_t		 count;
};

static enum status scan(struct scope *, struct migrations *, const char *dir);
static enum status add_name(struct scope *, struct migrations *, const char *name);
static bool	 is_migration(const char *name);
static enum status read_file(struct scope *, struct migration *, const char *dir);
static enum status create_database(struct scope *, const char *path);
static enum status check_applied(struct scope *, struct db *, const struct migrations *, int64_t *version);
static enum status check_served(struct scope *, const struct migrations *, int64_t version);
static enum status apply_from(struct scope *, struct db *, const struct migrations *, int64_t from,
		    struct migration_report *);
static enum status apply(struct scope *, struct db *, const struct migration *, int64_t version);

enum status
migrate(struct scope *s, const char *db_path, const char *dir, bool served, struct migration_report *report)
{
	struct migrations all;
	struct db *db = NULL;
	enum status status;
	int64_t version;

	memset(report, 0, sizeof(*report));
	TRY(scan(s, &all, dir));
	TRY(create_database(s, db_path));
	TRY(db_open(s, &db, db_path, DB_WRITE));
	/* Rebuilding a table drops the old one, which foreign keys would turn into deleting what refers to it. Each migration
	 * is checked as a whole before it commits. */
	if ((status = db_exec(s, db, "PRAGMA foreign_keys = OFF")) != OK || (status = db_begin(s, db)) != OK)
		goto done;
	/* One view for all its questions, or another `stele migrate` makes them contradict each other. */
	status = check_applied(s, db, &all, &version);
	db_rollback(db);
	if (status != OK)
		goto done;
	report->from = report->to = version;
	if (served && (status = check_served(s, &all, version)) != OK)
		goto done;
	status = apply_from(s, db, &all, version, report);
done:
	db_close(db);
	return status;
}

enum status
migrate_newest(struct scope *s, const char *dir, int64_t *out)
{
	struct migrations all;

	TRY(scan(s, &all, dir));
	*out = all.count;
	return OK;
}

static enum status
scan(struct scope *s, struct migrations *all, const char *dir)
{
	enum status status = OK;
	struct dirent *entry;
	int64_t i;
	DIR *d;

	all->count = 0;
	all->files = scope_alloc(s, MAX_FILES * sizeof(*all->files));
	if ((d = opendir(dir)) == NULL)
		return fail(s, ERR_NOT_FOUND, NULL, "cannot read migrations in %s: %s", dir, strerror(errno));
	while (status == OK && (entry = readdir(d)) != NULL)
		if (str_ends(str_of(entry->d_name), ".sql"))
			status = add_name(s, all, entry->d_name);
	closedir(d);
	TRY(status);
	for (i = 0; i < all->count; i++) {
		if (all->files[i].name == NULL)
			return fail(s, ERR_CONFLICT, NULL, "%s has no migration %04" PRId64, dir, i + 1);
		TRY(read_file(s, &all->files[i], dir));
	}
	return all->count > 0 ? OK : fail(s, ERR_NOT_FOUND, NULL, "%s holds no migration", dir);
}

static enum status
add_name(struct scope *s, struct migrations *all, const char *name)
{
	int64_t number;

	if (!is_migration(name) || !parse_int64((struct str){ name, 4 }, &number) || number < 1 || number >= MAX_FILES)
		return fail(s, ERR_INVALID, NULL, "%s is not named like 0001_name.sql", name);
	if (all->files[number - 1].name != NULL)
		return fail(s, ERR_CONFLICT, NULL, "two migrations have the number of %s", name);
	all->files[number - 1].name = scope_printf(s, "%s", name);
	if (number > all->count)
		all->count = number;
	return OK;
}

static bool
is_migration(const char *name)
{
	return strspn(name, "0123456789") == 4 && name[4] == '_' &&
	    strspn(name + 5, "abcdefghijklmnopqrstuvwxyz0123456789_") == strlen(name) - strlen("0001_.sql") &&
	    strlen(name) > strlen("0001_.sql");
}

static enum status
read_file(struct scope *s, struct migration *m, const char *dir)
{
	const char *path = scope_printf(s, "%s/%s", dir, m->name);
	struct stat st;
	size_t have = 0;
	ssize_t got = 1;
	char *text;
	int fd;

	if ((fd = open(path, O_RDONLY | O_CLOEXEC)) == -1 || fstat(fd, &st) == -1 || st.st_size > MAX_FILE_BYTES) {
		if (fd >= 0)
			close(fd);
		return fail(s, ERR_INVALID, NULL, "cannot read %s", path);
	}
	text = scope_alloc(s, (size_t)st.st_size + 1);
	while (have < (size_t)st.st_size && (got = read(fd, text + have, (size_t)st.st_size - have)) > 0)
		have += (size_t)got;
	close(fd);
	m->text = (struct str){ text, have };
	if (got <= 0 || memchr(text, '\0', have) != NULL || !utf8_valid(m->text))
		return fail(s, ERR_INVALID, NULL, "%s is not a text that can be read", path);
	sha256_hex_of(m->text, m->sha256);
	m->online = str_is(str_trim(str_part(m->text, 0, str_find(m->text, '\n'))), "-- online");
	return OK;
}

/* The log files get the mode of the database from SQLite. */
static enum status
create_database(struct scope *s, const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd == -1 && errno != EEXIST)
		return fail(s, ERR_STORAGE, NULL, "cannot make %s: %s", path, strerror(errno));
	if (fd != -1)
		close(fd);
	return OK;
}

/* What was applied must be what the files say. */
static enum status
check_applied(struct scope *s, struct db *db, const struct migrations *all, int64_t *version)
{
	enum status status = OK;
	struct db_rows *rows;
	int64_t tables;

	TRY(db_schema_version(s, db, version));
	if (*version == 0) {
		TRY(db_ask(s, db, &tables, "SELECT count(*) FROM sqlite_schema"));
		return tables == 0 ? OK : fail(s, ERR_CONFLICT, NULL, "the file is a database of something else");
	}
	if (*version > all->count)
		return fail(s, ERR_CONFLICT, NULL, "the database has schema %" PRId64 ", newer than the newest file, %" PRId64,
		    *version, all->count);
	*version = 0;
	TRY(db_query(s, db, &rows, SQL_MIGRATION_LIST, NO_ARGS));
	while (status == OK && db_next(rows)) {
		const struct migration *m = &all->files[*version];

		if (col_int(rows, 0) != ++*version)
			status = fail(s, ERR_CONFLICT, NULL, "the database never had migration %04" PRId64, *version);
		else if (!str_is(col_str(rows, 1), m->name) || !str_is(col_str(rows, 2), m->sha256))
			status = fail(s, ERR_CONFLICT, NULL, "%s was changed after it was applied", m->name);
	}
	if (status != OK) {
		struct error *error = s->error;

		if (db_end(s, rows) == OK)
			s->error = error;
		return status;
	}
	return db_end(s, rows);
}

static enum status
check_served(struct scope *s, const struct migrations *all, int64_t version)
{
	for (; version < all->count; version++)
		if (!all->files[version].online)
			return fail(s, ERR_CONFLICT, NULL, "%s cannot be applied while the site is served: stop it first",
			    all->files[version].name);
	return OK;
}

static enum status
apply_from(struct scope *s, struct db *db, const struct migrations *all, int64_t version,
    struct migration_report *report)
{
	enum status status;
	int64_t found;

	for (; version < all->count; version++) {
		TRY(db_begin(s, db));
		/* Another `stele migrate` may have come first. */
		if ((status = db_schema_version(s, db, &found)) == OK && found != version)
			status = fail(s, ERR_BUSY, NULL, "somebody else migrates this database");
		if (status == OK)
			status = apply(s, db, &all->files[version], version + 1);
		if (status != OK) {
			db_rollback(db);
			return status;
		}
		TRY(db_commit(s, db));
		report->to = version + 1;
		report->applied++;
	}
	return OK;
}

static enum status
apply(struct scope *s, struct db *db, const struct migration *m, int64_t version)
{
	enum status status;
	int64_t broken;

	if ((status = db_exec_script(s, db, m->text.p)) != OK)
		return fail(s, status == ERR_CONFLICT ? ERR_INTERNAL : status, NULL, "%s: %s", m->name, s->error->detail);
	TRY(db_ask(s, db, &broken, "SELECT count(*) FROM pragma_foreign_key_check"));
	if (broken != 0)
		return fail(s, ERR_INTERNAL, NULL, "%s leaves %" PRId64 " rows that refer to nothing", m->name, broken);
	TRY(db_run(s, db, SQL_MIGRATION_INSERT, ARGS(INT(version), TEXT(m->name), TEXT(m->sha256), INT(clock_now())), NULL));
	return fault("migrate") ? fail(s, ERR_INTERNAL, NULL, "fault") : OK;
}
