/* resolve.h - what an address means. The one function behind public pages, redirects and the resolve API. */
#ifndef ACTIONS_RESOLVE_H
#define ACTIONS_RESOLVE_H
#include "base/base.h"
#include "core/site.h"
#include "core/url.h"
#include "db/db.h"

enum meaning { MEANING_PAGE, MEANING_REDIRECT, MEANING_GONE, MEANING_NONE };

struct resolution {
	enum meaning	 meaning;
	int		 status;	/* 200; 301 302 307 308; 410 451; 404 */
	int64_t		 resource_id;	/* 0 = none */
	const char	*location;	/* redirects: absolute, ASCII, final (one hop) */
	const char	*list;		/* pages that are no resource: "home", "articles", "tags", "authors"; NULL otherwise */
	int		 page;		/* numbered pages; 1 = first */
	const char	*path;		/* stored form of what was asked for */
	const char	*redirect;	/* the first redirect it went by, as store/redirects.h names it; NULL = none */
};

/* Look-up order of design section 5: query source, exact, folded, rules. `path` and `query` are raw, from the request target; the redirect for slash,
 * case, encoding and old path is one. `host_is_canonical` false makes everything that resolves a 301 to public_origin.
 * ERR_MALFORMED_REQUEST for what url_form refuses. */
enum status	 resolve(struct scope *, struct db *, const struct site *, struct str path, struct str query, bool host_is_canonical,
		    struct resolution *out) MUST_USE;
/* The name of the list that stands at a folded path ("home", "articles", "tags", "authors"), or NULL. */
const char	*resolve_list(const char *fold);
/* Whether routes answer to everybody at a path (with its fold) that belongs to the system: a file, a feed. Not those of forms, API and probes: these
 * are no target. */
bool		 resolve_is_route(struct scope *, const char *path, const char *fold);
#endif
