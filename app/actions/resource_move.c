/* resource_move.c - publish and withdraw as requests. */
#include "actions/input.h"
#include "actions/publish.h"
#include "actions/resource_answer.h"
#include "actions/resources.h"

static enum status	publish_apply(struct scope *, struct db *, struct unit *);
static enum status	withdraw_apply(struct scope *, struct db *, struct unit *);

enum status
resource_move_prepare(struct scope *s, struct db *db, struct unit *u, enum kind kind, const char *id, enum move move, json_t *body)
{
	static const char *const no_names[] = { NULL };
	struct publish_plan *plan = scope_alloc(s, sizeof(*plan));
	struct resource r;
	struct input in;

	assert(move == MOVE_PUBLISH || move == MOVE_WITHDRAW);
	TRY(resource_for(s, db, &u->who, move == MOVE_PUBLISH ? ACTION_PUBLISH : ACTION_WITHDRAW, kind, id, &r));
	s->error = NULL;
	in = input_of(s, body, "");
	input_known(&in, no_names);
	TRY(in.status);
	if (move == MOVE_PUBLISH) {
		TRY(publish_plan(s, db, &r, r.head_revision, plan));
		u->apply = publish_apply;
	} else {
		plan->id = r.id;
		u->apply = withdraw_apply;
	}
	u->input = plan;
	return OK;
}

static enum status
publish_apply(struct scope *s, struct db *db, struct unit *u)
{
	struct resource r;
	bool unchanged;

	TRY(publish_write(s, db, u->site, u->input, u->if_match, &r, &unchanged));
	return resource_answer_stored(s, db, u, &r);
}

static enum status
withdraw_apply(struct scope *s, struct db *db, struct unit *u)
{
	const struct publish_plan *plan = u->input;
	struct resource r;
	bool unchanged;

	TRY(withdraw_write(s, db, u->site, plan->id, u->if_match, &r, &unchanged));
	return resource_answer_stored(s, db, u, &r);
}
