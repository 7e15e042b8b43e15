/* duplicates.c - who had a text first. */
#include "store/duplicates.h"

static enum status	list_changed(struct scope *, struct db_rows *, struct changed **, size_t *count);

enum status
store_duplicates_originals(struct scope *s, struct db *db, const char *locale, const char *hash, struct holder *out, size_t limit,
    size_t *count)
{
	struct db_rows *rows;

	*count = 0;
	TRY(db_query(s, db, &rows, SQL_DUPLICATES_ORIGINALS, ARGS(TEXT(locale), TEXT(hash), INT((int64_t)limit))));
	while (*count < limit && db_next(rows))
		out[(*count)++] = (struct holder){ col_int(rows, 0), col_int(rows, 1), col_bool(rows, 2), col_bool(rows, 3) };
	return db_end(s, rows);
}

enum status
store_duplicates_next_group(struct scope *s, struct db *db, const char *locale, const char *hash, int64_t after, int64_t *original)
{
	struct db_rows *rows;

	TRY(db_query(s, db, &rows, SQL_DUPLICATES_NEXT_GROUP, ARGS(TEXT(locale), TEXT(hash), INT(after))));
	*original = db_next(rows) ? col_int(rows, 0) : 0;
	return db_end(s, rows);
}

enum status
store_duplicates_first_of(struct scope *s, struct db *db, const char *locale, const char *hash, int64_t original, struct holder *out)
{
	struct db_rows *rows;

	*out = (struct holder){ .may_lead = true };
	TRY(db_query(s, db, &rows, SQL_DUPLICATES_FIRST_OF_GROUP, ARGS(TEXT(locale), TEXT(hash), INT(original))));
	if (db_next(rows)) {
		out->id = col_int(rows, 0);
		out->since = col_int(rows, 1);
	}
	return db_end(s, rows);
}

enum status
store_duplicates_set(struct scope *s, struct db *db, int64_t id, int64_t original)
{
	return db_run(s, db, SQL_DUPLICATES_SET, ARGS(ID(original), INT(id)), NULL);
}

enum status
store_duplicates_regroup(struct scope *s, struct db *db, const char *locale, const char *hash, int64_t from, int64_t to,
    struct changed **out, size_t *count)
{
	struct db_rows *rows;

	if (to == 0)
		TRY(db_query(s, db, &rows, SQL_DUPLICATES_RELEASE, ARGS(TEXT(locale), TEXT(hash), INT(from))));
	else
		TRY(db_query(s, db, &rows, SQL_DUPLICATES_REGROUP, ARGS(INT(to), TEXT(locale), TEXT(hash), INT(from))));
	return list_changed(s, rows, out, count);
}

enum status
store_duplicates_merge_on(struct scope *s, struct db *db, int64_t from, int64_t to, struct changed **out, size_t *count)
{
	struct db_rows *rows;

	TRY(db_query(s, db, &rows, SQL_DUPLICATES_MERGE_ON, ARGS(INT(to), INT(from))));
	return list_changed(s, rows, out, count);
}

static enum status
list_changed(struct scope *s, struct db_rows *rows, struct changed **out, size_t *count)
{
	size_t room = 0;

	*out = NULL;
	*count = 0;
	while (db_next(rows)) {
		if (*count == room) {
			*out = arena_grow(s->arena, *out, room * sizeof(**out), (room + 64) * sizeof(**out));
			room += 64;
		}
		(*out)[(*count)++] = (struct changed){ col_int(rows, 0), col_int(rows, 1) };
	}
	return db_end(s, rows);
}

enum status
store_duplicates_decide(struct scope *s, struct db *db, struct resource *r, bool *changed)
{
	int64_t changes;

	TRY(db_run(s, db, SQL_DUPLICATES_DECIDE, ARGS(TEXT(r->distinct_reason), INT(r->changed_at), INT(r->id), INT(r->edit_version)), &changes));
	*changed = changes == 1;
	r->edit_version += *changed;
	r->event_version += *changed;
	return OK;
}

enum status
store_duplicates_list(struct scope *s, struct db *db, int64_t original, int64_t copy, struct copy_row *out, size_t limit, size_t *count)
{
	struct db_rows *rows;
	int col;

	*count = 0;
	TRY(db_query(s, db, &rows, SQL_DUPLICATES_LIST, ARGS(INT(original), INT(copy), INT((int64_t)limit))));
	while (*count < limit && db_next(rows)) {
		struct copy_side *sides[] = { &out[*count].copy, &out[*count].original };

		col = 0;
		for (size_t i = 0; i < COUNT(sides); i++) {
			*sides[i] = (struct copy_side){ .id = col_int(rows, col), .uid = col_text(s, rows, col + 1),
				.title = col_text(s, rows, col + 3), .path = col_text(s, rows, col + 4) };
			(void)kind_parse(col_str(rows, col + 2), &sides[i]->kind);
			col += 5;
		}
		out[(*count)++].since = col_int(rows, col);
	}
	return db_end(s, rows);
}

enum status
store_duplicates_count(struct scope *s, struct db *db, int64_t *out)
{
	return db_value(s, db, out, SQL_DUPLICATES_COUNT, NO_ARGS);
}
