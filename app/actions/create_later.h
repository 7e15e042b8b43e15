/* create_later.h - an article or page whose sender does not wait for it (RFC 7240, respond-async). */
#ifndef ACTIONS_CREATE_LATER_H
#define ACTIONS_CREATE_LATER_H
#include <jansson.h>
#include "actions/unit.h"
#include "base/config.h"
#include "core/resource.h"

/* As resource_create_prepare, with the same refusals; but the writer only stores what is to be made, and jobs makes it. */
enum status	 create_later_prepare(struct scope *, struct db *, const struct config *, struct unit *, enum kind, json_t *body) MUST_USE;
#endif
