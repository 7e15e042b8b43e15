/* compress.c - whole buffers through zlib and brotli, and the choice between them. */
#include "base/compress.h"

#include <brotli/encode.h>
#include <zlib.h>

/* Answers are compressed once per cache entry, while somebody waits: brotli 5 beats gzip 6 in size at about its cost. */
#define GZIP_LEVEL	6
#define BROTLI_LEVEL	5
#define CHUNK		((size_t)1 << 30)	/* zlib counts in unsigned int */

static void	gzip_buf(struct scope *s, struct str in, struct str *out);
static void	brotli_buf(struct scope *s, struct str in, struct str *out);
static int	quality(struct str parameters);

const char *
coding_name(enum coding coding)
{
	static const char *const names[CODING_COUNT] = { "identity", "gzip", "br" };

	assert((unsigned)coding < CODING_COUNT);
	return names[coding];
}

void
compress_buf(struct scope *s, enum coding coding, struct str in, struct str *out)
{
	switch (coding) {
	case CODING_GZIP:
		gzip_buf(s, in, out);
		break;
	case CODING_BR:
		brotli_buf(s, in, out);
		break;
	case CODING_IDENTITY:
	case CODING_COUNT:
		assert(coding == CODING_IDENTITY);
		*out = in;
		break;
	}
}

static void
gzip_buf(struct scope *s, struct str in, struct str *out)
{
	z_stream	 z = { 0 };
	size_t		 cap, given = 0, room = 0;
	unsigned char	*to;
	int		 rc;

	/* 15 + 16: the largest window, in a gzip wrapping; zlib writes no time stamp unless told one. */
	if (deflateInit2(&z, GZIP_LEVEL, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		abort();
	cap = deflateBound(&z, in.len);
	z.next_out = to = scope_alloc(s, cap);
	z.next_in = (z_const Bytef *)(uintptr_t)in.p;
	do {
		if (z.avail_in == 0 && given < in.len) {
			z.avail_in = (uInt)(in.len - given < CHUNK ? in.len - given : CHUNK);
			given += z.avail_in;
		}
		if (z.avail_out == 0) {
			z.avail_out = (uInt)(cap - room < CHUNK ? cap - room : CHUNK);
			room += z.avail_out;
		}
		rc = deflate(&z, given == in.len ? Z_FINISH : Z_NO_FLUSH);
	} while (rc == Z_OK);
	assert(rc == Z_STREAM_END);
	*out = (struct str){ (const char *)to, (size_t)(z.next_out - to) };
	deflateEnd(&z);
}

static void
brotli_buf(struct scope *s, struct str in, struct str *out)
{
	size_t		 len = BrotliEncoderMaxCompressedSize(in.len);
	unsigned char	*to;

	assert(len > 0);
	to = scope_alloc(s, len);
	if (BrotliEncoderCompress(BROTLI_LEVEL, BROTLI_DEFAULT_WINDOW, BROTLI_MODE_TEXT, in.len,
	    (const uint8_t *)in.p, &len, to) != BROTLI_TRUE)
		abort();
	*out = (struct str){ (const char *)to, len };
}

enum coding
coding_negotiate(struct str accept_encoding)
{
	int		 q[CODING_COUNT] = { -1, -1, -1 }, others = -1;
	struct str	 item;

	while (str_next(&accept_encoding, ',', &item)) {
		size_t		 semicolon = str_find(item, ';');
		struct str	 name = str_trim(str_part(item, 0, semicolon));
		int		 value = quality(str_part(item, semicolon, item.len));

		if (str_is_nocase(name, "br"))
			q[CODING_BR] = value;
		else if (str_is_nocase(name, "gzip") || str_is_nocase(name, "x-gzip"))
			q[CODING_GZIP] = value;
		else if (str_is_nocase(name, "identity"))
			q[CODING_IDENTITY] = value;
		else if (str_is(name, "*"))
			others = value;
	}
	for (int coding = CODING_GZIP; coding <= CODING_BR; coding++)
		if (q[coding] == -1)
			q[coding] = others;
	/* identity is wanted before another coding only where it was named with a higher weight. */
	if (q[CODING_BR] > 0 && q[CODING_BR] >= q[CODING_GZIP] && q[CODING_BR] >= q[CODING_IDENTITY])
		return CODING_BR;
	if (q[CODING_GZIP] > 0 && q[CODING_GZIP] >= q[CODING_IDENTITY])
		return CODING_GZIP;
	return CODING_IDENTITY;
}

/* The weight in thousandths, 1000 where none stands; 0 for one that RFC 9110 12.4.2 does not allow. */
static int
quality(struct str parameters)
{
	struct str	 piece;
	int		 value, scale = 100;

	while (str_next(&parameters, ';', &piece)) {
		piece = str_trim(piece);
		if (piece.len == 0)
			continue;
		if (piece.len < 3 || piece.len > 7 || (piece.p[0] | 0x20) != 'q' || piece.p[1] != '=')
			return 0;
		if (piece.p[2] != '0' && piece.p[2] != '1')
			return 0;
		value = (piece.p[2] - '0') * 1000;
		if (piece.len > 3 && piece.p[3] != '.')
			return 0;
		for (size_t i = 4; i < piece.len; i++, scale /= 10) {
			if (piece.p[i] < '0' || piece.p[i] > '9')
				return 0;
			value += (piece.p[i] - '0') * scale;
		}
		return value <= 1000 ? value : 0;
	}
	return 1000;
}
