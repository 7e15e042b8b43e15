/* rule.h - redirect rules: patterns over path segments, and targets that they fill. Pure. */
#ifndef CORE_RULE_H
#define CORE_RULE_H
#include "base/base.h"

#define RULE_SEGMENTS 32	/* of one pattern */
#define RULES_MAX 1000		/* of a site */

/* Is there a segment that is `:name` or "*"? Names are letters, digits and '_', not beginning with a digit. */
bool		 rule_is_pattern(struct str path);
/* A pattern in stored form is good: "*" stands last, names differ, at most RULE_SEGMENTS segments, not "*" alone. ERR_INVALID. */
enum status	 rule_check(struct scope *, const char *pattern, const char *field) MUST_USE;
/* The target of a pattern: every `:name` is the pattern's, "*" only where the pattern has one, nothing before the path. `:splat` is
 * another way to write "*". *has_values: something is filled in. ERR_INVALID. */
enum status	 rule_target(struct scope *, const char **out, bool *has_values, const char *pattern, const char *target, const char *field) MUST_USE;

/* Segments are compared as stored: `:name` takes one, a last "*" what follows, nothing too. */
bool		 rule_takes(struct str pattern, struct str path);
/* At the first difference a literal segment beats `:name` beats "*". */
bool		 rule_is_more_specific(struct str a, struct str b);
/* `target` with the values that `pattern` took from `path` (it does take it). Values stand behind the origin only, so that what a visitor types
 * never chooses the host; in a query they stay one value each. */
const char	*rule_fill(struct scope *, struct str pattern, struct str path, struct str target);
/* Does every path that `target` can become (a local one, maybe with a query) fall to `pattern` again? */
bool		 rule_covers(struct str pattern, struct str target);

struct rule {
	const char	*pattern, *target;	/* target "" where there is a resource, or none is needed */
	int64_t		 resource_id;
	int		 status;
};
/* The rules of a site, as read once; plain data. */
struct rule_set { const struct rule *rules; size_t count; };
/* The most specific rule that takes `path`, whatever their order; NULL if none. */
const struct rule *rule_find(const struct rule_set *, struct str path);
#endif
