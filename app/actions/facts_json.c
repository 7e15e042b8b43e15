/* facts_json.c - one resource as the API answers it. */
#include "actions/facts.h"

#include "actions/json.h"

/* What may be left out of a saved answer, in this order. */
enum member { OMIT_FIELDS, OMIT_SEO, OMIT_SUMMARY, OMIT_TAGS, OMIT_AUTHOR, OMIT_CANONICAL, OMIT_PATH, OMIT_CLIENT_REF, OMIT_SLUG, OMIT_COUNT };
static const char *const omit_names[OMIT_COUNT] = { "fields", "seo", "summary", "tags", "author", "canonical", "path", "client_ref", "slug" };

static void	write_members(struct scope *, struct buf *, const struct site *, const struct facts *, unsigned omitted);
static void	write_terms(struct scope *, struct buf *, const struct site *, const struct facts *, unsigned omitted);
static void	write_term(struct scope *, struct buf *, const struct site *, const struct term *);
static void	write_seo(struct buf *, const struct revision *);
static void	write_in_sitemap(struct buf *, const struct site *, const struct facts *);
static void	write_omitted(struct buf *, unsigned omitted);
static void	put(struct buf *, const char *name, const char *value);

struct str
facts_json_meta(struct scope *s, const struct site *site, const struct facts *f)
{
	struct buf b;

	buf_init(&b, s->arena);
	buf_char(&b, '{');
	write_members(s, &b, site, f, 0);
	buf_char(&b, '}');
	return buf_as_str(&b);
}

struct str
facts_json_full(struct scope *s, const struct site *site, const struct facts *f)
{
	struct buf b;

	buf_init(&b, s->arena);
	buf_char(&b, '{');
	write_members(s, &b, site, f, 0);
	put(&b, "content", f->revision.source);
	put(&b, "html", f->html);
	buf_char(&b, '}');
	return buf_as_str(&b);
}

struct str
facts_json(struct scope *s, const struct site *site, const struct facts *f)
{
	unsigned omitted = 0;
	struct buf b;
	int next = 0;

	do {
		buf_init(&b, s->arena);
		buf_char(&b, '{');
		write_members(s, &b, site, f, omitted);
		write_omitted(&b, omitted);
		buf_char(&b, '}');
		omitted |= 1u << next;
	} while (b.len > ANSWER_MAX && next++ < OMIT_COUNT);
	return buf_as_str(&b);
}

static void
write_members(struct scope *s, struct buf *b, const struct site *site, const struct facts *f, unsigned omitted)
{
	const struct resource *r = &f->resource;
	const struct revision *v = &f->revision;

	put(b, "id", r->uid);
	put(b, "kind", kind_name(r->kind));
	put(b, "state", state_name(r->state));
	if (!(omitted & 1u << OMIT_SLUG))
		put(b, "slug", r->slug);
	if (!(omitted & 1u << OMIT_PATH))
		put(b, "path", r->path);
	put(b, "url", facts_url(s, site, f));
	if (!(omitted & 1u << OMIT_CANONICAL))
		put(b, "canonical", facts_canonical(s, site, f));
	put(b, "title", v->title);
	if (!(omitted & 1u << OMIT_SUMMARY))
		put(b, "summary", v->summary);
	put(b, "format", format_name(v->format));
	write_terms(s, b, site, f, omitted);
	if (r->kind == KIND_PAGE)
		put(b, "parent", f->parent_uid);
	put(b, "locale", r->locale);
	if (!(omitted & 1u << OMIT_CLIENT_REF))
		put(b, "client_ref", r->client_ref);
	json_put_name(b, "version");
	buf_printf(b, "%" PRId64, r->edit_version);
	json_put_name(b, "has_unpublished_changes");
	buf_text(b, r->state == STATE_PUBLISHED && r->head_revision != r->live_revision ? "true" : "false");
	if (!(omitted & 1u << OMIT_SEO))
		write_seo(b, v);
	if (!(omitted & 1u << OMIT_FIELDS)) {
		json_put_name(b, "fields");
		buf_text(b, v->fields);
	}
	write_in_sitemap(b, site, f);
	put(b, "duplicate_of", r->duplicate_of != 0 ? f->original_uid : NULL);
	put(b, "merged_into", r->merged_into != 0 ? f->original_uid : NULL);
	json_put_name(b, "created_at");
	json_put_time(b, r->created_at);
	json_put_name(b, "updated_at");
	json_put_time(b, r->changed_at);
	json_put_name(b, "publish_at");
	json_put_time(b, r->publish_at);
	json_put_name(b, "withdraw_at");
	json_put_time(b, r->withdraw_at);
	json_put_name(b, "published_at");
	json_put_time(b, r->first_published_at);
	json_put_name(b, "changed_at");
	json_put_time(b, r->live_changed_at);
}

