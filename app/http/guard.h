/* guard.h - the connection guard: reads, checks and holds what clients send, so that Kore's own parser only ever sees tickets.
 *
 * It owns a connection's events and bytes. A request whose answer is cached is answered here and now; any other is read to its end,
 * body included, and then Kore gets one constant, clean header block: a ticket that sleeps, wakes and knows when the client is gone. So none of
 * Kore's limits, lenient readings and timeouts apply. At most one ticket per connection is out; what a client sent behind it waits. */
#ifndef HTTP_GUARD_H
#define HTTP_GUARD_H
#include "http/task.h"

struct connection;

#define GUARD_HEAD_MS 10000		/* from the first byte of a header block to its last */
#define GUARD_BODY_MS 30000		/* the same for a body, and 1 s more for every 16 kB */
#define GUARD_IDLE_MS 30000		/* between requests, and without the peer taking a byte of its answer */
#define GUARD_LINGER_MS 2000		/* after the last answer, for the peer to read it before a reset could destroy it */
#define GUARD_BODIES_MAX ((int64_t)128 << 20)	/* bytes of bodies in one worker, queued ones too, above which no more are begun */

/* The complete request behind a fresh ticket; the caller owns it now. NULL: the connection ended in between. */
struct task	*guard_take(struct connection *);
/* Send the answer to the request that guard_take gave. The wire stays the caller's. */
void		 guard_answer(struct connection *, struct wire *, const struct task *);
/* Go on with connections that have more to do; after events that may have let them. */
void		 guard_resume(void);
/* Every 250 ms: 408 and silent closes where a deadline has passed. */
void		 guard_tick(int64_t now);
/* At the end: no more requests are read; answers still queued get up to `ms` to leave. */
void		 guard_drain(int ms);
#endif
