/* wire.h - the bytes of one response, ready to send: everything but what differs from one sending to the next. */
#ifndef HTTP_WIRE_H
#define HTTP_WIRE_H
#include "base/base.h"

/* Status line and fields without Date, X-Request-Id, Connection and the empty line, which are written anew for each sending; then the body.
 * Counted references; owned by one thread at a time like a scope: the reader that makes it, then the event loop. */
struct wire {
	unsigned	 refs;
	int		 status;
	size_t		 head_len, body_len;
	char		 bytes[];	/* head, then body */
};
/* One reference, held by the caller. */
struct wire	*wire_new(int status, struct str head, struct str body);
struct wire	*wire_hold(struct wire *);
void		 wire_drop(struct wire *);		/* NULL is fine */

/* What differs: the end of the head. */
#define WIRE_TAIL_MAX 160
size_t		 wire_tail(char out[WIRE_TAIL_MAX], int64_t now, const char *request_id, bool close);

const char	*status_reason(int status);		/* "Not Found"; "" when unknown */
#endif
