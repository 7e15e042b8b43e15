/* origin.h - the addresses in the settings: hosts, IP addresses, listen addresses. For config.c. */
#ifndef BASE_ORIGIN_H
#define BASE_ORIGIN_H
#include "base/base.h"

/* All results are in the one normal form (lower case, shortest IPv6); ERR_INVALID otherwise. */
enum status	 origin_host(struct scope *, const char **out, struct str value) MUST_USE;	/* name, IPv4 or [IPv6]; no port */
enum status	 origin_address(struct scope *, const char **out, struct str value) MUST_USE;	/* IPv4 or IPv6, no brackets */
/* "ADDR:PORT" with a numeric address ([IPv6] in brackets), and the origin under which it is reached when nothing else is said:
 * localhost for loopback and wildcard addresses. */
enum status	 origin_of_listen(struct scope *, const char **listen, const char **origin, struct str value) MUST_USE;

#endif
