/* host.h - scheme, host and port of an http or https URL, read as browsers read them (WHATWG URL). */
#ifndef CORE_HOST_H
#define CORE_HOST_H
#include "base/base.h"

struct authority {
	const char	*scheme;	/* "http" or "https" */
	const char	*host;		/* ASCII, lower case; IPv4 dotted, IPv6 in brackets */
	const char	*port;		/* "" when it is the scheme's own */
};

/* Does the text begin with any scheme ("mailto:", "HTTP:")? */
bool		 host_has_scheme(struct str);
/* Cut "http:" or "https:" off; false, and nothing cut, for anything else. */
bool		 host_cut_scheme(struct str *rest, struct authority *);
/* Cut slashes, host and port off; what is left begins with '/', '\', '?' or '#', or is empty. `scheme` must be set.
 * ERR_INVALID for credentials, no host, a host or port that is not one. Names hold letters, digits, '-', '.' and '_' only: browsers
 * also let through what no name server has. */
enum status	 host_cut_authority(struct scope *, struct str *rest, struct authority *, const char *field) MUST_USE;

/* Without the dot of the root at its end, which makes no other host of it: for comparing. */
const char	*host_plain(struct scope *, const char *host);

#endif
