/* resources.h - what a caller may do with articles, pages, tags and authors. Each *_prepare runs on a reader (checks, parses, renders)
 * and fills unit->apply and unit->input; the writer does the rest. */
#ifndef ACTIONS_RESOURCES_H
#define ACTIONS_RESOURCES_H
#include <jansson.h>
#include "actions/unit.h"
#include "core/resource.h"

/* `body` is borrowed. Unknown members: ERR_UNKNOWN_FIELD; several mistakes are all reported (fail_more). */
enum status	 resource_create_prepare(struct scope *, struct db *, struct unit *, enum kind, json_t *body) MUST_USE;
/* RFC 7396 merge patch. ERR_PRECONDITION without If-Match, ERR_VERSION when stale (also `W/`), decided again by the writer. */
enum status	 resource_update_prepare(struct scope *, struct db *, struct unit *, enum kind, const char *id, json_t *body) MUST_USE;
/* PUT: the whole document. Slug, parent and author stay when they are absent, everything else falls back to nothing. If-Match as above. */
enum status	 resource_replace_prepare(struct scope *, struct db *, struct unit *, enum kind, const char *id, json_t *body) MUST_USE;
/* A state move. `body` is NULL or {}, but for MOVE_SCHEDULE: publish_at, withdraw_at (RFC 3339; with "time_zone" local times). If-Match is honoured
 * when given; MOVE_DELETE needs it. What is there already answers 200 and changes nothing. */
enum status	 resource_move_prepare(struct scope *, struct db *, struct unit *, enum kind, const char *id, enum move, json_t *body) MUST_USE;
/* A move of the address: { "slug" | "path", "parent" (pages) }. */
enum status	 resource_address_prepare(struct scope *, struct db *, struct unit *, enum kind, const char *id, json_t *body) MUST_USE;
#define BULK_MAX 40		/* so that the saved answer keeps its bound */
/* { "action": a state move, "ids": [uid | slug | { "id", "version" }, ...] }: each on its own, one result for each. */
enum status	 resource_bulk_prepare(struct scope *, struct db *, struct unit *, enum kind, json_t *body) MUST_USE;

/* By uid or slug. Anonymous callers see only what is live (its live revision); ERR_NOT_FOUND for the rest. *etag is `"N"`. The JSON
 * has content and html. */
enum status	 resource_read(struct scope *, struct db *, const struct site *, const struct principal *, enum kind, const char *id,
		    struct str *json, const char **etag) MUST_USE;

struct resource_filter {
	const char	*state, *tag, *author, *locale, *changed_since, *sort, *cursor, *limit;	/* as they came; NULL = absent */
};
/* { items, next }; *next_link is the URL of the next page or NULL. sort: created_at changed_at, '-' in front for newest first
 * (default -created_at). limit 1..100, default 20. Cursors are signed with the server key and bound to filters and sort. */
enum status	 resource_list(struct scope *, struct db *, const struct site *, const struct principal *, enum kind,
		    const struct resource_filter *, struct str *json, const char **next_cursor) MUST_USE;

/* For the importer and other actions, inside a writing transaction: */
struct resource_draft {		/* everything needed to create one resource with its first revision */
	struct resource	 resource;	/* id 0; kind, locale, slug, state, times (0 = now), client_ref..., guid, parent_id, owner_user */
	struct revision	 revision;
	struct rendered	 rendered;
	const char	*path;		/* exact path wanted (old permalink), stored form; NULL = from the pattern */
	bool		 slug_is_given;	/* taken: ERR_SLUG_CONFLICT (ERR_PATH_CONFLICT for `path`); otherwise -2, -3, ... */
	const char	**tag_names;	/* created when missing; NULL-terminated, or NULL */
	const char	*author_slug;	/* NULL = the owner's own author */
	bool		 existed;	/* out: one with this client_ref and ref_hash was there, and nothing was written */
};
/* Writes resource, path, revision, rendered, tags, outbox, touched dependencies; publishes when draft->resource.state says so. Afterwards
 * draft->resource is what is stored (id, slug, path, ...), also when a resource with this client_ref and ref_hash was there already;
 * ERR_REF_CONFLICT when it was made from other content. */
enum status	 resource_insert(struct scope *, struct db *, const struct site *, const struct principal *, struct resource_draft *) MUST_USE;
#endif
