/* permission.c - roles, token scopes, and the one decision. */
#include "core/permission.h"
#include <pthread.h>

struct rule {
	enum token_scope scope;
	bool		 viewer, author_own, author_other, editor, admin;
};

static const struct rule rules[ACTION_COUNT] = {
#define PERMISSION(action, scope, viewer, own, other, editor, admin)                                       \
	[ACTION_##action] = { TOKEN_SCOPE_##scope, viewer, own, other, editor, admin },
#include "core/permission.def"
#undef PERMISSION
};

static const char *const role_names[] = { [ROLE_NONE] = "none", [ROLE_VIEWER] = "viewer", [ROLE_AUTHOR] = "author",
	[ROLE_EDITOR] = "editor", [ROLE_ADMIN] = "admin" };

static const struct { enum token_scope bit; const char *name; } scope_names[] = {
	{ TOKEN_SCOPE_READ, "read" },
	{ TOKEN_SCOPE_WRITE, "write" },
	{ TOKEN_SCOPE_PUBLISH, "publish" },
	{ TOKEN_SCOPE_ADMIN, "admin" },
};

static char		names[ACTION_COUNT][32];	/* process: written once */
static pthread_once_t	names_once = PTHREAD_ONCE_INIT;

static void	names_fill(void);

bool
permitted(const struct principal *who, enum action action, int64_t owner_user)
{
	const struct rule	*rule;

	assert((unsigned)action < ACTION_COUNT);
	rule = &rules[action];
	if ((who->scopes & (unsigned)rule->scope) != (unsigned)rule->scope)
		return false;
	switch (who->role) {
	case ROLE_NONE:
		return rule->scope == TOKEN_SCOPE_NONE;
	case ROLE_VIEWER:
		return rule->viewer;
	case ROLE_AUTHOR:
		return owner_user == 0 || owner_user == who->user_id ? rule->author_own : rule->author_other;
	case ROLE_EDITOR:
		return rule->editor;
	case ROLE_ADMIN:
		return rule->admin;
	}
	return false;
}

enum status
permission_require(struct scope *s, const struct principal *who, enum action action, int64_t owner_user)
{
	unsigned	needed;

	if (permitted(who, action, owner_user))
		return OK;
	if (who->user_id == 0 && who->role == ROLE_NONE)
		return fail(s, ERR_UNAUTHENTICATED, NULL, "'%s' needs credentials", action_name(action));
	needed = (unsigned)rules[action].scope;
	if ((who->scopes & needed) != needed)
		return fail(s, ERR_DENIED, NULL, "'%s' needs a token with the scope '%s'", action_name(action),
		    scopes_text(s, needed));
	return fail(s, ERR_DENIED, NULL, "the role '%s' may not do '%s' here", role_name(who->role),
	    action_name(action));
}

const char *
action_name(enum action action)
{
	assert((unsigned)action < ACTION_COUNT);
	pthread_once(&names_once, names_fill);
	return names[action];
}

bool
action_parse(struct str text, enum action *out)
{
	for (*out = 0; *out < ACTION_COUNT; (*out)++)
		if (str_is(text, action_name(*out)))
			return true;
	return false;
}

unsigned
action_scopes(enum action action)
{
	assert((unsigned)action < ACTION_COUNT);
	return (unsigned)rules[action].scope;
}

bool
role_parse(struct str text, enum role *out)
{
	size_t	i;

	for (i = ROLE_VIEWER; i < COUNT(role_names); i++) {
		if (str_is(text, role_names[i])) {
			*out = (enum role)i;
			return true;
		}
	}
	return false;
}

const char *
role_name(enum role role)
{
	assert((unsigned)role < COUNT(role_names));
	return role_names[role];
}

bool
scopes_parse(struct str text, unsigned *out)
{
	struct str	piece;
	size_t		i;

	*out = TOKEN_SCOPE_NONE;
	if (str_is(str_trim(text), "all")) {
		*out = TOKEN_SCOPE_ALL;
		return true;
	}
	while (str_next(&text, ',', &piece)) {
		piece = str_trim(piece);
		for (i = 0; i < COUNT(scope_names) && !str_is(piece, scope_names[i].name); i++)
			;
		if (i == COUNT(scope_names))
			return false;
		*out |= (unsigned)scope_names[i].bit;
	}
	return *out != TOKEN_SCOPE_NONE;
}

const char *
scopes_text(struct scope *s, unsigned scopes)
{
	struct buf	out;
	size_t		i;

	buf_init(&out, s->arena);
	for (i = 0; i < COUNT(scope_names); i++) {
		if ((scopes & (unsigned)scope_names[i].bit) == 0)
			continue;
		if (out.len > 0)
			buf_char(&out, ',');
		buf_text(&out, scope_names[i].name);
	}
	return out.p;
}

/* The list knows the names in capitals; people read them small. */
static void
names_fill(void)
{
	static const char *const	capitals[ACTION_COUNT] = {
#define PERMISSION(action, ...) [ACTION_##action] = #action,
#include "core/permission.def"
#undef PERMISSION
	};
	size_t				i, j;

	for (i = 0; i < ACTION_COUNT; i++) {
		assert(strlen(capitals[i]) < sizeof(names[i]));
		for (j = 0; capitals[i][j] != '\0'; j++)
			names[i][j] = capitals[i][j] == '_' ? '_' : (char)(capitals[i][j] | 0x20);
	}
}
