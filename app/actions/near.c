/* near.c - near duplicates. */
#include "actions/near.h"

#include "actions/cursor.h"
#include "actions/json.h"
#include "core/simhash.h"
#include "db/writer.h"
#include "render/markdown.h"
#include "store/audit.h"
#include "store/near.h"
#include "store/resources.h"
#include "store/revisions.h"

#define KEEP_IDS 5000		/* looked through in a piece */
#define KEEP_ROWS 40		/* made in one transaction: a few ms */
#define KEEP_BYTES (1 << 20)	/* of text in a piece: the checkpoint and the schedule wait for it */
#define TEXTS 500		/* looked through by an answer */
#define IN_BLOCK 100
#define LIST "near-duplicates"

struct kept { int64_t id; const char *content_hash; uint64_t hash; };
struct keep { struct kept rows[KEEP_ROWS]; size_t count, bytes; };

struct listing {
	const struct site *site;
	struct buf	 json;
	size_t		 shown, limit;
	struct cursor	 last;		/* the pair that was shown last */
};

static enum status	keep_text(struct scope *, struct db *read, const struct near_stale *, struct keep *);
static enum status	keep_write(struct scope *, struct db *, void *keep);
static enum status	candidates(struct scope *, struct db *, const struct near_text *, int64_t after, struct near_text *out, size_t *count);
static int		by_id(const void *, const void *);
static enum status	list_of(struct scope *, struct db *, const struct near_text *, int64_t after, struct listing *);
static void		put_side(struct scope *, struct listing *, const char *name, const struct resource *);

enum status
near_keep(struct scope *s, struct db *write, struct db *read, struct shared *shared, int64_t *at, bool *more)
{
	struct near_stale stale[KEEP_ROWS];
	struct keep keep = { .count = 0 };
	int64_t last, until;
	size_t count, seen;

	TRY(store_audit_last_resource(s, read, &last));
	until = *at + KEEP_IDS < last ? *at + KEEP_IDS : last;
	TRY(store_near_stale(s, read, *at, until, stale, KEEP_ROWS, &count));
	for (seen = 0; seen < count && keep.bytes < KEEP_BYTES; seen++)
		TRY(keep_text(s, read, &stale[seen], &keep));
	if (keep.count > 0)
		TRY(writer_run(s, write, shared, keep_write, &keep));
	*more = seen == KEEP_ROWS || seen < count;
	*at = *more ? stale[seen - 1].id : until >= last ? 0 : until;
	return OK;
}

enum status
report_near(struct scope *s, struct db *db, const struct site *site, const struct principal *who, const struct report_filter *f, struct str *json,
    const char **next_cursor)
{
	struct near_text *texts = scope_alloc(s, TEXTS * sizeof(*texts));
	struct listing l = { .site = site };
	int64_t limit;
	size_t count, i;

	TRY(permission_require(s, who, ACTION_READ_REPORTS, 0));
	TRY(list_limit(s, &limit, f->limit));
	if (f->cursor != NULL)
		TRY(cursor_parse(s, &l.last, LIST, f->cursor));
	l.limit = (size_t)limit;
	buf_init(&l.json, s->arena);
	buf_text(&l.json, "{\"items\":[");
	TRY(store_near_texts(s, db, l.last.at, texts, TEXTS, &count));
	for (i = 0; i < count && l.shown < l.limit; i++)
		TRY(list_of(s, db, &texts[i], texts[i].id == l.last.at && l.last.id > texts[i].id ? l.last.id : texts[i].id, &l));
	/* A full page goes on behind its last pair, another one behind its last text. */
	if (l.shown < l.limit && count == TEXTS)
		l.last = (struct cursor){ texts[count - 1].id + 1, 0 };
	*next_cursor = l.shown == l.limit || count == TEXTS ? cursor_text(s, LIST, l.last) : NULL;
	buf_text(&l.json, "],\"next\":");
	json_put_text(&l.json, *next_cursor);
	buf_char(&l.json, '}');
	*json = buf_as_str(&l.json);
	return OK;
}

