/* head.c - what a page says about itself, in tags, header values and JSON-LD, all from one struct. */
#include "render/head.h"
#include "base/clock.h"
#include "render/feed.h"

static void
add_escaped(struct buf *out, const char *text)
{
	for (const char *p = text; *p != '\0'; p++) {
		switch (*p) {
		case '&': buf_text(out, "&amp;"); break;
		case '<': buf_text(out, "&lt;"); break;
		case '>': buf_text(out, "&gt;"); break;
		case '"': buf_text(out, "&quot;"); break;
		default: buf_char(out, *p); break;
		}
	}
}

/* <TAG NAME="KEY" VALUE_NAME="value"> on a line of its own; nothing when there is no value. */
static void
add_tag(struct buf *out, const char *tag, const char *key_name, const char *key, const char *value_name,
    const char *value)
{
	if (value == NULL || *value == '\0')
		return;
	buf_printf(out, "<%s %s=\"%s\" %s=\"", tag, key_name, key, value_name);
	add_escaped(out, value);
	buf_text(out, "\">\n");
}

static void
add_meta(struct buf *out, const char *name, const char *value)
{
	add_tag(out, "meta", "name", name, "content", value);
}

static void
add_property(struct buf *out, const char *name, const char *value)
{
	add_tag(out, "meta", "property", name, "content", value);
}

/* Open Graph takes ll_CC alone: a language without a region says nothing it could use. */
static const char *
og_locale(struct scope *s, const char *locale)
{
	size_t len = locale == NULL ? 0 : strlen(locale);

	if (len != 5 || (locale[2] != '-' && locale[2] != '_'))
		return NULL;
	return scope_printf(s, "%.2s_%c%c", locale, locale[3] & ~0x20, locale[4] & ~0x20);
}

/* The title without " - Site" at its end: Open Graph and JSON-LD name the site apart. */
static const char *
own_title(struct scope *s, const struct head *h)
{
	struct str title = str_of(h->title), site = str_of(h->site_title);

	if (site.len == 0 || title.len <= site.len + 3 || !str_ends(title, h->site_title))
		return h->title;
	title.len -= site.len;
	if (!str_ends(title, " - ") && !str_ends(title, " – ") && !str_ends(title, " — ") && !str_ends(title, " | ") &&
	    !str_ends(title, " · "))
		return h->title;
	title.len--;
	while (title.len > 0 && title.p[title.len - 1] != ' ')
		title.len--;
	return str_dup(s->arena, str_trim(title));
}

static bool
is_article(const struct head *h)
{
	return h->kind != NULL && strcmp(h->kind, "article") == 0;
}

static void
add_open_graph(struct scope *s, struct buf *out, const struct head *h)
{
	char text[CLOCK_TEXT];

	if (h->canonical == NULL)
		return;
	add_property(out, "og:type", is_article(h) ? "article" : "website");
	add_property(out, "og:title", own_title(s, h));
	add_property(out, "og:description", h->description);
	add_property(out, "og:url", h->canonical);
	add_property(out, "og:image", h->image);
	add_property(out, "og:site_name", h->site_title);
	add_property(out, "og:locale", og_locale(s, h->locale));
	add_meta(out, "twitter:card", h->image != NULL ? "summary_large_image" : "summary");
	if (!is_article(h))
		return;
	if (h->published_at != 0)
		add_property(out, "article:published_time", clock_rfc3339_seconds(text, h->published_at));
	if (h->changed_at != 0)
		add_property(out, "article:modified_time", clock_rfc3339_seconds(text, h->changed_at));
	add_property(out, "article:author", h->author_url);
}

static void
set_text(json_t *object, const char *name, const char *value)
{
	if (value != NULL && *value != '\0')
		json_object_set_new(object, name, json_string(value));
}

static void
set_time(json_t *object, const char *name, int64_t ms)
{
	char text[CLOCK_TEXT];

	if (ms != 0)
		json_object_set_new(object, name, json_string(clock_rfc3339_seconds(text, ms)));
}

static json_t *
structured_article(struct scope *s, const struct head *h)
{
	json_t *o = json_pack("{s:s, s:s}", "@context", "https://schema.org", "@type", "Article");

	set_text(o, "headline", own_title(s, h));
	set_text(o, "description", h->description);
	set_text(o, "image", h->image);
	set_time(o, "datePublished", h->published_at);
	set_time(o, "dateModified", h->changed_at);
	set_text(o, "inLanguage", h->locale);
	if (h->author_name != NULL && *h->author_name != '\0') {
		json_t *author = json_pack("{s:s, s:s}", "@type", "Person", "name", h->author_name);
		set_text(author, "url", h->author_url);
		json_object_set_new(o, "author", author);
	}
	if (h->site_title != NULL && *h->site_title != '\0')
		json_object_set_new(o, "publisher",
		    json_pack("{s:s, s:s}", "@type", "Organization", "name", h->site_title));
	set_text(o, "mainEntityOfPage", h->canonical);
	set_text(o, "url", h->canonical);
	return o;
}

static json_t *
structured_page(struct scope *s, const struct head *h)
{
	json_t *o = json_pack("{s:s, s:s}", "@context", "https://schema.org", "@type", "WebPage");

	set_text(o, "name", own_title(s, h));
	set_text(o, "description", h->description);
	set_text(o, "image", h->image);
	set_time(o, "datePublished", h->published_at);
	set_time(o, "dateModified", h->changed_at);
	set_text(o, "inLanguage", h->locale);
	set_text(o, "url", h->canonical);
	return o;
}