static void
write_terms(struct scope *s, struct buf *b, const struct site *site, const struct facts *f, unsigned omitted)
{
	size_t i;

	if (f->resource.kind != KIND_ARTICLE && f->resource.kind != KIND_PAGE)
		return;
	if (!(omitted & 1u << OMIT_TAGS)) {
		json_put_name(b, "tags");
		buf_char(b, '[');
		for (i = 0; i < f->tag_count; i++) {
			if (i > 0)
				buf_char(b, ',');
			write_term(s, b, site, &f->tags[i]);
		}
		buf_char(b, ']');
	}
	if (!(omitted & 1u << OMIT_AUTHOR)) {
		json_put_name(b, "author");
		if (f->author.id == 0)
			buf_text(b, "null");
		else
			write_term(s, b, site, &f->author);
	}
}

static void
write_term(struct scope *s, struct buf *b, const struct site *site, const struct term *t)
{
	buf_char(b, '{');
	put(b, "name", t->name);
	put(b, "slug", t->slug);
	put(b, "url", site_url(s, site, t->path));
	buf_char(b, '}');
}

static void
write_seo(struct buf *b, const struct revision *v)
{
	json_put_name(b, "seo");
	buf_char(b, '{');
	put(b, "title", v->seo_title);
	put(b, "description", v->seo_description);
	put(b, "image", v->seo_image);
	json_put_name(b, "noindex");
	buf_text(b, v->noindex ? "true" : "false");
	put(b, "canonical", v->canonical);
	buf_char(b, '}');
}

const char *
facts_unlisted(const struct site *site, const struct facts *f)
{
	const struct resource *r = &f->resource;
	bool is_term = r->kind == KIND_TAG || r->kind == KIND_AUTHOR;

	return r->state != STATE_PUBLISHED ? state_name(r->state) :
	    site->noindex || r->live_noindex		 ? "noindex" :
	    r->live_canonical != NULL			 ? "canonical" :
	    r->duplicate_of != 0			 ? "duplicate" :
	    is_term && !f->is_used			 ? "empty" :
							   NULL;
}

static void
write_in_sitemap(struct buf *b, const struct site *site, const struct facts *f)
{
	const char *reason = facts_unlisted(site, f);

	json_put_name(b, "in_sitemap");
	buf_text(b, reason == NULL ? "{\"listed\":true" : "{\"listed\":false");
	put(b, "reason", reason);
	buf_char(b, '}');
}

static void
write_omitted(struct buf *b, unsigned omitted)
{
	int i;

	if (omitted == 0)
		return;
	json_put_name(b, "omitted");
	buf_char(b, '[');
	for (i = 0; i < OMIT_COUNT; i++)
		if (omitted & 1u << i) {
			if (i > 0)
				buf_char(b, ',');
			json_put_text(b, omit_names[i]);
		}
	buf_char(b, ']');
}

static void
put(struct buf *b, const char *name, const char *value)
{
	json_put_name(b, name);
	json_put_text(b, value);
}
