/* exchange.h - one request and its response, free of Kore: what handlers see. */
#ifndef HTTP_EXCHANGE_H
#define HTTP_EXCHANGE_H
#include "base/base.h"
#include "base/compress.h"
#include "base/config.h"
#include "core/permission.h"
#include "core/site.h"
#include "actions/unit.h"
#include "db/db.h"
#include "db/shared.h"
#include "render/template.h"

enum method { METHOD_GET, METHOD_HEAD, METHOD_POST, METHOD_PUT, METHOD_PATCH, METHOD_DELETE, METHOD_OPTIONS, METHOD_COUNT };
const char	*method_name(enum method);

struct header { struct str name, value; };	/* value trimmed; raw bytes otherwise */

/* Everything was copied out of Kore into the scope before a thread sees it. */
struct request {
	enum method	 method;
	struct str	 target;	/* as it came, origin form */
	struct str	 path, query;	/* raw halves of target; query without '?' */
	struct str	 host;		/* Host as it came */
	struct str	 peer;		/* address of the TCP peer, as text */
	const struct header *headers;
	size_t		 header_count;
	struct str	 body;
	const char	*id;		/* request id, UUIDv7 */
};
/* First field of that name (case-insensitive); {NULL,0} when absent. */
struct str	 request_header(const struct request *, const char *name);
size_t		 request_header_count(const struct request *, const char *name);

#define RESPONSE_HEADERS 24
struct response {
	int		 status;
	const char	*type;		/* Content-Type; NULL = no body */
	struct str	 body;
	struct { const char *name, *value; } headers[RESPONSE_HEADERS];
	size_t		 header_count;
	bool		 close;		/* close the connection after it */
	/* Public answers only: */
	bool		 is_cacheable;
	const char *const *depends;	/* names, see actions/view.h */
	size_t		 depends_count;
	int64_t		 valid_until;	/* Unix ms; 0 = no time bound */
};
void		 response_header(struct response *, const char *name, const char *value);

/* What one reader thread has at hand; opened in the thread, "worker" lifetime. */
struct reader {
	struct db	*db;
	struct shared	*shared;
	const struct config *config;
	const struct templates *templates;
	const struct site *site;	/* with the rules of redirects; reloaded when the dependency "settings" or "rules" is newer */
	uint64_t	 generation;	/* read before the snapshot of the running request was opened */
};

struct route;
struct part;
struct exchange {
	const struct route *route;
	const struct request *request;
	struct response	 response;
	struct reader	*reader;	/* NULL once the writer has the exchange */
	struct principal who;
	struct str	 params[4];	/* of the route pattern, in order, percent-decoded */
	struct part	*parts;		/* of a multipart body, for a route that takes one: see parse.h */
	size_t		 part_count;
	struct unit	*unit;		/* set by a writing handler: the writer applies it, then respond_answer fills `response` */
};

/* A handler runs on a reader thread inside one read snapshot. OK: `response` is filled, or `unit` is to be written. Anything else becomes
 * a problem (API) or an error page (public). */
typedef enum status handler_fn(struct scope *, struct exchange *);
#endif
