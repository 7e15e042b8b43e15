#include "http/message.h"

static enum status	parse_request_line(struct message *, struct str line);
static enum status	parse_version(struct message *, struct str version);
static enum status	parse_method(struct message *, struct str name);
static enum status	parse_target(struct message *, struct str target);
static enum status	parse_field(struct message *, struct str line, struct header *out);
static enum status	take_framing(struct message *, const struct header *, int *hosts, int *lengths);
static bool		host_is_valid(struct str);
static bool		list_has(struct str list, const char *token);
static bool		is_token(struct str);

enum status
message_end(struct str bytes, size_t *end)
{
	size_t from = 0;
	const char *lf;

	*end = 0;
	while (from + 1 < bytes.len && bytes.p[from] == '\r' && bytes.p[from + 1] == '\n')
		from += 2;
	for (size_t at = from; (lf = memchr(bytes.p + at, '\n', bytes.len - at)) != NULL;) {
		size_t i = (size_t)(lf - bytes.p);

		if (i == from || bytes.p[i - 1] != '\r')
			return ERR_MALFORMED_REQUEST;
		if (i >= from + 3 && bytes.p[i - 2] == '\n') {
			*end = i + 1;
			break;
		}
		at = i + 1;
		if (at == bytes.len)
			break;
	}
	if (*end > MESSAGE_BYTES_MAX || (*end == 0 && bytes.len >= MESSAGE_BYTES_MAX))
		return ERR_HEADERS;
	return OK;
}

enum status
message_parse(struct message *m, struct str block)
{
	struct str line;
	int hosts = 0, lengths = 0;
	size_t at = 0, eol;
	bool is_first = true;

	m->header_count = 0;
	m->length = 0;
	m->is_http10 = m->wants_close = m->wants_continue = false;
	m->host = (struct str){ NULL, 0 };
	while (at < block.len && (block.p[at] == '\r' || block.p[at] == '\n'))
		at++;
	for (; at < block.len; at = eol + 2, is_first = false) {
		line = str_part(block, at, block.len);
		eol = at + str_find(line, '\r');
		if (eol + 1 >= block.len || block.p[eol + 1] != '\n')
			return ERR_MALFORMED_REQUEST;
		line = str_part(block, at, eol);
		if (line.len == 0)
			break;
		if (is_first) {
			TRY(parse_request_line(m, line));
			continue;
		}
		if (m->header_count == MESSAGE_LINES_MAX)
			return ERR_HEADERS;
		TRY(parse_field(m, line, &m->headers[m->header_count]));
		TRY(take_framing(m, &m->headers[m->header_count], &hosts, &lengths));
		m->header_count++;
	}
	/* RFC 9112 3.2: exactly one Host. HTTP/1.0 too: every answer here depends on it. */
	if (is_first || hosts != 1)
		return ERR_MALFORMED_REQUEST;
	if (lengths == 0 && (m->method == METHOD_PUT || m->method == METHOD_PATCH))
		return ERR_LENGTH_REQUIRED;
	return OK;
}

struct str
message_header(const struct message *m, const char *name)
{
	for (size_t i = 0; i < m->header_count; i++)
		if (str_is_nocase(m->headers[i].name, name))
			return m->headers[i].value;
	return (struct str){ NULL, 0 };
}

/* RFC 9112 3: method SP request-target SP HTTP-version, and nothing more lenient. */
static enum status
parse_request_line(struct message *m, struct str line)
{
	size_t first = str_find(line, ' '), last;
	struct str rest = str_part(line, first + 1, line.len);

	last = str_find(rest, ' ');
	if (last == rest.len || first == line.len)
		return ERR_MALFORMED_REQUEST;
	TRY(parse_version(m, str_part(rest, last + 1, rest.len)));
	TRY(parse_method(m, str_part(line, 0, first)));
	return parse_target(m, str_part(rest, 0, last));
}

static enum status
parse_version(struct message *m, struct str version)
{
	if (version.len != 8 || !str_starts(version, "HTTP/1.") || version.p[7] < '0' || version.p[7] > '9')
		return ERR_MALFORMED_REQUEST;
	m->is_http10 = version.p[7] == '0';
	m->wants_close = m->is_http10;
	return OK;
}

static enum status
parse_method(struct message *m, struct str name)
{
	if (!is_token(name))
		return ERR_MALFORMED_REQUEST;
	for (enum method i = METHOD_GET; i < METHOD_COUNT; i++) {
		if (str_is(name, method_name(i))) {
			m->method = i;
			return OK;
		}
	}
	return ERR_NOT_IMPLEMENTED;
}

