/* hash.c - OpenSSL for digests, MACs and randomness, libargon2 for passwords, and the ids and texts made from them. */
#include "base/hash.h"

/* The plain SHA256_* functions are marked as old, but their state is plain data that can live and die in an arena; an
 * EVP_MD_CTX would need closing, and costs a fetch for each digest. The code underneath is the same. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <argon2.h>
#include <limits.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <pthread.h>

#define ARGON2_MEMORY_KB	(19 * 1024)
#define ARGON2_PASSES		2
#define PASSWORD_MAX		1024

struct sha256 {
	SHA256_CTX	 state;
};

static void	hex_of(const unsigned char *bytes, size_t n, char *out);

static uint64_t	seed;

struct sha256 *
sha256_new(struct scope *s)
{
	struct sha256	*h = scope_alloc(s, sizeof(*h));

	SHA256_Init(&h->state);
	return h;
}

void
sha256_add(struct sha256 *h, const void *bytes, size_t n)
{
	if (n > 0)
		SHA256_Update(&h->state, bytes, n);
}

void
sha256_hex(struct sha256 *h, char out[SHA256_HEX])
{
	unsigned char	 digest[SHA256_LEN];

	SHA256_Final(digest, &h->state);
	hex_of(digest, sizeof(digest), out);
}

void
sha256_of(struct str text, unsigned char out[SHA256_LEN])
{
	SHA256_CTX	 state;

	SHA256_Init(&state);
	if (text.len > 0)
		SHA256_Update(&state, text.p, text.len);
	SHA256_Final(out, &state);
}

void
sha256_hex_of(struct str text, char out[SHA256_HEX])
{
	unsigned char	 digest[SHA256_LEN];

	sha256_of(text, digest);
	hex_of(digest, sizeof(digest), out);
}

void
hmac_sha256(struct str key, struct str text, unsigned char out[SHA256_LEN])
{
	assert(key.len <= INT_MAX);
	if (HMAC(EVP_sha256(), key.len > 0 ? key.p : "", (int)key.len, (const unsigned char *)text.p, text.len, out,
	    NULL) == NULL)
		abort();
}

bool
bytes_equal(const void *a, const void *b, size_t n)
{
	return CRYPTO_memcmp(a, b, n) == 0;
}

void
random_bytes(void *out, size_t n)
{
	unsigned char	*at = out;

	while (n > 0) {
		int	 part = n > 65536 ? 65536 : (int)n;

		if (RAND_bytes(at, part) != 1)
			abort();
		at += part;
		n -= (size_t)part;
	}
}

static uint64_t
mix(uint64_t a, uint64_t b)
{
	unsigned __int128	 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

void
hash_seed(uint64_t value)
{
	seed = value;
}

/* A multiply and a fold for every 16 bytes, as wyhash does; both factors hide an odd constant. */
uint64_t
hash_fast(struct str s)
{
	const uint64_t	 k0 = UINT64_C(0xa0761d6478bd642f), k1 = UINT64_C(0xe7037ed1a0b428db);
	uint64_t	 h = seed ^ mix(seed ^ k0, k1), pair[2];
	size_t		 i = 0;

	for (; s.len - i >= sizeof(pair); i += sizeof(pair)) {
		memcpy(pair, s.p + i, sizeof(pair));
		h = mix(pair[0] ^ k0 ^ h, pair[1] ^ k1);
	}
	pair[0] = pair[1] = 0;
	if (i < s.len)
		memcpy(pair, s.p + i, s.len - i);
	h = mix(pair[0] ^ k0 ^ h, pair[1] ^ k1);
	return mix(h ^ k0, s.len ^ k1);
}

void
uuid7(char out[UUID_TEXT], int64_t ms)
{
	static pthread_mutex_t	 lock = PTHREAD_MUTEX_INITIALIZER;
	static int64_t		 last;
	static unsigned		 counter;
	static const unsigned	 dashes = 1u << 4 | 1u << 6 | 1u << 8 | 1u << 10;
	unsigned char		 b[16];
	char			*at = out;
	unsigned		 count;

	random_bytes(b, sizeof(b));
	if (ms < 0)
		ms = 0;
	/* RFC 9562 6.2, method 1: rand_a counts within a millisecond, from a random start in its lower half; when it is
	 * full, the time runs ahead. A clock set back by up to a minute does not make ids fall. */
	pthread_mutex_lock(&lock);
	if (ms <= last && last - ms <= 60000) {
		ms = last;
		if (++counter > 0xfff) {
			counter = 0;
			ms++;
		}
	} else {
		counter = (b[6] & 7u) << 8 | b[7];
	}
	last = ms;
	count = counter;
	pthread_mutex_unlock(&lock);

	for (int i = 0; i < 6; i++)
		b[i] = (unsigned char)(ms >> (40 - 8 * i));
	b[6] = (unsigned char)(0x70 | count >> 8);
	b[7] = (unsigned char)count;
	b[8] = (unsigned char)(0x80 | (b[8] & 0x3f));
	for (unsigned i = 0; i < sizeof(b); i++) {
		if (dashes >> i & 1)
			*at++ = '-';
		hex_of(b + i, 1, at);
		at += 2;
	}
}

bool
uuid_valid(struct str s)
{
	if (s.len != UUID_TEXT - 1)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		bool	 dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? s.p[i] != '-' : !((s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'f')))
			return false;
	}
	return true;
}

enum status
password_hash(struct scope *s, const char **phc, struct str password)
{
	unsigned char	 salt[16];
	char		 encoded[128];
	int		 rc;

	if (password.len == 0 || password.len > PASSWORD_MAX)
		return fail(s, ERR_INVALID, "password", "a password has 1 to %d bytes", PASSWORD_MAX);
	random_bytes(salt, sizeof(salt));
	rc = argon2id_hash_encoded(ARGON2_PASSES, ARGON2_MEMORY_KB, 1, password.p, password.len, salt, sizeof(salt), 32,
	    encoded, sizeof(encoded));
	if (rc != ARGON2_OK)
		return fail(s, ERR_INTERNAL, NULL, "argon2: %s", argon2_error_message(rc));
	*phc = arena_strdup(s->arena, encoded);
	return OK;
}

bool
password_matches(struct str password, const char *phc)
{
	unsigned	 memory, passes, lanes;
	int		 end = 0;

	if (phc == NULL || password.len > PASSWORD_MAX)
		return false;
	/* The cost comes from the stored text: one from elsewhere must not take all memory. */
	if (sscanf(phc, "$argon2id$v=19$m=%9u,t=%9u,p=%9u$%n", &memory, &passes, &lanes, &end) != 3 || end == 0 ||
	    memory > 256 * 1024 || passes > 16 || lanes > 4)
		return false;
	return argon2id_verify(phc, password.len > 0 ? password.p : "", password.len) == ARGON2_OK;
}

void
hash_warm_up(void)
{
	unsigned char	 digest[SHA256_LEN];

	if (OPENSSL_init_crypto(OPENSSL_INIT_LOAD_CONFIG | OPENSSL_INIT_ADD_ALL_DIGESTS, NULL) != 1)
		abort();
	random_bytes(digest, sizeof(digest));
	hmac_sha256(STR("key"), STR("text"), digest);
	sha256_of(STR("text"), digest);
}

static void
hex_of(const unsigned char *bytes, size_t n, char *out)
{
	static const char	 digits[] = "0123456789abcdef";

	for (size_t i = 0; i < n; i++) {
		out[2 * i] = digits[bytes[i] >> 4];
		out[2 * i + 1] = digits[bytes[i] & 15];
	}
	out[2 * n] = '\0';
}
