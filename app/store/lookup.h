/* lookup.h - what the path tables say about one address: exact, by query, folded, by rule. */
#ifndef STORE_LOOKUP_H
#define STORE_LOOKUP_H
#include "base/base.h"
#include "core/resource.h"
#include "core/rule.h"
#include "db/db.h"

enum path_role { PATH_CANONICAL, PATH_ALIAS, PATH_EXTERNAL, PATH_GONE };

struct path_hit {
	const char	*path;		/* of the row; NULL for a rule */
	const char	*pairs;		/* of a row that needs its query, else NULL */
	const char	*rule;		/* the pattern, else NULL */
	enum path_role	 role;
	const char	*target;	/* PATH_EXTERNAL: a local path or an absolute URL */
	int		 status;	/* of the redirect, or 410 / 451 */
	int64_t		 resource_id;	/* 0 = none; where the row's own was merged into another, that; the three below are its own */
	enum kind	 kind;
	enum state	 state;
	const char	*canonical;	/* stored form */
};

/* The row of a stored path. *found false: none. */
enum status	 store_lookup_exact(struct scope *, struct db *, struct path_hit *out, bool *found, const char *path) MUST_USE;
/* The row that shares the fold: one that is or was canonical, else the only other one. Several others: *found false, *is_ambiguous. */
enum status	 store_lookup_folded(struct scope *, struct db *, struct path_hit *out, bool *found, bool *is_ambiguous,
		    const char *fold) MUST_USE;

/* The row of `path` with the most pairs that all stand in `query`, in any order, compared in the form of url_pair_form. *rest is the query without them, its
 * other pairs byte for byte in their order. Reads the first LOOKUP_PAIRS pairs of the query, and of rows
 * that want only some of them the first 100 of a path that begin with the same pair. */
#define LOOKUP_PAIRS 50
enum status	 store_lookup_query(struct scope *, struct db *, struct path_hit *out, bool *found, struct str *rest, const char *path,
		    struct str query) MUST_USE;

/* The most specific path_rule whose pattern takes `path`, its target filled in; see core/rule.h. 410 and 451 give PATH_GONE. `rules` is what
 * store_rules_load gave, NULL to read them now. */
enum status	 store_lookup_rule(struct scope *, struct db *, const struct rule_set *rules, struct path_hit *out, bool *found,
		    const char *path) MUST_USE;
/* All rules of the site, RULES_MAX at most. */
enum status	 store_rules_load(struct scope *, struct db *, struct rule_set *out) MUST_USE;
#endif
