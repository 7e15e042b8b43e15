#include "http/guard.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include "base/clock.h"
#include "base/hash.h"
#include "base/log.h"
#include "http/hosts.h"
#include "http/kore.h"
#include "http/send.h"
#include "http/web.h"

#define BUFFER_BYTES MESSAGE_BYTES_MAX
#define SPARE_BUFFERS 16
#define DISCARD_MAX ((int64_t)1 << 20)	/* a body nobody wants is read to its end up to here */
#define DRAIN_MAX ((size_t)8 << 20)	/* read and forgotten after a refusal */
#define TURNS_MAX 32			/* requests of one connection before others have their turn */

enum phase {
	PHASE_HEAD,		/* between requests, or inside a header block */
	PHASE_BODY,		/* `left` bytes of body are still to come */
	PHASE_BUSY,		/* a ticket is out */
	PHASE_CLOSING,		/* closes when the send queue is empty */
	PHASE_LINGER		/* our side is shut; what still comes is forgotten */
};

/* Hangs at connection.hdlr_extra; Kore frees it with kore_free. */
struct guard {
	enum phase	 phase;
	char		*buffer;	/* BUFFER_BYTES, or NULL while nothing is held */
	size_t		 from, to;	/* bytes not yet taken */
	struct task	*task;		/* PHASE_BODY, and PHASE_BUSY until guard_take */
	int64_t		 left;
	bool		 wants_body;	/* else it is read and dropped */
	bool		 saw_end;	/* the peer will send nothing more */
	int64_t		 deadline;	/* clock_monotonic; 0 = none */
	size_t		 drained;
	char		 peer[INET6_ADDRSTRLEN];
	bool		 is_waiting;	/* on the list of guard_resume */
	struct connection *next;
};

static char	*spare[SPARE_BUFFERS];
static int	 spare_count;
static struct connection *waiting;

EXPORT void	 app_connect(struct connection *);
static void	 on_event(void *, int error);
static void	 on_disconnect(struct connection *);
static void	 pump(struct connection *);
static bool	 pump_once(struct connection *, struct guard *);
static bool	 fill(struct connection *, struct guard *);
static ssize_t	 receive(struct connection *, struct guard *, void *, size_t);
static bool	 read_message(struct connection *, struct guard *);
static void	 accept_message(struct connection *, struct guard *, const struct message *);
static bool	 answer_from_cache(struct connection *, const struct message *, const struct request *, struct cache_key *);
static void	 next_id(char out[UUID_TEXT], int64_t now);
static enum status body_rule(struct guard *, const struct message *);
static void	 expect_body(struct connection *, struct guard *, const struct message *, bool is_here);
static bool	 read_body(struct connection *, struct guard *);
static void	 give_ticket(struct connection *, struct guard *);
static void	 refuse(struct connection *, struct guard *, enum status, struct str path);
static void	 close_when_sent(struct connection *, struct guard *);
static bool	 linger(struct connection *, struct guard *);
static void	 take_turn_later(struct connection *, struct guard *);
static void	 buffer_give(struct guard *);
static void	 expire(struct connection *, struct guard *, int64_t now);
static void	 drop_task(struct guard *);

static struct guard *
guard_of(struct connection *c)
{
	return c->hdlr_extra;
}

/* Named in Kore's configuration: called for every connection that was accepted. */
void
app_connect(struct connection *c)
{
	struct guard *g = kore_calloc(1, sizeof(*g));
	const void *address = c->family == AF_INET6 ? (const void *)&c->addr.ipv6.sin6_addr : (const void *)&c->addr.ipv4.sin_addr;

	if (c->family != AF_UNIX && inet_ntop(c->family, address, g->peer, sizeof(g->peer)) != NULL &&
	    strncmp(g->peer, "::ffff:", 7) == 0 && strchr(g->peer, '.') != NULL)
		memmove(g->peer, g->peer + 7, strlen(g->peer + 7) + 1);
	g->deadline = clock_monotonic() + GUARD_HEAD_MS;
	c->hdlr_extra = g;
	c->proto = CONN_PROTO_HTTP;
	c->evt.handle = on_event;
	c->disconnect = on_disconnect;
	c->write = send_queued;
	/* Ours are the timeouts. */
	c->http_timeout = 0;
	c->idle_timer.length = UINT64_MAX;
}

