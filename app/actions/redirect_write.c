/* redirect_write.c - making, changing and removing one redirect. */
#include "actions/redirects.h"

#include "actions/input.h"
#include "actions/json.h"
#include "actions/resource_answer.h"
#include "base/hash.h"
#include "core/reserved.h"
#include "core/rule.h"
#include "store/lookup.h"
#include "store/outbox.h"
#include "store/paths.h"

#define TARGET_MAX 2000
#define SOURCE_MAX 1500
#define BODY_MAX 4096		/* of a saved answer */

struct change {
	struct redirect	 redirect;	/* as it is to be */
	bool		 is_same;	/* the patch changes nothing */
};

static void		read_status(struct input *, struct redirect *);
static enum status	read_target(struct scope *, struct db *, const struct site *, struct input *, struct redirect *, const char *target);
static enum status	load_for(struct scope *, struct db *, const struct unit *, const char *id, struct redirect *);
static enum status	create_apply(struct scope *, struct db *, struct unit *);
static enum status	update_apply(struct scope *, struct db *, struct unit *);
static enum status	remove_apply(struct scope *, struct db *, struct unit *);
static enum status	rules_agree(struct scope *, struct db *, const struct redirect *);
static bool		leads_on(struct scope *, const char *target);
static bool		same(const char *, const char *);
static void		answer(struct scope *, struct unit *, int status, const struct redirect *);

enum status
redirect_create_prepare(struct scope *s, struct db *db, struct unit *u, json_t *body)
{
	static const char *const names[] = { "source", "target", "status", "note", NULL };
	struct change *c = scope_alloc(s, sizeof(*c));
	const char *source, *target, *note;
	char uid[UUID_TEXT];
	struct input in;
	int status;

	TRY(permission_require(s, &u->who, ACTION_MANAGE_REDIRECTS, 0));
	s->error = NULL;
	in = input_of(s, body, "");
	input_known(&in, names);
	source = input_required(&in, "source", SOURCE_MAX);
	target = input_text(&in, "target", TARGET_MAX, false);
	note = input_text(&in, "note", REDIRECT_NOTE_MAX, false);
	c->redirect.status = 301;
	read_status(&in, &c->redirect);
	status = c->redirect.status;
	TRY(in.status);
	TRY(redirect_source(s, u->site, &c->redirect, str_of(source), "source"));
	c->redirect.status = status;
	TRY(read_target(s, db, u->site, &in, &c->redirect, target));
	uuid7(uid, s->now);
	c->redirect.uid = arena_strdup(s->arena, uid);
	c->redirect.note = note;
	c->redirect.version = 1;
	c->redirect.created_at = c->redirect.changed_at = s->now;
	u->input = c;
	u->apply = create_apply;
	return OK;
}

enum status
redirect_update_prepare(struct scope *s, struct db *db, struct unit *u, const char *id, json_t *body)
{
	static const char *const names[] = { "source", "target", "status", "note", NULL };
	struct change *c = scope_alloc(s, sizeof(*c));
	struct redirect before, source;
	const char *text, *target;
	char uid[UUID_TEXT];
	struct input in;

	TRY(load_for(s, db, u, id, &before));
	s->error = NULL;
	in = input_of(s, body, "");
	input_known(&in, names);
	c->redirect = before;
	text = input_text(&in, "source", SOURCE_MAX, false);
	target = input_text(&in, "target", TARGET_MAX, false);
	if (json_object_get(body, "note") != NULL)
		c->redirect.note = input_text(&in, "note", REDIRECT_NOTE_MAX, false);
	read_status(&in, &c->redirect);
	TRY(in.status);
	if (text != NULL) {
		TRY(redirect_source(s, u->site, &source, str_of(text), "source"));
		if (source.source != before.source || strcmp(source.path, before.path) != 0 || !same(source.pairs, before.pairs))
			return fail(s, ERR_INVALID, "source", "cannot be changed: make another redirect, and remove this one");
	}
	if (target != NULL && c->redirect.status >= 400 && !input_has(&in, "status"))
		c->redirect.status = 301;
	if (json_object_get(body, "target") != NULL || c->redirect.status >= 400 || before.status >= 400)
		TRY(read_target(s, db, u->site, &in, &c->redirect, target));
	TRY(redirect_keeps_public(s, &before, &c->redirect));
	c->is_same = redirect_is_same(&c->redirect, &before);
	if (before.uid == NULL) {
		uuid7(uid, s->now);
		c->redirect.uid = arena_strdup(s->arena, uid);
	}
	c->redirect.changed_at = s->now;
	u->input = c;
	u->apply = update_apply;
	return OK;
}

