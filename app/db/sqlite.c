/* sqlite.c - db.h over SQLite: connections, cached statements, transactions. */
#include "db/db.h"
#include <pthread.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include "base/clock.h"
#include "db/log_file.h"
#include "db/sqlite.h"

#define MAX_VALUES 64
#define MAX_SAVEPOINTS 16
#define READ_LIMIT_MS 5000
#define PROGRESS_STEPS 20000		/* VM instructions between two looks at the clock: well under 1 ms */

struct db_rows {
	struct db	*db;
	sqlite3_stmt	*stmt;
	enum sql	 sql;
	int		 rc;
	int64_t		 deadline;	/* clock_monotonic */
	bool		 running;	/* between db_query and db_end */
	bool		 is_copy;	/* a second use of a running statement: finalized at its end */
	bool		 may_do_nothing;	/* ON CONFLICT DO NOTHING: a violation shows by no row changed */
	enum metric	 violation;		/* what counts it */
	int		 values;
	unsigned char	 place[MAX_VALUES];	/* SQLite numbers $2 by order of appearance, not by its digit */
};

enum control { BEGIN_READ, TAKE_SNAPSHOT, BEGIN_WRITE, COMMIT, ROLLBACK, SAVEPOINT, RELEASE, ROLLBACK_TO, CONTROL_COUNT };
static const char *const control_text[CONTROL_COUNT] = {
	[BEGIN_READ] = "BEGIN",
	[TAKE_SNAPSHOT] = "SELECT 1 FROM sqlite_schema LIMIT 1",
	[BEGIN_WRITE] = "BEGIN IMMEDIATE",
	[COMMIT] = "COMMIT",
	[ROLLBACK] = "ROLLBACK",
	[SAVEPOINT] = "SAVEPOINT u",
	[RELEASE] = "RELEASE u",
	[ROLLBACK_TO] = "ROLLBACK TO u",
};

struct db {
	struct arena	*arena;		/* the handle's own: it outlives every scope */
	sqlite3		*handle;
	enum db_mode	 mode;
	char		*wal_path;
	bool		 begun;		/* by db_begin and not ended by us; SQLite may have ended it */
	int		 depth;
	int64_t		 deadline;	/* of the statement that is stepping */
	int64_t		 violations[METRIC_COUNT];	/* of METRIC_UNIQUE_..., not taken yet */
	int64_t		 wal_frames;
	struct touched_mark marks[MAX_SAVEPOINTS];
	struct touched	*touched;
	sqlite3_stmt	*control[CONTROL_COUNT];
	struct db_rows	 statements[SQL_COUNT];
};

static void	 library_init(void);
static enum status configure(struct scope *, struct db *);
static int	 stop_when_late(void *);
static int	 count_frames(void *, sqlite3 *, const char *name, int frames);
static enum status status_of(int rc);
static enum status failed(struct scope *, struct db *, const char *what, int rc);
static int	 control(struct db *, enum control);
static enum status still_begun(struct scope *, struct db *);
static enum status prepare(struct scope *, struct db *, struct db_rows *, enum sql);
static enum metric violation_of(struct str sql);
static enum status bind(struct scope *, struct db_rows *, struct db_args);
static int	 step(struct db_rows *);
static int	 only_inside_transaction(void *, int, const char *, const char *, const char *, const char *);

enum status
db_open(struct scope *s, struct db **out, const char *path, enum db_mode mode)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct arena *arena;
	struct db *db;
	enum status status;
	int rc;

	pthread_once(&once, library_init);
	arena = arena_new();
	db = arena_alloc(arena, sizeof(*db));
	db->arena = arena;
	db->mode = mode;
	db->wal_path = arena_printf(arena, "%s-wal", path);
	db->touched = arena_alloc(arena, sizeof(*db->touched));
	rc = sqlite3_open_v2(path, &db->handle,
	    (mode == DB_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE) | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE,
	    mode == DB_READ ? NULL : LOG_FILE_VFS);
	status = rc == SQLITE_OK ? configure(s, db) : failed(s, db, path, rc);
	if (status != OK) {
		db_close(db);
		/* Whatever keeps a database from opening, a retry after the operator's repair is the only cure. */
		return fail(s, status == ERR_BUSY ? ERR_BUSY : ERR_STORAGE, NULL, "cannot open %s: %s", path, s->error->detail);
	}
	*out = db;
	return OK;
}

void
db_close(struct db *db)
{
	size_t i;

	if (db == NULL)
		return;
	db_rollback(db);
	for (i = 0; i < SQL_COUNT; i++)
		sqlite3_finalize(db->statements[i].stmt);
	for (i = 0; i < CONTROL_COUNT; i++)
		sqlite3_finalize(db->control[i]);
	sqlite3_close_v2(db->handle);
	arena_free(db->arena);
}

