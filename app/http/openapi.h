/* openapi.h - the published contract. */
#ifndef HTTP_OPENAPI_H
#define HTTP_OPENAPI_H
#include "base/base.h"
#include "core/site.h"

/* OpenAPI 3.1 as compact JSON, the same for the same site. `dir` has the files that describe operations, by resource. ERR_INTERNAL names what does not fit:
 * a route of the API that nobody described, a description without a route, an unknown schema, parameter, error or permission. */
enum status	 openapi_document(struct scope *, const struct site *, const char *dir, struct str *out) MUST_USE;

#endif
