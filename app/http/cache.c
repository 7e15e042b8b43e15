#include "http/cache.h"
#include "base/hash.h"

struct bucket {
	struct cache_entry *first;
};

struct cache {
	struct shared	*shared;
	int64_t		 max_bytes, bytes;
	size_t		 count, bucket_count;	/* a power of two */
	struct bucket	*buckets;
	struct cache_entry *hand;		/* of the clock: a ring of all entries, the newest just behind it */
};

#define BUCKETS_MIN 1024

static bool	query_is_declared(struct str path, struct str query);
static struct cache_entry **place(struct cache *, const struct cache_key *);
static bool	is_valid(struct cache *, struct cache_entry *, int64_t now);
static void	remove_entry(struct cache *, struct cache_entry *);
static void	make_room(struct cache *, int64_t bytes);
static void	grow(struct cache *);
static int64_t	weight(const struct cache_entry *);

bool
cache_key_make(struct cache_key *key, enum coding coding, struct str path, struct str query)
{
	if (path.len + query.len + 2 > CACHE_KEY_MAX || !query_is_declared(path, query))
		return false;
	key->text[0] = (char)('0' + (int)coding);
	memcpy(key->text + 1, path.p, path.len);
	key->len = 1 + path.len;
	if (query.len > 0) {
		key->text[key->len++] = '?';
		memcpy(key->text + key->len, query.p, query.len);
		key->len += query.len;
	}
	key->hash = hash_fast((struct str){ key->text, key->len });
	return true;
}

struct cache_entry *
cache_entry_new(const struct cache_key *key)
{
	struct cache_entry *e = calloc(1, sizeof(*e));

	if (e == NULL)
		abort();
	e->key.hash = key->hash;
	e->key.len = key->len;
	memcpy(e->key.text, key->text, key->len);
	return e;
}

void
cache_entry_free(struct cache_entry *e)
{
	if (e == NULL)
		return;
	wire_drop(e->full);
	wire_drop(e->not_modified);
	free(e);
}

struct cache *
cache_new(struct shared *shared, int64_t max_bytes)
{
	struct cache *c = calloc(1, sizeof(*c));

	if (c == NULL || (c->buckets = calloc(BUCKETS_MIN, sizeof(*c->buckets))) == NULL)
		abort();
	c->shared = shared;
	c->max_bytes = max_bytes;
	c->bucket_count = BUCKETS_MIN;
	return c;
}

void
cache_free(struct cache *c)
{
	while (c->hand != NULL)
		remove_entry(c, c->hand);
	free(c->buckets);
	free(c);
}

const struct cache_entry *
cache_find(struct cache *c, const struct cache_key *key, int64_t now)
{
	struct cache_entry *e = *place(c, key);

	if (e == NULL)
		return NULL;
	if (!is_valid(c, e, now)) {
		remove_entry(c, e);
		return NULL;
	}
	e->was_used = true;
	return e;
}

void
cache_put(struct cache *c, struct cache_entry *e, int64_t now)
{
	struct cache_entry *old = *place(c, &e->key);
	struct cache_entry **at;

	if (old != NULL)
		remove_entry(c, old);
	if (weight(e) > c->max_bytes / 8 || !is_valid(c, e, now)) {
		cache_entry_free(e);
		return;
	}
	make_room(c, weight(e));
	if (c->count >= c->bucket_count)
		grow(c);
	at = place(c, &e->key);
	e->chain = NULL;
	*at = e;
	if (c->hand == NULL) {
		e->next = e->previous = e;
		c->hand = e;
	} else {
		e->next = c->hand;
		e->previous = c->hand->previous;
		e->previous->next = e->next->previous = e;
	}
	c->bytes += weight(e);
	c->count++;
}

int64_t
cache_bytes(const struct cache *c)
{
	return c->bytes;
}

size_t
cache_count(const struct cache *c)
{
	return c->count;
}

static bool
query_is_declared(struct str path, struct str query)
{
	struct str rest = query, pair;
	bool takes_url = str_is(path, "/api/v1/resolve");

	if (takes_url)
		return str_starts(query, "url=") && str_find(query, '&') == query.len;
	while (str_next(&rest, '&', &pair))
		if (!str_starts(pair, "page=") && !str_starts(pair, "q="))
			return false;
	return true;
}

/* Where the entry of that key hangs, or would. */
static struct cache_entry **
place(struct cache *c, const struct cache_key *key)
{
	struct cache_entry **at = &c->buckets[key->hash & (c->bucket_count - 1)].first;

	while (*at != NULL && ((*at)->key.hash != key->hash || (*at)->key.len != key->len ||
	    memcmp((*at)->key.text, key->text, key->len) != 0))
		at = &(*at)->chain;
	return at;
}

/* The generation is read before the slots: a bump that comes in between is seen by the next check. */
static bool
is_valid(struct cache *c, struct cache_entry *e, int64_t now)
{
	uint64_t generation = shared_generation(c->shared);

	if (e->valid_until != 0 && now >= e->valid_until)
		return false;
	if (e->checked == generation)
		return true;
	for (size_t i = 0; i < e->slot_count; i++)
		if (shared_slot_generation(c->shared, e->slots[i]) > e->generation)
			return false;
	e->checked = generation;
	return true;
}

static void
remove_entry(struct cache *c, struct cache_entry *e)
{
	*place(c, &e->key) = e->chain;
	if (e->next == e)
		c->hand = NULL;
	else {
		e->next->previous = e->previous;
		e->previous->next = e->next;
		if (c->hand == e)
			c->hand = e->next;
	}
	c->bytes -= weight(e);
	c->count--;
	cache_entry_free(e);
}

/* Second chance: what was used since the hand last passed is spared once. */
static void
make_room(struct cache *c, int64_t bytes)
{
	while (c->hand != NULL && c->bytes + bytes > c->max_bytes) {
		if (c->hand->was_used) {
			c->hand->was_used = false;
			c->hand = c->hand->next;
		} else
			remove_entry(c, c->hand);
	}
}

static void
grow(struct cache *c)
{
	size_t old_count = c->bucket_count;
	struct bucket *old = c->buckets;

	c->bucket_count *= 2;
	c->buckets = calloc(c->bucket_count, sizeof(*c->buckets));
	if (c->buckets == NULL)
		abort();
	for (size_t i = 0; i < old_count; i++) {
		for (struct cache_entry *e = old[i].first, *next; e != NULL; e = next) {
			struct cache_entry **at = &c->buckets[e->key.hash & (c->bucket_count - 1)].first;

			next = e->chain;
			e->chain = *at;
			*at = e;
		}
	}
	free(old);
}

static int64_t
weight(const struct cache_entry *e)
{
	size_t n = sizeof(*e) + sizeof(struct wire) + e->full->head_len + e->full->body_len;

	if (e->not_modified != NULL)
		n += sizeof(struct wire) + e->not_modified->head_len;
	return (int64_t)n;
}
