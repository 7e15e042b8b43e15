/* users.h - people, their tokens, their author resource. */
#ifndef STORE_USERS_H
#define STORE_USERS_H
#include "base/base.h"
#include "core/permission.h"
#include "db/db.h"

/* *found false: no such token, or it is revoked, expired, or its user inactive. */
enum status	 store_user_find_token(struct scope *, struct db *, struct principal *out, bool *found, const char *token_hash) MUST_USE;
/* Active users only; all scopes. */
enum status	 store_user_find_name(struct scope *, struct db *, struct principal *out, bool *found, const char *name) MUST_USE;
enum status	 store_user_find_id(struct scope *, struct db *, struct principal *out, bool *found, int64_t id) MUST_USE;
/* *added false: the name is taken. */
enum status	 store_user_add(struct scope *, struct db *, const char *name, enum role, const char *password_phc, int64_t *id,
		    bool *added) MUST_USE;
enum status	 store_user_count(struct scope *, struct db *, int64_t *out) MUST_USE;
/* The author resource that stands for a user; 0 = none yet. */
enum status	 store_user_author(struct scope *, struct db *, int64_t user, int64_t *author) MUST_USE;
enum status	 store_user_set_author(struct scope *, struct db *, int64_t user, int64_t author) MUST_USE;
enum status	 store_token_add(struct scope *, struct db *, const char *token_hash, int64_t user, unsigned scopes, int64_t expires_at) MUST_USE;
/* What people decided, for whoever asks later. `subject` is a uid. */
enum status	 store_audit_entry(struct scope *, struct db *, int64_t user, const char *action, const char *subject, const char *detail) MUST_USE;
#endif
