/* page.h - values -> one HTML document of the theme. */
#ifndef RENDER_PAGE_H
#define RENDER_PAGE_H
#include <jansson.h>
#include "base/base.h"
#include "core/site.h"
#include "render/head.h"
#include "render/template.h"

/* The view of each template is an object made of these members (strings unless said otherwise); page_render adds `head_html`,
 * `site` {title, description, home_url, articles_url, tags_url, authors_url, locale, dir}, `theme` {css_url}, `year`, `has_breadcrumbs` (bool).
 *
 *   resource (article.mustache, page.mustache):
 *     title, url, content_html, summary?, is_article (bool), published {iso, text}?, changed {iso, text}? (only if another day),
 *     author {name, url}?, tags [{name, url}], has_tags (bool), breadcrumbs [{name, url}] (pages with parents)
 *   list (home.mustache, list.mustache, tag.mustache, author.mustache):
 *     title, intro? , content_html? (a tag's or author's own text), items [{title, url, excerpt, published {iso, text}, author?, tags}],
 *     is_empty (bool), pager {prev_url?, next_url?, page (number), pages (number)}?; terms [{name, url, count}] for /tags and /authors (terms.mustache)
 *   error (error.mustache): status (number), title, message, is_gone (bool), home_url */
enum status	 page_render(struct scope *, const struct templates *, const struct site *, const char *name, const struct head *,
		    json_t *view, struct str *out) MUST_USE;
/* A date for people in the locale's manner ("30 November 2026", 2026年11月30日), UTC. */
const char	*date_text(struct scope *, int64_t ms, const char *locale);
#endif
