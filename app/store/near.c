/* near.c - what live texts are like. */
#include "store/near.h"

#include "core/simhash.h"

enum status
store_near_stale(struct scope *s, struct db *db, int64_t after, int64_t last, struct near_stale *out, size_t limit, size_t *count)
{
	struct db_rows *rows;

	*count = 0;
	TRY(db_query(s, db, &rows, SQL_NEAR_STALE, ARGS(INT(after), INT(last), INT((int64_t)limit))));
	while (*count < limit && db_next(rows))
		out[(*count)++] = (struct near_stale){ col_int(rows, 0), col_text(s, rows, 1), col_text(s, rows, 2), col_int(rows, 3) };
	return db_end(s, rows);
}

enum status
store_near_set(struct scope *s, struct db *db, int64_t id, const char *content_hash, uint64_t hash)
{
	int64_t changes;

	TRY(db_run(s, db, SQL_NEAR_REMOVE_BLOCKS, ARGS(INT(id)), NULL));
	TRY(db_run(s, db, SQL_NEAR_REMOVE_TEXT, ARGS(INT(id)), NULL));
	if (content_hash == NULL)
		return OK;
	TRY(db_run(s, db, SQL_NEAR_INSERT_TEXT, ARGS(INT((int64_t)hash), INT(id), TEXT(content_hash)), &changes));
	for (int block = 0; block < SIMHASH_BLOCKS && changes == 1 && hash != 0; block++)
		TRY(db_run(s, db, SQL_NEAR_INSERT_BLOCK, ARGS(INT(block), INT(simhash_block(hash, block)), INT(id)), NULL));
	return OK;
}

enum status
store_near_texts(struct scope *s, struct db *db, int64_t from, struct near_text *out, size_t limit, size_t *count)
{
	struct db_rows *rows;

	*count = 0;
	TRY(db_query(s, db, &rows, SQL_NEAR_TEXTS, ARGS(INT(from), INT((int64_t)limit))));
	while (*count < limit && db_next(rows))
		out[(*count)++] = (struct near_text){ col_int(rows, 0), col_text(s, rows, 1), col_text(s, rows, 3), (uint64_t)col_int(rows, 2) };
	return db_end(s, rows);
}

enum status
store_near_in_block(struct scope *s, struct db *db, const char *locale, int block, int bits, int64_t after, const char *content_hash,
    struct near_text *out, size_t limit, size_t *count)
{
	struct db_rows *rows;

	*count = 0;
	TRY(db_query(s, db, &rows, SQL_NEAR_IN_BLOCK, ARGS(TEXT(locale), INT(block), INT(bits), INT(after), INT((int64_t)limit),
	    TEXT(content_hash))));
	while (*count < limit && db_next(rows))
		out[(*count)++] = (struct near_text){ .id = col_int(rows, 0), .hash = (uint64_t)col_int(rows, 1) };
	return db_end(s, rows);
}
