/* operation.h - long work: begun by a request, carried out by jobs in small transactions, finished once. The manual's page on idempotency,
 * "Work that takes longer".
 *
 * The request's claim commits as PROCESSING together with a row of `operation`. A worker of jobs takes that row by one conditional update, under
 * a lease; whoever lost the lease cannot write any more, because every write carries generation and owner. A kind of work is a row in
 * operations.def and a step function. */
#ifndef ACTIONS_OPERATION_H
#define ACTIONS_OPERATION_H
#include "actions/unit.h"
#include "base/config.h"
#include "base/hash.h"
#include "db/shared.h"
#include "store/operations.h"

#define OPERATION_INPUT_MAX 4096	/* bytes; what is larger goes into the file */
#define OPERATION_ENTRIES_MAX 10000	/* lines of a report that are kept; the rest is counted only */
#define OPERATION_OPEN_MAX 1000		/* that are not over; one more is ERR_BUSY and leaves its key unused */
#define OPERATION_FILES_MAX 2000	/* in DATA/imports, those of requests that came to nothing too: see operation_files_sweep */
#define OPERATION_TAKEOVERS 5		/* then it is FAILED and may be asked for again */

struct operation_run;
enum operation_kind {
#define OPERATION(id, ...) OPERATION_##id,
#include "actions/operations.def"
#undef OPERATION
	OPERATION_KIND_COUNT
};
const char	*operation_kind_name(enum operation_kind);

/* -- To begin one, from a handler's prepare. */

struct operation_new {
	enum operation_kind kind;
	const char	*input;		/* JSON, at most OPERATION_INPUT_MAX bytes; NULL = "{}" */
	int64_t		 total;		/* items, as far as known; 0 = not yet */
	bool		 has_file;	/* operation_file_store sets it */
	char		 id[UUID_TEXT];
};
/* A fresh id, and unit->apply and ->input: the writer will claim the key as PROCESSING and store the operation; the answer is the 202. */
struct operation_new *operation_prepare(struct scope *, struct unit *, enum operation_kind);
/* On a reader: keep the request's data as DATA/imports/ID, on disk before the claim commits. Jobs removes it when the operation is over, or
 * an hour later when there is none of that id. ERR_STORAGE; ERR_BUSY when there are too many. */
enum status	 operation_file_store(struct scope *, const struct config *, struct operation_new *, struct str bytes) MUST_USE;
const char	*operation_file_path(struct scope *, const struct config *, const char *id);

/* -- To carry it out: what a step function has. */

struct operation_run {
	struct operation op;		/* the row; a step's apply moves done, total, position and tally, operation_write stores them */
	struct principal who;		/* whoever asked, with the scopes of then and the role of now */
	struct db	*write, *read;
	struct shared	*shared;
	const struct config *config;
	const struct site *site;
	struct scope	*scope;		/* of the whole run, for what op.position and op.more point at */
	const char	*file;		/* absolute path; NULL = none */
	bool		 is_last;	/* set by a step's apply: nothing is left; the same transaction finishes operation and record */
	bool		 is_over;	/* out: finished, or lost to somebody else */
	int64_t		 renewed_at;	/* clock_monotonic */
	bool		(*stop_was_asked)(void);
};

/* One bounded piece of the work, beginning at op.position (empty at first): prepare on `read`, then operation_write. `s` is the piece's own.
 * It is called until a write had is_last. A status of 5xx lets it be tried again later, any other fails the operation for good with that
 * code and detail. After a write that failed a step returns at once: what it had moved in op no longer counts. */
typedef enum status operation_step(struct scope *, struct operation_run *);
typedef enum status operation_apply(struct scope *, struct db *, struct operation_run *, void *arg);
/* One transaction: apply, then the guarded update of the row. When the operation belongs to somebody else by now, nothing is written:
 * ERR_STATE_CONFLICT and is_over. Fault point worker_item_N before it, N = op.done + 1. `apply` may be NULL. */
enum status	 operation_write(struct scope *, struct operation_run *, operation_apply *, void *) MUST_USE;
/* The same from within a transaction that somebody else's batch opened: the guarded update alone. */
enum status	 operation_guard(struct scope *, struct db *, struct operation_run *) MUST_USE;
/* During a piece without writes: renews the lease when a third of it has passed. ERR_STATE_CONFLICT when the operation was lost; ERR_BUSY when the
 * process is to stop. Cheap otherwise. */
enum status	 operation_keep(struct scope *, struct operation_run *) MUST_USE;
/* Inside operation_write's apply: one line of the report. `number` is an item's or a line's; the same line twice, of work that was
 * taken up again, is kept and counted once. `subject`, `code` and `detail` may be NULL. Counts in op.tally by `result`. */
enum status	 operation_note(struct scope *, struct db *, struct operation_run *, int64_t number, enum operation_result, const char *subject,
		    const char *code, const char *detail) MUST_USE;

#define OPERATION(id, name, step, help) enum status step(struct scope *, struct operation_run *) MUST_USE;
#include "actions/operations.def"
#undef OPERATION

/* -- For jobs. */

struct operation_worker {
	struct db	*write, *read;
	struct shared	*shared;
	const struct config *config;
	bool		(*stop_was_asked)(void);
};
/* Take one operation that waits or whose lease ran out, and carry it out until it is over or the process is to stop. *worked: there was one. */
enum status	 operation_work(struct scope *, const struct operation_worker *, bool *worked) MUST_USE;
/* Remove files in DATA/imports that no operation needs. */
enum status	 operation_files_sweep(struct scope *, struct db *read, const struct config *) MUST_USE;

/* -- For callers of the API. */

/* The operation as JSON, at most 4 kB. ERR_NOT_FOUND for what is not the caller's own, unless an admin asks. */
enum status	 operation_read(struct scope *, struct db *, const struct principal *, const char *id, struct str *json, bool *is_running) MUST_USE;
/* The caller's own, newest first; limit and cursor as they came. */
enum status	 operation_list(struct scope *, struct db *, const struct principal *, const char *limit, const char *cursor, struct str *json,
		    const char **next_cursor) MUST_USE;
/* The lines of its report, by number. */
enum status	 operation_report(struct scope *, struct db *, const struct principal *, const char *id, const char *limit, const char *cursor,
		    struct str *json, const char **next_cursor) MUST_USE;
/* Ends one that is not over: what was done stays, nothing more is written. 200 also when it was cancelled already; ERR_STATE_CONFLICT when it
 * had ended otherwise. */
enum status	 operation_cancel_prepare(struct scope *, struct db *, struct unit *, const char *id) MUST_USE;

/* Shared by the files of this module. */

/* The 202, first and again. */
void		 operation_running(struct scope *, struct unit *, const char *id);
/* PROCESSING -> SUCCESS or, with another status and scope->error, FAILED; the record that waits gets the same in the same transaction. By the
 * generation of `o`, and its owner when it has one. */
enum status	 operation_end(struct scope *, struct db *, struct operation *o, enum status, bool *moved) MUST_USE;
bool		 operation_was_cancelled(const struct operation *);
struct str	 operation_json(struct scope *, const struct operation *);
const char	*operation_url(struct scope *, const char *id);
#endif
