/* reports.c - what is not as an editor might think. */
#include "actions/reports.h"

#include "actions/audit.h"
#include "actions/cursor.h"
#include "actions/facts.h"
#include "actions/json.h"
#include "store/audit.h"
#include "store/reports.h"
#include "store/resources.h"

#define SCAN 5000		/* ids that one query looks through, */
#define SCANS 4			/* and how many of them an answer may take */
#define MISMATCHES "canonical-mismatch"

static enum status	check_reason(struct scope *, const char *reason);
static enum status	put_exclusion(struct scope *, struct db *, const struct site *, const char *reason, int64_t id, struct buf *, size_t *shown);
static enum status	put_mismatch(struct scope *, struct db *, const struct site *, const struct audit_row *, struct buf *, size_t shown);
static void		put(struct buf *, const char *name, const char *text);
static struct str	end(struct buf *, const char *next_cursor);

enum status
report_exclusions(struct scope *s, struct db *db, const struct site *site, const struct principal *who, const struct report_filter *f,
    struct str *json, const char **next_cursor)
{
	int64_t ids[LIST_LIMIT_MAX + 1], limit, last, below;
	const char *list = scope_printf(s, "sitemap-exclusions\n%s", f->reason != NULL ? f->reason : "");
	struct cursor place = { 0 };
	size_t count = 0, shown = 0;
	struct buf b;

	TRY(permission_require(s, who, ACTION_READ_REPORTS, 0));
	TRY(check_reason(s, f->reason));
	TRY(list_limit(s, &limit, f->limit));
	TRY(store_audit_last_resource(s, db, &last));
	if (f->cursor != NULL)
		TRY(cursor_parse(s, &place, list, f->cursor));
	below = f->cursor != NULL ? place.id : last + 1;
	buf_init(&b, s->arena);
	buf_text(&b, "{\"items\":[");
	for (int scans = 0; scans < SCANS && below > 1 && shown < (size_t)limit; scans++) {
		int64_t from = below > SCAN ? below - SCAN : 1;

		TRY(store_report_unlisted(s, db, below, from, site->noindex, ids, (size_t)limit, &count));
		for (size_t i = 0; i < count && shown < (size_t)limit; i++) {
			TRY(put_exclusion(s, db, site, f->reason, ids[i], &b, &shown));
			below = ids[i];
		}
		if (count < (size_t)limit && shown < (size_t)limit)
			below = from;
	}
	*next_cursor = below <= 1 ? NULL : cursor_text(s, list, (struct cursor){ 0, below });
	*json = end(&b, *next_cursor);
	return OK;
}

enum status
report_mismatches(struct scope *s, struct db *db, const struct site *site, const struct principal *who, const struct report_filter *f,
    struct str *json, const char **next_cursor)
{
	struct audit_row *rows = scope_alloc(s, LIST_LIMIT_MAX * sizeof(*rows));
	struct cursor place = { 0 };
	int64_t limit, last, after;
	size_t count = 0, shown = 0;
	struct buf b;

	TRY(permission_require(s, who, ACTION_READ_REPORTS, 0));
	TRY(list_limit(s, &limit, f->limit));
	TRY(store_audit_last_resource(s, db, &last));
	if (f->cursor != NULL)
		TRY(cursor_parse(s, &place, MISMATCHES, f->cursor));
	after = place.id;
	buf_init(&b, s->arena);
	buf_text(&b, "{\"items\":[");
	for (int scans = 0; scans < SCANS && after < last && shown == 0; scans++) {
		int64_t until = after + AUDIT_RANGE < last ? after + AUDIT_RANGE : last;

		TRY(audit_canonical(s, db, site, after, until, rows, (size_t)limit, &count));
		for (; shown < count; shown++)
			TRY(put_mismatch(s, db, site, &rows[shown], &b, shown));
		after = count < (size_t)limit ? until : rows[count - 1].id;
	}
	*next_cursor = after >= last ? NULL : cursor_text(s, MISMATCHES, (struct cursor){ 0, after });
	*json = end(&b, *next_cursor);
	return OK;
}

enum status
report_count_mismatches(struct scope *s, struct db *db, const struct site *site, int64_t *at, int64_t *found, bool *done)
{
	struct audit_row rows[LIST_LIMIT_MAX];
	int64_t last, until;
	size_t count;

	TRY(store_audit_last_resource(s, db, &last));
	until = *at + AUDIT_RANGE < last ? *at + AUDIT_RANGE : last;
	TRY(audit_canonical(s, db, site, *at, until, rows, COUNT(rows), &count));
	*found += (int64_t)count;
	*at = until;
	*done = until >= last;
	return OK;
}

static enum status
check_reason(struct scope *s, const char *reason)
{
	static const char *const reasons[] = { "noindex", "canonical", "duplicate", "empty" };

	for (size_t i = 0; i < COUNT(reasons) && reason != NULL; i++)
		if (strcmp(reason, reasons[i]) == 0)
			return OK;
	return reason == NULL ? OK : fail(s, ERR_INVALID, "reason", "must be noindex, canonical, duplicate or empty");
}

/* The query gives what may be unlisted; why, one function says. */
static enum status
put_exclusion(struct scope *s, struct db *db, const struct site *site, const char *reason, int64_t id, struct buf *b, size_t *shown)
{
	struct resource r;
	struct facts f;
	const char *why;

	TRY(store_resource_load(s, db, &r, id));
	if (r.path == NULL)	/* the other report has it */
		return OK;
	TRY(facts_of_resource(s, db, &f, &r, FACTS_LIVE, false));
	why = facts_unlisted(site, &f);
	if (why == NULL || (reason != NULL && strcmp(reason, why) != 0))
		return OK;
	buf_text(b, ++*shown > 1 ? ",{" : "{");
	put(b, "id", r.uid);
	put(b, "kind", kind_name(r.kind));
	put(b, "title", r.live_title);
	put(b, "url", facts_url(s, site, &f));
	put(b, "canonical", facts_canonical(s, site, &f));
	put(b, "reason", why);
	buf_char(b, '}');
	return OK;
}

static enum status
put_mismatch(struct scope *s, struct db *db, const struct site *site, const struct audit_row *row, struct buf *b, size_t shown)
{
	struct resource r;

	TRY(store_resource_load(s, db, &r, row->id));
	buf_text(b, shown > 0 ? ",{" : "{");
	put(b, "id", r.uid);
	put(b, "kind", kind_name(r.kind));
	put(b, "url", r.path == NULL ? NULL : site_url(s, site, r.path));
	put(b, "check", row->check);
	put(b, "detail", row->detail);
	put(b, "advice", row->advice);
	buf_char(b, '}');
	return OK;
}

static void
put(struct buf *b, const char *name, const char *text)
{
	json_put_name(b, name);
	json_put_text(b, text);
}

static struct str
end(struct buf *b, const char *next_cursor)
{
	buf_text(b, "],\"next\":");
	json_put_text(b, next_cursor);
	buf_char(b, '}');
	return buf_as_str(b);
}
