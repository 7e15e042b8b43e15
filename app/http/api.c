/* api.c - what every API request passes through, in the order of the manual's page on idempotency. */
#include "http/api.h"

#include <pthread.h>

#include "actions/json.h"
#include "actions/limit.h"
#include "actions/users.h"
#include "base/clock.h"
#include "base/hash.h"
#include "core/percent.h"
#include "core/url.h"
#include "http/parse.h"
#include "http/router.h"

/* Per worker and principal: far above what a client of good will sends, far below what would starve the others. */
#define REQUEST_RATE 20000
#define WRITE_RATE 20000
#define KEY_LINES_MAX 8

struct call {
	struct unit	 unit;		/* first */
	struct shared	*shared;
};

static pthread_once_t	 once = PTHREAD_ONCE_INIT;
static struct limiter	*requests, *writes;

static void		limits_init(void);
static int64_t		rate_of(const char *variable, int64_t rate);
static enum status	limit(struct scope *, struct limiter *, const struct exchange *);
static enum status	query_check(struct scope *, struct str query);
static enum status	bearer(struct scope *, const struct request *, struct str *token);
static enum status	key_of_header(struct scope *, const struct request *, const char **key);
static enum status	read_json(struct scope *, const struct request *, bool has_body, json_t **, struct str *canonical,
			    const char **key_in_body);
static enum status	join_keys(struct scope *, struct unit *, const char *key_in_body);
static enum status	media_of(struct scope *, const struct request *, bool has_body, const char **media);
static enum status	write_with(struct scope *, struct exchange *, enum write_id, bool has_body, const char *const *accepted, api_prepare *);
static enum status	foreign_media(struct scope *, struct exchange *, struct unit *, const char *media, bool takes_others);
static bool		is_accepted(const char *const *accepted, const char *media);
static enum status	read_other(struct scope *, struct exchange *, const char *media, struct str *canonical, const char **key_in_body);
static void		hash_request(struct scope *, const struct exchange *, struct unit *, const char *media, struct str body);
static struct str	path_params(struct scope *, const struct exchange *);
static struct str	sorted_query(struct scope *, struct str query);
static int		pair_order(const void *, const void *);
static void		count_settled(const struct unit *, enum status);

enum status
api_enter(struct scope *s, struct exchange *ex, bool is_required)
{
	struct str token;

	pthread_once(&once, limits_init);
	ex->who = (struct principal){ .role = ROLE_NONE };
	TRY(bearer(s, ex->request, &token));
	if (token.p != NULL)
		TRY(user_by_token(s, ex->reader->db, token, &ex->who));
	else if (is_required)
		return fail(s, ERR_UNAUTHENTICATED, NULL, "this needs Authorization: Bearer TOKEN");
	TRY(limit(s, requests, ex));
	return ex->request->query.len > 0 ? query_check(s, ex->request->query) : OK;
}

enum status
api_write(struct scope *s, struct exchange *ex, enum write_id id, bool has_body, api_prepare *prepare)
{
	return write_with(s, ex, id, has_body, NULL, prepare);
}

enum status
api_write_media(struct scope *s, struct exchange *ex, enum write_id id, const char *const *accepted, api_prepare *prepare)
{
	return write_with(s, ex, id, true, accepted, prepare);
}

static enum status
write_with(struct scope *s, struct exchange *ex, enum write_id id, bool has_body, const char *const *accepted, api_prepare *prepare)
{
	struct call *call = scope_alloc(s, sizeof(*call));
	struct unit *u = &call->unit;
	struct str canonical, if_match = request_header(ex->request, "if-match");
	const char *key_in_body, *media = NULL;
	json_t *body = NULL;
	enum status status;
	bool found;

	TRY(api_enter(s, ex, true));
	*call = (struct call){ .unit = { .rule = write_rule(id), .who = ex->who, .site = ex->reader->site, .settled = count_settled },
		.shared = ex->reader->shared };
	/* From here on the log names the key of a refused request too. */
	ex->unit = u;
	u->if_match = if_match.p == NULL ? NULL : str_dup(s->arena, if_match);
	TRY(permission_require(s, &ex->who, u->rule->action, 0));
	TRY(key_of_header(s, ex->request, &u->key));
	TRY(media_of(s, ex->request, has_body, &media));
	if (strcmp(media, "json") != 0 && !is_accepted(accepted, media))
		return foreign_media(s, ex, u, media, accepted != NULL);
	status = strcmp(media, "json") == 0 ? read_json(s, ex->request, has_body, &body, &canonical, &key_in_body) :
					      read_other(s, ex, media, &canonical, &key_in_body);
	if (status == OK)
		status = join_keys(s, u, key_in_body);
	if (status == OK) {
		hash_request(s, ex, u, media, canonical);
		if (u->key != NULL)
			metric_add(ex->reader->shared, METRIC_IDEM_REQUESTS, 1);
		status = unit_find(s, ex->reader->db, u, &found);
	}
	if (status == OK && !found) {
		status = limit(s, writes, ex);
		if (status == OK)
			status = prepare(s, ex, u, body);
	}
	json_decref(body);
	return status;
}

