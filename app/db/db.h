/* db.h - a small synchronous driver over named SQL statements. */
#ifndef DB_DB_H
#define DB_DB_H
#include "base/base.h"
#include "gen/sql.h"		/* enum sql: made by app/store/sql.awk from every app/store/ .sql file */

struct db;			/* one connection; one thread at a time */
struct db_rows;			/* a running query; one owner, ended by db_end */

enum db_mode { DB_READ, DB_WRITE };

/* WAL, synchronous=FULL, foreign_keys on, no auto-checkpoint, DQS off, trusted_schema off, defensive on. DB_READ opens read-only
 * and waits at most 250 ms for a lock, DB_WRITE 5 s. One query of a DB_READ handle lasts at most 5 s from db_query on (then ERR_BUSY): longer
 * work continues by cursor. The handle outlives the scope ("worker" lifetime). ERR_STORAGE when it cannot be opened; it creates nothing. */
enum status	 db_open(struct scope *, struct db **, const char *path, enum db_mode) MUST_USE;
void		 db_close(struct db *);				/* NULL is fine */

/* READ: a snapshot that stays the same until commit/rollback (taken now, not at the first query). WRITE: BEGIN IMMEDIATE. */
enum status	 db_begin(struct scope *, struct db *) MUST_USE;
enum status	 db_commit(struct scope *, struct db *) MUST_USE;	/* a failure has rolled back: nothing is stored */
void		 db_rollback(struct db *);			/* also right when SQLite already rolled back */
bool		 db_in_transaction(struct db *);

/* Nested: undo takes back everything since the innermost open savepoint, touched dependencies too; release keeps it. Both close it. */
enum status	 db_savepoint(struct scope *, struct db *) MUST_USE;
enum status	 db_release(struct scope *, struct db *) MUST_USE;
void		 db_undo(struct db *);

struct db_value {
	enum { DB_NULL, DB_INT, DB_TEXT } type;
	int64_t		 i;
	struct str	 t;
};
struct db_args {
	size_t		 count;
	const struct db_value *values;
};
/* Arguments in the order $1, $2, ... : ARGS(TEXT(slug), INT(id)), or NO_ARGS. TEXT(NULL) and STRV({NULL,0}) bind NULL. ID(0) binds NULL. */
#define ARGS(...)                                                                                          \
	((struct db_args){ sizeof((struct db_value[]){ __VA_ARGS__ }) / sizeof(struct db_value),           \
	    (struct db_value[]){ __VA_ARGS__ } })
#define NO_ARGS ((struct db_args){ 0, NULL })
struct db_value	 db_text(const char *);
struct db_value	 db_str(struct str);
struct db_value	 db_int(int64_t);
struct db_value	 db_id(int64_t);				/* 0 binds NULL */
#define TEXT(s) db_text(s)
#define STRV(s) db_str(s)
#define INT(n) db_int(n)
#define ID(n) db_id(n)

/* A statement is prepared once per handle; it may be queried again while it still runs. Values are bound by reference until db_end / the return of db_run. */
enum status	 db_query(struct scope *, struct db *, struct db_rows **, enum sql, struct db_args) MUST_USE;
bool		 db_next(struct db_rows *);
/* Ends the query and reports what went wrong while stepping. Must be called once for each successful db_query. */
enum status	 db_end(struct scope *, struct db_rows *) MUST_USE;

/* A statement without rows. *changes may be NULL. A constraint violation is ERR_CONFLICT (the caller knows which meaning it has);
 * full disk and I/O errors are ERR_STORAGE, a lost lock ERR_BUSY. */
enum status	 db_run(struct scope *, struct db *, enum sql, struct db_args, int64_t *changes) MUST_USE;
/* One row of one integer (INSERT ... RETURNING, count). ERR_NOT_FOUND without a row. */
enum status	 db_value(struct scope *, struct db *, int64_t *out, enum sql, struct db_args) MUST_USE;
int64_t		 db_insert_id(struct db *);

/* Columns from 0. Text is copied into the scope by col_text (NULL for NULL); col_str borrows until the next db_next / db_end. */
int64_t		 col_int(struct db_rows *, int col);
bool		 col_bool(struct db_rows *, int col);
bool		 col_null(struct db_rows *, int col);
const char	*col_text(struct scope *, struct db_rows *, int col);
struct str	 col_str(struct db_rows *, int col);

/* What the running transaction changed, by dependency name ("resource:42", "list:article"): written to change_log with the commit,
 * bumped in the shared page after it. Names are at most 100 bytes; a name said twice counts once. "*" is everything; a longer name, one
 * with a line break, and the 512th name of a transaction become "*". A row of change_log holds one name per line. */
void		 db_touch(struct db *, const char *name_fmt, ...) PRINTF_LIKE(2, 3);
/* For writer.c: write the touched names as one change_log row (nothing if none); bump them once the commit stands; forget them. */
struct shared;
enum status	 db_touched_save(struct scope *, struct db *) MUST_USE;
void		 db_touched_bump(struct db *, struct shared *);
/* Bump for every row of change_log that nobody bumped for yet: its writer died between COMMIT and bump, or did not have this page.
 * One look-up when there is none; every worker calls it every 250 ms. */
enum status	 db_changes_apply(struct scope *, struct db *, struct shared *) MUST_USE;

/* Highest applied migration, by the handle's own view. */
enum status	 db_schema_version(struct scope *, struct db *, int64_t *out) MUST_USE;
/* Test builds prepare every statement of enum sql; ERR_INTERNAL names the first that fails. */
enum status	 db_prepare_all(struct scope *, struct db *) MUST_USE;
/* PASSIVE, or TRUNCATE when `truncate`; *wal_bytes is the size of the log afterwards. Waits for no reader. What it moved is on the disk when it
 * returns, whether or not writers went on meanwhile. */
enum status	 db_checkpoint(struct scope *, struct db *, bool truncate, int64_t *wal_bytes) MUST_USE;
#endif
