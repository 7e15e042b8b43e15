/* hosts.h - for whom a request is: the public site, the API's host, another name of ours, or nobody. */
#ifndef HTTP_HOSTS_H
#define HTTP_HOSTS_H
#include "base/base.h"
#include "base/config.h"
#include "http/exchange.h"
#include "http/router.h"

enum host_rule {
	HOST_OURS,		/* answer here */
	HOST_ELSEWHERE,		/* known, but this kind of route answers at another origin: see *origin */
	HOST_UNKNOWN		/* 421 */
};

/* `host` as it came. A trusted proxy's X-Forwarded-Proto: http asks for HOST_ELSEWHERE when the origin is https, and its X-Forwarded-Host
 * stands for `host`. *origin is where the route kind lives. */
enum host_rule	 host_rule(const struct config *, const struct request *, enum route_kind, const char **origin);
/* May this peer's X-Forwarded-* fields be believed? */
bool		 host_trusts(const struct config *, struct str peer);
/* Does `host` name this origin, without case, default port given or not? */
bool		 host_is(struct str host, const char *origin);

#endif
