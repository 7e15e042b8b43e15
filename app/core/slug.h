/* slug.h - the last segment of a path: made from a title, or checked as given. */
#ifndef CORE_SLUG_H
#define CORE_SLUG_H
#include "base/base.h"

#define SLUG_MAX 200		/* bytes of UTF-8, before percent-encoding */

enum slug_style { SLUG_UNICODE, SLUG_ASCII };

/* NFC, lower case, letters and digits of any script joined by '-' (or transliterated to a-z 0-9), cut at SLUG_MAX at a
 * character border, never ending in '-'. May come out empty: the caller then uses kind and short id. */
enum status	 slug_from_title(struct scope *, const char **out, struct str title, enum slug_style) MUST_USE;
/* A slug somebody gave: normalised the same way (so "Hello World" and a slug differ only in form), but ERR_INVALID when
 * empty, too long, or when it holds '/', control characters or nothing but punctuation. */
enum status	 slug_given(struct scope *, const char **out, struct str given, const char *field) MUST_USE;
/* "hello", 2 -> "hello-2", cut so that it still fits SLUG_MAX. */
const char	*slug_numbered(struct scope *, const char *slug, int n);

#endif
