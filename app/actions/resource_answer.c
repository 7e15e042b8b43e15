/* resource_answer.c - the answer of a write on one resource. */
#include "actions/resource_answer.h"

#include "store/resources.h"

static bool	etag_list_has(struct str list, int64_t version);

void
resource_answer(struct scope *s, struct unit *u, int status, const struct facts *f)
{
	const struct resource *r = &f->resource;

	u->answer = (struct answer){ .status = status, .body = facts_json(s, u->site, f), .resource_type = kind_name(r->kind),
		.resource_id = r->id, .etag = scope_printf(s, "\"%" PRId64 "\"", r->edit_version) };
	if (status == 201)
		u->answer.location = scope_printf(s, "/api/v1/%s/%s", kind_plural(r->kind), r->uid);
}

enum status
resource_answer_stored(struct scope *s, struct db *db, struct unit *u, const struct resource *r)
{
	struct facts facts;

	TRY(facts_of_resource(s, db, &facts, r, FACTS_HEAD, false));
	resource_answer(s, u, 200, &facts);
	return OK;
}

enum status
resource_for(struct scope *s, struct db *db, const struct principal *who, enum action action, enum kind kind, const char *id,
    struct resource *out)
{
	return resource_for_step(s, db, who, action, kind, id, false, out);
}

enum status
resource_for_step(struct scope *s, struct db *db, const struct principal *who, enum action action, enum kind kind, const char *id,
    bool takes_gone, struct resource *out)
{
	TRY(store_resource_load_name(s, db, out, kind, id));
	if (out->state != STATE_PUBLISHED && out->state != STATE_GONE && !permitted(who, ACTION_READ_DRAFT, out->owner_user) &&
	    !permitted(who, action, out->owner_user))
		return fail(s, ERR_NOT_FOUND, NULL, "there is no such %s", kind_name(kind));
	TRY(permission_require(s, who, action, out->owner_user));
	if (out->state == STATE_GONE && !takes_gone)
		return fail(s, ERR_GONE, NULL, "the %s %s was deleted", kind_name(kind), out->uid);
	return OK;
}

enum status
version_require(struct scope *s, const char *if_match, int64_t version)
{
	if (if_match == NULL || etag_list_has(str_of(if_match), version))
		return OK;
	return version_refuse(s, ERR_VERSION, version);
}

enum status
version_refuse(struct scope *s, enum status status, int64_t version)
{
	(void)fail(s, status, "If-Match", "the current version is \"%" PRId64 "\"%s", version,
	    status == ERR_VERSION ? "; If-Match must name it, and not as a weak tag" : "");
	s->error->version = version;
	return status;
}

static bool
etag_list_has(struct str list, int64_t version)
{
	struct str tag;
	int64_t n;

	if (str_is(str_trim(list), "*"))
		return true;
	while (str_next(&list, ',', &tag)) {
		tag = str_trim(tag);
		if (tag.len > 2 && tag.p[0] == '"' && tag.p[tag.len - 1] == '"' && parse_int64(str_part(tag, 1, tag.len - 1), &n) && n == version)
			return true;
	}
	return false;
}
