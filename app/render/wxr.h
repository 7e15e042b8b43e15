/* wxr.h - WordPress exports (WXR 1.0 to 1.2): a stream of items in constant memory. */
#ifndef RENDER_WXR_H
#define RENDER_WXR_H
#include "base/base.h"

#define WXR_FIELD_MAX (4 * 1024 * 1024)	/* bytes of one text; more is left out and the thing is marked as cut */
#define WXR_THING_MAX (16 * 1024 * 1024)	/* bytes of all texts of one author, term or item; the same */
#define WXR_META_MAX 500		/* postmeta, and terms, of one item; further ones are left out */

struct wxr_channel {		/* what stands before the items */
	const char	*title, *description, *language, *site_url, *blog_url;	/* NULL = absent */
};
struct wxr_author { int64_t id; const char *login, *email, *name; int line; };
enum wxr_term_kind { WXR_CATEGORY, WXR_TAG, WXR_OTHER_TERM };
struct wxr_term { enum wxr_term_kind kind; int64_t id; const char *slug, *name, *parent, *description, *domain; int line; };
struct wxr_meta { const char *key, *value; };
struct wxr_item {
	int		 line;		/* where <item> begins, from 1 */
	int64_t		 post_id, parent_id;	/* 0 = none */
	const char	*title, *link, *guid, *creator, *content, *excerpt, *type, *status, *slug, *password, *attachment_url, *format;
	int64_t		 date_gmt, date, modified_gmt;	/* Unix ms; 0 = absent or a zero date. `date` is local, taken as UTC */
	bool		 is_sticky;
	const struct wxr_term *terms;	/* categories and tags of the item */
	size_t		 term_count;
	const struct wxr_meta *meta;
	size_t		 meta_count;
	int64_t		 comment_count;
	int64_t		 dropped_characters;	/* characters XML forbids, counted and left out */
	bool		 is_cut;	/* over WXR_FIELD_MAX or WXR_THING_MAX: must not be imported */
};
enum wxr_event { WXR_END, WXR_CHANNEL, WXR_AUTHOR, WXR_TERM, WXR_ITEM };

struct wxr;
/* Sniffs the file first: ERR_INVALID says what was found when it is no WXR (zip, gzip, HTML, JSON, other XML). DOCTYPE with entities, external
 * entities: ERR_INVALID "entity". Bytes 0x00-0x1F that XML forbids are dropped while reading and counted. */
enum status	 wxr_open(struct scope *, struct wxr **, const char *file) MUST_USE;
/* The next thing; its texts live until the next call. ERR_INVALID with line for XML that is not well formed: everything before it was
 * delivered. */
enum status	 wxr_next(struct scope *, struct wxr *, enum wxr_event *) MUST_USE;
const struct wxr_channel *wxr_channel(const struct wxr *);
const struct wxr_author *wxr_author(const struct wxr *);
const struct wxr_term *wxr_term(const struct wxr *);
const struct wxr_item *wxr_item(const struct wxr *);
void		 wxr_position(const struct wxr *, int64_t *bytes, int64_t *total);	/* for progress */
int64_t		 wxr_dropped(const struct wxr *);	/* illegal characters so far */
void		 wxr_close(struct wxr *);

/* post_content as WordPress would show it: block comments removed (their text kept); [caption] a figure; [video], [audio], [playlist], [embed] and
 * bare URLs on a line links; other shortcodes kept as visible text; double line ends to paragraphs (the autop rules). Not yet sanitised. */
struct str	 wxr_content_html(struct scope *, struct str content);
#endif
