/* docs_value.c - what the manual does not say twice: tables and numbers made of the closed lists and of the settings in force, as Markdown. */
#include "actions/docs.h"
#include "actions/facts.h"
#include "core/reserved.h"

typedef void value_fn(struct scope *, struct buf *, const struct site *);
static value_fn		retention_form, retention_write, retention_state, retention_operation, retention_message;
static value_fn		key_min, key_max, answer_max, errors, retryable_errors, writes, permissions, reserved, origin;
static void		put_days(struct buf *, int64_t ms, const char *blank);
static const char	*may(enum role, enum action);

static const struct { const char *name; value_fn *put; } values[] = {
	{ "retention_form", retention_form }, { "retention_write", retention_write }, { "retention_state", retention_state },
	{ "retention_operation", retention_operation }, { "retention_message", retention_message }, { "key_min", key_min }, { "key_max", key_max },
	{ "answer_max", answer_max }, { "errors", errors }, { "retryable_errors", retryable_errors }, { "writes", writes },
	{ "permissions", permissions }, { "reserved", reserved }, { "origin", origin },
};

bool
docs_value(struct scope *s, struct buf *b, const struct site *site, struct str name)
{
	for (size_t i = 0; i < COUNT(values); i++)
		if (str_is(name, values[i].name)) {
			values[i].put(s, b, site);
			return true;
		}
	return false;
}

static void
retention_form(struct scope *s, struct buf *b, const struct site *site)
{
	put_days(b, site->retention_form, " ");
}

static void
retention_write(struct scope *s, struct buf *b, const struct site *site)
{
	put_days(b, site->retention_write, " ");
}

static void
retention_state(struct scope *s, struct buf *b, const struct site *site)
{
	put_days(b, site->retention_state, " ");
}

static void
retention_operation(struct scope *s, struct buf *b, const struct site *site)
{
	put_days(b, site->retention_operation, " ");
}

static void
retention_message(struct scope *s, struct buf *b, const struct site *site)
{
	put_days(b, site->retention_message, " ");
}

static void
key_min(struct scope *s, struct buf *b, const struct site *site)
{
	buf_printf(b, "%d", KEY_MIN);
}

static void
key_max(struct scope *s, struct buf *b, const struct site *site)
{
	buf_printf(b, "%d", KEY_MAX);
}

static void
answer_max(struct scope *s, struct buf *b, const struct site *site)
{
	buf_printf(b, "%d", ANSWER_MAX);
}

static void
origin(struct scope *s, struct buf *b, const struct site *site)
{
	buf_text(b, site->admin_origin);
}

/* One heading each, so that the `type` of a problem leads to it. */
static void
errors(struct scope *s, struct buf *b, const struct site *site)
{
	int http = 0;

	for (int next = 400; next < 600; next++)
		for (enum status e = OK + 1; e < STATUS_COUNT; e++) {
			const struct status_info *i = status_info(e);

			if (i->http != next)
				continue;
			if (http != next)
				buf_printf(b, "\n## %d\n", next);
			http = next;
			buf_printf(b, "\n<h3 id=\"%s\"><code>%s</code></h3>\n\n**%s.** %s", i->code, i->code, i->title, i->help);
			buf_text(b, i->retryable ? " *The same request with the same key may be sent again.*\n" : "\n");
		}
}

static void
retryable_errors(struct scope *s, struct buf *b, const struct site *site)
{
	bool is_first = true;

	for (enum status e = OK + 1; e < STATUS_COUNT; e++)
		if (status_info(e)->retryable) {
			buf_printf(b, "%s[`%s`](/docs/errors#%s) (%d)", is_first ? "" : ", ", status_info(e)->code, status_info(e)->code, status_info(e)->http);
			is_first = false;
		}
}

static void
writes(struct scope *s, struct buf *b, const struct site *site)
{
	static const char *const carriers[] = { [CARRIER_REQUIRED] = "required", [CARRIER_OPTIONAL] = "optional", [CARRIER_EXEMPT] = "none" };

	buf_text(b, "| Request | Key | Kept | Permission | Why |\n| --- | --- | --- | --- | --- |\n");
	for (enum write_id id = 0; id < WRITE_COUNT; id++) {
		const struct write_rule *r = write_rule(id);

		buf_printf(b, "| `%s %s` | %s | ", r->method, r->route, carriers[r->carrier]);
		if (r->carrier == CARRIER_EXEMPT)
			buf_text(b, "not at all");
		else
			put_days(b, site_retention(site, r->retention), "&nbsp;");
		buf_printf(b, " | `%s` | %s |\n", action_name(r->action), r->reason);
	}
}

static void
permissions(struct scope *s, struct buf *b, const struct site *site)
{
	buf_text(b, "| Permission | Scope of the token | Viewer | Author | Editor | Admin |\n| --- | --- | --- | --- | --- | --- |\n");
	for (enum action a = 0; a < ACTION_COUNT; a++) {
		unsigned scopes = action_scopes(a);

		buf_printf(b, "| `%s` | %s | %s | %s | %s | %s |\n", action_name(a), scopes == TOKEN_SCOPE_NONE ? "none" : scopes_text(s, scopes),
		    may(ROLE_VIEWER, a), may(ROLE_AUTHOR, a), may(ROLE_EDITOR, a), may(ROLE_ADMIN, a));
	}
}

static const char *
may(enum role role, enum action action)
{
	const struct principal who = { .user_id = 1, .role = role, .scopes = TOKEN_SCOPE_ALL };

	return permitted(&who, action, 2) ? "yes" : permitted(&who, action, 1) ? "own" : "no";
}

static void
reserved(struct scope *s, struct buf *b, const struct site *site)
{
	static const struct { const char *name; bool is_prefix, is_exact; const char *why; } rows[] = {
#define SEGMENT false, false
#define PREFIX true, false
#define EXACT false, true
#define RESERVED(name, extent, why) { name, extent, why },
#include "core/reserved.def"
#undef RESERVED
#undef SEGMENT
#undef PREFIX
#undef EXACT
	};

	buf_text(b, "| Path | For |\n| --- | --- |\n");
	for (size_t i = 0; i < COUNT(rows); i++)
		buf_printf(b, "| `/%s`%s | %s |\n", rows[i].name, rows[i].is_exact ? ", alone" : rows[i].is_prefix ? " and all that begin with it" : " and all below it",
		    rows[i].why);
}

static void
put_days(struct buf *b, int64_t ms, const char *blank)
{
	int64_t hours = ms / 3600000, n = hours % 24 == 0 && hours > 24 ? hours / 24 : hours;

	buf_printf(b, "%" PRId64 "%s%s%s", n, blank, n == hours ? "hour" : "day", n == 1 ? "" : "s");
}
