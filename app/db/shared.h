/* shared.h - the page that workers, jobs and commands share: DATA/run/shared. */
#ifndef DB_SHARED_H
#define DB_SHARED_H
#include "base/base.h"

struct shared;

/* `serve` makes it anew (create=true) before any child starts; everybody else maps what is there. A command that finds none, one of
 * another version or one from before the machine's last start gets a private one (same functions, nobody else sees it): *out is never
 * NULL on OK. The file is 0600. ERR_STORAGE when it cannot be made. Bump, turn and metrics may be used by any thread. */
enum status	 shared_open(struct scope *, struct shared **out, const char *data_dir, bool create) MUST_USE;
void		 shared_close(struct shared *);

/* The turn to write: one robust process-shared mutex with hand-over (whoever releases lets a waiter go first). Returns false when
 * `timeout_ms` passed. A holder that died is detected and the mutex made consistent. */
bool		 shared_turn_take(struct shared *, int timeout_ms);
void		 shared_turn_give(struct shared *);

/* 65,536 slots; a dependency is a hash of its name. One generation number rises with every bump, and a slot keeps the generation of its last
 * bump. A cached answer stores the generation read *before* its snapshot was opened and its slots; it is valid while no slot is newer. So
 * dependencies may be found out while rendering. Bumps come after COMMIT: whoever reads generation n sees what bump n announced. */
#define SHARED_DEPENDENCIES 65536
uint32_t	 shared_slot(const char *name);		/* the same in every process */
uint64_t	 shared_generation(struct shared *);
uint64_t	 shared_slot_generation(struct shared *, uint32_t slot);
void		 shared_bump(struct shared *, uint32_t slot);
void		 shared_bump_all(struct shared *);	/* every slot becomes the new generation; `stele flush`, or after something unknown changed */

/* Up to which row of change_log all bumps were made; 0 = not known yet. `advance` moves it from exactly `from` to `to`, or does nothing:
 * so rows written by somebody without this page are never skipped. */
int64_t		 shared_changes_seen(struct shared *);
bool		 shared_changes_advance(struct shared *, int64_t from, int64_t to);

/* Counters for /metrics. */
enum metric {
#define METRIC(id, name, type, help) METRIC_##id,
#include "db/metrics.def"
#undef METRIC
	METRIC_COUNT
};
void		 metric_add(struct shared *, enum metric, int64_t n);
void		 metric_set(struct shared *, enum metric, int64_t n);
int64_t		 metric_get(struct shared *, enum metric);
const char	*metric_name(enum metric);
const char	*metric_type(enum metric);		/* "counter" or "gauge" */
const char	*metric_help(enum metric);

/* Who lives: slot 0 = jobs, 1..16 = workers. Times are clock_monotonic of the machine (one clock for all processes). */
#define SHARED_BEATS 17
void		 shared_beat(struct shared *, int slot, int64_t pid);
int64_t		 shared_beat_at(struct shared *, int slot);
int64_t		 shared_beat_pid(struct shared *, int slot);
#endif
