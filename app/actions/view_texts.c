/* view_texts.c - llms.txt and security.txt. */
#include "actions/view_parts.h"
#include "base/clock.h"
#include "store/feeds.h"
#include "store/resources.h"

#define ENTRIES 100

static enum status	add_entry(struct scope *, struct page_build *, int64_t id, struct buf *);
static void		add_line(struct buf *, const char *name, const char *url, const char *note);
static void		add_plain(struct buf *, const char *text);

enum status
view_llms(struct scope *s, struct db *db, const struct site *site, struct view *out)
{
	struct page_build b = { .db = db, .site = site, .out = out };
	int64_t ids[ENTRIES], at;
	size_t count;
	struct buf text;

	*out = (struct view){ .status = 200, .type = "text/markdown; charset=utf-8", .is_cacheable = true };
	if (site->noindex)
		return fail(s, ERR_NOT_FOUND, NULL, "the site is closed to crawlers");
	view_depend(s, out, "settings");
	view_depend(s, out, "list:article");
	TRY(store_list_changed_at(s, db, &at));
	view_modified(out, at);
	TRY(store_settings_changed_at(s, db, &at));
	view_modified(out, at);
	out->modified_at = out->modified_at > s->now ? s->now : out->modified_at;
	TRY(store_feed(s, db, NULL, ids, ENTRIES, &count));
	buf_init(&text, s->arena);
	buf_text(&text, "# ");
	add_plain(&text, site->title);
	if (site->description[0] != '\0') {
		buf_text(&text, "\n\n> ");
		add_plain(&text, site->description);
	}
	buf_text(&text, count > 0 ? "\n\n## Articles\n\n" : "\n\n");
	for (size_t i = 0; i < count; i++)
		TRY(add_entry(s, &b, ids[i], &text));
	buf_text(&text, "\n## Optional\n\n");
	add_line(&text, "All articles", view_url(s, site, "/articles", 1), NULL);
	add_line(&text, "Tags", view_url(s, site, "/tags", 1), NULL);
	add_line(&text, "Feed", scope_printf(s, "%s.json", view_feed_url(s, site, NULL)), "JSON Feed with the texts");
	add_line(&text, "Sitemap", scope_printf(s, "%s/sitemap.xml", site->public_origin), NULL);
	out->body = buf_as_str(&text);
	return OK;
}

enum status
view_security(struct scope *s, const struct site *site, struct view *out)
{
	struct clock_date until = clock_split(s->now);
	char text[CLOCK_TEXT];

	/* Not kept: it would go on saying when it expires. */
	*out = (struct view){ .status = 200, .type = "text/plain; charset=utf-8" };
	if (site->security_contact[0] == '\0')
		return fail(s, ERR_NOT_FOUND, NULL, "the setting security_contact is empty");
	/* RFC 9116 2.5.5 advises less than a year. */
	until = (struct clock_date){ .year = until.month == 1 ? until.year : until.year + 1, .month = until.month == 1 ? 12 : until.month - 1, .day = 1 };
	out->body = str_of(scope_printf(s, "Contact: %s\nExpires: %s\nPreferred-Languages: %s\nCanonical: %s/.well-known/security.txt\n", site->security_contact,
	    clock_rfc3339_seconds(text, clock_join(&until)), site->locale, site->public_origin));
	return OK;
}

static enum status
add_entry(struct scope *s, struct page_build *b, int64_t id, struct buf *text)
{
	struct resource r;

	TRY(store_resource_load(s, b->db, &r, id));
	add_line(text, r.live_title, view_url(s, b->site, r.path, 1), r.live_summary);
	return OK;
}

static void
add_line(struct buf *text, const char *name, const char *url, const char *note)
{
	buf_text(text, "- [");
	add_plain(text, name);
	buf_printf(text, "](%s)", url);
	if (note != NULL && *note != '\0') {
		buf_text(text, ": ");
		add_plain(text, note);
	}
	buf_char(text, '\n');
}

/* One line without Markdown of its own. */
static void
add_plain(struct buf *out, const char *text)
{
	for (; *text != '\0'; text++) {
		if (strchr("\\`*_[]<>#", *text) != NULL)
			buf_char(out, '\\');
		buf_char(out, (unsigned char)*text < ' ' ? ' ' : *text);
	}
}
