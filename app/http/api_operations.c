/* api_operations.c - long work over HTTP: how it stands, what became of each item, calling it off. */
#include "http/api.h"
#include "http/router.h"

#include "actions/operation.h"

static enum status	respond_page(struct scope *, struct exchange *, struct str json, const char *path, const char *limit, const char *cursor);
static const char	*id_of(struct scope *, const struct exchange *);
static api_prepare	cancel;

enum status
handle_operation_read(struct scope *s, struct exchange *ex)
{
	struct str json;
	bool is_running;

	TRY(api_enter(s, ex, true));
	TRY(operation_read(s, ex->reader->db, &ex->who, id_of(s, ex), &json, &is_running));
	api_respond(ex, json, NULL);
	if (is_running)
		response_header(&ex->response, "Retry-After", "1");
	return OK;
}

enum status
handle_operation_list(struct scope *s, struct exchange *ex)
{
	const char *limit, *cursor;
	struct str json;

	TRY(api_enter(s, ex, true));
	limit = api_parameter(s, ex, "limit");
	TRY(operation_list(s, ex->reader->db, &ex->who, limit, api_parameter(s, ex, "cursor"), &json, &cursor));
	return respond_page(s, ex, json, "/api/v1/operations", limit, cursor);
}

enum status
handle_operation_report(struct scope *s, struct exchange *ex)
{
	const char *id = id_of(s, ex), *limit, *cursor;
	struct str json;

	TRY(api_enter(s, ex, true));
	limit = api_parameter(s, ex, "limit");
	TRY(operation_report(s, ex->reader->db, &ex->who, id, limit, api_parameter(s, ex, "cursor"), &json, &cursor));
	return respond_page(s, ex, json, scope_printf(s, "%s/report", operation_url(s, id)), limit, cursor);
}

enum status
handle_operation_cancel(struct scope *s, struct exchange *ex)
{
	return api_write(s, ex, WRITE_OPERATION_CANCEL, false, cancel);
}

static enum status
cancel(struct scope *s, struct exchange *ex, struct unit *u, json_t *body)
{
	return operation_cancel_prepare(s, ex->reader->db, u, id_of(s, ex));
}

/* Cursors are made of characters that an address may have as they are; a limit that was taken is a number. */
static enum status
respond_page(struct scope *s, struct exchange *ex, struct str json, const char *path, const char *limit, const char *cursor)
{
	api_respond(ex, json, NULL);
	if (cursor != NULL)
		response_header(&ex->response, "Link", scope_printf(s, "<%s%s?%s%s%scursor=%s>; rel=\"next\"", ex->reader->site->admin_origin, path,
		    limit != NULL ? "limit=" : "", limit != NULL ? limit : "", limit != NULL ? "&" : "", cursor));
	return OK;
}

static const char *
id_of(struct scope *s, const struct exchange *ex)
{
	return str_dup(s->arena, ex->params[0]);
}
