/* scope.c - one unit of work and the refusal it may end in. */
#include "base/scope.h"
#include "base/base.h"
#include "base/clock.h"

static struct error	*make_error(struct scope *s, enum status status, const char *field, const char *fmt, va_list ap)
			    __attribute__((format(printf, 4, 0)));

struct scope *
scope_new(const char *log_id)
{
	struct arena	*arena = arena_new();
	struct scope	*s = arena_alloc(arena, sizeof(*s));

	s->arena = arena;
	s->now = clock_now();
	s->log_id = log_id != NULL ? arena_strdup(arena, log_id) : NULL;
	return s;
}

void
scope_free(struct scope *s)
{
	if (s != NULL)
		arena_free(s->arena);
}

void *
scope_alloc(struct scope *s, size_t n)
{
	return arena_alloc(s->arena, n);
}

char *
scope_printf(struct scope *s, const char *fmt, ...)
{
	char	*text;
	va_list	 ap;

	va_start(ap, fmt);
	text = arena_vprintf(s->arena, fmt, ap);
	va_end(ap);
	return text;
}

enum status
fail(struct scope *s, enum status status, const char *field, const char *fmt, ...)
{
	va_list	 ap;

	va_start(ap, fmt);
	s->error = make_error(s, status, field, fmt, ap);
	va_end(ap);
	return status;
}

enum status
fail_more(struct scope *s, enum status status, const char *field, const char *fmt, ...)
{
	struct error	**end = &s->error;
	unsigned	 count = 0;
	va_list		 ap;

	for (; *end != NULL; end = &(*end)->next)
		count++;
	if (count < FAIL_MAX) {
		va_start(ap, fmt);
		*end = make_error(s, status, field, fmt, ap);
		va_end(ap);
	}
	return s->error->status;
}

static struct error *
make_error(struct scope *s, enum status status, const char *field, const char *fmt, va_list ap)
{
	struct error	*e = arena_alloc(s->arena, sizeof(*e));

	assert(status != OK);
	e->status = status;
	e->field = field != NULL ? arena_strdup(s->arena, field) : NULL;
	e->detail = arena_vprintf(s->arena, fmt, ap);
	return e;
}
