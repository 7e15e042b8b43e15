/* paths.c - path rows. */
#include "store/paths.h"
#include "core/reserved.h"

#define PART_IDS 10000
#define SHOWN_PATH 300		/* of a path inside a refusal, which is stored */

static const char	*holder_text(struct scope *, struct db_rows *);

enum status
store_path_claim(struct scope *s, struct db *db, const char *path, const char *fold, int64_t resource, bool was_public, bool *claimed)
{
	int64_t changes;

	TRY(store_path_storable(s, path));
	TRY(db_run(s, db, SQL_PATH_CLAIM, ARGS(TEXT(path), TEXT(fold), INT(resource), INT(was_public), INT(s->now)), &changes));
	*claimed = changes == 1;
	return OK;
}

enum status
store_path_storable(struct scope *s, const char *path)
{
	const char *why = "it belongs to the system";

	if (path_is_reserved(s, path, &why))
		return fail(s, ERR_RESERVED, "path", "the path %s cannot be stored: %s", path, why);
	return OK;
}

enum status
store_path_is_taken(struct scope *s, struct db *db, const char *path, const char *fold, bool *taken)
{
	int64_t value;

	TRY(db_value(s, db, &value, SQL_PATH_IS_TAKEN, ARGS(TEXT(path), TEXT(fold))));
	*taken = value != 0;
	return OK;
}

enum status
store_path_holder(struct scope *s, struct db *db, const char *path, const char *fold, const char **text, bool *found)
{
	struct db_rows *rows;

	TRY(db_query(s, db, &rows, SQL_PATH_HOLDER, ARGS(TEXT(path), TEXT(fold))));
	*found = db_next(rows);
	if (*found)
		*text = holder_text(s, rows);
	return db_end(s, rows);
}

enum status
store_path_other_holder(struct scope *s, struct db *db, const char *path, const char *fold, int64_t resource, const char **text, bool *found)
{
	struct db_rows *rows;

	TRY(db_query(s, db, &rows, SQL_PATH_OTHER_HOLDER, ARGS(TEXT(path), TEXT(fold), INT(resource))));
	*found = db_next(rows);
	if (*found)
		*text = holder_text(s, rows);
	return db_end(s, rows);
}

enum status
store_path_move(struct scope *s, struct db *db, const struct path_row *old, const char *path, const char *fold, int64_t resource, bool *moved)
{
	bool was_public = old->was_public;
	struct db_rows *rows;
	const char *holder;

	TRY(store_path_storable(s, path));
	TRY(store_path_other_holder(s, db, path, fold, resource, &holder, moved));
	*moved = !*moved;
	if (!*moved)
		return OK;
	if (strcmp(old->fold, fold) != 0)
		TRY(was_public ? db_run(s, db, SQL_PATH_DEMOTE, ARGS(INT(s->now), INT(resource)), NULL) :
		    db_run(s, db, SQL_PATH_FREE, ARGS(INT(resource)), NULL));
	TRY(db_query(s, db, &rows, SQL_PATH_TAKE_BACK, ARGS(INT(resource), TEXT(path), TEXT(fold))));
	while (db_next(rows))
		was_public = was_public || col_bool(rows, 0);
	TRY(db_end(s, rows));
	if (strcmp(old->fold, fold) == 0)
		return db_run(s, db, SQL_PATH_RESPELL, ARGS(TEXT(path), INT(resource)), NULL);
	return store_path_claim(s, db, path, fold, resource, was_public, moved);
}

enum status
store_path_load(struct scope *s, struct db *db, struct path_row *out, int64_t resource)
{
	struct db_rows *rows;
	bool found;

	TRY(db_query(s, db, &rows, SQL_PATH_OF_RESOURCE, ARGS(INT(resource))));
	if ((found = db_next(rows)))
		*out = (struct path_row){ col_text(s, rows, 0), col_text(s, rows, 1), col_bool(rows, 2) };
	TRY(db_end(s, rows));
	return found ? OK : fail(s, ERR_NOT_FOUND, NULL, "the resource has no path");
}

enum status
store_path_set_public(struct scope *s, struct db *db, int64_t resource)
{
	return db_run(s, db, SQL_PATH_SET_PUBLIC, ARGS(INT(resource)), NULL);
}

