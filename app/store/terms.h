/* terms.h - tags and authors as others refer to them, and which live resources carry a tag. */
#ifndef STORE_TERMS_H
#define STORE_TERMS_H
#include "base/base.h"
#include "core/resource.h"
#include "db/db.h"

struct term {
	int64_t		 id;
	const char	*uid, *name, *slug, *path;	/* name: as published, else as last edited */
	bool		 is_live;
};
enum status	 store_term_find(struct scope *, struct db *, struct term *out, bool *found, int64_t id) MUST_USE;
/* `locale` NULL: of any. Those that are gone are not found. */
enum status	 store_term_find_slug(struct scope *, struct db *, struct term *out, bool *found, enum kind, const char *slug,
		    const char *locale) MUST_USE;
/* By the fold of its name, the eldest. */
enum status	 store_term_find_name(struct scope *, struct db *, struct term *out, bool *found, enum kind, const char *locale,
		    const char *name_fold) MUST_USE;

/* The tags of a resource that goes live, and takes back those it had. Ids that are no tags are skipped. */
enum status	 store_live_tags_set(struct scope *, struct db *, int64_t resource, int64_t published_at, const int64_t *tags,
		    size_t count) MUST_USE;
enum status	 store_live_tags_remove(struct scope *, struct db *, int64_t resource, const int64_t **had, size_t *had_count) MUST_USE;
/* The tags of a live resource, in no order. */
enum status	 store_live_tags_of(struct scope *, struct db *, int64_t resource, const int64_t **tags, size_t *count) MUST_USE;
/* Does something live carry this tag, besides `except` (0 = nothing excepted)? */
enum status	 store_live_tag_is_used(struct scope *, struct db *, int64_t tag, int64_t except, bool *out) MUST_USE;
#endif
