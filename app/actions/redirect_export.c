/* redirect_export.c - the whole set of redirects as CSV, piece by piece. */
#include "actions/redirect_jobs.h"

#include "render/csv.h"

static void	put_row(struct scope *, struct buf *, const struct redirect *);

enum status
redirect_export(struct scope *s, struct db *db, struct buf *out, const char **after, int limit, bool *more)
{
	struct redirect at, r;
	struct db_rows *rows;
	int left = limit;

	if (!redirect_key_parse(s, str_of(*after), &at))
		return fail(s, ERR_CURSOR, "cursor", "this cursor leads nowhere");
	if (**after == '\0')
		buf_text(out, "source,target,status,note\r\n");
	*more = false;
	for (;;) {
		TRY(store_redirects(s, db, &rows, &at, 0, left + 1));
		while (left > 0 && db_next(rows)) {
			store_redirect_row(s, rows, at.source, &r);
			put_row(s, out, &r);
			*after = redirect_key(s, &r);
			left--;
		}
		*more = left == 0 && db_next(rows);
		TRY(db_end(s, rows));
		if (left == 0 || at.source == SOURCE_RULE)
			break;
		at = (struct redirect){ .source = at.source + 1, .path = "" };
	}
	/* A page that ends with a table goes on with the next one. */
	if (!*more && left == 0 && at.source != SOURCE_RULE) {
		at = (struct redirect){ .source = at.source + 1, .path = "" };
		*after = redirect_key(s, &at);
		*more = true;
	}
	return OK;
}

static void
put_row(struct scope *s, struct buf *out, const struct redirect *r)
{
	csv_put(out, r->source == SOURCE_QUERY ? redirect_key(s, r) : r->path);
	buf_char(out, ',');
	csv_put(out, r->resource_path != NULL ? r->resource_path : r->target);
	buf_printf(out, ",%d,", r->status);
	csv_put(out, r->note);
	buf_text(out, "\r\n");
}
