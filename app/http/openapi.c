/* openapi.c - the contract as OpenAPI 3.1: what the closed lists say of each route of the API, joined with the words, schemas and examples of
 * templates/docs/openapi. A route is in it because it is in routes.def; nothing here names one. */
#include <jansson.h>

#include "actions/docs.h"
#include "core/idempotency.h"
#include "http/exchange.h"
#include "http/openapi.h"
#include "http/respond.h"
#include "http/router.h"

#define EXAMPLE_ID "01890a5d-ac96-774b-bcce-b302099a8057"

struct contract {
	struct scope	*s;
	const struct site *site;
	const char	*dir;
	json_t		*root;		/* the document */
	json_t		*words;		/* "POST /api/v1/articles" -> what people wrote about it */
	enum status	 status;	/* of the first thing that does not fit */
};

struct operation_words {
	const struct route *route;
	const char	*name;		/* "POST /api/v1/articles" */
	const struct write_rule *rule;	/* NULL: it reads */
	enum action	 action;
	json_t		*given;		/* borrowed from contract.words */
};

static const struct route routes[] = {
#define ROUTE(method, pattern, handler, limit, kind) { METHOD_##method, pattern, handler, limit, ROUTE_##kind },
#include "http/routes.def"
#undef ROUTE
};

static void		read_words(struct contract *, const char *file, const char *const names[3]);
static json_t		*component(struct contract *, const char *kind);
static void		add_operation(struct contract *, const struct route *);
static bool		find_words(struct contract *, const struct route *, struct operation_words *);
static void		add_parameters(struct contract *, const struct operation_words *, json_t *operation);
static json_t		*reference(struct contract *, const char *kind, const char *name);
static void		add_body(struct contract *, const struct operation_words *, json_t *operation);
static json_t		*body_examples(struct contract *, const struct operation_words *);
static json_t		*filled(struct contract *, json_t *body);
static void		add_answers(struct contract *, const struct operation_words *, json_t *responses);
static json_t		*content(struct contract *, json_t *given, json_t *examples);
static void		add_refusals(struct contract *, const struct operation_words *, json_t *responses);
static void		collect_refusals(struct contract *, const struct operation_words *, bool taken[STATUS_COUNT]);
static void		add_refusal(struct contract *, json_t *responses, int http, const bool taken[STATUS_COUNT]);
static void		add_rules(struct contract *, const struct operation_words *, json_t *operation);
static bool		requires_version(const struct operation_words *);
static json_t		*roles_of(enum action, bool own_only);
static void		misfit(struct contract *, const char *fmt, ...) PRINTF_LIKE(2, 3);

enum status
openapi_document(struct scope *s, const struct site *site, const char *dir, struct str *out)
{
	static const char *const kinds[][3] = { { "article", "articles", "Article" }, { "page", "pages", "Page" }, { "tag", "tags", "Tag" },
		{ "author", "authors", "Author" } };
	enum { TEXT_KINDS = 2 };	/* the first */
	struct contract c = { .s = s, .site = site, .dir = dir, .root = json_object(), .words = json_object(), .status = OK };
	char *text = NULL;

	read_words(&c, "base", NULL);
	for (size_t i = 0; i < COUNT(kinds); i++) {
		read_words(&c, i < TEXT_KINDS ? "texts" : "terms", kinds[i]);
		read_words(&c, "resources", kinds[i]);
	}
	read_words(&c, "redirects", NULL);
	read_words(&c, "operations", NULL);
	read_words(&c, "reports", NULL);
	json_object_set_new(c.root, "servers", json_pack("[{s:s}]", "url", site->admin_origin));
	json_object_set_new(c.root, "paths", json_object());
	for (size_t i = 0; c.status == OK && i < COUNT(routes); i++)
		if (strncmp(routes[i].pattern, "/api/", strlen("/api/")) == 0)
			add_operation(&c, &routes[i]);
	if (c.status == OK && json_object_size(c.words) > 0)
		misfit(&c, "%s is described, but no route", json_object_iter_key(json_object_iter(c.words)));
	if (c.status == OK)
		text = json_dumps(c.root, JSON_COMPACT);
	if (text != NULL)
		*out = str_of(arena_strdup(s->arena, text));
	free(text);
	json_decref(c.words);
	json_decref(c.root);
	return c.status;
}

