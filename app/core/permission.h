/* permission.h - roles, token scopes, and the one decision. */
#ifndef CORE_PERMISSION_H
#define CORE_PERMISSION_H
#include "base/base.h"

enum role { ROLE_NONE, ROLE_VIEWER, ROLE_AUTHOR, ROLE_EDITOR, ROLE_ADMIN };
enum token_scope { TOKEN_SCOPE_NONE = 0, TOKEN_SCOPE_READ = 1, TOKEN_SCOPE_WRITE = 2, TOKEN_SCOPE_PUBLISH = 4, TOKEN_SCOPE_ADMIN = 8, TOKEN_SCOPE_ALL = 15 };

enum action {
#define PERMISSION(action, ...) ACTION_##action,
#include "core/permission.def"
#undef PERMISSION
	ACTION_COUNT
};

/* Who asks. Anonymous: user_id 0, ROLE_NONE. */
struct principal {
	int64_t		 user_id;
	const char	*name;
	enum role	 role;
	unsigned	 scopes;	/* bits of enum token_scope */
	int64_t		 author_id;	/* the author resource that stands for this user; 0 = none yet */
};

/* May `who` do `action` on a resource owned by `owner_user` (0: no particular resource, counts as own)? A token's scope
 * narrows the role, never widens it. The anonymous may do what needs no scope. */
bool		 permitted(const struct principal *who, enum action, int64_t owner_user);
/* As above, as a status: ERR_UNAUTHENTICATED for the anonymous, ERR_DENIED for others. */
enum status	 permission_require(struct scope *, const struct principal *who, enum action, int64_t owner_user) MUST_USE;

const char	*action_name(enum action);		/* "read_public" */
bool		 action_parse(struct str, enum action *);
unsigned	 action_scopes(enum action);		/* what a token must have for it: bits, or 0 */
bool		 role_parse(struct str, enum role *);	/* admin editor author viewer */
const char	*role_name(enum role);
/* "read,write" -> bits, blanks around commas allowed; false for an unknown or empty list. "all" is every scope. scopes_text always
 * lists them, so that a token does not gain scopes that are invented later. */
bool		 scopes_parse(struct str, unsigned *);
const char	*scopes_text(struct scope *, unsigned);

#endif
