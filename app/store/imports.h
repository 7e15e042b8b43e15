/* imports.h - rows of an import: what earlier runs made, old addresses, media. */
#ifndef STORE_IMPORTS_H
#define STORE_IMPORTS_H
#include "base/base.h"
#include "core/resource.h"
#include "db/db.h"

struct import_known {
	int64_t		 id;		/* 0: nothing known by that reference */
	const char	*ref_hash;
	enum state	 state;
};
enum status	 store_import_find(struct scope *, struct db *, struct import_known *out, const char *source, const char *ref) MUST_USE;
/* The highest id of a resource; 0 when there is none. */
enum status	 store_import_newest(struct scope *, struct db *, int64_t *id) MUST_USE;
/* A resource of the kind that has this slug already; 0 when none. */
enum status	 store_import_find_slug(struct scope *, struct db *, int64_t *id, enum kind, const char *slug) MUST_USE;

/* An old address of a resource. *holder is the resource that has the path: `id` when it is ours now or was already, another one (or 0 for
 * a redirect to elsewhere) when it is taken and nothing was written. `note` says where it came from. */
enum status	 store_import_alias(struct scope *, struct db *, int64_t *holder, const char *path, const char *fold, int64_t id,
		    bool was_public, const char *note) MUST_USE;
enum status	 store_import_query(struct scope *, struct db *, int64_t *holder, const char *path, const char *pairs, int64_t id,
		    const char *note) MUST_USE;
/* Is there a row for this path, whatever it means? */
enum status	 store_import_path_is_there(struct scope *, struct db *, const char *path, bool *is_there) MUST_USE;
/* An old address of a file: a redirect to `target`. Nothing happens when the path is taken. */
enum status	 store_import_external(struct scope *, struct db *, const char *path, const char *fold, const char *target,
		    const char *note) MUST_USE;
/* The longest alias with that note, NULL when there is none. */
enum status	 store_import_longest_alias(struct scope *, struct db *, const char **path, int64_t id, const char *note) MUST_USE;

/* The name of the eldest active admin; NULL when there is none. */
enum status	 store_import_first_admin(struct scope *, struct db *, const char **name) MUST_USE;
/* A copy of the whole database in a new file, for a trial run. */
enum status	 store_import_copy(struct scope *, struct db *, const char *file) MUST_USE;

struct media_row { const char *sha256, *name, *type, *source_url; int64_t bytes; };
/* out->sha256 is NULL when no file came from that address. */
enum status	 store_media_find_source(struct scope *, struct db *, struct media_row *out, const char *source_url) MUST_USE;
enum status	 store_media_is_there(struct scope *, struct db *, const char *sha256, bool *is_there) MUST_USE;
/* The same bytes again change nothing. */
enum status	 store_media_insert(struct scope *, struct db *, const struct media_row *) MUST_USE;
#endif