void
api_respond(struct exchange *ex, struct str json, const char *etag)
{
	ex->response.status = 200;
	ex->response.type = "application/json";
	ex->response.body = json;
	if (etag != NULL)
		response_header(&ex->response, "ETag", etag);
}

/* "/api/v1/articles/{id}": the collection says the kind. */
enum kind
api_kind(const struct unit *u)
{
	struct str collection = str_part(str_of(u->rule->route), strlen("/api/v1/"), strlen(u->rule->route));
	enum kind kind;

	collection = str_part(collection, 0, str_find(collection, '/'));
	for (kind = 0; kind < KIND_COUNT; kind++)
		if (str_is(collection, kind_plural(kind)))
			return kind;
	abort();
}

const char *
api_parameter(struct scope *s, const struct exchange *ex, const char *name)
{
	struct url_pair *pairs;
	size_t count, i;

	url_query(s, ex->request->query, &pairs, &count);
	for (i = 0; i < count; i++)
		if (str_is(pairs[i].name, name))
			return str_dup(s->arena, pairs[i].value);
	return NULL;
}

bool
api_prefers_async(struct scope *s, const struct request *r)
{
	struct str rest, one;
	size_t i;

	for (i = 0; i < r->header_count; i++) {
		if (!str_is_nocase(r->headers[i].name, "prefer"))
			continue;
		rest = r->headers[i].value;
		while (str_next(&rest, ',', &one))
			if (str_is_nocase(str_trim(str_part(one, 0, str_find(one, ';'))), "respond-async"))
				return true;
	}
	return false;
}

const char *
api_next_link(struct scope *s, const struct exchange *ex, const char *path, const struct api_query *query)
{
	struct buf b;
	char before = '?';

	buf_init(&b, s->arena);
	buf_printf(&b, "<%s/api/v1/%s", ex->reader->site->admin_origin, path);
	for (; query->name != NULL; query++) {
		if (query->value == NULL)
			continue;
		buf_printf(&b, "%c%s=", before, query->name);
		for (const char *p = query->value; *p != '\0'; p++)
			if (is_unreserved((unsigned char)*p))
				buf_char(&b, *p);
			else
				percent_add(&b, (unsigned char)*p);
		before = '&';
	}
	buf_text(&b, ">; rel=\"next\"");
	return b.p;
}

/* A value that is cut short, or not seen at all, would be another filter than the one that was asked for. */
static enum status
query_check(struct scope *s, struct str query)
{
	struct url_pair *pairs;
	size_t count, i;

	url_query(s, query, &pairs, &count);
	for (i = 0; i < count; i++)
		if (str_find(pairs[i].value, '\0') < pairs[i].value.len || !utf8_valid(pairs[i].value))
			return fail(s, ERR_INVALID, str_dup(s->arena, pairs[i].name), "is no text");
	return OK;
}

static void
limits_init(void)
{
	int64_t rate = rate_of("STELE_REQUEST_RATE", REQUEST_RATE), write_rate = rate_of("STELE_WRITE_RATE", WRITE_RATE);

	requests = limiter_new(rate, 2 * rate);
	writes = limiter_new(write_rate, 2 * write_rate);
}

/* A test cannot send enough to meet the real limits. */
static int64_t
rate_of(const char *variable, int64_t rate)
{
#ifdef STELE_TEST
	const char *text = getenv(variable);
	int64_t given;

	if (text != NULL && parse_int64(str_of(text), &given) && given > 0)
		return given;
#endif
	return rate;
}