static enum status
parse_target(struct message *m, struct str target)
{
	size_t slash, query;

	if (target.len > MESSAGE_TARGET_MAX)
		return ERR_URI_TOO_LONG;
	for (size_t i = 0; i < target.len; i++)
		if ((unsigned char)target.p[i] <= ' ' || target.p[i] == 0x7f || target.p[i] == '#')
			return ERR_MALFORMED_REQUEST;
	if (str_is(target, "*")) {
		if (m->method != METHOD_OPTIONS)
			return ERR_MALFORMED_REQUEST;
	} else if (target.len >= 7 && (strncasecmp(target.p, "http://", 7) == 0 || strncasecmp(target.p, "https:/", 7) == 0)) {
		/* RFC 9112 3.2.2: the host of an absolute form replaces that of the Host field. */
		target = str_part(target, str_find_str(target, STR("//")) + 2, target.len);
		slash = 0;
		while (slash < target.len && target.p[slash] != '/' && target.p[slash] != '?')
			slash++;
		m->host = str_part(target, 0, slash);
		if (!host_is_valid(m->host))
			return ERR_MALFORMED_REQUEST;
		target = str_part(target, slash, target.len);
		if (target.len == 0)
			target = m->method == METHOD_OPTIONS ? STR("*") : STR("/");
	}
	if (!str_is(target, "*") && !str_starts(target, "/"))
		return ERR_MALFORMED_REQUEST;
	query = str_find(target, '?');
	m->target = target;
	m->path = str_part(target, 0, query);
	m->query = str_part(target, query + 1, target.len);
	return OK;
}

/* RFC 9112 5: no blank before the colon, no folded lines; RFC 9110 5.5: no control characters but TAB in values. */
static enum status
parse_field(struct message *m, struct str line, struct header *out)
{
	size_t colon = str_find(line, ':');

	out->name = str_part(line, 0, colon);
	out->value = str_trim(str_part(line, colon + 1, line.len));
	if (colon == line.len || !is_token(out->name))
		return ERR_MALFORMED_REQUEST;
	/* An empty value is not an absent field. */
	if (out->value.len == 0)
		out->value = STR("");
	for (size_t i = 0; i < out->value.len; i++) {
		unsigned char c = (unsigned char)out->value.p[i];

		if ((c < ' ' && c != '\t') || c == 0x7f)
			return ERR_MALFORMED_REQUEST;
	}
	return OK;
}

/* The fields that decide where this request ends and the next begins, and for whom it is. */
static enum status
take_framing(struct message *m, const struct header *h, int *hosts, int *lengths)
{
	switch (h->name.len) {
	case 4:
		if (!str_is_nocase(h->name, "host"))
			break;
		if (++*hosts > 1 || !host_is_valid(h->value))
			return ERR_MALFORMED_REQUEST;
		if (m->host.p == NULL)
			m->host = h->value;
		break;
	case 6:
		if (str_is_nocase(h->name, "expect"))
			m->wants_continue = !m->is_http10 && str_is_nocase(h->value, "100-continue");
		break;
	case 10:
		if (str_is_nocase(h->name, "connection") && list_has(h->value, "close"))
			m->wants_close = true;
		break;
	case 14:
		if (!str_is_nocase(h->name, "content-length"))
			break;
		if (++*lengths > 1 || h->value.len > 17 || str_starts(h->value, "-") || !parse_int64(h->value, &m->length))
			return ERR_MALFORMED_REQUEST;
		break;
	case 17:
		if (str_is_nocase(h->name, "transfer-encoding"))
			return ERR_LENGTH_REQUIRED;
		break;
	default:
		break;
	}
	return OK;
}

/* A reg-name, IPv4 or bracketed IPv6 address, with a port perhaps; nothing that could hide a path or a user. */
static bool
host_is_valid(struct str host)
{
	for (size_t i = 0; i < host.len; i++) {
		unsigned char c = (unsigned char)host.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		    (c != '\0' && strchr("-._~[]:%", c) != NULL)))
			return false;
	}
	return host.len > 0 && host.len <= 255;
}

static bool
list_has(struct str list, const char *token)
{
	struct str piece;

	while (str_next(&list, ',', &piece))
		if (str_is_nocase(str_trim(piece), token))
			return true;
	return false;
}

/* RFC 9110 5.6.2 tchar. */
static bool
is_token(struct str s)
{
	static const char others[] = "!#$%&'*+-.^_`|~";

	for (size_t i = 0; i < s.len; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		    (c != '\0' && strchr(others, c) != NULL)))
			return false;
	}
	return s.len > 0;
}
