/* idempotency.h - records of keyed requests: claimed, finished, read, counted, purged. */
#ifndef STORE_IDEMPOTENCY_H
#define STORE_IDEMPOTENCY_H
#include "base/base.h"
#include "db/db.h"

/* The scope of a key. */
struct record_key {
	int64_t		 user_id;
	const char	*method, *route, *key;
};

/* Insert the record as PROCESSING, or take over an expired one. *claimed false: somebody else's stands. */
enum status	 store_record_claim(struct scope *, struct db *, const struct record_key *, const char *hash, int hash_version, int64_t expires_at,
		    bool *claimed) MUST_USE;

struct record {
	const char	*hash;
	bool		 is_finished;		/* SUCCESS or FAILED */
	bool		 is_failed;
	bool		 is_retryable;		/* FAILED, and the same request may run again */
	int		 status;		/* HTTP */
	const char	*headers;		/* JSON object of the allow-listed fields */
	struct str	 body;
	const char	*resource_type;
	int64_t		 resource_id;
	int64_t		 expired_at;
	const char	*operation_id;		/* of the long work that it waits or waited for; NULL = none */
};
/* The answer of a claimed record; only is_failed, status, headers, body, resource_* are read. ERR_INTERNAL when there is no claim. */
enum status	 store_record_finish(struct scope *, struct db *, const struct record_key *, const struct record *) MUST_USE;
enum status	 store_record_find(struct scope *, struct db *, const struct record_key *, struct record *out, bool *found) MUST_USE;
enum status	 store_record_count(struct scope *, struct db *, const struct record_key *, int64_t replays, int64_t conflicts,
		    const char *request_id) MUST_USE;
/* Remove at most `limit` that expired, never PROCESSING. */
enum status	 store_record_purge(struct scope *, struct db *, int limit, int64_t *removed) MUST_USE;
/* Is there a unique index of this name on this table? */
enum status	 store_index_is_unique(struct scope *, struct db *, const char *table, const char *index, bool *out) MUST_USE;
#endif
