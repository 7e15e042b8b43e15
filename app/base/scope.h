/* scope.h - one unit of work: a request, a command, a job, a test. */
#ifndef BASE_SCOPE_H
#define BASE_SCOPE_H
#include <stdint.h>
#include "base/arena.h"
#include "base/error.h"

/* First parameter of everything above base. Never grows a fifth field. One thread at a time owns it. */
struct scope {
	struct arena	*arena;
	struct error	*error;		/* the refusal in flight, or NULL */
	int64_t		 now;		/* Unix ms, the same for the whole unit of work */
	const char	*log_id;	/* request id, command or job name; on every log line */
};

/* The scope lies in its own arena; scope_free frees both. log_id is copied. `now` is clock_now(). */
struct scope	*scope_new(const char *log_id);
void		 scope_free(struct scope *);		/* NULL is fine */

void		*scope_alloc(struct scope *, size_t);	/* zero-filled */
char		*scope_printf(struct scope *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* cmocka has a macro of this name; tests say assert_true(false). */
#undef fail

/* Record the refusal (replacing an earlier one) and return `status`, so that `return fail(...)` reads well. */
enum status	 fail(struct scope *, enum status, const char *field, const char *fmt, ...)
		    __attribute__((format(printf, 4, 5)));
/* Add one more refusal behind the first; the first decides the status. Returns the first's status.
 * FAIL_MAX refusals are kept, so that a hostile body cannot make the answer grow; further ones are dropped. */
#define FAIL_MAX 64
enum status	 fail_more(struct scope *, enum status, const char *field, const char *fmt, ...)
		    __attribute__((format(printf, 4, 5)));

#endif
