/* docs.h - the manual under /docs. */
#ifndef ACTIONS_DOCS_H
#define ACTIONS_DOCS_H
#include "actions/view.h"

/* The Markdown file DIR/NAME.md, whose first line is its title ("# ..."). Names are a-z and '-'; "index" is the page /docs. {{name}} in it stands for what
 * docs_value.c makes of the closed lists and the settings in force. ERR_NOT_FOUND for what is not there. */
enum status	 view_docs(struct scope *, struct db *, const struct site *, const struct templates *, const char *dir, const char *name,
		    struct view *out) MUST_USE;

/* For whoever prints parts of the manual elsewhere. A file of at most 256 kB of UTF-8. */
enum status	 docs_read(struct scope *, const char *path, struct str *out) MUST_USE;
/* Every `mark` replaced. */
struct str	 docs_replace(struct scope *, struct str text, const char *mark, const char *with);
/* Put the generated text called `name` into the page; false when there is none of that name. */
bool		 docs_value(struct scope *, struct buf *, const struct site *, struct str name);

#endif
