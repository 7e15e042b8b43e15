#include "cli/http_get.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#define HEAD_MAX 65536
#define WAIT_S 30

static enum status	dial(struct scope *, struct http_get *);
static bool		send_all(int fd, const char *bytes, size_t len);
static enum status	exchange(struct scope *, struct http_get *, const char *target, struct http_answer *, bool *was_closed);
static enum status	read_head(struct scope *, struct http_answer *, struct str head, size_t *length);
static enum status	unreadable(struct scope *, const char *target);

enum status
http_get(struct scope *s, struct http_get *h, const char *target, struct http_answer *out)
{
	bool was_connected = h->fd != -1, was_closed = false;
	enum status status;

	if (!was_connected)
		TRY(dial(s, h));
	status = exchange(s, h, target, out, &was_closed);
	if (status != OK)
		http_get_close(h);
	if (!was_closed || !was_connected)
		return status;
	s->error = NULL;
	TRY(dial(s, h));
	status = exchange(s, h, target, out, &was_closed);
	if (status != OK)
		http_get_close(h);
	return status;
}

void
http_get_close(struct http_get *h)
{
	if (h->fd != -1)
		close(h->fd);
	h->fd = -1;
}

static enum status
dial(struct scope *s, struct http_get *h)
{
	const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV, .ai_socktype = SOCK_STREAM };
	const struct timeval wait = { .tv_sec = WAIT_S };
	struct str host = str_of(h->address), port;
	struct addrinfo *found = NULL;
	const char *colon = strrchr(h->address, ':');
	int error = 0;

	if (colon == NULL)
		return fail(s, ERR_INVALID, "--via", "expected ADDRESS:PORT, not %s", h->address);
	port = str_of(colon + 1);
	host = str_part(host, 0, (size_t)(colon - h->address));
	if (host.len > 2 && host.p[0] == '[')
		host = str_part(host, 1, host.len - 1);
	if (getaddrinfo(str_dup(s->arena, host), str_dup(s->arena, port), &hints, &found) != 0)
		return fail(s, ERR_INVALID, "--via", "expected a numeric ADDRESS:PORT, not %s", h->address);
	h->fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (h->fd == -1 || setsockopt(h->fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) == -1 ||
	    setsockopt(h->fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait)) == -1 || connect(h->fd, found->ai_addr, found->ai_addrlen) == -1)
		error = errno;
	freeaddrinfo(found);
	if (error != 0) {
		http_get_close(h);
		return fail(s, ERR_BUSY, "--via", "%s cannot be reached: %s", h->address, strerror(error));
	}
	return OK;
}

static enum status
exchange(struct scope *s, struct http_get *h, const char *target, struct http_answer *out, bool *was_closed)
{
	const char *request = scope_printf(s, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, h->host);
	size_t cap = HEAD_MAX, have = 0, head_len, length = 0, whole = 0;
	char *bytes = arena_alloc(s->arena, cap);
	ssize_t n = 1;

	*was_closed = !send_all(h->fd, request, strlen(request));
	while (!*was_closed && (whole == 0 || have < whole)) {
		if (have == cap && whole == 0)
			return unreadable(s, target);
		n = recv(h->fd, bytes + have, cap - have, 0);
		if (n <= 0)
			break;
		have += (size_t)n;
		if (whole != 0 || (head_len = str_find_str((struct str){ bytes, have }, STR("\r\n\r\n"))) == have)
			continue;
		TRY(read_head(s, out, (struct str){ bytes, head_len }, &length));
		if (length > HTTP_GET_MAX)
			return unreadable(s, target);
		whole = head_len + 4 + length;
		bytes = arena_grow(s->arena, bytes, cap, whole > cap ? whole : cap);
		cap = whole > cap ? whole : cap;
		out->body = (struct str){ bytes + head_len + 4, length };
	}
	*was_closed = *was_closed || (n == 0 && have == 0) || (n == -1 && errno == ECONNRESET && have == 0);
	if (*was_closed || n == 0)
		return fail(s, ERR_BUSY, NULL, "the site closed the connection while it was asked for %s", target);
	if (n == -1)
		return fail(s, ERR_BUSY, NULL, "the site did not answer %s: %s", target, strerror(errno));
	return have == whole ? OK : unreadable(s, target);
}

static bool
send_all(int fd, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = send(fd, bytes, len, MSG_NOSIGNAL);

		if (n <= 0)
			return false;
		bytes += n;
		len -= (size_t)n;
	}
	return true;
}

static enum status
read_head(struct scope *s, struct http_answer *out, struct str head, size_t *length)
{
	struct str line, name;
	int64_t n = 0;
	size_t colon;

	*out = (struct http_answer){ 0 };
	if (!str_next(&head, '\n', &line) || !str_starts(line, "HTTP/1.1 ") || !parse_int64(str_part(line, 9, 12), &n))
		return fail(s, ERR_INVALID, NULL, "what answers there does not speak HTTP/1.1");
	out->status = (int)n;
	n = 0;
	while (str_next(&head, '\n', &line)) {
		colon = str_find(line, ':');
		name = str_part(line, 0, colon);
		line = str_trim(str_part(line, colon < line.len ? colon + 1 : line.len, line.len));
		if (str_is_nocase(name, "content-length") && (!parse_int64(line, &n) || n < 0))
			return fail(s, ERR_INVALID, NULL, "the site's Content-Length is no number");
		if (str_is_nocase(name, "location"))
			out->location = str_dup(s->arena, line);
		if (str_is_nocase(name, "link"))
			out->link = str_dup(s->arena, line);
	}
	*length = (size_t)n;
	return OK;
}

static enum status
unreadable(struct scope *s, const char *target)
{
	return fail(s, ERR_INVALID, NULL, "the site's answer to %s cannot be read", target);
}