enum status
store_path_free(struct scope *s, struct db *db, int64_t resource, bool *freed)
{
	int64_t changes;

	TRY(db_run(s, db, SQL_PATH_FREE, ARGS(INT(resource)), &changes));
	*freed = changes == 1;
	return OK;
}

enum status
store_path_descendants(struct scope *s, struct db *db, int64_t resource, size_t limit, struct descendant **out, size_t *count)
{
	struct db_rows *rows;
	struct descendant *d;

	*count = 0;
	*out = d = scope_alloc(s, limit * sizeof(*d));
	TRY(db_query(s, db, &rows, SQL_RESOURCE_DESCENDANTS, ARGS(INT(resource), INT((int64_t)limit + 1))));
	while (*count < limit && db_next(rows)) {
		d[*count].id = col_int(rows, 0);
		d[*count].depth = (int)col_int(rows, 4);
		d[(*count)++].row = (struct path_row){ col_text(s, rows, 1), col_text(s, rows, 2), col_bool(rows, 3) };
	}
	if (*count == limit && db_next(rows)) {
		TRY(db_end(s, rows));
		return fail(s, ERR_TOO_LARGE, "slug", "more than %zu pages stand below this one", limit);
	}
	return db_end(s, rows);
}

enum status
store_sitemap_part_touch(struct scope *s, struct db *db, int64_t resource, int64_t now, int64_t *first)
{
	struct db_rows *rows;
	int64_t changed_at = 0;
	bool found;

	TRY(db_query(s, db, &rows, SQL_SITEMAP_PART_OF, ARGS(INT(resource))));
	if ((found = db_next(rows) && col_int(rows, 1) >= resource)) {
		*first = col_int(rows, 0);
		changed_at = col_int(rows, 2);
	}
	TRY(db_end(s, rows));
	/* Many writes fall into one millisecond, and a clock may be set back. */
	if (found)
		return changed_at >= now ? OK : db_run(s, db, SQL_SITEMAP_PART_TOUCH, ARGS(INT(now), INT(*first)), NULL);
	*first = (resource - 1) / PART_IDS * PART_IDS + 1;
	return db_run(s, db, SQL_SITEMAP_PART_INSERT, ARGS(INT(*first), INT(*first + PART_IDS - 1), INT(now)), NULL);
}

static const char *
holder_text(struct scope *s, struct db_rows *rows)
{
	const char *path = str_dup(s->arena, utf8_cut(col_str(rows, 0), SHOWN_PATH)), *uid = col_text(s, rows, 2);
	const char *kind = col_text(s, rows, 3), *state = col_text(s, rows, 4);
	struct str role = col_str(rows, 1);

	const char *redirect = col_null(rows, 7) ? NULL : col_text(s, rows, 7);

	/* Made by hand: nobody ever read anything there. */
	if (redirect != NULL && !col_bool(rows, 5) && !col_bool(rows, 6))
		return scope_printf(s, str_is(role, "gone") ? "%s is marked as gone by the redirect %s; delete that, or choose another path" :
		    "%s is the source of the redirect %s; change or delete that, or choose another path", path, redirect);
	if (str_is(role, "external"))
		return scope_printf(s, "%s is the source of a redirect; change or delete that redirect first, or choose another path", path);
	if (str_is(role, "gone"))
		return scope_printf(s, "%s is marked as gone for good; choose another path", path);
	if (str_is(role, "alias") && strcmp(state, "gone") == 0)
		return scope_printf(s, "%s is an old address (alias) of the %s %s, which is gone; restore that, or choose another path", path, kind, uid);
	if (str_is(role, "alias"))
		return scope_printf(s, "%s is an old address (alias) of the %s %s and leads there; choose another path", path, kind, uid);
	if (strcmp(state, "gone") == 0)
		return scope_printf(s, "%s was the address of the %s %s, which is gone; restore that, or choose another path", path, kind, uid);
	if (!col_bool(rows, 5))
		return scope_printf(s, "%s is reserved for the %s %s, which is %s and was never public; delete that or give it another slug, or choose another path",
		    path, kind, uid, state);
	return scope_printf(s, "%s is the address of the %s %s, which is %s; edit that, or choose another path", path, kind, uid,
	    strcmp(state, "published") == 0 ? "live" : state);
}