enum status
db_begin(struct scope *s, struct db *db)
{
	int rc;

	assert(!db->begun);
	touched_clear(db->touched);
	if (db->mode == DB_WRITE)
		rc = control(db, BEGIN_WRITE);
	else if ((rc = control(db, BEGIN_READ)) == SQLITE_OK)
		rc = control(db, TAKE_SNAPSHOT);
	if (rc != SQLITE_OK) {
		enum status status = failed(s, db, "begin", rc);

		db_rollback(db);
		return status;
	}
	db->begun = true;
	return OK;
}

enum status
db_commit(struct scope *s, struct db *db)
{
	enum status status;
	int rc;

	assert(db->begun);
	if ((status = still_begun(s, db)) == OK) {
		if ((rc = control(db, COMMIT)) == SQLITE_OK) {
			db->begun = false;
			db->depth = 0;
			return OK;
		}
		status = failed(s, db, "commit", rc);
	}
	db_rollback(db);
	return status;
}

void
db_rollback(struct db *db)
{
	/* It can fail only when nothing is open any more, and then there is nothing left to take back. */
	if (db_in_transaction(db))
		control(db, ROLLBACK);
	db->begun = false;
	db->depth = 0;
	touched_clear(db->touched);
}

bool
db_in_transaction(struct db *db)
{
	return db->handle != NULL && !sqlite3_get_autocommit(db->handle);
}

enum status
db_savepoint(struct scope *s, struct db *db)
{
	int rc;

	assert(db->begun && db->depth < MAX_SAVEPOINTS);
	TRY(still_begun(s, db));
	if ((rc = control(db, SAVEPOINT)) != SQLITE_OK)
		return failed(s, db, "savepoint", rc);
	db->marks[db->depth++] = touched_mark(db->touched);
	return OK;
}

enum status
db_release(struct scope *s, struct db *db)
{
	int rc;

	assert(db->depth > 0);
	db->depth--;
	TRY(still_begun(s, db));
	if ((rc = control(db, RELEASE)) != SQLITE_OK)
		return failed(s, db, "release", rc);
	return OK;
}

void
db_undo(struct db *db)
{
	assert(db->depth > 0);
	touched_rewind(db->touched, db->marks[--db->depth]);
	if (!db_in_transaction(db))
		return;
	/* A savepoint that cannot be undone must not be committed either. */
	if (control(db, ROLLBACK_TO) != SQLITE_OK || control(db, RELEASE) != SQLITE_OK)
		control(db, ROLLBACK);
}

struct db_value
db_text(const char *text)
{
	return db_str((struct str){ text, text == NULL ? 0 : strlen(text) });
}

struct db_value
db_str(struct str text)
{
	return (struct db_value){ .type = text.p == NULL ? DB_NULL : DB_TEXT, .t = text };
}

struct db_value
db_int(int64_t n)
{
	return (struct db_value){ .type = DB_INT, .i = n };
}

struct db_value
db_id(int64_t id)
{
	return (struct db_value){ .type = id == 0 ? DB_NULL : DB_INT, .i = id };
}

enum status
db_query(struct scope *s, struct db *db, struct db_rows **out, enum sql sql, struct db_args args)
{
	struct db_rows *rows = &db->statements[sql];
	enum status status;

	/* After SQLite gave up a transaction every statement would commit by itself. */
	if (db->begun)
		TRY(still_begun(s, db));
	if (rows->running) {
		rows = scope_alloc(s, sizeof(*rows));
		rows->is_copy = true;
	}
	if (rows->stmt == NULL)
		TRY(prepare(s, db, rows, sql));
	rows->rc = SQLITE_OK;
	rows->running = true;
	if (db->mode == DB_READ)
		rows->deadline = clock_monotonic() + READ_LIMIT_MS;
	if ((status = bind(s, rows, args)) != OK) {
		struct error *error = s->error;

		status = db_end(s, rows) == OK ? status : ERR_INTERNAL;
		s->error = error;
		return status;
	}
	*out = rows;
	return OK;
}

bool
db_next(struct db_rows *rows)
{
	return rows->rc != SQLITE_DONE && step(rows) == SQLITE_ROW;
}

