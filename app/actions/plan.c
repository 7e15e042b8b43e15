/* plan.c - making ready, on a reader, what the writer only binds. */
#include "actions/plan.h"

#include "base/hash.h"
#include "base/unicode.h"
#include "core/slug.h"
#include "core/url.h"
#include "store/resources.h"
#include "store/terms.h"

static enum status	plan_terms(struct scope *, struct db *, const struct site *, const struct principal *, const struct resource_draft *,
			    struct plan *);
static enum status	plan_given_terms(struct scope *, struct db *, const struct resource_draft *, struct plan *);
static enum status	plan_parent(struct scope *, struct db *, struct plan *);
static void		plan_live(struct scope *, const struct site *, struct plan *);
static enum status	plan_new_term(struct scope *, struct db *, const struct site *, const struct principal *, enum kind, const char *name,
			    const char *locale, struct term_plan *);

enum status
plan_make(struct scope *s, struct db *db, const struct site *site, const struct principal *who, const struct resource_draft *draft,
    struct plan **out)
{
	struct plan *p = scope_alloc(s, sizeof(*p));
	struct resource *r = &p->resource;
	char uid[UUID_TEXT];

	*out = p;
	p->resource = draft->resource;
	p->revision = draft->revision;
	p->rendered = draft->rendered;
	r->created_at = r->created_at != 0 ? r->created_at : s->now;
	r->changed_at = r->changed_at != 0 ? r->changed_at : s->now;
	r->edit_version = r->event_version = r->head_revision = p->revision.number = 1;
	p->revision.created_at = r->changed_at;
	if (r->uid == NULL) {
		uuid7(uid, s->now);
		r->uid = arena_strdup(s->arena, uid);
	}
	if (r->kind == KIND_TAG || r->kind == KIND_AUTHOR)
		TRY(plan_name_fold(s, &p->name_fold, p->revision.title));
	TRY(plan_parent(s, db, p));
	if (r->slug == NULL)
		TRY(slug_from_title(s, &r->slug, str_of(p->revision.title), site->slug_style));
	TRY(address_plan(s, site, r, p->parent_path, draft->path, draft->slug_is_given, &p->address));
	TRY(address_probe(s, db, &p->address));
	if (r->kind == KIND_ARTICLE || r->kind == KIND_PAGE)
		TRY(plan_terms(s, db, site, who, draft, p));
	if (r->state == STATE_PUBLISHED)
		plan_live(s, site, p);
	else if (r->state == STATE_SCHEDULED)
		r->scheduled_revision = 1;
	return OK;
}

enum status
plan_tag(struct scope *s, struct db *db, const struct site *site, const struct principal *who, const char *name, const char *locale,
    struct term_plan *out)
{
	const char *fold, *slug;
	bool found;

	*out = (struct term_plan){ .create = NULL };
	TRY(plan_name_fold(s, &fold, name));
	TRY(store_term_find_name(s, db, &out->term, &found, KIND_TAG, locale, fold));
	if (found)
		return OK;
	TRY(slug_from_title(s, &slug, str_of(name), site->slug_style));
	if (strcmp(slug, name) == 0) {
		TRY(store_term_find_slug(s, db, &out->term, &found, KIND_TAG, slug, locale));
		if (found)
			return OK;
	}
	return plan_new_term(s, db, site, who, KIND_TAG, str_dup(s->arena, str_trim(str_of(name))), locale, out);
}

enum status
plan_own_author(struct scope *s, struct db *db, const struct site *site, const struct principal *who, const char *locale,
    struct term_plan *out)
{
	bool found = false;

	*out = (struct term_plan){ .create = NULL };
	if (who->user_id == 0)
		return OK;
	if (who->author_id != 0)
		TRY(store_term_find(s, db, &out->term, &found, who->author_id));
	if (found)
		return OK;
	TRY(plan_new_term(s, db, site, who, KIND_AUTHOR, who->name, locale, out));
	out->create->is_silent = true;
	return OK;
}

const char *
plan_override(struct scope *s, const struct site *site, const char *canonical, const char *path)
{
	struct url_form form;
	struct str query;

	if (canonical == NULL)
		return NULL;
	if (url_form_own(s, &form, &query, str_of(canonical), site->public_origin, "canonical") != OK) {
		s->error = NULL;	/* elsewhere */
		return canonical;
	}
	return query.len == 0 && strcmp(form.path, path) == 0 ? NULL : canonical;
}

