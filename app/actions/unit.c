/* unit.c - claim, business rows and saved answer as one; the replay of what was saved. */
#include "actions/unit.h"

#include <jansson.h>

#include "actions/json.h"
#include "actions/operation.h"
#include "db/writer.h"
#include "render/problem.h"
#include "store/idempotency.h"
#include "store/resources.h"

#define BODY_MAX 4096

static struct record_key record_key(const struct unit *);
static int64_t		 expiry(const struct scope *, const struct unit *);
static enum status	 settle_existing(struct scope *, struct db *, struct unit *, bool may_write, bool *found);
static enum status	 settle_running(struct scope *, struct db *, struct unit *, const char *operation, bool may_write);
static void		 tell(const struct unit *, enum status);
static void		 replay(struct scope *, struct unit *, const struct record *);
static enum status	 object_permission(struct scope *, struct db *, const struct unit *, int64_t resource);
static enum status	 refuse(struct scope *, struct unit *, enum status);
static enum status	 save(struct scope *, struct db *, const struct unit *);
static enum status	 apply_before_claim(struct scope *, struct db *, struct unit *);
static bool		 is_storable(enum status);
static const char	*headers_text(struct scope *, const struct answer *);

enum status
unit_find(struct scope *s, struct db *db, struct unit *u, bool *found)
{
	*found = false;
	u->request_id = s->log_id;
	return u->key == NULL ? OK : settle_existing(s, db, u, false, found);
}

enum status
unit_apply(struct scope *s, struct db *db, void *unit)
{
	struct unit *u = unit;
	struct record_key key = record_key(u);
	enum status status;
	bool claimed, found;

	u->answer = (struct answer){ 0 };
	u->request_id = s->log_id;
	if (u->key == NULL)
		return u->apply(s, db, u);
	if (fault("claim_after_commit"))
		return apply_before_claim(s, db, u);
	if (fault("pre_claim"))
		return fail(s, ERR_INTERNAL, NULL, "fault before the claim");
	TRY(store_record_claim(s, db, &key, u->hash, REQUEST_HASH_VERSION, expiry(s, u), &claimed));
	if (fault("post_claim"))
		return fail(s, ERR_INTERNAL, NULL, "fault after the claim");
	if (!claimed) {
		TRY(settle_existing(s, db, u, true, &found));
		return found ? OK : fail(s, ERR_BUSY, NULL, "a request with this key is still running");
	}
	/* The record it came for was good when the reader looked, and expired since. */
	if (u->apply == NULL)
		return fail(s, ERR_BUSY, NULL, "the operation of this key has just expired; send the request again");
	TRY(db_savepoint(s, db));
	status = u->apply(s, db, u);
	if (status == OK)
		status = db_release(s, db);
	else
		db_undo(db);
	if (status != OK)
		TRY(refuse(s, u, status));
	(void)fault("pre_save");
	return save(s, db, u);
}

enum status
unit_guards_missing(struct scope *s, struct db *db, int64_t *missing)
{
	/* What keeps a second row out when the record is forgotten. */
	static const struct { const char *table, *index; } guards[] = {
		{ "resource", "resource_client_ref" }, { "path", "path_one_canonical" }, { "path", "path_fold_canonical" },
		{ "idempotency_record", "idempotency_scope" }, { "outbox", "outbox_once" },
	};
	const char *first = NULL;
	bool stands;
	size_t i;

	*missing = 0;
	for (i = 0; i < COUNT(guards); i++) {
		TRY(store_index_is_unique(s, db, guards[i].table, guards[i].index, &stands));
		if (stands)
			continue;
		first = first == NULL ? guards[i].index : first;
		*missing += 1;
	}
	return first == NULL ? OK : fail(s, ERR_INTERNAL, NULL, "the unique index %s is missing", first);
}

enum status
unit_purge(struct scope *s, struct db *db, int limit, int64_t *removed)
{
	int64_t missing;

	TRY(unit_guards_missing(s, db, &missing));
	return store_record_purge(s, db, limit, removed);
}

static struct record_key
record_key(const struct unit *u)
{
	return (struct record_key){ u->who.user_id, u->rule->method, u->rule->route, u->key };
}

static int64_t
expiry(const struct scope *s, const struct unit *u)
{
	return s->now + site_retention(u->site, u->rule->retention);
}

/* Replay or conflict, if a record of this key is still good. */
static enum status
settle_existing(struct scope *s, struct db *db, struct unit *u, bool may_write, bool *found)
{
	struct record_key key = record_key(u);
	struct record record;
	bool is_running;

	TRY(store_record_find(s, db, &key, &record, found));
	is_running = *found && !record.is_finished && record.operation_id != NULL;
	if (!*found || (!is_running && (!record.is_finished || record.expired_at <= s->now))) {
		*found = false;
		return OK;
	}
	if (strcmp(record.hash, u->hash) != 0) {
		tell(u, ERR_KEY_CONFLICT);
		return fail(s, ERR_KEY_CONFLICT, NULL, "this Idempotency-Key belongs to another request; generate a new key for this one");
	}
	TRY(object_permission(s, db, u, record.resource_id));
	if (is_running || (record.is_retryable && record.operation_id != NULL))
		return settle_running(s, db, u, record.operation_id, may_write);
	replay(s, u, &record);
	tell(u, OK);
	return OK;
}

