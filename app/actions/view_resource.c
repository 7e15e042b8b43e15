/* view_resource.c - the page of one article or page, and what any resource says of itself. */
#include "actions/view_parts.h"
#include "base/clock.h"
#include "store/resources.h"
#include "store/revisions.h"

#define TAGS_MAX 50
#define PARENTS_MAX 16

/* Everything that a page prints of other resources. */
struct surroundings {
	struct list_name tags[TAGS_MAX];
	size_t		 tag_count;
	struct list_name author;	/* id 0 = none */
	struct list_name parents[PARENTS_MAX];	/* the nearest first */
	size_t		 parent_count;
};

static enum status	load_surroundings(struct scope *, struct page_build *, const struct resource *, struct surroundings *);
static void		note_name(struct scope *, struct page_build *, const struct list_name *);
static json_t		*resource_view(struct scope *, const struct page_build *, const struct resource *, const struct rendered *,
			    const struct surroundings *, struct str content);
static const char	*absolute_image(struct scope *, const struct site *, const struct revision *, const struct rendered *);
static const char	*text_or(const char *first, const char *second);
static bool		same_day(int64_t a, int64_t b);

enum status
view_resource(struct scope *s, struct page_build *b, const struct resource *r)
{
	struct surroundings around = { .tag_count = 0 };
	struct rendered rendered;
	struct str content;

	TRY(view_about(s, b, r, &rendered, &content));
	TRY(load_surroundings(s, b, r, &around));
	if (around.author.is_live) {
		b->head.author_name = around.author.title;
		b->head.author_url = view_url(s, b->site, around.author.path, 1);
	}
	return view_finish(s, b, kind_name(r->kind), resource_view(s, b, r, &rendered, &around, content));
}

enum status
view_about(struct scope *s, struct page_build *b, const struct resource *r, struct rendered *rendered, struct str *content)
{
	struct revision v;
	struct list_name original = { .id = 0 };

	TRY(store_revision_load(s, b->db, &v, r->id, r->live_revision, false));
	TRY(store_rendered_load(s, b->db, rendered, r->id, r->live_revision));
	*content = (struct str){ "", 0 };
	if (!b->head_only)
		TRY(links_current(s, b, str_of(rendered->html), content));
	view_modified(b->out, r->live_changed_at);
	view_modified(b->out, r->changed_at);
	b->head.kind = kind_name(r->kind);
	b->head.locale = r->locale;
	b->head.title = v.seo_title != NULL ? v.seo_title : view_title(s, b->site, r->live_title, 1);
	b->head.description = text_or(v.seo_description, text_or(r->live_summary, text_or(rendered->excerpt, NULL)));
	b->head.noindex = b->head.noindex || r->live_noindex;
	b->head.image = absolute_image(s, b->site, &v, rendered);
	b->head.published_at = r->first_published_at;
	b->head.changed_at = r->live_changed_at;
	b->head.url = view_url(s, b->site, r->path, 1);
	if (r->duplicate_of != 0) {
		TRY(store_list_name(s, b->db, &original, r->duplicate_of));
		note_name(s, b, &original);
	}
	b->head.canonical = site_canonical(s, b->site, r->live_canonical, original.is_live ? original.path : NULL, r->path);
	return OK;
}

static enum status
load_surroundings(struct scope *s, struct page_build *b, const struct resource *r, struct surroundings *around)
{
	struct resource parent = *r;

	TRY(store_list_tags_of(s, b->db, around->tags, &around->tag_count, TAGS_MAX, r->id));
	for (size_t i = 0; i < around->tag_count; i++)
		note_name(s, b, &around->tags[i]);
	if (r->live_author != 0) {
		TRY(store_list_name(s, b->db, &around->author, r->live_author));
		note_name(s, b, &around->author);
	}
	while (parent.parent_id != 0 && around->parent_count < PARENTS_MAX) {
		TRY(store_resource_load(s, b->db, &parent, parent.parent_id));
		struct list_name *name = &around->parents[around->parent_count++];
		*name = (struct list_name){ parent.id, parent.live_title, parent.path, parent.changed_at, parent.state == STATE_PUBLISHED };
		note_name(s, b, name);
	}
	return OK;
}

static void
note_name(struct scope *s, struct page_build *b, const struct list_name *name)
{
	view_depend(s, b->out, "resource:%" PRId64, name->id);
	view_modified(b->out, name->changed_at);
}

static json_t *
resource_view(struct scope *s, const struct page_build *b, const struct resource *r, const struct rendered *rendered,
    const struct surroundings *around, struct str content)
{
	json_t *view = json_object(), *tags = json_array(), *crumbs = json_array();

	view_set(view, "title", r->live_title);
	view_set(view, "url", b->head.url);
	view_set(view, "summary", r->live_summary);
	json_object_set_new(view, "content_html", json_stringn(content.p, content.len));
	json_object_set_new(view, "is_article", json_boolean(r->kind == KIND_ARTICLE));
	json_object_set_new(view, "published", view_time(s, r->first_published_at, r->locale));
	if (!same_day(r->first_published_at, r->live_changed_at))
		json_object_set_new(view, "changed", view_time(s, r->live_changed_at, r->locale));
	if (around->author.is_live)
		json_object_set_new(view, "author", view_name(b->head.author_name, b->head.author_url));
	for (size_t i = 0; i < around->tag_count; i++)
		if (around->tags[i].is_live)
			json_array_append_new(tags, view_name(around->tags[i].title, view_url(s, b->site, around->tags[i].path, 1)));
	json_object_set_new(view, "has_tags", json_boolean(json_array_size(tags) > 0));
	json_object_set_new(view, "tags", tags);
	for (size_t i = around->parent_count; i-- > 0;)
		if (around->parents[i].is_live)
			json_array_append_new(crumbs, view_name(around->parents[i].title, view_url(s, b->site, around->parents[i].path, 1)));
	json_object_set_new(view, "breadcrumbs", crumbs);
	return view;
}

/* Crawlers take absolute addresses only. */
static const char *
absolute_image(struct scope *s, const struct site *site, const struct revision *v, const struct rendered *rendered)
{
	json_t *images = json_loads(text_or(rendered->images, "[]"), 0, NULL);
	const char *first = json_string_value(json_object_get(json_array_get(images, 0), "src"));
	const char *given = text_or(v->seo_image, first), *image = NULL;

	if (given != NULL && given[0] == '/' && given[1] != '/')
		image = scope_printf(s, "%s%s", site->public_origin, given);
	else if (given != NULL && (strncmp(given, "https://", 8) == 0 || strncmp(given, "http://", 7) == 0))
		image = arena_strdup(s->arena, given);
	json_decref(images);
	return image;
}

static const char *
text_or(const char *first, const char *second)
{
	return first != NULL && *first != '\0' ? first : second;
}

static bool
same_day(int64_t a, int64_t b)
{
	struct clock_date x = clock_split(a), y = clock_split(b);

	return x.year == y.year && x.month == y.month && x.day == y.day;
}
