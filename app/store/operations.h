/* operations.h - long work: taken under a lease, moved on by its owner alone, finished together with the record that waits for it. */
#ifndef STORE_OPERATIONS_H
#define STORE_OPERATIONS_H
#include "base/base.h"
#include "db/db.h"
#include "store/idempotency.h"

enum operation_state { OPERATION_PROCESSING, OPERATION_SUCCESS, OPERATION_FAILED };
enum operation_result { RESULT_CREATED, RESULT_UPDATED, RESULT_EXISTING, RESULT_SKIPPED, RESULT_FAILED, RESULT_WARNING, RESULT_COUNT };
const char	*operation_result_name(enum operation_result);

struct operation {
	const char	*id, *kind;
	int64_t		 user_id;
	unsigned	 scopes;		/* of the token that asked */
	const char	*method, *route, *key;	/* of the request that waits for it; NULL = none */
	const char	*request_id;		/* of that request */
	enum operation_state state;
	int64_t		 done, total;		/* items; total 0 = not known */
	const char	*input;			/* JSON */
	bool		 has_file;
	const char	*position;		/* where the next step begins, in the kind's own words; "" at first */
	int64_t		 tally[RESULT_COUNT];
	const char	*more;			/* JSON object that the result has besides; NULL = none */
	const char	*error;			/* JSON: code, detail; NULL = none */
	bool		 retryable;
	int64_t		 entries;
	int64_t		 lease_until;		/* 0 = waits */
	int64_t		 generation, attempts;
	const char	*owner;
	int64_t		 created_at, changed_at;
};

enum status	 store_operation_insert(struct scope *, struct db *, const struct operation *) MUST_USE;
/* ERR_NOT_FOUND. */
enum status	 store_operation_load(struct scope *, struct db *, struct operation *out, const char *id) MUST_USE;
/* The one that waits longest, or whose lease ran out by `now`; *found. */
enum status	 store_operation_next(struct scope *, struct db *, struct operation *out, bool *found, int64_t now) MUST_USE;
/* How many are not over, counted up to `max`. */
enum status	 store_operation_open(struct scope *, struct db *, int64_t *out, int64_t max) MUST_USE;
/* Of one user, newest first, before the id `before` ("~" = from the newest). `out` has room for `max`. */
enum status	 store_operation_list(struct scope *, struct db *, struct operation *out, size_t *count, size_t max, int64_t user,
		    const char *before) MUST_USE;

/* Conditional moves; *moved tells. A lease that ran out makes a take a takeover: generation and attempts rise. */
enum status	 store_operation_take(struct scope *, struct db *, const struct operation *, const char *owner, int64_t now, int64_t lease_until,
		    int64_t attempts_max, bool *moved) MUST_USE;
/* A takeover without a new owner: it waits for one. */
enum status	 store_operation_free(struct scope *, struct db *, const char *id, int64_t now, int64_t attempts_max, bool *moved) MUST_USE;
/* FAILED and retryable -> waits again. */
enum status	 store_operation_revive(struct scope *, struct db *, const char *id, int64_t now, bool *moved) MUST_USE;
/* By its owner alone (id, generation, owner of `o`): progress and a new lease; `owner` NULL gives it up. */
enum status	 store_operation_move(struct scope *, struct db *, const struct operation *o, const char *owner, int64_t lease_until, int64_t now,
		    bool *moved) MUST_USE;
/* PROCESSING -> state, error, retryable of `o`, if the generation is still that of `o`, and the owner when it has one. */
enum status	 store_operation_finish(struct scope *, struct db *, const struct operation *o, int64_t now, bool *moved) MUST_USE;

struct operation_entry {
	int64_t		 number, part;
	const char	*result, *subject, *code, *detail;	/* the last three: NULL = none */
};
enum status	 store_operation_entry_add(struct scope *, struct db *, const char *id, const struct operation_entry *, bool *added) MUST_USE;
/* In the order of number and part, after those given. */
enum status	 store_operation_entries(struct scope *, struct db *, struct operation_entry *out, size_t *count, size_t max, const char *id,
		    int64_t number, int64_t part) MUST_USE;

/* Remove what ended before `before`, lines first; at most `limit` rows. What a caller may still ask for again stays as long as its record. */
enum status	 store_operation_purge(struct scope *, struct db *, int64_t before, int limit, int64_t *removed) MUST_USE;
enum status	 store_message_purge(struct scope *, struct db *, int64_t before, int limit, int64_t *removed) MUST_USE;

/* The record that waits: PROCESSING with this operation. */
enum status	 store_record_defer(struct scope *, struct db *, const struct record_key *, const char *operation_id) MUST_USE;
enum status	 store_record_taken(struct scope *, struct db *, const struct operation *) MUST_USE;
enum status	 store_record_complete(struct scope *, struct db *, const struct operation *, const struct record *, int64_t now) MUST_USE;
enum status	 store_record_revive(struct scope *, struct db *, const struct operation *, int64_t now) MUST_USE;
#endif
