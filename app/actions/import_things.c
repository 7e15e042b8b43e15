/* import_things.c - authors, terms, posts and pages of an export as drafts of resources. */
#include "actions/import_run.h"

#include <ctype.h>

#include "actions/plan.h"
#include "base/hash.h"
#include "core/reserved.h"
#include "core/url.h"
#include "render/markdown.h"
#include "store/imports.h"
#include "store/lookup.h"

#define SLUG_SOURCE_MAX (SLUG_MAX * 8)	/* bytes of a text that a slug is made from */

static struct import_thing *
thing_new(struct import_run *run, struct scope *s, enum kind kind, int line, const char *ref, const char *hash)
{
	struct import_thing *t = scope_alloc(s, sizeof *t);
	struct resource *r = &t->draft.resource;

	t->line = line;
	r->kind = kind;
	r->locale = run->site->locale;
	r->state = STATE_PUBLISHED;
	r->client_ref = ref;
	r->ref_source = run->source;
	r->ref_hash = hash;
	r->owner_user = run->who->user_id;
	t->draft.revision.format = FORMAT_HTML;
	t->draft.revision.source = "";
	t->draft.revision.fields = "{}";
	t->draft.revision.editor_user = run->who->user_id;
	return t;
}

/* One digest over the parts, each closed by a byte that no text has, so that borders count. */
static const char *
parts_hash(struct scope *s, const char *const *parts, size_t count)
{
	struct sha256 *digest = sha256_new(s);
	char *hex = scope_alloc(s, SHA256_HEX);
	size_t i;

	for (i = 0; i < count; i++) {
		sha256_add(digest, parts[i], strlen(parts[i]));
		sha256_add(digest, "\0", 1);
	}
	sha256_hex(digest, hex);
	return hex;
}

/* The slug WordPress had, in our form; one that is too long or has nothing to keep is made from the title instead. */
static enum status
take_slug(struct import_run *run, struct scope *s, struct import_thing *t, const char *old_slug, const char *title)
{
	const char *given = url_decode_for_people(s, str_of(old_slug)), *from = strlen(given) > SLUG_MAX ? given : title;

	if (given[0] != '\0' && slug_given(s, &t->draft.resource.slug, str_of(given), "slug") == OK)
		return OK;
	s->error = NULL;
	if (given[0] != '\0')
		import_warn(run, t, "the slug \"%.60s\" cannot be kept (empty in our form or over %d bytes); one was made from %s", given, SLUG_MAX,
		    strlen(given) > SLUG_MAX ? "its beginning" : "the title");
	return slug_from_title(s, &t->draft.resource.slug, utf8_cut(str_of(from), SLUG_SOURCE_MAX), run->site->slug_style);
}

/* A text within `max` characters; what had to go is told. */
static const char *
bounded(struct import_run *run, struct scope *s, struct import_thing *t, const char *text, size_t max, const char *name)
{
	struct str all = str_trim(str_of(text));
	size_t i = 0, n = 0;
	struct buf b;

	buf_init(&b, s->arena);
	while (i < all.len && n < max) {
		int32_t c = utf8_next(all, &i);

		buf_utf8(&b, c < 0x20 || c == 0x7f ? ' ' : c);
		n++;
	}
	if (i < all.len)
		import_warn(run, t, "the %s has more than %zu characters and was cut", name, max);
	return b.p;
}

enum status
import_alias_add(struct import_run *run, struct scope *s, struct import_thing *t, const char *url)
{
	struct import_alias *a = &t->aliases[t->alias_count];
	struct url_form form;
	struct str path = str_of(url), query;
	const char *pairs, *why;
	size_t mark;

	path = str_part(path, 0, str_find(path, '#'));
	mark = str_find(path, '?');
	query = str_part(path, mark + 1, path.len);
	path = str_part(path, 0, mark);
	if (t->alias_count == IMPORT_ALIASES || url_form(s, &form, path) != OK) {
		import_warn(run, t, "the old address %.200s cannot be kept", url);
		s->error = NULL;
		return OK;
	}
	if (!url_pairs_form(s, &pairs, query, LOOKUP_PAIRS)) {
		import_warn(run, t, "the old address %.200s cannot be kept: it has more than %d query pairs", url, LOOKUP_PAIRS);
		return OK;
	}
	if (pairs == NULL && strcmp(form.path, "/") == 0)
		return OK;
	if (pairs != NULL && strlen(form.path) + 1 + strlen(pairs) > URL_PATH_MAX) {
		import_warn(run, t, "the old address %.200s cannot be kept: it is longer than %d bytes", url, URL_PATH_MAX);
		return OK;
	}
	if (pairs == NULL && path_is_reserved(s, form.path, &why)) {
		import_warn(run, t, "the old address %.200s cannot be kept: it is reserved (%s)", url, why);
		return OK;
	}
	*a = (struct import_alias){ form.path, form.fold, pairs };
	t->alias_count++;
	return OK;
}

