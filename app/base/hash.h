/* hash.h - digests, MACs, randomness, passwords and unique ids. */
#ifndef BASE_HASH_H
#define BASE_HASH_H
#include "base/base.h"

#define SHA256_LEN 32
#define SHA256_HEX 65		/* with the NUL */

struct sha256;			/* running digest; lives in the scope's arena and needs no closing */
struct sha256	*sha256_new(struct scope *);
void		 sha256_add(struct sha256 *, const void *, size_t);
void		 sha256_hex(struct sha256 *, char out[SHA256_HEX]);	/* ends the digest; lower case */

void		 sha256_of(struct str, unsigned char out[SHA256_LEN]);
void		 sha256_hex_of(struct str, char out[SHA256_HEX]);
void		 hmac_sha256(struct str key, struct str text, unsigned char out[SHA256_LEN]);
bool		 bytes_equal(const void *, const void *, size_t);	/* constant time */
void		 random_bytes(void *, size_t);		/* aborts if the system has none */
uint64_t	 hash_fast(struct str);			/* not cryptographic */
void		 hash_seed(uint64_t);			/* for hash_fast, once, before threads; 0 if never called */

#define UUID_TEXT 37
/* RFC 9562 UUIDv7 for `ms`; rises within a process even inside one millisecond, or when the clock was
 * set back by less than a minute. Thread safe. */
void		 uuid7(char out[UUID_TEXT], int64_t ms);
bool		 uuid_valid(struct str);		/* 8-4-4-4-12 lower-case hex */

/* base64url without padding (RFC 4648 5). Decoding is strict: no padding, no blanks, no bits left over. */
char		*base64url(struct scope *, const void *, size_t);
bool		 base64url_decode(struct scope *, struct str in, struct str *out);

/* argon2id, m=19 MiB t=2 p=1: about 30 ms and 19 MiB; run it in the slow thread or a command. PHC string out.
 * ERR_INVALID for an empty password or more than 1024 bytes. Stored costs above 256 MiB, 16 passes or 4 lanes never match. */
enum status	 password_hash(struct scope *, const char **phc, struct str password) MUST_USE;
bool		 password_matches(struct str password, const char *phc);

/* Initialise OpenSSL fully (it opens its config at first use): before fork and sandbox. */
void		 hash_warm_up(void);

#endif
