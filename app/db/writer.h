/* writer.h - one thread that commits for many: queue, group commit, turn-taking. */
#ifndef DB_WRITER_H
#define DB_WRITER_H
#include "base/base.h"
#include "db/db.h"
#include "db/shared.h"

/* One unit of work for the writer. Until `done` is called the writer owns the job, its scope and `arg`. `apply` runs inside a savepoint of
 * a group transaction: under 1 ms, binds prepared values, no parsing. It must leave no savepoint open. It may run twice (the whole
 * batch was rolled back by a full disk or a failed commit, then each job again alone), so it must not keep state of a former run.
 * `done` is called on the writer thread after COMMIT returned (result OK) or nothing was stored (any other result; the reason is in
 * scope->error). */
struct write_job {
	struct write_job *next;		/* the queue's */
	struct scope	*scope;
	enum status	(*apply)(struct scope *, struct db *, void *arg);
	void		*arg;
	void		(*done)(struct write_job *);
	enum status	 result;
};

struct writer;
/* Opens its own connection (after fork, in the thread). `max_queue` waiting jobs; one more is refused. `schema` is the version
 * that this program knows: a batch that sees another one fails with ERR_BUSY and writer_is_stale turns true. */
enum status	 writer_start(struct scope *, struct writer **, const char *db_path, struct shared *, int max_queue,
		    int64_t schema) MUST_USE;
/* ERR_BUSY: queue full or stopping; the job stays the caller's. Any thread. */
enum status	 writer_submit(struct writer *, struct write_job *) MUST_USE;
/* No more jobs are taken; what is queued is finished; the thread is joined; everything freed. */
void		 writer_stop(struct writer *);
/* Milliseconds without progress while there was work and the writer neither waited for its turn nor for the disk; 0 when healthy. */
int64_t		 writer_stalled_ms(struct writer *);
bool		 writer_is_stale(struct writer *);
int		 writer_queue_length(struct writer *);

/* One unit of work now, on the caller's own writing handle: turn, BEGIN IMMEDIATE, apply, change_log, COMMIT, bump. For commands and jobs.
 * Waits at most 10 s for the turn and 5 s for the lock (ERR_BUSY). */
enum status	 writer_run(struct scope *, struct db *, struct shared *, enum status (*apply)(struct scope *, struct db *, void *),
		    void *arg) MUST_USE;

/* Fault points of the test build (STELE_FAULT=point:action[:N],...): kill, killgroup (every process of the group: all workers at
 * once), error, on (the same, for a fault that is a switch), sleepN (seconds), syscall (a call the sandbox forbids).
 * With :N only the N-th pass of the process fires. With STELE_FAULT_ONCE=DIR each entry fires once over all processes and
 * restarts: it leaves the file DIR/point.action. Compiled to nothing elsewhere. Returns true when `error` or `on` was asked for. */
#ifdef STELE_TEST
bool		 fault(const char *point);
#else
#define fault(point) false
#endif
#endif
