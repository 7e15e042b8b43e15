/* settings.c - stored settings -> struct site. */
#include "store/settings.h"

enum status
site_load(struct scope *s, struct db *db, const struct config *config, struct site *out)
{
	struct db_rows *rows;
	enum status status = OK;

	site_defaults(out);
	out->public_origin = config->public_origin;
	out->admin_origin = config->admin_origin;
	out->aliases = (const char *const *)config->aliases;
	TRY(db_query(s, db, &rows, SQL_SETTING_LIST, NO_ARGS));
	while (status == OK && db_next(rows))
		status = site_set(s, out, col_text(s, rows, 0), col_text(s, rows, 1));
	TRY(db_end(s, rows));
	return status;
}

enum status
setting_put(struct scope *s, struct db *db, const char *key, const char *value)
{
	struct site checked;

	site_defaults(&checked);
	TRY(site_set(s, &checked, key, value));
	TRY(db_run(s, db, SQL_SETTING_PUT, ARGS(TEXT(key), TEXT(value), INT(s->now)), NULL));
	db_touch(db, "settings");
	return OK;
}

enum status
setting_list(struct scope *s, struct db *db, struct setting **out, size_t *count)
{
	struct db_rows *rows;
	struct setting *list = NULL;
	size_t n = 0, room = 0;

	TRY(db_query(s, db, &rows, SQL_SETTING_LIST, NO_ARGS));
	while (db_next(rows)) {
		if (n == room) {
			struct setting *more = scope_alloc(s, (room = room * 2 + 16) * sizeof(*more));

			if (n > 0)
				memcpy(more, list, n * sizeof(*list));
			list = more;
		}
		list[n++] = (struct setting){ col_text(s, rows, 0), col_text(s, rows, 1) };
	}
	TRY(db_end(s, rows));
	*out = list;
	*count = n;
	return OK;
}
