/* percent.c - percent-escapes and the character classes of RFC 3986. */
#include "core/percent.h"

static int	hex_value(char);

int
percent_at(struct str s, size_t i)
{
	int	high, low;

	if (i >= s.len || s.len - i < 3 || s.p[i] != '%')
		return -1;
	high = hex_value(s.p[i + 1]);
	low = hex_value(s.p[i + 2]);
	return high < 0 || low < 0 ? -1 : high * 16 + low;
}

void
percent_add(struct buf *out, unsigned char c)
{
	static const char	digits[] = "0123456789ABCDEF";
	char			escape[3] = { '%', digits[c >> 4], digits[c & 15] };

	buf_add(out, escape, sizeof(escape));
}

struct str
percent_decode(struct scope *s, struct str in, bool plus)
{
	struct buf	out;
	size_t		i;
	int		c;

	if (str_find(in, '%') == in.len && (!plus || str_find(in, '+') == in.len))
		return in;
	buf_init(&out, s->arena);
	for (i = 0; i < in.len; i++) {
		c = percent_at(in, i);
		if (c >= 0) {
			buf_char(&out, (char)c);
			i += 2;
		} else {
			buf_char(&out, plus && in.p[i] == '+' ? ' ' : in.p[i]);
		}
	}
	return buf_as_str(&out);
}

bool
is_unreserved(unsigned char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
	    c == '.' || c == '_' || c == '~';
}

bool
is_pchar(unsigned char c)
{
	return is_unreserved(c) || (c != '\0' && strchr("!$&'()*+,;=:@", c) != NULL);
}

void
percent_add_query(struct buf *out, struct str in, char also)
{
	size_t		i;
	unsigned char	c;

	for (i = 0; i < in.len; i++) {
		c = (unsigned char)in.p[i];
		if (in.p[i] != also && (is_pchar(c) || c == '/' || c == '?' || (c == '%' && percent_at(in, i) >= 0)))
			buf_char(out, in.p[i]);
		else
			percent_add(out, c);
	}
}

static int
hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}
