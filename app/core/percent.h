/* percent.h - percent-escapes and the character classes of RFC 3986. */
#ifndef CORE_PERCENT_H
#define CORE_PERCENT_H
#include "base/base.h"

/* The value of the escape "%XX" at s.p[i], or -1 if there is none. */
int		 percent_at(struct str s, size_t i);
void		 percent_add(struct buf *, unsigned char);	/* "%XX", upper-case hex */
/* Every escape decoded, '+' as blank when `plus`; a '%' that is no escape is kept. The input itself when there is nothing to do. */
struct str	 percent_decode(struct scope *, struct str, bool plus);

bool		 is_unreserved(unsigned char);
bool		 is_pchar(unsigned char);		/* unreserved, sub-delims, ':' and '@' */
/* A query or fragment copied with everything encoded that RFC 3986 does not allow there, and `also` (0 = nothing more); escapes stay
 * as they are. */
void		 percent_add_query(struct buf *, struct str, char also);

#endif
