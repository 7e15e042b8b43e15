/* reserved.h - which first segments content may not take. */
#ifndef CORE_RESERVED_H
#define CORE_RESERVED_H
#include "base/base.h"

/* True when the first segment is reserved (reserved.def; compared decoded and by fold: "/Admin" and "/%61dmin" too) or is an
 * ISO 639-1 language code, optionally with a region ("en", "zh-cn", "es-419"); for "/" and for what is no path. *why (may be NULL)
 * gets the reason, NULL if not reserved. */
bool		 path_is_reserved(struct scope *, const char *path, const char **why);

#endif
