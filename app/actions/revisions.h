/* revisions.h - what people wrote, as it was: list, read, compare, bring back. For whoever may see drafts of the resource; ERR_NOT_FOUND for
 * others. */
#ifndef ACTIONS_REVISIONS_H
#define ACTIONS_REVISIONS_H
#include <jansson.h>
#include "actions/unit.h"
#include "core/resource.h"

/* { items: [{ number, title, editor, created_at, is_head, is_live, is_scheduled }], next }, the newest first. */
enum status	 revision_list(struct scope *, struct db *, const struct principal *, enum kind, const char *id, const char *limit,
		    const char *cursor, struct str *json, const char **next_cursor) MUST_USE;
/* { number, editor, created_at, is_..., document: the resource as this revision says, with content and html }. */
enum status	 revision_read(struct scope *, struct db *, const struct site *, const struct principal *, enum kind, const char *id,
		    const char *number, struct str *json) MUST_USE;
/* From `against` (NULL = the revision before) to `number`: { from, to, fields: { name: { from, to } }, lines: [{ op: same removed added, text
 * }], is_whole }. Equal lines far from any change are told as { op: "skipped", count }. After 50,000 lines the rest is { op: "omitted", count }. */
enum status	 revision_diff(struct scope *, struct db *, const struct principal *, enum kind, const char *id, const char *number,
		    const char *against, struct str *json) MUST_USE;
/* A new head revision with the text and all members of an old one; nothing public changes. If-Match is honoured when given. The head itself
 * again changes nothing. */
enum status	 revision_restore_prepare(struct scope *, struct db *, struct unit *, enum kind, const char *id, const char *number,
		    json_t *body) MUST_USE;
#endif