struct task *
guard_take(struct connection *c)
{
	struct guard *g = guard_of(c);
	struct task *t = g->task;

	g->task = NULL;
	return t;
}

void
guard_answer(struct connection *c, struct wire *w, const struct task *t)
{
	struct guard *g = guard_of(c);
	bool close = t->wants_close || t->exchange.response.close || web.is_draining;

	if (c->state == CONN_STATE_DISCONNECTING)
		return;
	if (!send_wire(c, w, t->request.method != METHOD_HEAD, clock_now(), t->request.id, close)) {
		kore_connection_disconnect(c);
		return;
	}
	g->phase = PHASE_HEAD;
	g->deadline = clock_monotonic() + GUARD_IDLE_MS;
	if (close)
		close_when_sent(c, g);
	else if (g->to > g->from || (c->evt.flags & KORE_EVENT_READ) != 0)
		take_turn_later(c, g);
}

void
guard_resume(void)
{
	struct connection *c = waiting, *next;

	waiting = NULL;
	for (; c != NULL; c = next) {
		next = guard_of(c)->next;
		guard_of(c)->is_waiting = false;
		pump(c);
	}
}

void
guard_tick(int64_t now)
{
	struct connection *c, *next;

	for (c = TAILQ_FIRST(&connections); c != NULL; c = next) {
		next = TAILQ_NEXT(c, list);
		if (c->evt.handle == on_event && guard_of(c)->deadline != 0 && now > guard_of(c)->deadline)
			expire(c, guard_of(c), now);
	}
}

void
guard_drain(int ms)
{
	const struct timespec pause = { 0, 5000000 };
	int64_t until = clock_monotonic() + ms;
	struct connection *c, *next;
	bool waits = true;

	while (waits && clock_monotonic() < until) {
		waits = false;
		for (c = TAILQ_FIRST(&connections); c != NULL; c = next) {
			next = TAILQ_NEXT(c, list);
			if (c->evt.handle != on_event || TAILQ_EMPTY(&c->send_queue))
				continue;
			c->evt.flags |= KORE_EVENT_WRITE;
			if (net_send_flush(c) != KORE_RESULT_OK)
				kore_connection_disconnect(c);
			else if (!TAILQ_EMPTY(&c->send_queue))
				waits = true;
		}
		if (waits)
			nanosleep(&pause, NULL);
	}
	for (c = TAILQ_FIRST(&connections); c != NULL; c = TAILQ_NEXT(c, list))
		if (c->evt.handle == on_event)
			shutdown(c->fd, SHUT_WR);
}

/* Events are edge-triggered: flags stay until a call says that there is no more. */
static void
on_event(void *arg, int error)
{
	struct connection *c = arg;
	struct guard *g = guard_of(c);
	char byte;

	if (c->state == CONN_STATE_DISCONNECTING)
		return;
	if (error) {
		/* The peer shut its side, which is no reason not to answer, or the connection is broken. */
		g->saw_end = true;
		c->evt.flags |= KORE_EVENT_READ;
		if (recv(c->fd, &byte, 1, MSG_PEEK) == -1 && errno != EAGAIN && errno != EINTR) {
			kore_connection_disconnect(c);
			return;
		}
	}
	if ((c->evt.flags & KORE_EVENT_WRITE) != 0 && !TAILQ_EMPTY(&c->send_queue)) {
		if (net_send_flush(c) != KORE_RESULT_OK) {
			kore_connection_disconnect(c);
			return;
		}
		if (g->phase == PHASE_HEAD || g->phase == PHASE_CLOSING)
			g->deadline = clock_monotonic() + GUARD_IDLE_MS;
	}
	pump(c);
}

/* Kore calls it once, before it frees the connection. A ticket that is out learns of it by itself. */
static void
on_disconnect(struct connection *c)
{
	struct guard *g = guard_of(c);

	for (struct connection **at = &waiting; g->is_waiting && *at != NULL; at = &guard_of(*at)->next) {
		if (*at == c) {
			*at = g->next;
			break;
		}
	}
	g->is_waiting = false;
	buffer_give(g);
	drop_task(g);
}

