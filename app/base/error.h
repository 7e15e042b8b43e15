/* error.h - what a function answers, and the one detail that goes with a refusal. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H
#include <stdint.h>
#include <stdbool.h>

/* The closed list stands in errors.def. */
enum status {
	OK,
#define ERROR(name, code, http, retryable, title, help) ERR_##name,
#include "base/errors.def"
#undef ERROR
	STATUS_COUNT
};

struct status_info {
	const char	*code;		/* stable, snake_case; "ok" for OK */
	int		 http;		/* RFC 9110 status code */
	bool		 retryable;	/* the same request with the same key may succeed later */
	const char	*title;
	const char	*help;
};
/* Never NULL; out of range is a programmer's mistake and asserts. */
const struct status_info *status_info(enum status);

/* One refusal. `field` names the request member ("seo.canonical"), or is NULL. Texts live in the scope. */
struct error {
	enum status	 status;
	const char	*field;
	const char	*detail;
	struct error	*next;		/* further refusals of the same request (validation), or NULL */
	int64_t		 version;	/* that what is written about has now; 0 = not told */
};

/* Leave with the callee's status unless it is OK. */
#define TRY(expr)                                                                                          \
	do {                                                                                               \
		enum status try_status_ = (expr);                                                          \
		if (try_status_ != OK)                                                                     \
			return try_status_;                                                                \
	} while (0)

#endif
