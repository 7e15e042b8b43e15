/* audit.c - reads for the audit. */
#include "store/audit.h"

static enum status	plain(struct scope *, struct db *, const char *after, struct audit_address *out, size_t limit, size_t *count);
static enum status	with_query(struct scope *, struct db *, const struct audit_address *after, struct audit_address *out, size_t limit,
			    size_t *count);

enum status
store_audit_range(struct scope *s, struct db *db, struct db_rows **rows, enum sql check, int64_t after, int64_t last)
{
	return db_query(s, db, rows, check, ARGS(INT(after), INT(last)));
}

enum status
store_audit_whole(struct scope *s, struct db *db, struct db_rows **rows, enum sql check, int64_t now)
{
	return db_query(s, db, rows, check, ARGS(INT(now)));
}

enum status
store_audit_last_resource(struct scope *s, struct db *db, int64_t *id)
{
	return db_value(s, db, id, SQL_AUDIT_LAST_RESOURCE, NO_ARGS);
}

enum status
store_audit_addresses(struct scope *s, struct db *db, const struct audit_address *after, struct audit_address *out, size_t limit, size_t *count)
{
	static const struct audit_address first = { .path = "", .pairs = "" };

	*count = 0;
	if (after == NULL || after->pairs == NULL)
		TRY(plain(s, db, after == NULL ? "" : after->path, out, limit, count));
	return *count > 0 ? OK : with_query(s, db, after == NULL || after->pairs == NULL ? &first : after, out, limit, count);
}

enum status
store_audit_schema(struct scope *s, struct db *db, struct audit_object **out, size_t *count)
{
	struct db_rows *rows;
	struct buf b;

	buf_init(&b, s->arena);
	TRY(db_query(s, db, &rows, SQL_AUDIT_SCHEMA, NO_ARGS));
	while (db_next(rows)) {
		struct audit_object o = { col_text(s, rows, 0), col_text(s, rows, 1), col_text(s, rows, 2) };

		buf_add(&b, &o, sizeof(o));
	}
	TRY(db_end(s, rows));
	*out = scope_alloc(s, b.len + 1);
	memcpy(*out, b.p, b.len);
	*count = b.len / sizeof(**out);
	return OK;
}

static enum status
plain(struct scope *s, struct db *db, const char *after, struct audit_address *out, size_t limit, size_t *count)
{
	struct db_rows *rows;

	TRY(db_query(s, db, &rows, SQL_AUDIT_PATHS, ARGS(TEXT(after), INT((int64_t)limit))));
	while (*count < limit && db_next(rows))
		out[(*count)++] = (struct audit_address){ .path = col_text(s, rows, 0), .is_canonical = str_is(col_str(rows, 1), "canonical"),
			.resource_id = col_int(rows, 2), .target = col_text(s, rows, 3), .fold = col_text(s, rows, 4) };
	return db_end(s, rows);
}

static enum status
with_query(struct scope *s, struct db *db, const struct audit_address *after, struct audit_address *out, size_t limit, size_t *count)
{
	struct db_rows *rows;

	TRY(db_query(s, db, &rows, SQL_AUDIT_PATH_QUERIES, ARGS(TEXT(after->path), TEXT(after->pairs), INT((int64_t)limit))));
	while (*count < limit && db_next(rows))
		out[(*count)++] = (struct audit_address){ .path = col_text(s, rows, 0), .pairs = col_text(s, rows, 1), .target = col_text(s, rows, 2) };
	return db_end(s, rows);
}
