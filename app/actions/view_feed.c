/* view_feed.c - the feeds of the site, of a tag, of an author. */
#include "actions/view_parts.h"
#include "base/hash.h"
#include "core/url.h"
#include "render/feed.h"
#include "render/markdown.h"
#include "store/feeds.h"
#include "store/resources.h"
#include "store/revisions.h"

#define TAGS_MAX 50
#define TEXT_MAX ((size_t)1 << 20)	/* of all entries together; texts that find no room any more are told by their summary */

static enum status	find_term(struct scope *, struct page_build *, const char *uid, struct resource *);
static enum status	add_entry(struct scope *, struct page_build *, int64_t id, size_t *room, struct feed_entry *);
static enum status	add_names(struct scope *, struct page_build *, const struct resource *, struct feed_entry *);
static const char	*permanent_id(struct scope *, const struct resource *);
static const char	*absolute(struct scope *, void *site, struct str url);

enum status
view_feed(struct scope *s, struct db *db, const struct site *site, const char *term, const char *extension, struct view *out)
{
	struct page_build b = { .db = db, .site = site, .out = out };
	struct feed feed = { .locale = site->locale, .author = site->title };
	struct feed_entry *entries = scope_alloc(s, (size_t)site->feed_items * sizeof(*entries));
	int64_t *ids = scope_alloc(s, (size_t)site->feed_items * sizeof(*ids)), at;
	size_t room = TEXT_MAX;
	enum feed_format format;
	struct resource of;

	if (!feed_format_parse(str_of(extension), &format))
		return fail(s, ERR_NOT_FOUND, NULL, "a feed ends with .atom, .rss or .json");
	*out = (struct view){ .status = 200, .type = feed_type(format), .is_cacheable = true, .robots = site->noindex ? "noindex" : NULL };
	/* What an entry says hangs on its author, its tags and on whatever it links to. */
	view_depend(s, out, "settings");
	view_depend(s, out, "list:article");
	view_depend(s, out, "list:tag");
	view_depend(s, out, "list:author");
	view_depend(s, out, "paths");
	if (term != NULL)
		TRY(find_term(s, &b, term, &of));
	TRY(store_feed(s, db, term == NULL ? NULL : &of, ids, (size_t)site->feed_items, &feed.count));
	if (term != NULL && of.kind == KIND_TAG && feed.count == 0)
		return fail(s, ERR_NOT_FOUND, NULL, "nothing carries this tag");
	for (size_t i = 0; i < feed.count; i++) {
		TRY(add_entry(s, &b, ids[i], &room, &entries[i]));
		feed.changed_at = entries[i].changed_at > feed.changed_at ? entries[i].changed_at : feed.changed_at;
	}
	TRY(store_list_changed_at(s, db, &at));
	view_modified(out, at);
	TRY(store_settings_changed_at(s, db, &at));
	view_modified(out, at);
	out->modified_at = out->modified_at > s->now ? s->now : out->modified_at;
	feed.changed_at = feed.count > 0 ? feed.changed_at : out->modified_at;
	feed.entries = entries;
	feed.title = view_title(s, site, term == NULL ? NULL : of.live_title, 1);
	feed.description = term == NULL ? site->description : of.live_summary;
	feed.description = feed.description != NULL && feed.description[0] != '\0' ? feed.description : NULL;
	feed.url = view_url(s, site, term == NULL ? "/" : of.path, 1);
	feed.id = term == NULL ? feed.url : scope_printf(s, "urn:uuid:%s", of.uid);
	feed.self = scope_printf(s, "%s.%s", view_feed_url(s, site, term), feed_extension(format));
	feed.hub = site->websub_hub[0] != '\0' ? site->websub_hub : NULL;
	out->link = feed.hub == NULL ? scope_printf(s, "<%s>; rel=\"self\"", feed.self) :
	    scope_printf(s, "<%s>; rel=\"self\", <%s>; rel=\"hub\"", feed.self, feed.hub);
	return feed_write(s, &feed, format, &out->body);
}

