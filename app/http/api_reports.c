/* api_reports.c - the reports about the sitemap, canonical addresses and near duplicates. */
#include "http/api.h"
#include "http/router.h"

#include "actions/near.h"
#include "actions/reports.h"

typedef enum status report_fn(struct scope *, struct db *, const struct site *, const struct principal *, const struct report_filter *,
	    struct str *json, const char **next_cursor);

static enum status	answer(struct scope *, struct exchange *, const char *path, report_fn *);

enum status
handle_report_exclusions(struct scope *s, struct exchange *ex)
{
	return answer(s, ex, "reports/sitemap-exclusions", report_exclusions);
}

enum status
handle_report_mismatches(struct scope *s, struct exchange *ex)
{
	return answer(s, ex, "reports/canonical-mismatch", report_mismatches);
}

enum status
handle_report_near(struct scope *s, struct exchange *ex)
{
	return answer(s, ex, "reports/near-duplicates", report_near);
}

static enum status
answer(struct scope *s, struct exchange *ex, const char *path, report_fn *report)
{
	struct report_filter f;
	const char *cursor;
	struct str json;

	TRY(api_enter(s, ex, true));
	f = (struct report_filter){ api_parameter(s, ex, "reason"), api_parameter(s, ex, "limit"), api_parameter(s, ex, "cursor") };
	TRY(report(s, ex->reader->db, ex->reader->site, &ex->who, &f, &json, &cursor));
	api_respond(ex, json, NULL);
	if (cursor != NULL) {
		const struct api_query query[] = { { "reason", f.reason }, { "limit", f.limit }, { "cursor", cursor }, { NULL, NULL } };

		response_header(&ex->response, "Link", api_next_link(s, ex, path, query));
	}
	return OK;
}
