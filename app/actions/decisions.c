#include "actions/decisions.h"

#include "actions/cursor.h"
#include "actions/input.h"
#include "actions/json.h"
#include "actions/lifecycle.h"
#include "actions/live.h"
#include "actions/resource_answer.h"
#include "store/duplicates.h"
#include "store/resources.h"
#include "store/terms.h"
#include "store/users.h"

#define REASON_MAX 500
#define LIST "duplicate-content"

enum verdict { DISTINCT, REDIRECT, UNDO, VERDICTS };
struct decision {
	int64_t		 id, original;	/* whose copy it was when it was decided */
	enum verdict	 verdict;
	const char	*reason;	/* of DISTINCT, else NULL */
};

static const char *const verdicts[VERDICTS] = { "distinct", "redirect", "undo" };

static bool		verdict_parse(const char *word, enum verdict *);
static enum status	decision_apply(struct scope *, struct db *, struct unit *);
static enum status	decide(struct scope *, struct db *, const struct unit *, struct resource *);
static enum status	settle(struct scope *, struct db *, const struct unit *, struct resource *, const char *reason);
static void		put_side(struct scope *, struct buf *, const struct site *, const char *name, const struct copy_side *);

enum status
decision_prepare(struct scope *s, struct db *db, struct unit *u, enum kind kind, const char *id, json_t *body)
{
	static const char *const names[] = { "decision", "reason", NULL };
	struct decision *d = scope_alloc(s, sizeof(*d));
	const char *word, *reason;
	struct resource r;
	struct input in;

	TRY(resource_for_step(s, db, &u->who, ACTION_PUBLISH, kind, id, true, &r));
	s->error = NULL;
	in = input_of(s, body, "");
	input_known(&in, names);
	word = input_required(&in, "decision", 20);
	reason = input_text(&in, "reason", REASON_MAX, true);
	if (word != NULL && !verdict_parse(word, &d->verdict))
		input_bad(&in, ERR_INVALID, "decision", "must be \"distinct\", \"redirect\" or \"undo\"");
	else if (word != NULL && d->verdict == DISTINCT && (reason == NULL || str_trim(str_of(reason)).len == 0))
		input_bad(&in, ERR_INVALID, "reason", "say why this text is published twice on purpose");
	TRY(in.status);
	if (d->verdict == REDIRECT)
		TRY(permission_require(s, &u->who, ACTION_DELETE, r.owner_user));
	TRY(version_require(s, u->if_match, r.edit_version));
	d->id = r.id;
	d->original = r.duplicate_of;
	d->reason = d->verdict == DISTINCT ? reason : NULL;
	u->input = d;
	u->apply = decision_apply;
	return OK;
}

enum status
decision_report(struct scope *s, struct db *db, const struct site *site, const struct principal *who, const char *limit_text, const char *cursor,
    struct str *json, const char **next_cursor)
{
	struct copy_row rows[LIST_LIMIT_MAX + 1];
	struct cursor place = { 0 };
	size_t count, i;
	int64_t limit;
	struct buf b;

	TRY(permission_require(s, who, ACTION_READ_REPORTS, 0));
	TRY(list_limit(s, &limit, limit_text));
	if (cursor != NULL)
		TRY(cursor_parse(s, &place, LIST, cursor));
	TRY(store_duplicates_list(s, db, place.at, place.id, rows, (size_t)limit + 1, &count));
	buf_init(&b, s->arena);
	buf_text(&b, "{\"items\":[");
	for (i = 0; i < count && i < (size_t)limit; i++) {
		buf_text(&b, i == 0 ? "{" : ",{");
		put_side(s, &b, site, "copy", &rows[i].copy);
		put_side(s, &b, site, "original", &rows[i].original);
		json_put_name(&b, "since");
		json_put_time(&b, rows[i].since);
		buf_char(&b, '}');
	}
	*next_cursor = count <= (size_t)limit ? NULL :
	    cursor_text(s, LIST, (struct cursor){ rows[limit - 1].original.id, rows[limit - 1].copy.id });
	buf_text(&b, "],\"next\":");
	json_put_text(&b, *next_cursor);
	buf_char(&b, '}');
	*json = buf_as_str(&b);
	return OK;
}

