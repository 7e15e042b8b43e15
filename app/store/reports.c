/* reports.c - what reports look through. */
#include "store/reports.h"

enum status
store_report_unlisted(struct scope *s, struct db *db, int64_t below, int64_t from, bool all, int64_t *ids, size_t limit, size_t *count)
{
	struct db_rows *rows;

	*count = 0;
	TRY(db_query(s, db, &rows, SQL_REPORT_UNLISTED, ARGS(INT(below), INT(from), INT(all), INT((int64_t)limit))));
	while (*count < limit && db_next(rows))
		ids[(*count)++] = col_int(rows, 0);
	return db_end(s, rows);
}
