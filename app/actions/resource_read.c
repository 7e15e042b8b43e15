/* resource_read.c - one resource, or a page of a list of them, as the API answers it. */
#include "actions/cursor.h"
#include "actions/facts.h"
#include "actions/json.h"
#include "actions/resources.h"
#include "base/clock.h"
#include "store/resources.h"


static enum status	read_filter(struct scope *, struct db *, const struct principal *, enum kind, const struct resource_filter *,
			    struct list_filter *, bool *is_empty);
static enum status	read_sort(struct scope *, const char *sort, struct list_filter *);
static enum status	read_term(struct scope *, struct db *, enum kind, const char *name, int64_t *id, bool *is_empty);
static const char	*list_name(struct scope *, const struct resource_filter *, const struct list_filter *);
static enum facts_of	view_for(const struct principal *, const struct resource *);

enum status
resource_read(struct scope *s, struct db *db, const struct site *site, const struct principal *who, enum kind kind, const char *id,
    struct str *json, const char **etag)
{
	struct resource r;
	struct facts facts;
	enum facts_of of;

	TRY(store_resource_load_name(s, db, &r, kind, id));
	of = view_for(who, &r);
	if (of == FACTS_LIVE && r.state != STATE_PUBLISHED)
		return fail(s, ERR_NOT_FOUND, NULL, "there is no such %s", kind_name(kind));
	TRY(facts_of_resource(s, db, &facts, &r, of, true));
	*json = facts_json_full(s, site, &facts);
	*etag = scope_printf(s, "\"%" PRId64 "\"", r.edit_version);
	return OK;
}

enum status
resource_list(struct scope *s, struct db *db, const struct site *site, const struct principal *who, enum kind kind,
    const struct resource_filter *filter, struct str *json, const char **next_cursor)
{
	struct list_filter f;
	struct resource r;
	struct facts facts;
	int64_t ids[LIST_LIMIT_MAX + 1];
	size_t count = 0, shown, i;
	bool is_empty = false;
	struct buf b;

	TRY(read_filter(s, db, who, kind, filter, &f, &is_empty));
	shown = (size_t)f.limit++;
	if (!is_empty)
		TRY(store_resource_list(s, db, &f, ids, &count));
	buf_init(&b, s->arena);
	buf_text(&b, "{\"items\":[");
	for (i = 0; i < count && i < shown; i++) {
		TRY(store_resource_load(s, db, &r, ids[i]));
		TRY(facts_of_resource(s, db, &facts, &r, view_for(who, &r), false));
		if (i > 0)
			buf_char(&b, ',');
		buf_str(&b, facts_json_meta(s, site, &facts));
	}
	*next_cursor = count <= shown ? NULL :
	    cursor_text(s, list_name(s, filter, &f), (struct cursor){ f.by_changed ? r.changed_at : r.created_at, r.id });
	buf_text(&b, "],\"next\":");
	json_put_text(&b, *next_cursor);
	buf_char(&b, '}');
	*json = buf_as_str(&b);
	return OK;
}

/* Where a caller may not see the head, they see what is live. */
static enum facts_of
view_for(const struct principal *who, const struct resource *r)
{
	return permitted(who, ACTION_READ_DRAFT, r->owner_user) && who->user_id != 0 ? FACTS_HEAD : FACTS_LIVE;
}

static enum status
read_filter(struct scope *s, struct db *db, const struct principal *who, enum kind kind, const struct resource_filter *in,
    struct list_filter *f, bool *is_empty)
{
	enum state state;
	struct cursor cursor;
	int64_t limit;

	/* An owner that nobody is: may they see what is another's? */
	*f = (struct list_filter){ .kind = kind, .state = in->state, .locale = in->locale, .user_id = who->user_id,
		.sees_all = permitted(who, ACTION_READ_DRAFT, -1) };
	/* A token without the right to read drafts sees not even its user's own. */
	if (!permitted(who, ACTION_READ_DRAFT, who->user_id) || who->user_id == 0)
		f->user_id = -1;
	if (in->state != NULL && !state_parse(str_of(in->state), &state))
		return fail(s, ERR_INVALID, "state", "must be draft, scheduled, published, withdrawn or gone");
	/* Known without reading every row that is to be hidden. */
	if (in->state != NULL && state != STATE_PUBLISHED && !f->sees_all && f->user_id == -1)
		*is_empty = true;
	if (in->changed_since != NULL && !clock_parse_rfc3339(str_of(in->changed_since), &f->changed_since))
		return fail(s, ERR_INVALID, "changed_since", "must be an RFC 3339 time with an offset");
	TRY(list_limit(s, &limit, in->limit));
	f->limit = (int)limit;
	TRY(read_sort(s, in->sort, f));
	TRY(read_term(s, db, KIND_TAG, in->tag, &f->tag_id, is_empty));
	TRY(read_term(s, db, KIND_AUTHOR, in->author, &f->author_id, is_empty));
	f->after_at = f->after_id = f->is_down ? INT64_MAX : INT64_MIN;
	if (in->cursor != NULL) {
		TRY(cursor_parse(s, &cursor, list_name(s, in, f), in->cursor));
		f->after_at = cursor.at;
		f->after_id = cursor.id;
	}
	return OK;
}

static enum status
read_sort(struct scope *s, const char *sort, struct list_filter *f)
{
	const char *name = sort == NULL ? "-created_at" : sort;

	f->is_down = name[0] == '-';
	name += f->is_down;
	f->by_changed = strcmp(name, "changed_at") == 0;
	if (!f->by_changed && strcmp(name, "created_at") != 0)
		return fail(s, ERR_INVALID, "sort", "must be created_at or changed_at, with a '-' in front for newest first");
	return OK;
}

/* A tag or author that is not there has no resources: an empty list, no mistake. */
static enum status
read_term(struct scope *s, struct db *db, enum kind kind, const char *name, int64_t *id, bool *is_empty)
{
	struct resource r;
	enum status status;

	if (name == NULL)
		return OK;
	status = store_resource_load_name(s, db, &r, kind, name);
	if (status == ERR_NOT_FOUND) {
		s->error = NULL;
		*is_empty = true;
		return OK;
	}
	*id = r.id;
	return status;
}

static const char *
list_name(struct scope *s, const struct resource_filter *in, const struct list_filter *f)
{
	return scope_printf(s, "%s\n%s\n%" PRId64 "\n%" PRId64 "\n%s\n%" PRId64 "\n%d%d\n%d %" PRId64, kind_name(f->kind),
	    in->state != NULL ? in->state : "", f->tag_id, f->author_id, in->locale != NULL ? in->locale : "", f->changed_since, f->by_changed,
	    f->is_down, f->sees_all, f->user_id);
}