/* What pages are made from, by the same hand as for everybody. A text that cannot be shown is this thing's failure, not the run's: *out stays
 * NULL. */
static enum status
take_rendering(struct import_run *run, struct scope *s, struct import_thing *t, struct import_thing **out)
{
	enum status status = render_content(s, &t->draft.rendered, t->draft.revision.format, str_of(t->draft.revision.source));

	if (status == OK)
		*out = t;
	if (status == OK || status_info(status)->http >= 500)
		return status;
	import_note(run, t->line, t->post_id, "failed", "\"%.*s\": its text %s", STR_FMT(utf8_cut(str_of(t->draft.revision.title), 80)),
	    s->error != NULL && s->error->detail != NULL ? s->error->detail : status_info(status)->title);
	s->error = NULL;
	return OK;
}

enum status
import_author_thing(struct import_run *run, struct scope *s, struct import_thing **out, const struct wxr_author *a)
{
	const char *name = str_trim(str_of(a->name)).len > 0 ? a->name : a->login, *parts[] = { "author", a->login, name };
	const char *ref = scope_printf(s, "author:%s", a->login);
	struct import_known known;
	struct import_thing *t;

	*out = NULL;
	if (str_trim(str_of(a->login)).len == 0) {
		import_note(run, a->line, 0, "skipped", "an author without a login");
		return OK;
	}
	TRY(store_import_find(s, run->read, &known, run->source, ref));
	if (known.id != 0) {
		run->report->unchanged++;
		return OK;
	}
	t = thing_new(run, s, KIND_AUTHOR, a->line, ref, parts_hash(s, parts, COUNT(parts)));
	t->draft.revision.title = bounded(run, s, t, name, TERM_NAME_MAX, "name");
	TRY(take_slug(run, s, t, a->login, name));
	TRY(import_alias_add(run, s, t, scope_printf(s, "%s/author/%s", run->base, url_segment(s, str_of(a->login)))));
	return take_rendering(run, s, t, out);
}

static const char *
term_ref(struct scope *s, const struct wxr_term *term)
{
	return scope_printf(s, "term:%s:%s", term->kind == WXR_CATEGORY ? "category" : "post_tag",
	    term->slug[0] != '\0' ? term->slug : term->name);
}

/* The resource that stands for a term: of an earlier run, or one with the same slug. */
static enum status
term_find(struct import_run *run, struct scope *s, int64_t *id, const struct wxr_term *term)
{
	const char *slug = NULL, *given = url_decode_for_people(s, str_of(term->slug[0] != '\0' ? term->slug : term->name));
	struct import_known known;

	*id = 0;
	TRY(store_import_find(s, run->read, &known, run->source, term_ref(s, term)));
	if (known.id != 0 && known.state != STATE_GONE)
		*id = known.id;
	if (*id != 0)
		return OK;
	if (slug_given(s, &slug, str_of(given), "slug") != OK) {
		s->error = NULL;
		return OK;
	}
	return store_import_find_slug(s, run->read, id, KIND_TAG, slug);
}

/* /category/parent/child: the parent's own old address, when it has one, is where the child lies. */
static enum status
term_alias(struct import_run *run, struct scope *s, struct import_thing *t, const struct wxr_term *term)
{
	const char *base = term->kind == WXR_CATEGORY ? "category" : "tag", *above = NULL;
	struct wxr_term parent = { .kind = term->kind, .slug = term->parent, .name = term->parent };
	int64_t parent_id = 0;

	if (term->slug[0] == '\0')
		return OK;
	TRY(import_alias_add(run, s, t, scope_printf(s, "%s/%s/%s", run->base, base, term->slug)));
	if (term->parent[0] == '\0')
		return OK;
	TRY(term_find(run, s, &parent_id, &parent));
	if (parent_id != 0)
		TRY(store_import_longest_alias(s, run->read, &above, parent_id, "category"));
	if (above == NULL)
		return OK;
	return import_alias_add(run, s, t, scope_printf(s, "%s/%s", above, term->slug));
}

