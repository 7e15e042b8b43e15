/* redirects.h - redirects as one kind of thing, in whichever of the three tables their source puts them. */
#ifndef STORE_REDIRECTS_H
#define STORE_REDIRECTS_H
#include "base/base.h"
#include "core/resource.h"
#include "db/db.h"

enum source_kind { SOURCE_PATH, SOURCE_QUERY, SOURCE_RULE };	/* in the order of lists */

struct redirect {
	enum source_kind source;
	const char	*path;		/* stored form, or the pattern of a rule */
	const char	*pairs;		/* SOURCE_QUERY: as url_pairs_form gives them; else NULL */
	const char	*fold;		/* SOURCE_PATH, for insert only */
	const char	*uid;		/* NULL: an old address that a move or an import left and nobody edited */
	int64_t		 resource_id;	/* 0 = none */
	const char	*target;	/* list path, route or absolute URL, for rules also a local path with values; NULL = none */
	int		 status;	/* 410 and 451 have no target */
	bool		 was_public;	/* may become 410, but is never given back */
	const char	*note;		/* NULL = none */
	int64_t		 version;	/* ETag, from 1 */
	int64_t		 hits, last_hit_at;	/* 0 = never */
	int64_t		 created_at, changed_at;
	/* Of the resource, when there is one: */
	const char	*resource_uid, *resource_path;
	enum kind	 resource_kind;
	enum state	 resource_state;
};

/* "/path", "/path?pairs", or "*" and the pattern: one text that names a redirect, or with an empty path what comes
 * before all of its table. In the scope. */
const char	*redirect_key(struct scope *, const struct redirect *);
/* Fills source, path and pairs; false when `key` cannot be one. */
bool		 redirect_key_parse(struct scope *, struct str key, struct redirect *out);

/* By source, path and pairs of `out`. */
enum status	 store_redirect_find(struct scope *, struct db *, struct redirect *out, bool *found) MUST_USE;
enum status	 store_redirect_find_uid(struct scope *, struct db *, struct redirect *out, bool *found, const char *uid) MUST_USE;

/* *inserted false: the source is taken, or its fold belongs to a page. */
enum status	 store_redirect_insert(struct scope *, struct db *, const struct redirect *, bool *inserted) MUST_USE;
/* What is new but the version, which is that of the row; *changed false when it has another one by now. */
enum status	 store_redirect_update(struct scope *, struct db *, const struct redirect *, bool *changed) MUST_USE;
/* *removed false: another version, or it was public. */
enum status	 store_redirect_remove(struct scope *, struct db *, const struct redirect *, bool *removed) MUST_USE;
enum status	 store_redirect_rule_count(struct scope *, struct db *, int64_t *out) MUST_USE;

/* The rows of one table behind `after` (its source, path and pairs; "" = from the start), at most `limit`; `resource` 0 = of any. `rows` is ended
 * by the caller; store_redirect_row reads where it stands. */
enum status	 store_redirects(struct scope *, struct db *, struct db_rows **, const struct redirect *after, int64_t resource, int limit) MUST_USE;
void		 store_redirect_row(struct scope *, struct db_rows *, enum source_kind, struct redirect *out);

/* 0: there is no such resource. */
enum status	 store_redirect_resource(struct scope *, struct db *, int64_t *id, const char *uid) MUST_USE;
/* A path that leads somewhere is no longer among those that were not found. */
enum status	 store_not_found_forget(struct scope *, struct db *, const char *path) MUST_USE;
#endif