const char *
view_feed_url(struct scope *s, const struct site *site, const char *term)
{
	return term == NULL ? scope_printf(s, "%s/feed", site->public_origin) : scope_printf(s, "%s/feed/%s", site->public_origin, term);
}

static enum status
find_term(struct scope *s, struct page_build *b, const char *uid, struct resource *out)
{
	enum status status = uuid_valid(str_of(uid)) ? store_resource_load_name(s, b->db, out, KIND_TAG, uid) : ERR_NOT_FOUND;

	if (status == ERR_NOT_FOUND && uuid_valid(str_of(uid)))
		status = store_resource_load_name(s, b->db, out, KIND_AUTHOR, uid);
	if (status != OK && status != ERR_NOT_FOUND)
		return status;
	s->error = NULL;
	if (status == OK && out->state == STATE_GONE)
		return fail(s, ERR_GONE, NULL, "the %s was deleted", kind_name(out->kind));
	if (status == ERR_NOT_FOUND || (status == OK && out->state != STATE_PUBLISHED))
		return fail(s, ERR_NOT_FOUND, NULL, "there is no such feed");
	view_depend(s, b->out, "resource:%" PRId64, out->id);
	view_depend(s, b->out, "%s:%" PRId64, kind_name(out->kind), out->id);
	return OK;
}

static enum status
add_entry(struct scope *s, struct page_build *b, int64_t id, size_t *room, struct feed_entry *e)
{
	/* Links note what they hang on, which "paths" covers: twenty texts name more resources than a view has room for. */
	struct view unused = { .status = 200 };
	struct page_build text = { .db = b->db, .site = b->site, .out = &unused, .head_only = true };
	struct rendered rendered;
	struct str content;
	struct resource r;

	TRY(store_resource_load(s, b->db, &r, id));
	TRY(view_about(s, &text, &r, &rendered, &content));
	*e = (struct feed_entry){ .id = permanent_id(s, &r), .title = r.live_title, .url = text.head.url, .summary = text.head.description,
		.image = text.head.image, .published_at = r.first_published_at, .changed_at = r.live_changed_at };
	if (b->site->feed_is_full && strlen(rendered.html) <= *room) {
		*room -= strlen(rendered.html);
		TRY(links_current(s, &text, str_of(rendered.html), &content));
		e->content_html = str_dup(s->arena, render_addresses(s, content, absolute, (void *)(uintptr_t)b->site));
	}
	return add_names(s, b, &r, e);
}

static enum status
add_names(struct scope *s, struct page_build *b, const struct resource *r, struct feed_entry *e)
{
	struct list_name names[TAGS_MAX], author = { .id = 0 };
	const char **tags = scope_alloc(s, TAGS_MAX * sizeof(*tags));
	size_t count;

	TRY(store_list_tags_of(s, b->db, names, &count, TAGS_MAX, r->id));
	for (size_t i = 0; i < count; i++)
		if (names[i].is_live)
			tags[e->tag_count++] = names[i].title;
	e->tags = tags;
	if (r->live_author != 0)
		TRY(store_list_name(s, b->db, &author, r->live_author));
	if (author.is_live) {
		e->author_name = author.title;
		e->author_url = view_url(s, b->site, author.path, 1);
	}
	return OK;
}

/* What came from another system keeps the id that its readers know, where that is an IRI as RFC 4287 4.2.6 asks. */
static const char *
permanent_id(struct scope *s, const struct resource *r)
{
	const char *url;

	if (r->guid != NULL && url_absolute(s, &url, str_of(r->guid), NULL) == OK && strcmp(url, r->guid) == 0)
		return r->guid;
	s->error = NULL;
	return scope_printf(s, "urn:uuid:%s", r->uid);
}

/* A reader knows no base. */
static const char *
absolute(struct scope *s, void *arg, struct str url)
{
	const struct site *site = arg;

	if (url.len == 0 || url.p[0] == '#' || str_find(url, ':') < str_find(url, '/'))
		return NULL;
	if (str_starts(url, "//"))
		return scope_printf(s, "https:%.*s", STR_FMT(url));
	return scope_printf(s, "%s%s%.*s", site->public_origin, url.p[0] == '/' ? "" : "/", STR_FMT(url));
}