static void
pump(struct connection *c)
{
	struct guard *g = guard_of(c);

	for (int turns = 0; c->state != CONN_STATE_DISCONNECTING; turns++) {
		if (turns == TURNS_MAX) {
			take_turn_later(c, g);
			return;
		}
		if (!pump_once(c, g))
			return;
	}
}

/* One step; false when nothing more can be done now. */
static bool
pump_once(struct connection *c, struct guard *g)
{
	switch (g->phase) {
	case PHASE_HEAD:
	case PHASE_BODY:
		/* Back-pressure: who does not read its answers is not asked for more. */
		if (!TAILQ_EMPTY(&c->send_queue))
			return false;
		if (g->phase == PHASE_BODY)
			return read_body(c, g);
		return read_message(c, g) || fill(c, g);
	case PHASE_CLOSING:
		if (TAILQ_EMPTY(&c->send_queue))
			close_when_sent(c, g);
		return g->phase == PHASE_LINGER;
	case PHASE_LINGER:
		return linger(c, g);
	case PHASE_BUSY:
		break;
	}
	return false;
}

/* Bytes into the buffer; false when there are none now. */
static bool
fill(struct connection *c, struct guard *g)
{
	ssize_t n;

	if ((c->evt.flags & KORE_EVENT_READ) == 0) {
		if (g->from == g->to)
			buffer_give(g);
		return false;
	}
	if (g->buffer == NULL) {
		g->buffer = spare_count > 0 ? spare[--spare_count] : malloc(BUFFER_BYTES);
		if (g->buffer == NULL)
			abort();
		g->from = g->to = 0;
	}
	if (g->from > 0) {
		memmove(g->buffer, g->buffer + g->from, g->to - g->from);
		g->to -= g->from;
		g->from = 0;
	}
	n = receive(c, g, g->buffer + g->to, BUFFER_BYTES - g->to);
	if (n <= 0) {
		if (g->from == g->to)
			buffer_give(g);
		return false;
	}
	if (g->to == 0 && g->phase == PHASE_HEAD)
		g->deadline = clock_monotonic() + GUARD_HEAD_MS;
	g->to += (size_t)n;
	return true;
}

/* recv(2). 0: nothing now; -1: the connection is over, or closes as soon as its answers have left. */
static ssize_t
receive(struct connection *c, struct guard *g, void *to, size_t room)
{
	ssize_t n = recv(c->fd, to, room, 0);

	if (n == -1 && errno == EINTR)
		return 0;
	if (n == -1 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
		c->evt.flags &= ~KORE_EVENT_READ;
		return 0;
	}
	if (n <= 0) {
		c->evt.flags &= ~KORE_EVENT_READ;
		g->saw_end = true;
		if (n == 0 && !TAILQ_EMPTY(&c->send_queue)) {
			g->phase = PHASE_CLOSING;
			return -1;
		}
		kore_connection_disconnect(c);
		return -1;
	}
	/* A short read has emptied the socket: the next byte brings an event. After the end of the stream none would come. */
	if ((size_t)n < room && !g->saw_end)
		c->evt.flags &= ~KORE_EVENT_READ;
	return n;
}

/* A whole header block, if there is one; false when more is needed. */
static bool
read_message(struct connection *c, struct guard *g)
{
	struct str bytes = { g->buffer + g->from, g->to - g->from };
	struct message m;
	enum status status;
	size_t end;

	if (bytes.len == 0)
		return false;
	m.path = (struct str){ NULL, 0 };
	status = message_end(bytes, &end);
	if (status == OK && end == 0)
		return false;
	if (status == OK) {
		g->from += end;
		status = message_parse(&m, str_part(bytes, 0, end));
	}
	if (status != OK)
		refuse(c, g, status, m.path);
	else
		accept_message(c, g, &m);
	return true;
}

static void
accept_message(struct connection *c, struct guard *g, const struct message *m)
{
	struct request request = {
		.method = m->method, .target = m->target, .path = m->path, .query = m->query, .host = m->host,
		.peer = str_of(g->peer), .headers = m->headers, .header_count = m->header_count,
	};
	struct cache_key key = { 0 };
	enum status status;

	web.requests++;
	if (m->method <= METHOD_HEAD && m->length == 0 && answer_from_cache(c, m, &request, &key))
		return;
	status = body_rule(g, m);
	if (status != OK) {
		refuse(c, g, status, m->path);
		return;
	}
	g->task = task_new(m, g->peer, m->wants_close);
	g->task->has_key = key.len > 0;
	if (key.len > 0)
		g->task->key = key;
	g->left = m->length;
	expect_body(c, g, m, g->from < g->to);
	if (g->left == 0)
		give_ticket(c, g);
}