enum status
import_term_thing(struct import_run *run, struct scope *s, struct import_thing **out, const struct wxr_term *term)
{
	const char *name = str_trim(str_of(term->name)).len > 0 ? term->name : term->slug;
	const char *parts[] = { "term", term->domain, term->slug, name };
	struct import_thing *t;
	struct str html;
	int64_t id;

	*out = NULL;
	if (term->kind == WXR_OTHER_TERM) {
		if (strcmp(term->domain, "nav_menu") != 0 && strcmp(term->domain, "post_format") != 0)
			import_note(run, term->line, 0, "skipped", "term \"%.80s\" of the taxonomy \"%.40s\": only categories and tags are taken", name,
			    term->domain);
		return OK;
	}
	if (name[0] == '\0') {
		import_note(run, term->line, 0, "skipped", "a term without name and slug");
		return OK;
	}
	TRY(term_find(run, s, &id, term));
	if (id != 0) {
		run->report->unchanged++;
		return OK;
	}
	t = thing_new(run, s, KIND_TAG, term->line, term_ref(s, term), parts_hash(s, parts, COUNT(parts)));
	t->draft.revision.title = bounded(run, s, t, name, TERM_NAME_MAX, "name");
	TRY(take_slug(run, s, t, term->slug, name));
	TRY(import_body(run, s, t, term->description, &html, &t->draft.revision.format));
	t->draft.revision.source = html.p;
	TRY(term_alias(run, s, t, term));
	return take_rendering(run, s, t, out);
}

enum status
import_author_id(struct import_run *run, struct scope *s, int64_t *id, const char *login, int line)
{
	struct wxr_author author = { 0, login, "", login, line };
	struct import_known known;
	struct import_thing *t;

	*id = 0;
	if (str_trim(str_of(login)).len == 0)
		return OK;
	TRY(store_import_find(s, run->read, &known, run->source, scope_printf(s, "author:%s", login)));
	*id = known.id;
	if (*id != 0)
		return OK;
	TRY(import_author_thing(run, s, &t, &author));
	TRY(import_write_now(run, s, t));
	*id = t != NULL ? t->draft.resource.id : 0;
	return OK;
}

enum status
import_term_ids(struct import_run *run, struct scope *s, struct revision *revision, const struct wxr_item *item)
{
	int64_t *ids = scope_alloc(s, (item->term_count + 1) * sizeof *ids), id;
	struct import_thing *t;
	size_t i, j, n = 0;

	for (i = 0; i < item->term_count; i++) {
		const struct wxr_term *term = &item->terms[i];

		if (term->kind == WXR_OTHER_TERM || (term->slug[0] == '\0' && term->name[0] == '\0'))
			continue;
		TRY(term_find(run, s, &id, term));
		if (id == 0) {
			TRY(import_term_thing(run, s, &t, term));
			if (t == NULL)
				continue;
			TRY(import_write_now(run, s, t));
			id = t->draft.resource.id;
		}
		for (j = 0; j < n && ids[j] != id; j++)
			continue;
		if (j == n && id != 0)
			ids[n++] = id;
	}
	revision->tag_ids = ids;
	revision->tag_count = n;
	return OK;
}

static const char *
item_ref(struct scope *s, const struct wxr_item *item)
{
	const char *parts[] = { item->title, item->content, item->slug };

	if (item->post_id > 0)
		return scope_printf(s, "post:%" PRId64, item->post_id);
	if (item->guid[0] != '\0' && strlen(item->guid) <= 150)
		return scope_printf(s, "guid:%s", item->guid);
	return scope_printf(s, "content:%s", parts_hash(s, parts, COUNT(parts)));
}

