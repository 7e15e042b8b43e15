#include "actions/address_move.h"

#include "actions/live.h"
#include "actions/plan.h"
#include "actions/resource_answer.h"
#include "core/url.h"
#include "store/resources.h"

static enum status	parent_check(struct scope *, struct db *, const struct resource *, struct address_move *);
static enum status	move_own(struct scope *, struct db *, const struct address_move *, const struct path_row *old, bool is_supervised,
			    struct resource *);
static enum status	move_below(struct scope *, struct db *, const struct address_move *, const struct path_row *old, bool is_supervised,
			    struct descendant **, size_t *count);
static enum status	move_one_below(struct scope *, struct db *, const struct address_move *, const struct path_row *old, bool is_supervised,
			    struct descendant *);
static enum status	follow_below(struct scope *, struct db *, const struct site *, const struct descendant *);

enum status
address_move_plan(struct scope *s, struct db *db, const struct site *site, const struct resource *r, const char *slug, const char *path,
    int64_t parent_id, struct address_move *out)
{
	struct resource moved = *r;

	*out = (struct address_move){ .id = r->id, .slug = slug != NULL ? slug : r->slug, .parent_id = parent_id };
	if (parent_id != 0)
		TRY(parent_check(s, db, r, out));
	moved.slug = out->slug;
	TRY(address_plan(s, site, &moved, out->parent_path, path, true, &out->address));
	if (path != NULL && slug != NULL)
		out->address.first.slug = slug;
	return OK;
}

static enum status
parent_check(struct scope *s, struct db *db, const struct resource *r, struct address_move *m)
{
	struct resource parent;
	bool is_above;
	int depth;

	TRY(store_resource_load(s, db, &parent, m->parent_id));
	TRY(store_resource_is_above(s, db, r->id, parent.id, &is_above, &depth));
	if (is_above)
		return fail(s, ERR_INVALID, "parent", "a page cannot stand below itself");
	if (depth + 1 > PARENTS_MAX)
		return fail(s, ERR_INVALID, "parent", "pages nest at most %d deep", PARENTS_MAX);
	m->depth = depth + 1;
	m->parent_path = parent.path;
	return OK;
}

enum status
address_move_paths(struct scope *s, struct db *db, const struct address_move *m, bool is_supervised, struct resource *r,
    struct descendant **below, size_t *count)
{
	struct path_row old, parent;
	bool is_above = false;
	int depth;

	TRY(store_path_load(s, db, &old, r->id));
	if (m->parent_id != 0) {
		/* Since it was planned the parent may have moved below this page, without a change of its own path. */
		TRY(store_resource_is_above(s, db, r->id, m->parent_id, &is_above, &depth));
		if (is_above)
			return fail(s, ERR_INVALID, "parent", "a page cannot stand below itself");
		TRY(store_path_load(s, db, &parent, m->parent_id));
		if (strcmp(parent.path, m->parent_path) != 0)
			return fail(s, ERR_BUSY, NULL, "the parent's path has just changed");
	}
	TRY(move_own(s, db, m, &old, is_supervised, r));
	db_touch(db, "paths");
	return move_below(s, db, m, &old, is_supervised, below, count);
}

enum status
address_move_write(struct scope *s, struct db *db, const struct site *site, const struct address_move *m, const char *if_match,
    struct resource *out, bool *unchanged)
{
	struct descendant *below;
	const char *from;
	size_t count, i;
	bool changed;

	TRY(store_resource_load(s, db, out, m->id));
	if (out->state == STATE_GONE)
		return fail(s, ERR_GONE, NULL, "the %s %s was deleted", kind_name(out->kind), out->uid);
	TRY(version_require(s, if_match, out->edit_version));
	from = out->path;
	*unchanged = strcmp(m->address.first.path, from) == 0 && strcmp(m->address.first.slug, out->slug) == 0 && m->parent_id == out->parent_id;
	if (*unchanged)
		return OK;
	TRY(address_move_paths(s, db, m, true, out, &below, &count));
	out->live_canonical = plan_override(s, site, out->live_canonical, out->path);
	out->changed_at = s->now;
	TRY(store_resource_readdress(s, db, out, &changed));
	if (!changed)
		return fail(s, ERR_INTERNAL, NULL, "the resource changed inside the transaction");
	TRY(live_moved(s, db, site, out, from));
	for (i = 0; i < count; i++)
		TRY(follow_below(s, db, site, &below[i]));
	return OK;
}

