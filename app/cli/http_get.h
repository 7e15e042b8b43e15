/* http_get.h - asks a site on this machine: one connection, one GET after the other. For commands that look at what is served. */
#ifndef CLI_HTTP_GET_H
#define CLI_HTTP_GET_H
#include "base/base.h"

#define HTTP_GET_MAX ((size_t)64 << 20)	/* bytes of one answer */

struct http_get {
	const char	*address;	/* "127.0.0.1:8080" or "[::1]:8080" */
	const char	*host;		/* for the Host field */
	int		 fd;		/* -1 = not connected */
};
struct http_answer {
	int		 status;
	const char	*location, *link;	/* NULL = absent */
	struct str	 body;
};
/* HTTP/1.1 answers with Content-Length, as Stele gives them. A connection that the server closed in between is made again once. ERR_BUSY when
 * nobody listens or the answer does not come within 30 s; ERR_INVALID for an address that is none or an answer that cannot be read. */
enum status	 http_get(struct scope *, struct http_get *, const char *target, struct http_answer *out) MUST_USE;
void		 http_get_close(struct http_get *);
#endif
