#include "http/run.h"
#include "actions/hits.h"
#include "actions/view.h"
#include "core/url.h"
#include "http/hosts.h"
#include "http/respond.h"
#include "http/router.h"

static enum status	route_and_handle(struct scope *, struct exchange *, bool *is_ours);
static enum status	answer_elsewhere(struct scope *, struct exchange *, enum route_kind, const char *origin);
static bool		add_version(struct scope *, struct exchange *);
static enum status	decode_params(struct scope *, struct exchange *);

bool
exchange_run(struct scope *s, struct exchange *ex, bool *is_ours)
{
	enum status status = db_begin(s, ex->reader->db);

	*is_ours = false;
	/* Probes say for themselves how it stands. */
	if (status == OK || router_kind(ex->request->path) == ROUTE_ANY_HOST)
		status = route_and_handle(s, ex, is_ours);
	if (status != OK)
		respond_error(s, ex, status);
	db_rollback(ex->reader->db);
	if (ex->unit == NULL || ex->response.status != 0)
		return false;
	if (ex->unit->answer.status == 0)
		return true;
	respond_answer(s, ex);
	return false;
}

void
exchange_finish(struct scope *s, struct exchange *ex, enum status result)
{
	if (result == OK)
		respond_answer(s, ex);
	else
		respond_error(s, ex, result);
}

static enum status
route_and_handle(struct scope *s, struct exchange *ex, bool *is_ours)
{
	const struct request *r = ex->request;
	enum route_kind kind = router_kind(r->path);
	enum status found;
	const char *origin;

	if (str_is(r->target, "*")) {
		respond_options(s, ex, "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
		return OK;
	}
	found = router_find(&ex->route, r->method, r->path, ex->params);
	switch (host_rule(ex->reader->config, r, kind, &origin)) {
	case HOST_UNKNOWN:
		return fail(s, ERR_MISDIRECTED, NULL, "this server does not answer for that host");
	case HOST_ELSEWHERE:
		if (found == OK)
			return answer_elsewhere(s, ex, kind, origin);
		break;
	case HOST_OURS:
		*is_ours = true;
		break;
	}
	if (found == ERR_METHOD && r->method == METHOD_OPTIONS) {
		respond_options(s, ex, router_allow(s, r->path));
		return OK;
	}
	if (found == ERR_NOT_FOUND && kind == ROUTE_API && add_version(s, ex))
		return OK;
	if (found != OK)
		return fail(s, found, NULL, found == ERR_METHOD ? "this address answers %s" : "there is nothing at this address",
		    found == ERR_METHOD ? router_allow(s, r->path) : "");
	TRY(decode_params(s, ex));
	return ex->route->handler(s, ex);
}

/* One hop to the final address. What has no address there is refused here. */
static enum status
answer_elsewhere(struct scope *s, struct exchange *ex, enum route_kind kind, const char *origin)
{
	const struct request *r = ex->request;
	bool is_read = r->method == METHOD_GET || r->method == METHOD_HEAD;
	struct resolution found = { .status = 301 };
	struct view view = { 0 };

	if (strcmp(ex->route->pattern, "*") != 0) {
		found.location = scope_printf(s, "%s%.*s", origin, STR_FMT(r->target));
		found.status = kind == ROUTE_API && !is_read ? 308 : 301;
	} else {
		TRY(resolve(s, ex->reader->db, ex->reader->site, r->path, r->query, false, &found));
		hits_count(&found, s->now);
	}
	if (found.location != NULL) {
		respond_redirect(&ex->response, found.status, found.location);
		return OK;
	}
	TRY(view_page(s, ex->reader->db, ex->reader->site, ex->reader->templates, &found, &view));
	ex->response = (struct response){ .status = view.status, .type = view.type, .body = view.body };
	return OK;
}

/* "/api/articles" leads to "/api/v1/articles" if something answers there. */
static bool
add_version(struct scope *s, struct exchange *ex)
{
	const struct request *r = ex->request;
	size_t prefix = strlen("/api");
	const char *path = scope_printf(s, "/api/v1%.*s", STR_FMT(str_part(r->path, prefix, r->path.len)));
	bool is_read = r->method == METHOD_GET || r->method == METHOD_HEAD;
	const struct route *route;

	if (!str_starts(r->path, "/api/") || router_find(&route, r->method, str_of(path), NULL) != OK)
		return false;
	respond_redirect(&ex->response, is_read ? 301 : 308, scope_printf(s, "%s/api/v1%.*s", ex->reader->config->admin_origin,
	    STR_FMT(str_part(r->target, prefix, r->target.len))));
	return true;
}

/* A segment with an encoded slash, NUL or bytes that are no text names nothing we have. */
static enum status
decode_params(struct scope *s, struct exchange *ex)
{
	for (size_t i = 0; i < COUNT(ex->params); i++) {
		struct str raw = ex->params[i];
		char *p = arena_alloc(s->arena, raw.len + 1);
		size_t n = 0;

		for (size_t k = 0; k < raw.len; k++) {
			char pair[3] = { 0 }, *end;

			if (raw.p[k] != '%' || raw.len - k < 3) {
				p[n++] = raw.p[k];
				continue;
			}
			memcpy(pair, raw.p + k + 1, 2);
			p[n++] = (char)strtol(pair, &end, 16);
			if (end != pair + 2 || pair[0] == '+' || pair[0] == '-' || pair[0] == ' ')
				return fail(s, ERR_NOT_FOUND, NULL, "there is nothing at this address");
			k += 2;
		}
		if (memchr(p, '\0', n) != NULL || memchr(p, '/', n) != NULL || !utf8_valid((struct str){ p, n }))
			return fail(s, ERR_NOT_FOUND, NULL, "there is nothing at this address");
		ex->params[i] = raw.p == NULL ? raw : (struct str){ p, n };
	}
	return OK;
}
