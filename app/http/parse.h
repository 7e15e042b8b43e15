/* parse.h - request bodies and fields: forms, multipart, cookies, media types, conditional headers. */
#ifndef HTTP_PARSE_H
#define HTTP_PARSE_H
#include "base/base.h"
#include "core/idempotency.h"
#include "http/exchange.h"

/* application/x-www-form-urlencoded: at most 1000 fields, else ERR_TOO_LARGE. Values must be UTF-8 without NUL: ERR_MALFORMED_REQUEST. */
enum status	 parse_form(struct scope *, struct str body, struct form_field **, size_t *count) MUST_USE;

struct part { struct str name, file_name, type, content; bool is_file; };
/* multipart/form-data (RFC 7578), boundary quoted or not, parameters in any order; at most 100 parts, 16 header lines and 8 kB a part. */
enum status	 parse_multipart(struct scope *, struct str content_type, struct str body, struct part **, size_t *count) MUST_USE;

/* RFC 6265 5.4: value of the first cookie of that exact name, quotes and '=' in the value kept; {NULL,0} when absent. */
struct str	 parse_cookie(const struct request *, const char *name);

/* "text/html; charset=utf-8": essence lower-cased into the scope; false if it is no media type. */
bool		 parse_media_type(struct scope *, struct str value, const char **essence, struct str *charset);

/* RFC 9110 13.1.2 weak comparison of one ETag with an If-None-Match list ("*" matches). */
bool		 etag_none_match_hit(struct str if_none_match, const char *etag);
/* RFC 9110 13.1.1 strong comparison; a weak tag never matches; "*" matches. */
bool		 etag_match(struct str if_match, const char *etag);
#endif
