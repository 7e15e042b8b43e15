/* plan_write.c - writing a planned resource: rows bound, uniqueness decided by constraints. */
#include "actions/plan.h"

#include "actions/live.h"
#include "render/markdown.h"
#include "store/paths.h"
#include "store/resources.h"
#include "store/revisions.h"
#include "store/users.h"

static enum status	find_existing(struct scope *, struct db *, const struct plan *, struct facts *, bool *existed);
static enum status	settle_terms(struct scope *, struct db *, const struct site *, const struct plan *, struct facts *);
static enum status	check_parent(struct scope *, struct db *, const struct plan *);
static enum status	write_rows(struct scope *, struct db *, const struct site *, const struct plan *, struct facts *);
static enum status	write_consequences(struct scope *, struct db *, const struct site *, const struct plan *, struct facts *);

enum status
plan_write(struct scope *s, struct db *db, const struct site *site, const struct plan *p, struct facts *out, bool *existed)
{
	*existed = false;
	if (p->resource.client_ref != NULL) {
		TRY(find_existing(s, db, p, out, existed));
		if (*existed)
			return OK;
	}
	*out = (struct facts){ .resource = p->resource, .revision = p->revision, .parent_uid = p->parent_uid };
	TRY(settle_terms(s, db, site, p, out));
	TRY(check_parent(s, db, p));
	TRY(write_rows(s, db, site, p, out));
	return write_consequences(s, db, site, p, out);
}

enum status
plan_term_settle(struct scope *s, struct db *db, const struct site *site, const struct term_plan *t, struct term *out)
{
	const struct plan *create = t->create;
	struct facts facts;
	bool found = false;

	*out = t->term;
	if (create == NULL)
		return OK;
	TRY(store_term_find_name(s, db, out, &found, create->resource.kind, create->resource.locale, create->name_fold));
	/* Two people may share a name; only a tag is who its name is. */
	if (found && create->resource.kind == KIND_TAG)
		return OK;
	TRY(plan_write(s, db, site, create, &facts, &found));
	*out = (struct term){ facts.resource.id, facts.resource.uid, facts.revision.title, facts.resource.slug, facts.resource.path, true };
	return OK;
}

static enum status
find_existing(struct scope *s, struct db *db, const struct plan *p, struct facts *out, bool *existed)
{
	const struct resource *wanted = &p->resource;
	struct resource r;

	TRY(store_resource_find_ref(s, db, &r, existed, wanted->ref_source, wanted->client_ref));
	if (!*existed)
		return OK;
	if (r.ref_hash == NULL || strcmp(r.ref_hash, wanted->ref_hash) != 0)
		return fail(s, ERR_REF_CONFLICT, "client_ref", "the %s %s has this client_ref and was made from other content", kind_name(r.kind),
		    r.uid);
	return facts_of_resource(s, db, out, &r, FACTS_HEAD, false);
}

static enum status
settle_terms(struct scope *s, struct db *db, const struct site *site, const struct plan *p, struct facts *f)
{
	int64_t *ids = scope_alloc(s, p->tag_count * sizeof(*ids)), known = 0;
	struct term *tags = scope_alloc(s, p->tag_count * sizeof(*tags));
	bool found;
	size_t i, j, count = 0;

	for (i = 0; i < p->tag_count; i++) {
		TRY(plan_term_settle(s, db, site, &p->tags[i], &tags[count]));
		for (j = 0; j < count && ids[j] != tags[count].id; j++)
			continue;
		if (j == count)
			ids[count] = tags[count].id, count++;
	}
	f->tags = tags;
	f->tag_count = f->revision.tag_count = count;
	f->revision.tag_ids = ids;
	if (p->author.create != NULL && p->author_is_owner) {
		TRY(store_user_author(s, db, p->resource.owner_user, &known));
		if (known != 0)
			TRY(store_term_find(s, db, &f->author, &found, known));
	}
	if (known == 0) {
		TRY(plan_term_settle(s, db, site, &p->author, &f->author));
		if (p->author.create != NULL && p->author_is_owner)
			TRY(store_user_set_author(s, db, p->resource.owner_user, f->author.id));
	}
	f->revision.author_id = f->author.id;
	if (f->resource.state == STATE_PUBLISHED)
		f->resource.live_author = f->author.id;
	return OK;
}

/* The path was made from the parent's; if that moved meanwhile the caller's retry makes another. */
static enum status
check_parent(struct scope *s, struct db *db, const struct plan *p)
{
	struct path_row row;

	if (p->resource.parent_id == 0)
		return OK;
	TRY(store_path_load(s, db, &row, p->resource.parent_id));
	return strcmp(row.path, p->parent_path) == 0 ? OK : fail(s, ERR_BUSY, NULL, "the parent's path has just changed");
}

static enum status
write_rows(struct scope *s, struct db *db, const struct site *site, const struct plan *p, struct facts *f)
{
	struct resource *r = &f->resource;
	struct address address;
	bool inserted;

	r->slug = p->address.first.slug;
	TRY(store_resource_insert(s, db, r, p->name_fold, &inserted));
	if (!inserted)
		return fail(s, ERR_INTERNAL, NULL, "the client_ref appeared inside the transaction");
	TRY(address_claim(s, db, &p->address, r->id, r->state == STATE_PUBLISHED, &address));
	r->path = address.path;
	if (strcmp(address.slug, r->slug) != 0) {
		r->slug = address.slug;
		if (r->state == STATE_PUBLISHED)
			r->live_canonical = plan_override(s, site, f->revision.canonical, r->path);
		TRY(store_resource_set_address(s, db, r));
	}
	TRY(store_revision_insert(s, db, r->id, &f->revision));
	return store_rendered_insert(s, db, r->id, f->revision.number, RENDERER_VERSION, &p->rendered);
}

static enum status
write_consequences(struct scope *s, struct db *db, const struct site *site, const struct plan *p, struct facts *f)
{
	struct live_change change = { .after = &f->resource, .tags = f->revision.tag_ids, .tag_count = f->tag_count,
		.topic = p->is_silent ? NULL : "resource.published" };

	db_touch(db, "paths");
	if (f->resource.state != STATE_PUBLISHED)
		return event_write(s, db, site, &f->resource, "resource.created");
	TRY(live_changed(s, db, site, &change));
	return facts_load_original(s, db, f);
}
