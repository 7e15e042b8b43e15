/* imports.c - what earlier runs of an import made, the old addresses it leaves, media. */
#include "store/imports.h"
#include "store/paths.h"

enum status
store_import_find(struct scope *s, struct db *db, struct import_known *out, const char *source, const char *ref)
{
	struct db_rows *rows;

	*out = (struct import_known){ 0 };
	TRY(db_query(s, db, &rows, SQL_IMPORT_FIND, ARGS(TEXT(source), TEXT(ref))));
	if (db_next(rows)) {
		out->id = col_int(rows, 0);
		out->ref_hash = col_text(s, rows, 1);
		(void)state_parse(col_str(rows, 2), &out->state);
	}
	return db_end(s, rows);
}

/* The first integer of the first row, 0 without one. */
static enum status
find_id(struct scope *s, struct db *db, int64_t *id, enum sql sql, struct db_args args)
{
	struct db_rows *rows;

	*id = 0;
	TRY(db_query(s, db, &rows, sql, args));
	if (db_next(rows))
		*id = col_int(rows, 0);
	return db_end(s, rows);
}

static enum status
find_any(struct scope *s, struct db *db, bool *found, enum sql sql, struct db_args args)
{
	struct db_rows *rows;

	TRY(db_query(s, db, &rows, sql, args));
	*found = db_next(rows);
	return db_end(s, rows);
}

enum status
store_import_newest(struct scope *s, struct db *db, int64_t *id)
{
	return db_value(s, db, id, SQL_IMPORT_NEWEST, NO_ARGS);
}

enum status
store_import_find_slug(struct scope *s, struct db *db, int64_t *id, enum kind kind, const char *slug)
{
	return find_id(s, db, id, SQL_IMPORT_FIND_SLUG, ARGS(TEXT(kind_name(kind)), TEXT(slug)));
}

enum status
store_import_alias(struct scope *s, struct db *db, int64_t *holder, const char *path, const char *fold, int64_t id, bool was_public,
    const char *note)
{
	int64_t changes;

	TRY(store_path_storable(s, path));
	TRY(db_run(s, db, SQL_IMPORT_ALIAS,
	    ARGS(TEXT(path), TEXT(fold), INT(id), INT(was_public), TEXT(note), INT(s->now)), &changes));
	*holder = id;
	return changes == 1 ? OK : find_id(s, db, holder, SQL_IMPORT_PATH_HOLDER, ARGS(TEXT(path)));
}

enum status
store_import_query(struct scope *s, struct db *db, int64_t *holder, const char *path, const char *pairs, int64_t id, const char *note)
{
	int64_t changes;

	TRY(db_run(s, db, SQL_IMPORT_QUERY, ARGS(TEXT(path), TEXT(pairs), INT(id), TEXT(note), INT(s->now)), &changes));
	*holder = id;
	return changes == 1 ? OK : find_id(s, db, holder, SQL_IMPORT_QUERY_HOLDER, ARGS(TEXT(path), TEXT(pairs)));
}

enum status
store_import_path_is_there(struct scope *s, struct db *db, const char *path, bool *is_there)
{
	return find_any(s, db, is_there, SQL_IMPORT_PATH_HOLDER, ARGS(TEXT(path)));
}

enum status
store_import_external(struct scope *s, struct db *db, const char *path, const char *fold, const char *target, const char *note)
{
	TRY(store_path_storable(s, path));
	return db_run(s, db, SQL_IMPORT_EXTERNAL, ARGS(TEXT(path), TEXT(fold), TEXT(target), TEXT(note), INT(s->now)), NULL);
}

enum status
store_import_longest_alias(struct scope *s, struct db *db, const char **path, int64_t id, const char *note)
{
	struct db_rows *rows;

	*path = NULL;
	TRY(db_query(s, db, &rows, SQL_IMPORT_LONGEST_ALIAS, ARGS(INT(id), TEXT(note))));
	if (db_next(rows))
		*path = col_text(s, rows, 0);
	return db_end(s, rows);
}

enum status
store_import_first_admin(struct scope *s, struct db *db, const char **name)
{
	struct db_rows *rows;

	*name = NULL;
	TRY(db_query(s, db, &rows, SQL_IMPORT_FIRST_ADMIN, NO_ARGS));
	if (db_next(rows))
		*name = col_text(s, rows, 0);
	return db_end(s, rows);
}

enum status
store_import_copy(struct scope *s, struct db *db, const char *file)
{
	return db_run(s, db, SQL_IMPORT_COPY_DATABASE, ARGS(TEXT(file)), NULL);
}

enum status
store_media_find_source(struct scope *s, struct db *db, struct media_row *out, const char *source_url)
{
	struct db_rows *rows;

	*out = (struct media_row){ 0 };
	TRY(db_query(s, db, &rows, SQL_MEDIA_FIND_SOURCE, ARGS(TEXT(source_url))));
	if (db_next(rows)) {
		out->sha256 = col_text(s, rows, 0);
		out->type = col_text(s, rows, 1);
	}
	return db_end(s, rows);
}

enum status
store_media_is_there(struct scope *s, struct db *db, const char *sha256, bool *is_there)
{
	return find_any(s, db, is_there, SQL_MEDIA_IS_THERE, ARGS(TEXT(sha256)));
}

enum status
store_media_insert(struct scope *s, struct db *db, const struct media_row *m)
{
	return db_run(s, db, SQL_MEDIA_INSERT,
	    ARGS(TEXT(m->sha256), TEXT(m->name), TEXT(m->type), INT(m->bytes), TEXT(m->source_url), INT(s->now)), NULL);
}
