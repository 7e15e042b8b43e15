/* redirects.c - redirects as one kind of thing. */
#include "store/redirects.h"

static const char	*role_of(const struct redirect *);
static enum status	find_one(struct scope *, struct db *, struct redirect *, bool *found, enum sql, struct db_args);

const char *
redirect_key(struct scope *s, const struct redirect *r)
{
	if (r->source == SOURCE_RULE)
		return scope_printf(s, "*%s", r->path);
	return r->source == SOURCE_QUERY ? scope_printf(s, "%s?%s", r->path, r->pairs != NULL ? r->pairs : "") : r->path;
}

bool
redirect_key_parse(struct scope *s, struct str key, struct redirect *out)
{
	size_t mark = str_find(key, '?');

	*out = (struct redirect){ .source = SOURCE_PATH };
	if (str_starts(key, "*")) {
		out->source = SOURCE_RULE;
		key = str_part(key, 1, mark = key.len);
	} else if (mark < key.len) {
		out->source = SOURCE_QUERY;
		out->pairs = str_dup(s->arena, str_part(key, mark + 1, key.len));
	}
	out->path = str_dup(s->arena, str_part(key, 0, mark));
	return (out->path[0] == '/' || out->path[0] == '\0') && strlen(out->path) == str_part(key, 0, mark).len;
}

enum status
store_redirect_find(struct scope *s, struct db *db, struct redirect *out, bool *found)
{
	switch (out->source) {
	case SOURCE_PATH:
		return find_one(s, db, out, found, SQL_REDIRECT_BY_PATH, ARGS(TEXT(out->path)));
	case SOURCE_QUERY:
		return find_one(s, db, out, found, SQL_REDIRECT_BY_QUERY, ARGS(TEXT(out->path), TEXT(out->pairs)));
	case SOURCE_RULE:
		break;
	}
	return find_one(s, db, out, found, SQL_REDIRECT_BY_PATTERN, ARGS(TEXT(out->path)));
}

enum status
store_redirect_find_uid(struct scope *s, struct db *db, struct redirect *out, bool *found, const char *uid)
{
	struct db_rows *rows;

	TRY(db_query(s, db, &rows, SQL_REDIRECT_KEY_OF_UID, ARGS(TEXT(uid))));
	if ((*found = db_next(rows)))
		*out = (struct redirect){ .source = (enum source_kind)col_int(rows, 0), .path = col_text(s, rows, 1), .pairs = col_text(s, rows, 2) };
	TRY(db_end(s, rows));
	return *found ? store_redirect_find(s, db, out, found) : OK;
}

enum status
store_redirect_insert(struct scope *s, struct db *db, const struct redirect *r, bool *inserted)
{
	enum status status = OK;
	int64_t changes = 0;

	switch (r->source) {
	case SOURCE_PATH:
		status = db_run(s, db, SQL_REDIRECT_INSERT_PATH, ARGS(TEXT(r->path), TEXT(r->fold), TEXT(role_of(r)), ID(r->resource_id),
		    TEXT(r->target), INT(r->status), TEXT(r->note), TEXT(r->uid), INT(r->created_at)), &changes);
		break;
	case SOURCE_QUERY:
		status = db_run(s, db, SQL_REDIRECT_INSERT_QUERY, ARGS(TEXT(r->path), TEXT(r->pairs), ID(r->resource_id), TEXT(r->target),
		    INT(r->status), TEXT(r->note), TEXT(r->uid), INT(r->created_at)), &changes);
		break;
	case SOURCE_RULE:
		status = db_run(s, db, SQL_REDIRECT_INSERT_RULE, ARGS(TEXT(r->path), ID(r->resource_id), TEXT(r->target), INT(r->status),
		    TEXT(r->note), TEXT(r->uid), INT(r->created_at)), &changes);
		break;
	}
	*inserted = changes == 1;
	return status;
}

enum status
store_redirect_update(struct scope *s, struct db *db, const struct redirect *r, bool *changed)
{
	enum status status = OK;
	int64_t changes = 0;

	switch (r->source) {
	case SOURCE_PATH:
		status = db_run(s, db, SQL_REDIRECT_UPDATE_PATH, ARGS(TEXT(role_of(r)), ID(r->resource_id), TEXT(r->target), INT(r->status),
		    TEXT(r->note), TEXT(r->uid), INT(r->changed_at), TEXT(r->path), INT(r->version)), &changes);
		break;
	case SOURCE_QUERY:
		status = db_run(s, db, SQL_REDIRECT_UPDATE_QUERY, ARGS(ID(r->resource_id), TEXT(r->target), INT(r->status), TEXT(r->note),
		    TEXT(r->uid), INT(r->changed_at), TEXT(r->path), TEXT(r->pairs), INT(r->version)), &changes);
		break;
	case SOURCE_RULE:
		status = db_run(s, db, SQL_REDIRECT_UPDATE_RULE, ARGS(ID(r->resource_id), TEXT(r->target), INT(r->status), TEXT(r->note),
		    TEXT(r->uid), INT(r->changed_at), TEXT(r->path), INT(r->version)), &changes);
		break;
	}
	*changed = changes == 1;
	return status;
}

