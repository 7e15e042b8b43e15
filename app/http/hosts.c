#include "http/hosts.h"

static struct str	host_name(struct str host);

enum host_rule
host_rule(const struct config *c, const struct request *r, enum route_kind kind, const char **origin)
{
	struct str host = r->host, forwarded, scheme;
	bool is_public, is_admin, is_alias = false, is_insecure = false;

	*origin = kind == ROUTE_API ? c->admin_origin : c->public_origin;
	if (host_trusts(c, r->peer)) {
		forwarded = str_trim(request_header(r, "x-forwarded-host"));
		scheme = str_trim(request_header(r, "x-forwarded-proto"));
		if (forwarded.len > 0)
			host = forwarded;
		is_insecure = str_is_nocase(scheme, "http") && str_starts(str_of(*origin), "https:");
	}
	if (kind == ROUTE_ANY_HOST)
		return HOST_OURS;
	is_public = host_is(host, c->public_origin);
	is_admin = host_is(host, c->admin_origin);
	for (const char **a = c->aliases; a != NULL && *a != NULL && !is_alias; a++)
		is_alias = str_is_nocase(host, *a) || str_is_nocase(host_name(host), *a);
	if (!is_public && !is_admin && !is_alias)
		return HOST_UNKNOWN;
	if (is_insecure || (kind == ROUTE_API ? !is_admin : !is_public))
		return HOST_ELSEWHERE;
	return HOST_OURS;
}

bool
host_trusts(const struct config *c, struct str peer)
{
	for (const char **p = c->trusted_proxies; p != NULL && *p != NULL; p++)
		if (str_is(peer, *p))
			return true;
	return false;
}

bool
host_is(struct str host, const char *origin)
{
	struct str own = str_of(strstr(origin, "//") + 2), name = host_name(own);
	const char *standard = str_starts(str_of(origin), "https:") ? "443" : "80";

	if (host.len == own.len && strncasecmp(host.p, own.p, own.len) == 0)
		return true;
	/* The origin is stored without its default port; a client may spell it out. */
	return name.len == own.len && host.len > own.len + 1 && strncasecmp(host.p, own.p, own.len) == 0 &&
	    host.p[own.len] == ':' && str_is(str_part(host, own.len + 1, host.len), standard);
}

/* Without the port. */
static struct str
host_name(struct str host)
{
	size_t from = str_starts(host, "[") ? str_find(host, ']') : 0;

	return str_part(host, 0, from + str_find(str_part(host, from, host.len), ':'));
}