static bool
verdict_parse(const char *word, enum verdict *out)
{
	for (*out = 0; *out < VERDICTS; ++*out)
		if (strcmp(word, verdicts[*out]) == 0)
			return true;
	return false;
}

static enum status
decision_apply(struct scope *s, struct db *db, struct unit *u)
{
	const struct decision *d = u->input;
	struct resource r;
	bool unchanged;

	if (d->verdict != REDIRECT) {
		TRY(decide(s, db, u, &r));
		return resource_answer_stored(s, db, u, &r);
	}
	TRY(store_resource_load(s, db, &r, d->id));
	if (r.merged_into == 0 && r.state != STATE_GONE && r.duplicate_of != d->original)
		return fail(s, ERR_STATE_CONFLICT, "decision", "the %s %s is another's copy by now; look again", kind_name(r.kind), r.uid);
	TRY(merge_write(s, db, u->site, d->id, u->if_match, &r, &unchanged));
	if (!unchanged)
		TRY(store_audit_entry(s, db, u->who.user_id, "duplicate.redirect", r.uid, ""));
	return resource_answer_stored(s, db, u, &r);
}

static enum status
decide(struct scope *s, struct db *db, const struct unit *u, struct resource *r)
{
	const struct decision *d = u->input;
	bool is_same;

	TRY(store_resource_load(s, db, r, d->id));
	if (r->state == STATE_GONE)
		return fail(s, ERR_GONE, NULL, "the %s %s was %s; restoring it brings it back", kind_name(r->kind), r->uid,
		    r->merged_into != 0 ? "given up for another" : "deleted");
	TRY(version_require(s, u->if_match, r->edit_version));
	is_same = d->reason == NULL ? r->distinct_reason == NULL : r->distinct_reason != NULL && strcmp(d->reason, r->distinct_reason) == 0;
	if (!is_same && d->reason != NULL && r->distinct_reason == NULL && r->duplicate_of == 0)
		return fail(s, ERR_STATE_CONFLICT, "decision", "the %s %s is nobody's copy", kind_name(r->kind), r->uid);
	return is_same ? OK : settle(s, db, u, r, d->reason);
}

static enum status
settle(struct scope *s, struct db *db, const struct unit *u, struct resource *r, const char *reason)
{
	struct live_change change = { .after = r, .was_live = r->state == STATE_PUBLISHED, .hash_before = r->content_hash,
		.author_before = r->live_author, .topic = "resource.changed" };
	bool changed;

	r->distinct_reason = reason;
	r->duplicate_of = 0;
	r->changed_at = s->now;
	TRY(store_duplicates_decide(s, db, r, &changed));
	if (!changed)
		return fail(s, ERR_INTERNAL, NULL, "the resource changed inside the transaction");
	TRY(store_audit_entry(s, db, u->who.user_id, reason != NULL ? "duplicate.distinct" : "duplicate.undo", r->uid, reason != NULL ? reason : ""));
	TRY(store_live_tags_of(s, db, r->id, &change.tags, &change.tag_count));
	return live_changed(s, db, u->site, &change);
}

static void
put_side(struct scope *s, struct buf *b, const struct site *site, const char *name, const struct copy_side *side)
{
	json_put_name(b, name);
	buf_text(b, "{\"id\":");
	json_put_text(b, side->uid);
	json_put_name(b, "kind");
	json_put_text(b, kind_name(side->kind));
	json_put_name(b, "title");
	json_put_text(b, side->title);
	json_put_name(b, "url");
	json_put_text(b, site_url(s, site, side->path));
	buf_char(b, '}');
}
