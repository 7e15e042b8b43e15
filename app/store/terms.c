/* terms.c - tags and authors as others refer to them. */
#include "store/terms.h"

static enum status	find(struct scope *, struct db *, struct term *, bool *found, enum sql, struct db_args);
static enum status	read_ids(struct scope *, struct db *, enum sql, int64_t resource, const int64_t **, size_t *count);

enum status
store_term_find(struct scope *s, struct db *db, struct term *out, bool *found, int64_t id)
{
	return find(s, db, out, found, SQL_TERM_BY_ID, ARGS(INT(id)));
}

enum status
store_term_find_slug(struct scope *s, struct db *db, struct term *out, bool *found, enum kind kind, const char *slug, const char *locale)
{
	return find(s, db, out, found, SQL_TERM_BY_SLUG, ARGS(TEXT(kind_name(kind)), TEXT(slug), TEXT(locale)));
}

enum status
store_term_find_name(struct scope *s, struct db *db, struct term *out, bool *found, enum kind kind, const char *locale, const char *name_fold)
{
	return find(s, db, out, found, SQL_TERM_BY_NAME, ARGS(TEXT(kind_name(kind)), TEXT(locale), TEXT(name_fold)));
}

enum status
store_live_tags_set(struct scope *s, struct db *db, int64_t resource, int64_t published_at, const int64_t *tags, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		TRY(db_run(s, db, SQL_LIVE_TAG_INSERT, ARGS(INT(published_at), INT(resource), INT((int64_t)i), INT(tags[i])), NULL));
	return OK;
}

enum status
store_live_tags_remove(struct scope *s, struct db *db, int64_t resource, const int64_t **had, size_t *had_count)
{
	return read_ids(s, db, SQL_LIVE_TAG_REMOVE, resource, had, had_count);
}

enum status
store_live_tags_of(struct scope *s, struct db *db, int64_t resource, const int64_t **tags, size_t *count)
{
	return read_ids(s, db, SQL_LIVE_TAG_OF, resource, tags, count);
}

enum status
store_live_tag_is_used(struct scope *s, struct db *db, int64_t tag, int64_t except, bool *out)
{
	struct db_rows *rows;

	TRY(db_query(s, db, &rows, SQL_LIVE_TAG_OTHER, ARGS(INT(tag), INT(except))));
	*out = db_next(rows);
	return db_end(s, rows);
}

static enum status
find(struct scope *s, struct db *db, struct term *out, bool *found, enum sql sql, struct db_args args)
{
	struct db_rows *rows;

	TRY(db_query(s, db, &rows, sql, args));
	*found = db_next(rows);
	if (*found)
		*out = (struct term){ col_int(rows, 0), col_text(s, rows, 1), col_text(s, rows, 2), col_text(s, rows, 3), col_text(s, rows, 4),
			str_is(col_str(rows, 5), "published") };
	return db_end(s, rows);
}

static enum status
read_ids(struct scope *s, struct db *db, enum sql sql, int64_t resource, const int64_t **out, size_t *count)
{
	struct db_rows *rows;
	int64_t *ids = NULL;
	size_t room = 0;

	*count = 0;
	TRY(db_query(s, db, &rows, sql, ARGS(INT(resource))));
	while (db_next(rows)) {
		if (*count == room) {
			ids = arena_grow(s->arena, ids, room * sizeof(*ids), (room + 16) * sizeof(*ids));
			room += 16;
		}
		ids[(*count)++] = col_int(rows, 0);
	}
	*out = ids;
	return db_end(s, rows);
}
