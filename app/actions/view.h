/* view.h - public pages: from a resolution to bytes, with what they depend on. */
#ifndef ACTIONS_VIEW_H
#define ACTIONS_VIEW_H
#include "actions/resolve.h"
#include "render/page.h"

/* Dependency names, the same words in db_touch and here:
 *   resource:ID       anything public about one resource changed (its text, state, path, canonical)
 *   list:KIND         membership or order of the public list of a kind ("list:article") changed, or what a list prints of a member
 *   tag:ID author:ID  the same for one tag's or author's list
 *   settings          any site setting
 *   sitemap:FIRST     one sitemap part (by its first_id); "sitemap" for the index and the set of parts
 *   rules            a redirect rule came, went or changed; readers keep them in memory
 *   paths             a path row came, went or moved (answers that depend on absence)
 *   theme             templates and assets (never bumped by a write) */
#define VIEW_DEPENDENCIES 64
struct view {
	int		 status;
	const char	*type;		/* media type */
	struct str	 body;
	const char	*link;		/* Link header value or NULL */
	const char	*robots;	/* X-Robots-Tag or NULL */
	int64_t		 modified_at;	/* Last-Modified; 0 = none */
	bool		 is_cacheable;
	const char	*depends[VIEW_DEPENDENCIES];	/* dependency names; more than fit: is_cacheable turns false */
	size_t		 depends_count;
};
/* A page, list or error page (meaning none/gone) as HTML. */
enum status	 view_page(struct scope *, struct db *, const struct site *, const struct templates *, const struct resolution *,
		    struct view *out) MUST_USE;
/* What the same page says in its head; `out` has what it depends on. */
enum status	 view_head(struct scope *, struct db *, const struct site *, const struct templates *, const struct resolution *, struct view *out,
		    struct head *head) MUST_USE;
/* What any address means, as JSON:
 *   { url, meaning: page | redirect | gone | none, status, hops: 0 | 1, location, resource: { id, kind, title, url }, list, head: { html, json } }
 * `text` is a path of this site, with or without query, or an absolute URL; that of another site means none. resource and head are of the page, or of the
 * page of this site that a redirect leads to; null when there is none. ERR_INVALID, field "url". */
enum status	 view_meaning(struct scope *, struct db *, const struct site *, const struct templates *, const char *text, struct view *out) MUST_USE;
/* /sitemap.xml (part NULL) and /sitemap-<part>.xml; ERR_NOT_FOUND for a part that does not exist. */
enum status	 view_sitemap(struct scope *, struct db *, const struct site *, const char *part, struct view *out) MUST_USE;
/* The newest articles: /feed.EXTENSION, or /feed/TERM.EXTENSION of a tag or an author by its id, which a move does not change. Whole texts
 * up to a megabyte together, the rest by their summaries. ERR_NOT_FOUND, ERR_GONE. */
enum status	 view_feed(struct scope *, struct db *, const struct site *, const char *term, const char *extension, struct view *out) MUST_USE;
/* /llms.txt (llmstxt.org): what the feed lists, 100 articles at most. ERR_NOT_FOUND on a closed site. */
enum status	 view_llms(struct scope *, struct db *, const struct site *, struct view *out) MUST_USE;
/* /.well-known/security.txt (RFC 9116), never older than a month. ERR_NOT_FOUND without the setting security_contact. */
enum status	 view_security(struct scope *, const struct site *, struct view *out) MUST_USE;
enum status	 view_robots(struct scope *, struct db *, const struct site *, struct view *out) MUST_USE;
#endif
