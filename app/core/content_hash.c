/* content_hash.c - when two texts count as the same. */
#include "core/resource.h"
#include "base/hash.h"
#include "base/unicode.h"

#define TEXT_MIN 200		/* characters; shorter texts are alike by chance */

static bool	normalise(struct scope *, struct buf *out, const char *text);
static bool	is_plain(char);

bool
content_hash(struct scope *s, char out[65], const char *locale, const char *title, const char *text)
{
	struct buf	whole;
	size_t		start;

	buf_init(&whole, s->arena);
	buf_text(&whole, locale);
	buf_char(&whole, '\n');
	if (!normalise(s, &whole, title))
		return false;
	buf_char(&whole, '\n');
	start = whole.len;
	if (!normalise(s, &whole, text))
		return false;
	if (utf8_count(str_part(buf_as_str(&whole), start, whole.len)) < TEXT_MIN)
		return false;
	sha256_hex_of(buf_as_str(&whole), out);
	return true;
}

/* Case folded, with every run of blanks as one; false when it is not UTF-8. */
static bool
normalise(struct scope *s, struct buf *out, const char *text)
{
	struct str	in = str_of(text), folded;
	size_t		i = 0, word, start = out->len;
	int32_t		c;
	bool		blank = false;

	if (!utf8_valid(in) || unicode_fold(s, &folded, in) != OK)
		return false;
	while (i < folded.len) {
		word = i;
		while (i < folded.len && is_plain(folded.p[i]))
			i++;
		if (i == word) {
			c = utf8_next(folded, &i);
			if (unicode_is_space(c)) {
				blank = true;
				continue;
			}
		}
		if (blank && out->len > start)
			buf_char(out, ' ');
		blank = false;
		buf_add(out, folded.p + word, i - word);
	}
	return true;
}

/* Most text is runs of these; they need no look into Unicode's tables. */
static bool
is_plain(char c)
{
	return c > ' ' && c < 0x7f;
}
