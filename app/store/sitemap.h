/* sitemap.h - the parts of the sitemap and what stands in each. */
#ifndef STORE_SITEMAP_H
#define STORE_SITEMAP_H
#include "base/base.h"
#include "db/db.h"

/* sitemaps.org: an index lists at most this many. */
#define SITEMAP_PARTS_MAX 50000

struct sitemap_range {
	int64_t		 first_id, last_id;
	int64_t		 changed_at;
	bool		 has_home;	/* the first part: home has id 0 */
};
/* Parts that are not empty, in order; the first one has the home page and so never is. */
enum status	 store_sitemap_parts(struct scope *, struct db *, struct sitemap_range **out, size_t *count) MUST_USE;
/* ERR_NOT_FOUND. It may be empty. */
enum status	 store_sitemap_part(struct scope *, struct db *, struct sitemap_range *out, int64_t first_id) MUST_USE;

/* The entries of a part, or of the home page alone (all zero but has_home), in the order of ids: query, db_next, db_end.
 * Column 0 is the path, column 1 changed_at (0 = unknown). */
enum status	 store_sitemap_entries(struct scope *, struct db *, struct db_rows **, const struct sitemap_range *) MUST_USE;
#endif
