/* stage.h - redirects of a file that is being imported. */
#ifndef STORE_STAGE_H
#define STORE_STAGE_H
#include "base/base.h"
#include "db/db.h"

struct staged {
	const char	*source;	/* redirect_key; unique in a run, and rows are inserted in its order */
	int64_t		 line;		/* of the file */
	const char	*fold;		/* of a path; NULL for others */
	const char	*target;	/* as written; NULL = gone */
	int		 status;
	const char	*note;
};
/* `run` names the import: a UUIDv7. */
enum status	 store_stage_insert(struct scope *, struct db *, const char *run, const struct staged *) MUST_USE;
/* By source; of `out` line, target and status are filled. */
enum status	 store_stage_find(struct scope *, struct db *, const char *run, const char *source, struct staged *out, bool *found) MUST_USE;
/* The rows behind a source ("" = from the first), at most `max`. */
enum status	 store_stage_after(struct scope *, struct db *, const char *run, const char *source, struct staged *out, size_t max, size_t *count) MUST_USE;
enum status	 store_stage_clear(struct scope *, struct db *, const char *run, int limit, int64_t *removed) MUST_USE;
/* Rows of runs that began before `run`. */
enum status	 store_stage_clear_old(struct scope *, struct db *, const char *run, int limit, int64_t *removed) MUST_USE;
#endif
