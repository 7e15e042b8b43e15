/* redirect_jobs.h - importing and exporting redirects: by a request that jobs carries out, and by a command. */
#ifndef ACTIONS_REDIRECT_JOBS_H
#define ACTIONS_REDIRECT_JOBS_H
#include "actions/redirect_import.h"
#include "base/config.h"

/* The body is the CSV; kept as a file, imported by jobs. */
enum status	 redirect_import_prepare(struct scope *, const struct config *, struct unit *, struct str csv, bool is_dry_run) MUST_USE;

struct redirect_command {
	struct db	*write, *read;
	struct shared	*shared;
	const struct site *site;
	const char	*file, *folder;
	bool		 is_dry_run;
	/* Told of every note; may be NULL. */
	void		(*note)(void *arg, const struct redirect_note *);
	void		*arg;
};
/* All at once. ERR_INVALID when lines have mistakes; then nothing was changed. *out has the counts either way. */
enum status	 redirect_import_file(struct scope *, const struct redirect_command *, struct redirect_import *out) MUST_USE;

/* A piece of the whole set as CSV, in the order of the list: at most `limit` rows behind *after (a redirect_key; "" = from the start, with the row
 * of names). *after moves on; *more. */
enum status	 redirect_export(struct scope *, struct db *, struct buf *out, const char **after, int limit, bool *more) MUST_USE;
#endif