enum status
handle_openapi(struct scope *s, struct exchange *ex)
{
	static const char *const depends[] = { "settings" };
	const struct reader *r = ex->reader;
	struct response *response = &ex->response;

	*response = (struct response){ .status = 200, .type = "application/json", .is_cacheable = true, .depends = depends, .depends_count = 1 };
	return openapi_document(s, r->site, scope_printf(s, "%s/templates/docs/openapi", r->config->share_dir), &response->body);
}

/* The members of one file: "operations" join the words, "schemas" and the like the components, everything else the document. In a file about
 * kinds @kind@, @kinds@ and @Kind@ stand for their names. */
static void
read_words(struct contract *c, const char *file, const char *const names[3])
{
	static const char *const marks[] = { "@kind@", "@kinds@", "@Kind@" };
	const char *name;
	struct str text;
	json_error_t error;
	json_t *read, *value;

	if (c->status == OK)
		c->status = docs_read(c->s, scope_printf(c->s, "%s/%s.json", c->dir, file), &text);
	for (size_t i = 0; c->status == OK && names != NULL && i < COUNT(marks); i++)
		text = docs_replace(c->s, text, marks[i], names[i]);
	if (c->status != OK)
		return;
	if ((read = json_loadb(text.p, text.len, JSON_REJECT_DUPLICATES, &error)) == NULL) {
		misfit(c, "%s.json:%d: %s", file, error.line, error.text);
		return;
	}
	json_object_foreach(read, name, value) {
		if (strcmp(name, "operations") == 0)
			json_object_update(c->words, value);
		else if (strcmp(name, "schemas") == 0 || strcmp(name, "parameters") == 0)
			json_object_update(component(c, name), value);
		else
			json_object_set(c->root, name, value);
	}
	json_decref(read);
}

/* Components of one kind: an object, made when it is first asked for. Borrowed. */
static json_t *
component(struct contract *c, const char *kind)
{
	json_t *components = json_object_get(c->root, "components"), *found = json_object_get(components, kind);

	if (components == NULL)
		json_object_set_new(c->root, "components", components = json_object());
	if (found == NULL)
		json_object_set_new(components, kind, found = json_object());
	return found;
}

static void
add_operation(struct contract *c, const struct route *route)
{
	json_t *paths = json_object_get(c->root, "paths"), *path = json_object_get(paths, route->pattern);
	json_t *operation = json_object(), *responses = json_object();
	static const char *const copied[] = { "operationId", "summary", "description" };
	char method[16] = "";
	struct operation_words w;

	if (path == NULL)
		json_object_set_new(paths, route->pattern, path = json_object());
	for (const char *p = method_name(route->method); *p != '\0'; p++)
		method[strlen(method)] = (char)(*p | 0x20);
	json_object_set_new(path, method, operation);
	json_object_set_new(operation, "responses", responses);
	if (!find_words(c, route, &w))
		return;
	for (size_t i = 0; i < COUNT(copied); i++)
		json_object_set(operation, copied[i], json_object_get(w.given, copied[i]));
	json_object_set_new(operation, "tags", json_pack("[O]", json_object_get(w.given, "tag")));
	add_rules(c, &w, operation);
	add_parameters(c, &w, operation);
	add_body(c, &w, operation);
	add_answers(c, &w, responses);
	add_refusals(c, &w, responses);
	json_object_set(operation, "x-examples", json_object_get(w.given, "examples"));
	json_object_del(c->words, w.name);
}

static bool
find_words(struct contract *c, const struct route *route, struct operation_words *w)
{
	const char *permission;

	*w = (struct operation_words){ .route = route, .name = scope_printf(c->s, "%s %s", method_name(route->method), route->pattern) };
	for (enum write_id id = 0; id < WRITE_COUNT; id++)
		if (strcmp(write_rule(id)->method, method_name(route->method)) == 0 && strcmp(write_rule(id)->route, route->pattern) == 0)
			w->rule = write_rule(id);
	w->given = json_object_get(c->words, w->name);
	permission = json_string_value(json_object_get(w->given, "permission"));
	if (w->rule != NULL)
		w->action = w->rule->action;
	else if (permission == NULL || !action_parse(str_of(permission), &w->action))
		misfit(c, "%s has no permission of permission.def", w->name);
	if (!json_is_array(json_object_get(w->given, "examples")) || !json_is_object(json_object_get(w->given, "answers")))
		misfit(c, "%s is not described, or lacks answers or examples", w->name);
	return c->status == OK;
}

