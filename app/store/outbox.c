/* outbox.c - events. */
#include "store/outbox.h"

enum status
store_outbox_insert(struct scope *s, struct db *db, int64_t resource, int64_t event_version, const char *topic, struct str payload)
{
	return db_run(s, db, SQL_OUTBOX_INSERT, ARGS(INT(resource), INT(event_version), TEXT(topic), STRV(payload), INT(s->now)), NULL);
}
