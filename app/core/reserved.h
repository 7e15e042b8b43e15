/* reserved.h - which first segments content may not take. */
#ifndef CORE_RESERVED_H
#define CORE_RESERVED_H
#include "base/base.h"

/* `path` in stored form. True when its first segment is reserved (compared by fold: "/Admin" too), is the language code of a
 * two- or three-letter primary tag optionally with region ("en", "zh-cn") , or ends in a name the server owns. *why (may be
 * NULL) gets the reason. A language code counts only when it is the whole first segment and is an ISO 639-1 code. */
bool		 path_is_reserved(struct scope *, const char *path, const char **why);

#endif
