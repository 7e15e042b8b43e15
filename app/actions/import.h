/* import.h - taking a WordPress site in: same rows, same rules, every old address answered. */
#ifndef ACTIONS_IMPORT_H
#define ACTIONS_IMPORT_H
#include "base/base.h"
#include "core/permission.h"
#include "core/site.h"
#include "db/db.h"
#include "db/shared.h"

struct import_options {
	const char	*file;
	const char	*uploads_dir;		/* folder of wp-content/uploads, or NULL */
	const char	*media_dir;		/* DATA/media */
	bool		 is_dry_run;		/* the handles are those of a copy: no file is stored either */
	bool		 keep_permalinks;	/* the old permalink becomes the path; else it becomes a 301 */
};

/* One line of the report: what happened to one item. `line` is that of the export, 0 for the whole file. */
struct import_note { int line; int64_t post_id; const char *what; /* "created" "updated" "unchanged" "skipped" "warning" "failed" */ const char *reason; };

struct import_report {
	int64_t		 total;			/* items in the file; `items` of them were come to */
	int64_t		 items, created, updated, unchanged, skipped, failed, warnings;
	int64_t		 posts, pages, attachments, authors, tags, categories, redirects;
	int64_t		 dropped_characters;
	bool		 is_complete;		/* false: the file is not well formed to its end */
};

/* `note` is called for every note as it happens, `progress` about twice a second (done and total in bytes). Either may be NULL. */
struct import_watch {
	void		(*note)(void *arg, const struct import_note *);
	void		(*progress)(void *arg, const struct import_report *, int64_t done, int64_t total);
	void		*arg;
	/* In each writing transaction, with what it has just created: a status that is not OK rolls it back and ends the run. May be NULL. */
	enum status	(*guard)(struct scope *, struct db *, void *arg, int64_t created);
	/* Between any two things of the file; a status that is not OK ends the run. May be NULL. */
	enum status	(*keep)(struct scope *, void *arg);
};
/* Who imports when nobody is named: the eldest active admin. */
enum status	 import_default_user(struct scope *, struct db *, const char **name) MUST_USE;
/* A copy of the database in a new file: a dry run is the real run on a copy, so that its report is exact. */
enum status	 import_copy(struct scope *, struct db *, const char *file) MUST_USE;
/* That copy in a folder of its own below `data_dir`, opened; closing removes it. Also to be closed after a failure. */
struct import_trial {
	struct db	*write, *read;
	struct shared	*shared;
	const char	*folder;
};
enum status	 import_trial_open(struct scope *, struct import_trial *out, struct db *, const char *data_dir) MUST_USE;
void		 import_trial_close(struct scope *, struct import_trial *);
/* Remove copies that a process left behind when it was killed: those that nobody wrote to for a day. */
void		 import_trials_sweep(struct scope *, const char *data_dir);
/* Runs to the end in bounded batches, each one transaction through writer_run; a run that was cut off is continued by running again (every item
 * is known by ref_source "wxr:<origin>" and its guid or id). First pass: the file must be well formed to its end, else ERR_INVALID with the
 * line and nothing is written. Needs ACTION_IMPORT. */
enum status	 import_wxr(struct scope *, struct db *write, struct db *read, struct shared *, const struct site *, const struct principal *,
		    const struct import_options *, const struct import_watch *, struct import_report *) MUST_USE;
#endif