enum status
plan_name_fold(struct scope *s, const char **out, const char *name)
{
	struct str folded;

	TRY(unicode_fold(s, &folded, str_trim(str_of(name))));
	*out = str_dup(s->arena, folded);
	return OK;
}

static enum status
plan_terms(struct scope *s, struct db *db, const struct site *site, const struct principal *who, const struct resource_draft *draft,
    struct plan *p)
{
	size_t i;
	bool found;

	if (draft->tag_names != NULL) {
		for (i = 0; draft->tag_names[i] != NULL; i++)
			continue;
		p->tags = scope_alloc(s, i * sizeof(*p->tags));
		for (i = 0; draft->tag_names[i] != NULL; i++)
			TRY(plan_tag(s, db, site, who, draft->tag_names[i], p->resource.locale, &p->tags[p->tag_count++]));
	} else {
		TRY(plan_given_terms(s, db, draft, p));
	}
	if (draft->author_slug != NULL) {
		TRY(store_term_find_slug(s, db, &p->author.term, &found, KIND_AUTHOR, draft->author_slug, NULL));
		return found ? OK : fail(s, ERR_INVALID, "author", "there is no author %.200s", draft->author_slug);
	}
	if (draft->revision.author_id != 0) {
		TRY(store_term_find(s, db, &p->author.term, &found, draft->revision.author_id));
		return found ? OK : fail(s, ERR_INVALID, "author", "there is no such author");
	}
	p->author_is_owner = true;
	return plan_own_author(s, db, site, who, p->resource.locale, &p->author);
}

static enum status
plan_given_terms(struct scope *s, struct db *db, const struct resource_draft *draft, struct plan *p)
{
	bool found;
	size_t i;

	p->tags = scope_alloc(s, draft->revision.tag_count * sizeof(*p->tags));
	for (i = 0; i < draft->revision.tag_count; i++) {
		TRY(store_term_find(s, db, &p->tags[p->tag_count].term, &found, draft->revision.tag_ids[i]));
		if (found)
			p->tag_count++;
	}
	return OK;
}

static enum status
plan_parent(struct scope *s, struct db *db, struct plan *p)
{
	struct resource parent;
	bool above;
	int depth;

	if (p->resource.parent_id == 0)
		return OK;
	TRY(store_resource_load(s, db, &parent, p->resource.parent_id));
	TRY(store_resource_is_above(s, db, 0, parent.id, &above, &depth));
	if (depth + 1 > PARENTS_MAX)
		return fail(s, ERR_INVALID, "parent", "pages nest at most %d deep", PARENTS_MAX);
	p->parent_path = parent.path;
	p->parent_uid = parent.uid;
	return OK;
}

/* What publishing copies, when the resource is live from its creation on. */
static void
plan_live(struct scope *s, const struct site *site, struct plan *p)
{
	struct resource *r = &p->resource;
	char hash[65];

	r->live_revision = 1;
	r->publish_at = 0;
	r->first_published_at = r->first_published_at != 0 ? r->first_published_at : s->now;
	r->live_changed_at = r->live_changed_at != 0 ? r->live_changed_at : s->now;
	r->live_title = p->revision.title;
	r->live_summary = p->revision.summary;
	r->live_noindex = p->revision.noindex;
	r->live_canonical = plan_override(s, site, p->revision.canonical, p->address.first.path);
	if (content_hash(s, hash, r->locale, p->revision.title, p->rendered.text)) {
		r->content_hash = arena_strdup(s->arena, hash);
		r->hash_since = r->first_published_at;
	}
}

static enum status
plan_new_term(struct scope *s, struct db *db, const struct site *site, const struct principal *who, enum kind kind, const char *name,
    const char *locale, struct term_plan *out)
{
	struct resource_draft draft = {
		.resource = { .kind = kind, .locale = locale, .state = STATE_PUBLISHED, .owner_user = who->user_id },
		.revision = { .title = name, .format = FORMAT_MARKDOWN, .source = "", .fields = "{}", .editor_user = who->user_id },
		.rendered = { .html = "", .text = "", .excerpt = "", .links = "[]", .images = "[]" },
	};

	return plan_make(s, db, site, who, &draft, &out->create);
}
