#include "http/worker.h"

#include <signal.h>
#include <sys/eventfd.h>
#include "actions/cursor.h"
#include "actions/hits.h"
#include "actions/settings.h"
#include "actions/unit.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/unicode.h"
#include "db/migrate.h"
#include "http/dispatch.h"
#include "http/guard.h"
#include "http/kore.h"
#include "http/web.h"

struct web	 web;

/* What lives as long as the process; `templates` and `config` are the parent's, inherited. */
static struct {
	struct scope	*scope;
	struct templates *templates;
	int64_t		 schema;
	struct { struct kore_event event; int fd; } wake;	/* Kore wants the event first */
	pid_t		 parent;
	bool		 stops;
	struct write_job counts;	/* scope set while it is under way */
	_Atomic bool	 counts_done;
	int		 ticks;
} own;

static enum status	open_site(struct scope *);
static enum status	start_threads(struct scope *);
static void		give_up(struct scope *, const char *what, enum status);
static void		on_wake(void *, int);
static void		on_tick(void *, uint64_t);
static void		check_parent(void);
static void		check_writer(void);
static void		flush_counts(void);
static void		flush_metrics(void);
static enum status	write_counts(struct scope *, struct db *, void *);
static void		counts_flushed(struct write_job *);

/* In the parent, before it forks: what cannot be read here would fail in every worker. */
void
kore_parent_configure(int argc, char **argv)
{
	enum status status;
	uint64_t seed;

	/* Kore prints its log; what waits in a buffer would be printed again by every worker. */
	fflush(stdout);
	setvbuf(stdout, NULL, _IOLBF, 0);
	own.parent = getpid();
	own.scope = scope_new("web");
	arena_warm_up();
	hash_warm_up();
	random_bytes(&seed, sizeof(seed));
	hash_seed(seed);
	status = open_site(own.scope);
	if (status != OK)
		give_up(own.scope, "web.unusable", status);
}

void
kore_worker_configure(void)
{
	enum status status;

	own.wake.fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	own.wake.event.handle = on_wake;
	if (own.wake.fd == -1)
		fatalx("eventfd: %s", strerror(errno));
	kore_platform_event_level_read(own.wake.fd, &own.wake);
	web.cache = cache_new(web.shared, web.config->cache_bytes);
	status = start_threads(own.scope);
	if (status != OK)
		give_up(own.scope, "worker.unusable", status);
	metric_add(web.shared, METRIC_WORKER_STARTS, 1);
	kore_timer_add(on_tick, WORKER_TICK_MS, NULL, 0);
	on_tick(NULL, 0);
	log_info(own.scope, "worker.started", "\"worker\":%d,\"pid\":%d", (int)worker->id, (int)getpid());
}

/* Kore leaves its loop before this and closes connections after it. */
void
kore_worker_teardown(void)
{
	if (web.readers == NULL)
		return;
	web.is_draining = true;
	/* Tickets that are out and not begun go to the readers first, then what the readers send goes to the writer. A request whose last byte comes
	 * later than that finds nobody and is told so. */
	http_process();
	readers_stop(web.readers);
	web.readers = NULL;
	writer_stop(web.writer);
	dispatch_collect();
	/* Kore handles waking tickets for a few milliseconds at a time. */
	for (int rounds = 0; http_request_count > 0 && rounds < 1000; rounds++)
		http_process();
	guard_drain(WORKER_DRAIN_MS);
	flush_metrics();
	cache_free(web.cache);
	log_info(own.scope, "worker.stopped", "\"worker\":%d", (int)worker->id);
}

void
web_wake(void)
{
	const uint64_t one = 1;

	/* It fails only when the counter is full, and then the loop is awake already. */
	if (write(own.wake.fd, &one, sizeof(one)) != sizeof(one) && errno != EAGAIN)
		abort();
}

static enum status
open_site(struct scope *s)
{
	const char *data = getenv("STELE_DATA");
	struct config *c;
	const char *file;

	if (data == NULL)
		return fail(s, ERR_INVALID, NULL, "STELE_DATA is not set; start the site with `stele serve`");
	file = scope_printf(s, "%s/run/serve.conf", data);
	if (access(file, R_OK) == 0)
		TRY(config_load_file(s, &c, data, file));
	else
		TRY(config_load(s, &c, data));
	web.config = c;
	TRY(shared_open(s, &web.shared, data, false));
	/* Made here if it must be: a worker's sandbox could not. */
	TRY(server_key_open(s, data));
	TRY(migrate_newest(s, scope_printf(s, "%s/migrations/sqlite", c->share_dir), &own.schema));
	return templates_load(s, &own.templates, scope_printf(s, "%s/templates", c->share_dir));
}