/* The fast path. `key` is set when the answer, once made, may be kept. */
static bool
answer_from_cache(struct connection *c, const struct message *m, const struct request *r, struct cache_key *key)
{
	enum coding coding = coding_negotiate(message_header(m, "accept-encoding"));
	const struct cache_entry *e;
	const char *origin;
	char id[UUID_TEXT];
	struct wire *w;
	bool close = m->wants_close || web.is_draining;
	int64_t now = clock_now();

	if (!cache_key_make(key, coding, m->path, m->query))
		return false;
	if (host_rule(web.config, r, ROUTE_PUBLIC, &origin) != HOST_OURS) {
		key->len = 0;
		return false;
	}
	e = cache_find(web.cache, key, now);
	if (e == NULL) {
		if (router_kind(m->path) != ROUTE_PUBLIC)
			key->len = 0;
		return false;
	}
	web.hits++;
	w = e->not_modified != NULL && respond_is_fresh(r, e->etag, e->modified_at) ? e->not_modified : e->full;
	next_id(id, now);
	if (!send_wire(c, w, m->method != METHOD_HEAD, now, id, close)) {
		kore_connection_disconnect(c);
		return true;
	}
	guard_of(c)->deadline = clock_monotonic() + GUARD_IDLE_MS;
	if (close)
		close_when_sent(c, guard_of(c));
	return true;
}

/* A fresh UUIDv7 costs a system call and more time than the rest of the fast path: one a second, and its last digits count. */
static void
next_id(char out[UUID_TEXT], int64_t now)
{
	static const char hex[] = "0123456789abcdef";
	static char base[UUID_TEXT];
	static int64_t second = -1;
	static unsigned used;

	if (now / 1000 != second || used > 0xffff) {
		uuid7(base, now);
		second = now / 1000;
		used = 0;
	}
	memcpy(out, base, UUID_TEXT);
	for (int i = 0; i < 4; i++)
		out[UUID_TEXT - 2 - i] = hex[used >> (4 * i) & 15];
	used++;
}

/* How much body the request may bring, and whether anybody wants it. */
static enum status
body_rule(struct guard *g, const struct message *m)
{
	const struct route *route;
	int64_t limit = 0;

	if (router_find(&route, m->method, m->path, NULL) == OK)
		limit = route->body_limit;
	g->wants_body = limit > 0;
	if (m->length > (g->wants_body ? limit : DISCARD_MAX))
		return ERR_TOO_LARGE;
	if (m->length > 0 && task_bodies_held() > GUARD_BODIES_MAX)
		return ERR_BUSY;
	return OK;
}

static void
expect_body(struct connection *c, struct guard *g, const struct message *m, bool is_here)
{
	static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";

	if (g->left == 0)
		return;
	g->phase = PHASE_BODY;
	g->deadline = clock_monotonic() + GUARD_BODY_MS + g->left / 16;
	if (!m->wants_continue || is_here)
		return;
	net_send_queue(c, go_on, sizeof(go_on) - 1);
	c->evt.flags |= KORE_EVENT_WRITE;
	if (net_send_flush(c) != KORE_RESULT_OK)
		kore_connection_disconnect(c);
}

/* Body bytes from the buffer first, then straight from the socket to where they stay. */
static bool
read_body(struct connection *c, struct guard *g)
{
	size_t want = g->left > INT32_MAX ? INT32_MAX : (size_t)g->left, room, n;
	ssize_t got;
	char *to;

	/* Those that began when there was room may still be too many together. */
	if (g->wants_body && task_bodies_held() > 2 * GUARD_BODIES_MAX) {
		struct str path = g->task->request.path;

		refuse(c, g, ERR_BUSY, path);
		drop_task(g);
		return true;
	}
	if (g->from == g->to && g->wants_body) {
		to = task_body_room(g->task, want, &room);
		got = (c->evt.flags & KORE_EVENT_READ) != 0 ? receive(c, g, to, room) : 0;
		if (got <= 0)
			return false;
		n = (size_t)got;
		g->task->request.body.len += n;
	} else {
		if (g->from == g->to && !fill(c, g))
			return false;
		n = g->to - g->from < want ? g->to - g->from : want;
		if (g->wants_body) {
			to = task_body_room(g->task, want, &room);
			n = n < room ? n : room;
			memcpy(to, g->buffer + g->from, n);
			g->task->request.body.len += n;
		}
		g->from += n;
	}
	g->left -= (int64_t)n;
	if (g->left == 0)
		give_ticket(c, g);
	return true;
}

