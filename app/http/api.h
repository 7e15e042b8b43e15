/* api.h - what every API request passes through: credentials, limits, permission, key, strict JSON, look-up. */
#ifndef HTTP_API_H
#define HTTP_API_H
#include <jansson.h>
#include "core/idempotency.h"
#include "http/exchange.h"

/* Fills ex->who from the bearer token, the anonymous principal without one, and takes one from their request limit. With `is_required`
 * ERR_UNAUTHENTICATED for the anonymous. */
enum status	 api_enter(struct scope *, struct exchange *, bool is_required) MUST_USE;

/* Checks and prepares one write: unit->apply and unit->input. `body` is borrowed; NULL when there was none. */
typedef enum status api_prepare(struct scope *, struct exchange *, struct unit *, json_t *body);
/* The whole way of a write up to the writer. OK: ex->unit is to be written, or its answer is a replay. `has_body` false: the request may come
 * without one. */
enum status	 api_write(struct scope *, struct exchange *, enum write_id, bool has_body, api_prepare *) MUST_USE;

/* The same for a route that takes other media too: `media` ends with NULL and has "multipart" for multipart/form-data (its parts are in ex->parts)
 * or a type such as "text/csv" (the bytes are in ex->request->body). JSON is taken as ever; prepare gets a NULL body for anything else. */
enum status	 api_write_media(struct scope *, struct exchange *, enum write_id, const char *const *media, api_prepare *) MUST_USE;

/* RFC 7240: is `respond-async` among the preferences? */
bool		 api_prefers_async(struct scope *, const struct request *);

/* Of the resources that a write is about: "/api/v1/articles/{id}", the collection says it. */
enum kind	 api_kind(const struct unit *);

/* 200 with JSON; etag may be NULL. */
void		 api_respond(struct exchange *, struct str json, const char *etag);
/* Link to the next page of a list: `path` below /api/v1/, parameters up to a NULL name; a NULL value is left out. */
struct api_query { const char *name, *value; };
const char	*api_next_link(struct scope *, const struct exchange *, const char *path, const struct api_query *);
/* First value of a query parameter, decoded; NULL when absent. */
const char	*api_parameter(struct scope *, const struct exchange *, const char *name);
#endif