static const char *
item_hash(struct scope *s, const struct wxr_item *item)
{
	const char *parts[] = { item->title, item->content, item->excerpt, item->slug, item->status, item->type, item->creator, item->link,
		scope_printf(s, "%" PRId64 " %" PRId64 " %d", item->date_gmt, item->parent_id, item->is_sticky) };

	return parts_hash(s, parts, COUNT(parts));
}

/* State and times. A private or protected post was not for everybody, so it is a draft here and is named in the report. */
static void
take_state(struct import_run *run, struct scope *s, struct import_thing *t, const struct wxr_item *item)
{
	int64_t date = item->date_gmt > 0 ? item->date_gmt : item->date;
	struct resource *r = &t->draft.resource;

	r->created_at = date > 0 && date < s->now ? date : s->now;
	r->changed_at = item->modified_gmt > r->created_at && item->modified_gmt < s->now ? item->modified_gmt : r->created_at;
	r->state = STATE_DRAFT;
	if (item->password[0] != '\0')
		import_warn(run, t, "protected by a password: imported as a draft");
	else if (strcmp(item->status, "private") == 0)
		import_warn(run, t, "private: imported as a draft");
	else if (strcmp(item->status, "publish") == 0 || strcmp(item->status, "") == 0 || (strcmp(item->status, "future") == 0 && date <= s->now))
		r->state = STATE_PUBLISHED;
	else if (strcmp(item->status, "future") == 0)
		import_warn(run, t, "scheduled for later: imported as a draft");
	else if (strcmp(item->status, "draft") != 0 && strcmp(item->status, "pending") != 0 && strcmp(item->status, "auto-draft") != 0)
		import_warn(run, t, "status \"%.40s\": imported as a draft", item->status);
	if (r->state == STATE_PUBLISHED) {
		r->first_published_at = r->created_at;
		r->live_changed_at = r->changed_at;
	}
}

/* What Yoast kept about the page, and the post format, travel along. */
static void
take_meta(struct import_run *run, struct scope *s, struct import_thing *t, const struct wxr_item *item)
{
	struct revision *v = &t->draft.revision;
	size_t i;

	for (i = 0; i < item->meta_count; i++) {
		const struct wxr_meta *m = &item->meta[i];

		if (strcmp(m->key, "_yoast_wpseo_title") == 0 && m->value[0] != '\0' && strstr(m->value, "%%") == NULL)
			v->seo_title = bounded(run, s, t, m->value, TITLE_MAX, "SEO title");
		else if (strcmp(m->key, "_yoast_wpseo_metadesc") == 0 && m->value[0] != '\0')
			v->seo_description = bounded(run, s, t, m->value, SUMMARY_MAX, "SEO description");
		else if (strcmp(m->key, "_yoast_wpseo_meta-robots-noindex") == 0 && strcmp(m->value, "1") == 0)
			v->noindex = true;
	}
	if (item->format[0] != '\0' && strncmp(item->format, "post-format-", 12) == 0) {
		struct buf b;
		const char *p;

		buf_init(&b, s->arena);
		buf_text(&b, "{\"post_format\":\"");
		for (p = item->format + 12; *p != '\0'; p++)
			if (isalnum((unsigned char)*p) || *p == '-')
				buf_char(&b, *p);
		buf_text(&b, "\"}");
		v->fields = b.p;
	}
	if (item->comment_count > 0)
		import_warn(run, t, "%" PRId64 " comments were not taken: Stele has no comments", item->comment_count);
	if (item->dropped_characters > 0)
		import_warn(run, t, "%" PRId64 " characters that no page may hold were dropped", item->dropped_characters);
}

/* Old addresses: the permalink (which may become the path itself), /?p=12, /?page_id=12. */
static enum status
take_addresses(struct import_run *run, struct scope *s, struct import_thing *t, const struct wxr_item *item)
{
	const char *own = import_own_path(run, s, str_of(item->link));
	struct url_form form;

	if (own != NULL && strchr(own, '?') == NULL && url_form(s, &form, str_part(str_of(own), 0, str_find(str_of(own), '#'))) == OK &&
	    strcmp(form.path, "/") != 0) {
		if (run->options->keep_permalinks && t->draft.resource.state == STATE_PUBLISHED)
			t->draft.path = form.path;
		else
			TRY(import_alias_add(run, s, t, own));
	}
	s->error = NULL;
	if (item->post_id <= 0)
		return OK;
	TRY(import_alias_add(run, s, t, scope_printf(s, "%s/?p=%" PRId64, run->base, item->post_id)));
	if (t->draft.resource.kind == KIND_PAGE)
		TRY(import_alias_add(run, s, t, scope_printf(s, "%s/?page_id=%" PRId64, run->base, item->post_id)));
	return OK;
}

