/* outbox.h - events, written in the transaction of the rows they tell of. */
#ifndef STORE_OUTBOX_H
#define STORE_OUTBOX_H
#include "base/base.h"
#include "db/db.h"

/* `topic` is "resource.created" and the like; `payload` is JSON. The same topic twice for one event_version is ERR_CONFLICT. */
enum status	 store_outbox_insert(struct scope *, struct db *, int64_t resource, int64_t event_version, const char *topic,
		    struct str payload) MUST_USE;
/* The same for another aggregate than a resource; `id` names it among its kind. */
enum status	 store_outbox_event(struct scope *, struct db *, const char *aggregate, int64_t id, int64_t event_version, const char *topic,
		    struct str payload) MUST_USE;
#endif
