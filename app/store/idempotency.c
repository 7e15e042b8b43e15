/* idempotency.c - records of keyed requests. */
#include "store/idempotency.h"

enum status
store_record_claim(struct scope *s, struct db *db, const struct record_key *k, const char *hash, int hash_version, int64_t expires_at,
    bool *claimed)
{
	int64_t changes;

	TRY(db_run(s, db, SQL_IDEMPOTENCY_CLAIM, ARGS(INT(k->user_id), TEXT(k->method), TEXT(k->route), TEXT(k->key), TEXT(hash),
	    INT(hash_version), TEXT(s->log_id), INT(s->now), INT(expires_at)), &changes));
	*claimed = changes == 1;
	return OK;
}

enum status
store_record_finish(struct scope *s, struct db *db, const struct record_key *k, const struct record *r)
{
	int64_t changes;

	TRY(db_run(s, db, SQL_IDEMPOTENCY_FINISH, ARGS(TEXT(r->is_failed ? "FAILED" : "SUCCESS"), INT(r->status), TEXT(r->headers),
	    STRV(r->body), TEXT(r->resource_type), ID(r->resource_id), INT(k->user_id), TEXT(k->method), TEXT(k->route), TEXT(k->key)),
	    &changes));
	return changes == 1 ? OK : fail(s, ERR_INTERNAL, NULL, "the claim of the key vanished");
}

enum status
store_record_find(struct scope *s, struct db *db, const struct record_key *k, struct record *out, bool *found)
{
	struct db_rows *rows;

	TRY(db_query(s, db, &rows, SQL_IDEMPOTENCY_LOAD, ARGS(INT(k->user_id), TEXT(k->method), TEXT(k->route), TEXT(k->key))));
	*found = db_next(rows);
	if (*found) {
		struct str status = col_str(rows, 1);

		*out = (struct record){ .is_finished = !str_is(status, "PROCESSING"), .is_failed = str_is(status, "FAILED") };
		out->hash = col_text(s, rows, 0);
		out->status = (int)col_int(rows, 2);
		out->headers = col_text(s, rows, 3);
		out->body = str_of(col_text(s, rows, 4));
		out->resource_type = col_text(s, rows, 5);
		out->resource_id = col_int(rows, 6);
		out->expired_at = col_int(rows, 7);
		out->operation_id = col_text(s, rows, 8);
		out->is_retryable = col_bool(rows, 9);
	}
	return db_end(s, rows);
}

enum status
store_record_count(struct scope *s, struct db *db, const struct record_key *k, int64_t replays, int64_t conflicts, const char *request_id)
{
	return db_run(s, db, SQL_IDEMPOTENCY_COUNT, ARGS(INT(replays), INT(conflicts), TEXT(request_id), INT(s->now), INT(k->user_id),
	    TEXT(k->method), TEXT(k->route), TEXT(k->key)), NULL);
}

enum status
store_record_purge(struct scope *s, struct db *db, int limit, int64_t *removed)
{
	return db_run(s, db, SQL_IDEMPOTENCY_PURGE, ARGS(INT(s->now), INT(limit)), removed);
}

enum status
store_index_is_unique(struct scope *s, struct db *db, const char *table, const char *index, bool *out)
{
	int64_t count;

	TRY(db_value(s, db, &count, SQL_IDEMPOTENCY_GUARDS, ARGS(TEXT(table), TEXT(index))));
	*out = count == 1;
	return OK;
}
