/* prepare.c - validators, coding and head of a response. */
#include "http/respond.h"
#include "base/clock.h"
#include "base/compress.h"
#include "base/hash.h"
#include "http/parse.h"

#define COMPRESS_MIN 256	/* below that the fields cost what compression saves */

static const char	*value_of(const struct response *, const char *name);
static void		 add_validators(struct scope *, const struct response *, enum coding, struct prepared *);
static enum coding	 encode(struct scope *, const struct request *, struct response *);
static bool		 is_text(const char *type);
static void		 add_defaults(const struct request *, enum route_kind, struct response *, bool is_negotiated);
static struct str	 build_head(struct scope *, const struct response *, int status, const char *etag, enum coding);
static void		 add_field(struct buf *, const char *name, const char *value);

/* What a 304 repeats of the 200 it stands for (RFC 9110 15.4.5), and what describes the exchange rather than the body. */
static const char *const kept_by_304[] = { "Cache-Control", "Vary", "Expires", "Content-Location", "X-Robots-Tag", "X-Content-Type-Options" };

void
respond_prepare(struct scope *s, const struct request *request, enum route_kind kind, struct response *r, struct prepared *out)
{
	enum coding coding = CODING_IDENTITY;
	bool is_negotiated = kind == ROUTE_PUBLIC && r->type != NULL && r->body.len >= COMPRESS_MIN && is_text(r->type) &&
	    value_of(r, "Content-Encoding") == NULL;

	struct response plain = *r;

	*out = (struct prepared){ 0 };
	if (is_negotiated)
		coding = encode(s, request, r);
	/* The tag names bytes and coding: it is made of the bytes before coding, so that a page keeps it when a compressor changes. */
	if (r->status == 200 && (kind == ROUTE_PUBLIC || value_of(r, "ETag") != NULL))
		add_validators(s, &plain, coding, out);
	add_defaults(request, kind, r, is_negotiated);
	out->full = wire_new(r->status, build_head(s, r, r->status, out->etag, coding), r->body);
	if (out->etag[0] != '\0' || out->modified_at != 0) {
		out->not_modified = wire_new(304, build_head(s, r, 304, out->etag, coding), (struct str){ NULL, 0 });
		out->is_hit = respond_is_fresh(request, out->etag, out->modified_at);
	}
}

bool
respond_is_fresh(const struct request *r, const char *etag, int64_t modified_at)
{
	struct str none_match, since;
	int64_t at;

	if (r->method != METHOD_GET && r->method != METHOD_HEAD)
		return false;
	none_match = request_header(r, "if-none-match");
	if (none_match.p != NULL)
		return etag[0] != '\0' && etag_none_match_hit(none_match, etag);
	since = request_header(r, "if-modified-since");
	return since.p != NULL && modified_at != 0 && clock_parse_http_date(since, &at) && modified_at / 1000 <= at / 1000;
}

static const char *
value_of(const struct response *r, const char *name)
{
	for (size_t i = 0; i < r->header_count; i++)
		if (strcasecmp(r->headers[i].name, name) == 0)
			return r->headers[i].value;
	return NULL;
}

static void
add_validators(struct scope *s, const struct response *r, enum coding coding, struct prepared *out)
{
	const char *given = value_of(r, "ETag"), *modified = value_of(r, "Last-Modified");
	unsigned char digest[SHA256_LEN];

	if (given != NULL)
		snprintf(out->etag, sizeof(out->etag), "%s", given);
	else {
		sha256_of(r->body, digest);
		snprintf(out->etag, sizeof(out->etag), "\"%s%s%s\"", base64url(s, digest, 15), coding == CODING_IDENTITY ? "" : "-",
		    coding == CODING_IDENTITY ? "" : coding_name(coding));
	}
	if (modified != NULL && !clock_parse_http_date(str_of(modified), &out->modified_at))
		out->modified_at = 0;
}

/* The body in the coding the client likes best; as it is when that does not make it smaller. */
static enum coding
encode(struct scope *s, const struct request *request, struct response *r)
{
	enum coding coding = coding_negotiate(request_header(request, "accept-encoding"));
	struct str smaller;

	if (coding == CODING_IDENTITY)
		return coding;
	compress_buf(s, coding, r->body, &smaller);
	if (smaller.len >= r->body.len)
		return CODING_IDENTITY;
	r->body = smaller;
	return coding;
}

static bool
is_text(const char *type)
{
	return strncmp(type, "text/", 5) == 0 || strncmp(type, "application/json", 16) == 0 || strstr(type, "+json") != NULL ||
	    strncmp(type, "application/xml", 15) == 0 || strstr(type, "+xml") != NULL;
}

static void
add_defaults(const struct request *request, enum route_kind kind, struct response *r, bool is_negotiated)
{
	if (value_of(r, "Cache-Control") == NULL) {
		if (kind == ROUTE_API)
			response_header(r, "Cache-Control", "private, no-store");
		else if (kind == ROUTE_ANY_HOST || r->status >= 500)
			response_header(r, "Cache-Control", "no-store");
		else
			response_header(r, "Cache-Control", r->status < 400 ? "public, max-age=60" : "public, max-age=10");
	}
	if (is_negotiated && value_of(r, "Vary") == NULL)
		response_header(r, "Vary", "Accept-Encoding");
	response_header(r, "X-Content-Type-Options", "nosniff");
	if (r->type != NULL && strncmp(r->type, "text/html", 9) == 0 && value_of(r, "Content-Security-Policy") == NULL) {
		response_header(r, "Content-Security-Policy", "default-src 'self'; img-src * data:; media-src *; object-src 'none'; "
		    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'");
		response_header(r, "Referrer-Policy", "strict-origin-when-cross-origin");
	}
}

static struct str
build_head(struct scope *s, const struct response *r, int status, const char *etag, enum coding coding)
{
	bool has_body = status != 304 && status != 204;
	struct buf b;

	buf_init(&b, s->arena);
	buf_printf(&b, "HTTP/1.1 %d %s\r\n", status, status_reason(status));
	if (has_body) {
		if (r->type != NULL)
			add_field(&b, "Content-Type", r->type);
		buf_printf(&b, "Content-Length: %zu\r\n", r->body.len);
		if (coding != CODING_IDENTITY)
			add_field(&b, "Content-Encoding", coding_name(coding));
	}
	if (etag[0] != '\0')
		add_field(&b, "ETag", etag);
	for (size_t i = 0; i < r->header_count; i++) {
		bool is_wanted = status != 304;

		if (strcasecmp(r->headers[i].name, "ETag") == 0 && etag[0] != '\0')
			continue;
		for (size_t k = 0; k < COUNT(kept_by_304) && !is_wanted; k++)
			is_wanted = strcasecmp(r->headers[i].name, kept_by_304[k]) == 0;
		if (is_wanted)
			add_field(&b, r->headers[i].name, r->headers[i].value);
	}
	return buf_as_str(&b);
}

/* A value that could end its line would let whoever chose it write the rest of the answer: such a field is left out. */
static void
add_field(struct buf *b, const char *name, const char *value)
{
	if (strpbrk(value, "\r\n") == NULL)
		buf_printf(b, "%s: %s\r\n", name, value);
}
