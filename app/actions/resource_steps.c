/* resource_steps.c - state moves and moves of the address as requests. */
#include "actions/address_move.h"
#include "actions/document.h"
#include "actions/input.h"
#include "actions/lifecycle.h"
#include "actions/publish.h"
#include "actions/resource_answer.h"
#include "actions/resource_step.h"
#include "actions/resources.h"
#include "base/zone.h"
#include "core/url.h"
#include "store/resources.h"

struct step {
	int64_t		 id;
	enum move	 move;
	struct publish_plan plan;
	struct schedule_times times;
};

static enum status	check_body(struct scope *, json_t *body, enum move, struct schedule_times *);
static int64_t		read_time(struct input *, const char *name, const char *zone);
static enum status	step_apply(struct scope *, struct db *, struct unit *);
static enum status	delete_apply(struct scope *, struct db *, struct unit *);
static enum status	move_apply(struct scope *, struct db *, struct unit *);

const enum action step_action[MOVE_COUNT] = {
	[MOVE_PUBLISH] = ACTION_PUBLISH, [MOVE_SCHEDULE] = ACTION_PUBLISH, [MOVE_CANCEL] = ACTION_PUBLISH, [MOVE_WITHDRAW] = ACTION_WITHDRAW,
	[MOVE_DELETE] = ACTION_DELETE, [MOVE_RESTORE] = ACTION_DELETE,
};

enum status
resource_move_prepare(struct scope *s, struct db *db, struct unit *u, enum kind kind, const char *id, enum move move, json_t *body)
{
	struct step *step = scope_alloc(s, sizeof(*step));
	struct resource r;

	TRY(resource_for_step(s, db, &u->who, step_action[move], kind, id, move == MOVE_RESTORE, &r));
	if (move == MOVE_DELETE && u->if_match == NULL)
		return version_refuse(s, ERR_PRECONDITION, r.edit_version);
	TRY(check_body(s, body, move, &step->times));
	TRY(version_require(s, u->if_match, r.edit_version));
	step->id = r.id;
	step->move = move;
	if (move == MOVE_PUBLISH)
		TRY(publish_plan(s, db, &r, r.head_revision, &step->plan));
	u->input = step;
	u->apply = move == MOVE_DELETE ? delete_apply : step_apply;
	return OK;
}

enum status
step_write(struct scope *s, struct db *db, const struct site *site, enum move move, int64_t id, const struct publish_plan *plan,
    const struct schedule_times *times, const char *if_match, struct resource *out, bool *unchanged)
{
	switch (move) {
	case MOVE_PUBLISH:
		return publish_write(s, db, site, plan, if_match, out, unchanged);
	case MOVE_SCHEDULE:
		return schedule_write(s, db, site, id, times, if_match, out, unchanged);
	case MOVE_CANCEL:
		return cancel_write(s, db, site, id, if_match, out, unchanged);
	case MOVE_WITHDRAW:
		return withdraw_write(s, db, site, id, if_match, out, unchanged);
	case MOVE_DELETE:
		return delete_write(s, db, site, id, if_match, out, unchanged);
	case MOVE_RESTORE:
		return restore_write(s, db, site, id, if_match, out, unchanged);
	case MOVE_COUNT:
		break;
	}
	abort();
}

enum status
resource_address_prepare(struct scope *s, struct db *db, struct unit *u, enum kind kind, const char *id, json_t *body)
{
	static const char *const names[] = { "slug", "path", "parent", NULL }, *const flat_names[] = { "slug", "path", NULL };
	struct address_move *m = scope_alloc(s, sizeof(*m));
	struct document d = { 0 };
	const char *path;
	struct resource r;
	struct input in;

	TRY(resource_for(s, db, &u->who, ACTION_MOVE, kind, id, &r));
	s->error = NULL;
	in = input_of(s, body, "");
	input_known(&in, kind == KIND_PAGE ? names : flat_names);
	d.parent_id = input_has(&in, "parent") || json_object_get(body, "parent") == NULL ? r.parent_id : 0;
	document_read_address(&in, db, &d);
	path = input_text(&in, "path", URL_PATH_MAX, false);
	if (path != NULL && (path[0] != '/' || path[1] == '/'))
		input_bad(&in, ERR_INVALID, "path", "must be a path of this site that begins with one /");
	if (in.status == OK && d.slug == NULL && path == NULL && d.parent_id == r.parent_id)
		input_bad(&in, ERR_INVALID, "slug", "name the new slug or the new path");
	TRY(in.status);
	TRY(version_require(s, u->if_match, r.edit_version));
	TRY(address_move_plan(s, db, u->site, &r, d.slug, path, d.parent_id, m));
	u->input = m;
	u->apply = move_apply;
	return OK;
}

static enum status
check_body(struct scope *s, json_t *body, enum move move, struct schedule_times *times)
{
	static const char *const times_names[] = { "publish_at", "withdraw_at", "time_zone", NULL }, *const no_names[] = { NULL };
	struct input in;
	const char *zone;

	s->error = NULL;
	in = input_of(s, body, "");
	input_known(&in, move == MOVE_SCHEDULE ? times_names : no_names);
	if (move != MOVE_SCHEDULE)
		return in.status;
	zone = input_text(&in, "time_zone", 64, false);
	times->publish_at = read_time(&in, "publish_at", zone);
	times->withdraw_at = read_time(&in, "withdraw_at", zone);
	if (in.status == OK && times->publish_at == 0 && times->withdraw_at == 0)
		input_bad(&in, ERR_INVALID, "publish_at", "name publish_at, withdraw_at, or both");
	return in.status;
}

static int64_t
read_time(struct input *in, const char *name, const char *zone)
{
	const char *text;
	int64_t ms = 0;
	enum status status;

	if (zone == NULL || (text = input_text(in, name, 64, false)) == NULL)
		return input_time(in, name);
	status = zone_time(in->s, &ms, str_of(text), zone, name);
	if (status != OK && in->status == OK)
		in->status = status;
	return status == OK ? ms : 0;
}

static enum status
step_apply(struct scope *s, struct db *db, struct unit *u)
{
	const struct step *step = u->input;
	struct resource r;
	bool unchanged;

	TRY(step_write(s, db, u->site, step->move, step->id, &step->plan, &step->times, u->if_match, &r, &unchanged));
	return resource_answer_stored(s, db, u, &r);
}

/* Of what was never public nothing is left to be read afterwards. */
static enum status
delete_apply(struct scope *s, struct db *db, struct unit *u)
{
	const struct step *step = u->input;
	struct facts facts;
	struct resource r;
	bool unchanged;

	TRY(store_resource_load(s, db, &r, step->id));
	TRY(facts_of_resource(s, db, &facts, &r, FACTS_HEAD, false));
	TRY(delete_write(s, db, u->site, step->id, u->if_match, &facts.resource, &unchanged));
	facts.original_uid = facts.original_path = NULL;
	resource_answer(s, u, 200, &facts);
	return OK;
}

static enum status
move_apply(struct scope *s, struct db *db, struct unit *u)
{
	struct resource r;
	bool unchanged;

	TRY(address_move_write(s, db, u->site, u->input, u->if_match, &r, &unchanged));
	return resource_answer_stored(s, db, u, &r);
}
