/* idna.h - international host names. */
#ifndef CORE_IDNA_H
#define CORE_IDNA_H
#include "base/base.h"

/* UTS 46 ToASCII, non-transitional, as browsers do it: bidi and joiner rules on, hyphen and length rules off. *host is lower-case
 * ASCII. False when the name is not allowed. Thread safe; the first call loads ICU's tables. */
bool		 idna_to_ascii(struct scope *, struct str *host, struct str name);

#endif
