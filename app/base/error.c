/* error.c - the table behind errors.def. */
#include "base/error.h"
#include "base/base.h"

static const struct status_info	 infos[STATUS_COUNT] = {
	[OK] = { "ok", 200, false, "OK", "" },
#define ERROR(name, code, http, retryable, title, help) [ERR_##name] = { code, http, retryable, title, help },
#include "base/errors.def"
#undef ERROR
};

const struct status_info *
status_info(enum status status)
{
	assert((unsigned)status < STATUS_COUNT);
	return &infos[status];
}
