/* resource_update.c - PATCH: a new head revision, and a new address for what nobody ever saw. */
#include "actions/document.h"
#include "actions/input.h"
#include "actions/plan.h"
#include "actions/resource_answer.h"
#include "core/url.h"
#include "render/markdown.h"
#include "store/paths.h"
#include "store/resources.h"
#include "store/revisions.h"

#define DESCENDANTS_MAX 1000

struct update {
	struct resource	 before;
	struct revision	 revision;	/* tags and author come when it is written */
	struct rendered	 rendered;
	const char	*name_fold;
	struct term_plan *tags;		/* NULL: those of `revision` stay */
	size_t		 tag_count;
	const char	*slug;
	int64_t		 parent_id;
	bool		 is_same;	/* the patch changes nothing */
	bool		 is_moved;	/* slug or parent changes */
	const char	*parent_path;
	int		 depth;		/* pages above it, after the move */
	struct address_plan address;
};

static enum status	plan_revision(struct scope *, struct db *, struct unit *, struct update *, const struct revision *, const struct document *,
			    json_t *body);
static enum status	plan_tags(struct scope *, struct db *, struct unit *, struct update *, const char **names);
static enum status	plan_author(struct scope *, struct db *, struct update *, const struct document *);
static enum status	plan_move(struct scope *, struct db *, const struct unit *, struct update *, const struct document *);
static bool		same_document(const struct update *, const struct revision *);
static bool		same(const char *, const char *);
static enum status	update_apply(struct scope *, struct db *, struct unit *);
static enum status	settle_tags(struct scope *, struct db *, const struct unit *, const struct update *, struct revision *);
static enum status	move_path(struct scope *, struct db *, const struct update *, struct resource *);
static enum status	move_below(struct scope *, struct db *, int64_t id, int depth, const struct path_row *old, const struct address *new);

enum status
resource_update_prepare(struct scope *s, struct db *db, struct unit *u, enum kind kind, const char *id, json_t *body)
{
	struct update *p = scope_alloc(s, sizeof(*p));
	struct revision head;
	struct document d;

	TRY(resource_for(s, db, &u->who, ACTION_UPDATE, kind, id, &p->before));
	if (u->if_match == NULL)
		return fail(s, ERR_PRECONDITION, "If-Match", "the current version is \"%" PRId64 "\"", p->before.edit_version);
	TRY(version_require(s, u->if_match, p->before.edit_version));
	TRY(store_revision_load(s, db, &head, p->before.id, p->before.head_revision, true));
	TRY(document_read_patch(s, db, &p->before, &head, body, &d));
	TRY(plan_revision(s, db, u, p, &head, &d, body));
	TRY(plan_move(s, db, u, p, &d));
	p->is_same = !p->is_moved && same_document(p, &head);
	u->input = p;
	u->apply = update_apply;
	return OK;
}

static enum status
plan_revision(struct scope *s, struct db *db, struct unit *u, struct update *p, const struct revision *head, const struct document *d,
    json_t *body)
{
	struct revision *v = &p->revision;

	*v = d->revision;
	v->number = head->number + 1;
	v->editor_user = u->who.user_id;
	v->created_at = s->now;
	v->tag_ids = head->tag_ids;
	v->tag_count = head->tag_count;
	v->author_id = head->author_id;
	p->rendered = d->rendered;
	if (p->before.kind == KIND_TAG || p->before.kind == KIND_AUTHOR)
		TRY(plan_name_fold(s, &p->name_fold, v->title));
	if (d->tag_names != NULL)
		TRY(plan_tags(s, db, u, p, d->tag_names));
	return json_object_get(body, "author") != NULL ? plan_author(s, db, p, d) : OK;
}

static enum status
plan_tags(struct scope *s, struct db *db, struct unit *u, struct update *p, const char **names)
{
	size_t i;

	for (i = 0; names[i] != NULL; i++)
		continue;
	p->tags = scope_alloc(s, i * sizeof(*p->tags));
	for (i = 0; names[i] != NULL; i++)
		TRY(plan_tag(s, db, u->site, &u->who, names[i], p->before.locale, &p->tags[p->tag_count++]));
	return OK;
}

static enum status
plan_author(struct scope *s, struct db *db, struct update *p, const struct document *d)
{
	struct term author;
	bool found;

	p->revision.author_id = 0;
	if (d->author_slug == NULL)
		return OK;
	TRY(store_term_find_slug(s, db, &author, &found, KIND_AUTHOR, d->author_slug, NULL));
	if (!found)
		return fail(s, ERR_INVALID, "author", "there is no author %.200s", d->author_slug);
	p->revision.author_id = author.id;
	return OK;
}

/* A slug and a parent are given by hand, so the address is fixed; whether it may change at all, the writer decides. */
static enum status
plan_move(struct scope *s, struct db *db, const struct unit *u, struct update *p, const struct document *d)
{
	struct resource moved = p->before, parent;
	bool above;
	int depth;

	p->slug = d->slug != NULL ? d->slug : p->before.slug;
	p->parent_id = d->parent_id;
	p->is_moved = strcmp(p->slug, p->before.slug) != 0 || p->parent_id != p->before.parent_id;
	if (!p->is_moved)
		return OK;
	if (p->parent_id != 0) {
		TRY(store_resource_load(s, db, &parent, p->parent_id));
		TRY(store_resource_is_above(s, db, p->before.id, parent.id, &above, &depth));
		if (above)
			return fail(s, ERR_INVALID, "parent", "a page cannot stand below itself");
		if (depth + 1 > PARENTS_MAX)
			return fail(s, ERR_INVALID, "parent", "pages nest at most %d deep", PARENTS_MAX);
		p->depth = depth + 1;
		p->parent_path = parent.path;
	}
	moved.slug = p->slug;
	return address_plan(s, u->site, &moved, p->parent_path, NULL, true, &p->address);
}

