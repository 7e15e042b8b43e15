/* users.c - people and their tokens. */
#include "store/users.h"

static enum status	read_principal(struct scope *, struct db_rows *, struct principal *, bool has_scopes);

enum status
store_user_find_token(struct scope *s, struct db *db, struct principal *out, bool *found, const char *token_hash)
{
	struct db_rows *rows;
	enum status status = OK;

	TRY(db_query(s, db, &rows, SQL_USER_BY_TOKEN_HASH, ARGS(TEXT(token_hash), INT(s->now))));
	if ((*found = db_next(rows)))
		status = read_principal(s, rows, out, true);
	TRY(db_end(s, rows));
	return status;
}

enum status
store_user_find_name(struct scope *s, struct db *db, struct principal *out, bool *found, const char *name)
{
	struct db_rows *rows;
	enum status status = OK;

	TRY(db_query(s, db, &rows, SQL_USER_BY_NAME, ARGS(TEXT(name))));
	if ((*found = db_next(rows)))
		status = read_principal(s, rows, out, false);
	TRY(db_end(s, rows));
	return status;
}

enum status
store_user_find_id(struct scope *s, struct db *db, struct principal *out, bool *found, int64_t id)
{
	struct db_rows *rows;
	enum status status = OK;

	TRY(db_query(s, db, &rows, SQL_USER_BY_ID, ARGS(INT(id))));
	if ((*found = db_next(rows)))
		status = read_principal(s, rows, out, false);
	TRY(db_end(s, rows));
	return status;
}

enum status
store_user_add(struct scope *s, struct db *db, const char *name, enum role role, const char *password_phc, int64_t *id, bool *added)
{
	int64_t changes;

	TRY(db_run(s, db, SQL_USER_INSERT, ARGS(TEXT(name), TEXT(role_name(role)), TEXT(password_phc), INT(s->now)), &changes));
	*added = changes == 1;
	if (*added)
		*id = db_insert_id(db);
	return OK;
}

enum status
store_user_count(struct scope *s, struct db *db, int64_t *out)
{
	return db_value(s, db, out, SQL_USER_COUNT, NO_ARGS);
}

enum status
store_user_author(struct scope *s, struct db *db, int64_t user, int64_t *author)
{
	return db_value(s, db, author, SQL_USER_AUTHOR, ARGS(INT(user)));
}

enum status
store_user_set_author(struct scope *s, struct db *db, int64_t user, int64_t author)
{
	return db_run(s, db, SQL_USER_SET_AUTHOR, ARGS(INT(author), INT(s->now), INT(user)), NULL);
}

enum status
store_token_add(struct scope *s, struct db *db, const char *token_hash, int64_t user, unsigned scopes, int64_t expires_at)
{
	return db_run(s, db, SQL_TOKEN_INSERT, ARGS(TEXT(token_hash), INT(user), TEXT(scopes_text(s, scopes)), INT(s->now), ID(expires_at)), NULL);
}

/* What the table's checks let in, the parsers know; anything else is a database that another program wrote. */
static enum status
read_principal(struct scope *s, struct db_rows *rows, struct principal *out, bool has_scopes)
{
	*out = (struct principal){ .user_id = col_int(rows, 0), .name = col_text(s, rows, 1), .author_id = col_int(rows, 3),
		.scopes = TOKEN_SCOPE_ALL };
	if (!role_parse(col_str(rows, 2), &out->role) || (has_scopes && !scopes_parse(col_str(rows, 4), &out->scopes)))
		return fail(s, ERR_INTERNAL, NULL, "user %" PRId64 " has an unknown role or scope", out->user_id);
	return OK;
}

enum status
store_audit_entry(struct scope *s, struct db *db, int64_t user, const char *action, const char *subject, const char *detail)
{
	return db_run(s, db, SQL_AUDIT_ENTRY_INSERT, ARGS(INT(s->now), ID(user), TEXT(action), TEXT(subject), TEXT(detail)), NULL);
}
