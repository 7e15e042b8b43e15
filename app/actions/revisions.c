#include "actions/revisions.h"

#include "actions/cursor.h"
#include "actions/facts.h"
#include "actions/input.h"
#include "actions/json.h"
#include "actions/plan.h"
#include "actions/resource_answer.h"
#include "core/diff.h"
#include "render/markdown.h"
#include "store/resources.h"
#include "store/revisions.h"

#define CONTEXT 3		/* equal lines that are shown around a change */
#define SHOWN_MAX 50000		/* lines of one answer: a text of line feeds alone would make it twenty times as long as the text */

struct restore { int64_t id, number; const char *name_fold; };

static enum status	find(struct scope *, struct db *, const struct principal *, enum kind, const char *id, struct resource *);
static enum status	read_number(struct scope *, const char *text, const char *field, int64_t *out);
static void		put_item(struct buf *, const struct resource *, const struct revision_item *);
static void		put_fields(struct scope *, struct buf *, const struct revision *, const struct revision *);
static void		put_change(struct buf *, const char *name, const char *from, const char *to, bool *is_first);
static void		put_lines(struct buf *, const struct diff *);
static size_t		put_run(struct buf *, const struct diff *, size_t run, size_t *room, bool *is_first);
static void		put_count(struct buf *, const char *op, size_t count, bool *is_first);
static void		put_line(struct buf *, enum diff_op, struct str text, bool *is_first);
static enum status	restore_apply(struct scope *, struct db *, struct unit *);

enum status
revision_list(struct scope *s, struct db *db, const struct principal *who, enum kind kind, const char *id, const char *limit_text,
    const char *cursor, struct str *json, const char **next_cursor)
{
	struct revision_item items[LIST_LIMIT_MAX + 1];
	struct cursor place = { .at = INT64_MAX };
	struct resource r;
	const char *list;
	size_t count, i;
	int64_t limit;
	struct buf b;

	TRY(find(s, db, who, kind, id, &r));
	list = scope_printf(s, "revisions %s", r.uid);
	TRY(list_limit(s, &limit, limit_text));
	if (cursor != NULL)
		TRY(cursor_parse(s, &place, list, cursor));
	TRY(store_revision_list(s, db, r.id, place.at, items, (size_t)limit + 1, &count));
	buf_init(&b, s->arena);
	buf_text(&b, "{\"items\":[");
	for (i = 0; i < count && i < (size_t)limit; i++) {
		if (i > 0)
			buf_char(&b, ',');
		put_item(&b, &r, &items[i]);
		buf_char(&b, '}');
	}
	*next_cursor = count <= (size_t)limit ? NULL : cursor_text(s, list, (struct cursor){ items[limit - 1].number, r.id });
	buf_text(&b, "],\"next\":");
	json_put_text(&b, *next_cursor);
	buf_char(&b, '}');
	*json = buf_as_str(&b);
	return OK;
}

enum status
revision_read(struct scope *s, struct db *db, const struct site *site, const struct principal *who, enum kind kind, const char *id,
    const char *number_text, struct str *json)
{
	struct revision_item item;
	struct facts facts;
	struct resource r;
	int64_t number;
	size_t count;
	struct buf b;

	TRY(find(s, db, who, kind, id, &r));
	TRY(read_number(s, number_text, NULL, &number));
	TRY(store_revision_list(s, db, r.id, number + 1, &item, 1, &count));
	TRY(facts_of_revision(s, db, &facts, &r, number, true));
	buf_init(&b, s->arena);
	put_item(&b, &r, &item);
	json_put_name(&b, "document");
	buf_str(&b, facts_json_full(s, site, &facts));
	buf_char(&b, '}');
	*json = buf_as_str(&b);
	return OK;
}

