/* revisions.h - what people wrote, one immutable row per revision, and what was rendered from it. */
#ifndef STORE_REVISIONS_H
#define STORE_REVISIONS_H
#include "base/base.h"
#include "core/resource.h"
#include "db/db.h"

/* `v->number` must be new for the resource; ERR_CONFLICT otherwise. */
enum status	 store_revision_insert(struct scope *, struct db *, int64_t resource, const struct revision *v) MUST_USE;
/* ERR_NOT_FOUND. Without `with_source` the source is NULL. */
enum status	 store_revision_load(struct scope *, struct db *, struct revision *out, int64_t resource, int64_t number,
		    bool with_source) MUST_USE;

struct revision_item { int64_t number; const char *title, *editor; int64_t created_at; };	/* editor: name of the user, NULL = none */
/* Those below `before`, the newest first, at most `limit`. */
enum status	 store_revision_list(struct scope *, struct db *, int64_t resource, int64_t before, struct revision_item *out, size_t limit,
		    size_t *count) MUST_USE;

enum status	 store_rendered_insert(struct scope *, struct db *, int64_t resource, int64_t number, int renderer_version,
		    const struct rendered *) MUST_USE;
/* ERR_NOT_FOUND. The visible text is not stored: out->text is NULL. */
enum status	 store_rendered_load(struct scope *, struct db *, struct rendered *out, int64_t resource, int64_t number) MUST_USE;

/* "[1,2]" <-> ids. What does not parse ends the list. */
const char	*store_ids_text(struct scope *, const int64_t *ids, size_t count);
void		 store_ids_parse(struct scope *, struct str text, const int64_t **ids, size_t *count);
#endif
