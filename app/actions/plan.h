/* plan.h - one resource to create: everything computed beforehand on a reader, then written. */
#ifndef ACTIONS_PLAN_H
#define ACTIONS_PLAN_H
#include "actions/address.h"
#include "actions/facts.h"
#include "actions/resources.h"
#include "core/permission.h"

#define TITLE_MAX 300		/* characters */
#define SUMMARY_MAX 600
#define TERM_NAME_MAX 100
#define TAGS_MAX 50
#define PARENTS_MAX 16

struct plan;
/* A tag or an author: known, or to be made by the writer unless somebody did meanwhile. */
struct term_plan {
	struct term	 term;		/* id 0: unknown when the plan was made */
	struct plan	*create;	/* then; NULL with id 0 = none */
};

struct plan {
	struct resource	 resource;	/* id, slug and path come when it is written */
	struct revision	 revision;	/* tag_ids and author_id too */
	struct rendered	 rendered;
	const char	*name_fold;	/* tags and authors */
	struct address_plan address;
	const char	*parent_path, *parent_uid;	/* NULL = no parent */
	struct term_plan *tags;
	size_t		 tag_count;
	struct term_plan author;
	bool		 author_is_owner;	/* made on first need: becomes the owner's own */
	bool		 is_silent;	/* no event of its own: the author who comes along with somebody's first article */
};

/* Checks that need the database, addresses, terms, live columns. `draft` is not changed. */
enum status	 plan_make(struct scope *, struct db *, const struct site *, const struct principal *, const struct resource_draft *,
		    struct plan **out) MUST_USE;
/* Inside a writing transaction. The plan is not changed, so it may be written again after a rollback. *existed: a resource with this client_ref and
 * ref_hash was there, `out` tells of it; with another ref_hash ERR_REF_CONFLICT. */
enum status	 plan_write(struct scope *, struct db *, const struct site *, const struct plan *, struct facts *out, bool *existed) MUST_USE;

/* The tag of that name in a locale: by the fold of the name, or by the slug if the name has the form of one; else a plan to make it. */
enum status	 plan_tag(struct scope *, struct db *, const struct site *, const struct principal *, const char *name, const char *locale,
		    struct term_plan *out) MUST_USE;
/* The author who stands for a user, or a plan to make one. */
enum status	 plan_own_author(struct scope *, struct db *, const struct site *, const struct principal *, const char *locale,
		    struct term_plan *out) MUST_USE;
/* Make sure of a term inside the writing transaction. */
enum status	 plan_term_settle(struct scope *, struct db *, const struct site *, const struct term_plan *, struct term *out) MUST_USE;
/* What tags and authors are found by. */
enum status	 plan_name_fold(struct scope *, const char **out, const char *name) MUST_USE;
/* An override that is the resource's own address, however it is spelled, is none. */
const char	*plan_override(struct scope *, const struct site *, const char *canonical, const char *path);
#endif
