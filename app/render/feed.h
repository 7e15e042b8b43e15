/* feed.h - a feed in one of three formats: Atom (RFC 4287), RSS 2.0 (rssboard.org), JSON Feed 1.1 (jsonfeed.org), from the same values. */
#ifndef RENDER_FEED_H
#define RENDER_FEED_H
#include "base/base.h"

enum feed_format { FEED_ATOM, FEED_RSS, FEED_JSON, FEED_FORMATS };

/* Addresses are absolute. NULL: not there. */
struct feed_entry {
	const char	*id;			/* permanent, an IRI; survives a move */
	const char	*title, *url;
	const char	*summary;		/* plain text */
	const char	*content_html;		/* whole text with absolute addresses; NULL = the summary is all there is */
	const char	*author_name, *author_url;
	const char	*image;
	const char *const *tags;		/* tag_count names */
	size_t		 tag_count;
	int64_t		 published_at, changed_at;	/* Unix ms */
};
struct feed {
	const char	*title, *description;
	const char	*id;			/* permanent, an IRI */
	const char	*url;			/* the page that lists the same */
	const char	*self;			/* where the feed itself is */
	const char	*hub;			/* WebSub hub */
	const char	*locale;
	const char	*author;		/* of entries that name none: Atom wants one */
	int64_t		 changed_at;
	const struct feed_entry *entries;
	size_t		 count;
};
enum status	 feed_write(struct scope *, const struct feed *, enum feed_format, struct str *out) MUST_USE;

const char	*feed_extension(enum feed_format);	/* "atom" */
const char	*feed_type(enum feed_format);		/* "application/atom+xml; charset=utf-8" */
/* Of the extension. */
bool		 feed_format_parse(struct str, enum feed_format *);
#endif
