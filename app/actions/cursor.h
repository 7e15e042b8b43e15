/* cursor.h - how lists go on: the signed place, the server's key that signs, and how many at once. */
#ifndef ACTIONS_CURSOR_H
#define ACTIONS_CURSOR_H
#include "base/base.h"

/* DATA/server.key: 32 random bytes, made (0600) by whoever needs it first; several at once end with the same. Kept for the process. */
enum status	 server_key_open(struct scope *, const char *data_dir) MUST_USE;
/* The key; asserts that it was opened. Never log it. */
struct str	 server_key(void);

#define LIST_LIMIT_MAX 100
/* The parameter `limit` of a list: 1 to LIST_LIMIT_MAX, 20 when absent (NULL). ERR_INVALID. */
enum status	 list_limit(struct scope *, int64_t *out, const char *text) MUST_USE;

struct cursor { int64_t at, id; };
/* Bound to `list`: whatever says which list, filters and sort it belongs to. */
const char	*cursor_text(struct scope *, const char *list, struct cursor);
/* ERR_CURSOR for anything that cursor_text did not make for this list with this key. */
enum status	 cursor_parse(struct scope *, struct cursor *out, const char *list, const char *text) MUST_USE;

/* The same for a list whose places are texts. */
const char	*cursor_key_text(struct scope *, const char *list, struct str at);
enum status	 cursor_key_parse(struct scope *, struct str *at, const char *list, const char *text) MUST_USE;
#endif
