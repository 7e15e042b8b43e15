/* docs.c - pages of the manual. */
#include "actions/docs.h"
#include "actions/view_parts.h"
#include "core/url.h"
#include "render/markdown.h"

#define NAME_MAX_LEN 40
#define PAGE_BYTES_MAX 262144

static enum status	fill(struct scope *, const struct site *, struct str *source);
static bool		name_is_valid(const char *);
static const char	*cut_title(struct scope *, struct str *source, const char *name);

enum status
view_docs(struct scope *s, struct db *db, const struct site *site, const struct templates *templates, const char *dir,
    const char *name, struct view *out)
{
	struct page_build b = { .db = db, .site = site, .templates = templates, .out = out };
	struct rendered rendered;
	struct str source, content;
	bool is_index = strcmp(name, "index") == 0;
	const char *title;
	json_t *view;

	if (!name_is_valid(name))
		return fail(s, ERR_NOT_FOUND, NULL, "the manual has no such page");
	TRY(view_begin(s, &b));
	TRY(docs_read(s, scope_printf(s, "%s/%s.md", dir, name), &source));
	title = cut_title(s, &source, name);
	TRY(fill(s, site, &source));
	TRY(render_content(s, &rendered, FORMAT_MARKDOWN, source));
	content = str_of(rendered.html);
	b.head.kind = "page";
	b.head.locale = "en";
	b.head.title = view_title(s, site, title, 1);
	/* A route, not a stored path: the setting for trailing slashes does not concern it. */
	b.head.url = b.head.canonical = url_public(s, site->public_origin, is_index ? "/docs" : scope_printf(s, "/docs/%s", name), false, (struct str){ NULL, 0 });
	view = json_object();
	view_set(view, "title", title);
	view_set(view, "url", b.head.url);
	json_object_set_new(view, "content_html", json_stringn(content.p, content.len));
	return view_finish(s, &b, "page", view);
}

enum status
docs_read(struct scope *s, const char *path, struct str *out)
{
	FILE *f = fopen(path, "re");
	struct buf b;
	char block[8192];
	size_t n;
	bool failed;

	if (f == NULL)
		return fail(s, ERR_NOT_FOUND, NULL, "the manual has no such page");
	buf_init(&b, s->arena);
	while (b.len <= PAGE_BYTES_MAX && (n = fread(block, 1, sizeof(block), f)) > 0)
		buf_add(&b, block, n);
	failed = ferror(f) != 0 || b.len > PAGE_BYTES_MAX;
	fclose(f);
	*out = buf_as_str(&b);
	return failed || !utf8_valid(*out) ? fail(s, ERR_INTERNAL, NULL, "%s cannot be read", path) : OK;
}

struct str
docs_replace(struct scope *s, struct str text, const char *mark, const char *with)
{
	struct buf b;
	size_t at;

	buf_init(&b, s->arena);
	while ((at = str_find_str(text, str_of(mark))) < text.len) {
		buf_str(&b, str_part(text, 0, at));
		buf_text(&b, with);
		text = str_part(text, at + strlen(mark), text.len);
	}
	buf_str(&b, text);
	return buf_as_str(&b);
}

static enum status
fill(struct scope *s, const struct site *site, struct str *source)
{
	struct str text = *source, name;
	struct buf b;
	size_t at, end;

	buf_init(&b, s->arena);
	while ((at = str_find_str(text, STR("{{"))) < text.len) {
		buf_str(&b, str_part(text, 0, at));
		text = str_part(text, at + 2, text.len);
		end = str_find_str(text, STR("}}"));
		name = str_part(text, 0, end);
		if (!docs_value(s, &b, site, name))
			return fail(s, ERR_INTERNAL, NULL, "the manual has no value {{%.*s}}", STR_FMT(utf8_cut(name, 100)));
		text = str_part(text, end + 2, text.len);
	}
	buf_str(&b, text);
	*source = buf_as_str(&b);
	return OK;
}

static bool
name_is_valid(const char *name)
{
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz-");

	return len > 0 && len <= NAME_MAX_LEN && name[len] == '\0';
}

/* The page's template prints the title as its only h1. */
static const char *
cut_title(struct scope *s, struct str *source, const char *name)
{
	size_t end = str_find(*source, '\n');
	const char *title;

	if (!str_starts(*source, "# "))
		return name;
	title = str_dup(s->arena, str_trim(str_part(*source, 2, end)));
	*source = str_part(*source, end, source->len);
	return title;
}
