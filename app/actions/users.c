/* users.c - people and their tokens. */
#include "actions/users.h"

#include "base/hash.h"
#include "store/users.h"

#define TOKEN_MAX 200

static enum status	check_name(struct scope *, const char *name);

enum status
user_by_token(struct scope *s, struct db *db, struct str token, struct principal *out)
{
	char hash[SHA256_HEX];
	bool found = false;

	/* The digest is looked up, not the token, so the time an index takes tells nothing about one. */
	if (token.len > 0 && token.len <= TOKEN_MAX) {
		sha256_hex_of(token, hash);
		TRY(store_user_find_token(s, db, out, &found, hash));
	}
	return found ? OK : fail(s, ERR_UNAUTHENTICATED, NULL, "the token is unknown, expired or revoked");
}

enum status
user_by_name(struct scope *s, struct db *db, const char *name, struct principal *out)
{
	bool found;

	TRY(store_user_find_name(s, db, out, &found, name));
	return found ? OK : fail(s, ERR_NOT_FOUND, "name", "there is no active user %s", name);
}

enum status
user_add(struct scope *s, struct db *db, void *user_new)
{
	struct user_new *u = user_new;
	bool added;

	TRY(check_name(s, u->name));
	if (u->role == ROLE_NONE)
		return fail(s, ERR_INVALID, "role", "a role is admin, editor, author or viewer");
	TRY(store_user_add(s, db, u->name, u->role, u->password_phc, &u->id, &added));
	return added ? OK : fail(s, ERR_CONFLICT, "name", "there is a user %s already", u->name);
}

enum status
token_add(struct scope *s, struct db *db, void *token_new)
{
	struct token_new *t = token_new;
	unsigned char random[32];
	char hash[SHA256_HEX];
	struct principal who;

	if (t->scopes == 0)
		return fail(s, ERR_INVALID, "scopes", "a token needs at least one scope");
	if (t->expires_at != 0 && t->expires_at <= s->now)
		return fail(s, ERR_INVALID, "expires", "the token would have expired already");
	TRY(user_by_name(s, db, t->user, &who));
	random_bytes(random, sizeof(random));
	t->token = scope_printf(s, "stele_%s", base64url(s, random, sizeof(random)));
	sha256_hex_of(str_of(t->token), hash);
	return store_token_add(s, db, hash, who.user_id, t->scopes, t->expires_at);
}

enum status
users_count(struct scope *s, struct db *db, int64_t *out)
{
	return store_user_count(s, db, out);
}

static enum status
check_name(struct scope *s, const char *name)
{
	struct str text = str_of(name);

	if (text.len == 0 || !utf8_valid(text) || utf8_count(text) > 64 || text_has_control(text, false) ||
	    !str_eq(str_trim(text), text))
		return fail(s, ERR_INVALID, "name", "a name is 1 to 64 characters without control characters or blanks at its ends");
	return OK;
}
