/* near.h - what live texts are like, and which are like others. */
#ifndef STORE_NEAR_H
#define STORE_NEAR_H
#include "db/db.h"

struct near_stale { int64_t id; const char *locale, *content_hash; int64_t live_revision; };	/* content_hash NULL: its row has to go */
/* Resources with after < id <= last whose row is missing, of another text, or of none any more; at most `limit`. */
enum status	 store_near_stale(struct scope *, struct db *, int64_t after, int64_t last, struct near_stale *out, size_t limit, size_t *count) MUST_USE;
/* The row of a resource, if content_hash is still that of its live text; NULL removes it. Hash 0 is that of texts with less than two words,
 * which are near to nothing. */
enum status	 store_near_set(struct scope *, struct db *, int64_t id, const char *content_hash, uint64_t hash) MUST_USE;

struct near_text { int64_t id; const char *locale, *content_hash; uint64_t hash; };
/* From id `from` on, at most `limit`. */
enum status	 store_near_texts(struct scope *, struct db *, int64_t from, struct near_text *out, size_t limit, size_t *count) MUST_USE;
/* Of the first `limit` above `after` that share a block of bits those with another text than content_hash; locale and content_hash are not set. */
enum status	 store_near_in_block(struct scope *, struct db *, const char *locale, int block, int bits, int64_t after, const char *content_hash,
		    struct near_text *out, size_t limit, size_t *count) MUST_USE;
#endif
