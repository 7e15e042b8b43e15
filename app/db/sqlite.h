/* sqlite.h - what the other files of db/ need of a connection beyond db.h. Private to this folder and its tests. */
#ifndef DB_SQLITE_H
#define DB_SQLITE_H
#include "base/base.h"
#include "db/db.h"
#include "db/shared.h"
#include "db/touched.h"

/* Several statements at once, without values: settings of the connection. */
enum status	 db_exec(struct scope *, struct db *, const char *sql) MUST_USE;
/* A migration's text. Whatever would leave or end the caller's transaction (BEGIN, COMMIT, SAVEPOINT, ATTACH, PRAGMA) is refused. */
enum status	 db_exec_script(struct scope *, struct db *, const char *sql) MUST_USE;
/* A SELECT or PRAGMA that yields one integer; 0 when it yields no row. */
enum status	 db_ask(struct scope *, struct db *, int64_t *out, const char *sql) MUST_USE;

/* Pages in the log after the last commit of this handle; it starts over when all of it was moved and nobody reads it. */
int64_t		 db_wal_frames(struct db *);
int		 db_depth(struct db *);			/* open savepoints */
struct touched	*db_touched(struct db *);
/* Statements of this handle that a unique index of the table of `metric` (METRIC_UNIQUE_...) stopped since the last call: they failed or, by
 * ON CONFLICT DO NOTHING, did nothing. */
int64_t		 db_take_violations(struct db *, enum metric);
#endif
