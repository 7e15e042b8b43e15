/* users.h - people and their tokens. */
#ifndef ACTIONS_USERS_H
#define ACTIONS_USERS_H
#include "base/base.h"
#include "core/permission.h"
#include "db/db.h"

/* The principal of a bearer token; ERR_UNAUTHENTICATED when unknown, expired, revoked or its user inactive. Constant work. */
enum status	 user_by_token(struct scope *, struct db *, struct str token, struct principal *out) MUST_USE;
enum status	 user_by_name(struct scope *, struct db *, const char *name, struct principal *out) MUST_USE;

/* Inside a writing transaction (write_job apply, or writer_run): */
struct user_new { const char *name; enum role role; const char *password_phc; /* NULL = no password */ int64_t id; /* out */ };
enum status	 user_add(struct scope *, struct db *, void *user_new) MUST_USE;	/* ERR_CONFLICT field "name" when taken */
struct token_new { const char *user; unsigned scopes; int64_t expires_at; /* 0 = never */ const char *token; /* out: shown once */ };
enum status	 token_add(struct scope *, struct db *, void *token_new) MUST_USE;	/* "stele_" + 43 base64url characters */
enum status	 users_count(struct scope *, struct db *, int64_t *out) MUST_USE;
#endif
