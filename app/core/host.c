/* host.c - scheme, host and port of an http or https URL (WHATWG URL, host parsing). */
#include "core/host.h"
#include "core/idna.h"
#include "core/percent.h"
#include <ctype.h>

static bool		scheme_char(char, size_t i);
static bool		ends_authority(char);
static bool		port_read(struct scope *, struct str, struct authority *);
static bool		host_read(struct scope *, struct str, const char **out);
static bool		domain_to_ascii(struct scope *, struct str, struct str *out);
static bool		domain_is_plain(struct str);
static bool		ends_in_number(struct str);
static bool		number_read(struct str, uint64_t *);
static bool		ipv4_read(struct str, uint32_t *);
static bool		ipv6_read(struct str, uint16_t pieces[8]);
static bool		ipv6_tail_ipv4(struct str, uint16_t *high, uint16_t *low);
static const char	*ipv6_text(struct scope *, const uint16_t pieces[8]);

bool
host_has_scheme(struct str text)
{
	size_t	i;

	for (i = 0; i < text.len && scheme_char(text.p[i], i); i++)
		;
	return i > 0 && i < text.len && text.p[i] == ':';
}

bool
host_cut_scheme(struct str *rest, struct authority *a)
{
	size_t	colon = str_find(*rest, ':');
	struct str	scheme = str_part(*rest, 0, colon);

	if (colon == rest->len)
		return false;
	if (str_is_nocase(scheme, "http"))
		a->scheme = "http";
	else if (str_is_nocase(scheme, "https"))
		a->scheme = "https";
	else
		return false;
	*rest = str_part(*rest, colon + 1, rest->len);
	return true;
}

enum status
host_cut_authority(struct scope *s, struct str *rest, struct authority *a, const char *field)
{
	struct str	text = *rest, host;
	size_t		i, end, colon;

	while (text.len > 0 && (text.p[0] == '/' || text.p[0] == '\\'))
		text = str_part(text, 1, text.len);
	for (end = 0; end < text.len && !ends_authority(text.p[end]); end++)
		;
	*rest = str_part(text, end, text.len);
	text.len = end;
	if (str_find(text, '@') < text.len)
		return fail(s, ERR_INVALID, field, "must not hold a user name or password");
	for (colon = text.len, i = 0; i < text.len; i++) {
		if (text.p[i] == ':')
			colon = i;
		else if (text.p[i] == ']')
			colon = text.len;
	}
	host = str_part(text, 0, colon);
	if (host.len == 0)
		return fail(s, ERR_INVALID, field, "has no host");
	if (!host_read(s, host, &a->host))
		return fail(s, ERR_INVALID, field, "has a host that is no domain name or IP address");
	if (!port_read(s, str_part(text, colon + 1, text.len), a))
		return fail(s, ERR_INVALID, field, "has a port that is no number from 0 to 65535");
	return OK;
}

