/* sitemap.c - reads sitemap_part and sitemap_entry. */
#include "store/sitemap.h"

enum status
store_sitemap_parts(struct scope *s, struct db *db, struct sitemap_range **out, size_t *count)
{
	struct db_rows *rows;
	struct buf parts;
	size_t all;

	buf_init(&parts, s->arena);
	TRY(db_query(s, db, &rows, SQL_SITEMAP_PARTS, ARGS(INT(SITEMAP_PARTS_MAX))));
	while (db_next(rows)) {
		struct sitemap_range part = { col_int(rows, 0), col_int(rows, 1), col_int(rows, 2), parts.len == 0 };

		buf_add(&parts, &part, sizeof(part));
	}
	TRY(db_end(s, rows));
	*out = scope_alloc(s, parts.len);
	all = parts.len / sizeof(**out);
	*count = 0;
	for (size_t i = 0; i < all; i++) {
		struct sitemap_range part;
		int64_t is_used = 1;

		memcpy(&part, parts.p + i * sizeof(part), sizeof(part));
		if (!part.has_home)
			TRY(db_value(s, db, &is_used, SQL_SITEMAP_PART_IS_USED, ARGS(INT(part.first_id), INT(part.last_id))));
		if (is_used)
			(*out)[(*count)++] = part;
	}
	return OK;
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
