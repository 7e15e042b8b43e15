/* settings.c - the settings of the database, for commands. */
#include "actions/settings.h"

enum status
settings_site(struct scope *s, struct db *db, const struct config *config, struct site *out)
{
	return site_load(s, db, config, out);
}

enum status
setting_change(struct scope *s, struct db *db, void *arg)
{
	struct setting_change *change = arg;

	return setting_put(s, db, change->key, change->value);
}

enum status
settings_read(struct scope *s, struct db *db, struct setting **out, size_t *count)
{
	return setting_list(s, db, out, count);
}
