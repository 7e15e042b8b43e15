/* document.c - what an editor may set on a resource. */
#include "actions/document.h"

#include "actions/input.h"
#include "actions/plan.h"
#include "core/slug.h"
#include "core/url.h"
#include "render/markdown.h"
#include "store/resources.h"

#define REF_MAX 200
#define URL_MAX 1000
#define LOCALE_MAX 35

static void		read_shared(struct input *, struct db *, enum kind, struct document *);
static void		read_seo(struct input *, struct revision *);
static void		read_creation(struct input *, struct document *);
static const char	*read_url(struct input *, const char *name, bool own_too);
static void		read_slug(struct input *, struct document *);
static void		read_parent(struct input *, struct db *, struct document *);
static const char	*read_locale(struct input *);
static void		take_error(struct input *, const char *name, struct error *before);
static enum status	finish(struct input *, struct document *);
static json_t		*stored_json(const struct revision *);

enum status
document_read_new(struct scope *s, struct db *db, enum kind kind, json_t *body, struct document *out)
{
	static const char *const text_names[] = { "title", "content", "format", "slug", "summary", "seo", "fields", "locale", "client_ref", "state",
		"publish_at", "tags", "author", "parent", NULL };
	static const char *const term_names[] = { "title", "content", "format", "slug", "summary", "seo", "fields", "locale", "client_ref", "state",
		"publish_at", NULL };
	const char *names[COUNT(text_names)];
	struct input in;

	memcpy(names, text_names, sizeof(names));
	if (kind == KIND_ARTICLE)
		names[COUNT(text_names) - 2] = NULL;
	s->error = NULL;
	*out = (struct document){ .state = STATE_DRAFT };
	in = input_of(s, body, "");
	input_known(&in, kind == KIND_ARTICLE || kind == KIND_PAGE ? names : term_names);
	read_shared(&in, db, kind, out);
	read_creation(&in, out);
	return finish(&in, out);
}

enum status
document_replacement(struct scope *s, enum kind kind, json_t *body, json_t **out)
{
	static const char *const text_names[] = { "format", "summary", "tags", "seo", "fields", NULL };
	static const char *const term_names[] = { "content", "format", "summary", "seo", "fields", NULL };
	bool is_text = kind == KIND_ARTICLE || kind == KIND_PAGE;
	struct input in;

	s->error = NULL;
	in = input_of(s, body, "");
	(void)input_required(&in, "title", TITLE_MAX);
	if (is_text && !input_has(&in, "content"))
		input_bad(&in, ERR_INVALID, "content", "must be given: PUT replaces the whole %s; PATCH changes parts of it", kind_name(kind));
	TRY(in.status);
	*out = json_object();
	for (const char *const *name = is_text ? text_names : term_names; *name != NULL; name++)
		json_object_set_new(*out, *name, json_null());
	json_object_update(*out, body);
	return OK;
}

void
document_read_address(struct input *in, struct db *db, struct document *d)
{
	read_slug(in, d);
	read_parent(in, db, d);
}

enum status
document_read_patch(struct scope *s, struct db *db, const struct resource *r, const struct revision *v, json_t *patch, struct document *out)
{
	static const char *const text_names[] = { "title", "content", "format", "slug", "summary", "seo", "fields", "tags", "author", "parent",
		NULL };
	static const char *const term_names[] = { "title", "content", "format", "slug", "summary", "seo", "fields", NULL };
	static const char *no_tags[] = { NULL };
	const char *names[COUNT(text_names)];
	json_t *stored, *merged;
	struct input in;

	memcpy(names, text_names, sizeof(names));
	if (r->kind == KIND_ARTICLE)
		names[COUNT(text_names) - 2] = NULL;
	s->error = NULL;
	*out = (struct document){ .parent_id = r->parent_id };
	in = input_of(s, patch, "");
	input_known(&in, r->kind == KIND_ARTICLE || r->kind == KIND_PAGE ? names : term_names);
	if (json_is_null(json_object_get(patch, "slug")))
		input_bad(&in, ERR_INVALID, "slug", "cannot be removed");
	if ((stored = stored_json(v)) == NULL)
		return fail(s, ERR_INTERNAL, NULL, "the stored fields of revision %" PRId64 " cannot be read", v->number);
	merged = input_merge(stored, in.object != NULL ? patch : NULL);
	in.object = merged;
	if (!json_is_object(merged))
		in.object = stored;
	read_shared(&in, db, r->kind, out);
	if (json_is_null(json_object_get(patch, "parent")))
		out->parent_id = 0;
	if (json_is_null(json_object_get(patch, "tags")))
		out->tag_names = no_tags;
	in.status = finish(&in, out);
	json_decref(merged);
	json_decref(stored);
	return in.status;
}

