/* paths.h - claiming, freeing and describing the path rows of resources, and the sitemap part they stand in. */
#ifndef STORE_PATHS_H
#define STORE_PATHS_H
#include "base/base.h"
#include "core/resource.h"
#include "db/db.h"

/* Make `path` the canonical row of `resource`. *claimed is false when the path, its fold, or a canonical row of the resource is there. */
enum status	 store_path_claim(struct scope *, struct db *, const char *path, const char *fold, int64_t resource, bool was_public,
		    bool *claimed) MUST_USE;
/* Would a claim be refused? */
enum status	 store_path_is_taken(struct scope *, struct db *, const char *path, const char *fold, bool *taken) MUST_USE;
/* Who keeps a claim out and what may be done, for people: "/a is the address of the article 0190..., which is live; edit that, or choose
 * another path". *found false: nobody. */
enum status	 store_path_holder(struct scope *, struct db *, const char *path, const char *fold, const char **text, bool *found) MUST_USE;

/* ERR_RESERVED for a path that belongs to a route. Every statement that makes a path row stands behind it. */
enum status	 store_path_storable(struct scope *, const char *path) MUST_USE;

struct path_row { const char *path, *fold; bool was_public; };
/* The canonical row; ERR_NOT_FOUND. */
enum status	 store_path_load(struct scope *, struct db *, struct path_row *out, int64_t resource) MUST_USE;
enum status	 store_path_set_public(struct scope *, struct db *, int64_t resource) MUST_USE;
/* Give the canonical row back, if nobody ever saw it; *freed tells. */
enum status	 store_path_free(struct scope *, struct db *, int64_t resource, bool *freed) MUST_USE;

/* Give the resource another canonical row. What it had stays as a 301 if it was ever public, and is given back otherwise; an old address of its
 * own becomes its address again. *moved is false, and nothing happened, when somebody else has the path or its fold. */
enum status	 store_path_move(struct scope *, struct db *, const struct path_row *old, const char *path, const char *fold, int64_t resource,
		    bool *moved) MUST_USE;
/* Who else has it, as store_path_holder tells. */
enum status	 store_path_other_holder(struct scope *, struct db *, const char *path, const char *fold, int64_t resource, const char **text,
		    bool *found) MUST_USE;
struct descendant { int64_t id; struct path_row row; int depth; };	/* 1 = a child */
/* Everything below a page, the nearest first; ERR_TOO_LARGE above `limit`. */
enum status	 store_path_descendants(struct scope *, struct db *, int64_t resource, size_t limit, struct descendant **, size_t *count) MUST_USE;

/* Note at `now` that a resource's entry in the sitemap may have changed; makes the part when it is new. *first is the part's first id. */
enum status	 store_sitemap_part_touch(struct scope *, struct db *, int64_t resource, int64_t now, int64_t *first) MUST_USE;
#endif
