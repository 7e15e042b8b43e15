/* unit_counts.c - replays and conflicts, remembered here and written in batches, so that answering a retry writes nothing. */
#include "actions/unit.h"

#include <pthread.h>

#include "base/hash.h"
#include "store/idempotency.h"

/* Per process. A retry storm hits few keys; when the table is full, further keys go uncounted until the next flush. */
#define SLOTS 1024
#define PROBES 16
#define METHOD_LEN 8
#define ROUTE_LEN 96

struct count {
	int64_t		 user_id;
	char		 method[METHOD_LEN], route[ROUTE_LEN], key[KEY_MAX + 1], request_id[UUID_TEXT];
	int64_t		 replays, conflicts;	/* both 0: free */
};

static pthread_mutex_t	lock = PTHREAD_MUTEX_INITIALIZER;
static struct count	slots[SLOTS];
static size_t		used;

static void		count_one(const struct unit *, int64_t replays, int64_t conflicts);
static struct count	*slot_for(const struct unit *);
static bool		slot_is(const struct count *, const struct unit *);

void
unit_count_replay(const struct unit *u)
{
	count_one(u, 1, 0);
}

void
unit_count_conflict(const struct unit *u)
{
	count_one(u, 0, 1);
}

bool
unit_counts_pending(void)
{
	bool pending;

	pthread_mutex_lock(&lock);
	pending = used > 0;
	pthread_mutex_unlock(&lock);
	return pending;
}

enum status
unit_counts_flush(struct scope *s, struct db *db, void *unused)
{
	struct count *taken;
	size_t i, count = 0;

	/* Counts of a batch that is rolled back are lost: they are statistics, and a second copy would have to be guarded. */
	pthread_mutex_lock(&lock);
	taken = scope_alloc(s, used * sizeof(*taken));
	for (i = 0; i < SLOTS && count < used; i++)
		if (slots[i].replays != 0 || slots[i].conflicts != 0)
			taken[count++] = slots[i];
	memset(slots, 0, sizeof(slots));
	used = 0;
	pthread_mutex_unlock(&lock);

	for (i = 0; i < count; i++) {
		struct record_key key = { taken[i].user_id, taken[i].method, taken[i].route, taken[i].key };

		TRY(store_record_count(s, db, &key, taken[i].replays, taken[i].conflicts, taken[i].request_id));
	}
	return OK;
}

static void
count_one(const struct unit *u, int64_t replays, int64_t conflicts)
{
	struct count *c;

	if (u->key == NULL)
		return;
	pthread_mutex_lock(&lock);
	if ((c = slot_for(u)) != NULL) {
		c->replays += replays;
		c->conflicts += conflicts;
		snprintf(c->request_id, sizeof(c->request_id), "%s", u->request_id);
	}
	pthread_mutex_unlock(&lock);
}

/* Its slot, taken if it had none; NULL when the table is full around it. */
static struct count *
slot_for(const struct unit *u)
{
	uint64_t start = hash_fast(str_of(u->key)) + (uint64_t)u->who.user_id;
	struct count *c;
	size_t i;

	for (i = 0; i < PROBES; i++) {
		c = &slots[(start + i) % SLOTS];
		if (slot_is(c, u))
			return c;
		if (c->replays == 0 && c->conflicts == 0) {
			c->user_id = u->who.user_id;
			snprintf(c->method, sizeof(c->method), "%s", u->rule->method);
			snprintf(c->route, sizeof(c->route), "%s", u->rule->route);
			snprintf(c->key, sizeof(c->key), "%s", u->key);
			used++;
			return c;
		}
	}
	return NULL;
}

static bool
slot_is(const struct count *c, const struct unit *u)
{
	return (c->replays != 0 || c->conflicts != 0) && c->user_id == u->who.user_id && strcmp(c->key, u->key) == 0 &&
	    strcmp(c->route, u->rule->route) == 0 && strcmp(c->method, u->rule->method) == 0;
}
