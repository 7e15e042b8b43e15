/* shared.c - the page of DATA/run/shared: writer's turn, dependency counters, metrics, heartbeats. */
#include "db/shared.h"
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include "base/clock.h"

#define MAGIC UINT64_C(0x73746c6570616765)
#define LAYOUT 1			/* rises with every change of struct shared */
#define BOOT_ID 40

/* Mapped by processes of one build or of several: LAYOUT and the size keep them apart. */
struct shared {
	uint64_t	 magic;
	uint32_t	 layout;
	uint32_t	 size;
	char		 boot_id[BOOT_ID];	/* a lock held when the machine went down would never be given back */
	pthread_mutex_t	 turn, next;		/* who holds `next` has the turn after the present holder */
	_Atomic uint64_t generation;
	_Atomic uint64_t all;			/* every slot is at least this new */
	_Atomic int64_t	 changes_seen;
	_Atomic int64_t	 metrics[METRIC_COUNT];
	struct { _Atomic int64_t at, pid; } beats[SHARED_BEATS];
	_Atomic uint64_t slots[SHARED_DEPENDENCIES];
};

static const struct { const char *name, *type, *help; } metrics[METRIC_COUNT] = {
#define METRIC(id, name, type, help) [METRIC_##id] = { name, type, help },
#include "db/metrics.def"
#undef METRIC
};

static enum status create_file(struct scope *, int *fd, const char *dir, const char *path);
static struct shared *map(int fd);
static bool	 is_ours(const struct shared *);
static void	 boot_id(char out[BOOT_ID]);
static void	 begin(struct shared *);
static void	 bump(struct shared *, _Atomic uint64_t *slot);
static void	 raise_to(_Atomic uint64_t *, uint64_t);
static bool	 lock_until(pthread_mutex_t *, const struct timespec *);

enum status
shared_open(struct scope *s, struct shared **out, const char *data_dir, bool create)
{
	char *dir = scope_printf(s, "%s/run", data_dir), *path = scope_printf(s, "%s/shared", dir);
	struct shared *shared = NULL;
	struct stat st;
	int fd = -1;

	if (create)
		TRY(create_file(s, &fd, dir, path));
	else
		fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd >= 0 && fstat(fd, &st) == 0 && st.st_size == (off_t)sizeof(struct shared))
		shared = map(fd);
	if (fd >= 0)
		close(fd);
	if (shared != NULL && create) {
		begin(shared);
		/* Only now: who opens the file finds a whole page or the former one. */
		if (rename(scope_printf(s, "%s.new", path), path) == -1) {
			shared_close(shared);
			return fail(s, ERR_STORAGE, NULL, "cannot make %s: %s", path, strerror(errno));
		}
	}
	if (shared != NULL && !is_ours(shared)) {
		shared_close(shared);
		shared = NULL;
	}
	if (shared == NULL) {
		if ((shared = map(-1)) == NULL)
			return fail(s, ERR_STORAGE, NULL, "cannot map %s: %s", path, strerror(errno));
		begin(shared);
	}
	*out = shared;
	return OK;
}

void
shared_close(struct shared *shared)
{
	if (shared != NULL)
		munmap(shared, sizeof(*shared));
}

/* A mutex goes to whoever is awake first, and that is the one who just gave it: alone it would let one process write on and
 * on. With two, a holder that comes back finds `next` taken by who waited. Both are robust: a waiter may be killed, too. */
bool
shared_turn_take(struct shared *shared, int timeout_ms)
{
	struct timespec until;
	bool taken;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += timeout_ms / 1000;
	until.tv_nsec += (timeout_ms % 1000) * 1000000L;
	if (until.tv_nsec >= 1000000000L) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000L;
	}
	if (!lock_until(&shared->next, &until))
		return false;
	taken = lock_until(&shared->turn, &until);
	pthread_mutex_unlock(&shared->next);
	return taken;
}

void
shared_turn_give(struct shared *shared)
{
	pthread_mutex_unlock(&shared->turn);
}

/* FNV-1a: no seed, as every process must find the same slot. */
uint32_t
shared_slot(const char *name)
{
	uint32_t h = 2166136261u;

	for (; *name != '\0'; name++)
		h = (h ^ (unsigned char)*name) * 16777619u;
	return (h ^ h >> 16) % SHARED_DEPENDENCIES;
}

uint64_t
shared_generation(struct shared *shared)
{
	return atomic_load(&shared->generation);
}

uint64_t
shared_slot_generation(struct shared *shared, uint32_t slot)
{
	uint64_t own = atomic_load(&shared->slots[slot % SHARED_DEPENDENCIES]), all = atomic_load(&shared->all);

	return own > all ? own : all;
}

void
shared_bump(struct shared *shared, uint32_t slot)
{
	bump(shared, &shared->slots[slot % SHARED_DEPENDENCIES]);
}

void
shared_bump_all(struct shared *shared)
{
	bump(shared, &shared->all);
}

int64_t
shared_changes_seen(struct shared *shared)
{
	return atomic_load(&shared->changes_seen);
}

