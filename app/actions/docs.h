/* docs.h - the manual under /docs. */
#ifndef ACTIONS_DOCS_H
#define ACTIONS_DOCS_H
#include "actions/view.h"

/* "errors" is made of the closed list of refusals; any other name is the Markdown file DIR/NAME.md, whose first line is its title ("# ..."). Names are a-z and '-'.
 * ERR_NOT_FOUND for what is not there. */
enum status	 view_docs(struct scope *, struct db *, const struct site *, const struct templates *, const char *dir, const char *name,
		    struct view *out) MUST_USE;
#endif
