/* hits.h - how often redirects were used, and what was not found. */
#ifndef STORE_HITS_H
#define STORE_HITS_H
#include "store/redirects.h"

/* Of the redirect with that source, path and pairs; nothing when it is gone. */
enum status	 store_redirect_hit(struct scope *, struct db *, const struct redirect *, int64_t hits, int64_t last_at) MUST_USE;

struct not_found { const char *path; int64_t hits, first_at, last_at; };
/* Nothing when a redirect has the path by now. */
enum status	 store_not_found_add(struct scope *, struct db *, const struct not_found *) MUST_USE;
/* Those behind `after` in falling order of hits, last_at and path; at most `max`. */
enum status	 store_not_found_list(struct scope *, struct db *, const struct not_found *after, struct not_found *out, size_t max, size_t *count) MUST_USE;
/* Remove at most `limit` that were last asked for before `before`, or come behind the first `keep`. */
enum status	 store_not_found_prune(struct scope *, struct db *, int64_t before, int64_t keep, int limit, int64_t *removed) MUST_USE;
#endif