static bool
same_document(const struct update *p, const struct revision *head)
{
	const struct revision *v = &p->revision;
	size_t i;

	if (p->tags != NULL && p->tag_count != head->tag_count)
		return false;
	for (i = 0; p->tags != NULL && i < p->tag_count; i++)
		if (p->tags[i].term.id != head->tag_ids[i])
			return false;
	return same(v->title, head->title) && v->format == head->format && same(v->source, head->source) && same(v->summary, head->summary) &&
	    v->author_id == head->author_id && v->noindex == head->noindex && same(v->canonical, head->canonical) &&
	    same(v->seo_title, head->seo_title) && same(v->seo_description, head->seo_description) && same(v->seo_image, head->seo_image) &&
	    same(v->fields, head->fields);
}

static bool
same(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static enum status
update_apply(struct scope *s, struct db *db, struct unit *u)
{
	const struct update *p = u->input;
	struct revision v = p->revision;
	struct resource r;
	bool changed;

	TRY(store_resource_load(s, db, &r, p->before.id));
	if (r.state == STATE_GONE)
		return fail(s, ERR_GONE, NULL, "the %s %s was deleted", kind_name(r.kind), r.uid);
	/* With `*` as If-Match too: the patch was merged into the version that was read. */
	TRY(version_require(s, scope_printf(s, "\"%" PRId64 "\"", p->before.edit_version), r.edit_version));
	if (p->is_same)
		return resource_answer_stored(s, db, u, &r);
	TRY(settle_tags(s, db, u, p, &v));
	if (p->is_moved)
		TRY(move_path(s, db, p, &r));
	TRY(store_revision_insert(s, db, r.id, &v));
	TRY(store_rendered_insert(s, db, r.id, v.number, RENDERER_VERSION, &p->rendered));
	r.head_revision = v.number;
	r.changed_at = s->now;
	TRY(store_resource_edit(s, db, &r, p->name_fold, &changed));
	if (!changed)
		return fail(s, ERR_INTERNAL, NULL, "the resource changed inside the transaction");
	return resource_answer_stored(s, db, u, &r);
}

static enum status
settle_tags(struct scope *s, struct db *db, const struct unit *u, const struct update *p, struct revision *v)
{
	int64_t *ids = scope_alloc(s, p->tag_count * sizeof(*ids));
	struct term term;
	size_t i, j, count = 0;

	if (p->tags == NULL)
		return OK;
	for (i = 0; i < p->tag_count; i++) {
		TRY(plan_term_settle(s, db, u->site, &p->tags[i], &term));
		for (j = 0; j < count && ids[j] != term.id; j++)
			continue;
		if (j == count)
			ids[count++] = term.id;
	}
	v->tag_ids = ids;
	v->tag_count = count;
	return OK;
}

static enum status
move_path(struct scope *s, struct db *db, const struct update *p, struct resource *r)
{
	struct path_row old, parent;
	struct address new;
	bool freed;

	TRY(store_path_load(s, db, &old, r->id));
	if (p->parent_id != 0) {
		TRY(store_path_load(s, db, &parent, p->parent_id));
		if (strcmp(parent.path, p->parent_path) != 0)
			return fail(s, ERR_BUSY, NULL, "the parent's path has just changed");
	}
	TRY(store_path_free(s, db, r->id, &freed));
	if (!freed)
		return fail(s, ERR_STATE_CONFLICT, "slug", "%.300s was public, so its address changes by a move only, which leaves a redirect",
		    old.path);
	TRY(address_claim(s, db, &p->address, r->id, false, &new));
	r->slug = new.slug;
	r->path = new.path;
	r->parent_id = p->parent_id;
	db_touch(db, "paths");
	return move_below(s, db, r->id, p->depth, &old, &new);
}

/* Pages below follow, as long as nobody saw them either. */
static enum status
move_below(struct scope *s, struct db *db, int64_t id, int depth, const struct path_row *old, const struct address *new)
{
	size_t path_len = strlen(old->path), fold_len = strlen(old->fold), count, i;
	struct descendant *d;
	const char *path, *fold;
	bool done;

	TRY(store_path_descendants(s, db, id, DESCENDANTS_MAX, &d, &count));
	for (i = 0; i < count; i++) {
		if (depth + d[i].depth > PARENTS_MAX)
			return fail(s, ERR_INVALID, "parent", "pages nest at most %d deep, and %.300s stands below it", PARENTS_MAX,
			    d[i].row.path);
		if (strncmp(d[i].row.path, old->path, path_len) != 0 || d[i].row.path[path_len] != '/' ||
		    strncmp(d[i].row.fold, old->fold, fold_len) != 0)
			continue;
		path = scope_printf(s, "%s%s", new->path, d[i].row.path + path_len);
		fold = scope_printf(s, "%s%s", new->fold, d[i].row.fold + fold_len);
		if (strlen(path) > URL_PATH_MAX)
			return fail(s, ERR_INVALID, "slug", "the page %.300s below it would have a path of more than %d bytes", d[i].row.path,
			    URL_PATH_MAX);
		TRY(store_path_free(s, db, d[i].id, &done));
		if (!done)
			return fail(s, ERR_STATE_CONFLICT, "slug", "the page %.300s below it was public, so this address changes by a move only",
			    d[i].row.path);
		TRY(store_path_claim(s, db, path, fold, d[i].id, false, &done));
		if (!done)
			return fail(s, ERR_PATH_CONFLICT, "slug", "the page %.300s below it cannot follow: its new path is taken", d[i].row.path);
	}
	return OK;
}
