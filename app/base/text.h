/* text.h - borrowed strings, growing buffers, and the parsing of small values. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"

/* Borrowed bytes, not NUL-terminated. {NULL, 0} is the empty string. */
struct str {
	const char	*p;
	size_t		 len;
};
#define STR(literal) ((struct str){ "" literal, sizeof(literal) - 1 })
#define STR_FMT(s) (int)(s).len, (s).p ? (s).p : ""	/* for "%.*s" */

struct str	 str_of(const char *);			/* NULL gives the empty string */
struct str	 str_part(struct str, size_t from, size_t to);	/* clamped */
bool		 str_eq(struct str, struct str);
bool		 str_is(struct str, const char *);
bool		 str_is_nocase(struct str, const char *);	/* ASCII only */
bool		 str_starts(struct str, const char *prefix);
bool		 str_ends(struct str, const char *suffix);
struct str	 str_trim(struct str);			/* space, tab, CR, LF */
/* Index of the byte or needle, or len if absent. */
size_t		 str_find(struct str, char);
size_t		 str_find_str(struct str, struct str needle);
/* Cut the next piece before `sep` off *rest; false when nothing is left. "a,,b" gives a, "", b; "" gives nothing; "a," only a. */
bool		 str_next(struct str *rest, char sep, struct str *piece);
char		*str_dup(struct arena *, struct str);	/* NUL-terminated */

/* A buffer that grows in an arena; always NUL-terminated once something was added or buf_init was called. */
struct buf {
	struct arena	*arena;
	char		*p;
	size_t		 len, cap;
};
void		 buf_init(struct buf *, struct arena *);
void		 buf_add(struct buf *, const void *, size_t);
void		 buf_str(struct buf *, struct str);
void		 buf_text(struct buf *, const char *);	/* NULL adds nothing */
void		 buf_char(struct buf *, char);
void		 buf_printf(struct buf *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
struct str	 buf_as_str(const struct buf *);

/* Whole-string decimal, optional '-', no '+', no blanks; false on overflow or anything else. */
bool		 parse_int64(struct str, int64_t *);

bool		 utf8_valid(struct str);		/* strict: no surrogates, no overlong forms, <= U+10FFFF */
size_t		 utf8_ascii_prefix(struct str);		/* bytes before the first one above 0x7F, or len */
/* Decode at *i (which must be < len) and advance; -1 and one byte forward where the bytes are not UTF-8. */
int32_t		 utf8_next(struct str, size_t *i);
void		 buf_utf8(struct buf *, int32_t codepoint);	/* a surrogate or > U+10FFFF asserts */
/* The longest prefix of at most `max` bytes that ends at a character border. */
struct str	 utf8_cut(struct str, size_t max);
/* Characters (code points) in valid UTF-8. */
size_t		 utf8_count(struct str);
/* True if any C0 control (but TAB, LF, CR when `allow_lines`), DEL, or a character XML 1.0 forbids (U+FFFE, U+FFFF) is inside. */
bool		 text_has_control(struct str, bool allow_lines);

#endif
