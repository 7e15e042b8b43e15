/* json.h - writing JSON straight into a buffer, where building values first would cost the writer time. */
#ifndef ACTIONS_JSON_H
#define ACTIONS_JSON_H
#include "base/base.h"

/* A string literal with its quotes; `text` is UTF-8. NULL gives null. */
void		 json_put_text(struct buf *, const char *text);
/* RFC 3339 with milliseconds; 0 gives null. */
void		 json_put_time(struct buf *, int64_t ms);
/* "name": with a comma before it unless it is the first member of its object. */
void		 json_put_name(struct buf *, const char *name);
#endif
