/* audit.h - are the promises kept? Walks every row and every address, in pieces and constant memory, while the site goes on.
 *
 * What is found wrong is looked at a second time before it is told, since somebody may be writing. */
#ifndef ACTIONS_AUDIT_H
#define ACTIONS_AUDIT_H
#include "base/base.h"
#include "core/site.h"
#include "db/db.h"
#include "db/shared.h"

struct audit_fault {
	const char	*check;		/* name in audit.def, or of a check of addresses */
	const char	*subject, *detail, *advice;
	bool		 is_mended;
};

/* One answer of the running site; texts in the scope of the call. */
struct audit_reply {
	int		 status;
	const char	*location, *link;	/* header fields; NULL = absent */
	struct str	 body;
};

struct audit {
	struct db	*read, *write;
	struct shared	*shared;
	const struct site *site;
	const char	*fresh_db;	/* a database that was just made by the migrations */
	bool		 fixes;
	void		*arg;		/* of the three below */
	void		(*found)(void *arg, const struct audit_fault *);
	void		(*progress)(void *arg, const char *what, int64_t done);	/* after every piece */
	/* GET a target from the running site; NULL = the database alone is asked. */
	enum status	(*ask)(struct scope *, void *arg, const char *target, struct audit_reply *out);
	int64_t		 rows, addresses, pages, faults, mended;	/* out */
};
/* Rows against audit.def, and the schema against the migrations. */
enum status	 audit_rows(struct scope *, struct audit *) MUST_USE;
/* Resources with after < id <= last (5,000 ids at most) whose canonical address contradicts itself, the first `limit` (100 at most) by id, each
 * once. */
#define AUDIT_RANGE 5000	/* ids in one query: far below the 5 s that a read may take */
struct audit_row { int64_t id; const char *check, *detail, *advice; };
enum status	 audit_canonical(struct scope *, struct db *, const struct site *, int64_t after, int64_t last, struct audit_row *out, size_t limit,
		    size_t *count) MUST_USE;
/* Every address means what its row says: one hop to a page that is there, 404 or 410 as the state says; and with `ask` the site answers so,
 * with one canonical in head link, Link field and og:url. */
enum status	 audit_addresses(struct scope *, struct audit *) MUST_USE;
/* With `ask`: the sitemap lists what the view sitemap_entry does, each once. */
enum status	 audit_sitemap(struct scope *, struct audit *) MUST_USE;

/* Shared by the files of this module. */
void		 audit_tell(struct scope *, struct audit *, const char *check, const char *subject, const char *advice, bool is_mended,
		    const char *detail_fmt, ...) PRINTF_LIKE(7, 8);
#endif
