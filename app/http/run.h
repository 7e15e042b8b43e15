/* run.h - one exchange from host and route to its handler, on a reader thread. Pure of Kore. */
#ifndef HTTP_RUN_H
#define HTTP_RUN_H
#include "http/exchange.h"

/* Inside one snapshot, or without one when the database cannot be read. Afterwards `response` is filled, or true is returned: ex->unit is to be applied,
 * then comes exchange_finish. *is_ours is false where the host is another one: such answers are never kept. */
bool		 exchange_run(struct scope *, struct exchange *, bool *is_ours);
/* `response` after the writer: the unit's answer, or why there is none. */
void		 exchange_finish(struct scope *, struct exchange *, enum status);
#endif