static void
add_parameters(struct contract *c, const struct operation_words *w, json_t *operation)
{
	json_t *parameters = json_array(), *value;
	struct str rest = str_of(w->route->pattern), piece;
	size_t i;

	json_object_set_new(operation, "parameters", parameters);
	while (str_next(&rest, '/', &piece))
		if (str_starts(piece, "{"))
			json_array_append_new(parameters, reference(c, "parameters", str_dup(c->s->arena, str_part(piece, 1, piece.len - 1))));
	json_array_foreach(json_object_get(w->given, "parameters"), i, value) {
		json_array_append_new(parameters, reference(c, "parameters", json_string_value(value)));
	}
	if (w->rule != NULL && w->rule->carrier != CARRIER_EXEMPT)
		json_array_append_new(parameters, reference(c, "parameters",
		    w->rule->carrier == CARRIER_REQUIRED ? "idempotency_key" : "idempotency_key_optional"));
	if (requires_version(w))
		json_array_append_new(parameters, reference(c, "parameters", "if_match"));
	else if (json_is_true(json_object_get(w->given, "if_match")))
		json_array_append_new(parameters, reference(c, "parameters", "if_match_optional"));
}

/* Without a key to recognise it by, only the version makes a repeat harmless. */
static bool
requires_version(const struct operation_words *w)
{
	return w->rule != NULL && w->rule->carrier == CARRIER_OPTIONAL;
}

/* To a component that is there. */
static json_t *
reference(struct contract *c, const char *kind, const char *name)
{
	if (name == NULL || json_object_get(component(c, kind), name) == NULL)
		misfit(c, "there is no %s among the %s", name != NULL ? name : "text", kind);
	return json_pack("{s:s}", "$ref", scope_printf(c->s, "#/components/%s/%s", kind, name != NULL ? name : ""));
}

/* A schema by its name is JSON; other media are an object of media type and schema. */
static json_t *
content(struct contract *c, json_t *given, json_t *examples)
{
	json_t *out = json_object(), *schema;
	const char *media;

	if (json_is_string(given))
		json_object_set_new(out, "application/json", json_pack("{s:o}", "schema", reference(c, "schemas", json_string_value(given))));
	else
		json_object_foreach(given, media, schema) {
			json_object_set_new(out, media, json_is_string(schema) ?
			    json_pack("{s:o}", "schema", reference(c, "schemas", json_string_value(schema))) :
			    json_pack("{s:O}", "schema", schema));
		}
	if (json_object_size(examples) > 0 && json_object_get(out, "application/json") != NULL)
		json_object_set(json_object_get(out, "application/json"), "examples", examples);
	return out;
}

static void
add_body(struct contract *c, const struct operation_words *w, json_t *operation)
{
	json_t *given = json_object_get(w->given, "body"), *examples = body_examples(c, w), *schema, *properties;

	if (given != NULL) {
		json_object_set_new(operation, "requestBody", json_pack("{s:b, s:o, s:I}", "required", !json_is_false(json_object_get(w->given, "body_required")),
		    "content", content(c, given, examples), "x-max-bytes", (json_int_t)w->route->body_limit));
		schema = json_is_string(given) ? given : json_object_get(given, "application/json");
		properties = json_object_get(json_object_get(component(c, "schemas"), json_string_value(schema)), "properties");
		/* Any JSON body may carry the key. */
		if (w->rule != NULL && properties != NULL)
			json_object_set_new(properties, "idempotency_key", reference(c, "schemas", "IdempotencyKey"));
	}
	json_decref(examples);
}

static json_t *
body_examples(struct contract *c, const struct operation_words *w)
{
	json_t *out = json_object(), *example;
	size_t i;

	json_array_foreach(json_object_get(w->given, "examples"), i, example)
		if (json_object_get(example, "body") != NULL && !json_is_string(json_object_get(example, "body")) &&
		    json_object_get(example, "code") == NULL)
			json_object_set_new(out, json_string_value(json_object_get(example, "name")), json_pack("{s:O, s:o}", "summary",
			    json_object_get(example, "summary"), "value", filled(c, json_object_get(example, "body"))));
	return out;
}

