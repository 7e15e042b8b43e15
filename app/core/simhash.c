/* simhash.c - every two words in a row vote on each bit. */
#include "core/simhash.h"

#include "base/unicode.h"

#define SHINGLE 2
#define FNV_BASIS UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3)

struct votes {
	uint64_t	 words[SHINGLE];	/* the last ones */
	int64_t		 sum[64];
	size_t		 count;
};

/* FNV-1a alone leaves the upper bits of short words alike. */
static uint64_t
mix(uint64_t x)
{
	x ^= x >> 33;
	x *= UINT64_C(0xff51afd7ed558ccd);
	x ^= x >> 33;
	x *= UINT64_C(0xc4ceb9fe1a85ec53);
	return x ^ x >> 33;
}

static uint64_t
hash_word(struct str word)
{
	uint64_t h = FNV_BASIS;

	for (size_t i = 0; i < word.len; i++)
		h = (h ^ (unsigned char)word.p[i]) * FNV_PRIME;
	return mix(h);
}

static void
vote(struct votes *v, uint64_t word)
{
	uint64_t shingle = 0;

	v->words[v->count++ % SHINGLE] = word;
	if (v->count < SHINGLE)
		return;
	for (size_t i = 0; i < SHINGLE; i++)
		shingle = mix(shingle * FNV_PRIME ^ v->words[(v->count + i) % SHINGLE]);
	for (int bit = 0; bit < 64; bit++)
		v->sum[bit] += (shingle >> bit & 1) != 0 ? 1 : -1;
}

/* Scripts that are written without blanks: kana and ideographs. */
static bool
is_word_alone(int32_t c)
{
	return (c >= 0x3040 && c <= 0x30FF) || (c >= 0x3400 && c <= 0x9FFF) || (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x20000 && c <= 0x3FFFF);
}

uint64_t
simhash(struct scope *s, struct str text)
{
	struct votes v = { .count = 0 };
	struct str folded;
	size_t i = 0, from = 0;
	uint64_t out = 0;

	if (unicode_fold(s, &folded, text) != OK) {
		s->error = NULL;
		return 0;
	}
	while (i < folded.len) {
		size_t at = i;
		int32_t c = utf8_next(folded, &i);

		if (!is_word_alone(c) && unicode_is_letter_or_digit(c))
			continue;
		if (at > from)
			vote(&v, hash_word(str_part(folded, from, at)));
		if (is_word_alone(c))
			vote(&v, hash_word(str_part(folded, at, i)));
		from = i;
	}
	if (folded.len > from)
		vote(&v, hash_word(str_part(folded, from, folded.len)));
	for (int bit = 0; bit < 64; bit++)
		out |= v.sum[bit] > 0 ? UINT64_C(1) << bit : 0;
	return out;
}

int
simhash_distance(uint64_t a, uint64_t b)
{
	return __builtin_popcountll(a ^ b);
}

int
simhash_block(uint64_t hash, int block)
{
	return (int)(hash >> (block * 16) & 0xffff);
}
