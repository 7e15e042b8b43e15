/* view.c - public pages: which template an address takes, and what every page has. */
#include "actions/view.h"
#include "actions/paging.h"
#include "actions/view_parts.h"
#include "base/clock.h"
#include "store/resources.h"

static enum status	build(struct scope *, struct page_build *, const struct resolution *);
static enum status	view_error(struct scope *, struct page_build *, const struct resolution *);

enum status
view_page(struct scope *s, struct db *db, const struct site *site, const struct templates *templates, const struct resolution *r,
    struct view *out)
{
	struct page_build b = { .db = db, .site = site, .templates = templates, .out = out };

	return build(s, &b, r);
}

enum status
view_head(struct scope *s, struct db *db, const struct site *site, const struct templates *templates, const struct resolution *r,
    struct view *out, struct head *head)
{
	struct page_build b = { .db = db, .site = site, .templates = templates, .out = out, .head_only = true };

	TRY(build(s, &b, r));
	*head = b.head;
	return OK;
}

static enum status
build(struct scope *s, struct page_build *b, const struct resolution *r)
{
	struct resource resource;

	assert(r->meaning != MEANING_REDIRECT);
	TRY(view_begin(s, b));
	if (r->meaning != MEANING_PAGE)
		return view_error(s, b, r);
	if (r->list != NULL)
		return view_list(s, b, r->list, r->page);
	TRY(store_resource_load(s, b->db, &resource, r->resource_id));
	view_depend(s, b->out, "resource:%" PRId64, resource.id);
	if (resource.kind == KIND_TAG || resource.kind == KIND_AUTHOR)
		return view_term(s, b, &resource, r->page);
	return view_resource(s, b, &resource);
}

enum status
view_begin(struct scope *s, struct page_build *b)
{
	int64_t at;

	*b->out = (struct view){ .status = 200, .type = "text/html; charset=utf-8", .is_cacheable = true };
	b->head = (struct head){ .locale = b->site->locale, .site_title = b->site->title, .noindex = b->site->noindex };
	b->head.feed_url = view_feed_url(s, b->site, NULL);
	b->head.feed_title = b->site->title;
	view_depend(s, b->out, "settings");
	view_depend(s, b->out, "theme");
	TRY(store_settings_changed_at(s, b->db, &at));
	view_modified(b->out, at);
	view_modified(b->out, templates_loaded_at(b->templates));
	return OK;
}

void
view_depend(struct scope *s, struct view *v, const char *name_fmt, ...)
{
	va_list ap;
	const char *name;

	va_start(ap, name_fmt);
	name = arena_vprintf(s->arena, name_fmt, ap);
	va_end(ap);
	for (size_t i = 0; i < v->depends_count; i++)
		if (strcmp(v->depends[i], name) == 0)
			return;
	if (v->depends_count == VIEW_DEPENDENCIES)
		v->is_cacheable = false;
	else
		v->depends[v->depends_count++] = name;
}

void
view_modified(struct view *v, int64_t ms)
{
	if (ms > v->modified_at)
		v->modified_at = ms;
}

enum status
view_finish(struct scope *s, struct page_build *b, const char *template, json_t *view)
{
	enum status status = b->head_only ? OK : page_render(s, b->templates, b->site, template, &b->head, view, &b->out->body);

	json_decref(view);
	b->out->link = head_link(s, &b->head);
	b->out->robots = head_robots(&b->head);
	/* RFC 9110 8.8.2.1: not later than the answer itself, whatever a clock said once. */
	if (b->out->modified_at > s->now)
		b->out->modified_at = s->now;
	return status;
}

static enum status
view_error(struct scope *s, struct page_build *b, const struct resolution *r)
{
	static const struct { int status; const char *title, *message; } texts[] = {
		{ 404, "Not found", "There is no page at this address." },
		{ 410, "Gone", "This page was removed and will not come back." },
		{ 451, "Not available", "This page was removed for legal reasons." },
		{ 0, "Bad request", "This request cannot be answered." },
	};
	json_t *view = json_object();
	size_t i = 0;

	while (texts[i].status != 0 && texts[i].status != r->status)
		i++;
	b->out->status = r->status;
	b->out->modified_at = 0;
	/* There is no end of addresses that mean nothing: they may not push pages out of the cache. */
	b->out->is_cacheable = false;
	b->head.kind = "error";
	b->head.feed_url = NULL;
	b->head.noindex = true;
	b->head.title = view_title(s, b->site, texts[i].title, 1);
	json_object_set_new(view, "status", json_integer(r->status));
	json_object_set_new(view, "is_gone", json_boolean(r->meaning == MEANING_GONE));
	view_set(view, "title", texts[i].title);
	view_set(view, "message", texts[i].message);
	view_set(view, "home_url", view_url(s, b->site, "/", 1));
	return view_finish(s, b, "error", view);
}

void
view_set(json_t *object, const char *name, const char *text)
{
	if (text != NULL)
		json_object_set_new(object, name, json_string(text));
}

json_t *
view_time(struct scope *s, int64_t ms, const char *locale)
{
	char iso[CLOCK_TEXT];

	return json_pack("{s:s, s:s}", "iso", clock_rfc3339_seconds(iso, ms), "text", date_text(s, ms, locale));
}

json_t *
view_name(const char *name, const char *url)
{
	json_t *o = json_object();

	view_set(o, "name", name);
	view_set(o, "url", url);
	return o;
}

const char *
view_url(struct scope *s, const struct site *site, const char *path, int page)
{
	return url_public(s, site->public_origin, path, site->always_slash, paging_query(s, page));
}

const char *
view_title(struct scope *s, const struct site *site, const char *name, int page)
{
	const char *number = page > 1 ? scope_printf(s, " (%d)", page) : "";

	if (name == NULL || strcmp(name, site->title) == 0)
		return scope_printf(s, "%s%s", site->title, number);
	return scope_printf(s, "%s%s – %s", name, number, site->title);
}
