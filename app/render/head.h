/* head.h - the only source of what a page says about itself: head tags, Link header, Open Graph, JSON-LD. */
#ifndef RENDER_HEAD_H
#define RENDER_HEAD_H
#include <jansson.h>
#include "base/base.h"

struct head {
	const char	*title;		/* of the document, with the site's name */
	const char	*description;	/* NULL = none */
	const char	*canonical;	/* absolute; NULL on error pages and previews */
	const char	*url;		/* own address */
	const char	*locale;
	bool		 noindex;
	const char	*kind;		/* "article", "page", "tag", "author", "home", "list", "error" */
	const char	*site_title;
	const char	*image;
	int64_t		 published_at, changed_at;	/* Unix ms; 0 = none */
	const char	*author_name, *author_url;
	const char	*prev_url, *next_url;	/* numbered lists */
	const char	*feed_url, *feed_title;	/* of its feed, without the extension; NULL = none */
};
/* All tags for <head> as markup, each attribute escaped; canonical is byte for byte head->canonical in link, og:url and JSON-LD. */
const char	*head_html(struct scope *, const struct head *);
/* The same as values, for a front end that prints its own tags; a new reference. Members that the tags do not show are null. */
json_t		*head_json(struct scope *, const struct head *);
/* Value of the Link header field: <canonical>; rel="canonical". NULL when there is no canonical. */
const char	*head_link(struct scope *, const struct head *);
/* Value of X-Robots-Tag, or NULL when indexing is allowed. */
const char	*head_robots(const struct head *);
/* A JSON value as text that may stand in a script element: < > & U+2028 U+2029 as \u escapes. */
const char	*json_for_script(struct scope *, json_t *);
#endif
