/* api_redirects.c - redirects over HTTP, and the reports about them. */
#include "http/api.h"
#include "http/router.h"

#include "actions/cursor.h"
#include "actions/hits.h"
#include "actions/redirect_jobs.h"
#include "actions/redirects.h"

#define EXPORT_ROWS 10000		/* of one answer, which lies in memory as a whole */

static const char	*id_of(struct scope *, const struct exchange *);
static api_prepare	create, update, remove_one, import;

enum status
handle_redirect_list(struct scope *s, struct exchange *ex)
{
	struct redirect_filter f;
	const char *cursor;
	struct str json;

	TRY(api_enter(s, ex, true));
	f = (struct redirect_filter){ .source = api_parameter(s, ex, "source"), .match = api_parameter(s, ex, "match"),
		.resource = api_parameter(s, ex, "resource"), .status = api_parameter(s, ex, "status"), .limit = api_parameter(s, ex, "limit"),
		.cursor = api_parameter(s, ex, "cursor") };
	TRY(redirect_list(s, ex->reader->db, ex->reader->site, &ex->who, &f, &json, &cursor));
	api_respond(ex, json, NULL);
	if (cursor != NULL) {
		const struct api_query query[] = { { "source", f.source }, { "match", f.match }, { "resource", f.resource }, { "status", f.status },
			{ "limit", f.limit }, { "cursor", cursor }, { NULL, NULL } };

		response_header(&ex->response, "Link", api_next_link(s, ex, "redirects", query));
	}
	return OK;
}

enum status
handle_dead_targets(struct scope *s, struct exchange *ex)
{
	const char *cursor, *limit;
	struct str json;

	TRY(api_enter(s, ex, true));
	limit = api_parameter(s, ex, "limit");
	TRY(redirect_list_dead(s, ex->reader->db, ex->reader->site, &ex->who, limit, api_parameter(s, ex, "cursor"), &json, &cursor));
	api_respond(ex, json, NULL);
	if (cursor != NULL) {
		const struct api_query query[] = { { "limit", limit }, { "cursor", cursor }, { NULL, NULL } };

		response_header(&ex->response, "Link", api_next_link(s, ex, "reports/dead-targets", query));
	}
	return OK;
}

enum status
handle_not_found(struct scope *s, struct exchange *ex)
{
	const char *cursor, *limit;
	struct str json;

	TRY(api_enter(s, ex, true));
	limit = api_parameter(s, ex, "limit");
	TRY(not_found_list(s, ex->reader->db, &ex->who, limit, api_parameter(s, ex, "cursor"), &json, &cursor));
	api_respond(ex, json, NULL);
	if (cursor != NULL) {
		const struct api_query query[] = { { "limit", limit }, { "cursor", cursor }, { NULL, NULL } };

		response_header(&ex->response, "Link", api_next_link(s, ex, "reports/not-found", query));
	}
	return OK;
}

enum status
handle_redirect_read(struct scope *s, struct exchange *ex)
{
	const char *etag;
	struct str json;

	TRY(api_enter(s, ex, true));
	TRY(redirect_read(s, ex->reader->db, ex->reader->site, &ex->who, id_of(s, ex), &json, &etag));
	api_respond(ex, json, etag);
	return OK;
}

enum status
handle_redirect_create(struct scope *s, struct exchange *ex)
{
	return api_write(s, ex, WRITE_REDIRECT_CREATE, true, create);
}

enum status
handle_redirect_update(struct scope *s, struct exchange *ex)
{
	return api_write(s, ex, WRITE_REDIRECT_UPDATE, true, update);
}

enum status
handle_redirect_remove(struct scope *s, struct exchange *ex)
{
	return api_write(s, ex, WRITE_REDIRECT_REMOVE, false, remove_one);
}

enum status
handle_redirect_import(struct scope *s, struct exchange *ex)
{
	static const char *const media[] = { "text/csv", NULL };

	return api_write_media(s, ex, WRITE_REDIRECT_IMPORT, media, import);
}

/* Pieces that, one behind the other, are the file. */
enum status
handle_redirect_export(struct scope *s, struct exchange *ex)
{
	static const char list[] = "redirects.csv";
	const char *format, *cursor, *after = "";
	struct str key;
	struct buf csv;
	bool more;

	TRY(api_enter(s, ex, true));
	TRY(permission_require(s, &ex->who, ACTION_MANAGE_REDIRECTS, 0));
	format = api_parameter(s, ex, "format");
	if (format != NULL && strcmp(format, "csv") != 0)
		return fail(s, ERR_INVALID, "format", "must be csv");
	if ((cursor = api_parameter(s, ex, "cursor")) != NULL) {
		TRY(cursor_key_parse(s, &key, list, cursor));
		after = str_dup(s->arena, key);
	}
	buf_init(&csv, s->arena);
	TRY(redirect_export(s, ex->reader->db, &csv, &after, EXPORT_ROWS, &more));
	ex->response = (struct response){ .status = 200, .type = "text/csv; charset=utf-8; header=present", .body = buf_as_str(&csv) };
	response_header(&ex->response, "Content-Disposition", "attachment; filename=\"redirects.csv\"");
	if (more) {
		const struct api_query query[] = { { "format", "csv" }, { "cursor", cursor_key_text(s, list, str_of(after)) }, { NULL, NULL } };

		response_header(&ex->response, "Link", api_next_link(s, ex, "redirects/export", query));
	}
	return OK;
}

static enum status
create(struct scope *s, struct exchange *ex, struct unit *u, json_t *body)
{
	return redirect_create_prepare(s, ex->reader->db, u, body);
}

static enum status
update(struct scope *s, struct exchange *ex, struct unit *u, json_t *body)
{
	return redirect_update_prepare(s, ex->reader->db, u, id_of(s, ex), body);
}

static enum status
remove_one(struct scope *s, struct exchange *ex, struct unit *u, json_t *body)
{
	return redirect_remove_prepare(s, ex->reader->db, u, id_of(s, ex));
}

static enum status
import(struct scope *s, struct exchange *ex, struct unit *u, json_t *body)
{
	const char *dry_run = api_parameter(s, ex, "dry_run");

	if (body != NULL)
		return fail(s, ERR_MEDIA_TYPE, NULL, "the body's Content-Type must be text/csv");
	if (dry_run != NULL && strcmp(dry_run, "0") != 0 && strcmp(dry_run, "1") != 0)
		return fail(s, ERR_INVALID, "dry_run", "must be 0 or 1");
	return redirect_import_prepare(s, ex->reader->config, u, ex->request->body, dry_run != NULL && dry_run[0] == '1');
}

static const char *
id_of(struct scope *s, const struct exchange *ex)
{
	return str_dup(s->arena, ex->params[0]);
}
