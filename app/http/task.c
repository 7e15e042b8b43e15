#include "http/task.h"
#include "base/clock.h"
#include "base/hash.h"
#include "http/readers.h"

#define BODY_STEP ((size_t)16 * 1024)

static struct str	copy(struct scope *s, struct str text);

static int64_t	bodies_held;

struct task *
task_new(const struct message *m, const char *peer, bool wants_close)
{
	char id[UUID_TEXT];
	struct scope *s;
	struct task *t;
	struct header *headers;

	uuid7(id, clock_now());
	s = scope_new(id);
	t = scope_alloc(s, sizeof(*t));
	t->scope = s;
	headers = scope_alloc(s, (m->header_count + 1) * sizeof(*headers));
	for (size_t i = 0; i < m->header_count; i++) {
		headers[i].name = copy(s, m->headers[i].name);
		headers[i].value = copy(s, m->headers[i].value);
	}
	t->request = (struct request){
		.method = m->method,
		.target = copy(s, m->target),
		.host = copy(s, m->host),
		.peer = copy(s, str_of(peer)),
		.headers = headers,
		.header_count = m->header_count,
		.id = s->log_id,
	};
	t->request.path = str_part(t->request.target, 0, m->path.len);
	t->request.query = str_part(t->request.target, t->request.target.len - m->query.len, t->request.target.len);
	t->exchange.request = &t->request;
	t->wants_close = wants_close;
	t->began_at = clock_monotonic();
	return t;
}

/* Grows with what has arrived, not with what was announced. */
char *
task_body_room(struct task *t, size_t want, size_t *room)
{
	size_t have = t->request.body.len;

	if (have == t->body_cap) {
		bodies_held -= (int64_t)t->body_cap;
		t->body_cap = have + (want < BODY_STEP ? want : have < BODY_STEP ? BODY_STEP : have);
		bodies_held += (int64_t)t->body_cap;
		t->body = realloc(t->body, t->body_cap);
		if (t->body == NULL)
			abort();
		t->request.body.p = t->body;
	}
	*room = t->body_cap - have < want ? t->body_cap - have : want;
	return t->body + have;
}

void
task_free(struct task *t)
{
	if (t == NULL)
		return;
	wire_drop(t->prepared.full);
	wire_drop(t->prepared.not_modified);
	site_release(t->site);
	bodies_held -= (int64_t)t->body_cap;
	free(t->body);
	scope_free(t->scope);
}

int64_t
task_bodies_held(void)
{
	return bodies_held;
}

static struct str
copy(struct scope *s, struct str text)
{
	return (struct str){ str_dup(s->arena, text), text.len };
}
