/* view_parts.h - what the files behind view.h share: one page while it is built. */
#ifndef ACTIONS_VIEW_PARTS_H
#define ACTIONS_VIEW_PARTS_H
#include <jansson.h>
#include "actions/view.h"
#include "core/resource.h"
#include "store/lists.h"

struct page_build {
	struct db	*db;
	const struct site *site;
	const struct templates *templates;
	struct view	*out;
	struct head	 head;
	bool		 head_only;	/* nothing is rendered: out->body stays empty, and links are not looked up */
};

/* Start `out` as a cacheable 200 that depends on theme and settings and is no older than either. */
enum status	 view_begin(struct scope *, struct page_build *) MUST_USE;
void		 view_depend(struct scope *, struct view *, const char *name_fmt, ...) PRINTF_LIKE(3, 4);
/* The page changed at `ms` or later. */
void		 view_modified(struct view *, int64_t ms);
/* Render `view` (taken over) with the template and the head, and take over what the head says as header fields. */
enum status	 view_finish(struct scope *, struct page_build *, const char *template, json_t *view) MUST_USE;

/* Own addresses in html as they are now, with what they hang on noted in the view. At most LINKS_MAX are looked up. */
#define LINKS_MAX 200
enum status	 links_current(struct scope *, struct page_build *, struct str html, struct str *out) MUST_USE;

enum status	 view_resource(struct scope *, struct page_build *, const struct resource *) MUST_USE;	/* article, page */
enum status	 view_term(struct scope *, struct page_build *, const struct resource *, int page) MUST_USE;	/* tag, author */
enum status	 view_list(struct scope *, struct page_build *, const char *list, int page) MUST_USE;
/* What the live revision of `r` says of itself, in the head: title, description, image, robots, canonical. `r->live_revision`'s rendering
 * is loaded into *rendered, its links are brought up to date in *content. */
enum status	 view_about(struct scope *, struct page_build *, const struct resource *r, struct rendered *rendered, struct str *content) MUST_USE;

/* Small values of a template's view. Texts may be NULL: nothing is set. */
void		 view_set(json_t *object, const char *name, const char *text);
json_t		*view_time(struct scope *, int64_t ms, const char *locale);	/* { iso, text } */
json_t		*view_name(const char *name, const char *url);			/* { name, url } */
const char	*view_url(struct scope *, const struct site *, const char *path, int page);
/* The address of a feed (`term` NULL: the site's) without its extension. */
const char	*view_feed_url(struct scope *, const struct site *, const char *term);
/* The name with the site's behind it; NULL gives the site's alone. */
const char	*view_title(struct scope *, const struct site *, const char *name, int page);
#endif