enum status
revision_diff(struct scope *s, struct db *db, const struct principal *who, enum kind kind, const char *id, const char *number_text,
    const char *against, struct str *json)
{
	struct revision from = { .title = "", .source = "", .fields = "{}" }, to;
	struct resource r;
	int64_t number, other;
	struct diff diff;
	struct buf b;

	TRY(find(s, db, who, kind, id, &r));
	TRY(read_number(s, number_text, NULL, &number));
	other = number - 1;
	if (against != NULL)
		TRY(read_number(s, against, "against", &other));
	TRY(store_revision_load(s, db, &to, r.id, number, true));
	/* The first one is compared with nothing. */
	if (other > 0)
		TRY(store_revision_load(s, db, &from, r.id, other, true));
	diff_lines(s, &diff, str_of(from.source), str_of(to.source));
	buf_init(&b, s->arena);
	buf_printf(&b, "{\"from\":%" PRId64 ",\"to\":%" PRId64 ",\"fields\":{", other, number);
	put_fields(s, &b, &from, &to);
	buf_text(&b, "},\"lines\":[");
	put_lines(&b, &diff);
	buf_printf(&b, "],\"is_whole\":%s}", diff.is_whole ? "true" : "false");
	*json = buf_as_str(&b);
	return OK;
}

enum status
revision_restore_prepare(struct scope *s, struct db *db, struct unit *u, enum kind kind, const char *id, const char *number_text, json_t *body)
{
	static const char *const no_names[] = { NULL };
	struct restore *restore = scope_alloc(s, sizeof(*restore));
	struct revision v;
	struct resource r;
	struct input in;

	TRY(resource_for(s, db, &u->who, ACTION_UPDATE, kind, id, &r));
	s->error = NULL;
	in = input_of(s, body, "");
	input_known(&in, no_names);
	TRY(in.status);
	TRY(read_number(s, number_text, NULL, &restore->number));
	TRY(version_require(s, u->if_match, r.edit_version));
	TRY(store_revision_load(s, db, &v, r.id, restore->number, false));
	if (kind == KIND_TAG || kind == KIND_AUTHOR)
		TRY(plan_name_fold(s, &restore->name_fold, v.title));
	restore->id = r.id;
	u->input = restore;
	u->apply = restore_apply;
	return OK;
}

static enum status
restore_apply(struct scope *s, struct db *db, struct unit *u)
{
	const struct restore *restore = u->input;
	struct rendered rendered;
	struct revision v;
	struct resource r;
	bool changed;

	TRY(store_resource_load(s, db, &r, restore->id));
	if (r.state == STATE_GONE)
		return fail(s, ERR_GONE, NULL, "the %s %s was deleted", kind_name(r.kind), r.uid);
	TRY(version_require(s, u->if_match, r.edit_version));
	if (restore->number == r.head_revision)
		return resource_answer_stored(s, db, u, &r);
	TRY(store_revision_load(s, db, &v, r.id, restore->number, true));
	TRY(store_rendered_load(s, db, &rendered, r.id, restore->number));
	v.number = r.head_revision + 1;
	v.editor_user = u->who.user_id;
	v.created_at = s->now;
	TRY(store_revision_insert(s, db, r.id, &v));
	TRY(store_rendered_insert(s, db, r.id, v.number, RENDERER_VERSION, &rendered));
	r.head_revision = v.number;
	r.changed_at = s->now;
	TRY(store_resource_edit(s, db, &r, restore->name_fold, &changed));
	if (!changed)
		return fail(s, ERR_INTERNAL, NULL, "the resource changed inside the transaction");
	return resource_answer_stored(s, db, u, &r);
}

static enum status
find(struct scope *s, struct db *db, const struct principal *who, enum kind kind, const char *id, struct resource *r)
{
	TRY(store_resource_load_name(s, db, r, kind, id));
	if (!permitted(who, ACTION_READ_DRAFT, r->owner_user))
		return fail(s, ERR_NOT_FOUND, NULL, "there is no such %s", kind_name(kind));
	return OK;
}

/* In the path it names a revision that may not be there; as a parameter it may be wrong. */
static enum status
read_number(struct scope *s, const char *text, const char *field, int64_t *out)
{
	if (parse_int64(str_of(text), out) && *out > 0 && *out < INT32_MAX)
		return OK;
	return field == NULL ? fail(s, ERR_NOT_FOUND, NULL, "there is no such revision") :
	    fail(s, ERR_INVALID, field, "must be the number of a revision");
}

