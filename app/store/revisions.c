/* revisions.c - revisions and renderings. */
#include "store/revisions.h"

#include <jansson.h>

static const char	*seo_text(struct scope *, const struct revision *);
static void		 seo_parse(struct scope *, struct str, struct revision *);

enum status
store_revision_insert(struct scope *s, struct db *db, int64_t resource, const struct revision *v)
{
	return db_run(s, db, SQL_REVISION_INSERT,
	    ARGS(INT(resource), INT(v->number), TEXT(v->title), TEXT(format_name(v->format)), TEXT(v->source), TEXT(v->summary),
	    ID(v->author_id), TEXT(store_ids_text(s, v->tag_ids, v->tag_count)), INT(v->noindex), TEXT(v->canonical), TEXT(seo_text(s, v)),
	    TEXT(v->fields), ID(v->editor_user), INT(v->created_at)), NULL);
}

enum status
store_revision_load(struct scope *s, struct db *db, struct revision *out, int64_t resource, int64_t number, bool with_source)
{
	struct db_rows *rows;
	bool found;

	TRY(db_query(s, db, &rows, with_source ? SQL_REVISION_LOAD : SQL_REVISION_LOAD_META, ARGS(INT(resource), INT(number))));
	if ((found = db_next(rows))) {
		*out = (struct revision){ 0 };
		out->number = col_int(rows, 0);
		out->title = col_text(s, rows, 1);
		out->format = str_is(col_str(rows, 2), "html") ? FORMAT_HTML : FORMAT_MARKDOWN;
		out->source = col_text(s, rows, 3);
		out->summary = col_text(s, rows, 4);
		out->author_id = col_int(rows, 5);
		store_ids_parse(s, col_str(rows, 6), &out->tag_ids, &out->tag_count);
		out->noindex = col_bool(rows, 7);
		out->canonical = col_text(s, rows, 8);
		seo_parse(s, col_str(rows, 9), out);
		out->fields = col_text(s, rows, 10);
		out->editor_user = col_int(rows, 11);
		out->created_at = col_int(rows, 12);
	}
	TRY(db_end(s, rows));
	return found ? OK : fail(s, ERR_NOT_FOUND, NULL, "there is no such revision");
}

enum status
store_revision_list(struct scope *s, struct db *db, int64_t resource, int64_t before, struct revision_item *out, size_t limit, size_t *count)
{
	struct db_rows *rows;

	*count = 0;
	TRY(db_query(s, db, &rows, SQL_REVISION_LIST, ARGS(INT(resource), INT(before), INT((int64_t)limit))));
	while (*count < limit && db_next(rows))
		out[(*count)++] = (struct revision_item){ col_int(rows, 0), col_text(s, rows, 1), col_text(s, rows, 2), col_int(rows, 3) };
	return db_end(s, rows);
}

enum status
store_rendered_insert(struct scope *s, struct db *db, int64_t resource, int64_t number, int renderer_version, const struct rendered *r)
{
	return db_run(s, db, SQL_RENDERED_INSERT, ARGS(INT(resource), INT(number), INT(renderer_version), TEXT(r->html), TEXT(r->excerpt),
	    TEXT(r->links), TEXT(r->images)), NULL);
}

enum status
store_rendered_load(struct scope *s, struct db *db, struct rendered *out, int64_t resource, int64_t number)
{
	struct db_rows *rows;
	bool found;

	TRY(db_query(s, db, &rows, SQL_RENDERED_LOAD, ARGS(INT(resource), INT(number))));
	if ((found = db_next(rows)))
		*out = (struct rendered){ .html = col_text(s, rows, 0), .excerpt = col_text(s, rows, 1), .links = col_text(s, rows, 2),
			.images = col_text(s, rows, 3) };
	TRY(db_end(s, rows));
	return found ? OK : fail(s, ERR_NOT_FOUND, NULL, "this revision was not rendered");
}

const char *
store_ids_text(struct scope *s, const int64_t *ids, size_t count)
{
	struct buf b;
	size_t i;

	if (count == 0)
		return "[]";
	buf_init(&b, s->arena);
	for (i = 0; i < count; i++)
		buf_printf(&b, "%c%" PRId64, i == 0 ? '[' : ',', ids[i]);
	buf_char(&b, ']');
	return b.p;
}

void
store_ids_parse(struct scope *s, struct str text, const int64_t **ids, size_t *count)
{
	struct str rest = str_part(text, 1, text.len > 0 ? text.len - 1 : 0), piece;
	int64_t *out = scope_alloc(s, (text.len / 2 + 1) * sizeof(*out));

	*count = 0;
	while (str_next(&rest, ',', &piece) && parse_int64(piece, &out[*count]))
		(*count)++;
	*ids = out;
}

/* The three members are the same JSON text whatever jansson's version prints: keys sorted, no blanks. */
static const char *
seo_text(struct scope *s, const struct revision *v)
{
	json_t *seo;
	char *text;
	const char *copy;

	if (v->seo_title == NULL && v->seo_description == NULL && v->seo_image == NULL)
		return "{}";
	seo = json_pack("{s:s*, s:s*, s:s*}", "title", v->seo_title, "description", v->seo_description, "image", v->seo_image);
	assert(seo != NULL);
	text = json_dumps(seo, JSON_COMPACT | JSON_SORT_KEYS);
	json_decref(seo);
	copy = arena_strdup(s->arena, text);
	free(text);
	return copy;
}

static void
seo_parse(struct scope *s, struct str text, struct revision *v)
{
	const struct { const char *name; const char **to; } members[] = {
		{ "title", &v->seo_title }, { "description", &v->seo_description }, { "image", &v->seo_image },
	};
	json_t *seo;
	const char *value;
	size_t i;

	if (text.len <= 2 || (seo = json_loadb(text.p, text.len, 0, NULL)) == NULL)
		return;
	for (i = 0; i < COUNT(members); i++)
		if ((value = json_string_value(json_object_get(seo, members[i].name))) != NULL)
			*members[i].to = arena_strdup(s->arena, value);
	json_decref(seo);
}
