/* lifecycle.h - the state moves besides publishing: withdraw, delete, restore, schedule, cancel. One routine each for requests, bulk requests and
 * the scheduler.
 *
 * All run inside a writing transaction; `out` is the resource afterwards; `if_match` NULL = any version. What is there already: *unchanged, and nothing
 * happens. ERR_STATE_CONFLICT from a state that has no such step, ERR_GONE for what was deleted, ERR_VERSION. */
#ifndef ACTIONS_LIFECYCLE_H
#define ACTIONS_LIFECYCLE_H
#include "base/base.h"
#include "core/resource.h"
#include "core/site.h"
#include "db/db.h"

enum status	 withdraw_write(struct scope *, struct db *, const struct site *, int64_t id, const char *if_match, struct resource *out,
		    bool *unchanged) MUST_USE;
/* What anybody ever saw or refers to becomes STATE_GONE and keeps its addresses, which answer 410; of anything else no row remains, the path is
 * free, and `out` is what it was, with STATE_GONE. Pages below, and what carries a deleted tag or names a deleted author, stay as they are:
 * the name is no longer shown. */
enum status	 delete_write(struct scope *, struct db *, const struct site *, int64_t id, const char *if_match, struct resource *out,
		    bool *unchanged) MUST_USE;
/* A copy is given up for its original: gone, and all its addresses lead to where the original is, as long as that is live. ERR_STATE_CONFLICT for what
 * is nobody's copy. What was merged already is unchanged. */
enum status	 merge_write(struct scope *, struct db *, const struct site *, int64_t id, const char *if_match, struct resource *out,
		    bool *unchanged) MUST_USE;
/* Gone to withdrawn, and merged into nothing any more. */
enum status	 restore_write(struct scope *, struct db *, const struct site *, int64_t id, const char *if_match, struct resource *out,
		    bool *unchanged) MUST_USE;

struct schedule_times { int64_t publish_at, withdraw_at; };	/* Unix ms; 0 = leave as it is */
/* The head revision goes live at publish_at: a first publication, or for what is published its changes. withdraw_at needs it published or
 * scheduled before that. */
enum status	 schedule_write(struct scope *, struct db *, const struct site *, int64_t id, const struct schedule_times *, const char *if_match,
		    struct resource *out, bool *unchanged) MUST_USE;
/* Takes back what schedule_write set; scheduled becomes draft again, or withdrawn if it was ever public. */
enum status	 cancel_write(struct scope *, struct db *, const struct site *, int64_t id, const char *if_match, struct resource *out,
		    bool *unchanged) MUST_USE;

/* "the article is gone; publish is not possible from there" */
enum status	 no_step(struct scope *, const struct resource *, enum move) MUST_USE;
#endif