static enum status
take_title(struct import_run *run, struct scope *s, struct import_thing *t, const struct wxr_item *item, struct str html)
{
	const char *text;

	t->draft.revision.title = bounded(run, s, t, item->title, TITLE_MAX, "title");
	if (t->draft.revision.title[0] != '\0')
		return OK;
	text = render_text(s, html);
	t->draft.revision.title = str_dup(s->arena, str_trim(utf8_cut(str_of(text), 60)));
	if (t->draft.revision.title[0] == '\0')
		t->draft.revision.title = item->post_id > 0 ? scope_printf(s, "Untitled %" PRId64, item->post_id) : "Untitled";
	import_warn(run, t, "has no title: called \"%s\"", t->draft.revision.title);
	return OK;
}

static enum status
take_summary(struct import_run *run, struct scope *s, struct import_thing *t, const struct wxr_item *item)
{
	enum format format;
	struct str html;

	if (str_trim(str_of(item->excerpt)).len == 0)
		return OK;
	TRY(import_body(run, s, t, item->excerpt, &html, &format));
	t->draft.revision.summary = bounded(run, s, t, render_text(s, html), SUMMARY_MAX, "excerpt");
	return OK;
}

/* Is this an item to import, and not known? Says why not. */
static enum status
item_is_wanted(struct import_run *run, struct scope *s, const struct wxr_item *item, bool *wanted)
{
	struct import_known known;

	*wanted = false;
	if (strcmp(item->status, "trash") == 0 || strcmp(item->status, "auto-draft") == 0) {
		import_note(run, item->line, item->post_id, "skipped", "in the %s", strcmp(item->status, "trash") == 0 ? "trash" : "state auto-draft");
		return OK;
	}
	if (item->is_cut) {
		import_note(run, item->line, item->post_id, "failed", "a text is longer than %d bytes, or all of them than %d", WXR_FIELD_MAX, WXR_THING_MAX);
		return OK;
	}
	TRY(store_import_find(s, run->read, &known, run->source, item_ref(s, item)));
	if (known.id != 0 && known.ref_hash != NULL && strcmp(known.ref_hash, item_hash(s, item)) != 0)
		import_note(run, item->line, item->post_id, "skipped", "imported before; the export has changed since, what is here was kept");
	else if (known.id != 0)
		import_note(run, item->line, item->post_id, "unchanged", "imported before");
	*wanted = known.id == 0;
	return OK;
}

enum status
import_item_thing(struct import_run *run, struct scope *s, struct import_thing **out, const struct wxr_item *item)
{
	enum kind kind = strcmp(item->type, "page") == 0 ? KIND_PAGE : KIND_ARTICLE;
	struct import_thing *t;
	struct str html;
	bool wanted;

	*out = NULL;
	TRY(item_is_wanted(run, s, item, &wanted));
	if (!wanted)
		return OK;
	t = thing_new(run, s, kind, item->line, item_ref(s, item), item_hash(s, item));
	t->post_id = item->post_id;
	t->draft.resource.guid = item->guid[0] != '\0' ? str_dup(s->arena, str_of(item->guid)) : NULL;
	t->draft.resource.is_sticky = item->is_sticky;
	take_state(run, s, t, item);
	TRY(import_body(run, s, t, item->content, &html, &t->draft.revision.format));
	t->draft.revision.source = html.p;
	TRY(take_title(run, s, t, item, html));
	TRY(take_summary(run, s, t, item));
	TRY(take_slug(run, s, t, item->slug, t->draft.revision.title));
	take_meta(run, s, t, item);
	TRY(import_author_id(run, s, &t->draft.revision.author_id, item->creator, item->line));
	TRY(import_term_ids(run, s, &t->draft.revision, item));
	TRY(take_addresses(run, s, t, item));
	return take_rendering(run, s, t, out);
}
