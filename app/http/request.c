/* request.c - what handlers ask of a request and set on a response. */
#include "http/exchange.h"

static const char *const methods[METHOD_COUNT] = {
	[METHOD_GET] = "GET", [METHOD_HEAD] = "HEAD", [METHOD_POST] = "POST", [METHOD_PUT] = "PUT",
	[METHOD_PATCH] = "PATCH", [METHOD_DELETE] = "DELETE", [METHOD_OPTIONS] = "OPTIONS",
};

const char *
method_name(enum method m)
{
	assert(m < METHOD_COUNT);
	return methods[m];
}

struct str
request_header(const struct request *r, const char *name)
{
	for (size_t i = 0; i < r->header_count; i++)
		if (str_is_nocase(r->headers[i].name, name))
			return r->headers[i].value;
	return (struct str){ NULL, 0 };
}

size_t
request_header_count(const struct request *r, const char *name)
{
	size_t n = 0;

	for (size_t i = 0; i < r->header_count; i++)
		if (str_is_nocase(r->headers[i].name, name))
			n++;
	return n;
}

void
response_header(struct response *r, const char *name, const char *value)
{
	assert(r->header_count < RESPONSE_HEADERS);
	r->headers[r->header_count].name = name;
	r->headers[r->header_count].value = value;
	r->header_count++;
}
