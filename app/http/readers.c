#include "http/readers.h"

#include <pthread.h>
#include <signal.h>
#include "actions/settings.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/priority.h"
#include "db/writer.h"
#include "http/run.h"

#define STACK_BYTES ((size_t)2 << 20)

struct site_copy {
	struct scope	*scope;
	struct site	 site;
	_Atomic int	 refs;
};

struct reader_thread {
	struct readers	*owner;
	pthread_t	 thread;
	struct reader	 reader;
	struct site_copy *site;		/* NULL until it was read once */
	uint64_t	 site_generation;
};

struct readers {
	struct readers_setup setup;
	struct scope	*scope;
	pthread_mutex_t	 lock;		/* guards everything below */
	pthread_cond_t	 changed;
	struct task	*first, **last;
	int		 length;
	bool		 is_closed, poll_wanted, poll_runs;
	int		 count;
	struct reader_thread threads[];
};

static enum status	start_thread(struct scope *, struct readers *, struct reader_thread *);
static void		*reader_main(void *);
static struct task	*next_task(struct readers *, bool *polls);
static void		 run_task(struct reader_thread *, struct task *);
static void		 keep_dependencies(struct task *);
static enum status	 refresh_site(struct scope *, struct reader_thread *);
static void		 poll_changes(struct reader_thread *);

enum status
readers_start(struct scope *s, struct readers **out, const struct readers_setup *setup)
{
	struct scope *own = scope_new("readers");
	struct readers *r = scope_alloc(own, sizeof(*r) + (size_t)setup->threads * sizeof(r->threads[0]));

	r->setup = *setup;
	r->scope = own;
	r->last = &r->first;
	pthread_mutex_init(&r->lock, NULL);
	pthread_cond_init(&r->changed, NULL);
	*out = r;
	for (int i = 0; i < setup->threads; i++) {
		enum status status = start_thread(s, r, &r->threads[i]);

		if (status != OK) {
			readers_stop(r);
			return status;
		}
		r->count++;
	}
	return OK;
}

bool
readers_submit(struct readers *r, struct task *t)
{
	bool taken;

	t->next = NULL;
	pthread_mutex_lock(&r->lock);
	taken = !r->is_closed && r->length < r->setup.max_queue;
	if (taken) {
		r->length++;
		*r->last = t;
		r->last = &t->next;
		pthread_cond_signal(&r->changed);
	}
	pthread_mutex_unlock(&r->lock);
	return taken;
}

void
readers_poll_changes(struct readers *r)
{
	pthread_mutex_lock(&r->lock);
	if (!r->poll_wanted && !r->poll_runs) {
		r->poll_wanted = true;
		pthread_cond_signal(&r->changed);
	}
	pthread_mutex_unlock(&r->lock);
}

void
readers_stop(struct readers *r)
{
	pthread_mutex_lock(&r->lock);
	r->is_closed = true;
	pthread_cond_broadcast(&r->changed);
	pthread_mutex_unlock(&r->lock);
	for (int i = 0; i < r->count; i++) {
		pthread_join(r->threads[i].thread, NULL);
		db_close(r->threads[i].reader.db);
		site_release(r->threads[i].site);
	}
	pthread_cond_destroy(&r->changed);
	pthread_mutex_destroy(&r->lock);
	scope_free(r->scope);
}

void
site_release(struct site_copy *site)
{
	if (site != NULL && atomic_fetch_sub(&site->refs, 1) == 1)
		scope_free(site->scope);
}

static enum status
start_thread(struct scope *s, struct readers *r, struct reader_thread *t)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	int error;

	t->owner = r;
	t->reader = (struct reader){ .shared = r->setup.shared, .config = r->setup.config, .templates = r->setup.templates };
	TRY(db_open(s, &t->reader.db, config_path(s, r->setup.config, "stele.db"), DB_READ));
	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	/* Signals are for the event loop. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&t->thread, &attributes, reader_main, t);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	if (error != 0) {
		db_close(t->reader.db);
		return fail(s, ERR_BUSY, NULL, "cannot start a reader: %s", strerror(error));
	}
	return OK;
}

static void *
reader_main(void *arg)
{
	struct reader_thread *me = arg;
	struct task *t;
	bool polls;

	priority_background();
	while ((t = next_task(me->owner, &polls)) != NULL || polls) {
		if (polls)
			poll_changes(me);
		else
			run_task(me, t);
	}
	return NULL;
}

/* NULL without `polls`: closed and empty. */
static struct task *
next_task(struct readers *r, bool *polls)
{
	struct task *t = NULL;

	pthread_mutex_lock(&r->lock);
	while (r->first == NULL && !r->is_closed && !r->poll_wanted)
		pthread_cond_wait(&r->changed, &r->lock);
	*polls = r->poll_wanted && !r->is_closed;
	if (*polls) {
		r->poll_wanted = false;
		r->poll_runs = true;
	} else if ((t = r->first) != NULL) {
		r->first = t->next;
		if (r->first == NULL)
			r->last = &r->first;
		r->length--;
	}
	pthread_mutex_unlock(&r->lock);
	return t;
}

