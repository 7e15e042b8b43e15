/* resource_write.c - resources made by other actions inside their own transaction. */
#include "actions/plan.h"
#include "store/resources.h"

enum status
resource_insert(struct scope *s, struct db *db, const struct site *site, const struct principal *who, struct resource_draft *draft)
{
	struct plan *plan;
	struct facts facts;

	TRY(plan_make(s, db, site, who, draft, &plan));
	TRY(plan_write(s, db, site, plan, &facts, &draft->existed));
	draft->resource = facts.resource;
	draft->revision.tag_ids = facts.revision.tag_ids;
	draft->revision.tag_count = facts.revision.tag_count;
	draft->revision.author_id = facts.revision.author_id;
	return OK;
}