static json_t *
structured_site(const struct head *h)
{
	json_t *o = json_pack("{s:s, s:s}", "@context", "https://schema.org", "@type", "WebSite");

	set_text(o, "name", h->site_title);
	set_text(o, "description", h->description);
	set_text(o, "inLanguage", h->locale);
	set_text(o, "url", h->canonical);
	return o;
}

/* NULL when there is nothing to say. */
static json_t *
structured_data(struct scope *s, const struct head *h)
{
	if (h->canonical == NULL || h->kind == NULL)
		return NULL;
	if (is_article(h))
		return structured_article(s, h);
	if (strcmp(h->kind, "page") == 0)
		return structured_page(s, h);
	return strcmp(h->kind, "home") == 0 ? structured_site(h) : NULL;
}

static void
add_structured_data(struct scope *s, struct buf *out, const struct head *h)
{
	json_t *o = structured_data(s, h);

	if (o == NULL)
		return;
	buf_printf(out, "<script type=\"application/ld+json\">%s</script>\n", json_for_script(s, o));
	json_decref(o);
}

static const char *
robots(const struct head *h)
{
	return h->noindex ? "noindex" : "max-image-preview:large";
}

static const char *
feed_media_type(struct scope *s, enum feed_format format)
{
	struct str type = str_of(feed_type(format));

	return str_dup(s->arena, str_part(type, 0, str_find(type, ';')));
}

/* All that a reader may want to know the feed by. */
static void
add_feeds(struct scope *s, struct buf *out, const struct head *h)
{
	for (enum feed_format format = 0; h->feed_url != NULL && format < FEED_FORMATS; format++) {
		buf_printf(out, "<link rel=\"alternate\" type=\"%s\" title=\"", feed_media_type(s, format));
		add_escaped(out, h->feed_title);
		buf_printf(out, "\" href=\"%s.%s\">\n", h->feed_url, feed_extension(format));
	}
}

const char *
head_html(struct scope *s, const struct head *h)
{
	struct buf out;

	buf_init(&out, s->arena);
	buf_text(&out, "<meta charset=\"utf-8\">\n"
	    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
	add_escaped(&out, h->title != NULL ? h->title : "");
	buf_text(&out, "</title>\n");
	add_meta(&out, "description", h->description);
	add_tag(&out, "link", "rel", "canonical", "href", h->canonical);
	add_meta(&out, "robots", robots(h));
	add_tag(&out, "link", "rel", "prev", "href", h->prev_url);
	add_tag(&out, "link", "rel", "next", "href", h->next_url);
	add_feeds(s, &out, h);
	add_open_graph(s, &out, h);
	add_structured_data(s, &out, h);
	buf_text(&out, "<meta name=\"theme-color\" content=\"#fdfcfa\" media=\"(prefers-color-scheme: light)\">\n"
	    "<meta name=\"theme-color\" content=\"#16181c\" media=\"(prefers-color-scheme: dark)\">\n");
	return out.p;
}

static void
set_or_null(json_t *object, const char *name, const char *text)
{
	json_object_set_new(object, name, text == NULL || *text == '\0' ? json_null() : json_string(text));
}

json_t *
head_json(struct scope *s, const struct head *h)
{
	json_t *o = json_object(), *feeds = json_array(), *graph = structured_data(s, h);

	set_or_null(o, "title", h->title);
	set_or_null(o, "description", h->description);
	set_or_null(o, "canonical", h->canonical);
	set_or_null(o, "url", h->url);
	set_or_null(o, "robots", robots(h));
	set_or_null(o, "locale", h->locale);
	set_or_null(o, "image", h->image);
	set_or_null(o, "prev", h->prev_url);
	set_or_null(o, "next", h->next_url);
	for (enum feed_format format = 0; h->feed_url != NULL && format < FEED_FORMATS; format++)
		json_array_append_new(feeds, json_pack("{s:s, s:s, s:s}", "type", feed_media_type(s, format), "title", h->feed_title, "url",
		    scope_printf(s, "%s.%s", h->feed_url, feed_extension(format))));
	json_object_set_new(o, "feeds", feeds);
	json_object_set_new(o, "json_ld", graph != NULL ? graph : json_null());
	return o;
}

const char *
head_link(struct scope *s, const struct head *h)
{
	if (h->canonical == NULL)
		return NULL;
	return scope_printf(s, "<%s>; rel=\"canonical\"", h->canonical);
}

const char *
head_robots(const struct head *h)
{
	return h->noindex ? "noindex" : NULL;
}

const char *
json_for_script(struct scope *s, json_t *value)
{
	char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
	struct buf out;

	buf_init(&out, s->arena);
	for (const char *p = text; p != NULL && *p != '\0'; p++) {
		if (*p == '<' || *p == '>' || *p == '&') {
			buf_printf(&out, "\\u%04x", (unsigned)*p);
		} else if (strncmp(p, "\xE2\x80\xA8", 3) == 0 || strncmp(p, "\xE2\x80\xA9", 3) == 0) {
			buf_text(&out, p[2] == '\xA8' ? "\\u2028" : "\\u2029");
			p += 2;
		} else {
			buf_char(&out, *p);
		}
	}
	free(text);
	return out.p;
}