bool
shared_changes_advance(struct shared *shared, int64_t from, int64_t to)
{
	return atomic_compare_exchange_strong(&shared->changes_seen, &from, to);
}

void
metric_add(struct shared *shared, enum metric metric, int64_t n)
{
	assert(metric < METRIC_COUNT);
	atomic_fetch_add_explicit(&shared->metrics[metric], n, memory_order_relaxed);
}

void
metric_set(struct shared *shared, enum metric metric, int64_t n)
{
	assert(metric < METRIC_COUNT);
	atomic_store_explicit(&shared->metrics[metric], n, memory_order_relaxed);
}

int64_t
metric_get(struct shared *shared, enum metric metric)
{
	assert(metric < METRIC_COUNT);
	return atomic_load_explicit(&shared->metrics[metric], memory_order_relaxed);
}

const char *
metric_name(enum metric metric)
{
	assert(metric < METRIC_COUNT);
	return metrics[metric].name;
}

const char *
metric_type(enum metric metric)
{
	assert(metric < METRIC_COUNT);
	return metrics[metric].type;
}

const char *
metric_help(enum metric metric)
{
	assert(metric < METRIC_COUNT);
	return metrics[metric].help;
}

void
shared_beat(struct shared *shared, int slot, int64_t pid)
{
	assert(slot >= 0 && slot < SHARED_BEATS);
	atomic_store(&shared->beats[slot].pid, pid);
	atomic_store(&shared->beats[slot].at, clock_monotonic());
}

int64_t
shared_beat_at(struct shared *shared, int slot)
{
	assert(slot >= 0 && slot < SHARED_BEATS);
	return atomic_load(&shared->beats[slot].at);
}

int64_t
shared_beat_pid(struct shared *shared, int slot)
{
	assert(slot >= 0 && slot < SHARED_BEATS);
	return atomic_load(&shared->beats[slot].pid);
}

static enum status
create_file(struct scope *s, int *out, const char *dir, const char *path)
{
	const char *new = scope_printf(s, "%s.new", path);
	int fd, error;

	if (mkdir(dir, 0700) == -1 && errno != EEXIST)
		return fail(s, ERR_STORAGE, NULL, "cannot make %s: %s", dir, strerror(errno));
	unlink(new);
	if ((fd = open(new, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)) == -1)
		return fail(s, ERR_STORAGE, NULL, "cannot make %s: %s", new, strerror(errno));
	/* Blocks are taken now: a full disk must not become a SIGBUS at the first touch of a hole. */
	if ((error = posix_fallocate(fd, 0, sizeof(struct shared))) != 0) {
		close(fd);
		unlink(new);
		return fail(s, ERR_STORAGE, NULL, "cannot make %s: %s", new, strerror(error));
	}
	*out = fd;
	return OK;
}

static struct shared *
map(int fd)
{
	int flags = fd == -1 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED;
	void *p = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, flags, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

static bool
is_ours(const struct shared *shared)
{
	char now[BOOT_ID];

	boot_id(now);
	return shared->magic == MAGIC && shared->layout == LAYOUT && shared->size == sizeof(*shared) &&
	    (now[0] == '\0' || memcmp(shared->boot_id, now, sizeof(now)) == 0);
}

/* Empty where there is no /proc: then nothing is known against the page. */
static void
boot_id(char out[BOOT_ID])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);

	memset(out, 0, BOOT_ID);
	if (fd == -1)
		return;
	if (read(fd, out, BOOT_ID - 1) <= 0)
		out[0] = '\0';
	close(fd);
}

static void
begin(struct shared *shared)
{
	pthread_mutexattr_t attr;

	shared->layout = LAYOUT;
	shared->size = sizeof(*shared);
	boot_id(shared->boot_id);
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&shared->turn, &attr);
	pthread_mutex_init(&shared->next, &attr);
	pthread_mutexattr_destroy(&attr);
	atomic_store(&shared->generation, 1);
	shared->magic = MAGIC;
}

/* The slot first, then the generation that announces it: a cache that has checked its slots at generation n does not look again before
 * n + 1, so no slot may be raised by a number that is out already. Bumps at one time may share a number; each announces once more. */
static void
bump(struct shared *shared, _Atomic uint64_t *slot)
{
	raise_to(slot, atomic_load(&shared->generation) + 1);
	atomic_fetch_add(&shared->generation, 1);
}

/* Two bumps may arrive here in the other order than they took their numbers. */
static void
raise_to(_Atomic uint64_t *slot, uint64_t generation)
{
	uint64_t now = atomic_load(slot);

	while (now < generation && !atomic_compare_exchange_weak(slot, &now, generation))
		continue;
}

static bool
lock_until(pthread_mutex_t *mutex, const struct timespec *until)
{
	int rc = pthread_mutex_clocklock(mutex, CLOCK_MONOTONIC, until);

	/* The holder died. What it wrote was rolled back by SQLite, so there is nothing to repair but the lock. */
	if (rc == EOWNERDEAD)
		rc = pthread_mutex_consistent(mutex);
	return rc == 0;
}
