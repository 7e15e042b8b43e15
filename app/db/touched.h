/* touched.h - the dependency names that a running transaction changed. Part of a connection; private to db/. */
#ifndef DB_TOUCHED_H
#define DB_TOUCHED_H
#include "base/base.h"

#define TOUCHED_MAX 512		/* names of one transaction; the last place holds "*", everything */
#define TOUCHED_NAME 101

struct touched {
	int		 count;		/* names said */
	int		 saved;		/* of these, already in change_log */
	int		 rows;		/* change_log rows written, numbered from first_seq */
	int64_t		 first_seq;
	uint32_t	 slots[TOUCHED_MAX];
	char		 names[TOUCHED_MAX][TOUCHED_NAME];
};
/* What a savepoint comes back to. */
struct touched_mark { int count, saved, rows; };

void		 touched_clear(struct touched *);
struct touched_mark touched_mark(const struct touched *);
void		 touched_rewind(struct touched *, struct touched_mark);
#endif
