/* url.h - the one normal form of a path, for requests, slugs, redirect sources and imports. */
#ifndef CORE_URL_H
#define CORE_URL_H
#include "base/base.h"

#define URL_PATH_MAX 2000	/* bytes of a stored path */

/* A path in stored form: ASCII, begins with '/', no '//' and no dot segments, no trailing slash (but "/" itself),
 * pchar as is, everything else percent-encoded in upper-case hex, NFC where it is UTF-8. */
struct url_form {
	const char	*path;
	const char	*fold;		/* NFC of the full case fold of the decoded path: two spellings of one address share it */
	bool		 had_slash;	/* the input ended in '/' and `path` is not "/" */
	bool		 is_exact;	/* input path, without its trailing slash, was byte for byte `path` */
};

/* `raw` is the path of a request target (no query, no fragment). ERR_MALFORMED_REQUEST for NUL, control bytes (raw or
 * encoded), or a path that does not begin with '/'; ERR_URI_TOO_LONG over URL_PATH_MAX. A '%' that is no escape is
 * encoded as %25. '\' is encoded, never a separator. An empty segment goes before dot segments are looked at: "/a//../b" is "/b". */
enum status	 url_form(struct scope *, struct url_form *out, struct str raw) MUST_USE;

/* What a person typed or an import held: "path", "/path?q#f", or an absolute URL of `origin` (scheme ignored, host compared
 * as browsers read it). *query is the query without '?', encoded where RFC 3986 asks for it, or empty; a fragment is dropped. ERR_INVALID for
 * URLs elsewhere and for everything url_form refuses. */
enum status	 url_form_own(struct scope *, struct url_form *out, struct str *query, struct str text, const char *origin,
		    const char *field) MUST_USE;

/* A path segment from text: NFC, pchar kept, the rest encoded, '/' and '%' too. */
const char	*url_segment(struct scope *, struct str text);
/* The text of a stored segment or path, for showing to people. What would mean another address when typed (%2F, %25, ...), blanks,
 * controls and characters that cannot be seen stay encoded, so url_form takes it back to the same path. */
const char	*url_decode_for_people(struct scope *, struct str path);

/* An absolute http(s) URL for canonical overrides, redirect targets and links: parsed leniently as browsers do
 * (WHATWG: outer blanks, tab and newlines dropped, '\' as '/'), then printed strictly in ASCII (IDNA host by ICU, port
 * dropped when default; dot segments resolved; escapes as they came; what RFC 3986 forbids is encoded, so `|` and a stray '%' too, which
 * browsers leave). ERR_INVALID for other schemes, credentials, no host, and more than URL_PATH_MAX bytes. */
enum status	 url_absolute(struct scope *, const char **out, struct str text, const char *field) MUST_USE;

/* `origin` + path, with the site's trailing slash policy (`always_slash`), never for "/" or a last segment with a dot
 * extension (1 to 5 letters or digits, not digits alone). This is the only maker of public addresses. `query` may be empty; what may
 * not stand in a URL is encoded, so nothing can break out of a header line. */
const char	*url_public(struct scope *, const char *origin, const char *path, bool always_slash, struct str query);

/* Query strings. Pairs in order; percent-decoding with '+' as blank. */
struct url_pair {
	struct str	 name, value;	/* decoded, in the scope */
	struct str	 raw;		/* "name=value" as it came */
};
/* At most 100 pairs are read; more and empty ones are ignored. A bad escape is kept as it stands. Always succeeds. */
void		 url_query(struct scope *, struct str query, struct url_pair **pairs, size_t *count);

/* The one form of a pair, for sources and requests alike: escapes and '+' decoded, NFC where it is UTF-8, encoded again in upper-case hex; "a=" is
 * "a". The form of a form is itself. */
struct str	 url_pair_form(struct scope *, struct str pair);
/* All pairs of a query in that form, each once, in the order of their bytes, joined by '&'; NULL when there is none. False: more than `max`. */
bool		 url_pairs_form(struct scope *, const char **out, struct str query, size_t max);

#endif
