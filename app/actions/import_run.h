/* import_run.h - what the parts of the WordPress import share: the run, and one thing made ready to be written. */
#ifndef ACTIONS_IMPORT_RUN_H
#define ACTIONS_IMPORT_RUN_H
#include "actions/import.h"
#include "actions/resources.h"
#include "render/wxr.h"

#define IMPORT_BATCH 16		/* things a transaction, or this much text, whichever comes first: well under its 20 ms */
#define IMPORT_BATCH_BYTES (256 * 1024)
#define IMPORT_ALIASES 6
#define IMPORT_NOTES 12
#define IMPORT_PASSES 16	/* how deep a hierarchy of pages may be: each pass takes one level */

/* An old address. `pairs` is the query it needs, NULL for a plain path. */
struct import_alias { const char *path, *fold, *pairs; };

/* One author, term, post or page, prepared; lives in the scope of its batch. */
struct import_thing {
	int		 line;
	int64_t		 post_id;
	struct resource_draft draft;
	struct import_alias aliases[IMPORT_ALIASES];
	size_t		 alias_count;
	int64_t		 redirects;	/* aliases that lead here now */
	struct import_note notes[IMPORT_NOTES];	/* warnings, told when the batch is committed */
	size_t		 note_count;
	enum status	 result;
	const char	*reason;		/* of the failure, or the new path */
};

struct import_run {
	struct scope	*scope;			/* of the whole run; grows only by what the run itself keeps */
	struct db	*write, *read;
	struct shared	*shared;
	const struct site *site;
	const struct principal *who;
	const struct import_options *options;
	const struct import_watch *watch;
	struct import_report *report;
	const char	*source;		/* ref_source: "wxr:" and the old host */
	const char	*host;			/* of the old site, lower case, without "www."; "" when unknown */
	const char	*base;			/* path of the old blog in stored form, "" at the root */
	struct scope	*batch_scope;
	struct import_thing *batch[IMPORT_BATCH];
	size_t		 batch_count, batch_bytes;
	int		 pass;
	int64_t		 newest, newest_before;	/* resource ids as this pass began, and as the one before did */
	int64_t		 deferred;		/* pages that wait for their parent in this pass */
	int64_t		 written;		/* things created in this pass */
	int64_t		 files;			/* media stored in this run */
	int64_t		 flushes;
	int64_t		 told_at;		/* progress, clock_monotonic */
};

void		 import_note(struct import_run *, int line, int64_t post_id, const char *what, const char *fmt, ...) PRINTF_LIKE(5, 6);
/* A warning that is told once the thing is written; at most IMPORT_NOTES, the rest is counted only. */
void		 import_warn(struct import_run *, struct import_thing *, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* import_things.c: from the export to a draft. *out is NULL when the thing is known already or is not to be taken (noted). */
enum status	 import_author_thing(struct import_run *, struct scope *, struct import_thing **out, const struct wxr_author *) MUST_USE;
enum status	 import_term_thing(struct import_run *, struct scope *, struct import_thing **out, const struct wxr_term *) MUST_USE;
enum status	 import_item_thing(struct import_run *, struct scope *, struct import_thing **out, const struct wxr_item *) MUST_USE;
/* Add an old address given as a URL or path of the old site; what cannot be kept is warned of. */
enum status	 import_alias_add(struct import_run *, struct scope *, struct import_thing *, const char *url) MUST_USE;
/* Resource ids of an item's author and terms, made on the spot when the export does not declare them. */
enum status	 import_author_id(struct import_run *, struct scope *, int64_t *id, const char *login, int line) MUST_USE;
enum status	 import_term_ids(struct import_run *, struct scope *, struct revision *, const struct wxr_item *) MUST_USE;

/* import.c */
/* At the end of every writing transaction: see import_watch. */
enum status	 import_guard(struct import_run *, struct scope *, struct db *, int64_t created) MUST_USE;
enum status	 import_write_now(struct import_run *, struct scope *, struct import_thing *) MUST_USE;

/* import_body.c: post_content -> sanitised HTML whose links to the old site are paths of this one and whose uploads are media. What cannot be
 * read as HTML stays as it is, with FORMAT_MARKDOWN. */
enum status	 import_body(struct import_run *, struct scope *, struct import_thing *, const char *content, struct str *text,
		    enum format *) MUST_USE;
/* import_media.c: the file behind an uploads address, as "/media/SHA256.EXT"; NULL when it is not in the folder or of no known type. */
enum status	 import_media(struct import_run *, struct scope *, const char *url, const char **address) MUST_USE;
/* The part of an address behind ".../wp-content/uploads/", decoded; NULL for other addresses or a path with dot segments. */
const char	*import_uploads_name(struct scope *, struct str path);
/* The path (with query and fragment) of a URL of the old site; NULL for URLs elsewhere. */
const char	*import_own_path(struct import_run *, struct scope *, struct str url);
#endif
