#include "http/respond.h"
#include "actions/view.h"
#include "base/log.h"
#include "render/problem.h"

static void	keep_inside(struct scope *, enum status);
static void	error_page(struct scope *, struct exchange *, enum status);
static void	plain_page(struct scope *, struct response *, enum status);
static void	problem(struct scope *, struct response *, enum status);
static void	error_fields(struct scope *, struct response *, enum status);

static const char describedby[] = "</docs/idempotency>; rel=\"describedby\"";

void
respond_error(struct scope *s, struct exchange *ex, enum status status)
{
	struct str path = ex->request->path;

	keep_inside(s, status);
	ex->response = (struct response){ .status = status_info(status)->http };
	if (router_kind(path) == ROUTE_PUBLIC && !str_starts(path, "/api/"))
		error_page(s, ex, status);
	else
		problem(s, &ex->response, status);
	error_fields(s, &ex->response, status);
	if (s->error != NULL && s->error->version != 0)
		response_header(&ex->response, "ETag", scope_printf(s, "\"%" PRId64 "\"", s->error->version));
	if (status == ERR_METHOD)
		response_header(&ex->response, "Allow", router_allow(s, path));
}

void
respond_answer(struct scope *s, struct exchange *ex)
{
	const struct answer *a = &ex->unit->answer;
	struct response *r = &ex->response;

	*r = (struct response){ .status = a->status, .body = a->body };
	r->type = a->is_problem ? "application/problem+json" : "application/json";
	if (a->location != NULL)
		response_header(r, "Location", a->location);
	if (a->etag != NULL)
		response_header(r, "ETag", a->etag);
	if (a->link != NULL)
		response_header(r, "Link", a->link);
	if (a->operation_id != NULL)
		response_header(r, "Retry-After", "1");
	if (a->operation_id != NULL && ex->unit->is_async)
		response_header(r, "Preference-Applied", "respond-async");
	response_header(r, "Idempotent-Replayed", a->replayed ? "true" : "false");
	if (a->replayed && a->original_status != 0)
		response_header(r, "Idempotency-Original-Status", scope_printf(s, "%d", a->original_status));
}

void
respond_options(struct scope *s, struct exchange *ex, const char *allow)
{
	ex->response = (struct response){ .status = 204 };
	response_header(&ex->response, "Allow", allow);
}

void
respond_redirect(struct response *r, int status, const char *location)
{
	*r = (struct response){ .status = status, .type = "text/plain; charset=utf-8", .body = STR("") };
	response_header(r, "Location", location);
}

struct wire *
respond_refusal(struct scope *s, enum status status, bool is_api)
{
	const struct request none = { .method = METHOD_GET };
	struct response r = { .status = status_info(status)->http, .close = true };
	struct prepared p;

	if (is_api)
		problem(s, &r, status);
	else
		plain_page(s, &r, status);
	error_fields(s, &r, status);
	respond_prepare(s, &none, is_api ? ROUTE_API : ROUTE_PUBLIC, &r, &p);
	return p.full;
}

/* What broke on our side may name files, statements and tables: that is for the log. */
static void
keep_inside(struct scope *s, enum status status)
{
	if ((status_info(status)->http < 500 && status != ERR_CONFLICT) || status == ERR_BUSY)
		return;
	log_error(s, "request.failed", "\"code\":\"%s\",\"detail\":%s", status_info(status)->code,
	    log_quote(s, s->error != NULL && s->error->detail != NULL ? s->error->detail : ""));
	s->error = NULL;
}

static void
error_page(struct scope *s, struct exchange *ex, enum status status)
{
	int http = status_info(status)->http;
	struct resolution about = { .meaning = http == 410 || http == 451 ? MEANING_GONE : MEANING_NONE, .status = http, .page = 1 };
	struct error *why = s->error;
	struct view view = { 0 };

	if (http < 500 && ex->reader != NULL && ex->reader->site != NULL && db_in_transaction(ex->reader->db) &&
	    view_page(s, ex->reader->db, ex->reader->site, ex->reader->templates, &about, &view) == OK) {
		ex->response.type = view.type;
		ex->response.body = view.body;
		response_header(&ex->response, "X-Robots-Tag", "noindex");
	} else
		plain_page(s, &ex->response, status);
	s->error = why;
}

/* For when there is no theme to ask: the texts are our own, so nothing here needs escaping. */
static void
plain_page(struct scope *s, struct response *r, enum status status)
{
	const struct status_info *info = status_info(status);

	r->type = "text/html; charset=utf-8";
	r->body = str_of(scope_printf(s, "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n"
	    "<meta name=\"robots\" content=\"noindex\">\n<title>%d %s</title>\n<h1>%s</h1>\n<p>%s</p>\n</html>\n",
	    info->http, info->title, info->title, info->help));
}

static void
problem(struct scope *s, struct response *r, enum status status)
{
	r->type = "application/problem+json";
	r->body = problem_json(s, status);
}

/* The fields that go with a status, wherever it comes from. */
static void
error_fields(struct scope *s, struct response *r, enum status status)
{
	if (status == ERR_KEY_REQUIRED || status == ERR_KEY_INVALID || status == ERR_KEY_MISMATCH || status == ERR_KEY_CONFLICT)
		response_header(r, "Link", describedby);
	else if (status == ERR_BUSY || status == ERR_STORAGE || status == ERR_RATE)
		response_header(r, "Retry-After", "1");
	else if (status == ERR_UNAUTHENTICATED)
		response_header(r, "WWW-Authenticate", "Bearer");
}
