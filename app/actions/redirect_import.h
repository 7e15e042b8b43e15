/* redirect_import.h - a CSV of redirects: read and sorted, checked as a whole, then applied in small batches.
 *
 * Columns are source, target, status (301), note; a header row may name them in another order. A target that is the source of another line
 * becomes what that line leads to in the end. Nothing is applied while a line has a mistake. What stands already is left as it is, so
 * that a run that was cut short may begin again. */
#ifndef ACTIONS_REDIRECT_IMPORT_H
#define ACTIONS_REDIRECT_IMPORT_H
#include "actions/redirects.h"
#include "db/shared.h"
#include "store/operations.h"
#include "store/stage.h"

#define REDIRECT_NOTES_MAX 1000		/* mistakes that are named; the rest is counted */

struct redirect_note {
	int64_t		 line;
	enum operation_result result;
	const char	*subject, *detail;	/* in the scope of the piece */
};

struct redirect_import {
	struct db	*write, *read;
	struct shared	*shared;
	const struct site *site;
	const char	*file, *folder;		/* the CSV; where sorted pieces may lie */
	const char	*run;			/* UUIDv7 */
	bool		 is_dry_run;
	/* Out: */
	int64_t		 lines;			/* rows of the file */
	int64_t		 created, updated, existing, failed;
	int64_t		 done;			/* lines applied */
	const char	*at;			/* the last source that was applied, in the scope of its piece; "" = none */
	bool		 is_at_end;		/* nothing is left to apply */
	int64_t		 mistakes;
	struct redirect_note *notes;		/* of this piece, for commit to take; at most REDIRECT_NOTES_MAX */
	size_t		 note_count;
	/* One short transaction of the caller's making, and the end of the notes. `apply` may be NULL. */
	enum status	(*commit)(struct scope *, struct redirect_import *, enum status (*apply)(struct scope *, struct db *, void *), void *arg);
	void		*arg;			/* the caller's */
	struct chains	*chains;		/* redirect_chain.c */
};

/* The four pieces of work, in this order. `s` is that of the piece. A mistake in the file is noted and counted, not returned. */
enum status	 redirect_import_read(struct scope *, struct redirect_import *) MUST_USE;
enum status	 redirect_import_check(struct scope *, struct redirect_import *) MUST_USE;
/* One batch behind the source im->at ("" at first), which moves on, until im->is_at_end. */
enum status	 redirect_import_apply(struct scope *, struct redirect_import *) MUST_USE;
/* Forget the staged rows, before the first piece and after the last. */
enum status	 redirect_import_clear(struct scope *, struct redirect_import *) MUST_USE;
/* What the world hears of it: for the last transaction. */
enum status	 redirect_import_event(struct scope *, struct db *, const struct redirect_import *) MUST_USE;
void		 redirect_import_free(struct redirect_import *);	/* what it holds besides the scopes */

/* Between the files of this module. */
void		 redirect_import_note(struct scope *, struct redirect_import *, int64_t line, enum operation_result, const char *subject,
		    const char *fmt, ...) PRINTF_LIKE(6, 7);
/* A failure that is no line's: the work stops. */
bool		 redirect_import_is_ours(enum status);
/* The row that a staged one asks for, its target followed through the file and through what is live. ERR_INVALID etc. say what is wrong. */
enum status	 redirect_import_resolve(struct scope *, struct redirect_import *, const struct staged *, struct redirect *out) MUST_USE;
/* The target that the lines of the file lead to in the end. */
enum status	 redirect_chain_end(struct scope *, struct redirect_import *, const struct staged *, const char **target) MUST_USE;
void		 redirect_chains_free(struct chains *);
#endif
