/* lists.c - pages of public lists. */
#include "store/lists.h"

static void	read_name(struct scope *, struct db_rows *, struct list_name *);

int
list_per_page(enum list list, const struct site *site)
{
	return list == LIST_TAGS || list == LIST_AUTHORS ? LIST_TERMS : site->per_page;
}

enum status
store_list_count(struct scope *s, struct db *db, int64_t *out, enum list list, int64_t of, int per_page)
{
	int64_t most = (int64_t)LIST_PAGES_MAX * per_page + 1;

	switch (list) {
	case LIST_ARTICLES:
		return db_value(s, db, out, SQL_LIST_ARTICLES_COUNT, ARGS(INT(most)));
	case LIST_TAGGED:
		return db_value(s, db, out, SQL_LIST_TAGGED_COUNT, ARGS(INT(most), INT(of)));
	case LIST_WRITTEN:
		return db_value(s, db, out, SQL_LIST_WRITTEN_COUNT, ARGS(INT(most), INT(of)));
	case LIST_TAGS:
		return db_value(s, db, out, SQL_LIST_TAGS_COUNT, ARGS(INT(most)));
	case LIST_AUTHORS:
		return db_value(s, db, out, SQL_LIST_AUTHORS_COUNT, ARGS(INT(most)));
	}
	assert(false);
	return ERR_INTERNAL;
}

enum status
store_list_items(struct scope *s, struct db *db, struct list_item *out, size_t *count, enum list list, int64_t of, int page,
    int per_page)
{
	struct db_value limit = INT(per_page), offset = INT(((int64_t)page - 1) * per_page);
	struct db_rows *rows;

	assert(page >= 1 && page <= LIST_PAGES_MAX && list <= LIST_WRITTEN);
	*count = 0;
	if (list == LIST_ARTICLES)
		TRY(db_query(s, db, &rows, SQL_LIST_ARTICLES, ARGS(limit, offset)));
	else
		TRY(db_query(s, db, &rows, list == LIST_TAGGED ? SQL_LIST_TAGGED : SQL_LIST_WRITTEN, ARGS(limit, offset, INT(of))));
	while (*count < (size_t)per_page && db_next(rows)) {
		out[(*count)++] = (struct list_item){ .id = col_int(rows, 0), .title = col_text(s, rows, 1),
			.path = col_text(s, rows, 2), .summary = col_text(s, rows, 3), .excerpt = col_text(s, rows, 4),
			.published_at = col_int(rows, 5), .author_id = col_int(rows, 6) };
	}
	return db_end(s, rows);
}

enum status
store_list_terms(struct scope *s, struct db *db, struct list_term *out, size_t *count, enum list list, int page, int per_page)
{
	struct db_rows *rows;

	assert(page >= 1 && page <= LIST_PAGES_MAX && (list == LIST_TAGS || list == LIST_AUTHORS));
	*count = 0;
	TRY(db_query(s, db, &rows, list == LIST_TAGS ? SQL_LIST_TAGS : SQL_LIST_AUTHORS,
	    ARGS(INT(per_page), INT(((int64_t)page - 1) * per_page))));
	while (*count < (size_t)per_page && db_next(rows))
		out[(*count)++] = (struct list_term){ col_text(s, rows, 0), col_text(s, rows, 1), col_int(rows, 2) };
	return db_end(s, rows);
}

enum status
store_list_tags_of(struct scope *s, struct db *db, struct list_name *out, size_t *count, size_t max, int64_t id)
{
	struct db_rows *rows;

	*count = 0;
	TRY(db_query(s, db, &rows, SQL_LIST_TAGS_OF, ARGS(INT(id), INT((int64_t)max))));
	while (*count < max && db_next(rows))
		read_name(s, rows, &out[(*count)++]);
	return db_end(s, rows);
}

enum status
store_list_name(struct scope *s, struct db *db, struct list_name *out, int64_t id)
{
	struct db_rows *rows;
	bool found;

	TRY(db_query(s, db, &rows, SQL_LIST_NAME, ARGS(INT(id))));
	if ((found = db_next(rows)))
		read_name(s, rows, out);
	TRY(db_end(s, rows));
	return found ? OK : fail(s, ERR_NOT_FOUND, NULL, "no resource has this id");
}

enum status
store_list_changed_at(struct scope *s, struct db *db, int64_t *out)
{
	return db_value(s, db, out, SQL_LIST_CHANGED_AT, NO_ARGS);
}

enum status
store_settings_changed_at(struct scope *s, struct db *db, int64_t *out)
{
	return db_value(s, db, out, SQL_SETTINGS_CHANGED_AT, NO_ARGS);
}

static void
read_name(struct scope *s, struct db_rows *rows, struct list_name *out)
{
	*out = (struct list_name){ .id = col_int(rows, 0), .title = col_text(s, rows, 1), .path = col_text(s, rows, 2),
		.changed_at = col_int(rows, 3), .is_live = str_is(col_str(rows, 4), state_name(STATE_PUBLISHED)) };
}
