/* address.h - which slug and path a resource may get: chosen on a reader, claimed by the writer. */
#ifndef ACTIONS_ADDRESS_H
#define ACTIONS_ADDRESS_H
#include "base/base.h"
#include "core/resource.h"
#include "core/site.h"
#include "db/db.h"

struct address { const char *slug, *path, *fold; };

/* The addresses in order of preference. The n-th is made of the pieces, so that the writer needs no Unicode. */
struct address_plan {
	struct address	 first;
	bool		 has_first;	/* false: it is reserved, or was taken when the plan was made */
	bool		 is_given;	/* no other will do */
	enum status	 conflict;	/* what a given one that is taken means */
	const char	*stem;		/* slug of the n-th: stem-n; NULL = there are no others */
	struct { const char *head, *tail; } path, fold;	/* around n */
	int		 from;		/* the first n to try */
};

/* `r` has kind, uid, slug (checked if given; "" = kind and short id) and times; `parent_path` NULL = none; `exact` is a whole path in stored
 * form, or NULL. ERR_RESERVED for a given one that belongs to the system. */
enum status	 address_plan(struct scope *, const struct site *, const struct resource *r, const char *parent_path, const char *exact,
		    bool slug_is_given, struct address_plan *out) MUST_USE;
/* On a reader: look how far the numbers are used, to spare the writer the search. */
enum status	 address_probe(struct scope *, struct db *, struct address_plan *) MUST_USE;
/* In a writing transaction: make the best free one the canonical path of `resource`. plan->conflict names the holder of a given one. */
enum status	 address_claim(struct scope *, struct db *, const struct address_plan *, int64_t resource, bool was_public,
		    struct address *out) MUST_USE;
#endif
