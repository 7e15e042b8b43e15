/* resource_create.c - POST of a new article, page, tag or author. */
#include "actions/document.h"
#include "actions/plan.h"
#include "actions/resource_answer.h"

static enum status	create_apply(struct scope *, struct db *, struct unit *);

enum status
resource_create_prepare(struct scope *s, struct db *db, struct unit *u, enum kind kind, json_t *body)
{
	struct resource_draft draft = { .slug_is_given = false };
	struct document d;
	struct plan *plan;

	TRY(document_read_new(s, db, kind, body, &d));
	if (d.state != STATE_DRAFT)
		TRY(permission_require(s, &u->who, ACTION_PUBLISH, u->who.user_id));
	draft.resource = (struct resource){ .kind = kind, .locale = d.locale != NULL ? d.locale : u->site->locale, .state = d.state, .slug = d.slug,
		.parent_id = d.parent_id, .publish_at = d.publish_at, .client_ref = d.client_ref, .owner_user = u->who.user_id };
	if (d.client_ref != NULL) {
		draft.resource.ref_source = scope_printf(s, "user:%" PRId64, u->who.user_id);
		draft.resource.ref_hash = u->hash;
	}
	draft.slug_is_given = d.slug != NULL;
	draft.revision = d.revision;
	draft.revision.editor_user = u->who.user_id;
	draft.rendered = d.rendered;
	draft.tag_names = d.tag_names;
	draft.author_slug = d.author_slug;
	TRY(plan_make(s, db, u->site, &u->who, &draft, &plan));
	u->input = plan;
	u->apply = create_apply;
	return OK;
}

static enum status
create_apply(struct scope *s, struct db *db, struct unit *u)
{
	struct facts facts;
	bool existed;

	TRY(plan_write(s, db, u->site, u->input, &facts, &existed));
	resource_answer(s, u, 201, &facts);
	if (existed) {
		u->answer.status = 200;
		u->answer.replayed = true;
		u->answer.original_status = 201;
	}
	return OK;
}