static enum status
limit(struct scope *s, struct limiter *l, const struct exchange *ex)
{
	const char *who = ex->who.user_id != 0 ? scope_printf(s, "user:%" PRId64, ex->who.user_id) :
						 scope_printf(s, "peer:%.*s", STR_FMT(ex->request->peer));
	int wait_s;

	if (limiter_take(l, str_of(who), clock_monotonic(), &wait_s))
		return OK;
	return fail(s, ERR_RATE, NULL, "the next request is possible in %d s; this one left its key unused", wait_s);
}

static enum status
bearer(struct scope *s, const struct request *r, struct str *token)
{
	struct str value = str_trim(request_header(r, "authorization"));

	*token = (struct str){ NULL, 0 };
	if (request_header_count(r, "authorization") == 0)
		return OK;
	if (request_header_count(r, "authorization") > 1 || value.len < 8 || !str_is_nocase(str_part(value, 0, 7), "bearer "))
		return fail(s, ERR_UNAUTHENTICATED, NULL, "Authorization must be one line: Bearer TOKEN");
	*token = str_trim(str_part(value, 7, value.len));
	return OK;
}

static enum status
key_of_header(struct scope *s, const struct request *r, const char **key)
{
	struct str lines[KEY_LINES_MAX];
	size_t i, count = 0;

	for (i = 0; i < r->header_count && count < COUNT(lines); i++)
		if (str_is_nocase(r->headers[i].name, "idempotency-key"))
			lines[count++] = r->headers[i].value;
	return key_from_header(s, key, lines, count);
}

/* *media: "json", or what else it is. A body in a coding would have to be unpacked without bounds known beforehand: refused. */
static enum status
media_of(struct scope *s, const struct request *r, bool has_body, const char **media)
{
	struct str coding = str_trim(request_header(r, "content-encoding")), charset;
	const char *essence;

	if (coding.len > 0 && !str_is_nocase(coding, "identity"))
		return fail(s, ERR_MEDIA_TYPE, NULL, "send the body without Content-Encoding");
	*media = "json";
	if (r->body.len == 0 && !has_body)
		return OK;
	if (!parse_media_type(s, request_header(r, "content-type"), &essence, &charset))
		return fail(s, ERR_MEDIA_TYPE, NULL, "the body's Content-Type must be application/json");
	/* What a PATCH takes is a merge patch by any name (RFC 7396 4). */
	if (strcmp(essence, "application/json") != 0 && (r->method != METHOD_PATCH || strcmp(essence, "application/merge-patch+json") != 0))
		*media = strcmp(essence, "application/x-www-form-urlencoded") == 0 ? "form" :
		    strcmp(essence, "multipart/form-data") == 0			   ? "multipart" :
										     essence;
	if ((strcmp(*media, "json") == 0 || strcmp(*media, "text/csv") == 0) && charset.len > 0 && !str_is_nocase(charset, "utf-8"))
		return fail(s, ERR_MEDIA_TYPE, NULL, "the body must be UTF-8");
	return OK;
}

/* Nothing but JSON is taken. But a key that belongs to a JSON request is in conflict whatever comes with it. */
static enum status
foreign_media(struct scope *s, struct exchange *ex, struct unit *u, const char *media, bool takes_others)
{
	bool found;

	hash_request(s, ex, u, media, ex->request->body);
	TRY(unit_find(s, ex->reader->db, u, &found));
	return fail(s, ERR_MEDIA_TYPE, NULL, takes_others ? "this route does not take bodies of this Content-Type" :
	    "the body's Content-Type must be application/json");
}

static bool
is_accepted(const char *const *accepted, const char *media)
{
	for (; accepted != NULL && *accepted != NULL; accepted++)
		if (strcmp(*accepted, media) == 0)
			return true;
	return false;
}

