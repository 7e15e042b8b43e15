/* operation_answer.c - what callers see of long work: the 202, the state, the list, the report, and how it ended. */
#include "actions/operation.h"

#include "actions/cursor.h"
#include "actions/json.h"
#include "render/problem.h"

#define LIST_DEFAULT 20
#define LIST_MAX 100
#define REPORT_MAX 500
#define NEWEST "~"		/* sorts behind every id */

static enum status	load_own(struct scope *, struct db *, const struct principal *, const char *id, struct operation *);
static enum status	limit_of(struct scope *, const char *text, size_t most, size_t *out);
static const char	*error_json(struct scope *, enum status);
static struct str	failure_json(struct scope *, enum status);
static struct cursor	id_split(const char *id);
static const char	*id_join(struct scope *, struct cursor);
static void		put_number(struct buf *, const char *name, int64_t);
static void		put_entry(struct buf *, const struct operation_entry *);

const char *
operation_url(struct scope *s, const char *id)
{
	return scope_printf(s, "/api/v1/operations/%s", id);
}

void
operation_running(struct scope *s, struct unit *u, const char *id)
{
	const char *url = operation_url(s, id);

	u->answer = (struct answer){ .status = 202, .location = url, .operation_id = arena_strdup(s->arena, id),
		.body = str_of(scope_printf(s, "{\"status\":\"PROCESSING\",\"status_url\":\"%s\",\"id\":\"%s\"}", url, id)) };
}

struct str
operation_json(struct scope *s, const struct operation *o)
{
	static const char *const states[] = { [OPERATION_PROCESSING] = "PROCESSING", [OPERATION_SUCCESS] = "SUCCESS", [OPERATION_FAILED] = "FAILED" };
	const char *url = operation_url(s, o->id);
	struct buf b;
	size_t i;

	buf_init(&b, s->arena);
	buf_printf(&b, "{\"id\":\"%s\",\"kind\":\"%s\",\"status\":\"%s\",\"progress\":{\"done\":%" PRId64 ",\"total\":%" PRId64 "},\"result\":", o->id,
	    o->kind, states[o->state], o->done, o->total);
	if (o->state == OPERATION_PROCESSING)
		buf_text(&b, "null");
	else {
		for (i = 0; i < RESULT_COUNT; i++)
			buf_printf(&b, "%c\"%s\":%" PRId64, i == 0 ? '{' : ',', operation_result_name((enum operation_result)i), o->tally[i]);
		if (o->more != NULL)
			buf_printf(&b, ",\"details\":%s", o->more);
		buf_char(&b, '}');
	}
	buf_printf(&b, ",\"error\":%s,\"retryable\":%s,\"attempts\":%" PRId64, o->error != NULL ? o->error : "null", o->retryable ? "true" : "false",
	    o->attempts);
	json_put_name(&b, "created_at");
	json_put_time(&b, o->created_at);
	json_put_name(&b, "changed_at");
	json_put_time(&b, o->changed_at);
	buf_printf(&b, ",\"status_url\":\"%s\",\"report_url\":\"%s/report\",\"report_lines\":%" PRId64 "}", url, url, o->entries);
	return buf_as_str(&b);
}

bool
operation_was_cancelled(const struct operation *o)
{
	return o->state == OPERATION_FAILED && o->error != NULL && strstr(o->error, "\"code\":\"operation_cancelled\"") != NULL;
}

/* Operation and record together, so that whoever sends the request again hears what whoever asks for the operation hears. */
enum status
operation_end(struct scope *s, struct db *db, struct operation *o, enum status status, bool *moved)
{
	const char *headers = scope_printf(s, "{\"Location\":\"%s\"}", operation_url(s, o->id));
	struct record r = { .headers = headers, .status = 202 };

	o->state = status == OK ? OPERATION_SUCCESS : OPERATION_FAILED;
	/* Lines that were the same, or only tried, are behind it too. */
	o->done = status == OK && o->total > o->done ? o->total : o->done;
	o->retryable = status != OK && status_info(status)->retryable;
	o->error = status == OK ? NULL : error_json(s, status);
	TRY(store_operation_finish(s, db, o, s->now, moved));
	if (!*moved || o->key == NULL)
		return OK;
	r.is_failed = status != OK;
	r.is_retryable = o->retryable;
	if (r.is_failed)
		r.status = status_info(status)->http;
	o->changed_at = s->now;
	r.body = r.is_failed ? failure_json(s, status) : operation_json(s, o);
	return store_record_complete(s, db, o, &r, s->now);
}

enum status
operation_read(struct scope *s, struct db *db, const struct principal *who, const char *id, struct str *json, bool *is_running)
{
	struct operation o;

	TRY(load_own(s, db, who, id, &o));
	*json = operation_json(s, &o);
	*is_running = o.state == OPERATION_PROCESSING;
	return OK;
}

enum status
operation_list(struct scope *s, struct db *db, const struct principal *who, const char *limit, const char *cursor, struct str *json,
    const char **next_cursor)
{
	const char *name = scope_printf(s, "operations %" PRId64, who->user_id), *before = NEWEST;
	struct operation *list;
	struct cursor place;
	size_t count = 0, max = 0, i;
	struct buf b;

	TRY(limit_of(s, limit, LIST_MAX, &max));
	if (cursor != NULL) {
		TRY(cursor_parse(s, &place, name, cursor));
		before = id_join(s, place);
	}
	list = scope_alloc(s, (max + 1) * sizeof(*list));
	TRY(store_operation_list(s, db, list, &count, max + 1, who->user_id, before));
	*next_cursor = count > max ? cursor_text(s, name, id_split(list[max - 1].id)) : NULL;
	buf_init(&b, s->arena);
	buf_text(&b, "{\"items\":[");
	for (i = 0; i < count && i < max; i++) {
		if (i > 0)
			buf_char(&b, ',');
		buf_str(&b, operation_json(s, &list[i]));
	}
	buf_text(&b, "],\"next\":");
	json_put_text(&b, *next_cursor);
	buf_char(&b, '}');
	*json = buf_as_str(&b);
	return OK;
}

