/* address_move.h - a resource gets another address and keeps answering at every one it had: the supervised move, and the free change of what
 * nobody ever saw. */
#ifndef ACTIONS_ADDRESS_MOVE_H
#define ACTIONS_ADDRESS_MOVE_H
#include "actions/address.h"
#include "store/paths.h"

#define BELOW_MAX 400		/* pages below that follow in one transaction */

struct address_move {
	int64_t		 id;
	const char	*slug;
	int64_t		 parent_id;	/* 0 = none */
	const char	*parent_path;	/* when it was planned */
	int		 depth;		/* pages above it, after the move */
	struct address_plan address;
};
/* On a reader. NULL `slug` keeps the slug; `path` is a whole path as people write it, or NULL for the kind's pattern. ERR_INVALID for a page below
 * itself or too deep, ERR_RESERVED. */
enum status	 address_move_plan(struct scope *, struct db *, const struct site *, const struct resource *, const char *slug, const char *path,
		    int64_t parent_id, struct address_move *out) MUST_USE;
/* The path rows of r and of the pages below it; r->slug, path, parent_id follow, its row does not. `is_supervised`: what was public moves too and leaves
 * a 301; otherwise ERR_STATE_CONFLICT. ERR_SLUG_CONFLICT, ERR_PATH_CONFLICT name the holder. *below are those that went along. */
enum status	 address_move_paths(struct scope *, struct db *, const struct address_move *, bool is_supervised, struct resource *r,
		    struct descendant **below, size_t *count) MUST_USE;
/* The whole move inside a writing transaction, with what follows for whoever is live: caches, sitemap, events. ERR_GONE, ERR_VERSION. */
enum status	 address_move_write(struct scope *, struct db *, const struct site *, const struct address_move *, const char *if_match,
		    struct resource *out, bool *unchanged) MUST_USE;
#endif
