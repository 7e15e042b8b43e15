/* unit.h - the one mechanism every write passes through: claim, business rows, outbox, saved answer, all in one transaction.
 * See the manual's page on idempotency. */
#ifndef ACTIONS_UNIT_H
#define ACTIONS_UNIT_H
#include "base/base.h"
#include "core/idempotency.h"
#include "core/site.h"
#include "db/db.h"

/* What the caller gets, and what a replay gives again. */
struct answer {
	int		 status;
	const char	*location;	/* NULL = none; kept byte for byte */
	const char	*etag;
	const char	*link;
	struct str	 body;		/* JSON, at most 4096 bytes */
	bool		 is_problem;	/* application/problem+json */
	bool		 replayed;
	int		 original_status;	/* of the first answer, when replayed */
	const char	*resource_type;
	int64_t		 resource_id;
	const char	*operation_id;	/* long work that goes on: the record stays PROCESSING; NULL = finished */
};

struct unit {
	const struct write_rule *rule;
	struct principal who;
	const struct site *site;
	const char	*key;		/* NULL when the route allows none and none came */
	const char	*hash;		/* request hash, SHA-256 hex */
	const char	*if_match;	/* value as it came; NULL = absent */
	/* The business rows: runs in the writer inside its own savepoint, fills `answer`. A 409 status rolls its rows back and is stored
	 * as FAILED; any other failure leaves nothing, the key neither. */
	enum status	(*apply)(struct scope *, struct db *, struct unit *);
	void		*input;		/* prepared by the action, in the scope */
	struct answer	 answer;
	bool		 is_async;	/* the caller preferred respond-async, and gets it */
	const char	*request_id;	/* of whoever asked last; set by unit_find and unit_apply */
	/* Told when an earlier record decided: OK for a replay, ERR_KEY_CONFLICT, or ERR_PROCESSING_TIMEOUT for long work whose worker is gone.
	 * May be NULL; any thread. */
	void		(*settled)(const struct unit *, enum status);
};

/* The shortcut on a reader: a finished record with this key. *found tells; then `answer` is the replay, or the status is
 * ERR_KEY_CONFLICT. Long work that goes on is found too: its 202. When only the writer can say what becomes of it, answer.status stays 0 and
 * there is nothing to prepare. Object permission of the record's resource is checked for a replay too. Without a key: not found. */
enum status	 unit_find(struct scope *, struct db *, struct unit *, bool *found) MUST_USE;
/* The decision, on the writer; `unit` is a struct unit. This is a write_job's apply. OK also when the answer is a stored refusal. */
enum status	 unit_apply(struct scope *, struct db *, void *unit) MUST_USE;

/* Replays and conflicts seen by unit_find and unit_apply, counted per process and written in batches off the request path. */
void		 unit_count_replay(const struct unit *);
void		 unit_count_conflict(const struct unit *);
enum status	 unit_counts_flush(struct scope *, struct db *, void *unused) MUST_USE;	/* a write_job's apply */
bool		 unit_counts_pending(void);
/* The unique indexes that keep a second row out once a record is forgotten: *missing tells how many do not stand; ERR_INTERNAL when any. */
enum status	 unit_guards_missing(struct scope *, struct db *, int64_t *missing) MUST_USE;
/* Remove at most `limit` expired records (never PROCESSING); *removed tells. First checks those indexes: ERR_INTERNAL when one is missing. */
enum status	 unit_purge(struct scope *, struct db *, int limit, int64_t *removed) MUST_USE;
#endif