static enum status
keep_text(struct scope *s, struct db *read, const struct near_stale *stale, struct keep *keep)
{
	struct kept row = { .id = stale->id, .content_hash = stale->content_hash };
	struct arena_mark mark = arena_mark(s->arena);
	struct rendered rendered;
	enum status status = OK;

	if (row.content_hash != NULL && (status = store_rendered_load(s, read, &rendered, stale->id, stale->live_revision)) == OK) {
		row.hash = simhash(s, str_of(render_text(s, str_of(rendered.html))));
		keep->bytes += strlen(rendered.html);
		arena_rewind(s->arena, mark);
	}
	/* The audit tells of a text that was never rendered; the others must not wait for it. */
	if (status == ERR_NOT_FOUND) {
		s->error = NULL;
		return OK;
	}
	keep->rows[keep->count] = row;
	keep->count += status == OK;
	return status;
}

static enum status
keep_write(struct scope *s, struct db *db, void *arg)
{
	const struct keep *keep = arg;

	for (size_t i = 0; i < keep->count; i++)
		TRY(store_near_set(s, db, keep->rows[i].id, keep->rows[i].content_hash, keep->rows[i].hash));
	return OK;
}

/* Above `after`, near to `text`, by id, each once; at most SIMHASH_BLOCKS * IN_BLOCK. */
static enum status
candidates(struct scope *s, struct db *db, const struct near_text *text, int64_t after, struct near_text *out, size_t *count)
{
	size_t n, total = 0;

	for (int block = 0; block < SIMHASH_BLOCKS; block++) {
		TRY(store_near_in_block(s, db, text->locale, block, simhash_block(text->hash, block), after, text->content_hash, out + total,
		    IN_BLOCK, &n));
		for (size_t i = total; i < total + n;) {
			if (simhash_distance(text->hash, out[i].hash) <= SIMHASH_NEAR)
				i++;
			else
				out[i] = out[total + --n];
		}
		total += n;
	}
	qsort(out, total, sizeof(*out), by_id);
	*count = 0;
	for (size_t i = 0; i < total; i++)
		if (*count == 0 || out[i].id != out[*count - 1].id)
			out[(*count)++] = out[i];
	return OK;
}

static int
by_id(const void *a, const void *b)
{
	const struct near_text *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

static enum status
list_of(struct scope *s, struct db *db, const struct near_text *text, int64_t after, struct listing *l)
{
	struct near_text others[SIMHASH_BLOCKS * IN_BLOCK];
	struct resource first, second;
	size_t count;

	TRY(candidates(s, db, text, after, others, &count));
	if (count == 0)
		return OK;
	TRY(store_resource_load(s, db, &first, text->id));
	for (size_t i = 0; i < count && l->shown < l->limit; i++) {
		TRY(store_resource_load(s, db, &second, others[i].id));
		/* Rows come after the commit: what is live is looked up now. */
		if (first.content_hash == NULL || second.content_hash == NULL || strcmp(first.content_hash, second.content_hash) == 0)
			continue;
		buf_printf(&l->json, "%s{\"distance\":%d", l->shown++ > 0 ? "," : "", simhash_distance(text->hash, others[i].hash));
		put_side(s, l, "first", &first);
		put_side(s, l, "second", &second);
		buf_char(&l->json, '}');
		l->last = (struct cursor){ text->id, second.id };
	}
	return OK;
}

static void
put_side(struct scope *s, struct listing *l, const char *name, const struct resource *r)
{
	struct buf *b = &l->json;

	json_put_name(b, name);
	buf_text(b, "{\"id\":");
	json_put_text(b, r->uid);
	json_put_name(b, "kind");
	json_put_text(b, kind_name(r->kind));
	json_put_name(b, "title");
	json_put_text(b, r->live_title);
	json_put_name(b, "url");
	json_put_text(b, site_url(s, l->site, r->path));
	buf_char(b, '}');
}
