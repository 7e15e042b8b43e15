/* web.h - what one worker process has: made by worker.c, used by guard.c and dispatch.c, on the event loop only. */
#ifndef HTTP_WEB_H
#define HTTP_WEB_H
#include "base/base.h"
#include "base/config.h"
#include "db/shared.h"
#include "db/writer.h"
#include "http/cache.h"
#include "http/readers.h"

struct web {
	const struct config *config;
	struct shared	*shared;
	struct cache	*cache;
	struct readers	*readers;
	struct writer	*writer;
	bool		 is_draining;		/* every answer closes its connection */
	int64_t		 requests, hits, misses;	/* not yet in the shared page */
};
extern struct web web;

/* Make the event loop come round at once, from any thread. */
void		 web_wake(void);
#endif
