/* content_hash.c - when two texts count as the same. */
#include "core/resource.h"
#include "base/hash.h"
#include "base/unicode.h"

#define TEXT_MIN 200		/* characters; shorter texts are alike by chance */

static bool	normalise(struct scope *, struct buf *out, const char *text);

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
	size_t		i = 0, n = 0;
	bool		blank = false;
	char		*to;

	if (!utf8_valid(in) || unicode_fold(s, &folded, in) != OK)
		return false;
	to = arena_alloc(s->arena, folded.len + 1);
	while (i < folded.len) {
		size_t		from = i;
		bool		is_space = (unsigned char)folded.p[i] <= ' ';

		/* Most text is ASCII and needs no look into Unicode's tables. */
		if (is_space || (unsigned char)folded.p[i] < 0x80)
			i++;
		else
			is_space = unicode_is_space(utf8_next(folded, &i));
		if (is_space) {
			blank = true;
			continue;
		}
		if (blank && n > 0)
			to[n++] = ' ';
		blank = false;
		while (from < i)
			to[n++] = folded.p[from++];
	}
	buf_add(out, to, n);
	return true;
}