static void
read_shared(struct input *in, struct db *db, enum kind kind, struct document *d)
{
	struct revision *v = &d->revision;
	const char *format = input_text(in, "format", 20, false);

	v->title = input_required(in, "title", TITLE_MAX);
	v->source = input_text(in, "content", SOURCE_MAX, true);
	if (v->source == NULL)
		v->source = "";
	else if (strlen(v->source) > SOURCE_MAX)
		input_bad(in, ERR_INVALID, "content", "has %zu bytes, the limit is %d", strlen(v->source), SOURCE_MAX);
	v->summary = input_text(in, "summary", SUMMARY_MAX, true);
	if (format != NULL && strcmp(format, "html") == 0)
		v->format = FORMAT_HTML;
	else if (format != NULL && strcmp(format, "markdown") != 0)
		input_bad(in, ERR_INVALID, "format", "must be \"markdown\" or \"html\"");
	v->fields = input_object(in, "fields", FIELDS_MAX);
	read_seo(in, v);
	read_slug(in, d);
	if (kind == KIND_ARTICLE || kind == KIND_PAGE) {
		d->tag_names = input_texts(in, "tags", TAGS_MAX, TERM_NAME_MAX);
		d->author_slug = input_text(in, "author", SLUG_MAX, false);
	}
	if (kind == KIND_PAGE)
		read_parent(in, db, d);
}

static void
read_seo(struct input *in, struct revision *v)
{
	static const char *const names[] = { "title", "description", "image", "noindex", "canonical", NULL };
	json_t *value = json_object_get(in->object, "seo");
	struct input seo;

	if (value == NULL || json_is_null(value))
		return;
	seo = input_of(in->s, value, "seo");
	seo.prefix = "seo.";
	input_known(&seo, names);
	v->seo_title = input_text(&seo, "title", TITLE_MAX, false);
	v->seo_description = input_text(&seo, "description", SUMMARY_MAX, false);
	v->seo_image = read_url(&seo, "image", true);
	v->noindex = input_bool(&seo, "noindex");
	v->canonical = read_url(&seo, "canonical", false);
	if (in->status == OK)
		in->status = seo.status;
}

static void
read_creation(struct input *in, struct document *d)
{
	const char *state = input_text(in, "state", 20, false);

	d->locale = read_locale(in);
	d->client_ref = input_text(in, "client_ref", REF_MAX, false);
	if (d->client_ref != NULL && str_trim(str_of(d->client_ref)).len == 0)
		input_bad(in, ERR_INVALID, "client_ref", "must not be blank");
	d->publish_at = input_time(in, "publish_at");
	if (state != NULL && (!state_parse(str_of(state), &d->state) || d->state == STATE_WITHDRAWN || d->state == STATE_GONE))
		input_bad(in, ERR_INVALID, "state", "must be \"draft\", \"published\" or \"scheduled\"");
	else if (d->state == STATE_SCHEDULED && !input_has(in, "publish_at"))
		input_bad(in, ERR_INVALID, "publish_at", "must be given with the state \"scheduled\"");
	else if (d->state != STATE_SCHEDULED && input_has(in, "publish_at"))
		input_bad(in, ERR_INVALID, "publish_at", "goes with the state \"scheduled\" only");
	else if (d->state == STATE_SCHEDULED && d->publish_at != 0 && d->publish_at <= in->s->now)
		input_bad(in, ERR_INVALID, "publish_at", "lies in the past");
}

