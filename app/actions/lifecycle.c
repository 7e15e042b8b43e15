#include "actions/lifecycle.h"

#include "actions/live.h"
#include "actions/resource_answer.h"
#include "store/duplicates.h"
#include "store/resources.h"

static enum status	begin(struct scope *, struct db *, int64_t id, const char *if_match, struct resource *);
static enum status	leave(struct scope *, struct db *, const struct site *, struct resource *, enum move, const char *topic);
static enum status	remove_unseen(struct scope *, struct db *, struct resource *);
static enum status	times_check(struct scope *, const struct resource *, const struct schedule_times *);
static enum status	set_times(struct scope *, struct db *, const struct site *, struct resource *, enum state from, const char *topic);
static enum status	changed_inside(struct scope *);

enum status
withdraw_write(struct scope *s, struct db *db, const struct site *site, int64_t id, const char *if_match, struct resource *out, bool *unchanged)
{
	TRY(begin(s, db, id, if_match, out));
	*unchanged = out->state == STATE_WITHDRAWN;
	return *unchanged ? OK : leave(s, db, site, out, MOVE_WITHDRAW, "resource.withdrawn");
}

enum status
delete_write(struct scope *s, struct db *db, const struct site *site, int64_t id, const char *if_match, struct resource *out, bool *unchanged)
{
	bool is_used = true;

	*unchanged = false;
	TRY(begin(s, db, id, if_match, out));
	if (out->state == STATE_GONE)
		return fail(s, ERR_GONE, NULL, "the %s %s was deleted already", kind_name(out->kind), out->uid);
	if (out->first_published_at == 0)
		TRY(store_resource_is_used(s, db, id, &is_used));
	return is_used ? leave(s, db, site, out, MOVE_DELETE, "resource.deleted") : remove_unseen(s, db, out);
}

enum status
restore_write(struct scope *s, struct db *db, const struct site *site, int64_t id, const char *if_match, struct resource *out, bool *unchanged)
{
	TRY(begin(s, db, id, if_match, out));
	*unchanged = out->state == STATE_WITHDRAWN;
	return *unchanged ? OK : leave(s, db, site, out, MOVE_RESTORE, "resource.restored");
}

enum status
merge_write(struct scope *s, struct db *db, const struct site *site, int64_t id, const char *if_match, struct resource *out, bool *unchanged)
{
	struct changed *merged;
	size_t count;

	TRY(begin(s, db, id, if_match, out));
	*unchanged = out->merged_into != 0;
	if (*unchanged)
		return OK;
	if (out->state != STATE_GONE && out->duplicate_of == 0)
		return fail(s, ERR_STATE_CONFLICT, "decision", "the %s %s is nobody's copy", kind_name(out->kind), out->uid);
	out->merged_into = out->duplicate_of;
	TRY(leave(s, db, site, out, MOVE_DELETE, "resource.merged"));
	/* Copies that were given up for this one: still one hop. */
	TRY(store_duplicates_merge_on(s, db, id, out->merged_into, &merged, &count));
	for (size_t i = 0; i < count; i++) {
		struct resource r;

		TRY(store_resource_load(s, db, &r, merged[i].id));
		db_touch(db, "resource:%" PRId64, r.id);
		TRY(event_write(s, db, site, &r, "resource.changed"));
	}
	return OK;
}

enum status
schedule_write(struct scope *s, struct db *db, const struct site *site, int64_t id, const struct schedule_times *times, const char *if_match,
    struct resource *out, bool *unchanged)
{
	enum state from;
	struct resource before;

	TRY(begin(s, db, id, if_match, out));
	if (out->state == STATE_GONE)
		return fail(s, ERR_GONE, NULL, "the %s %s was deleted", kind_name(out->kind), out->uid);
	TRY(times_check(s, out, times));
	before = *out;
	from = out->state;
	if (times->publish_at != 0) {
		/* What is scheduled already gets the new time and the text of now. */
		if (from != STATE_PUBLISHED && from != STATE_SCHEDULED && !state_after(from, MOVE_SCHEDULE, out->first_published_at != 0, &out->state))
			return no_step(s, out, MOVE_SCHEDULE);
		out->publish_at = times->publish_at;
		out->scheduled_revision = out->head_revision;
	}
	if (times->withdraw_at != 0)
		out->withdraw_at = times->withdraw_at;
	*unchanged = out->state == before.state && out->publish_at == before.publish_at && out->withdraw_at == before.withdraw_at &&
	    out->scheduled_revision == before.scheduled_revision;
	return *unchanged ? OK : set_times(s, db, site, out, from, "resource.scheduled");
}

