/* resource_step.h - one state move of one resource, whoever asks for it. */
#ifndef ACTIONS_RESOURCE_STEP_H
#define ACTIONS_RESOURCE_STEP_H
#include "actions/lifecycle.h"
#include "actions/publish.h"
#include "core/permission.h"

/* What each move needs to be allowed. */
extern const enum action step_action[MOVE_COUNT];
/* Inside a writing transaction, as lifecycle.h says. `plan` is for MOVE_PUBLISH, `times` for MOVE_SCHEDULE. */
enum status	 step_write(struct scope *, struct db *, const struct site *, enum move, int64_t id, const struct publish_plan *plan,
		    const struct schedule_times *times, const char *if_match, struct resource *out, bool *unchanged) MUST_USE;
#endif