/* Not started again; but when whoever carried it out is gone, or gave up for a reason that may have passed, it waits for somebody anew. That takes
 * a conditional update: of many retries one makes it. */
static enum status
settle_running(struct scope *s, struct db *db, struct unit *u, const char *operation, bool may_write)
{
	struct operation o;
	bool is_late, moved = false;

	TRY(store_operation_load(s, db, &o, operation));
	is_late = o.state == OPERATION_PROCESSING && o.lease_until > 0 && o.lease_until <= s->now && o.attempts <= OPERATION_TAKEOVERS;
	if (is_late || o.state != OPERATION_PROCESSING) {
		if (!may_write) {
			u->apply = NULL;
			return OK;
		}
		if (is_late)
			TRY(store_operation_free(s, db, o.id, s->now, OPERATION_TAKEOVERS, &moved));
		else
			TRY(store_operation_revive(s, db, o.id, s->now, &moved));
		if (moved)
			TRY(is_late ? store_record_taken(s, db, &o) : store_record_revive(s, db, &o, s->now));
		if (moved && is_late)
			tell(u, ERR_PROCESSING_TIMEOUT);
	}
	operation_running(s, u, operation);
	u->answer.replayed = true;
	u->answer.original_status = 202;
	tell(u, OK);
	return OK;
}

static void
tell(const struct unit *u, enum status status)
{
	if (u->settled != NULL)
		u->settled(u, status);
}

static void
replay(struct scope *s, struct unit *u, const struct record *r)
{
	json_t *headers = json_loads(r->headers, 0, NULL);
	const struct { const char *name; const char **to; } fields[] = {
		{ "Location", &u->answer.location }, { "ETag", &u->answer.etag }, { "Link", &u->answer.link },
	};
	const char *value;
	size_t i;

	u->answer = (struct answer){ .status = r->is_failed ? r->status : 200, .body = r->body, .is_problem = r->is_failed, .replayed = true,
		.original_status = r->operation_id != NULL ? 202 : r->status, .resource_type = r->resource_type, .resource_id = r->resource_id };
	for (i = 0; i < COUNT(fields); i++)
		if ((value = json_string_value(json_object_get(headers, fields[i].name))) != NULL)
			*fields[i].to = arena_strdup(s->arena, value);
	json_decref(headers);
}

/* A right that was lost since the first answer is lost for its replay too. */
static enum status
object_permission(struct scope *s, struct db *db, const struct unit *u, int64_t resource)
{
	int64_t owner = 0;
	bool found;

	if (resource != 0)
		TRY(store_resource_owner(s, db, resource, &owner, &found));
	return permission_require(s, &u->who, u->rule->action, owner);
}

/* A refusal that would come again is kept as the answer; anything else leaves nothing. */
static enum status
refuse(struct scope *s, struct unit *u, enum status status)
{
	if (!is_storable(status))
		return status;
	u->answer = (struct answer){ .status = status_info(status)->http, .body = problem_json(s, status), .is_problem = true };
	if (u->answer.body.len > BODY_MAX)
		return fail(s, ERR_INTERNAL, NULL, "a refusal of %zu bytes cannot be saved", u->answer.body.len);
	s->error = NULL;
	return OK;
}

/* ERR_CONFLICT itself is a constraint that no action expected, and ERR_KEY_CONFLICT belongs to another record. */
static bool
is_storable(enum status status)
{
	return status_info(status)->http == 409 && status != ERR_CONFLICT && status != ERR_KEY_CONFLICT;
}

static enum status
save(struct scope *s, struct db *db, const struct unit *u)
{
	const struct answer *a = &u->answer;
	struct record_key key = record_key(u);
	struct record record = { .is_failed = a->is_problem, .status = a->status, .headers = headers_text(s, a), .body = a->body,
		.resource_type = a->resource_type, .resource_id = a->resource_id };

	if (a->body.len > BODY_MAX)
		return fail(s, ERR_INTERNAL, NULL, "an answer of %zu bytes cannot be saved", a->body.len);
	if (a->operation_id != NULL)
		return store_record_defer(s, db, &key, a->operation_id);
	return store_record_finish(s, db, &key, &record);
}

static const char *
headers_text(struct scope *s, const struct answer *a)
{
	const struct { const char *name, *value; } fields[] = {
		{ "Location", a->location }, { "ETag", a->etag }, { "Link", a->link },
	};
	struct buf b;
	size_t i;

	buf_init(&b, s->arena);
	buf_char(&b, '{');
	for (i = 0; i < COUNT(fields); i++)
		if (fields[i].value != NULL) {
			json_put_name(&b, fields[i].name);
			json_put_text(&b, fields[i].value);
		}
	buf_char(&b, '}');
	return b.p;
}

/* Wrong on purpose, and never asked for outside the test build: the rows stand before their record does. The crash test must find it. */
static enum status
apply_before_claim(struct scope *s, struct db *db, struct unit *u)
{
	struct record_key key = record_key(u);
	bool found, claimed;

	TRY(settle_existing(s, db, u, true, &found));
	if (found)
		return OK;
	TRY(u->apply(s, db, u));
	TRY(db_release(s, db));
	TRY(db_commit(s, db));
	(void)fault("after_rows");
	TRY(db_begin(s, db));
	TRY(db_savepoint(s, db));
	TRY(store_record_claim(s, db, &key, u->hash, REQUEST_HASH_VERSION, expiry(s, u), &claimed));
	return save(s, db, u);
}
