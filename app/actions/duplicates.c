/* duplicates.c - who is the original of a text: the live, indexable resource without override that has had it longest. */
#include "actions/live.h"

#include "store/duplicates.h"
#include "store/paths.h"
#include "store/resources.h"

#define ORIGINALS 64
#define GROUPS 16

/* One settlement: those that are nobody's copy, and those that have copies. */
struct settling {
	const struct site *site;
	const char	*locale, *hash;
	int64_t		 self;
	struct holder	 originals[ORIGINALS];
	size_t		 original_count;
	int64_t		 groups[GROUPS];
	size_t		 group_count;
	struct holder	 leader;	/* id 0 = nobody may lead */
};

static enum status	gather(struct scope *, struct db *, struct settling *);
static void		prefer(struct holder *leader, const struct holder *);
static enum status	assign(struct scope *, struct db *, struct settling *, int64_t id, int64_t original);
static enum status	announce(struct scope *, struct db *, struct settling *, int64_t id);

enum status
duplicates_settle(struct scope *s, struct db *db, const struct site *site, const char *locale, const char *hash, int64_t self,
    int64_t *original)
{
	struct settling t = { .site = site, .locale = locale, .hash = hash, .self = self };
	struct changed *changed;
	size_t i, j, count;

	*original = 0;
	TRY(gather(s, db, &t));
	for (i = 0; i < t.original_count; i++) {
		const struct holder *h = &t.originals[i];

		if (t.leader.id == 0 || h->id == t.leader.id || h->is_exempt)
			continue;
		TRY(assign(s, db, &t, h->id, t.leader.id));
		if (h->id == self)
			*original = t.leader.id;
	}
	for (i = 0; i < t.group_count; i++) {
		if (t.groups[i] == t.leader.id)
			continue;
		TRY(store_duplicates_regroup(s, db, locale, hash, t.groups[i], t.leader.id, &changed, &count));
		for (j = 0; j < count; j++)
			TRY(announce(s, db, &t, changed[j].id));
	}
	return OK;
}

static enum status
gather(struct scope *s, struct db *db, struct settling *t)
{
	struct holder first;
	int64_t group = 0, copy_of = 0;
	size_t i;

	TRY(store_duplicates_originals(s, db, t->locale, t->hash, t->originals, ORIGINALS, &t->original_count));
	for (i = 0; i < t->original_count; i++)
		prefer(&t->leader, &t->originals[i]);
	/* Alone with a text that nobody had, or still its original: copies, if there are any, are its own already. */
	if (t->original_count == 1 && t->leader.id != 0 && t->leader.id == t->self)
		return OK;
	while (t->group_count < GROUPS) {
		TRY(store_duplicates_next_group(s, db, t->locale, t->hash, group, &group));
		if (group == 0)
			break;
		t->groups[t->group_count++] = group;
		TRY(store_duplicates_first_of(s, db, t->locale, t->hash, group, &first));
		if (first.id == 0)
			continue;
		prefer(&t->leader, &first);
		if (t->leader.id == first.id)
			copy_of = first.id;
	}
	return copy_of != 0 && copy_of == t->leader.id ? assign(s, db, t, copy_of, 0) : OK;
}

static void
prefer(struct holder *leader, const struct holder *h)
{
	if (h->may_lead && (leader->id == 0 || h->since < leader->since || (h->since == leader->since && h->id < leader->id)))
		*leader = *h;
}

static enum status
assign(struct scope *s, struct db *db, struct settling *t, int64_t id, int64_t original)
{
	int64_t version;

	TRY(store_duplicates_set(s, db, id, original));
	if (id == t->self)
		return OK;
	TRY(store_resource_note(s, db, id, &version));
	return announce(s, db, t, id);
}

/* Another resource's canonical changed: its page, its place in the sitemap, whoever listens. */
static enum status
announce(struct scope *s, struct db *db, struct settling *t, int64_t id)
{
	struct resource r;
	int64_t first;

	TRY(store_resource_load(s, db, &r, id));
	TRY(store_sitemap_part_touch(s, db, id, s->now, &first));
	db_touch(db, "resource:%" PRId64, id);
	db_touch(db, "list:%s", kind_name(r.kind));
	db_touch(db, "sitemap:%" PRId64, first);
	db_touch(db, "sitemap");
	return event_write(s, db, t->site, &r, "resource.changed");
}
