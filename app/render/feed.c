/* feed.c - the three formats of a feed. */
#include "render/feed.h"

#include <jansson.h>

#include "base/clock.h"
#include "render/xml_out.h"

static const struct { const char *extension, *type; } formats[FEED_FORMATS] = {
	[FEED_ATOM] = { "atom", "application/atom+xml; charset=utf-8" },
	[FEED_RSS] = { "rss", "application/rss+xml; charset=utf-8" },
	[FEED_JSON] = { "json", "application/feed+json; charset=utf-8" },
};

const char *
feed_extension(enum feed_format format)
{
	return formats[format].extension;
}

const char *
feed_type(enum feed_format format)
{
	return formats[format].type;
}

bool
feed_format_parse(struct str extension, enum feed_format *out)
{
	for (*out = 0; *out < FEED_FORMATS; ++*out)
		if (str_is(extension, formats[*out].extension))
			return true;
	return false;
}

static void
link_tag(struct xml_out *x, const char *name, const char *rel, const char *type, const char *href)
{
	if (href == NULL)
		return;
	xml_open(x, name);
	xml_attribute(x, "rel", rel);
	xml_attribute(x, "type", type);
	xml_attribute(x, "href", href);
	xml_close(x);
}

static void
person(struct xml_out *x, const char *name, const char *uri)
{
	xml_open(x, "author");
	xml_leaf(x, "name", name);
	xml_leaf(x, "uri", uri);
	xml_close(x);
}

static void
atom_entry(struct xml_out *x, const struct feed_entry *e)
{
	char at[CLOCK_TEXT];

	xml_line(x);
	xml_open(x, "entry");
	xml_leaf(x, "id", e->id);
	xml_leaf(x, "title", e->title);
	link_tag(x, "link", "alternate", "text/html", e->url);
	xml_leaf(x, "published", clock_rfc3339_seconds(at, e->published_at));
	xml_leaf(x, "updated", clock_rfc3339_seconds(at, e->changed_at));
	if (e->author_name != NULL)
		person(x, e->author_name, e->author_url);
	for (size_t i = 0; i < e->tag_count; i++) {
		xml_open(x, "category");
		xml_attribute(x, "term", e->tags[i]);
		xml_close(x);
	}
	xml_leaf(x, "summary", e->summary);
	if (e->content_html != NULL) {
		xml_open(x, "content");
		xml_attribute(x, "type", "html");
		xml_text(x, e->content_html);
		xml_close(x);
	}
	xml_close(x);
}

static enum status
write_atom(struct scope *s, const struct feed *f, struct str *out)
{
	struct xml_out *x = xml_begin(s);
	char at[CLOCK_TEXT];

	xml_open(x, "feed");
	xml_attribute(x, "xmlns", "http://www.w3.org/2005/Atom");
	xml_attribute(x, "xml:lang", f->locale);
	xml_leaf(x, "id", f->id);
	xml_leaf(x, "title", f->title);
	xml_leaf(x, "subtitle", f->description);
	link_tag(x, "link", "alternate", "text/html", f->url);
	link_tag(x, "link", "self", "application/atom+xml", f->self);
	link_tag(x, "link", "hub", NULL, f->hub);
	xml_leaf(x, "updated", clock_rfc3339_seconds(at, f->changed_at));
	person(x, f->author, NULL);
	for (size_t i = 0; i < f->count; i++)
		atom_entry(x, &f->entries[i]);
	xml_line(x);
	return xml_end(s, x, out);
}

static void
rss_item(struct xml_out *x, const struct feed_entry *e)
{
	char at[CLOCK_TEXT];

	xml_line(x);
	xml_open(x, "item");
	xml_leaf(x, "title", e->title);
	xml_leaf(x, "link", e->url);
	xml_open(x, "guid");
	/* Whoever takes it for an address must not follow one that a move has left. */
	xml_attribute(x, "isPermaLink", "false");
	xml_text(x, e->id);
	xml_close(x);
	xml_leaf(x, "pubDate", clock_http_date(at, e->published_at));
	xml_leaf(x, "dc:creator", e->author_name);
	for (size_t i = 0; i < e->tag_count; i++)
		xml_leaf(x, "category", e->tags[i]);
	xml_leaf(x, "description", e->summary);
	xml_leaf(x, "content:encoded", e->content_html);
	xml_close(x);
}

