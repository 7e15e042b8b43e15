/* api_duplicates.c - copies of a text: the report and the decisions. */
#include "http/api.h"
#include "http/router.h"

#include "actions/decisions.h"

static api_prepare	decide;

enum status
handle_article_duplicate(struct scope *s, struct exchange *ex)
{
	return api_write(s, ex, WRITE_ARTICLE_DUPLICATE, true, decide);
}

enum status
handle_page_duplicate(struct scope *s, struct exchange *ex)
{
	return api_write(s, ex, WRITE_PAGE_DUPLICATE, true, decide);
}

enum status
handle_report_duplicates(struct scope *s, struct exchange *ex)
{
	const char *limit = api_parameter(s, ex, "limit"), *cursor;
	struct str json;

	TRY(api_enter(s, ex, true));
	TRY(decision_report(s, ex->reader->db, ex->reader->site, &ex->who, limit, api_parameter(s, ex, "cursor"), &json, &cursor));
	api_respond(ex, json, NULL);
	if (cursor != NULL) {
		const struct api_query query[] = { { "limit", limit }, { "cursor", cursor }, { NULL, NULL } };

		response_header(&ex->response, "Link", api_next_link(s, ex, "reports/duplicate-content", query));
	}
	return OK;
}

static enum status
decide(struct scope *s, struct exchange *ex, struct unit *u, json_t *body)
{
	return decision_prepare(s, ex->reader->db, u, api_kind(u), str_dup(s->arena, ex->params[0]), body);
}
