/* slug.c - the last segment of a path: made from a title, or checked as given. */
#include "core/slug.h"
#include "base/unicode.h"

static enum status	words_join(struct scope *, struct str *out, struct str text);
static enum status	words_join_ascii(struct scope *, struct str *out, struct str text);
static bool		is_dropped(int32_t codepoint);
static bool		is_mark_like(int32_t codepoint);
static bool		is_apostrophe(int32_t codepoint);
static const char	*cut(struct scope *, struct str slug, size_t max);

enum status
slug_from_title(struct scope *s, const char **out, struct str title, enum slug_style style)
{
	struct str	slug;

	if (!utf8_valid(title))
		return fail(s, ERR_INVALID, "title", "is not UTF-8");
	if (style == SLUG_ASCII)
		TRY(words_join_ascii(s, &slug, title));
	else
		TRY(words_join(s, &slug, title));
	*out = cut(s, slug, SLUG_MAX);
	return OK;
}

enum status
slug_given(struct scope *s, const char **out, struct str given, const char *field)
{
	struct str	slug;

	given = str_trim(given);
	if (given.len == 0)
		return fail(s, ERR_INVALID, field, "is empty");
	if (given.len > (size_t)SLUG_MAX * 8)
		return fail(s, ERR_INVALID, field, "is longer than %d bytes", SLUG_MAX);
	if (!utf8_valid(given))
		return fail(s, ERR_INVALID, field, "is not UTF-8");
	if (text_has_control(given, false))
		return fail(s, ERR_INVALID, field, "has a control character");
	if (str_find(given, '/') < given.len)
		return fail(s, ERR_INVALID, field, "must not hold '/'");
	TRY(words_join(s, &slug, given));
	if (slug.len == 0)
		return fail(s, ERR_INVALID, field, "has neither letter nor digit");
	if (slug.len > SLUG_MAX)
		return fail(s, ERR_INVALID, field, "is longer than %d bytes", SLUG_MAX);
	*out = str_dup(s->arena, slug);
	return OK;
}

const char *
slug_numbered(struct scope *s, const char *slug, int n)
{
	char	number[16];
	int	len = snprintf(number, sizeof(number), "-%d", n);

	return scope_printf(s, "%s%s", cut(s, str_of(slug), SLUG_MAX - (size_t)len), number);
}

/* Words keep their letters of every script; what is between them becomes one '-'. Characters that cannot be seen vanish, or two
 * slugs could look alike and differ. */
static enum status
words_join(struct scope *s, struct str *out, struct str text)
{
	struct buf	buf;
	struct str	lower;
	size_t		i = 0;
	int32_t		c;
	bool		in_word = false;

	TRY(unicode_lower(s, &lower, text));
	buf_init(&buf, s->arena);
	while (i < lower.len) {
		c = utf8_next(lower, &i);
		if (is_dropped(c) || (in_word && is_apostrophe(c)))
			continue;
		if (unicode_is_letter_or_digit(c) && (in_word || !is_mark_like(c))) {
			if (!in_word && buf.len > 0)
				buf_char(&buf, '-');
			buf_utf8(&buf, c);
			in_word = true;
		} else {
			in_word = false;
		}
	}
	/* Dropping a character can bring a letter and an accent together. */
	return unicode_nfc(s, out, buf_as_str(&buf));
}

static enum status
words_join_ascii(struct scope *s, struct str *out, struct str text)
{
	struct buf	buf;
	struct str	ascii;
	size_t		i = 0;
	int32_t		c;
	bool		in_word = false;

	TRY(unicode_to_ascii(s, &ascii, text));
	buf_init(&buf, s->arena);
	while (i < ascii.len) {
		c = utf8_next(ascii, &i);
		if (c >= 'A' && c <= 'Z')
			c += 'a' - 'A';
		if (in_word && (is_apostrophe(c) || c == '"'))
			continue;
		if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
			if (!in_word && buf.len > 0)
				buf_char(&buf, '-');
			buf_char(&buf, (char)c);
			in_word = true;
		} else {
			in_word = false;
		}
	}
	*out = buf_as_str(&buf);
	return OK;
}

/* Default ignorable code points, fillers and the frames of keycap emoji: ICU counts some of them as letters or marks. */
static bool
is_dropped(int32_t c)
{
	return c == 0xad || c == 0x34f || c == 0x61c || c == 0x115f || c == 0x1160 || c == 0x17b4 || c == 0x17b5 ||
	    (c >= 0x180b && c <= 0x180f) || c == 0x200d || c == 0x200e || c == 0x200f || (c >= 0x202a &&
	    c <= 0x202e) ||
	    (c >= 0x2060 && c <= 0x206f) || (c >= 0x20dd && c <= 0x20e4) || c == 0x3164 || (c >= 0xfe00 &&
	    c <= 0xfe0f) || c == 0xfeff || c == 0xffa0 ||
	    (c >= 0x1bca0 && c <= 0x1bca3) || (c >= 0x1d173 && c <= 0x1d17a) || (c >= 0xe0000 && c <= 0xe0fff);
}

/* A free-standing mark makes no word of its own: an accent typed alone. */
static bool
is_mark_like(int32_t c)
{
	return (c >= 0x300 && c <= 0x36f) || (c >= 0x483 && c <= 0x489) || (c >= 0x20d0 && c <= 0x20ff) ||
	    (c >= 0x1ab0 && c <= 0x1aff) || (c >= 0x1dc0 && c <= 0x1dff) || (c >= 0xfe20 && c <= 0xfe2f);
}

static bool
is_apostrophe(int32_t c)
{
	return c == '\'' || c == 0x2019;
}

static const char *
cut(struct scope *s, struct str slug, size_t max)
{
	slug = utf8_cut(slug, max);
	while (slug.len > 0 && slug.p[slug.len - 1] == '-')
		slug.len--;
	return str_dup(s->arena, slug);
}
