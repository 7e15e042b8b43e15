/* document.h - what an editor may set on a resource, read from JSON and checked. */
#ifndef ACTIONS_DOCUMENT_H
#define ACTIONS_DOCUMENT_H
#include <jansson.h>
#include "actions/input.h"
#include "base/base.h"
#include "core/resource.h"
#include "core/site.h"
#include "db/db.h"

#define FIELDS_MAX 65536	/* bytes of `fields` as JSON */

struct document {
	struct revision	 revision;	/* without author, tags, editor and time */
	struct rendered	 rendered;
	const char	**tag_names;	/* NULL = absent */
	const char	*author_slug;	/* NULL = absent or null */
	const char	*slug;		/* NULL = absent */
	int64_t		 parent_id;	/* 0 = none */
	/* At creation only: */
	const char	*locale, *client_ref;	/* NULL = absent */
	enum state	 state;
	int64_t		 publish_at;
};

/* A whole body of a creation. All mistakes are reported; renders the content when there are none. */
enum status	 document_read_new(struct scope *, struct db *, enum kind, json_t *body, struct document *out) MUST_USE;
/* A merge patch on what is stored: the result is checked as a whole. `v` has its source. Absent tags and author keep what `v` has. */
enum status	 document_read_patch(struct scope *, struct db *, const struct resource *, const struct revision *v, json_t *patch,
		    struct document *out) MUST_USE;
/* Every member that PUT may leave out, as a merge patch that takes it away: `body` over it replaces the document. Slug, parent and author stay: they make the
 * address and the byline. A new reference. ERR_INVALID names what must be there. */
enum status	 document_replacement(struct scope *, enum kind, json_t *body, json_t **out) MUST_USE;
/* `slug` and `parent` alone, for a move; document.parent_id keeps its value when no parent is named. */
void		 document_read_address(struct input *, struct db *, struct document *);
#endif
