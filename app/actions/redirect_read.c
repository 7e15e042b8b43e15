/* redirect_read.c - one redirect, or a page of a list of them, as the API answers it. */
#include "actions/redirects.h"

#include "actions/cursor.h"
#include "actions/json.h"
#include "actions/resolve.h"
#include "base/hash.h"
#include "core/reserved.h"
#include "store/terms.h"

#define SCAN_MAX 2000		/* rows that one page looks at */

struct wanted {
	struct str	 prefix;	/* of the source, in stored form */
	bool		 has_source;	/* only one table is asked */
	enum source_kind source;
	int64_t		 resource_id;	/* 0 = any */
	int64_t		 status;	/* 0 = any */
	bool		 is_dead;
	int64_t		 limit;
	struct redirect	 after;		/* the row to go on behind */
	const char	*name;		/* of the list, for its cursors */
};

static enum status	read_filter(struct scope *, struct db *, const struct redirect_filter *, struct wanted *, bool *is_empty);
static enum status	list(struct scope *, struct db *, const struct site *, struct wanted *, struct str *json, const char **next);
static struct redirect	table_start(struct scope *, const struct wanted *, enum source_kind);
static enum status	list_table(struct scope *, struct db *, const struct site *, struct wanted *, struct buf *, int *scanned, int *shown,
			    bool *is_full);
static enum status	fits(struct scope *, struct db *, const struct site *, const struct wanted *, const struct redirect *, bool *);
static enum status	is_dead(struct scope *, struct db *, const struct site *, const struct redirect *, bool *);

enum status
redirect_read(struct scope *s, struct db *db, const struct site *site, const struct principal *who, const char *id, struct str *json,
    const char **etag)
{
	struct redirect r;
	struct buf b;

	TRY(permission_require(s, who, ACTION_MANAGE_REDIRECTS, 0));
	TRY(redirect_load(s, db, &r, id));
	buf_init(&b, s->arena);
	redirect_json(s, &b, site, &r);
	*json = buf_as_str(&b);
	*etag = scope_printf(s, "\"%" PRId64 "\"", r.version);
	return OK;
}

enum status
redirect_list(struct scope *s, struct db *db, const struct site *site, const struct principal *who, const struct redirect_filter *filter,
    struct str *json, const char **next_cursor)
{
	struct wanted w = { 0 };
	bool is_empty = false;

	TRY(permission_require(s, who, ACTION_MANAGE_REDIRECTS, 0));
	TRY(read_filter(s, db, filter, &w, &is_empty));
	if (is_empty) {
		*json = STR("{\"items\":[],\"next\":null}");
		*next_cursor = NULL;
		return OK;
	}
	return list(s, db, site, &w, json, next_cursor);
}

enum status
redirect_list_dead(struct scope *s, struct db *db, const struct site *site, const struct principal *who, const char *limit, const char *cursor,
    struct str *json, const char **next_cursor)
{
	const struct redirect_filter filter = { .limit = limit, .cursor = cursor };
	struct wanted w = { .is_dead = true };
	bool is_empty;

	TRY(permission_require(s, who, ACTION_MANAGE_REDIRECTS, 0));
	TRY(read_filter(s, db, &filter, &w, &is_empty));
	return list(s, db, site, &w, json, next_cursor);
}

enum status
redirect_load(struct scope *s, struct db *db, struct redirect *out, const char *id)
{
	struct str key;
	bool found = false;

	if (uuid_valid(str_of(id)))
		TRY(store_redirect_find_uid(s, db, out, &found, id));
	else if (id[0] == '~' && base64url_decode(s, str_of(id + 1), &key) && redirect_key_parse(s, key, out)) {
		TRY(store_redirect_find(s, db, out, &found));
		/* Once it has an id, that is the only one. */
		found = found && out->uid == NULL;
	}
	return found ? OK : fail(s, ERR_NOT_FOUND, NULL, "there is no such redirect");
}

const char *
redirect_id(struct scope *s, const struct redirect *r)
{
	const char *key;

	if (r->uid != NULL)
		return r->uid;
	key = redirect_key(s, r);
	return scope_printf(s, "~%s", base64url(s, key, strlen(key)));
}

