/* feeds.c - which articles a feed names. */
#include "store/feeds.h"

enum status
store_feed(struct scope *s, struct db *db, const struct resource *of, int64_t *ids, size_t limit, size_t *count)
{
	struct db_value most = INT((int64_t)limit);
	struct db_rows *rows;

	*count = 0;
	if (of == NULL)
		TRY(db_query(s, db, &rows, SQL_FEED_OF_SITE, ARGS(most)));
	else
		TRY(db_query(s, db, &rows, of->kind == KIND_TAG ? SQL_FEED_OF_TAG : SQL_FEED_OF_AUTHOR, ARGS(most, INT(of->id))));
	while (*count < limit && db_next(rows))
		ids[(*count)++] = col_int(rows, 0);
	return db_end(s, rows);
}