enum status
operation_report(struct scope *s, struct db *db, const struct principal *who, const char *id, const char *limit, const char *cursor,
    struct str *json, const char **next_cursor)
{
	const char *name = scope_printf(s, "report %s", id);
	struct cursor place = { -1, 0 };
	struct operation_entry *list;
	size_t count = 0, max = 0, i;
	struct operation o;
	struct buf b;

	TRY(load_own(s, db, who, id, &o));
	TRY(limit_of(s, limit, REPORT_MAX, &max));
	if (cursor != NULL)
		TRY(cursor_parse(s, &place, name, cursor));
	list = scope_alloc(s, (max + 1) * sizeof(*list));
	TRY(store_operation_entries(s, db, list, &count, max + 1, o.id, place.at, place.id));
	*next_cursor = NULL;
	if (count > max)
		*next_cursor = cursor_text(s, name, (struct cursor){ list[max - 1].number, list[max - 1].part });
	buf_init(&b, s->arena);
	buf_text(&b, "{\"items\":[");
	for (i = 0; i < count && i < max; i++) {
		buf_text(&b, i > 0 ? "," : "");
		put_entry(&b, &list[i]);
	}
	buf_text(&b, "],\"next\":");
	json_put_text(&b, *next_cursor);
	buf_char(&b, '}');
	*json = buf_as_str(&b);
	return OK;
}

static enum status
load_own(struct scope *s, struct db *db, const struct principal *who, const char *id, struct operation *o)
{
	TRY(store_operation_load(s, db, o, id));
	if (o->user_id != who->user_id && who->role != ROLE_ADMIN)
		return fail(s, ERR_NOT_FOUND, NULL, "there is no such operation");
	return OK;
}

static enum status
limit_of(struct scope *s, const char *text, size_t most, size_t *out)
{
	int64_t n = LIST_DEFAULT;

	if (text != NULL && (!parse_int64(str_of(text), &n) || n < 1 || n > (int64_t)most))
		return fail(s, ERR_INVALID, "limit", "must be a number from 1 to %zu", most);
	*out = (size_t)n;
	return OK;
}

static const char *
error_json(struct scope *s, enum status status)
{
	const struct error *e = s->error != NULL && s->error->status == status ? s->error : NULL;
	const struct status_info *info = status_info(status);
	/* What broke on our side may name files and statements: that is for the log. */
	const char *detail = e != NULL && e->detail != NULL && info->http < 500 ? e->detail : info->help;
	struct buf b;

	buf_init(&b, s->arena);
	buf_printf(&b, "{\"code\":\"%s\",\"detail\":", info->code);
	json_put_text(&b, str_dup(s->arena, utf8_cut(str_of(detail), 1000)));
	if (e != NULL && e->field != NULL && info->http < 500) {
		buf_text(&b, ",\"field\":");
		json_put_text(&b, e->field);
	}
	buf_char(&b, '}');
	return b.p;
}

static struct str
failure_json(struct scope *s, enum status status)
{
	struct error *e = s->error;
	struct str body;

	if (status_info(status)->http >= 500)
		s->error = NULL;
	body = problem_json(s, status);
	if (body.len > 4096) {
		s->error = NULL;
		body = problem_json(s, status);
	}
	s->error = e;
	return body;
}

/* An id is 128 bits: the place in a list. */
static struct cursor
id_split(const char *id)
{
	uint64_t half[2] = { 0, 0 };
	size_t i, n = 0;

	for (i = 0; id[i] != '\0' && n < 32; i++)
		if (id[i] != '-') {
			half[n / 16] = half[n / 16] << 4 | (uint64_t)(id[i] <= '9' ? id[i] - '0' : id[i] - 'a' + 10);
			n++;
		}
	return (struct cursor){ (int64_t)half[0], (int64_t)half[1] };
}

static const char *
id_join(struct scope *s, struct cursor c)
{
	uint64_t high = (uint64_t)c.at, low = (uint64_t)c.id;

	return scope_printf(s, "%08" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%04" PRIx64 "-%012" PRIx64, high >> 32, high >> 16 & 0xffff, high & 0xffff,
	    low >> 48, low & UINT64_C(0xffffffffffff));
}

static void
put_number(struct buf *b, const char *name, int64_t n)
{
	json_put_name(b, name);
	buf_printf(b, "%" PRId64, n);
}

static void
put_entry(struct buf *b, const struct operation_entry *e)
{
	const struct { const char *name, *text; } texts[] = { { "result", e->result }, { "subject", e->subject }, { "code", e->code }, { "detail", e->detail } };
	size_t i;

	buf_char(b, '{');
	put_number(b, "number", e->number);
	for (i = 0; i < COUNT(texts); i++)
		if (texts[i].text != NULL) {
			json_put_name(b, texts[i].name);
			json_put_text(b, texts[i].text);
		}
	buf_char(b, '}');
}
