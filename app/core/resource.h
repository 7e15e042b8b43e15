/* resource.h - what a resource is, its states, and the moves between them. */
#ifndef CORE_RESOURCE_H
#define CORE_RESOURCE_H
#include "base/base.h"

enum kind { KIND_ARTICLE, KIND_PAGE, KIND_TAG, KIND_AUTHOR, KIND_COUNT };
enum state { STATE_DRAFT, STATE_SCHEDULED, STATE_PUBLISHED, STATE_WITHDRAWN, STATE_GONE, STATE_COUNT };
enum move { MOVE_PUBLISH, MOVE_SCHEDULE, MOVE_CANCEL, MOVE_WITHDRAW, MOVE_DELETE, MOVE_RESTORE, MOVE_COUNT };
enum format { FORMAT_MARKDOWN, FORMAT_HTML };

struct resource {
	int64_t		 id;		/* 0 until stored */
	const char	*uid;		/* UUIDv7, the public id */
	enum kind	 kind;
	const char	*locale;	/* BCP 47, "en" */
	enum state	 state;
	const char	*slug;
	int64_t		 parent_id;	/* pages only; 0 = none */
	int64_t		 edit_version;	/* ETag; rises by edits and state moves, from 1 */
	int64_t		 event_version;	/* rises by everything sinks may see */
	int64_t		 head_revision, live_revision, scheduled_revision;	/* numbers; 0 = none */
	int64_t		 publish_at, withdraw_at, first_published_at, live_changed_at;	/* Unix ms; 0 = none */
	const char	*live_title;	/* what publishing copied from the live revision; NULL if never public */
	const char	*live_summary;
	bool		 live_noindex;
	const char	*live_canonical;	/* override, absolute URL; NULL = own url */
	int64_t		 live_author;	/* resource id; 0 = none */
	bool		 is_sticky;
	const char	*content_hash;	/* of the live text; NULL when under 200 characters or not live */
	int64_t		 hash_since;
	int64_t		 duplicate_of;	/* resource id; 0 = none */
	const char	*distinct_reason;
	int64_t		 merged_into;	/* STATE_GONE only: where its addresses lead; resource id, 0 = nowhere */
	const char	*client_ref;
	const char	*ref_hash;
	const char	*ref_source;
	const char	*guid;		/* permanent id of feeds when it came from an import; NULL = derived from uid */
	int64_t		 owner_user;
	int64_t		 created_at, changed_at;
	const char	*path;		/* canonical path row, stored form */
};

/* What an editor changes; immutable once stored. */
struct revision {
	int64_t		 number;	/* from 1 */
	const char	*title;
	enum format	 format;
	const char	*source;
	const char	*summary;	/* NULL = none */
	int64_t		 author_id;	/* resource id of kind author; 0 = none */
	const int64_t	*tag_ids;	/* in the order given */
	size_t		 tag_count;
	bool		 noindex;
	const char	*canonical;	/* override; NULL = none */
	const char	*seo_title, *seo_description, *seo_image;	/* NULL = none */
	const char	*fields;	/* JSON object text; "{}" = none */
	int64_t		 editor_user;
	int64_t		 created_at;
};

/* Made from a revision by render/, rebuildable. */
struct rendered {
	const char	*html;		/* sanitised */
	const char	*text;		/* visible text, blanks folded */
	const char	*excerpt;	/* first 160..200 characters of text, at a word border */
	const char	*links;		/* JSON array of URLs as written */
	const char	*images;	/* JSON array of {src, alt} */
};

const char	*kind_name(enum kind);			/* "article" */
const char	*kind_plural(enum kind);		/* "articles": the API collection */
bool		 kind_parse(struct str, enum kind *);	/* takes the singular */
const char	*state_name(enum state);
bool		 state_parse(struct str, enum state *);
const char	*move_name(enum move);
const char	*format_name(enum format);

/* Where `move` leads from `from`; `was_public` decides withdrawn or draft, gone or removed. False: no such step.
 * publish: draft scheduled withdrawn -> published (published -> published is *publish changes*).
 * schedule: draft withdrawn -> scheduled. cancel: scheduled -> draft | withdrawn. withdraw: published -> withdrawn.
 * delete: anything but gone -> gone (never public: the row goes, *to is still STATE_GONE). restore: gone -> withdrawn. */
bool		 state_after(enum state from, enum move, bool was_public, enum state *to);

/* A path from the kind's pattern: {slug} {yyyy} {mm} {id} {parent} (a page's parent path without its leading slash; the
 * segment vanishes when there is none). The result is in stored form. `id` is the first 8 characters of the last group of uid. The date
 * is that of first_published_at, else publish_at, else created_at, else now (UTC). ERR_INVALID, field "slug", when it gives no path. */
enum status	 path_from_pattern(struct scope *, const char **out, const char *pattern, const struct resource *,
		    const char *parent_path) MUST_USE;
/* ERR_INVALID unless the pattern begins with '/', has {slug} or {id} in its last segment, names only known parts ({parent} as a
 * whole segment), is in stored form, and does not begin with a reserved name. */
enum status	 pattern_check(struct scope *, const char *pattern, const char *field) MUST_USE;

/* SHA-256 hex of normalised title and visible text within a locale (design: duplicates); false when the text has under 200
 * characters. Normalised: NFC, case fold, runs of blanks as one. */
bool		 content_hash(struct scope *, char out[65], const char *locale, const char *title, const char *text);

#endif
