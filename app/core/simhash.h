/* simhash.h - a number that stays nearly the same when a text does (Charikar 2002; 64 bits as Manku, Jain and Sarma 2007). */
#ifndef CORE_SIMHASH_H
#define CORE_SIMHASH_H
#include "base/base.h"

#define SIMHASH_NEAR 3		/* bits that may differ between texts that are called near */
#define SIMHASH_BLOCKS 4	/* two hashes with at most SIMHASH_NEAR different bits share one of so many blocks */

/* Of valid UTF-8. Letters are folded; words are runs of letters and digits, and every ideograph and kana is one; what counts is every two words in a
 * row. Linear time; stored, so it may never give another number for the same text. */
uint64_t	 simhash(struct scope *, struct str text);
int		 simhash_distance(uint64_t, uint64_t);		/* 0..64 */
int		 simhash_block(uint64_t, int block);		/* 16 bits of it; block < SIMHASH_BLOCKS */
#endif