enum status
redirect_remove_prepare(struct scope *s, struct db *db, struct unit *u, const char *id)
{
	struct change *c = scope_alloc(s, sizeof(*c));

	TRY(load_for(s, db, u, id, &c->redirect));
	if (c->redirect.was_public)
		return fail(s, ERR_PATH_CONFLICT, "source", "%.300s was public: it can be marked as gone with {\"status\": 410}, but not be given back",
		    c->redirect.path);
	u->input = c;
	u->apply = remove_apply;
	return OK;
}

enum status
redirect_changed(struct scope *s, struct db *db, const struct site *site, const struct redirect *r, const char *topic)
{
	struct buf b;

	buf_init(&b, s->arena);
	buf_char(&b, '{');
	json_put_name(&b, "id");
	json_put_text(&b, r->uid);
	json_put_name(&b, "source");
	json_put_text(&b, r->source == SOURCE_QUERY ? redirect_key(s, r) : r->path);
	json_put_name(&b, "target");
	json_put_text(&b, redirect_url(s, site, r));
	json_put_name(&b, "status");
	buf_printf(&b, "%d", r->status);
	json_put_name(&b, "version");
	buf_printf(&b, "%" PRId64 "}", r->version);
	db_touch(db, "paths");
	if (r->source == SOURCE_RULE)
		db_touch(db, "rules");
	return store_outbox_event(s, db, "redirect", redirect_event_id(r->uid), r->version, topic, buf_as_str(&b));
}

int64_t
redirect_event_id(const char *uid)
{
	uint64_t n = 0;

	for (const char *p = uid + 19; *p != '\0'; p++)
		if (*p != '-')
			n = n << 4 | (uint64_t)(*p <= '9' ? *p - '0' : *p - 'a' + 10);
	return (int64_t)(n & (UINT64_MAX >> 2));
}

enum status
redirect_rule_agrees(struct scope *s, const struct rule_set *set, const struct redirect *r)
{
	if (leads_on(s, r->target) && rule_covers(str_of(r->path), str_of(r->target)))
		return fail(s, ERR_INVALID, "target", "leads back to the rule itself");
	for (size_t i = 0; i < set->count; i++) {
		const struct rule *other = &set->rules[i];

		if (strcmp(other->pattern, r->path) == 0)
			continue;
		if (leads_on(s, r->target) && rule_covers(str_of(other->pattern), str_of(r->target)))
			return fail(s, ERR_INVALID, "target", "leads to what the rule %.300s takes; lead to the end instead", other->pattern);
		if (leads_on(s, other->target) && rule_covers(str_of(r->path), str_of(other->target)))
			return fail(s, ERR_INVALID, "source", "takes what the rule %.300s leads to; change that one first", other->pattern);
	}
	return OK;
}

enum status
redirect_refuse_source(struct scope *s, struct db *db, const struct redirect *r)
{
	struct redirect other = *r;
	const char *holder = "another redirect has this source";
	bool found;

	if (r->source == SOURCE_PATH)
		TRY(store_path_holder(s, db, r->path, r->fold, &holder, &found));
	TRY(store_redirect_find(s, db, &other, &found));
	return fail(s, ERR_PATH_CONFLICT, "source", "%s%s%.200s", holder, found ? "; change the redirect " : "", found ? redirect_id(s, &other) : "");
}

enum status
redirect_keeps_public(struct scope *s, const struct redirect *before, const struct redirect *after)
{
	if (!before->was_public || before->target != NULL || after->status >= 400)
		return OK;
	if (before->resource_id != 0 && after->resource_id == before->resource_id)
		return OK;
	return fail(s, ERR_PATH_CONFLICT, "target", before->resource_id != 0 ?
	    "%.300s was the public address of the %s %s: it leads there, or is gone (410)" : "%.300s was public and is gone for good", before->path,
	    before->resource_id != 0 ? kind_name(before->resource_kind) : "", before->resource_uid != NULL ? before->resource_uid : "");
}

bool
redirect_is_same(const struct redirect *a, const struct redirect *b)
{
	return a->status == b->status && a->resource_id == b->resource_id && same(a->target, b->target) && same(a->note, b->note);
}

static void
read_status(struct input *in, struct redirect *r)
{
	json_t *value = json_object_get(in->object, "status");

	if (value == NULL || json_is_null(value))
		return;
	if (!json_is_integer(value) || !redirect_status_is_good(json_integer_value(value)))
		input_bad(in, ERR_INVALID, "status", "must be 301, 302, 307, 308, 410 or 451");
	else
		r->status = (int)json_integer_value(value);
}

