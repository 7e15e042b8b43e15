/* idempotency.h - the pure part of a retry: the key, the request hash, the rules per route. */
#ifndef CORE_IDEMPOTENCY_H
#define CORE_IDEMPOTENCY_H
#include <jansson.h>
#include "base/base.h"
#include "core/permission.h"

#define KEY_MIN 16
#define KEY_MAX 64

enum carrier { CARRIER_REQUIRED, CARRIER_OPTIONAL, CARRIER_EXEMPT };
enum retention { RETENTION_FORM, RETENTION_WRITE, RETENTION_STATE };

enum write_id {
#define WRITE(id, ...) WRITE_##id,
#include "core/writes.def"
#undef WRITE
	WRITE_COUNT
};

struct write_rule {
	const char	*method, *route;	/* route template, part of the key's scope */
	enum carrier	 carrier;
	enum retention	 retention;
	enum action	 action;
	const char	*reason;
};
const struct write_rule *write_rule(enum write_id);

/* The value(s) of the Idempotency-Key field: a bare key or an RFC 8941 string; `count` field lines.
 * No line at all: OK and *out NULL. ERR_KEY_INVALID for more than one line, a comma, parameters, other types, wrong length or characters, the nil UUID. */
enum status	 key_from_header(struct scope *, const char **out, const struct str *values, size_t count) MUST_USE;
enum status	 key_check(struct scope *, struct str key) MUST_USE;

/* Strict JSON (RFC 8259 UTF-8): ERR_MALFORMED_JSON for a BOM, raw NUL, duplicate names, lone surrogates, depth over 32,
 * trailing bytes, names with NUL. *value has native numbers; *canonical is the form that is hashed: members sorted by bytes, no blanks, strings
 * re-escaped minimally, numbers as exact decimals (1 = 1.0 = 1e0; no doubles involved: digits without zeros at either end, then
 * "eN" for a power of ten). In *value integers beyond 64 bits and fractions are the nearest double; a number no double can hold (1e400)
 * is ERR_MALFORMED_JSON. A string value may hold NUL (\u0000): look at json_string_length or refuse it by text_has_control. `without` names a top-level member left out of the canonical form and of *value
 * (the key carrier), its string value is returned in *taken (NULL if absent; not a string: ERR_KEY_INVALID). The json_t is
 * owned by the caller: json_decref it. An empty body gives ERR_MALFORMED_JSON. */
enum status	 json_read(struct scope *, json_t **value, struct str *canonical, struct str body, const char *without,
		    const char **taken) MUST_USE;

/* What request hash v1 covers. Empty strings where a part is absent. */
struct request_print {
	const char	*method, *route;
	struct str	 path_params;	/* "id=..." lines, in route order */
	struct str	 query;		/* sorted raw pairs */
	const char	*media;		/* "json", "form", "multipart", "" */
	struct str	 if_match;
	struct str	 body;		/* canonical */
};
#define REQUEST_HASH_VERSION 1
void		 request_hash(struct scope *, char out[65], const struct request_print *);
/* Canonical form of a decoded form: fields without tokens, sorted by name, order kept within a name, line ends as CRLF. */
struct form_field { struct str name, value; };
/* The result is percent-encoded; `without` (may be NULL) names the token field. */
struct str	 form_canonical(struct scope *, const struct form_field *, size_t count, const char *without);

#endif
