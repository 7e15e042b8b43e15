/* cache.h - ready answers of public pages, bounded by bytes, dropped as soon as something they depend on changed. Pure; one thread. */
#ifndef HTTP_CACHE_H
#define HTTP_CACHE_H
#include "base/base.h"
#include "base/compress.h"
#include "db/shared.h"
#include "http/wire.h"

#define CACHE_KEY_MAX 512
#define CACHE_SLOTS_MAX 64

/* What an answer is kept under: coding, path, and the query parameters that public routes declare. */
struct cache_key {
	uint64_t	 hash;
	size_t		 len;
	char		 text[CACHE_KEY_MAX];
};
/* False when such a request is never answered from the cache: too long, or the query has other parameters than `page` and `q` (and `url`
 * of the resolve API), which a redirect would have to keep. */
bool		 cache_key_make(struct cache_key *, enum coding, struct str path, struct str query);

struct cache_entry {
	struct cache_key key;
	struct wire	*full;		/* one reference each */
	struct wire	*not_modified;	/* NULL: conditions do not apply (not a 200) */
	char		 etag[64];	/* "" = none */
	int64_t		 modified_at;	/* Last-Modified in Unix ms; 0 = none */
	int64_t		 valid_until;	/* Unix ms; 0 = no time bound */
	uint64_t	 generation;	/* read before its snapshot was opened */
	size_t		 slot_count;
	uint32_t	 slots[CACHE_SLOTS_MAX];
	/* The cache's own: */
	uint64_t	 checked;	/* generation at which it was last found valid */
	bool		 was_used;
	struct cache_entry *chain, *next, *previous;
};
/* All zero but the key. Freed by cache_entry_free, which drops the wires; cache_put takes it over. */
struct cache_entry *cache_entry_new(const struct cache_key *);
void		 cache_entry_free(struct cache_entry *);	/* NULL is fine */

struct cache;
struct cache	*cache_new(struct shared *, int64_t max_bytes);
void		 cache_free(struct cache *);
/* A valid entry or NULL; good until the next call. An entry that is out of date is removed. */
const struct cache_entry *cache_find(struct cache *, const struct cache_key *, int64_t now);
/* Replaces an entry of the same key; others make room by second chance. Dropped at once when it is out of date, or larger than an eighth of
 * the cache. */
void		 cache_put(struct cache *, struct cache_entry *, int64_t now);
int64_t		 cache_bytes(const struct cache *);
size_t		 cache_count(const struct cache *);

#endif
