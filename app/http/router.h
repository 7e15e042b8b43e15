/* router.h - which handler answers a path; made from routes.def. */
#ifndef HTTP_ROUTER_H
#define HTTP_ROUTER_H
#include "http/exchange.h"

enum route_kind { ROUTE_PUBLIC, ROUTE_API, ROUTE_ANY_HOST };

struct route {
	enum method	 method;
	const char	*pattern;
	handler_fn	*handler;
	int64_t		 body_limit;
	enum route_kind	 kind;
};

#define ROUTE(method, pattern, handler, limit, kind) handler_fn handler;
#include "http/routes.def"
#undef ROUTE

/* The route of a raw path. HEAD finds the GET row. Parameters are borrowed from `path`, still encoded; `params` may be NULL.
 * ERR_NOT_FOUND: nothing below /api answers there. ERR_METHOD: other methods do, see router_allow. */
enum status	 router_find(const struct route **out, enum method, struct str path, struct str params[4]) MUST_USE;
/* Value of the Allow field for a path: "GET, HEAD, POST, OPTIONS". */
const char	*router_allow(struct scope *, struct str path);
/* How the path would answer whatever the method: decides between problem documents and pages. */
enum route_kind	 router_kind(struct str path);

#endif