/* What counts of a form is its parts; where a client draws their borders does not. */
static enum status
read_other(struct scope *s, struct exchange *ex, const char *media, struct str *canonical, const char **key_in_body)
{
	const struct request *r = ex->request;
	char hex[SHA256_HEX];
	struct buf b;
	size_t i;

	*key_in_body = NULL;
	*canonical = r->body;
	if (strcmp(media, "multipart") != 0)
		return OK;
	TRY(parse_multipart(s, request_header(r, "content-type"), r->body, &ex->parts, &ex->part_count));
	buf_init(&b, s->arena);
	for (i = 0; i < ex->part_count; i++) {
		const struct part *p = &ex->parts[i];

		sha256_hex_of(p->content, hex);
		json_put_text(&b, str_dup(s->arena, p->name));
		json_put_text(&b, p->is_file ? str_dup(s->arena, p->file_name) : NULL);
		json_put_text(&b, str_dup(s->arena, p->type));
		buf_printf(&b, "%s\n", hex);
	}
	*canonical = buf_as_str(&b);
	return OK;
}

static enum status
read_json(struct scope *s, const struct request *r, bool has_body, json_t **body, struct str *canonical, const char **key_in_body)
{
	*key_in_body = NULL;
	if (r->body.len == 0 && !has_body) {
		*canonical = STR("{}");
		return OK;
	}
	return json_read(s, body, canonical, r->body, "idempotency_key", key_in_body);
}

static enum status
join_keys(struct scope *s, struct unit *u, const char *key_in_body)
{
	if (key_in_body != NULL) {
		TRY(key_check(s, str_of(key_in_body)));
		if (u->key != NULL && strcmp(u->key, key_in_body) != 0)
			return fail(s, ERR_KEY_MISMATCH, NULL, "the header and the member idempotency_key differ");
		u->key = key_in_body;
	}
	if (u->key == NULL && u->rule->carrier == CARRIER_REQUIRED)
		return fail(s, ERR_KEY_REQUIRED, NULL, "send a fresh random Idempotency-Key, and the same one on every retry");
	return OK;
}

static void
hash_request(struct scope *s, const struct exchange *ex, struct unit *u, const char *media, struct str body)
{
	struct request_print print = { .method = u->rule->method, .route = u->rule->route, .path_params = path_params(s, ex),
		.query = sorted_query(s, ex->request->query), .media = media, .if_match = str_of(u->if_match), .body = body };
	char *hash = scope_alloc(s, SHA256_HEX);

	request_hash(s, hash, &print);
	u->hash = hash;
}

static struct str
path_params(struct scope *s, const struct exchange *ex)
{
	struct str pattern = str_of(ex->route->pattern), name;
	struct buf b;
	size_t i;

	buf_init(&b, s->arena);
	for (i = 0; i < COUNT(ex->params) && ex->params[i].p != NULL; i++) {
		pattern = str_part(pattern, str_find(pattern, '{') + 1, pattern.len);
		name = str_part(pattern, 0, str_find(pattern, '}'));
		buf_printf(&b, "%s%.*s=%.*s", i > 0 ? "&" : "", STR_FMT(name), STR_FMT(ex->params[i]));
	}
	return buf_as_str(&b);
}

static struct str
sorted_query(struct scope *s, struct str query)
{
	struct url_pair *pairs;
	size_t count, i;
	struct buf b;

	url_query(s, query, &pairs, &count);
	qsort(pairs, count, sizeof(*pairs), pair_order);
	buf_init(&b, s->arena);
	for (i = 0; i < count; i++) {
		if (i > 0)
			buf_char(&b, '&');
		buf_str(&b, pairs[i].raw);
	}
	return buf_as_str(&b);
}

static int
pair_order(const void *left, const void *right)
{
	struct str a = ((const struct url_pair *)left)->raw, b = ((const struct url_pair *)right)->raw;
	size_t shorter = a.len < b.len ? a.len : b.len;
	int order = shorter == 0 ? 0 : memcmp(a.p, b.p, shorter);

	return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

/* On whichever thread found the record. */
static void
count_settled(const struct unit *u, enum status status)
{
	const struct call *call = (const struct call *)u;

	if (status == OK) {
		unit_count_replay(u);
		metric_add(call->shared, METRIC_IDEM_REPLAYS, 1);
	} else if (status == ERR_PROCESSING_TIMEOUT)
		metric_add(call->shared, METRIC_PROCESSING_TIMEOUT, 1);
	else {
		unit_count_conflict(u);
		metric_add(call->shared, METRIC_IDEM_CONFLICTS, 1);
	}
}
