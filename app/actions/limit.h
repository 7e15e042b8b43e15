/* limit.h - how often one principal may ask: token buckets, per process. */
#ifndef ACTIONS_LIMIT_H
#define ACTIONS_LIMIT_H
#include "base/base.h"

struct limiter;
/* `rate` requests a second go on for ever, `burst` at once after a pause. Any thread; lives as long as the process. */
struct limiter	*limiter_new(int64_t rate, int64_t burst);
/* Take one from `who`'s bucket at `now` (ms, clock_monotonic). False: *wait_s seconds until the next one is there, at least 1. Buckets are a fixed
 * number; principals who share one share its rate. */
bool		 limiter_take(struct limiter *, struct str who, int64_t now, int *wait_s);
void		 limiter_free(struct limiter *);
#endif
