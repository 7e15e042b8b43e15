/* log.h - one JSON object per line, into one sink. */
#ifndef BASE_LOG_H
#define BASE_LOG_H
#include "base/base.h"

enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARN, LOG_LEVEL_ERROR };

/* Where lines go: by default write(2) to stderr, one call a line. `line` ends in "\n". Tests set their own; NULL is the default. */
void		 log_sink(void (*sink)(const char *line, size_t len));
void		 log_threshold(enum log_level);		/* default INFO */

/* Members are printf-like pairs in one format: log_info(s, "resource.published", "\"resource\":%" PRId64, id).
 * `members` is the inside of a JSON object (may be ""); strings in it must come from log_quote.
 * Written: {"time":...,"level":...,"event":...,"request_id":log_id,...}. s may be NULL (no request id).
 * Lines of more than 4 kB lose whole members from the end and gain "cut":true, so that each stays one JSON object. */
void		 log_info(struct scope *, const char *event, const char *members, ...) PRINTF_LIKE(3, 4);
void		 log_warn(struct scope *, const char *event, const char *members, ...) PRINTF_LIKE(3, 4);
void		 log_error(struct scope *, const char *event, const char *members, ...) PRINTF_LIKE(3, 4);
/* The text as a JSON string literal with its quotes, cut at 512 bytes, control and non-UTF-8 bytes escaped. In the scope.
 * NULL gives "". */
const char	*log_quote(struct scope *, const char *text);

#endif