enum status
store_redirect_remove(struct scope *s, struct db *db, const struct redirect *r, bool *removed)
{
	enum status status = OK;
	int64_t changes = 0;

	switch (r->source) {
	case SOURCE_PATH:
		status = db_run(s, db, SQL_REDIRECT_REMOVE_PATH, ARGS(TEXT(r->path), INT(r->version)), &changes);
		break;
	case SOURCE_QUERY:
		status = db_run(s, db, SQL_REDIRECT_REMOVE_QUERY, ARGS(TEXT(r->path), TEXT(r->pairs), INT(r->version)), &changes);
		break;
	case SOURCE_RULE:
		status = db_run(s, db, SQL_REDIRECT_REMOVE_RULE, ARGS(TEXT(r->path), INT(r->version)), &changes);
		break;
	}
	*removed = changes == 1;
	return status;
}

enum status
store_redirect_rule_count(struct scope *s, struct db *db, int64_t *out)
{
	return db_value(s, db, out, SQL_REDIRECT_RULE_COUNT, NO_ARGS);
}

enum status
store_redirects(struct scope *s, struct db *db, struct db_rows **rows, const struct redirect *after, int64_t resource, int limit)
{
	const char *pairs = after->pairs != NULL ? after->pairs : "";

	switch (after->source) {
	case SOURCE_PATH:
		if (resource != 0)
			return db_query(s, db, rows, SQL_REDIRECTS_OF_RESOURCE_PATH, ARGS(INT(resource), TEXT(after->path), INT(limit)));
		return db_query(s, db, rows, SQL_REDIRECTS_OF_PATH, ARGS(TEXT(after->path), INT(limit)));
	case SOURCE_QUERY:
		if (resource != 0)
			return db_query(s, db, rows, SQL_REDIRECTS_OF_RESOURCE_QUERY,
			    ARGS(INT(resource), TEXT(after->path), TEXT(pairs), INT(limit)));
		return db_query(s, db, rows, SQL_REDIRECTS_OF_QUERY, ARGS(TEXT(after->path), TEXT(pairs), INT(limit)));
	case SOURCE_RULE:
		break;
	}
	return db_query(s, db, rows, SQL_REDIRECTS_OF_RULES, ARGS(TEXT(after->path), INT(limit)));
}

void
store_redirect_row(struct scope *s, struct db_rows *rows, enum source_kind source, struct redirect *out)
{
	*out = (struct redirect){ .source = source, .path = col_text(s, rows, 0), .pairs = col_text(s, rows, 1), .uid = col_text(s, rows, 2),
		.resource_id = col_int(rows, 3), .target = col_text(s, rows, 4), .status = (int)col_int(rows, 5), .was_public = col_bool(rows, 6),
		.note = col_text(s, rows, 7), .version = col_int(rows, 8), .hits = col_int(rows, 9), .last_hit_at = col_int(rows, 10),
		.created_at = col_int(rows, 11), .changed_at = col_int(rows, 12), .resource_uid = col_text(s, rows, 13),
		.resource_path = col_text(s, rows, 16) };
	if (out->target != NULL && out->target[0] == '\0')
		out->target = NULL;
	if (out->changed_at == 0)
		out->changed_at = out->created_at;
	/* The schema's CHECKs leave no other words than those parsed. */
	if (out->resource_uid != NULL && (!kind_parse(col_str(rows, 14), &out->resource_kind) || !state_parse(col_str(rows, 15), &out->resource_state)))
		out->resource_state = STATE_DRAFT;
}

enum status
store_redirect_resource(struct scope *s, struct db *db, int64_t *id, const char *uid)
{
	struct db_rows *rows;

	*id = 0;
	TRY(db_query(s, db, &rows, SQL_REDIRECT_RESOURCE, ARGS(TEXT(uid))));
	if (db_next(rows))
		*id = col_int(rows, 0);
	return db_end(s, rows);
}

enum status
store_not_found_forget(struct scope *s, struct db *db, const char *path)
{
	return db_run(s, db, SQL_NOT_FOUND_FORGET, ARGS(TEXT(path)), NULL);
}

static enum status
find_one(struct scope *s, struct db *db, struct redirect *out, bool *found, enum sql sql, struct db_args args)
{
	enum source_kind source = out->source;
	struct db_rows *rows;

	TRY(db_query(s, db, &rows, sql, args));
	if ((*found = db_next(rows)))
		store_redirect_row(s, rows, source, out);
	return db_end(s, rows);
}

static const char *
role_of(const struct redirect *r)
{
	if (r->resource_id != 0)
		return "alias";
	return r->target != NULL ? "external" : "gone";
}
