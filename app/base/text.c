/* text.c - borrowed strings, growing buffers, decimal numbers. */
#include "base/text.h"
#include "base/base.h"

#define BUF_FIRST	((size_t)240)

static void	buf_reserve(struct buf *b, size_t more);
static void	buf_vprintf(struct buf *b, const char *fmt, va_list ap) __attribute__((format(printf, 2, 0)));

struct str
str_of(const char *text)
{
	return (struct str){ text, text != NULL ? strlen(text) : 0 };
}

struct str
str_part(struct str s, size_t from, size_t to)
{
	if (to > s.len)
		to = s.len;
	if (from >= to)
		return (struct str){ NULL, 0 };
	return (struct str){ s.p + from, to - from };
}

bool
str_eq(struct str a, struct str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

bool
str_is(struct str s, const char *text)
{
	return str_eq(s, str_of(text));
}

bool
str_is_nocase(struct str s, const char *text)
{
	size_t	 i;

	for (i = 0; i < s.len; i++) {
		unsigned char	 a = (unsigned char)s.p[i], b = (unsigned char)text[i];

		if (a >= 'A' && a <= 'Z')
			a |= 0x20;
		if (b >= 'A' && b <= 'Z')
			b |= 0x20;
		if (a != b || b == '\0')
			return false;
	}
	return text[i] == '\0';
}

bool
str_starts(struct str s, const char *prefix)
{
	size_t	 n = strlen(prefix);

	return s.len >= n && (n == 0 || memcmp(s.p, prefix, n) == 0);
}

bool
str_ends(struct str s, const char *suffix)
{
	size_t	 n = strlen(suffix);

	return s.len >= n && (n == 0 || memcmp(s.p + s.len - n, suffix, n) == 0);
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct str
str_trim(struct str s)
{
	while (s.len > 0 && is_blank(s.p[0])) {
		s.p++;
		s.len--;
	}
	while (s.len > 0 && is_blank(s.p[s.len - 1]))
		s.len--;
	return s;
}

size_t
str_find(struct str s, char c)
{
	const char	*hit = s.len > 0 ? memchr(s.p, c, s.len) : NULL;

	return hit != NULL ? (size_t)(hit - s.p) : s.len;
}

size_t
str_find_str(struct str s, struct str needle)
{
	const char	*hit;

	if (needle.len == 0)
		return 0;
	if (needle.len > s.len)
		return s.len;
	hit = memmem(s.p, s.len, needle.p, needle.len);
	return hit != NULL ? (size_t)(hit - s.p) : s.len;
}

bool
str_next(struct str *rest, char sep, struct str *piece)
{
	size_t	 at;

	if (rest->len == 0)
		return false;
	at = str_find(*rest, sep);
	*piece = (struct str){ rest->p, at };
	if (at < rest->len)
		at++;
	rest->p += at;
	rest->len -= at;
	return true;
}

char *
str_dup(struct arena *a, struct str s)
{
	return arena_strndup(a, s.p, s.len);
}

void
buf_init(struct buf *b, struct arena *a)
{
	static char	 empty[1];

	*b = (struct buf){ .arena = a, .p = empty };
}

/* Room for `more` bytes and the NUL. A buffer without room still points at the shared empty string. */
static void
buf_reserve(struct buf *b, size_t more)
{
	size_t	 need = b->len + more + 1, cap = b->cap < BUF_FIRST ? BUF_FIRST : b->cap * 2;

	if (need <= b->cap)
		return;
	assert(more < SIZE_MAX / 4 && b->len < SIZE_MAX / 4);
	if (cap < need)
		cap = need;
	b->p = arena_grow(b->arena, b->cap == 0 ? NULL : b->p, b->cap, cap);
	b->cap = cap;
}

void
buf_add(struct buf *b, const void *bytes, size_t n)
{
	if (n == 0)
		return;
	buf_reserve(b, n);
	memcpy(b->p + b->len, bytes, n);
	b->len += n;
	b->p[b->len] = '\0';
}

void
buf_str(struct buf *b, struct str s)
{
	buf_add(b, s.p, s.len);
}

void
buf_text(struct buf *b, const char *text)
{
	if (text != NULL)
		buf_add(b, text, strlen(text));
}

void
buf_char(struct buf *b, char c)
{
	if (b->len + 2 > b->cap)
		buf_reserve(b, 1);
	b->p[b->len++] = c;
	b->p[b->len] = '\0';
}

void
buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list	 ap;

	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

static void
buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list	 again;
	size_t	 room;
	int	 len;

	buf_reserve(b, 64);
	room = b->cap - b->len;
	va_copy(again, ap);
	len = vsnprintf(b->p + b->len, room, fmt, ap);
	assert(len >= 0);
	if ((size_t)len >= room) {
		/* Out before growing: what was written so far ends at the NUL that vsnprintf put. */
		buf_reserve(b, (size_t)len);
		vsnprintf(b->p + b->len, (size_t)len + 1, fmt, again);
	}
	va_end(again);
	b->len += (size_t)len;
}

struct str
buf_as_str(const struct buf *b)
{
	return (struct str){ b->p, b->len };
}

bool
parse_int64(struct str s, int64_t *out)
{
	bool	 negative = s.len > 0 && s.p[0] == '-';
	int64_t	 value = 0;		/* kept negative, as INT64_MIN has no positive twin */
	size_t	 i = negative ? 1 : 0;

	if (i == s.len)
		return false;
	for (; i < s.len; i++) {
		int	 digit = s.p[i] - '0';

		if (digit < 0 || digit > 9)
			return false;
		if (__builtin_mul_overflow(value, 10, &value) || __builtin_sub_overflow(value, digit, &value))
			return false;
	}
	if (!negative && value == INT64_MIN)
		return false;
	*out = negative ? value : -value;
	return true;
}
