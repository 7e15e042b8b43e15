/* base64.c - base64url without padding, strict: one text per value. */
#include "base/hash.h"

static const char	alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

char *
base64url(struct scope *s, const void *bytes, size_t n)
{
	const unsigned char	*in = bytes;
	char			*out, *at;
	uint32_t		 bits = 0;
	unsigned		 have = 0;

	at = out = scope_alloc(s, n / 3 * 4 + 5);
	for (size_t i = 0; i < n; i++) {
		bits = bits << 8 | in[i];
		for (have += 8; have >= 6; have -= 6)
			*at++ = alphabet[bits >> (have - 6) & 63];
	}
	if (have > 0)
		*at++ = alphabet[bits << (6 - have) & 63];
	return out;
}

static int
value_of(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '-' ? 62 : c == '_' ? 63 : -1;
}

bool
base64url_decode(struct scope *s, struct str in, struct str *out)
{
	unsigned char	*bytes;
	size_t		 len = 0;
	uint32_t	 bits = 0;
	unsigned	 have = 0;

	if (in.len % 4 == 1)
		return false;
	bytes = scope_alloc(s, in.len / 4 * 3 + 3);
	for (size_t i = 0; i < in.len; i++) {
		int	 value = value_of(in.p[i]);

		if (value == -1)
			return false;
		bits = bits << 6 | (uint32_t)value;
		have += 6;
		if (have >= 8) {
			have -= 8;
			bytes[len++] = (unsigned char)(bits >> have);
		}
	}
	/* Bits left over must be zero, or two texts would mean the same bytes (a signature could be altered). */
	if ((bits & ((1u << have) - 1)) != 0)
		return false;
	*out = (struct str){ (const char *)bytes, len };
	return true;
}
