/* send.h - a wire onto a connection: one system call where the socket takes it, the rest queued without a copy. */
#ifndef HTTP_SEND_H
#define HTTP_SEND_H
#include "base/base.h"
#include "http/wire.h"

struct connection;			/* Kore's */

/* False: the peer is gone and the connection must be disconnected. The caller keeps its reference. */
bool		 send_wire(struct connection *, struct wire *, bool with_body, int64_t now, const char *request_id, bool close) MUST_USE;
/* Kore's c->write: as much as the socket takes, where Kore's own stops at 8 kB. */
int		 send_queued(struct connection *, size_t, size_t *);
#endif
