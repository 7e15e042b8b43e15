/* operations.h - the threads that carry long work out, beside the loop of jobs. */
#ifndef JOBS_OPERATIONS_H
#define JOBS_OPERATIONS_H
#include "base/base.h"
#include "base/config.h"
#include "db/shared.h"

/* Two threads, so that a long import does not keep short work waiting; each with handles of its own. Signals must be blocked already. */
enum status	 operations_start(struct scope *, const struct config *, struct shared *) MUST_USE;
/* The piece of work that was begun is finished; the rest waits for the next process. */
void		 operations_stop(void);
#endif
