/* hits.c - how often redirects were used, and what was not found. */
#include "store/hits.h"

enum status
store_redirect_hit(struct scope *s, struct db *db, const struct redirect *r, int64_t hits, int64_t last_at)
{
	switch (r->source) {
	case SOURCE_PATH:
		return db_run(s, db, SQL_HIT_PATH, ARGS(INT(hits), INT(last_at), TEXT(r->path)), NULL);
	case SOURCE_QUERY:
		return db_run(s, db, SQL_HIT_QUERY, ARGS(INT(hits), INT(last_at), TEXT(r->path), TEXT(r->pairs)), NULL);
	case SOURCE_RULE:
		break;
	}
	return db_run(s, db, SQL_HIT_RULE, ARGS(INT(hits), INT(last_at), TEXT(r->path)), NULL);
}

enum status
store_not_found_add(struct scope *s, struct db *db, const struct not_found *n)
{
	return db_run(s, db, SQL_NOT_FOUND_ADD, ARGS(TEXT(n->path), INT(n->hits), INT(n->first_at), INT(n->last_at)), NULL);
}

enum status
store_not_found_list(struct scope *s, struct db *db, const struct not_found *after, struct not_found *out, size_t max, size_t *count)
{
	struct db_rows *rows;

	*count = 0;
	TRY(db_query(s, db, &rows, SQL_NOT_FOUND_LIST, ARGS(INT(after->hits), INT(after->last_at), TEXT(after->path), INT((int64_t)max))));
	while (*count < max && db_next(rows))
		out[(*count)++] = (struct not_found){ col_text(s, rows, 0), col_int(rows, 1), col_int(rows, 2), col_int(rows, 3) };
	return db_end(s, rows);
}

enum status
store_not_found_prune(struct scope *s, struct db *db, int64_t before, int64_t keep, int limit, int64_t *removed)
{
	int64_t more = 0;

	TRY(db_run(s, db, SQL_NOT_FOUND_PRUNE_OLD, ARGS(INT(before), INT(limit)), removed));
	if (*removed < limit)
		TRY(db_run(s, db, SQL_NOT_FOUND_PRUNE_MANY, ARGS(INT(limit - *removed), INT(keep)), &more));
	*removed += more;
	return OK;
}
