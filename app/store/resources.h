/* resources.h - resource rows. */
#ifndef STORE_RESOURCES_H
#define STORE_RESOURCES_H
#include "base/base.h"
#include "core/resource.h"
#include "db/db.h"

/* ERR_NOT_FOUND. `path` is filled from the canonical path row. */
enum status	 store_resource_load(struct scope *, struct db *, struct resource *out, int64_t id) MUST_USE;
/* `name` is a uid or a slug; of several with one slug the live one, then the eldest. ERR_NOT_FOUND. */
enum status	 store_resource_load_name(struct scope *, struct db *, struct resource *out, enum kind, const char *name) MUST_USE;
/* By a path in stored form, canonical or alias. ERR_NOT_FOUND. */
enum status	 store_resource_load_path(struct scope *, struct db *, struct resource *out, enum kind, const char *path) MUST_USE;
enum status	 store_resource_find_ref(struct scope *, struct db *, struct resource *out, bool *found, const char *source,
		    const char *client_ref) MUST_USE;

/* The row of a new resource with its first revision (edit_version, event_version and head_revision are 1); sets r->id. *inserted is false when
 * its client_ref is there already; any other clash is ERR_CONFLICT. `name_fold` is for tags and authors, else NULL. */
enum status	 store_resource_insert(struct scope *, struct db *, struct resource *, const char *name_fold, bool *inserted) MUST_USE;
/* What depends on which address a new resource got: its slug, and whether its override is that address. */
enum status	 store_resource_set_address(struct scope *, struct db *, const struct resource *) MUST_USE;

/* The conditional updates. `r` holds the new values but the versions, which are still those it was read with; when the row
 * moved on meanwhile *changed is false and nothing happened. Otherwise the versions in `r` are raised as in the row. A tag or author is
 * found by the name it has in public; an edit gives `name_fold` to those that never were there. */
enum status	 store_resource_edit(struct scope *, struct db *, struct resource *, const char *name_fold, bool *changed) MUST_USE;
/* From `from` to published; sets also duplicate_of to none. */
enum status	 store_resource_publish(struct scope *, struct db *, struct resource *, enum state from, const char *name_fold,
		    bool *changed) MUST_USE;
/* From `from` to withdrawn or gone: no text that counts, nothing scheduled. */
enum status	 store_resource_leave(struct scope *, struct db *, struct resource *, enum state from, bool *changed) MUST_USE;
/* State, scheduled_revision, publish_at and withdraw_at. */
enum status	 store_resource_schedule(struct scope *, struct db *, struct resource *, enum state from, bool *changed) MUST_USE;

/* Slug, parent and override after a move of the address; conditional like those above. */
enum status	 store_resource_readdress(struct scope *, struct db *, struct resource *, bool *changed) MUST_USE;

/* Raise event_version alone: something that sinks see changed without an edit. */
enum status	 store_resource_note(struct scope *, struct db *, int64_t id, int64_t *event_version) MUST_USE;

/* Was it ever seen, or does anything refer to it: addresses, redirects, pages below, articles by an author, copies? */
enum status	 store_resource_is_used(struct scope *, struct db *, int64_t id, bool *used) MUST_USE;
/* The row and all that belongs to it alone, path rows too; only for what is not used. *removed false: it changed meanwhile. */
enum status	 store_resource_remove(struct scope *, struct db *, const struct resource *, bool *removed) MUST_USE;

/* Rows whose publish_at has come, at most `limit`, the earliest first. */
struct due { int64_t id, revision; };
enum status	 store_resource_due(struct scope *, struct db *, int64_t now, struct due *out, size_t limit, size_t *count) MUST_USE;

/* Ids of published rows whose withdraw_at has come. */
enum status	 store_resource_due_out(struct scope *, struct db *, int64_t now, int64_t *out, size_t limit, size_t *count) MUST_USE;

/* *found false: no such row. */
enum status	 store_resource_owner(struct scope *, struct db *, int64_t id, int64_t *owner, bool *found) MUST_USE;
/* Is something live by this author, besides `except` (0 = nothing excepted)? */
enum status	 store_resource_is_live_by(struct scope *, struct db *, int64_t author, int64_t except, bool *out) MUST_USE;

/* Is `id` among the ancestors of `of` or `of` itself; *depth counts the ancestors. */
enum status	 store_resource_is_above(struct scope *, struct db *, int64_t id, int64_t of, bool *out, int *depth) MUST_USE;

struct list_filter {
	enum kind	 kind;
	const char	*state;		/* NULL = any */
	int64_t		 tag_id, author_id;	/* 0 = any */
	const char	*locale;	/* NULL = any */
	int64_t		 changed_since;	/* Unix ms */
	bool		 sees_all;
	int64_t		 user_id;	/* sees their own besides what is live */
	bool		 by_changed, is_down;
	int64_t		 after_at, after_id;	/* the place to go on behind */
	int		 limit;
};
/* Ids in order; `out` has room for `limit`. */
enum status	 store_resource_list(struct scope *, struct db *, const struct list_filter *, int64_t *out, size_t *count) MUST_USE;
#endif
