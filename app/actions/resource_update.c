/* resource_update.c - PATCH: a new head revision, and a new address for what nobody ever saw. */
#include "actions/address_move.h"
#include "actions/document.h"
#include "actions/input.h"
#include "actions/plan.h"
#include "actions/resource_answer.h"
#include "render/markdown.h"
#include "store/resources.h"
#include "store/revisions.h"

struct update {
	struct resource	 before;
	struct revision	 revision;	/* tags and author come when it is written */
	struct rendered	 rendered;
	const char	*name_fold;
	struct term_plan *tags;		/* NULL: those of `revision` stay */
	size_t		 tag_count;
	bool		 is_same;	/* the patch changes nothing */
	bool		 is_moved;	/* slug or parent changes */
	struct address_move move;
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

enum status
resource_update_prepare(struct scope *s, struct db *db, struct unit *u, enum kind kind, const char *id, json_t *body)
{
	struct update *p = scope_alloc(s, sizeof(*p));
	struct revision head;
	struct document d;

	TRY(resource_for(s, db, &u->who, ACTION_UPDATE, kind, id, &p->before));
	if (u->if_match == NULL)
		return version_refuse(s, ERR_PRECONDITION, p->before.edit_version);
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

enum status
resource_replace_prepare(struct scope *s, struct db *db, struct unit *u, enum kind kind, const char *id, json_t *body)
{
	enum status status;
	struct resource r;
	json_t *patch;

	/* Who may not see it learns nothing about the body. */
	TRY(resource_for(s, db, &u->who, ACTION_UPDATE, kind, id, &r));
	if (u->if_match == NULL)
		return version_refuse(s, ERR_PRECONDITION, r.edit_version);
	TRY(version_require(s, u->if_match, r.edit_version));
	TRY(document_replacement(s, kind, body, &patch));
	status = resource_update_prepare(s, db, u, kind, id, patch);
	json_decref(patch);
	return status;
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
	p->is_moved = (d->slug != NULL && strcmp(d->slug, p->before.slug) != 0) || d->parent_id != p->before.parent_id;
	return p->is_moved ? address_move_plan(s, db, u->site, &p->before, d->slug, NULL, d->parent_id, &p->move) : OK;
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
	struct descendant *below;
	struct resource r;
	size_t count;
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
		TRY(address_move_paths(s, db, &p->move, false, &r, &below, &count));
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
