/* stage.c - redirects of a file that is being imported. */
#include "store/stage.h"

enum status
store_stage_insert(struct scope *s, struct db *db, const char *run, const struct staged *r)
{
	return db_run(s, db, SQL_STAGE_INSERT,
	    ARGS(TEXT(run), TEXT(r->source), INT(r->line), TEXT(r->fold), TEXT(r->target), INT(r->status), TEXT(r->note)), NULL);
}

enum status
store_stage_find(struct scope *s, struct db *db, const char *run, const char *source, struct staged *out, bool *found)
{
	struct db_rows *rows;

	TRY(db_query(s, db, &rows, SQL_STAGE_FIND, ARGS(TEXT(run), TEXT(source))));
	if ((*found = db_next(rows)))
		*out = (struct staged){ .source = source, .line = col_int(rows, 0), .target = col_text(s, rows, 1), .status = (int)col_int(rows, 2) };
	return db_end(s, rows);
}

enum status
store_stage_after(struct scope *s, struct db *db, const char *run, const char *source, struct staged *out, size_t max, size_t *count)
{
	struct db_rows *rows;

	*count = 0;
	TRY(db_query(s, db, &rows, SQL_STAGE_AFTER, ARGS(TEXT(run), TEXT(source), INT((int64_t)max))));
	while (*count < max && db_next(rows))
		out[(*count)++] = (struct staged){ .source = col_text(s, rows, 0), .line = col_int(rows, 1), .fold = col_text(s, rows, 2),
			.target = col_text(s, rows, 3), .status = (int)col_int(rows, 4), .note = col_text(s, rows, 5) };
	return db_end(s, rows);
}

enum status
store_stage_clear(struct scope *s, struct db *db, const char *run, int limit, int64_t *removed)
{
	return db_run(s, db, SQL_STAGE_CLEAR, ARGS(TEXT(run), INT(limit)), removed);
}

enum status
store_stage_clear_old(struct scope *s, struct db *db, const char *run, int limit, int64_t *removed)
{
	return db_run(s, db, SQL_STAGE_CLEAR_OLD, ARGS(TEXT(run), INT(limit)), removed);
}
