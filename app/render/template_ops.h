/* template_ops.h - the parsed form of a template, shared by parser and renderer. */
#ifndef RENDER_TEMPLATE_OPS_H
#define RENDER_TEMPLATE_OPS_H
#include "base/base.h"

#define TEMPLATE_SECTIONS_MAX 64	/* nested in one template */

enum op_kind { OP_TEXT, OP_VALUE, OP_RAW, OP_SECTION, OP_INVERTED, OP_END, OP_PARTIAL };

/* One step. `begins_line`: what it prints starts a line of the template, so an indented partial indents it. */
struct op {
	enum op_kind	 kind;
	bool		 begins_line;
	bool		 is_alone;	/* OP_PARTIAL: on a line of its own, so every line of the partial is indented */
	struct str	 text;		/* OP_TEXT: what to print; OP_PARTIAL: the indent of its lines */
	const char	*name;		/* as written */
	const char	**path;		/* name split at dots; none for "." */
	size_t		 path_len;
	size_t		 jump;		/* OP_SECTION, OP_INVERTED: the op behind the section; OP_END: the op of its start */
	const struct template *partial;	/* NULL: no such template, prints nothing */
};

struct template {
	const char	*name;
	struct op	*ops;
	size_t		 count;
};

/* ERR_INVALID "file:line: what" for the first mistake. `source` is kept by reference, so it must live as long as `out`, which
 * lives in `arena`. Partials are left to be looked up by the caller. */
enum status	 template_parse(struct scope *, struct arena *, struct template *out, const char *file, struct str source) MUST_USE;

/* Where in the markup a tag stands; fed with the literal text of a template. */
enum place { PLACE_DATA, PLACE_OPEN, PLACE_TAG, PLACE_EQUALS, PLACE_UNQUOTED, PLACE_DOUBLE, PLACE_SINGLE, PLACE_RAW, PLACE_COMMENT };
struct markup {
	enum place	 place;
	char		 name[8];	/* of the element whose tag is open, or whose raw text this is */
	size_t		 name_len;	/* sizeof name: longer than any we care for */
	bool		 in_name;
};
void		 markup_feed(struct markup *, struct str text);
/* What is wrong with a tag of `kind` here, or NULL. */
const char	*markup_refuses(const struct markup *, enum op_kind);
/* Two ways through a template that meet again must agree on where they are. */
bool		 markup_same(const struct markup *, const struct markup *);
#endif
