/* robots.h - what a robots.txt lets a crawler read, by RFC 9309. */
#ifndef CORE_ROBOTS_H
#define CORE_ROBOTS_H
#include "base/base.h"

/* `agent` is a product token; "*" asks for whoever has no group of its own. `target` is path and query as a request would have them. */
bool		 robots_allow(struct scope *, struct str robots, const char *agent, struct str target);
#endif
