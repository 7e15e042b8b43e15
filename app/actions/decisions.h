/* decisions.h - what people say about a copy of another resource's text, and the report of all copies. See the manual's page on URLs. */
#ifndef ACTIONS_DECISIONS_H
#define ACTIONS_DECISIONS_H
#include <jansson.h>
#include "actions/unit.h"
#include "core/resource.h"

/* { "decision": "distinct", "reason": why } for what is called a copy: it is canonical at its own address and listed again, and no copy of
 * anything while that stands. { "decision": "undo" } takes it back. { "decision": "redirect" } gives the copy up: its addresses lead to the
 * original's, and restoring takes that back; whoever decides must be allowed to delete it. Each leaves an audit entry. What stands already changes nothing;
 * ERR_STATE_CONFLICT for what is nobody's copy. If-Match is honoured when given. */
enum status	 decision_prepare(struct scope *, struct db *, struct unit *, enum kind, const char *id, json_t *body) MUST_USE;
/* { items: [{ copy: { id, kind, title, url }, original: {...}, since }], next }: every live copy, by its original. For whoever may
 * read reports. */
enum status	 decision_report(struct scope *, struct db *, const struct site *, const struct principal *, const char *limit, const char *cursor,
		    struct str *json, const char **next_cursor) MUST_USE;
#endif
