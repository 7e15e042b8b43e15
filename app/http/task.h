/* task.h - one request on its way: event loop -> reader -> (writer) -> event loop. */
#ifndef HTTP_TASK_H
#define HTTP_TASK_H
#include <stdatomic.h>
#include "db/writer.h"
#include "http/cache.h"
#include "http/exchange.h"
#include "http/message.h"
#include "http/respond.h"

struct http_request;			/* Kore's */
struct site_copy;			/* readers.h */

/* Whoever runs it owns it with its scope; the queues hand it on. Fields of the event loop are touched by no other thread. */
struct task {
	struct task	*next;		/* in the queue that has it */
	struct scope	*scope;
	struct request	 request;
	struct exchange	 exchange;
	struct prepared	 prepared;	/* one reference on each wire */
	struct write_job job;
	struct site_copy *site;		/* what exchange and unit point at, held until the end */
	uint64_t	 generation;	/* before the snapshot */
	uint32_t	*slots;		/* of response.depends, when is_cacheable */
	_Atomic bool	 is_gone;	/* the client hung up: a read may be skipped, a write never is */

	/* The event loop's: */
	char		*body;		/* malloced; request.body points here */
	size_t		 body_cap;
	bool		 wants_close;
	int64_t		 began_at;	/* clock_monotonic */
	struct http_request *ticket;	/* NULL: nobody waits for it any more */
	bool		 is_done;
	bool		 has_key;	/* GET or HEAD that the cache may answer */
	struct cache_key key;
	struct task	*same;		/* has_key: others that wait for this one's answer */
	bool		 leads;		/* is listed as the one others wait for */
	struct task	*next_leader;
};

/* Everything the message borrows is copied. */
struct task	*task_new(const struct message *, const char *peer, bool wants_close);
/* Room for up to `want` more bytes of body, at least one; the bytes behind request.body. */
char		*task_body_room(struct task *, size_t want, size_t *room);
void		 task_free(struct task *);
/* Bytes of bodies in all tasks. Like the three above: event loop only. */
int64_t		 task_bodies_held(void);
#endif
