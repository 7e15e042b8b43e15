/* facts.c - gathering what an answer says about one resource. */
#include "actions/facts.h"

#include "actions/plan.h"
#include "store/resources.h"
#include "store/revisions.h"

static enum status	load_terms(struct scope *, struct db *, struct facts *);
static enum status	load_use(struct scope *, struct db *, struct facts *);

enum status
facts_of_resource(struct scope *s, struct db *db, struct facts *out, const struct resource *r, enum facts_of of, bool with_content)
{
	return facts_of_revision(s, db, out, r, of == FACTS_LIVE ? r->live_revision : r->head_revision, with_content);
}

enum status
facts_of_revision(struct scope *s, struct db *db, struct facts *out, const struct resource *r, int64_t number, bool with_content)
{
	struct rendered rendered;
	struct resource parent;

	*out = (struct facts){ .resource = *r };
	TRY(store_revision_load(s, db, &out->revision, r->id, number, with_content));
	if (with_content) {
		TRY(store_rendered_load(s, db, &rendered, r->id, number));
		out->html = rendered.html;
	}
	if (r->parent_id != 0) {
		TRY(store_resource_load(s, db, &parent, r->parent_id));
		out->parent_uid = parent.uid;
	}
	TRY(load_terms(s, db, out));
	TRY(load_use(s, db, out));
	return facts_load_original(s, db, out);
}

enum status
facts_load_original(struct scope *s, struct db *db, struct facts *f)
{
	struct resource original;

	f->original_uid = f->original_path = NULL;
	if (f->resource.duplicate_of == 0 && f->resource.merged_into == 0)
		return OK;
	TRY(store_resource_load(s, db, &original, f->resource.duplicate_of != 0 ? f->resource.duplicate_of : f->resource.merged_into));
	f->original_uid = original.uid;
	f->original_path = original.state == STATE_PUBLISHED ? original.path : NULL;
	return OK;
}

const char *
facts_url(struct scope *s, const struct site *site, const struct facts *f)
{
	return site_url(s, site, f->resource.path);
}

const char *
facts_canonical(struct scope *s, const struct site *site, const struct facts *f)
{
	const char *override = f->resource.state == STATE_PUBLISHED ? f->resource.live_canonical :
	    plan_override(s, site, f->revision.canonical, f->resource.path);

	return site_canonical(s, site, override, f->original_path, f->resource.path);
}

static enum status
load_terms(struct scope *s, struct db *db, struct facts *f)
{
	bool found;
	size_t i;

	f->tags = scope_alloc(s, f->revision.tag_count * sizeof(*f->tags));
	for (i = 0; i < f->revision.tag_count; i++) {
		TRY(store_term_find(s, db, &f->tags[f->tag_count], &found, f->revision.tag_ids[i]));
		if (found)
			f->tag_count++;
	}
	if (f->revision.author_id == 0)
		return OK;
	TRY(store_term_find(s, db, &f->author, &found, f->revision.author_id));
	if (!found)
		f->author.id = 0;
	return OK;
}

static enum status
load_use(struct scope *s, struct db *db, struct facts *f)
{
	if (f->resource.kind == KIND_TAG)
		return store_live_tag_is_used(s, db, f->resource.id, 0, &f->is_used);
	if (f->resource.kind == KIND_AUTHOR)
		return store_resource_is_live_by(s, db, f->resource.id, 0, &f->is_used);
	return OK;
}