/* The marks stand for what a test has made first; a reader sees what such a thing looks like. */
static json_t *
filled(struct contract *c, json_t *body)
{
	char *dump = json_dumps(body, JSON_COMPACT);
	struct str text = docs_replace(c->s, docs_replace(c->s, str_of(dump), "@id@", EXAMPLE_ID), "@slug@", "an-example");
	json_t *out = json_loadb(text.p, text.len, 0, NULL);

	free(dump);
	return out;
}

static void
add_answers(struct contract *c, const struct operation_words *w, json_t *responses)
{
	static const char *const written[] = { "Location", "ETag", "Idempotent-Replayed", "Idempotency-Original-Status", NULL },
				 *const read_one[] = { "ETag", NULL }, *const none[] = { NULL };
	const char *const *names = w->rule != NULL ? written : json_is_true(json_object_get(w->given, "etag")) ? read_one : none;
	json_t *answers = json_object_get(w->given, "answers"), *first = json_object_iter_value(json_object_iter(answers)), *headers, *given;
	const char *status;

	json_object_foreach(answers, status, given) {
		headers = json_object();
		for (size_t i = 0; names[i] != NULL; i++)
			json_object_set_new(headers, names[i], reference(c, "headers", names[i]));
		if (strcmp(status, "202") == 0)
			json_object_set_new(headers, "Retry-After", reference(c, "headers", "Retry-After"));
		json_object_set_new(responses, status, json_pack("{s:s, s:o, s:o}", "description",
		    strcmp(status, "201") == 0 ? "Made" : strcmp(status, "202") == 0 ? "Taken on; it goes on behind this answer" : "Done", "headers", headers,
		    "content", content(c, given, NULL)));
	}
	/* What a repeat gets, whatever the first one got. */
	if (w->rule != NULL && json_object_get(responses, "200") == NULL)
		json_object_set_new(responses, "200", json_pack("{s:s, s:{s:o, s:o}, s:o}", "description", "The same request again: the saved answer",
		    "headers", "Idempotent-Replayed", reference(c, "headers", "Idempotent-Replayed"), "Idempotency-Original-Status",
		    reference(c, "headers", "Idempotency-Original-Status"), "content", content(c, first, NULL)));
}

static void
add_refusals(struct contract *c, const struct operation_words *w, json_t *responses)
{
	bool taken[STATUS_COUNT] = { false };

	collect_refusals(c, w, taken);
	for (enum status e = OK + 1; e < STATUS_COUNT; e++)
		if (taken[e] && json_object_get(responses, scope_printf(c->s, "%d", status_info(e)->http)) == NULL)
			add_refusal(c, responses, status_info(e)->http, taken);
}

/* What follows from the kind of the route, and what the words name. */
static void
collect_refusals(struct contract *c, const struct operation_words *w, bool taken[STATUS_COUNT])
{
	static const enum status every[] = { ERR_MALFORMED_REQUEST, ERR_UNAUTHENTICATED, ERR_TIMEOUT, ERR_URI_TOO_LONG, ERR_MISDIRECTED, ERR_RATE, ERR_HEADERS,
		ERR_INTERNAL, ERR_BUSY },
				 writing[] = { ERR_MALFORMED_JSON, ERR_KEY_INVALID, ERR_KEY_MISMATCH, ERR_KEY_CONFLICT, ERR_DENIED, ERR_LENGTH_REQUIRED, ERR_TOO_LARGE,
					 ERR_MEDIA_TYPE, ERR_INVALID, ERR_UNKNOWN_FIELD, ERR_STORAGE };
	json_t *codes = json_object_get(w->given, "errors"), *code;
	size_t i;

	for (i = 0; i < COUNT(every); i++)
		taken[every[i]] = true;
	for (i = 0; w->rule != NULL && i < COUNT(writing); i++)
		taken[writing[i]] = true;
	taken[ERR_KEY_REQUIRED] = w->rule != NULL && w->rule->carrier == CARRIER_REQUIRED;
	taken[ERR_PRECONDITION] = requires_version(w);
	taken[ERR_VERSION] = requires_version(w) || json_is_true(json_object_get(w->given, "if_match"));
	taken[ERR_NOT_FOUND] = strchr(w->route->pattern, '{') != NULL;
	taken[ERR_DENIED] = taken[ERR_DENIED] || action_scopes(w->action) != TOKEN_SCOPE_NONE;
	json_array_foreach(json_object_get(w->given, "parameters"), i, code) {
		taken[ERR_INVALID] = true;
		if (strcmp(json_string_value(code), "cursor") == 0)
			taken[ERR_CURSOR] = true;
	}
	json_array_foreach(codes, i, code) {
		enum status e = OK + 1;

		while (e < STATUS_COUNT && strcmp(status_info(e)->code, json_string_value(code)) != 0)
			e++;
		if (e == STATUS_COUNT)
			misfit(c, "%s has an unknown error", w->name);
		else
			taken[e] = true;
	}
}

