/* respond.h - from what a handler left behind to bytes: errors, replayed answers, validators, coding, head. Pure; runs on a reader. */
#ifndef HTTP_RESPOND_H
#define HTTP_RESPOND_H
#include "http/exchange.h"
#include "http/router.h"
#include "http/wire.h"

/* A refusal as problem document (API and probes) or page (public). Replaces what `response` holds. With a snapshot open the page is the
 * theme's; without one, or when that fails, a plain one. */
void		 respond_error(struct scope *, struct exchange *, enum status);
/* `response` from unit->answer: what the first caller got, and what a replay gets again. */
void		 respond_answer(struct scope *, struct exchange *);
/* 204 with Allow. */
void		 respond_options(struct scope *, struct exchange *, const char *allow);
void		 respond_redirect(struct response *, int status, const char *location);

/* What can be sent, and kept. */
struct prepared {
	struct wire	*full;
	struct wire	*not_modified;	/* NULL unless the response is a 200 with a validator */
	bool		 is_hit;	/* the request's conditions ask for not_modified */
	char		 etag[64];
	int64_t		 modified_at;
};
/* Public 200s get an ETag (of bytes and coding), compression as asked for, Vary and Cache-Control; all get the security fields. */
void		 respond_prepare(struct scope *, const struct request *, enum route_kind, struct response *, struct prepared *out);
/* RFC 9110 13.2.2 for GET and HEAD: does If-None-Match, or else If-Modified-Since, make it a 304? */
bool		 respond_is_fresh(const struct request *, const char *etag, int64_t modified_at);

/* A whole response for what the guard refuses before there is a request. */
struct wire	*respond_refusal(struct scope *, enum status, bool is_api);
#endif
