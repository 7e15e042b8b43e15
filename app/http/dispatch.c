#include "http/dispatch.h"

#include <pthread.h>
#include "base/clock.h"
#include "base/log.h"
#include "http/guard.h"
#include "http/kore.h"
#include "http/run.h"
#include "http/web.h"

#define LEADERS 256		/* buckets; a power of two */

static struct {
	pthread_mutex_t	 lock;		/* guards first and last */
	struct task	*first, **last;
	int		 pending;
	struct task	*leaders[LEADERS];
} back = { .lock = PTHREAD_MUTEX_INITIALIZER, .last = &back.first };

EXPORT int	 app_dispatch(struct http_request *);
static void	 answer(struct http_request *, struct task *);
static void	 begin(struct task *);
static bool	 join_leader(struct task *);
static void	 stop_leading(struct task *);
static void	 write_done(struct write_job *);
static void	 push(struct task *);
static void	 collect(struct task *);
static void	 keep(struct task *);
static void	 settle_others(struct task *leader);
static bool	 take_from_cache(struct task *);
static void	 refuse(struct task *, enum status);
static void	 finish(struct task *);
static void	 on_ticket_free(struct http_request *);
static void	 log_access(const struct task *, const struct wire *);

/* Kore's handler for every ticket. It is called again whenever somebody woke the ticket, for whatever reason. */
int
app_dispatch(struct http_request *req)
{
	struct task *t = req->hdlr_extra;

	if (t == NULL) {
		t = guard_take(req->owner);
		/* Its client went away in this same round, and took the task along. */
		if (t == NULL)
			return KORE_RESULT_ERROR;
		t->ticket = req;
		req->hdlr_extra = t;
		req->flags |= HTTP_REQUEST_RETAIN_EXTRA;
		req->onfree = on_ticket_free;
		begin(t);
	}
	if (!t->is_done) {
		http_request_sleep(req);
		return KORE_RESULT_RETRY;
	}
	answer(req, t);
	return KORE_RESULT_OK;
}

void
dispatch_reader_done(struct task *t, bool to_write)
{
	enum status status;

	if (to_write) {
		t->job = (struct write_job){
			.scope = t->scope, .apply = unit_apply, .arg = t->exchange.unit, .done = write_done,
		};
		status = writer_submit(web.writer, &t->job);
		if (status == OK)
			return;
		exchange_finish(t->scope, &t->exchange, status);
		respond_prepare(t->scope, &t->request, ROUTE_API, &t->exchange.response, &t->prepared);
	}
	push(t);
}

void
dispatch_collect(void)
{
	struct task *t, *next;

	pthread_mutex_lock(&back.lock);
	t = back.first;
	back.first = NULL;
	back.last = &back.first;
	pthread_mutex_unlock(&back.lock);
	for (; t != NULL; t = next) {
		next = t->next;
		back.pending--;
		collect(t);
	}
}

int
dispatch_pending(void)
{
	return back.pending;
}

static void
answer(struct http_request *req, struct task *t)
{
	struct wire *w = t->prepared.is_hit ? t->prepared.not_modified : t->prepared.full;

	req->status = w->status;
	guard_answer(req->owner, w, t);
	log_access(t, w);
	/* http_request_free must not find it any more. */
	req->hdlr_extra = NULL;
	task_free(t);
}

static void
begin(struct task *t)
{
	if (t->has_key && join_leader(t))
		return;
	if (t->has_key)
		web.misses++;
	if (web.readers != NULL && readers_submit(web.readers, t)) {
		back.pending++;
		return;
	}
	stop_leading(t);
	refuse(t, ERR_BUSY);
}

/* One rendering for all who ask for the same page at the same time. False: the task is the one that does it. */
static bool
join_leader(struct task *t)
{
	struct task **at = &back.leaders[t->key.hash & (LEADERS - 1)];

	for (struct task *l = *at; l != NULL; l = l->next_leader) {
		if (l->key.hash == t->key.hash && l->key.len == t->key.len && memcmp(l->key.text, t->key.text, t->key.len) == 0) {
			t->same = l->same;
			l->same = t;
			return true;
		}
	}
	t->leads = true;
	t->next_leader = *at;
	*at = t;
	return false;
}

static void
stop_leading(struct task *t)
{
	struct task **at = &back.leaders[t->key.hash & (LEADERS - 1)];

	if (!t->leads)
		return;
	while (*at != t)
		at = &(*at)->next_leader;
	*at = t->next_leader;
	t->leads = false;
}

