/* redirects.h - what a caller may do with redirects: old addresses, addresses with a query, rules, and what is gone for good.
 *
 * A stored target is a resource, the home page, a list, a public route, or another site; a path of ours that is an old address becomes what that
 * address stands for. None of these can be a source, and of rules one applies at most: so chains and circles cannot be stored. */
#ifndef ACTIONS_REDIRECTS_H
#define ACTIONS_REDIRECTS_H
#include <jansson.h>
#include "actions/unit.h"
#include "core/rule.h"
#include "store/redirects.h"

#define REDIRECT_NOTE_MAX 200	/* characters */

/* On a reader; unit->apply decides again. `body` is borrowed. */
enum status	 redirect_create_prepare(struct scope *, struct db *, struct unit *, json_t *body) MUST_USE;
/* RFC 7396 merge patch of target, status and note; the source stays. ERR_PRECONDITION without If-Match. */
enum status	 redirect_update_prepare(struct scope *, struct db *, struct unit *, const char *id, json_t *body) MUST_USE;
enum status	 redirect_remove_prepare(struct scope *, struct db *, struct unit *, const char *id) MUST_USE;

/* *etag is `"N"`. */
enum status	 redirect_read(struct scope *, struct db *, const struct site *, const struct principal *, const char *id, struct str *json,
		    const char **etag) MUST_USE;
struct redirect_filter {
	const char	*source, *match, *resource, *status, *limit, *cursor;	/* as they came; NULL = absent */
};
/* { items, next } in the order of sources: paths, paths with a query, rules. A page looks at 2,000 rows at most, so it may hold fewer items than
 * `limit` although there are more. limit 1..100, default 20. */
enum status	 redirect_list(struct scope *, struct db *, const struct site *, const struct principal *, const struct redirect_filter *,
		    struct str *json, const char **next_cursor) MUST_USE;
/* Redirects that lead to nothing: a resource that is not live. Paged in the same way. */
enum status	 redirect_list_dead(struct scope *, struct db *, const struct site *, const struct principal *, const char *limit,
		    const char *cursor, struct str *json, const char **next_cursor) MUST_USE;

/* For whoever reads redirects: what a person or a file says. `out` gets source, path, pairs and fold; ERR_INVALID, ERR_RESERVED. */
enum status	 redirect_source(struct scope *, const struct site *, struct redirect *out, struct str text, const char *field) MUST_USE;
/* `out`, whose source is known, gets resource_id or target. ERR_INVALID where the target is nothing that can be stored. */
enum status	 redirect_target(struct scope *, struct db *, const struct site *, struct redirect *out, struct str text, const char *field) MUST_USE;
/* A target that is ours, as the key of the redirect it would be the source of (fragment refused); *out NULL for another site or an id. */
enum status	 redirect_own_target(struct scope *, const struct site *, const char **out, struct str text, const char *field) MUST_USE;
/* Of the outbox's aggregate "redirect": the last 62 bits of the UUIDv7, which are random. */
int64_t		 redirect_event_id(const char *uid);
/* No rule of the set may lead to what `r`, a rule, takes, nor the other way round. */
enum status	 redirect_rule_agrees(struct scope *, const struct rule_set *, const struct redirect *r) MUST_USE;
/* What was the address of a resource stays its own: another status, or gone for good. ERR_PATH_CONFLICT. */
enum status	 redirect_keeps_public(struct scope *, const struct redirect *before, const struct redirect *after) MUST_USE;
/* Same target, status and note? */
bool		 redirect_is_same(const struct redirect *, const struct redirect *);
/* Why `r` cannot be inserted: ERR_PATH_CONFLICT names the holder. */
enum status	 redirect_refuse_source(struct scope *, struct db *, const struct redirect *r) MUST_USE;
/* By id; ERR_NOT_FOUND. */
enum status	 redirect_load(struct scope *, struct db *, struct redirect *out, const char *id) MUST_USE;
bool		 redirect_status_is_good(int64_t status);
/* "~" and letters for a row without an id of its own. */
const char	*redirect_id(struct scope *, const struct redirect *);
/* The URL a redirect leads to now, for rules with their marks; NULL for what is gone. */
const char	*redirect_url(struct scope *, const struct site *, const struct redirect *);
void		 redirect_json(struct scope *, struct buf *, const struct site *, const struct redirect *);
/* In a writing transaction: what others hear, and what caches forget. */
enum status	 redirect_changed(struct scope *, struct db *, const struct site *, const struct redirect *, const char *topic) MUST_USE;
#endif