const char *
redirect_url(struct scope *s, const struct site *site, const struct redirect *r)
{
	struct str target = str_of(r->target);
	size_t mark = str_find(target, '?');

	if (r->resource_path != NULL)
		return site_url(s, site, r->resource_path);
	if (r->target == NULL)
		return NULL;
	if (r->target[0] != '/')
		return r->target;
	/* The marks of a rule are no part of an address yet. */
	if (r->source == SOURCE_RULE)
		return scope_printf(s, "%s%s", site->public_origin, r->target);
	return scope_printf(s, "%s%s%.*s", site_url(s, site, str_dup(s->arena, str_part(target, 0, mark))), mark < target.len ? "?" : "",
	    STR_FMT(str_part(target, mark + 1, target.len)));
}

void
redirect_json(struct scope *s, struct buf *b, const struct site *site, const struct redirect *r)
{
	static const char *const matches[] = { "path", "query", "rule" };

	buf_char(b, '{');
	json_put_name(b, "id");
	json_put_text(b, redirect_id(s, r));
	json_put_name(b, "source");
	json_put_text(b, r->source == SOURCE_QUERY ? redirect_key(s, r) : r->path);
	json_put_name(b, "match");
	json_put_text(b, matches[r->source]);
	json_put_name(b, "target");
	json_put_text(b, redirect_url(s, site, r));
	json_put_name(b, "resource");
	if (r->resource_uid == NULL)
		buf_text(b, "null");
	else {
		buf_char(b, '{');
		json_put_name(b, "id");
		json_put_text(b, r->resource_uid);
		json_put_name(b, "kind");
		json_put_text(b, kind_name(r->resource_kind));
		json_put_name(b, "state");
		json_put_text(b, state_name(r->resource_state));
		buf_char(b, '}');
	}
	json_put_name(b, "status");
	buf_printf(b, "%d", r->status);
	json_put_name(b, "note");
	json_put_text(b, r->note);
	json_put_name(b, "was_public");
	buf_text(b, r->was_public ? "true" : "false");
	json_put_name(b, "hits");
	buf_printf(b, "%" PRId64, r->hits);
	json_put_name(b, "last_hit_at");
	json_put_time(b, r->last_hit_at);
	json_put_name(b, "version");
	buf_printf(b, "%" PRId64, r->version);
	json_put_name(b, "created_at");
	json_put_time(b, r->created_at);
	json_put_name(b, "changed_at");
	json_put_time(b, r->changed_at);
	buf_char(b, '}');
}

static enum status
read_filter(struct scope *s, struct db *db, const struct redirect_filter *in, struct wanted *w, bool *is_empty)
{
	struct str key;

	TRY(list_limit(s, &w->limit, in->limit));
	if (in->status != NULL && (!parse_int64(str_of(in->status), &w->status) || !redirect_status_is_good(w->status)))
		return fail(s, ERR_INVALID, "status", "must be 301, 302, 307, 308, 410 or 451");
	if (in->match != NULL) {
		w->has_source = true;
		if (strcmp(in->match, "path") == 0)
			w->source = SOURCE_PATH;
		else if (strcmp(in->match, "query") == 0)
			w->source = SOURCE_QUERY;
		else if (strcmp(in->match, "rule") == 0)
			w->source = SOURCE_RULE;
		else
			return fail(s, ERR_INVALID, "match", "must be path, query or rule");
	}
	if (in->source != NULL && in->source[0] != '/')
		return fail(s, ERR_INVALID, "source", "is the beginning of a path, and a path begins with '/'");
	w->prefix = str_of(in->source);
	if (in->resource != NULL) {
		TRY(store_redirect_resource(s, db, &w->resource_id, in->resource));
		*is_empty = w->resource_id == 0;
	}
	w->name = scope_printf(s, "redirects%d\n%.*s\n%d%d\n%" PRId64 "\n%" PRId64, w->is_dead, STR_FMT(w->prefix), w->has_source, (int)w->source,
	    w->resource_id, w->status);
	w->after = table_start(s, w, w->has_source ? w->source : SOURCE_PATH);
	if (in->cursor != NULL) {
		TRY(cursor_key_parse(s, &key, w->name, in->cursor));
		if (!redirect_key_parse(s, key, &w->after))
			return fail(s, ERR_CURSOR, "cursor", "this cursor leads nowhere");
	}
	return OK;
}