enum status
db_end(struct scope *s, struct db_rows *rows)
{
	struct db *db = rows->db;
	enum status status = OK;
	int rc;

	/* A statement that was left before its last row ends here, and only here tells of a deferred refusal. */
	rc = sqlite3_reset(rows->stmt);
	if (rows->rc != SQLITE_OK && rows->rc != SQLITE_ROW && rows->rc != SQLITE_DONE)
		rc = rows->rc;
	if (rc != SQLITE_OK)
		status = failed(s, db, sql_texts[rows->sql].name, rc);
	sqlite3_clear_bindings(rows->stmt);
	rows->running = false;
	if (rows->is_copy)
		sqlite3_finalize(rows->stmt);
	return status;
}

enum status
db_run(struct scope *s, struct db *db, enum sql sql, struct db_args args, int64_t *changes)
{
	struct db_rows *rows;
	int64_t before;

	TRY(db_query(s, db, &rows, sql, args));
	before = sqlite3_total_changes64(db->handle);
	while (db_next(rows))
		continue;
	/* sqlite3_changes keeps the former statement's count when this one touches nothing at all. */
	if (changes != NULL)
		*changes = sqlite3_total_changes64(db->handle) == before ? 0 : sqlite3_changes64(db->handle);
	return db_end(s, rows);
}

enum status
db_value(struct scope *s, struct db *db, int64_t *out, enum sql sql, struct db_args args)
{
	struct db_rows *rows;
	bool found;

	TRY(db_query(s, db, &rows, sql, args));
	if ((found = db_next(rows)))
		*out = col_int(rows, 0);
	TRY(db_end(s, rows));
	return found ? OK : fail(s, ERR_NOT_FOUND, NULL, "%s found no row", sql_texts[sql].name);
}

int64_t
db_insert_id(struct db *db)
{
	return sqlite3_last_insert_rowid(db->handle);
}

int64_t
col_int(struct db_rows *rows, int col)
{
	return sqlite3_column_int64(rows->stmt, col);
}

bool
col_bool(struct db_rows *rows, int col)
{
	return col_int(rows, col) != 0;
}

bool
col_null(struct db_rows *rows, int col)
{
	return sqlite3_column_type(rows->stmt, col) == SQLITE_NULL;
}

const char *
col_text(struct scope *s, struct db_rows *rows, int col)
{
	struct str text = col_str(rows, col);

	return text.p == NULL ? NULL : str_dup(s->arena, text);
}

struct str
col_str(struct db_rows *rows, int col)
{
	const unsigned char *p = sqlite3_column_text(rows->stmt, col);

	/* The length is only right when asked for after the text. */
	return (struct str){ (const char *)p, p == NULL ? 0 : (size_t)sqlite3_column_bytes(rows->stmt, col) };
}

enum status
db_schema_version(struct scope *s, struct db *db, int64_t *out)
{
	int64_t tables;

	if (db->statements[SQL_MIGRATION_CURRENT].stmt == NULL) {
		TRY(db_ask(s, db, &tables, "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'schema_migration'"));
		if (tables == 0) {
			*out = 0;
			return OK;
		}
	}
	return db_value(s, db, out, SQL_MIGRATION_CURRENT, NO_ARGS);
}

enum status
db_prepare_all(struct scope *s, struct db *db)
{
	int sql;

	for (sql = 0; sql < SQL_COUNT; sql++)
		if (db->statements[sql].stmt == NULL)
			TRY(prepare(s, db, &db->statements[sql], (enum sql)sql));
	return OK;
}

