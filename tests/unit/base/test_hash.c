/* test_hash.c - published vectors, uniqueness, and strict texts. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <pthread.h>

#include "base/clock.h"
#include "base/hash.h"

static struct scope	*s;

static int
open_scope(void **unused)
{
	s = scope_new("test");
	return 0;
}

static int
close_scope(void **unused)
{
	scope_free(s);
	return 0;
}

static const char *
hex(const unsigned char *bytes, size_t n)
{
	struct buf	 b;

	buf_init(&b, s->arena);
	for (size_t i = 0; i < n; i++)
		buf_printf(&b, "%02x", bytes[i]);
	return b.p;
}

/* FIPS 180-4 examples. */
static void
sha256_gives_the_published_digests(void **unused)
{
	static const struct { const char *text, *digest; } cases[] = {
		{ "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		    "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
	};
	static char	 million[1000000];
	char		 out[SHA256_HEX];
	unsigned char	 raw[SHA256_LEN];
	struct sha256	*h = sha256_new(s);

	for (size_t i = 0; i < COUNT(cases); i++) {
		sha256_hex_of(str_of(cases[i].text), out);
		assert_string_equal(out, cases[i].digest);
		sha256_of(str_of(cases[i].text), raw);
		assert_string_equal(hex(raw, sizeof(raw)), cases[i].digest);
	}
	memset(million, 'a', sizeof(million));
	for (size_t at = 0, n = 1; at < sizeof(million); at += n, n = n * 3 < sizeof(million) - at ? n * 3 : sizeof(million) - at)
		sha256_add(h, million + at, n);
	sha256_add(h, NULL, 0);
	sha256_hex(h, out);
	assert_string_equal(out, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* RFC 4231, cases 1, 2 and 6. */
static void
hmac_gives_the_published_codes(void **unused)
{
	unsigned char	 out[SHA256_LEN];
	char		 key[131];

	memset(key, 0x0b, 20);
	hmac_sha256((struct str){ key, 20 }, STR("Hi There"), out);
	assert_string_equal(hex(out, 32), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
	hmac_sha256(STR("Jefe"), STR("what do ya want for nothing?"), out);
	assert_string_equal(hex(out, 32), "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
	memset(key, 0xaa, sizeof(key));
	hmac_sha256((struct str){ key, sizeof(key) }, STR("Test Using Larger Than Block-Size Key - Hash Key First"), out);
	assert_string_equal(hex(out, 32), "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
	hmac_sha256((struct str){ NULL, 0 }, (struct str){ NULL, 0 }, out);
	assert_string_equal(hex(out, 32), "b613679a0814d9ec772f95d778c35fc5ff1697c493715653c6c712144292c5ad");
}

static void
equal_means_every_byte(void **unused)
{
	assert_true(bytes_equal("abc", "abc", 3));
	assert_false(bytes_equal("abc", "abd", 3));
	assert_true(bytes_equal("abc", "abd", 2));
	assert_true(bytes_equal("a", "b", 0));
}

static void
random_bytes_fill_the_whole_buffer(void **unused)
{
	static unsigned char	 big[200000];
	size_t			 zeros = 0;

	random_bytes(big, sizeof(big));
	for (size_t i = 0; i < sizeof(big); i++)
		zeros += big[i] == 0;
	assert_true(zeros > 500 && zeros < 1100);
	random_bytes(big, 0);
}

static void
fast_hash_spreads_and_depends_on_length_and_seed(void **unused)
{
	static unsigned	 slots[65536];
	unsigned	 fullest = 0;
	char		 text[32], zeros[40] = { 0 };
	uint64_t	 before = hash_fast(STR("resource:1"));

	for (int i = 0; i < 200000; i++) {
		unsigned	*slot;

		snprintf(text, sizeof(text), "resource:%d", i);
		slot = &slots[hash_fast(str_of(text)) & 65535];
		if (++*slot > fullest)
			fullest = *slot;
	}
	assert_true(fullest < 20);
	for (size_t a = 0; a < sizeof(zeros); a++)
		for (size_t b = 0; b < a; b++)
			assert_true(hash_fast((struct str){ zeros, a }) != hash_fast((struct str){ zeros, b }));
	hash_seed(99);
	assert_true(hash_fast(STR("resource:1")) != before);
	hash_seed(0);
	assert_true(hash_fast(STR("resource:1")) == before);
}

static void
uuids_rise_and_carry_their_time(void **unused)
{
	char	 last[UUID_TEXT] = "", now[UUID_TEXT];

	uuid7(now, INT64_C(0x017f22e279b0));
	assert_memory_equal(now, "017f22e2-79b0-7", 15);
	for (int i = 0; i < 20000; i++) {
		uuid7(now, INT64_C(1796068217123) - i % 7);
		assert_true(uuid_valid(str_of(now)));
		assert_int_equal(now[14], '7');
		assert_non_null(strchr("89ab", now[19]));
		assert_true(strcmp(last, now) < 0);
		memcpy(last, now, sizeof(last));
	}
	uuid7(now, INT64_C(1700000000000));
	assert_memory_equal(now, "018bcfe5-6800-7", 15);
	uuid7(now, -5);
	assert_memory_equal(now, "00000000-0000-7", 15);
}

#define EACH 5000

static void *
make_uuids(void *list)
{
	char	(*out)[UUID_TEXT] = list;

	for (int i = 0; i < EACH; i++)
		uuid7(out[i], INT64_C(1796068217123));
	return NULL;
}

static int
compare(const void *a, const void *b)
{
	return memcmp(a, b, UUID_TEXT);
}

static void
uuids_of_several_threads_are_distinct(void **unused)
{
	static char	 all[4 * EACH][UUID_TEXT];
	pthread_t	 threads[4];

	for (size_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, make_uuids, all[i * EACH]), 0);
	for (size_t i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	qsort(all, 4 * EACH, UUID_TEXT, compare);
	/* The first 15 digits are time and counter: nobody may have been given the same. */
	for (size_t i = 1; i < 4 * EACH; i++)
		assert_true(memcmp(all[i - 1], all[i], 18) < 0);
}

static void
only_lower_case_uuids_are_valid(void **unused)
{
	assert_true(uuid_valid(STR("018bcfe5-6800-7abc-8def-0123456789ab")));
	assert_false(uuid_valid(STR("018BCFE5-6800-7abc-8def-0123456789ab")));
	assert_false(uuid_valid(STR("018bcfe5-6800-7abc-8def-0123456789a")));
	assert_false(uuid_valid(STR("018bcfe5-6800-7abc-8def-0123456789abc")));
	assert_false(uuid_valid(STR("018bcfe5x6800-7abc-8def-0123456789ab")));
	assert_false(uuid_valid(STR("018bcfe5-6800-7abc-8def-0123456789ag")));
	assert_false(uuid_valid((struct str){ NULL, 0 }));
}

/* RFC 4648 10, without padding, and the two other letters. */
static void
base64url_gives_the_published_texts(void **unused)
{
	static const struct { const char *bytes, *text; } cases[] = { { "", "" }, { "f", "Zg" }, { "fo", "Zm8" },
		{ "foo", "Zm9v" }, { "foob", "Zm9vYg" }, { "fooba", "Zm9vYmE" }, { "foobar", "Zm9vYmFy" },
		{ "\xfb\xff\xbf", "-_-_" } };
	struct str	 out;

	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_string_equal(base64url(s, cases[i].bytes, strlen(cases[i].bytes)), cases[i].text);
		assert_true(base64url_decode(s, str_of(cases[i].text), &out));
		assert_true(str_is(out, cases[i].bytes));
	}
}

static void
base64url_has_one_text_for_each_value(void **unused)
{
	static const char *const bad[] = { "Z", "A", "AAAAA", "Zg==", "Zh", "Zm9", "Zm8=", "Zm9v\n", " Zm9v", "Zm9+", "Zm9/", "Zm9vY", "Zm\xc3\xa9" };
	struct str		 out;
	unsigned char		 bytes[70];

	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(base64url_decode(s, str_of(bad[i]), &out));
	for (size_t n = 0; n < sizeof(bytes); n++) {
		random_bytes(bytes, n);
		assert_true(base64url_decode(s, str_of(base64url(s, bytes, n)), &out));
		assert_int_equal(out.len, n);
		assert_memory_equal(out.p, bytes, n);
	}
}

static void
password_matches_itself_only(void **unused)
{
	const char	*phc, *again;

	assert_int_equal(password_hash(s, &phc, STR("correct horse")), OK);
	assert_int_equal(password_hash(s, &again, STR("correct horse")), OK);
	assert_memory_equal(phc, "$argon2id$v=19$m=19456,t=2,p=1$", 31);
	assert_string_not_equal(phc, again);
	assert_true(password_matches(STR("correct horse"), phc));
	assert_true(password_matches(STR("correct horse"), again));
	assert_false(password_matches(STR("correct horsf"), phc));
	assert_false(password_matches(STR("correct hors"), phc));
	assert_false(password_matches((struct str){ NULL, 0 }, phc));
	assert_int_equal(password_hash(s, &phc, STR("nul\0inside")), OK);
	assert_false(password_matches(STR("nul"), phc));
	assert_false(password_matches(STR("nul\0outside"), phc));
}

static void
password_bounds_are_kept(void **unused)
{
	static const char *const bad[] = { "", "x", "$argon2id$", "$argon2i$v=19$m=19456,t=2,p=1$AAAA$AAAA",
		"$argon2id$v=19$m=4194304,t=2,p=1$c2FsdHNhbHRzYWx0$AAAAAAAAAAAAAAAAAAAAAA",
		"$argon2id$v=19$m=19456,t=999999999,p=1$c2FsdHNhbHRzYWx0$AAAAAAAAAAAAAAAAAAAAAA",
		"$argon2id$v=19$m=19456,t=2,p=1000$c2FsdHNhbHRzYWx0$AAAAAAAAAAAAAAAAAAAAAA",
		"$argon2id$v=19$m=-1,t=2,p=1$c2FsdHNhbHRzYWx0$AAAAAAAAAAAAAAAAAAAAAA",
		"$argon2id$v=19$m=19456,t=2,p=1$", "$argon2id$v=19$m=19456,t=2,p=1$%%%$%%%" };
	const char	*phc;
	char		*longest = scope_alloc(s, 1026);
	int64_t		 start = clock_monotonic();

	for (size_t i = 0; i < COUNT(bad); i++)
		assert_false(password_matches(STR("x"), bad[i]));
	assert_false(password_matches(STR("x"), NULL));
	assert_true(clock_monotonic() - start < 1000);
	memset(longest, 'p', 1025);
	assert_int_equal(password_hash(s, &phc, (struct str){ longest, 1025 }), ERR_INVALID);
	assert_string_equal(s->error->field, "password");
	assert_int_equal(password_hash(s, &phc, (struct str){ NULL, 0 }), ERR_INVALID);
	assert_int_equal(password_hash(s, &phc, (struct str){ longest, 1024 }), OK);
	assert_true(password_matches((struct str){ longest, 1024 }, phc));
	assert_false(password_matches((struct str){ longest, 1025 }, phc));
}

int
main(void)
{
	const struct CMUnitTest	 tests[] = {
		cmocka_unit_test(sha256_gives_the_published_digests),
		cmocka_unit_test(hmac_gives_the_published_codes),
		cmocka_unit_test(equal_means_every_byte),
		cmocka_unit_test(random_bytes_fill_the_whole_buffer),
		cmocka_unit_test(fast_hash_spreads_and_depends_on_length_and_seed),
		cmocka_unit_test(uuids_rise_and_carry_their_time),
		cmocka_unit_test(uuids_of_several_threads_are_distinct),
		cmocka_unit_test(only_lower_case_uuids_are_valid),
		cmocka_unit_test(base64url_gives_the_published_texts),
		cmocka_unit_test(base64url_has_one_text_for_each_value),
		cmocka_unit_test(password_matches_itself_only),
		cmocka_unit_test(password_bounds_are_kept),
	};

	hash_warm_up();
	return cmocka_run_group_tests(tests, open_scope, close_scope);
}