/* On the writer thread, after the commit. */
static void
write_done(struct write_job *job)
{
	struct task *t = (struct task *)((char *)job - offsetof(struct task, job));

	exchange_finish(t->scope, &t->exchange, job->result);
	respond_prepare(t->scope, &t->request, ROUTE_API, &t->exchange.response, &t->prepared);
	push(t);
}

static void
push(struct task *t)
{
	bool was_empty;

	t->next = NULL;
	pthread_mutex_lock(&back.lock);
	was_empty = back.first == NULL;
	*back.last = t;
	back.last = &t->next;
	pthread_mutex_unlock(&back.lock);
	/* Else whoever made it so has called the event loop, and that takes all there is. */
	if (was_empty)
		web_wake();
}

static void
collect(struct task *t)
{
	if (t->leads) {
		stop_leading(t);
		keep(t);
		settle_others(t);
	}
	finish(t);
}

static void
keep(struct task *t)
{
	const struct response *r = &t->exchange.response;
	struct cache_entry *e;

	if (!r->is_cacheable)
		return;
	e = cache_entry_new(&t->key);
	e->full = wire_hold(t->prepared.full);
	if (t->prepared.not_modified != NULL)
		e->not_modified = wire_hold(t->prepared.not_modified);
	memcpy(e->etag, t->prepared.etag, sizeof(e->etag));
	e->modified_at = t->prepared.modified_at;
	e->valid_until = r->valid_until;
	e->generation = t->generation;
	e->slot_count = r->depends_count;
	memcpy(e->slots, t->slots, r->depends_count * sizeof(*t->slots));
	cache_put(web.cache, e, clock_now());
}

/* Who came later must not get an answer older than its question, so the cache decides. */
static void
settle_others(struct task *leader)
{
	struct task *t = leader->same, *next;

	leader->same = NULL;
	for (; t != NULL; t = next) {
		next = t->same;
		t->same = NULL;
		if (take_from_cache(t)) {
			web.hits++;
			finish(t);
			continue;
		}
		t->has_key = false;
		begin(t);
		if (t->is_done)
			finish(t);
	}
}

static bool
take_from_cache(struct task *t)
{
	const struct cache_entry *e = cache_find(web.cache, &t->key, clock_now());

	if (e == NULL)
		return false;
	t->prepared.full = wire_hold(e->full);
	if (e->not_modified != NULL) {
		t->prepared.not_modified = wire_hold(e->not_modified);
		t->prepared.is_hit = respond_is_fresh(&t->request, e->etag, e->modified_at);
	}
	return true;
}

static void
refuse(struct task *t, enum status status)
{
	respond_error(t->scope, &t->exchange, status);
	respond_prepare(t->scope, &t->request, router_kind(t->request.path), &t->exchange.response, &t->prepared);
	t->is_done = true;
}

static void
finish(struct task *t)
{
	t->is_done = true;
	if (t->ticket != NULL)
		http_request_wakeup(t->ticket);
	else
		task_free(t);
}

/* The client hung up, or the ticket was answered. What is under way goes on; whoever has it sends it back, and then it is freed. */
static void
on_ticket_free(struct http_request *req)
{
	struct task *t = req->hdlr_extra;

	if (t == NULL)
		return;
	req->hdlr_extra = NULL;
	t->ticket = NULL;
	atomic_store(&t->is_gone, true);
	if (t->is_done)
		task_free(t);
}

/* One line for every request that was not answered from the cache. The path is left out: it may hold what people typed. */
static void
log_access(const struct task *t, const struct wire *w)
{
	const struct unit *unit = t->exchange.unit;
	const char *route = t->exchange.route != NULL ? t->exchange.route->pattern : "";
	const char *key = unit != NULL && unit->key != NULL ? unit->key : NULL;

	log_info(t->scope, "request", "\"method\":\"%s\",\"route\":\"%s\",\"status\":%d,\"ms\":%" PRId64 "%s%s%s",
	    method_name(t->request.method), route, w->status, clock_monotonic() - t->began_at,
	    key != NULL ? ",\"idempotency_key\":" : "", key != NULL ? log_quote(t->scope, key) : "",
	    unit != NULL && unit->answer.resource_id != 0 ?
	    scope_printf(t->scope, ",\"user\":%" PRId64 ",\"resource\":%" PRId64, unit->who.user_id, unit->answer.resource_id) : "");
}
