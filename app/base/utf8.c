/* utf8.c - the UTF-8 half of text.h. */
#include "base/text.h"
#include "base/base.h"

/* Bytes in the character at p (of `left` bytes) if it is well formed (Unicode 3.9, table 3-7), else 0. */
static size_t
well_formed(const unsigned char *p, size_t left)
{
	unsigned char	 low = 0x80, high = 0xbf;
	size_t		 n;

	if (p[0] < 0x80)
		return 1;
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	n = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	if (n > left)
		return 0;
	if (p[0] == 0xe0)
		low = 0xa0;
	else if (p[0] == 0xed)
		high = 0x9f;
	else if (p[0] == 0xf0)
		low = 0x90;
	else if (p[0] == 0xf4)
		high = 0x8f;
	if (p[1] < low || p[1] > high)
		return 0;
	for (size_t i = 2; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

size_t
utf8_ascii_prefix(struct str s)
{
	size_t		 i = 0;
	uint64_t	 word;

	for (; i + sizeof(word) <= s.len; i += sizeof(word)) {
		memcpy(&word, s.p + i, sizeof(word));
		if ((word & UINT64_C(0x8080808080808080)) != 0)
			break;
	}
	while (i < s.len && (s.p[i] & 0x80) == 0)
		i++;
	return i;
}

bool
utf8_valid(struct str s)
{
	size_t	 i = 0, n;

	while (i < s.len) {
		i += utf8_ascii_prefix(str_part(s, i, s.len));
		/* Stay here through a run of other characters: it is seldom only one. */
		while (i < s.len && (s.p[i] & 0x80) != 0) {
			n = well_formed((const unsigned char *)s.p + i, s.len - i);
			if (n == 0)
				return false;
			i += n;
		}
	}
	return true;
}

int32_t
utf8_next(struct str s, size_t *i)
{
	const unsigned char	*p = (const unsigned char *)s.p + *i;
	size_t			 n = well_formed(p, s.len - *i);

	*i += n > 0 ? n : 1;
	switch (n) {
	case 1:
		return p[0];
	case 2:
		return (p[0] & 0x1f) << 6 | (p[1] & 0x3f);
	case 3:
		return (p[0] & 0x0f) << 12 | (p[1] & 0x3f) << 6 | (p[2] & 0x3f);
	case 4:
		return (p[0] & 0x07) << 18 | (p[1] & 0x3f) << 12 | (p[2] & 0x3f) << 6 | (p[3] & 0x3f);
	default:
		return -1;
	}
}

void
buf_utf8(struct buf *b, int32_t c)
{
	char	 out[4];
	size_t	 n;

	assert(c >= 0 && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff));
	n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	for (size_t i = n - 1; i > 0; i--) {
		out[i] = (char)(0x80 | (c & 0x3f));
		c >>= 6;
	}
	out[0] = (char)(n == 1 ? c : (0xf00 >> n & 0xff) | c);
	buf_add(b, out, n);
}

struct str
utf8_cut(struct str s, size_t max)
{
	size_t	 end = max;

	if (s.len <= max)
		return s;
	/* Four steps back at most: where more continuation bytes stand, it was no UTF-8. */
	while (end > 0 && max - end < 4 && (s.p[end] & 0xc0) == 0x80)
		end--;
	return str_part(s, 0, end);
}

size_t
utf8_count(struct str s)
{
	size_t	 n = 0;

	for (size_t i = 0; i < s.len; i++)
		n += (s.p[i] & 0xc0) != 0x80;
	return n;
}

bool
text_has_control(struct str s, bool allow_lines)
{
	for (size_t i = 0; i < s.len; i++) {
		unsigned char	 c = (unsigned char)s.p[i];

		if (c == 0x7f)
			return true;
		if (c < 0x20 && !(allow_lines && (c == '\t' || c == '\n' || c == '\r')))
			return true;
		if (c == 0xef && i + 2 < s.len && (unsigned char)s.p[i + 1] == 0xbf && (unsigned char)s.p[i + 2] >= 0xbe)
			return true;
	}
	return false;
}
