/* input.h - members of a JSON body, checked one by one; every mistake is noted, none stops the rest. */
#ifndef ACTIONS_INPUT_H
#define ACTIONS_INPUT_H
#include <jansson.h>
#include "base/base.h"

struct input {
	struct scope	*s;
	json_t		*object;	/* borrowed; NULL counts as {} */
	const char	*prefix;	/* of field names in errors: "" or "seo." */
	enum status	 status;	/* of the first mistake; OK so far */
};
/* `body` must be an object: noted otherwise. */
struct input	 input_of(struct scope *, json_t *body, const char *prefix);
/* Note a mistake in one member. */
void		 input_bad(struct input *, enum status, const char *name, const char *fmt, ...) PRINTF_LIKE(4, 5);
/* Every member that is not named (NULL-terminated) is ERR_UNKNOWN_FIELD. */
void		 input_known(struct input *, const char *const *names);

bool		 input_has(const struct input *, const char *name);	/* present and not null */
/* Text in the scope, or NULL when absent or null. `max` counts characters. Control characters are refused; with `lines` TAB, LF and CR are not. */
const char	*input_text(struct input *, const char *name, size_t max, bool lines);
/* As input_text, and noted when absent or blank. */
const char	*input_required(struct input *, const char *name, size_t max);
bool		 input_bool(struct input *, const char *name);		/* false when absent */
/* RFC 3339 with an offset; 0 when absent. */
int64_t		 input_time(struct input *, const char *name);
/* An object without NUL in its texts, as compact JSON with sorted names, at most `max` bytes; "{}" when absent. */
const char	*input_object(struct input *, const char *name, size_t max);
/* Names of an array of texts, NULL-terminated, doubles kept; NULL when absent. At most `max` of at most `max_text` characters. */
const char	**input_texts(struct input *, const char *name, size_t max, size_t max_text);

/* Compact JSON with sorted names, in the scope. */
const char	*input_dump(struct scope *, const json_t *);
/* RFC 7396. Takes over nothing; the result is a new reference. `depth` of the patch is bounded by its reader. */
json_t		*input_merge(const json_t *target, const json_t *patch);
#endif
