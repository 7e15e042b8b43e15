/* outbox.c - events. */
#include "store/outbox.h"

enum status
store_outbox_insert(struct scope *s, struct db *db, int64_t resource, int64_t event_version, const char *topic, struct str payload)
{
	return store_outbox_event(s, db, "resource", resource, event_version, topic, payload);
}

enum status
store_outbox_event(struct scope *s, struct db *db, const char *aggregate, int64_t id, int64_t event_version, const char *topic,
    struct str payload)
{
	return db_run(s, db, SQL_OUTBOX_INSERT,
	    ARGS(TEXT(aggregate), INT(id), INT(event_version), TEXT(topic), STRV(payload), INT(s->now)), NULL);
}
