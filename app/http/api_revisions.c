/* api_revisions.c - the history of articles, pages, tags and authors over HTTP. */
#include "http/api.h"
#include "http/router.h"

#include "actions/revisions.h"

static enum status	list(struct scope *, struct exchange *, enum kind);
static enum status	read_one(struct scope *, struct exchange *, enum kind);
static enum status	compare(struct scope *, struct exchange *, enum kind);
static const char	*param(struct scope *, const struct exchange *, size_t);
static api_prepare	restore;

#define HANDLERS(name, NAME)                                                                                       \
	enum status handle_##name##_revisions(struct scope *s, struct exchange *ex)                                \
	{                                                                                                          \
		return list(s, ex, KIND_##NAME);                                                                   \
	}                                                                                                          \
	enum status handle_##name##_revision(struct scope *s, struct exchange *ex)                                 \
	{                                                                                                          \
		return read_one(s, ex, KIND_##NAME);                                                               \
	}                                                                                                          \
	enum status handle_##name##_diff(struct scope *s, struct exchange *ex)                                     \
	{                                                                                                          \
		return compare(s, ex, KIND_##NAME);                                                                \
	}                                                                                                          \
	enum status handle_##name##_revert(struct scope *s, struct exchange *ex)                                   \
	{                                                                                                          \
		return api_write(s, ex, WRITE_##NAME##_REVERT, false, restore);                                    \
	}

HANDLERS(article, ARTICLE)
HANDLERS(page, PAGE)
HANDLERS(tag, TAG)
HANDLERS(author, AUTHOR)

static enum status
list(struct scope *s, struct exchange *ex, enum kind kind)
{
	const char *limit = api_parameter(s, ex, "limit"), *cursor;
	struct str json;

	TRY(api_enter(s, ex, true));
	TRY(revision_list(s, ex->reader->db, &ex->who, kind, param(s, ex, 0), limit, api_parameter(s, ex, "cursor"), &json, &cursor));
	api_respond(ex, json, NULL);
	if (cursor != NULL) {
		const struct api_query query[] = { { "limit", limit }, { "cursor", cursor }, { NULL, NULL } };

		response_header(&ex->response, "Link", api_next_link(s, ex, scope_printf(s, "%s/%s/revisions", kind_plural(kind), param(s, ex, 0)), query));
	}
	return OK;
}

static enum status
read_one(struct scope *s, struct exchange *ex, enum kind kind)
{
	struct str json;

	TRY(api_enter(s, ex, true));
	TRY(revision_read(s, ex->reader->db, ex->reader->site, &ex->who, kind, param(s, ex, 0), param(s, ex, 1), &json));
	api_respond(ex, json, NULL);
	return OK;
}

static enum status
compare(struct scope *s, struct exchange *ex, enum kind kind)
{
	struct str json;

	TRY(api_enter(s, ex, true));
	TRY(revision_diff(s, ex->reader->db, &ex->who, kind, param(s, ex, 0), param(s, ex, 1), api_parameter(s, ex, "against"), &json));
	api_respond(ex, json, NULL);
	return OK;
}

static enum status
restore(struct scope *s, struct exchange *ex, struct unit *u, json_t *body)
{
	return revision_restore_prepare(s, ex->reader->db, u, api_kind(u), param(s, ex, 0), param(s, ex, 1), body);
}

static const char *
param(struct scope *s, const struct exchange *ex, size_t i)
{
	return str_dup(s->arena, ex->params[i]);
}
