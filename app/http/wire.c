#include "http/wire.h"
#include "base/clock.h"

static const char	*date_line(int64_t now);

struct wire *
wire_new(int status, struct str head, struct str body)
{
	struct wire *w = malloc(sizeof(*w) + head.len + body.len);

	if (w == NULL)
		abort();
	*w = (struct wire){ .refs = 1, .status = status, .head_len = head.len, .body_len = body.len };
	memcpy(w->bytes, head.p, head.len);
	if (body.len > 0)
		memcpy(w->bytes + head.len, body.p, body.len);
	return w;
}

struct wire *
wire_hold(struct wire *w)
{
	w->refs++;
	return w;
}

void
wire_drop(struct wire *w)
{
	if (w == NULL)
		return;
	assert(w->refs > 0);
	if (--w->refs == 0)
		free(w);
}

size_t
wire_tail(char out[WIRE_TAIL_MAX], int64_t now, const char *request_id, bool close)
{
	char *p = out;

	p = mempcpy(p, "Date: ", 6);
	p = mempcpy(p, date_line(now), 29);
	p = mempcpy(p, "\r\nX-Request-Id: ", 16);
	p = mempcpy(p, request_id, strnlen(request_id, 64));
	if (close)
		p = mempcpy(p, "\r\nConnection: close", 19);
	p = mempcpy(p, "\r\n\r\n", 4);
	return (size_t)(p - out);
}

const char *
status_reason(int status)
{
	static const struct { int status; const char *reason; } reasons[] = {
		{ 200, "OK" }, { 201, "Created" }, { 202, "Accepted" }, { 204, "No Content" }, { 301, "Moved Permanently" },
		{ 302, "Found" }, { 303, "See Other" }, { 304, "Not Modified" }, { 307, "Temporary Redirect" },
		{ 308, "Permanent Redirect" }, { 400, "Bad Request" }, { 401, "Unauthorized" }, { 403, "Forbidden" },
		{ 404, "Not Found" }, { 405, "Method Not Allowed" }, { 408, "Request Timeout" }, { 409, "Conflict" },
		{ 410, "Gone" }, { 411, "Length Required" }, { 412, "Precondition Failed" }, { 413, "Content Too Large" },
		{ 414, "URI Too Long" }, { 415, "Unsupported Media Type" }, { 421, "Misdirected Request" },
		{ 422, "Unprocessable Content" }, { 428, "Precondition Required" }, { 429, "Too Many Requests" },
		{ 431, "Request Header Fields Too Large" }, { 451, "Unavailable For Legal Reasons" },
		{ 500, "Internal Server Error" }, { 501, "Not Implemented" }, { 503, "Service Unavailable" },
	};

	for (size_t i = 0; i < COUNT(reasons); i++)
		if (reasons[i].status == status)
			return reasons[i].reason;
	return "";
}

/* Formatted once a second in each thread. */
static const char *
date_line(int64_t now)
{
	static _Thread_local char text[CLOCK_TEXT];
	static _Thread_local int64_t second = -1;

	if (now / 1000 != second) {
		second = now / 1000;
		clock_http_date(text, now);
	}
	return text;
}