enum status
db_checkpoint(struct scope *s, struct db *db, bool truncate, int64_t *wal_bytes)
{
	sqlite3_file *file;
	struct stat st;
	int rc;

	/* Busy is no failure: what a reader still needs stays in the log until the next time. */
	sqlite3_busy_timeout(db->handle, 0);
	rc = sqlite3_wal_checkpoint_v2(db->handle, "main",
	    truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	/* SQLite syncs the database only when the whole log was moved. Writers wait for the pass that does it, so it should find little to sync. */
	if (rc == SQLITE_OK && !truncate &&
	    sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK)
		rc = file->pMethods->xSync(file, SQLITE_SYNC_NORMAL);
	sqlite3_busy_timeout(db->handle, db->mode == DB_READ ? 250 : 5000);
	*wal_bytes = stat(db->wal_path, &st) == 0 ? (int64_t)st.st_size : 0;
	if (rc != SQLITE_OK && status_of(rc) != ERR_BUSY)
		return failed(s, db, "checkpoint", rc);
	return OK;
}

enum status
db_exec(struct scope *s, struct db *db, const char *sql)
{
	int rc = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? OK : failed(s, db, "exec", rc);
}

enum status
db_exec_script(struct scope *s, struct db *db, const char *sql)
{
	enum status status;

	sqlite3_set_authorizer(db->handle, only_inside_transaction, NULL);
	status = db_exec(s, db, sql);
	sqlite3_set_authorizer(db->handle, NULL, NULL);
	return status;
}

enum status
db_ask(struct scope *s, struct db *db, int64_t *out, const char *sql)
{
	sqlite3_stmt *stmt = NULL;
	int rc;

	*out = 0;
	rc = sqlite3_prepare_v2(db->handle, sql, -1, &stmt, NULL);
	if (rc == SQLITE_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
		*out = sqlite3_column_int64(stmt, 0);
	if (rc == SQLITE_ROW || rc == SQLITE_DONE)
		rc = SQLITE_OK;
	if (rc != SQLITE_OK) {
		enum status status = failed(s, db, sql, rc);

		sqlite3_finalize(stmt);
		return status;
	}
	sqlite3_finalize(stmt);
	return OK;
}

int64_t
db_wal_frames(struct db *db)
{
	return db->wal_frames;
}

int
db_depth(struct db *db)
{
	return db->depth;
}

struct touched *
db_touched(struct db *db)
{
	return db->touched;
}

int64_t
db_take_violations(struct db *db, enum metric metric)
{
	int64_t count = db->violations[metric];

	db->violations[metric] = 0;
	return count;
}

/* One global lock around each allocation, for a statistic that nobody reads. */
static void
library_init(void)
{
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	sqlite3_initialize();
	if (!log_file_register())
		abort();
}

static enum status
configure(struct scope *s, struct db *db)
{
	static const struct { int option, on; } options[] = {
		{ SQLITE_DBCONFIG_DQS_DML, 0 },
		{ SQLITE_DBCONFIG_DQS_DDL, 0 },
		{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 },
	};
	size_t i;

	for (i = 0; i < COUNT(options); i++)
		sqlite3_db_config(db->handle, options[i].option, options[i].on, NULL);
	sqlite3_busy_timeout(db->handle, db->mode == DB_READ ? 250 : 5000);
	/* Temporary tables in memory: the sandbox knows no temporary files. */
	TRY(db_exec(s, db, "PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA mmap_size = 0"));
	if (db->mode == DB_READ) {
		sqlite3_progress_handler(db->handle, PROGRESS_STEPS, stop_when_late, db);
		return db_exec(s, db, "PRAGMA cache_size = -2000; SELECT 1 FROM sqlite_schema LIMIT 1");
	}
	TRY(db_exec(s, db,
	    "PRAGMA cache_size = -8000; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
	    "PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 67108864"));
	/* After the pragma, which would take the hook away. */
	sqlite3_wal_hook(db->handle, count_frames, db);
	return OK;
}

static int
count_frames(void *arg, sqlite3 *handle, const char *name, int frames)
{
	struct db *db = arg;

	(void)handle;
	(void)name;
	db->wal_frames = frames;
	return SQLITE_OK;
}

static int
stop_when_late(void *arg)
{
	struct db *db = arg;

	return db->deadline != 0 && clock_monotonic() > db->deadline;
}

static enum status
status_of(int rc)
{
	switch (rc & 0xff) {
	case SQLITE_CONSTRAINT:
		return ERR_CONFLICT;
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_INTERRUPT:
		return ERR_BUSY;
	case SQLITE_FULL:
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN:
	case SQLITE_READONLY:
	case SQLITE_PERM:
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_PROTOCOL:
		return ERR_STORAGE;
	case SQLITE_TOOBIG:
		return ERR_TOO_LARGE;
	case SQLITE_NOMEM:
		abort();
	default:
		return ERR_INTERNAL;
	}
}

static enum status
failed(struct scope *s, struct db *db, const char *what, int rc)
{
	/* The handle's message belongs to its latest call, which need not be the one that failed. */
	const char *message = sqlite3_extended_errcode(db->handle) == rc ? sqlite3_errmsg(db->handle) : sqlite3_errstr(rc);

	return fail(s, status_of(rc), NULL, "%s: %s", what, message);
}

static int
control(struct db *db, enum control which)
{
	sqlite3_stmt **stmt = &db->control[which];
	int rc;

	if (*stmt == NULL) {
		rc = sqlite3_prepare_v3(db->handle, control_text[which], -1, SQLITE_PREPARE_PERSISTENT, stmt, NULL);
		if (rc != SQLITE_OK)
			return rc;
	}
	db->deadline = 0;
	rc = sqlite3_step(*stmt);
	sqlite3_reset(*stmt);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static enum status
still_begun(struct scope *s, struct db *db)
{
	return db_in_transaction(db) ? OK : fail(s, ERR_STORAGE, NULL, "the storage gave up the transaction");
}

static enum status
prepare(struct scope *s, struct db *db, struct db_rows *rows, enum sql sql)
{
	const char *name = sql_texts[sql].name, *tail;
	char parameter[16];
	int i, rc;

	rc = sqlite3_prepare_v3(db->handle, sql_texts[sql].text, -1, rows->is_copy ? 0 : SQLITE_PREPARE_PERSISTENT,
	    &rows->stmt, &tail);
	if (rc != SQLITE_OK)
		return failed(s, db, name, rc);
	rows->db = db;
	rows->sql = sql;
	rows->may_do_nothing = strstr(sql_texts[sql].text, "DO NOTHING") != NULL;
	rows->violation = violation_of(str_of(sql_texts[sql].text));
	rows->values = sqlite3_bind_parameter_count(rows->stmt);
	if (str_trim(str_of(tail)).len == 0 && rows->values <= MAX_VALUES) {
		for (i = 0; i < rows->values; i++) {
			snprintf(parameter, sizeof(parameter), "$%d", i + 1);
			rows->place[i] = (unsigned char)sqlite3_bind_parameter_index(rows->stmt, parameter);
			if (rows->place[i] == 0)
				break;
		}
		if (i == rows->values)
			return OK;
	}
	sqlite3_finalize(rows->stmt);
	rows->stmt = NULL;
	return fail(s, ERR_INTERNAL, NULL, "%s is not one statement with values $1 to $%d", name, rows->values);
}

/* By the table that the statement inserts into. */
static enum metric
violation_of(struct str sql)
{
	static const struct { const char *start; enum metric metric; } tables[] = {
		{ "INSERT INTO path (", METRIC_UNIQUE_PATH }, { "INSERT INTO path_query (", METRIC_UNIQUE_PATH_QUERY },
		{ "INSERT INTO path_rule (", METRIC_UNIQUE_PATH_RULE }, { "INSERT INTO resource (", METRIC_UNIQUE_RESOURCE },
		{ "INSERT INTO outbox (", METRIC_UNIQUE_OUTBOX },
	};

	for (size_t i = 0; i < COUNT(tables); i++)
		if (str_starts(sql, tables[i].start))
			return tables[i].metric;
	return METRIC_UNIQUE_OTHER;
}

static enum status
bind(struct scope *s, struct db_rows *rows, struct db_args args)
{
	const struct db_value *v;
	int i, place, rc = SQLITE_OK;

	if (args.count != (size_t)rows->values)
		return fail(s, ERR_INTERNAL, NULL, "%s takes %d values, not %zu", sql_texts[rows->sql].name, rows->values, args.count);
	for (i = 0; i < rows->values && rc == SQLITE_OK; i++) {
		v = &args.values[i];
		place = rows->place[i];
		switch (v->type) {
		case DB_NULL:
			rc = sqlite3_bind_null(rows->stmt, place);
			break;
		case DB_INT:
			rc = sqlite3_bind_int64(rows->stmt, place, v->i);
			break;
		case DB_TEXT:
			rc = sqlite3_bind_text64(rows->stmt, place, v->t.p, v->t.len, SQLITE_STATIC, SQLITE_UTF8);
			break;
		}
	}
	return rc == SQLITE_OK ? OK : failed(s, rows->db, sql_texts[rows->sql].name, rc);
}

static int
step(struct db_rows *rows)
{
	if (rows->rc != SQLITE_OK && rows->rc != SQLITE_ROW)
		return rows->rc;
	rows->db->deadline = rows->deadline;
	rows->rc = sqlite3_step(rows->stmt);
	if (rows->rc == SQLITE_CONSTRAINT_UNIQUE || rows->rc == SQLITE_CONSTRAINT_PRIMARYKEY || rows->rc == SQLITE_CONSTRAINT_ROWID ||
	    (rows->rc == SQLITE_DONE && rows->may_do_nothing && sqlite3_changes64(rows->db->handle) == 0))
		rows->db->violations[rows->violation]++;
	return rows->rc;
}

static int
only_inside_transaction(void *unused, int action, const char *a, const char *b, const char *database, const char *trigger)
{
	switch (action) {
	case SQLITE_TRANSACTION:
	case SQLITE_SAVEPOINT:
	case SQLITE_ATTACH:
	case SQLITE_DETACH:
		return SQLITE_DENY;
	case SQLITE_PRAGMA:
		/* A column with a CHECK makes SQLite look through the rows that are there. */
		return strcmp(a, "quick_check") == 0 ? SQLITE_OK : SQLITE_DENY;
	default:
		return SQLITE_OK;
	}
}