static enum status
start_threads(struct scope *s)
{
	const char *path = config_path(s, web.config, "stele.db");
	const struct readers_setup setup = {
		.config = web.config, .shared = web.shared, .templates = own.templates,
		.threads = WORKER_READERS, .max_queue = WORKER_READ_QUEUE, .done = dispatch_reader_done,
	};
	struct site site;
	struct db *db;
	int64_t version;
	enum status status;

	TRY(db_open(s, &db, path, DB_READ));
	status = db_schema_version(s, db, &version);
	if (status == OK && version == own.schema)
		status = settings_site(s, db, web.config, &site);
	db_close(db);
	TRY(status);
	if (version != own.schema)
		return fail(s, ERR_CONFLICT, NULL, "the database has schema version %" PRId64 ", this program needs %" PRId64
		    "; run `stele migrate`", version, own.schema);
	/* Loading the rules that turn Han into Latin is no request's business; sites that keep their letters never need them. */
	if (site.slug_style == SLUG_ASCII)
		unicode_warm_up();
	TRY(writer_start(s, &web.writer, path, web.shared, web.config->max_queue, own.schema));
	return readers_start(s, &web.readers, &setup);
}

static void
give_up(struct scope *s, const char *what, enum status status)
{
	const char *why = s->error != NULL ? s->error->detail : status_info(status)->title;

	log_error(s, what, "\"why\":%s", log_quote(s, why));
	fatalx("%s", why);
}

static void
on_wake(void *arg, int error)
{
	uint64_t count;

	if (read(own.wake.fd, &count, sizeof(count)) != sizeof(count) && errno != EAGAIN)
		abort();
	dispatch_collect();
	guard_resume();
}

static void
on_tick(void *arg, uint64_t now)
{
	shared_beat(web.shared, worker->id, getpid());
	guard_tick(clock_monotonic());
	check_parent();
	check_writer();
	readers_poll_changes(web.readers);
	flush_metrics();
	if (++own.ticks % (1000 / WORKER_TICK_MS) == 0)
		flush_counts();
}

/* The kernel tells of a parent's death only those who asked before it, and Kore may be deaf yet when it does. */
static void
check_parent(void)
{
	if (own.stops || getppid() == own.parent)
		return;
	own.stops = true;
	log_warn(own.scope, "worker.orphaned", "\"worker\":%d", (int)worker->id);
	kill(getpid(), SIGTERM);
}

static void
check_writer(void)
{
	int64_t stalled = writer_stalled_ms(web.writer);

	if (stalled > WORKER_STALL_MS) {
		log_error(own.scope, "writer.stalled", "\"ms\":%" PRId64, stalled);
		abort();
	}
	if (writer_is_stale(web.writer) && !own.stops) {
		own.stops = true;
		log_warn(own.scope, "schema.newer", "\"knows\":%" PRId64, own.schema);
		kill(getpid(), SIGTERM);
	}
}

/* Replays, conflicts, uses of redirects and what was not found are counted off the request path: see actions/unit.h and actions/hits.h. */
static void
flush_counts(void)
{
	if (own.counts.scope != NULL && atomic_load(&own.counts_done)) {
		scope_free(own.counts.scope);
		own.counts.scope = NULL;
	}
	if (own.counts.scope != NULL || !(unit_counts_pending() || hits_pending()))
		return;
	own.counts = (struct write_job){ .scope = scope_new("counts"), .apply = write_counts, .done = counts_flushed };
	atomic_store(&own.counts_done, false);
	if (writer_submit(web.writer, &own.counts) != OK)
		atomic_store(&own.counts_done, true);
}

static enum status
write_counts(struct scope *s, struct db *db, void *unused)
{
	TRY(unit_counts_flush(s, db, NULL));
	return hits_flush(s, db, NULL);
}

static void
counts_flushed(struct write_job *job)
{
	atomic_store(&own.counts_done, true);
}

static void
flush_metrics(void)
{
	if (web.requests > 0)
		metric_add(web.shared, METRIC_REQUESTS, web.requests);
	if (web.hits > 0)
		metric_add(web.shared, METRIC_CACHE_HITS, web.hits);
	if (web.misses > 0)
		metric_add(web.shared, METRIC_CACHE_MISSES, web.misses);
	web.requests = web.hits = web.misses = 0;
}
