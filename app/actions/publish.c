/* publish.c - taking a revision live. */
#include "actions/publish.h"

#include "actions/lifecycle.h"
#include "actions/live.h"
#include "actions/plan.h"
#include "actions/resource_answer.h"
#include "render/markdown.h"
#include "store/paths.h"
#include "store/resources.h"
#include "store/revisions.h"

static bool		looks_same(const struct revision *, const struct rendered *, const struct revision *, const struct rendered *);
static bool		same(const char *, const char *);
static void		take_live(struct scope *, const struct site *, struct resource *, const struct publish_plan *);

enum status
publish_plan(struct scope *s, struct db *db, const struct resource *r, int64_t revision, struct publish_plan *out)
{
	struct rendered rendered, live_rendered;
	struct revision live;
	char hash[65];

	*out = (struct publish_plan){ .id = r->id, .compared_to = r->live_revision, .is_visible_change = true };
	TRY(store_revision_load(s, db, &out->revision, r->id, revision, false));
	TRY(store_rendered_load(s, db, &rendered, r->id, revision));
	if (content_hash(s, hash, r->locale, out->revision.title, render_text(s, str_of(rendered.html))))
		out->hash = arena_strdup(s->arena, hash);
	if (r->kind == KIND_TAG || r->kind == KIND_AUTHOR)
		TRY(plan_name_fold(s, &out->name_fold, out->revision.title));
	if (r->live_revision != 0) {
		TRY(store_revision_load(s, db, &live, r->id, r->live_revision, false));
		TRY(store_rendered_load(s, db, &live_rendered, r->id, r->live_revision));
		out->is_visible_change = !looks_same(&out->revision, &rendered, &live, &live_rendered);
	}
	return OK;
}

enum status
publish_write(struct scope *s, struct db *db, const struct site *site, const struct publish_plan *p, const char *if_match,
    struct resource *out, bool *unchanged)
{
	struct live_change change = { .after = out, .tags = p->revision.tag_ids, .tag_count = p->revision.tag_count };
	enum state from, to;
	bool changed;

	TRY(store_resource_load(s, db, out, p->id));
	TRY(version_require(s, if_match, out->edit_version));
	from = out->state;
	*unchanged = from == STATE_PUBLISHED && out->live_revision >= p->revision.number;
	if (*unchanged)
		return OK;
	if (!state_after(from, MOVE_PUBLISH, out->first_published_at != 0, &to))
		return no_step(s, out, MOVE_PUBLISH);
	change.was_live = from == STATE_PUBLISHED;
	change.hash_before = out->content_hash;
	change.author_before = out->live_author;
	change.topic = change.was_live ? "resource.changed" : "resource.published";
	if (out->first_published_at == 0) {
		TRY(store_path_set_public(s, db, out->id));
		db_touch(db, "paths");
	}
	take_live(s, site, out, p);
	out->state = to;
	TRY(store_resource_publish(s, db, out, from, p->name_fold, &changed));
	if (!changed)
		return fail(s, ERR_INTERNAL, NULL, "the resource changed inside the transaction");
	return live_changed(s, db, site, &change);
}

/* What a reader of the page could notice. */
static bool
looks_same(const struct revision *a, const struct rendered *ra, const struct revision *b, const struct rendered *rb)
{
	return same(a->title, b->title) && same(ra->html, rb->html) && same(a->summary, b->summary) && a->author_id == b->author_id &&
	    a->tag_count == b->tag_count && (a->tag_count == 0 || memcmp(a->tag_ids, b->tag_ids, a->tag_count * sizeof(*a->tag_ids)) == 0) &&
	    same(a->seo_title, b->seo_title) && same(a->seo_description, b->seo_description) && same(a->seo_image, b->seo_image) &&
	    same(a->fields, b->fields);
}

static bool
same(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static void
take_live(struct scope *s, const struct site *site, struct resource *r, const struct publish_plan *p)
{
	/* What was compared may have been replaced since; then the page did change. */
	bool is_change = r->live_revision == 0 || p->is_visible_change || r->live_revision != p->compared_to;

	r->live_revision = p->revision.number;
	r->first_published_at = r->first_published_at != 0 ? r->first_published_at : s->now;
	r->live_changed_at = is_change ? s->now : r->live_changed_at;
	r->live_title = p->revision.title;
	r->live_summary = p->revision.summary;
	r->live_noindex = p->revision.noindex;
	/* The address may have changed since the plan was made. */
	r->live_canonical = plan_override(s, site, p->revision.canonical, r->path);
	r->live_author = p->revision.author_id;
	if (p->hash == NULL)
		r->hash_since = 0;
	else if (!same(r->content_hash, p->hash))
		r->hash_since = s->now;
	r->content_hash = p->hash;
	r->duplicate_of = r->publish_at = r->scheduled_revision = 0;
	r->changed_at = s->now;
}
