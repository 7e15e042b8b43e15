/* sitemap.c - reads sitemap_part and sitemap_entry. */
#include "store/sitemap.h"

enum status
store_sitemap_parts(struct scope *s, struct db *db, struct sitemap_range **out, size_t *count)
{
	size_t room = 16;
	struct db_rows *rows;

	*count = 0;
	*out = scope_alloc(s, room * sizeof(**out));
	TRY(db_query(s, db, &rows, SQL_SITEMAP_PARTS, ARGS(INT(SITEMAP_PARTS_MAX))));
	while (db_next(rows)) {
		if (*count == room) {
			struct sitemap_range *more = scope_alloc(s, 2 * room * sizeof(*more));

			memcpy(more, *out, room * sizeof(*more));
			*out = more;
			room *= 2;
		}
		(*out)[*count] = (struct sitemap_range){ col_int(rows, 0), col_int(rows, 1), col_int(rows, 2), *count == 0 };
		++*count;
	}
	return db_end(s, rows);
}

enum status
store_sitemap_part(struct scope *s, struct db *db, struct sitemap_range *out, int64_t first_id)
{
	struct db_rows *rows;
	bool found;

	TRY(db_query(s, db, &rows, SQL_SITEMAP_PART_LOAD, ARGS(INT(first_id))));
	if ((found = db_next(rows)))
		*out = (struct sitemap_range){ col_int(rows, 0), col_int(rows, 1), col_int(rows, 2), col_bool(rows, 3) };
	TRY(db_end(s, rows));
	return found ? OK : fail(s, ERR_NOT_FOUND, NULL, "the sitemap has no such part");
}

enum status
store_sitemap_entries(struct scope *s, struct db *db, struct db_rows **rows, const struct sitemap_range *part)
{
	return db_query(s, db, rows, SQL_SITEMAP_ENTRIES, ARGS(INT(part->has_home ? 0 : part->first_id), INT(part->last_id)));
}
