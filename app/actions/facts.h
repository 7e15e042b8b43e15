/* facts.h - all that an answer says about one resource, gathered; and the JSON made of it. */
#ifndef ACTIONS_FACTS_H
#define ACTIONS_FACTS_H
#include "base/base.h"
#include "core/resource.h"
#include "core/site.h"
#include "db/db.h"
#include "store/terms.h"

#define ANSWER_MAX 4096		/* bytes of the answer to a write, which is saved for replays */

struct facts {
	struct resource	 resource;
	struct revision	 revision;	/* the one shown */
	const char	*html;		/* with content only */
	struct term	*tags;
	size_t		 tag_count;
	struct term	 author;	/* id 0 = none */
	const char	*parent_uid;	/* NULL = none */
	const char	*original_uid, *original_path;	/* of the resource whose copy this is or was; NULL = it is none, and no path while that is not live */
	bool		 is_used;	/* tags and authors: something live refers to it */
};

enum facts_of { FACTS_HEAD, FACTS_LIVE };	/* what editors see, what the world sees */
/* From the database, for a resource that was just read. `with_content` fills revision.source and html. */
enum status	 facts_of_resource(struct scope *, struct db *, struct facts *out, const struct resource *, enum facts_of,
		    bool with_content) MUST_USE;
/* The same with any revision. ERR_NOT_FOUND. */
enum status	 facts_of_revision(struct scope *, struct db *, struct facts *out, const struct resource *, int64_t number, bool with_content) MUST_USE;
/* Fill original_* from resource.duplicate_of or merged_into. */
enum status	 facts_load_original(struct scope *, struct db *, struct facts *) MUST_USE;

const char	*facts_url(struct scope *, const struct site *, const struct facts *);
const char	*facts_canonical(struct scope *, const struct site *, const struct facts *);

/* Why it is not in the sitemap, the first reason that holds, in the words of the view sitemap_entry; NULL = it is. Of what is live: "noindex", "canonical",
 * "duplicate", "empty"; else the name of its state. */
const char	*facts_unlisted(const struct site *, const struct facts *);

/* Without content and html, of any size: for lists. */
struct str	 facts_json_meta(struct scope *, const struct site *, const struct facts *);
/* With content and html. */
struct str	 facts_json_full(struct scope *, const struct site *, const struct facts *);
/* Without them, at most ANSWER_MAX bytes. What does not fit is left out in the order fields, seo, summary, tags, author, canonical, path,
 * client_ref, slug, and named in the member "omitted". */
struct str	 facts_json(struct scope *, const struct site *, const struct facts *);
#endif