/* A page: table after table, until enough was shown or looked at. */
static enum status
list(struct scope *s, struct db *db, const struct site *site, struct wanted *w, struct str *json, const char **next)
{
	enum source_kind last = w->has_source ? w->source : SOURCE_RULE;
	int scanned = 0, shown = 0;
	bool is_full = false;
	struct buf b;

	buf_init(&b, s->arena);
	buf_text(&b, "{\"items\":[");
	for (;;) {
		TRY(list_table(s, db, site, w, &b, &scanned, &shown, &is_full));
		if (is_full || w->after.source == last)
			break;
		w->after = table_start(s, w, w->after.source + 1);
	}
	*next = !is_full ? NULL : cursor_key_text(s, w->name, str_of(redirect_key(s, &w->after)));
	buf_text(&b, "],\"next\":");
	json_put_text(&b, *next);
	buf_char(&b, '}');
	*json = buf_as_str(&b);
	return OK;
}

/* Before the first row of a table that may be wanted. Stored paths are ASCII: DEL comes behind whatever begins with the byte before it. */
static struct redirect
table_start(struct scope *s, const struct wanted *w, enum source_kind source)
{
	struct str before = str_part(w->prefix, 0, w->prefix.len - 1);
	struct redirect start = { .source = source, .path = "" };

	if (w->prefix.len > 1)
		start.path = scope_printf(s, "%.*s%c\x7f", STR_FMT(before), w->prefix.p[w->prefix.len - 1] - 1);
	return start;
}

/* The rows of w->after's table behind it; w->after is the last that was looked at. *is_full: the page is, and there is more. */
static enum status
list_table(struct scope *s, struct db *db, const struct site *site, struct wanted *w, struct buf *b, int *scanned, int *shown, bool *is_full)
{
	enum source_kind source = w->after.source;
	struct db_rows *rows;
	struct redirect r;
	enum status status = OK, ended;
	bool is_wanted;

	TRY(store_redirects(s, db, &rows, &w->after, source == SOURCE_RULE ? 0 : w->resource_id, SCAN_MAX + 1));
	while (db_next(rows)) {
		if (*shown == w->limit || *scanned == SCAN_MAX) {
			*is_full = true;
			break;
		}
		store_redirect_row(s, rows, source, &r);
		if (w->prefix.len > 1 && !str_starts(str_of(r.path), str_dup(s->arena, w->prefix)))
			break;
		++*scanned;
		w->after = (struct redirect){ .source = source, .path = r.path, .pairs = r.pairs };
		if ((status = fits(s, db, site, w, &r, &is_wanted)) != OK)
			break;
		if (!is_wanted)
			continue;
		if (++*shown > 1)
			buf_char(b, ',');
		redirect_json(s, b, site, &r);
	}
	ended = db_end(s, rows);
	return status != OK ? status : ended;
}

static enum status
fits(struct scope *s, struct db *db, const struct site *site, const struct wanted *w, const struct redirect *r, bool *out)
{
	if (w->is_dead)
		return is_dead(s, db, site, r, out);
	*out = (w->status == 0 || r->status == w->status) && (w->resource_id == 0 || r->resource_id == w->resource_id);
	return OK;
}

/* Does nobody answer where it leads? Files and other sites are not asked. */
static enum status
is_dead(struct scope *s, struct db *db, const struct site *site, const struct redirect *r, bool *out)
{
	struct str target = str_of(r->target != NULL ? r->target : ""), path = str_part(target, 0, str_find(target, '?'));
	struct resolution where;
	bool is_used = true;

	*out = r->resource_id != 0 && r->resource_state != STATE_PUBLISHED;
	if (r->resource_id != 0 && !*out && r->resource_kind == KIND_TAG) {
		/* A tag that nothing carries is no page. */
		TRY(store_live_tag_is_used(s, db, r->resource_id, 0, &is_used));
		*out = !is_used;
	}
	if (r->source == SOURCE_RULE || r->resource_id != 0 || target.len == 0 || target.p[0] != '/' ||
	    path_is_reserved(s, str_dup(s->arena, path), NULL) != (resolve_list(str_dup(s->arena, path)) != NULL))
		return OK;
	TRY(resolve(s, db, site, path, path.len < target.len ? str_part(target, path.len + 1, target.len) : (struct str){ "", 0 }, true, &where));
	*out = where.meaning == MEANING_NONE || where.meaning == MEANING_GONE;
	return OK;
}
