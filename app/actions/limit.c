/* limit.c - token buckets. */
#include "actions/limit.h"

#include <pthread.h>

#include "base/hash.h"

#define BUCKETS 4096

struct bucket {
	int64_t	 thousandths;	/* of one request: what is left */
	int64_t	 at;
};

struct limiter {
	pthread_mutex_t	 lock;
	int64_t		 rate, burst;
	struct bucket	 buckets[BUCKETS];
};

struct limiter *
limiter_new(int64_t rate, int64_t burst)
{
	struct limiter *l = calloc(1, sizeof(*l));
	size_t i;

	assert(l != NULL && rate > 0 && burst > 0);
	pthread_mutex_init(&l->lock, NULL);
	l->rate = rate;
	l->burst = burst;
	for (i = 0; i < BUCKETS; i++)
		l->buckets[i].thousandths = burst * 1000;
	return l;
}

bool
limiter_take(struct limiter *l, struct str who, int64_t now, int *wait_s)
{
	struct bucket *b = &l->buckets[hash_fast(who) % BUCKETS];
	bool taken;

	pthread_mutex_lock(&l->lock);
	if (now > b->at) {
		/* A rate of n a second is n thousandths a millisecond. */
		int64_t full = l->burst * 1000, added = now - b->at > full / l->rate ? full : (now - b->at) * l->rate;

		b->thousandths = b->thousandths + added > full ? full : b->thousandths + added;
		b->at = now;
	}
	taken = b->thousandths >= 1000;
	if (taken)
		b->thousandths -= 1000;
	*wait_s = taken ? 0 : (int)((1000 - b->thousandths + l->rate * 1000 - 1) / (l->rate * 1000));
	pthread_mutex_unlock(&l->lock);
	if (*wait_s == 0 && !taken)
		*wait_s = 1;
	return taken;
}

void
limiter_free(struct limiter *l)
{
	pthread_mutex_destroy(&l->lock);
	free(l);
}
