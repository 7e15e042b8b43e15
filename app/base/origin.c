/* origin.c - the addresses in the settings, checked so that they can be printed into URLs and headers as they are. */
#include "base/origin.h"
#include "base/config.h"

#include <arpa/inet.h>

#define HOST_MAX	253
#define ORIGIN_MAX	200	/* so that an answer with three addresses in it stays within its bound */
#define LABEL_MAX	63

static enum status	 split_port(struct scope *s, struct str authority, struct str *host, int64_t *port);
static bool		 host_name_valid(struct str host);
static bool		 parse_address(struct str value, int family, char out[INET6_ADDRSTRLEN]);

enum status
config_origin(struct scope *s, const char **out, const char *value)
{
	struct str	 rest = str_of(value), host_text;
	const char	*scheme, *host;
	size_t		 colon = str_find_str(rest, STR("://"));
	int64_t		 port;

	if (str_is_nocase(str_part(rest, 0, colon), "https"))
		scheme = "https";
	else if (str_is_nocase(str_part(rest, 0, colon), "http"))
		scheme = "http";
	else
		return fail(s, ERR_INVALID, NULL, "an origin begins with http:// or https://");
	rest = str_part(rest, colon + 3, rest.len);
	for (size_t i = 0; i < rest.len; i++)
		if (strchr("/\\?#@", rest.p[i]) != NULL)
			return fail(s, ERR_INVALID, NULL, "an origin has no user, path, query or fragment, not even a closing slash");
	TRY(split_port(s, rest, &host_text, &port));
	TRY(origin_host(s, &host, host_text));
	if (port == -1 || port == (strcmp(scheme, "https") == 0 ? 443 : 80))
		*out = scope_printf(s, "%s://%s", scheme, host);
	else
		*out = scope_printf(s, "%s://%s:%" PRId64, scheme, host, port);
	if (strlen(*out) > ORIGIN_MAX)
		return fail(s, ERR_INVALID, NULL, "an origin has at most %d characters", ORIGIN_MAX);
	return OK;
}

enum status
origin_host(struct scope *s, const char **out, struct str value)
{
	char	*lower = str_dup(s->arena, value), address[INET6_ADDRSTRLEN];
	size_t	 last;

	for (size_t i = 0; i < value.len; i++)
		if (lower[i] >= 'A' && lower[i] <= 'Z')
			lower[i] |= 0x20;
	if (value.len > 2 && lower[0] == '[' && lower[value.len - 1] == ']') {
		if (!parse_address(str_part(value, 1, value.len - 1), AF_INET6, address))
			return fail(s, ERR_INVALID, NULL, "not an IPv6 address: %.100s", lower);
		*out = scope_printf(s, "[%s]", address);
		return OK;
	}
	if (!host_name_valid((struct str){ lower, value.len }))
		return fail(s, ERR_INVALID, NULL, "not a host name (ASCII letters, digits, `-` and `.`; xn-- for others): %.100s", lower);
	/* WHATWG: a host whose last label is a number is an IPv4 address, or none at all. */
	for (last = value.len; last > 0 && lower[last - 1] != '.'; last--)
		;
	if (lower[last] >= '0' && lower[last] <= '9' && strspn(lower + last, "0123456789") == value.len - last &&
	    !parse_address(value, AF_INET, address))
		return fail(s, ERR_INVALID, NULL, "not an IPv4 address: %.100s", lower);
	*out = lower;
	return OK;
}

enum status
origin_address(struct scope *s, const char **out, struct str value)
{
	char	 address[INET6_ADDRSTRLEN];

	if (!parse_address(value, AF_INET, address) && !parse_address(value, AF_INET6, address))
		return fail(s, ERR_INVALID, NULL, "not an IP address: %.100s", str_dup(s->arena, value));
	*out = arena_strdup(s->arena, address);
	return OK;
}

enum status
origin_of_listen(struct scope *s, const char **listen, const char **origin, struct str value)
{
	struct str	 host;
	const char	*address, *name;
	int64_t		 port;
	bool		 ipv6;

	TRY(split_port(s, value, &host, &port));
	if (port == -1)
		return fail(s, ERR_INVALID, NULL, "expected ADDRESS:PORT");
	ipv6 = host.len > 2 && host.p[0] == '[' && host.p[host.len - 1] == ']';
	if (ipv6)
		host = str_part(host, 1, host.len - 1);
	TRY(origin_address(s, &address, host));
	if ((strchr(address, ':') != NULL) != ipv6)
		return fail(s, ERR_INVALID, NULL, "an IPv6 address stands in brackets, and only such a one: [::1]:8080");
	*listen = scope_printf(s, ipv6 ? "[%s]:%" PRId64 : "%s:%" PRId64, address, port);
	if (strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0 || strcmp(address, "0.0.0.0") == 0 ||
	    strcmp(address, "::") == 0)
		name = "localhost";
	else
		name = ipv6 ? scope_printf(s, "[%s]", address) : address;
	return config_origin(s, origin, scope_printf(s, "http://%s:%" PRId64, name, port));
}

/* "host", "host:port" or "[v6]:port"; *port is -1 where none stands. */
static enum status
split_port(struct scope *s, struct str authority, struct str *host, int64_t *port)
{
	size_t	 at = authority.len;

	while (at > 0 && authority.p[at - 1] >= '0' && authority.p[at - 1] <= '9')
		at--;
	*host = authority;
	*port = -1;
	if (at > 0 && authority.p[at - 1] == ':') {
		*host = str_part(authority, 0, at - 1);
		if (authority.len - at > 5 || !parse_int64(str_part(authority, at, authority.len), port) || *port < 1 ||
		    *port > 65535)
			return fail(s, ERR_INVALID, NULL, "a port is a number from 1 to 65535");
	}
	return OK;
}

static bool
host_name_valid(struct str host)
{
	struct str	 label;

	if (host.len == 0 || host.len > HOST_MAX || host.p[host.len - 1] == '.')
		return false;
	while (str_next(&host, '.', &label)) {
		if (label.len == 0 || label.len > LABEL_MAX || label.p[0] == '-' || label.p[label.len - 1] == '-')
			return false;
		for (size_t i = 0; i < label.len; i++) {
			char	 c = label.p[i];

			if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '-' && c != '_')
				return false;
		}
	}
	return true;
}

static bool
parse_address(struct str value, int family, char out[INET6_ADDRSTRLEN])
{
	unsigned char	 bytes[sizeof(struct in6_addr)];
	char		 text[INET6_ADDRSTRLEN];

	if (value.len == 0 || value.len >= sizeof(text) || text_has_control(value, false))
		return false;
	memcpy(text, value.p, value.len);
	text[value.len] = '\0';
	return inet_pton(family, text, bytes) == 1 && inet_ntop(family, bytes, out, INET6_ADDRSTRLEN) != NULL;
}