static void
put_item(struct buf *b, const struct resource *r, const struct revision_item *item)
{
	buf_printf(b, "{\"number\":%" PRId64, item->number);
	json_put_name(b, "title");
	json_put_text(b, item->title);
	json_put_name(b, "editor");
	json_put_text(b, item->editor);
	json_put_name(b, "created_at");
	json_put_time(b, item->created_at);
	buf_printf(b, ",\"is_head\":%s,\"is_live\":%s,\"is_scheduled\":%s", item->number == r->head_revision ? "true" : "false",
	    item->number == r->live_revision && r->state == STATE_PUBLISHED ? "true" : "false",
	    item->number == r->scheduled_revision ? "true" : "false");
}

static void
put_fields(struct scope *s, struct buf *b, const struct revision *from, const struct revision *to)
{
	const struct { const char *name, *from, *to; } texts[] = {
		{ "title", from->title, to->title }, { "summary", from->summary, to->summary },
		{ "format", format_name(from->format), format_name(to->format) }, { "fields", from->fields, to->fields },
		{ "tags", store_ids_text(s, from->tag_ids, from->tag_count), store_ids_text(s, to->tag_ids, to->tag_count) },
		{ "author", scope_printf(s, "%" PRId64, from->author_id), scope_printf(s, "%" PRId64, to->author_id) },
		{ "seo.title", from->seo_title, to->seo_title }, { "seo.description", from->seo_description, to->seo_description },
		{ "seo.image", from->seo_image, to->seo_image }, { "seo.canonical", from->canonical, to->canonical },
		{ "seo.noindex", from->noindex ? "true" : "false", to->noindex ? "true" : "false" },
	};
	bool is_first = true;
	size_t i;

	for (i = 0; i < COUNT(texts); i++)
		put_change(b, texts[i].name, texts[i].from, texts[i].to, &is_first);
}

static void
put_change(struct buf *b, const char *name, const char *from, const char *to, bool *is_first)
{
	if (from == to || (from != NULL && to != NULL && strcmp(from, to) == 0))
		return;
	if (!*is_first)
		buf_char(b, ',');
	*is_first = false;
	json_put_text(b, name);
	buf_text(b, ":{\"from\":");
	json_put_text(b, from);
	buf_text(b, ",\"to\":");
	json_put_text(b, to);
	buf_char(b, '}');
}

static void
put_lines(struct buf *b, const struct diff *d)
{
	size_t room = SHOWN_MAX, left_out = 0, i;
	bool is_first = true;

	for (i = 0; i < d->run_count; i++)
		left_out += put_run(b, d, i, &room, &is_first);
	if (left_out > 0)
		put_count(b, "omitted", left_out, &is_first);
}

/* How many of its lines found no room. */
static size_t
put_run(struct buf *b, const struct diff *d, size_t run, size_t *room, bool *is_first)
{
	const struct diff_run *r = &d->runs[run];
	const struct str *lines = r->op == DIFF_ADDED ? d->new_lines : d->old_lines;
	size_t before = run == 0 ? 0 : CONTEXT, after = run + 1 == d->run_count ? 0 : CONTEXT, i;
	bool is_long = r->op == DIFF_SAME && r->count > before + after;

	for (i = 0; i < r->count && *room > 0; i++) {
		if (is_long && i == before) {
			put_count(b, "skipped", r->count - before - after, is_first);
			i = r->count - after;
			if (i == r->count)
				break;
		}
		put_line(b, r->op, lines[r->from + i], is_first);
		(*room)--;
	}
	return r->count - i;
}

static void
put_count(struct buf *b, const char *op, size_t count, bool *is_first)
{
	buf_printf(b, "%s{\"op\":\"%s\",\"count\":%zu}", *is_first ? "" : ",", op, count);
	*is_first = false;
}

static void
put_line(struct buf *b, enum diff_op op, struct str text, bool *is_first)
{
	static const char *const names[] = { "same", "removed", "added" };

	buf_printf(b, "%s{\"op\":\"%s\",\"text\":", *is_first ? "" : ",", names[op]);
	*is_first = false;
	json_put_text(b, arena_strndup(b->arena, text.p, text.len));
	buf_char(b, '}');
}
