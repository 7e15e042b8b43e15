/* publish.h - taking a revision live: one routine for requests and for the scheduler. */
#ifndef ACTIONS_PUBLISH_H
#define ACTIONS_PUBLISH_H
#include "base/base.h"
#include "core/resource.h"
#include "core/site.h"
#include "db/db.h"

struct publish_plan {
	int64_t		 id;
	struct revision	 revision;	/* that goes live */
	const char	*hash;		/* of its text; NULL = short */
	const char	*name_fold;	/* tags and authors */
	int64_t		 compared_to;	/* the live revision that the next line speaks of; 0 = none */
	bool		 is_visible_change;
};
/* Reads, compares and hashes. */
enum status	 publish_plan(struct scope *, struct db *, const struct resource *, int64_t revision, struct publish_plan *out) MUST_USE;
/* Inside a writing transaction. `out` is the resource afterwards. Live with this revision or a later one already: *unchanged, nothing
 * happens. ERR_STATE_CONFLICT from a state that has no such step. `if_match` NULL = any version. */
enum status	 publish_write(struct scope *, struct db *, const struct site *, const struct publish_plan *, const char *if_match,
		    struct resource *out, bool *unchanged) MUST_USE;
#endif