static enum status
read_target(struct scope *s, struct db *db, const struct site *site, struct input *in, struct redirect *r, const char *target)
{
	if (r->status < 400) {
		if (target == NULL)
			return fail(s, ERR_INVALID, "target", "must be given: a path, a URL or the id of a resource");
		return redirect_target(s, db, site, r, str_of(target), "target");
	}
	if (input_has(in, "target"))
		return fail(s, ERR_INVALID, "target", "what is gone (%d) leads nowhere", r->status);
	if (r->source == SOURCE_QUERY)
		return fail(s, ERR_INVALID, "status", "an address with a query can be redirected, not marked as gone");
	r->resource_id = 0;
	r->target = NULL;
	return OK;
}

/* Find what a write is about; the version must be named and be the present one. */
static enum status
load_for(struct scope *s, struct db *db, const struct unit *u, const char *id, struct redirect *out)
{
	TRY(permission_require(s, &u->who, ACTION_MANAGE_REDIRECTS, 0));
	TRY(redirect_load(s, db, out, id));
	if (u->if_match == NULL)
		return version_refuse(s, ERR_PRECONDITION, out->version);
	return version_require(s, u->if_match, out->version);
}

static enum status
create_apply(struct scope *s, struct db *db, struct unit *u)
{
	const struct change *c = u->input;
	struct redirect stored = c->redirect;
	int64_t rules = 0;
	bool inserted, found;

	if (stored.source == SOURCE_RULE) {
		TRY(store_redirect_rule_count(s, db, &rules));
		TRY(rules_agree(s, db, &stored));
	}
	if (rules >= RULES_MAX)
		return fail(s, ERR_INVALID, "source", "there are %d rules already, and no more are read", RULES_MAX);
	TRY(store_redirect_insert(s, db, &stored, &inserted));
	if (!inserted)
		return redirect_refuse_source(s, db, &stored);
	if (stored.source == SOURCE_PATH)
		TRY(store_not_found_forget(s, db, stored.path));
	TRY(store_redirect_find(s, db, &stored, &found));
	TRY(redirect_changed(s, db, u->site, &stored, "redirect.created"));
	answer(s, u, 201, &stored);
	return OK;
}

static enum status
update_apply(struct scope *s, struct db *db, struct unit *u)
{
	const struct change *c = u->input;
	struct redirect stored = c->redirect;
	bool changed = false, found;

	if (!c->is_same) {
		if (stored.source == SOURCE_RULE)
			TRY(rules_agree(s, db, &stored));
		TRY(store_redirect_update(s, db, &stored, &changed));
		if (!changed)
			return fail(s, ERR_VERSION, "If-Match", "the redirect was changed or removed meanwhile");
	}
	TRY(store_redirect_find(s, db, &stored, &found));
	if (!found || (!changed && stored.version != c->redirect.version))
		return fail(s, ERR_VERSION, "If-Match", "the redirect was changed or removed meanwhile");
	if (changed)
		TRY(redirect_changed(s, db, u->site, &stored, "redirect.changed"));
	answer(s, u, 200, &stored);
	return OK;
}

static enum status
remove_apply(struct scope *s, struct db *db, struct unit *u)
{
	const struct change *c = u->input;
	struct redirect was = c->redirect;
	bool removed;

	TRY(store_redirect_remove(s, db, &was, &removed));
	if (!removed)
		return fail(s, ERR_VERSION, "If-Match", "the redirect was changed or removed meanwhile");
	answer(s, u, 200, &was);
	u->answer.etag = NULL;
	was.version++;
	if (was.uid != NULL)
		return redirect_changed(s, db, u->site, &was, "redirect.deleted");
	db_touch(db, "paths");
	db_touch(db, "rules");
	return OK;
}

static enum status
rules_agree(struct scope *s, struct db *db, const struct redirect *r)
{
	struct rule_set set;

	TRY(store_rules_load(s, db, &set));
	return redirect_rule_agrees(s, &set, r);
}

/* A local target that is looked up again. */
static bool
leads_on(struct scope *s, const char *target)
{
	struct str path = str_part(str_of(target), 0, str_find(str_of(target), '?'));

	return path.len > 0 && path.p[0] == '/' && !path_is_reserved(s, str_dup(s->arena, path), NULL);
}

static bool
same(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* What would not fit a saved answer is left out; GET has it. */
static void
answer(struct scope *s, struct unit *u, int status, const struct redirect *r)
{
	struct redirect shown = *r;
	struct buf b;

	for (int left_out = 0; left_out < 3; left_out++) {
		buf_init(&b, s->arena);
		redirect_json(s, &b, u->site, &shown);
		if (b.len <= BODY_MAX)
			break;
		shown.note = NULL;
		if (left_out == 1)
			shown.target = shown.resource_path = NULL;
	}
	u->answer = (struct answer){ .status = status, .body = buf_as_str(&b), .resource_type = "redirect",
		.etag = scope_printf(s, "\"%" PRId64 "\"", r->version) };
	if (status == 201)
		u->answer.location = scope_printf(s, "/api/v1/redirects/%s", redirect_id(s, r));
}