static void
run_task(struct reader_thread *me, struct task *t)
{
	struct exchange *ex = &t->exchange;
	bool to_write = false, is_ours = false;
	enum status status;

	(void)fault("reader");
	t->scope->now = clock_now();
	/* Before the snapshot: a change that comes in between makes the answer look older than it is, never newer. */
	me->reader.generation = t->generation = shared_generation(me->reader.shared);
	ex->reader = &me->reader;
	status = refresh_site(t->scope, me);
	if (me->site != NULL) {
		atomic_fetch_add(&me->site->refs, 1);
		t->site = me->site;
	}
	if (status != OK && me->site == NULL && router_kind(t->request.path) != ROUTE_ANY_HOST)
		respond_error(t->scope, ex, status);
	else if (!atomic_load(&t->is_gone) || t->request.method > METHOD_HEAD)
		to_write = exchange_run(t->scope, ex, &is_ours);
	else
		respond_error(t->scope, ex, ERR_BUSY);
	ex->response.is_cacheable = ex->response.is_cacheable && is_ours;
	if (!to_write) {
		respond_prepare(t->scope, &t->request, router_kind(t->request.path), &ex->response, &t->prepared);
		keep_dependencies(t);
	}
	ex->reader = NULL;
	me->owner->setup.done(t, to_write);
}

/* The names may lie in the reader's memory; the event loop needs slots anyway. */
static void
keep_dependencies(struct task *t)
{
	struct response *r = &t->exchange.response;

	if (!t->has_key || !r->is_cacheable || r->depends_count > CACHE_SLOTS_MAX) {
		r->is_cacheable = false;
		return;
	}
	t->slots = scope_alloc(t->scope, (r->depends_count + 1) * sizeof(*t->slots));
	for (size_t i = 0; i < r->depends_count; i++)
		t->slots[i] = shared_slot(r->depends[i]);
}

static enum status
refresh_site(struct scope *s, struct reader_thread *me)
{
	uint64_t newest = shared_slot_generation(me->reader.shared, shared_slot("settings")), before;
	uint64_t rules = shared_slot_generation(me->reader.shared, shared_slot("rules"));
	struct scope *own;
	struct site_copy *copy;
	enum status status;

	if (me->site != NULL && newest <= me->site_generation && rules <= me->site_generation)
		return OK;
	before = shared_generation(me->reader.shared);
	own = scope_new("settings");
	copy = scope_alloc(own, sizeof(*copy));
	copy->scope = own;
	copy->refs = 1;
	status = settings_site(own, me->reader.db, me->reader.config, &copy->site);
	if (status == OK)
		status = settings_rules(own, me->reader.db, &copy->site);
	if (status != OK) {
		log_error(s, "settings.unreadable", "\"status\":\"%s\"", status_info(status)->code);
		scope_free(own);
		return fail(s, status, NULL, "the settings cannot be read");
	}
	site_release(me->site);
	me->site = copy;
	me->site_generation = before;
	me->reader.site = &copy->site;
	return OK;
}

static void
poll_changes(struct reader_thread *me)
{
	struct scope *s = scope_new("changes");
	enum status status = db_changes_apply(s, me->reader.db, me->reader.shared);

	if (status != OK)
		log_warn(s, "changes.unreadable", "\"status\":\"%s\"", status_info(status)->code);
	scope_free(s);
	pthread_mutex_lock(&me->owner->lock);
	me->owner->poll_runs = false;
	pthread_mutex_unlock(&me->owner->lock);
}
