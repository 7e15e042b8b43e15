/* test_compress.c - what is compressed comes back, and Accept-Encoding is read as RFC 9110 says. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <brotli/decode.h>
#include <zlib.h>

#include "base/compress.h"

static void
decompressed_equals(enum coding coding, struct str packed, struct str want)
{
	unsigned char	*out = malloc(want.len + 16);
	size_t		 len = want.len + 16;

	if (coding == CODING_GZIP) {
		z_stream	 z = { .next_out = out, .avail_out = (uInt)len };

		z.next_in = (z_const Bytef *)(uintptr_t)packed.p;
		z.avail_in = (uInt)packed.len;
		assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
		assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
		assert_int_equal(z.avail_in, 0);
		len = z.total_out;
		inflateEnd(&z);
	} else {
		assert_int_equal(BrotliDecoderDecompress(packed.len, (const uint8_t *)packed.p, &len, out),
		    BROTLI_DECODER_RESULT_SUCCESS);
	}
	assert_int_equal(len, want.len);
	assert_memory_equal(out, want.p != NULL ? want.p : "", len);
	free(out);
}

/* Always the same bytes: a failure comes again. */
static void
fill(unsigned char *out, size_t n)
{
	static uint64_t	 state = 88172645463325252u;

	while (n-- > 0) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		*out++ = (unsigned char)(state >> 32);
	}
}

static void
every_coding_gives_the_input_back(void **unused)
{
	static const size_t	 sizes[] = { 0, 1, 2, 100, 65535, 65536, 300000, 5000000 };

	for (size_t i = 0; i < COUNT(sizes); i++) {
		for (int kind = 0; kind < 2; kind++) {
			struct scope	*s = scope_new("test");
			char		*bytes = scope_alloc(s, sizes[i]);
			struct str	 in = { bytes, sizes[i] }, out, again;

			fill((unsigned char *)bytes, kind == 0 ? sizes[i] : sizes[i] / 50);
			for (int coding = CODING_GZIP; coding < CODING_COUNT; coding++) {
				compress_buf(s, (enum coding)coding, in, &out);
				decompressed_equals((enum coding)coding, out, in);
				compress_buf(s, (enum coding)coding, in, &again);
				assert_true(str_eq(out, again));
				assert_true(kind == 0 || sizes[i] < 1000 || out.len < in.len / 10);
			}
			compress_buf(s, CODING_IDENTITY, in, &out);
			assert_ptr_equal(out.p, in.p);
			scope_free(s);
		}
	}
}

static void
empty_string_is_compressed(void **unused)
{
	struct scope	*s = scope_new("test");
	struct str	 none = { NULL, 0 }, out;

	compress_buf(s, CODING_GZIP, none, &out);
	decompressed_equals(CODING_GZIP, out, none);
	compress_buf(s, CODING_BR, none, &out);
	decompressed_equals(CODING_BR, out, none);
	scope_free(s);
}

static void
negotiation_follows_the_weights(void **unused)
{
	static const struct { const char *header; enum coding want; } cases[] = {
		{ NULL, CODING_IDENTITY },
		{ "", CODING_IDENTITY },
		{ "gzip", CODING_GZIP },
		{ "gzip, deflate, br", CODING_BR },
		{ "br;q=0.5, gzip;q=0.5", CODING_BR },
		{ "gzip;q=0.8, br;q=0.799", CODING_GZIP },
		{ "br;q=0, gzip", CODING_GZIP },
		{ "br;q=0,gzip;q=0", CODING_IDENTITY },
		{ "*", CODING_BR },
		{ "*;q=0", CODING_IDENTITY },
		{ "*;q=0, gzip;q=0.1", CODING_GZIP },
		{ "br;q=0, *", CODING_GZIP },
		{ "identity", CODING_IDENTITY },
		{ "identity;q=1, gzip;q=0.5", CODING_IDENTITY },
		{ "identity;q=0.9, br;q=0.5", CODING_IDENTITY },
		{ "identity;q=0.5, gzip;q=0.5", CODING_GZIP },
		{ "GZIP ; Q=1.000", CODING_GZIP },
		{ "x-gzip", CODING_GZIP },
		{ " , ,br , ", CODING_BR },
		{ "gzip;q=1.001", CODING_IDENTITY },
		{ "gzip;q=2", CODING_IDENTITY },
		{ "gzip;q=0.1234", CODING_IDENTITY },
		{ "gzip;q=", CODING_IDENTITY },
		{ "gzip;q=-1", CODING_IDENTITY },
		{ "gzip;q=0.000", CODING_IDENTITY },
		{ "gzip;q=0.001", CODING_GZIP },
		{ "gzip;level=9", CODING_IDENTITY },
		{ "brotli, gzipped, deflate", CODING_IDENTITY },
		{ ";q=1", CODING_IDENTITY },
		{ "gzip;q=0.", CODING_IDENTITY },
		{ "gzip;q=1.", CODING_GZIP },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		enum coding	 got = coding_negotiate(str_of(cases[i].header));

		if (got != cases[i].want)
			print_error("%s gave %s\n", cases[i].header, coding_name(got));
		assert_int_equal(got, cases[i].want);
	}
	assert_string_equal(coding_name(CODING_BR), "br");
	assert_string_equal(coding_name(CODING_IDENTITY), "identity");
}

static void
random_headers_are_survived(void **unused)
{
	static const char	 alphabet[] = "brgzip;q=01.,* ";
	unsigned char		 bytes[40];
	char			 text[40];

	for (int round = 0; round < 200000; round++) {
		fill(bytes, sizeof(bytes));
		for (size_t i = 0; i < sizeof(text); i++)
			text[i] = alphabet[bytes[i] % (sizeof(alphabet) - 1)];
		assert_true(coding_negotiate((struct str){ text, bytes[0] % 41 }) < CODING_COUNT);
	}
}

int
main(void)
{
	const struct CMUnitTest	 tests[] = {
		cmocka_unit_test(every_coding_gives_the_input_back),
		cmocka_unit_test(empty_string_is_compressed),
		cmocka_unit_test(negotiation_follows_the_weights),
		cmocka_unit_test(random_headers_are_survived),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