static bool
scheme_char(char c, size_t i)
{
	if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
		return true;
	return i > 0 && ((c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.');
}

static bool
ends_authority(char c)
{
	return c == '/' || c == '\\' || c == '?' || c == '#';
}

static bool
port_read(struct scope *s, struct str text, struct authority *a)
{
	size_t		i;
	unsigned	port = 0;

	a->port = "";
	if (text.len == 0)
		return true;
	for (i = 0; i < text.len; i++) {
		if (text.p[i] < '0' || text.p[i] > '9')
			return false;
		port = port * 10 + (unsigned)(text.p[i] - '0');
		if (port > 65535)
			return false;
	}
	if (port != (strcmp(a->scheme, "https") == 0 ? 443 : 80))
		a->port = scope_printf(s, "%u", port);
	return true;
}

static bool
host_read(struct scope *s, struct str text, const char **out)
{
	struct str	ascii;
	uint16_t	pieces[8];
	uint32_t	ipv4;

	if (text.p[0] == '[') {
		if (text.p[text.len - 1] != ']' || !ipv6_read(str_part(text, 1, text.len - 1), pieces))
			return false;
		*out = ipv6_text(s, pieces);
		return true;
	}
	if (!domain_to_ascii(s, percent_decode(s, text, false), &ascii))
		return false;
	if (!ends_in_number(ascii)) {
		*out = str_dup(s->arena, ascii);
		return true;
	}
	if (!ipv4_read(ascii, &ipv4))
		return false;
	*out = scope_printf(s, "%u.%u.%u.%u", ipv4 >> 24, ipv4 >> 16 & 255, ipv4 >> 8 & 255, ipv4 & 255);
	return true;
}

static bool
domain_to_ascii(struct scope *s, struct str name, struct str *out)
{
	size_t	i;

	if (!utf8_valid(name))
		return false;
	if (!domain_is_plain(name)) {
		if (!idna_to_ascii(s, out, name))
			return false;
	} else {
		char	*lower = str_dup(s->arena, name);

		for (i = 0; i < name.len; i++) {
			if (lower[i] >= 'A' && lower[i] <= 'Z')
				lower[i] += 'a' - 'A';
		}
		*out = (struct str){ lower, name.len };
	}
	for (i = 0; i < out->len; i++) {
		if (out->p[i] != '-' && out->p[i] != '.' && out->p[i] != '_' && !isalnum((unsigned char)out->p[i]))
			return false;
	}
	return out->len > 0;
}

/* ASCII without a punycode label: IDNA would only lower the case. */
static bool
domain_is_plain(struct str name)
{
	size_t	i;

	for (i = 0; i < name.len; i++) {
		if ((unsigned char)name.p[i] >= 0x80)
			return false;
		if ((i == 0 || name.p[i - 1] == '.') && i + 4 <= name.len && strncasecmp(name.p + i, "xn--", 4) == 0)
			return false;
	}
	return true;
}

/* Such a host is an IPv4 address or an error, never a name: http://0x7f.1 is the loopback. */
static bool
ends_in_number(struct str host)
{
	struct str	last = host;
	size_t		i;
	uint64_t	number;
	bool		all_digits = true;

	if (last.len > 0 && last.p[last.len - 1] == '.')
		last.len--;
	for (i = last.len; i > 0 && last.p[i - 1] != '.'; i--)
		;
	last = str_part(last, i, last.len);
	for (i = 0; i < last.len; i++)
		all_digits = all_digits && last.p[i] >= '0' && last.p[i] <= '9';
	return last.len > 0 && (all_digits || number_read(last, &number));
}

/* Decimal, octal with a leading 0, or hexadecimal with 0x; saturates. */
static bool
number_read(struct str text, uint64_t *out)
{
	unsigned	base = 10, digit;
	size_t		i = 0;
	char		c;

	*out = 0;
	if (text.len == 0)
		return false;
	if (text.len >= 2 && text.p[0] == '0' && (text.p[1] == 'x' || text.p[1] == 'X')) {
		base = 16;
		i = 2;
	} else if (text.len >= 2 && text.p[0] == '0') {
		base = 8;
		i = 1;
	}
	for (; i < text.len; i++) {
		c = text.p[i];
		if (c >= '0' && c <= '9')
			digit = (unsigned)(c - '0');
		else if (base == 16 && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')))
			digit = (unsigned)((c | 0x20) - 'a') + 10;
		else
			return false;
		if (digit >= base)
			return false;
		if (*out <= UINT32_MAX)
			*out = *out * base + digit;
	}
	return true;
}

static bool
ipv4_read(struct str text, uint32_t *out)
{
	uint64_t	numbers[4], value;
	size_t		n = 0, i;
	struct str	part;

	if (text.len > 0 && text.p[text.len - 1] == '.')
		text.len--;
	while (str_next(&text, '.', &part)) {
		if (n == 4 || !number_read(part, &numbers[n++]))
			return false;
	}
	if (n == 0)
		return false;
	for (i = 0; i + 1 < n; i++) {
		if (numbers[i] > 255)
			return false;
	}
	value = numbers[n - 1];
	if (value >= (uint64_t)1 << (8 * (5 - n)))
		return false;
	for (i = 0; i + 1 < n; i++)
		value += numbers[i] << (8 * (3 - i));
	*out = (uint32_t)value;
	return true;
}

/* RFC 4291 2.2, with '::' at most once and an IPv4 tail. */
static bool
ipv6_read(struct str text, uint16_t pieces[8])
{
	size_t		n = 0, i = 0, compress = 9, start, moved;
	unsigned	value, digits;
	char		one[2] = { 0 };

	memset(pieces, 0, 8 * sizeof(*pieces));
	if (str_starts(text, "::")) {
		compress = 0;
		i = 2;
	} else if (text.len == 0 || text.p[0] == ':') {
		return false;
	}
	while (i < text.len) {
		if (n == 8)
			return false;
		if (text.p[i] == ':') {
			if (compress != 9)
				return false;
			compress = n;
			i++;
			continue;
		}
		start = i;
		for (value = 0, digits = 0; i < text.len && digits < 4 &&
		    isxdigit((unsigned char)text.p[i]); i++, digits++) {
			one[0] = text.p[i];
			value = value * 16 + (unsigned)strtoul(one, NULL, 16);
		}
		if (i < text.len && text.p[i] == '.') {
			if (n > 6 || digits == 0 ||
			    !ipv6_tail_ipv4(str_part(text, start, text.len), &pieces[n], &pieces[n + 1]))
				return false;
			n += 2;
			break;
		}
		if (digits == 0 || (i < text.len && text.p[i++] != ':') || (i == text.len && text.p[i - 1] == ':'))
			return false;
		pieces[n++] = (uint16_t)value;
	}
	if (compress == 9)
		return n == 8;
	for (moved = n - compress, i = 7; moved > 0 && n < 8; moved--, i--) {
		pieces[i] = pieces[compress + moved - 1];
		pieces[compress + moved - 1] = 0;
	}
	return n < 8;
}

static bool
ipv6_tail_ipv4(struct str text, uint16_t *high, uint16_t *low)
{
	struct str	part;
	int64_t		numbers[4], value;
	size_t		n = 0;

	if (text.len == 0 || text.p[text.len - 1] == '.')
		return false;
	while (str_next(&text, '.', &part)) {
		if (n == 4 || part.len > 3 || (part.len > 1 && part.p[0] == '0') || !parse_int64(part, &value) ||
		    value < 0 || value > 255)
			return false;
		numbers[n++] = value;
	}
	if (n != 4)
		return false;
	*high = (uint16_t)(numbers[0] * 256 + numbers[1]);
	*low = (uint16_t)(numbers[2] * 256 + numbers[3]);
	return true;
}

/* RFC 5952: lower-case hex, the first longest run of two or more zeros as "::". */
static const char *
ipv6_text(struct scope *s, const uint16_t pieces[8])
{
	struct buf	out;
	size_t		i, run, best = 8, best_len = 1;

	for (i = 0; i < 8; i += run + 1) {
		for (run = 0; i + run < 8 && pieces[i + run] == 0; run++)
			;
		if (run > best_len) {
			best = i;
			best_len = run;
		}
	}
	buf_init(&out, s->arena);
	buf_char(&out, '[');
	for (i = 0; i < 8; i++) {
		if (i == best) {
			buf_text(&out, i == 0 ? "::" : ":");
			i += best_len - 1;
			continue;
		}
		buf_printf(&out, "%x%s", (unsigned)pieces[i], i < 7 ? ":" : "");
	}
	buf_char(&out, ']');
	return out.p;
}

const char *
host_plain(struct scope *s, const char *host)
{
	struct str name = str_of(host);

	return str_ends(name, ".") ? str_dup(s->arena, str_part(name, 0, name.len - 1)) : host;
}