/* An absolute http(s) URL; with `own_too` also a path of this site. */
static const char *
read_url(struct input *in, const char *name, bool own_too)
{
	const char *text = input_text(in, name, URL_MAX, false), *url = NULL;
	struct error *before = in->s->error;
	struct url_form form;

	if (text == NULL)
		return NULL;
	if (own_too && text[0] == '/' && text[1] != '/' && url_form(in->s, &form, str_of(text)) == OK)
		return form.path;
	if (url_absolute(in->s, &url, str_of(text), name) != OK)
		take_error(in, name, before);
	else if (strlen(url) > URL_MAX)
		input_bad(in, ERR_INVALID, name, "is longer than %d bytes", URL_MAX);
	return url;
}

static void
read_slug(struct input *in, struct document *d)
{
	const char *text = input_text(in, "slug", SLUG_MAX * 8, false);
	struct error *before = in->s->error;

	if (text != NULL && slug_given(in->s, &d->slug, str_of(text), "slug") != OK)
		take_error(in, "slug", before);
}

/* By uid, slug, or path. */
static void
read_parent(struct input *in, struct db *db, struct document *d)
{
	const char *text = input_text(in, "parent", URL_PATH_MAX, false);
	struct error *before = in->s->error;
	struct resource parent;
	struct url_form form;
	enum status status;

	if (text == NULL)
		return;
	if (text[0] == '/' && url_form(in->s, &form, str_of(text)) == OK)
		status = store_resource_load_path(in->s, db, &parent, KIND_PAGE, form.path);
	else
		status = store_resource_load_name(in->s, db, &parent, KIND_PAGE, text);
	if (status == OK && parent.state == STATE_GONE)
		status = fail(in->s, ERR_GONE, "parent", "the page was deleted");
	if (status != OK && status_info(status)->http < 500) {
		in->s->error = before;
		input_bad(in, ERR_INVALID, "parent", "there is no page %.200s", text);
	} else if (status != OK) {
		in->status = status;
	} else {
		d->parent_id = parent.id;
	}
}

/* A language tag of RFC 5646 by its shape, in the usual case: zh-Hant-TW. */
static const char *
read_locale(struct input *in)
{
	const char *text = input_text(in, "locale", LOCALE_MAX, false);
	struct str rest = str_of(text), piece;
	char *out = text == NULL ? NULL : arena_strdup(in->s->arena, text), *p = out;
	bool ok = text != NULL, first = true;
	size_t i;

	while (ok && str_next(&rest, '-', &piece)) {
		ok = piece.len >= 2 && piece.len <= (first ? 3 : 8);
		for (i = 0; ok && i < piece.len; i++) {
			char c = p[i];
			bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
			bool upper = !first && (piece.len == 2 || (piece.len == 4 && i == 0));

			ok = letter || (!first && c >= '0' && c <= '9');
			if (letter)
				p[i] = (char)(upper ? c & ~0x20 : c | 0x20);
		}
		p += piece.len + 1;
		first = false;
	}
	if (text != NULL && (!ok || first || str_ends(str_of(text), "-"))) {
		input_bad(in, ERR_INVALID, "locale", "must be a language tag like \"en\" or \"pt-BR\"");
		return NULL;
	}
	return out;
}

/* A checker that knows only fail() replaced what was noted so far: put its finding behind that. */
static void
take_error(struct input *in, const char *name, struct error *before)
{
	struct error *found = in->s->error;

	in->s->error = before;
	input_bad(in, found->status, name, "%s", found->detail);
}

static enum status
finish(struct input *in, struct document *d)
{
	if (in->status != OK)
		return in->status;
	return render_content(in->s, &d->rendered, d->revision.format, str_of(d->revision.source));
}

/* What a patch starts from; NULL when the stored fields are no JSON, for leaving them out would lose them. Slug, parent, tags and author are
 * carried as they are unless the patch names them. */
static json_t *
stored_json(const struct revision *v)
{
	json_t *fields = json_loads(v->fields, JSON_ALLOW_NUL, NULL), *out;

	if (fields == NULL)
		return NULL;
	out = json_pack("{s:s, s:s, s:s, s:s*, s:o, s:{s:s*, s:s*, s:s*, s:b, s:s*}}", "title", v->title, "content", v->source, "format",
	    format_name(v->format), "summary", v->summary, "fields", fields, "seo", "title",
	    v->seo_title, "description", v->seo_description, "image", v->seo_image, "noindex", v->noindex, "canonical", v->canonical);
	assert(out != NULL);
	return out;
}