enum status
cancel_write(struct scope *s, struct db *db, const struct site *site, int64_t id, const char *if_match, struct resource *out, bool *unchanged)
{
	enum state from;

	TRY(begin(s, db, id, if_match, out));
	from = out->state;
	if (from == STATE_GONE)
		return fail(s, ERR_GONE, NULL, "the %s %s was deleted", kind_name(out->kind), out->uid);
	*unchanged = from != STATE_SCHEDULED && out->publish_at == 0 && out->withdraw_at == 0;
	if (*unchanged)
		return OK;
	if (from == STATE_SCHEDULED && !state_after(from, MOVE_CANCEL, out->first_published_at != 0, &out->state))
		return no_step(s, out, MOVE_CANCEL);
	out->publish_at = out->withdraw_at = out->scheduled_revision = 0;
	return set_times(s, db, site, out, from, "resource.cancelled");
}

enum status
no_step(struct scope *s, const struct resource *r, enum move move)
{
	return fail(s, ERR_STATE_CONFLICT, "state", "the %s is %s; %s is not possible from there", kind_name(r->kind), state_name(r->state),
	    move_name(move));
}

static enum status
begin(struct scope *s, struct db *db, int64_t id, const char *if_match, struct resource *out)
{
	TRY(store_resource_load(s, db, out, id));
	return version_require(s, if_match, out->edit_version);
}

static enum status
leave(struct scope *s, struct db *db, const struct site *site, struct resource *r, enum move move, const char *topic)
{
	struct live_change change = { .after = r, .was_live = r->state == STATE_PUBLISHED, .topic = topic };
	enum state from = r->state;
	bool changed;

	if (!state_after(from, move, r->first_published_at != 0, &r->state))
		return from == STATE_GONE ? fail(s, ERR_GONE, NULL, "the %s %s was deleted", kind_name(r->kind), r->uid) : no_step(s, r, move);
	change.hash_before = r->content_hash;
	change.author_before = r->live_author;
	r->content_hash = NULL;
	if (r->state != STATE_GONE)
		r->merged_into = 0;
	r->hash_since = r->duplicate_of = r->publish_at = r->scheduled_revision = r->withdraw_at = 0;
	r->changed_at = s->now;
	TRY(store_resource_leave(s, db, r, from, &changed));
	if (!changed)
		return changed_inside(s);
	/* Addresses that answered 404 answer 410 from now on, or the other way round. */
	db_touch(db, "paths");
	return live_changed(s, db, site, &change);
}

/* Nobody ever heard of it, so nobody is told. */
static enum status
remove_unseen(struct scope *s, struct db *db, struct resource *r)
{
	bool removed;

	TRY(store_resource_remove(s, db, r, &removed));
	if (!removed)
		return changed_inside(s);
	r->state = STATE_GONE;
	r->publish_at = r->withdraw_at = 0;
	db_touch(db, "paths");
	db_touch(db, "resource:%" PRId64, r->id);
	return OK;
}

static enum status
times_check(struct scope *s, const struct resource *r, const struct schedule_times *t)
{
	int64_t publish_at = t->publish_at != 0 ? t->publish_at : r->publish_at;

	if (t->publish_at != 0 && t->publish_at <= s->now)
		return fail(s, ERR_INVALID, "publish_at", "lies in the past; publish it now, or name a later time");
	if (t->withdraw_at != 0 && t->withdraw_at <= s->now)
		return fail(s, ERR_INVALID, "withdraw_at", "lies in the past; withdraw it now, or name a later time");
	if (t->publish_at != 0 && r->state == STATE_PUBLISHED && r->head_revision <= r->live_revision)
		return fail(s, ERR_STATE_CONFLICT, "publish_at", "the %s is published and has no changes that could go live later", kind_name(r->kind));
	if (t->withdraw_at != 0 && r->state != STATE_PUBLISHED && publish_at == 0)
		return fail(s, ERR_STATE_CONFLICT, "withdraw_at", "the %s is %s; only what is published or scheduled can be withdrawn later",
		    kind_name(r->kind), state_name(r->state));
	if (publish_at != 0 && (t->withdraw_at != 0 ? t->withdraw_at : r->withdraw_at) != 0 &&
	    (t->withdraw_at != 0 ? t->withdraw_at : r->withdraw_at) <= publish_at)
		return fail(s, ERR_INVALID, "withdraw_at", "must be later than publish_at");
	return OK;
}

/* The world sees nothing of it yet; those who listen do. */
static enum status
set_times(struct scope *s, struct db *db, const struct site *site, struct resource *r, enum state from, const char *topic)
{
	bool changed;

	r->changed_at = s->now;
	TRY(store_resource_schedule(s, db, r, from, &changed));
	return changed ? event_write(s, db, site, r, topic) : changed_inside(s);
}

static enum status
changed_inside(struct scope *s)
{
	return fail(s, ERR_INTERNAL, NULL, "the resource changed inside the transaction");
}
