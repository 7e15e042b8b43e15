/* api_resources.c - articles, pages, tags and authors over HTTP. */
#include "http/api.h"
#include "http/router.h"

#include "actions/create_later.h"
#include "actions/resources.h"

static enum status	list(struct scope *, struct exchange *, enum kind);
static const char	*next_link(struct scope *, const struct exchange *, enum kind, const struct resource_filter *, const char *cursor);
static enum status	read_one(struct scope *, struct exchange *, enum kind);
static const char	*id_of(struct scope *, const struct exchange *);
static api_prepare	create, update, replace, publish, withdraw, remove_one, restore, schedule, cancel, move, bulk;

#define HANDLERS(name, NAME)                                                                                       \
	enum status handle_##name##_list(struct scope *s, struct exchange *ex)                                     \
	{                                                                                                          \
		return list(s, ex, KIND_##NAME);                                                                   \
	}                                                                                                          \
	enum status handle_##name##_read(struct scope *s, struct exchange *ex)                                     \
	{                                                                                                          \
		return read_one(s, ex, KIND_##NAME);                                                               \
	}                                                                                                          \
	enum status handle_##name##_create(struct scope *s, struct exchange *ex)                                   \
	{                                                                                                          \
		return api_write(s, ex, WRITE_##NAME##_CREATE, true, create);                                      \
	}                                                                                                          \
	enum status handle_##name##_update(struct scope *s, struct exchange *ex)                                   \
	{                                                                                                          \
		return api_write(s, ex, WRITE_##NAME##_UPDATE, true, update);                                      \
	}                                                                                                          \
	enum status handle_##name##_publish(struct scope *s, struct exchange *ex)                                  \
	{                                                                                                          \
		return api_write(s, ex, WRITE_##NAME##_PUBLISH, false, publish);                                   \
	}                                                                                                          \
	enum status handle_##name##_withdraw(struct scope *s, struct exchange *ex)                                 \
	{                                                                                                          \
		return api_write(s, ex, WRITE_##NAME##_WITHDRAW, false, withdraw);                                 \
	}														\
	enum status handle_##name##_replace(struct scope *s, struct exchange *ex)					\
	{														\
		return api_write(s, ex, WRITE_##NAME##_REPLACE, true, replace);						\
	}														\
	enum status handle_##name##_delete(struct scope *s, struct exchange *ex)					\
	{														\
		return api_write(s, ex, WRITE_##NAME##_DELETE, false, remove_one);					\
	}														\
	enum status handle_##name##_restore(struct scope *s, struct exchange *ex)					\
	{														\
		return api_write(s, ex, WRITE_##NAME##_RESTORE, false, restore);					\
	}														\
	enum status handle_##name##_schedule(struct scope *s, struct exchange *ex)					\
	{														\
		return api_write(s, ex, WRITE_##NAME##_SCHEDULE, true, schedule);					\
	}														\
	enum status handle_##name##_cancel(struct scope *s, struct exchange *ex)					\
	{														\
		return api_write(s, ex, WRITE_##NAME##_CANCEL, false, cancel);						\
	}														\
	enum status handle_##name##_move(struct scope *s, struct exchange *ex)						\
	{														\
		return api_write(s, ex, WRITE_##NAME##_MOVE, true, move);						\
	}														\
	enum status handle_##name##_bulk(struct scope *s, struct exchange *ex)						\
	{														\
		return api_write(s, ex, WRITE_##NAME##_BULK, true, bulk);						\
	}

HANDLERS(article, ARTICLE)
HANDLERS(page, PAGE)
HANDLERS(tag, TAG)
HANDLERS(author, AUTHOR)

static enum status
list(struct scope *s, struct exchange *ex, enum kind kind)
{
	struct resource_filter filter;
	const char *cursor;
	struct str json;

	TRY(api_enter(s, ex, false));
	filter = (struct resource_filter){ .state = api_parameter(s, ex, "state"), .tag = api_parameter(s, ex, "tag"),
		.author = api_parameter(s, ex, "author"), .locale = api_parameter(s, ex, "locale"),
		.changed_since = api_parameter(s, ex, "changed_since"), .sort = api_parameter(s, ex, "sort"),
		.cursor = api_parameter(s, ex, "cursor"), .limit = api_parameter(s, ex, "limit") };
	TRY(resource_list(s, ex->reader->db, ex->reader->site, &ex->who, kind, &filter, &json, &cursor));
	api_respond(ex, json, NULL);
	if (cursor != NULL)
		response_header(&ex->response, "Link", next_link(s, ex, kind, &filter, cursor));
	return OK;
}

static const char *
next_link(struct scope *s, const struct exchange *ex, enum kind kind, const struct resource_filter *f, const char *cursor)
{
	const struct api_query query[] = {
		{ "state", f->state }, { "tag", f->tag }, { "author", f->author }, { "locale", f->locale }, { "changed_since", f->changed_since },
		{ "sort", f->sort }, { "limit", f->limit }, { "cursor", cursor }, { NULL, NULL },
	};

	return api_next_link(s, ex, kind_plural(kind), query);
}

static enum status
read_one(struct scope *s, struct exchange *ex, enum kind kind)
{
	const char *etag;
	struct str json;

	TRY(api_enter(s, ex, false));
	TRY(resource_read(s, ex->reader->db, ex->reader->site, &ex->who, kind, id_of(s, ex), &json, &etag));
	api_respond(ex, json, etag);
	return OK;
}

static enum status
create(struct scope *s, struct exchange *ex, struct unit *u, json_t *body)
{
	enum kind kind = api_kind(u);

	if ((kind == KIND_ARTICLE || kind == KIND_PAGE) && api_prefers_async(s, ex->request))
		return create_later_prepare(s, ex->reader->db, ex->reader->config, u, kind, body);
	return resource_create_prepare(s, ex->reader->db, u, kind, body);
}

static enum status
update(struct scope *s, struct exchange *ex, struct unit *u, json_t *body)
{
	return resource_update_prepare(s, ex->reader->db, u, api_kind(u), id_of(s, ex), body);
}

static enum status
replace(struct scope *s, struct exchange *ex, struct unit *u, json_t *body)
{
	return resource_replace_prepare(s, ex->reader->db, u, api_kind(u), id_of(s, ex), body);
}

static enum status
publish(struct scope *s, struct exchange *ex, struct unit *u, json_t *body)
{
	return resource_move_prepare(s, ex->reader->db, u, api_kind(u), id_of(s, ex), MOVE_PUBLISH, body);
}

static enum status
withdraw(struct scope *s, struct exchange *ex, struct unit *u, json_t *body)
{
	return resource_move_prepare(s, ex->reader->db, u, api_kind(u), id_of(s, ex), MOVE_WITHDRAW, body);
}

static enum status
remove_one(struct scope *s, struct exchange *ex, struct unit *u, json_t *body)
{
	return resource_move_prepare(s, ex->reader->db, u, api_kind(u), id_of(s, ex), MOVE_DELETE, body);
}

static enum status
restore(struct scope *s, struct exchange *ex, struct unit *u, json_t *body)
{
	return resource_move_prepare(s, ex->reader->db, u, api_kind(u), id_of(s, ex), MOVE_RESTORE, body);
}

static enum status
schedule(struct scope *s, struct exchange *ex, struct unit *u, json_t *body)
{
	return resource_move_prepare(s, ex->reader->db, u, api_kind(u), id_of(s, ex), MOVE_SCHEDULE, body);
}

static enum status
cancel(struct scope *s, struct exchange *ex, struct unit *u, json_t *body)
{
	return resource_move_prepare(s, ex->reader->db, u, api_kind(u), id_of(s, ex), MOVE_CANCEL, body);
}

static enum status
move(struct scope *s, struct exchange *ex, struct unit *u, json_t *body)
{
	return resource_address_prepare(s, ex->reader->db, u, api_kind(u), id_of(s, ex), body);
}

static enum status
bulk(struct scope *s, struct exchange *ex, struct unit *u, json_t *body)
{
	return resource_bulk_prepare(s, ex->reader->db, u, api_kind(u), body);
}

static const char *
id_of(struct scope *s, const struct exchange *ex)
{
	return str_dup(s->arena, ex->params[0]);
}