/* All refusals with one status: a component that whoever has the same ones shares. */
static void
add_refusal(struct contract *c, json_t *responses, int http, const bool taken[STATUS_COUNT])
{
	json_t *shared = component(c, "responses"), *codes = json_array();
	const char *status = scope_printf(c->s, "%d", http);
	struct buf name, help;

	buf_init(&name, c->s->arena);
	buf_init(&help, c->s->arena);
	buf_text(&name, status);
	for (enum status e = OK + 1; e < STATUS_COUNT; e++) {
		const struct status_info *i = status_info(e);

		if (!taken[e] || i->http != http)
			continue;
		buf_printf(&name, ".%s", i->code);
		buf_printf(&help, "%s`%s`: %s", help.len > 0 ? "\n\n" : "", i->code, i->help);
		json_array_append_new(codes, json_string(i->code));
	}
	if (json_object_get(shared, name.p) == NULL) {
		json_t *response = json_pack("{s:s, s:{s:{s:{s:[o, {s:{s:{s:O}}}]}}}}", "description", help.p, "content", "application/problem+json", "schema",
		    "allOf", reference(c, "schemas", "Problem"), "properties", "code", "enum", codes);

		if (http == 429 || http == 503)
			json_object_set_new(response, "headers", json_pack("{s:o}", "Retry-After", reference(c, "headers", "Retry-After")));
		json_object_set_new(shared, name.p, response);
	}
	json_decref(codes);
	json_object_set_new(responses, status, reference(c, "responses", name.p));
}

/* Who may, and what a repeat is: from permission.def, writes.def and the settings in force. */
static void
add_rules(struct contract *c, const struct operation_words *w, json_t *operation)
{
	static const char *const carriers[] = { [CARRIER_REQUIRED] = "required", [CARRIER_OPTIONAL] = "optional", [CARRIER_EXEMPT] = "none" };
	unsigned scopes = action_scopes(w->action);
	json_t *scope = scopes == TOKEN_SCOPE_NONE ? json_null() : json_string(scopes_text(c->s, scopes));
	json_t *security = json_array();

	/* Whoever sees only their own must say who they are. */
	if (scopes == TOKEN_SCOPE_NONE && !json_is_true(json_object_get(w->given, "signed_in")))
		json_array_append_new(security, json_object());
	json_array_append_new(security, json_pack("{s:[]}", "bearer"));
	json_object_set_new(operation, "security", security);
	json_object_set_new(operation, "x-permission", json_pack("{s:s, s:o, s:o, s:o}", "action", action_name(w->action), "scope", scope, "roles",
	    roles_of(w->action, false), "roles_for_own", roles_of(w->action, true)));
	if (w->rule == NULL)
		json_object_set_new(operation, "x-idempotency", json_pack("{s:s, s:s}", "key", "none", "reason", "reads only"));
	else
		json_object_set_new(operation, "x-idempotency", json_pack("{s:s, s:I, s:s}", "key", carriers[w->rule->carrier], "retention_seconds",
		    (json_int_t)site_retention(c->site, w->rule->retention) / 1000, "reason", w->rule->reason));
}

/* Roles that may on anybody's, or on their own alone. */
static json_t *
roles_of(enum action action, bool own_only)
{
	json_t *out = json_array();

	for (enum role role = ROLE_NONE; role <= ROLE_ADMIN; role++) {
		const struct principal who = { .user_id = 1, .role = role, .scopes = TOKEN_SCOPE_ALL };
		bool any = permitted(&who, action, 2);

		if (own_only ? !any && permitted(&who, action, 1) : any)
			json_array_append_new(out, json_string(role_name(role)));
	}
	return out;
}

static void
misfit(struct contract *c, const char *fmt, ...)
{
	const char *text;
	va_list ap;

	va_start(ap, fmt);
	text = arena_vprintf(c->s->arena, fmt, ap);
	va_end(ap);
	if (c->status == OK)
		c->status = fail(c->s, ERR_INTERNAL, NULL, "the contract: %s", text);
}