static enum status
write_rss(struct scope *s, const struct feed *f, struct str *out)
{
	struct xml_out *x = xml_begin(s);
	char at[CLOCK_TEXT];

	xml_open(x, "rss");
	xml_attribute(x, "version", "2.0");
	xml_attribute(x, "xmlns:atom", "http://www.w3.org/2005/Atom");
	xml_attribute(x, "xmlns:content", "http://purl.org/rss/1.0/modules/content/");
	xml_attribute(x, "xmlns:dc", "http://purl.org/dc/elements/1.1/");
	xml_open(x, "channel");
	xml_leaf(x, "title", f->title);
	xml_leaf(x, "link", f->url);
	xml_leaf(x, "description", f->description != NULL ? f->description : f->title);
	link_tag(x, "atom:link", "self", "application/rss+xml", f->self);
	link_tag(x, "atom:link", "hub", NULL, f->hub);
	xml_leaf(x, "language", f->locale);
	xml_leaf(x, "lastBuildDate", clock_http_date(at, f->changed_at));
	for (size_t i = 0; i < f->count; i++)
		rss_item(x, &f->entries[i]);
	xml_line(x);
	xml_close(x);
	return xml_end(s, x, out);
}

static void
set(json_t *object, const char *name, const char *text)
{
	if (text != NULL)
		json_object_set_new(object, name, json_string(text));
}

static json_t *
json_authors(const char *name, const char *url)
{
	json_t *author = json_object(), *list = json_array();

	set(author, "name", name);
	set(author, "url", url);
	json_array_append_new(list, author);
	return list;
}

static json_t *
json_item(const struct feed_entry *e)
{
	json_t *item = json_object(), *tags = json_array();
	char at[CLOCK_TEXT];

	set(item, "id", e->id);
	set(item, "url", e->url);
	set(item, "title", e->title);
	set(item, "summary", e->summary);
	/* One of the two must be there. */
	set(item, "content_html", e->content_html);
	if (e->content_html == NULL)
		set(item, "content_text", e->summary != NULL ? e->summary : e->title);
	set(item, "image", e->image);
	set(item, "date_published", clock_rfc3339_seconds(at, e->published_at));
	set(item, "date_modified", clock_rfc3339_seconds(at, e->changed_at));
	if (e->author_name != NULL)
		json_object_set_new(item, "authors", json_authors(e->author_name, e->author_url));
	for (size_t i = 0; i < e->tag_count; i++)
		json_array_append_new(tags, json_string(e->tags[i]));
	json_object_set_new(item, "tags", tags);
	return item;
}

static enum status
write_json(struct scope *s, const struct feed *f, struct str *out)
{
	json_t *feed = json_object(), *items = json_array();
	char *text;

	set(feed, "version", "https://jsonfeed.org/version/1.1");
	set(feed, "title", f->title);
	set(feed, "home_page_url", f->url);
	set(feed, "feed_url", f->self);
	set(feed, "description", f->description);
	set(feed, "language", f->locale);
	json_object_set_new(feed, "authors", json_authors(f->author, NULL));
	if (f->hub != NULL)
		json_object_set_new(feed, "hubs", json_pack("[{s:s, s:s}]", "type", "WebSub", "url", f->hub));
	for (size_t i = 0; i < f->count; i++)
		json_array_append_new(items, json_item(&f->entries[i]));
	json_object_set_new(feed, "items", items);
	text = json_dumps(feed, JSON_COMPACT);
	json_decref(feed);
	if (text == NULL)
		return fail(s, ERR_INTERNAL, NULL, "the feed could not be written");
	*out = str_of(arena_strdup(s->arena, text));
	free(text);
	return OK;
}

enum status
feed_write(struct scope *s, const struct feed *f, enum feed_format format, struct str *out)
{
	switch (format) {
	case FEED_ATOM:
		return write_atom(s, f, out);
	case FEED_RSS:
		return write_rss(s, f, out);
	case FEED_JSON:
	case FEED_FORMATS:
		break;
	}
	return write_json(s, f, out);
}