static enum status
move_own(struct scope *s, struct db *db, const struct address_move *m, const struct path_row *old, bool is_supervised, struct resource *r)
{
	const struct address *new = &m->address.first;
	const char *holder;
	bool moved = true, found;

	if (strcmp(new->path, old->path) != 0) {
		if (old->was_public && !is_supervised)
			return fail(s, ERR_STATE_CONFLICT, "slug",
			    "%.300s was public, so its address changes by a move only, which leaves a redirect", old->path);
		TRY(store_path_move(s, db, old, new->path, new->fold, r->id, &moved));
	}
	if (!moved) {
		TRY(store_path_other_holder(s, db, new->path, new->fold, r->id, &holder, &found));
		return found ? fail(s, m->address.conflict, m->address.conflict == ERR_PATH_CONFLICT ? "path" : "slug", "%s", holder) :
		    fail(s, ERR_INTERNAL, NULL, "the path %.300s was refused, but nobody holds it", new->path);
	}
	r->slug = new->slug;
	r->path = new->path;
	r->parent_id = m->parent_id;
	return OK;
}

static enum status
move_below(struct scope *s, struct db *db, const struct address_move *m, const struct path_row *old, bool is_supervised,
    struct descendant **below, size_t *count)
{
	size_t path_len = strlen(old->path), fold_len = strlen(old->fold), i, kept = 0;
	struct descendant *d;

	TRY(store_path_descendants(s, db, m->id, BELOW_MAX, below, count));
	for (i = 0; i < *count; i++) {
		d = &(*below)[i];
		if (m->depth + d->depth > PARENTS_MAX)
			return fail(s, ERR_INVALID, "parent", "pages nest at most %d deep, and %.300s stands below it", PARENTS_MAX, d->row.path);
		/* A page with an address of its own, such as one that an import kept, stays where it is. */
		if (strncmp(d->row.path, old->path, path_len) != 0 || d->row.path[path_len] != '/' ||
		    strncmp(d->row.fold, old->fold, fold_len) != 0 || strcmp(old->path, m->address.first.path) == 0)
			continue;
		TRY(move_one_below(s, db, m, old, is_supervised, d));
		(*below)[kept++] = *d;
	}
	*count = kept;
	return OK;
}

static enum status
move_one_below(struct scope *s, struct db *db, const struct address_move *m, const struct path_row *old, bool is_supervised,
    struct descendant *d)
{
	const char *path = scope_printf(s, "%s%s", m->address.first.path, d->row.path + strlen(old->path)), *holder;
	const char *fold = scope_printf(s, "%s%s", m->address.first.fold, d->row.fold + strlen(old->fold));
	bool moved, found;

	if (strlen(path) > URL_PATH_MAX)
		return fail(s, ERR_INVALID, "slug", "the page %.300s below it would have a path of more than %d bytes", d->row.path, URL_PATH_MAX);
	if (d->row.was_public && !is_supervised)
		return fail(s, ERR_STATE_CONFLICT, "slug", "the page %.300s below it was public, so this address changes by a move only",
		    d->row.path);
	TRY(store_path_move(s, db, &d->row, path, fold, d->id, &moved));
	if (moved)
		return OK;
	TRY(store_path_other_holder(s, db, path, fold, d->id, &holder, &found));
	return fail(s, ERR_PATH_CONFLICT, "slug", "the page %.300s below it cannot follow: %s", d->row.path, found ? holder : "its new path is taken");
}

/* Its row stays as it is, but what the world sees of it does not. */
static enum status
follow_below(struct scope *s, struct db *db, const struct site *site, const struct descendant *d)
{
	struct resource r;
	const char *override;

	TRY(store_resource_load(s, db, &r, d->id));
	TRY(store_resource_note(s, db, r.id, &r.event_version));
	override = plan_override(s, site, r.live_canonical, r.path);
	if (override == NULL && r.live_canonical != NULL) {
		r.live_canonical = NULL;
		TRY(store_resource_set_address(s, db, &r));
	}
	return live_moved(s, db, site, &r, d->row.path);
}
