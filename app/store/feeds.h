/* feeds.h - which articles a feed names. */
#ifndef STORE_FEEDS_H
#define STORE_FEEDS_H
#include "base/base.h"
#include "core/resource.h"
#include "db/db.h"

/* Ids of the newest articles that the sitemap lists too, at most `limit`: of the whole site (`of` NULL), or of a tag or an author. */
enum status	 store_feed(struct scope *, struct db *, const struct resource *of, int64_t *ids, size_t limit, size_t *count) MUST_USE;
#endif