/* Kore's request is only a ticket: what stands in it is constant. Everything about the real request is in the task. */
static void
give_ticket(struct connection *c, struct guard *g)
{
	static const char block[] = "GET / HTTP/1.1\r\nhost: stele\r\n\r\n";

	if (http_request_count >= http_request_limit) {
		drop_task(g);
		refuse(c, g, ERR_BUSY, (struct str){ NULL, 0 });
		return;
	}
	if (c->rnb == NULL)
		net_recv_queue(c, sizeof(block), NETBUF_CALL_CB_ALWAYS, http_header_recv);
	else
		net_recv_reset(c, sizeof(block), http_header_recv);
	memcpy(c->rnb->buf, block, sizeof(block) - 1);
	c->rnb->s_off = sizeof(block) - 1;
	g->phase = PHASE_BUSY;
	g->deadline = 0;
	(void)http_header_recv(c->rnb);
	if (g->from == g->to)
		buffer_give(g);
}

/* Where this request ends is not known or not worth waiting for, so it is the last one of its connection. */
static void
refuse(struct connection *c, struct guard *g, enum status status, struct str path)
{
	char id[UUID_TEXT];
	struct scope *s;
	struct wire *w;

	uuid7(id, clock_now());
	s = scope_new(id);
	w = respond_refusal(s, status, str_starts(path, "/api/"));
	log_info(s, "request.refused", "\"status\":%d,\"code\":\"%s\"", status_info(status)->http, status_info(status)->code);
	g->phase = PHASE_CLOSING;
	if (send_wire(c, w, true, s->now, id, true)) {
		g->deadline = clock_monotonic() + GUARD_IDLE_MS;
		close_when_sent(c, g);
	} else
		kore_connection_disconnect(c);
	wire_drop(w);
	scope_free(s);
}

/* A close while unread bytes are in the socket would reset the connection and take the answer with it: shut our side, and read on for a while. */
static void
close_when_sent(struct connection *c, struct guard *g)
{
	g->phase = PHASE_CLOSING;
	if (!TAILQ_EMPTY(&c->send_queue))
		return;
	shutdown(c->fd, SHUT_WR);
	g->phase = PHASE_LINGER;
	g->deadline = clock_monotonic() + GUARD_LINGER_MS;
	take_turn_later(c, g);
}

static bool
linger(struct connection *c, struct guard *g)
{
	g->from = g->to = 0;
	if (!fill(c, g))
		return false;
	g->drained += g->to;
	g->from = g->to = 0;
	if (g->drained > DRAIN_MAX) {
		kore_connection_disconnect(c);
		return false;
	}
	return true;
}

static void
take_turn_later(struct connection *c, struct guard *g)
{
	if (g->is_waiting)
		return;
	g->is_waiting = true;
	g->next = waiting;
	waiting = c;
	web_wake();
}

static void
buffer_give(struct guard *g)
{
	if (g->buffer == NULL)
		return;
	if (spare_count < SPARE_BUFFERS)
		spare[spare_count++] = g->buffer;
	else
		free(g->buffer);
	g->buffer = NULL;
	g->from = g->to = 0;
}

static void
expire(struct connection *c, struct guard *g, int64_t now)
{
	bool is_inside = g->phase == PHASE_BODY || (g->phase == PHASE_HEAD && g->to > g->from);

	if (!TAILQ_EMPTY(&c->send_queue) || !is_inside) {
		kore_connection_disconnect(c);
		return;
	}
	drop_task(g);
	refuse(c, g, ERR_TIMEOUT, (struct str){ NULL, 0 });
}

static void
drop_task(struct guard *g)
{
	if (g->task == NULL)
		return;
	task_free(g->task);
	g->task = NULL;
}
