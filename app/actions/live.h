/* live.h - what follows when something that the world sees changes: tags, duplicates, sitemap, caches, events. */
#ifndef ACTIONS_LIVE_H
#define ACTIONS_LIVE_H
#include "base/base.h"
#include "core/resource.h"
#include "core/site.h"
#include "db/db.h"

/* The rows are written; this is what they were and are. Inside a writing transaction. */
struct live_change {
	struct resource	*after;		/* its duplicate_of is filled */
	bool		 was_live;
	const char	*hash_before;	/* NULL = none */
	int64_t		 author_before;	/* 0 = none */
	const int64_t	*tags;		/* of the live revision; none when it is live no more */
	size_t		 tag_count;
	const char	*topic;		/* of the event; NULL = none */
};
enum status	 live_changed(struct scope *, struct db *, const struct site *, const struct live_change *) MUST_USE;

/* A resource has another address; `from` is the path it had. Whoever prints a link to it, lists it or has it in the sitemap follows when it is
 * live; those who listen are told whenever it ever was. */
enum status	 live_moved(struct scope *, struct db *, const struct site *, const struct resource *, const char *from) MUST_USE;

/* One event about a resource as it is now. */
enum status	 event_write(struct scope *, struct db *, const struct site *, const struct resource *, const char *topic) MUST_USE;

/* After any change of live text, state, noindex or override: settle who is the original of that text. `self` (0 = nobody) is told by *original
 * (0 = it is nobody's copy) and gets no event of its own; the others do. */
enum status	 duplicates_settle(struct scope *, struct db *, const struct site *, const char *locale, const char *hash, int64_t self,
		    int64_t *original) MUST_USE;
#endif
