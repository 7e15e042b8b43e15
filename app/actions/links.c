/* links.c - own addresses in a text, as they are when the page is built. */
#include "actions/view_parts.h"
#include "core/reserved.h"
#include "render/markdown.h"

/* More resources than these are not named one by one: then any move of a path makes the page anew. */
#define LINK_DEPENDENCIES 24

struct link_walk {
	struct page_build *b;
	size_t		 seen, resources;
	enum status	 status;	/* the first failure; links stay as written from there */
};

static const char	*current(struct scope *, void *arg, struct str url);
static enum status	look_up(struct scope *, struct link_walk *, struct str url, const char **out);
static enum status	note_target(struct scope *, struct link_walk *, const struct resolution *);
static bool		may_be_own(struct str url);

enum status
links_current(struct scope *s, struct page_build *b, struct str html, struct str *out)
{
	struct link_walk w = { .b = b, .status = OK };

	*out = render_links(s, html, current, &w);
	return w.status;
}

static const char *
current(struct scope *s, void *arg, struct str url)
{
	struct link_walk *w = arg;
	const char *out = NULL;

	if (w->status != OK || !may_be_own(url) || w->seen++ >= LINKS_MAX)
		return NULL;
	w->status = look_up(s, w, url, &out);
	return out;
}

static enum status
look_up(struct scope *s, struct link_walk *w, struct str url, const char **out)
{
	const struct site *site = w->b->site;
	struct url_form form;
	struct resolution r;
	struct str query;
	bool is_local = url.p[0] == '/';

	if (url_form_own(s, &form, &query, url, site->public_origin, "link") != OK) {
		s->error = NULL;	/* elsewhere, or no address at all */
		return OK;
	}
	if (path_is_reserved(s, form.path, NULL))
		return OK;
	/* As if asked at another host: then every meaning is spelled out as the address that it has now. */
	TRY(resolve(s, w->b->db, site, str_of(form.path), query, false, &r));
	TRY(note_target(s, w, &r));
	if (r.meaning != MEANING_REDIRECT || (r.status != 301 && r.status != 308) ||
	    !str_starts(str_of(r.location), site->public_origin))
		return OK;
	*out = scope_printf(s, "%s%.*s", is_local ? r.location + strlen(site->public_origin) : r.location,
	    STR_FMT(str_part(url, str_find(url, '#'), url.len)));
	if (str_is(url, *out))
		*out = NULL;
	return OK;
}

static enum status
note_target(struct scope *s, struct link_walk *w, const struct resolution *r)
{
	struct list_name name;

	if (r->resource_id == 0 || w->resources == LINK_DEPENDENCIES) {
		view_depend(s, w->b->out, "paths");
		return OK;
	}
	w->resources++;
	TRY(store_list_name(s, w->b->db, &name, r->resource_id));
	view_depend(s, w->b->out, "resource:%" PRId64, r->resource_id);
	view_modified(w->b->out, name.changed_at);
	return OK;
}

/* "/path", not "//host/path"; or an absolute address, whose host is compared later. */
static bool
may_be_own(struct str url)
{
	if (url.len > 0 && url.p[0] == '/')
		return url.len == 1 || (url.p[1] != '/' && url.p[1] != '\\');
	return str_starts(url, "http://") || str_starts(url, "https://");
}
