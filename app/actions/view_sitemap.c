/* view_sitemap.c - sitemap.xml, its parts, and robots.txt. */
#include "actions/view_parts.h"
#include "render/sitemap.h"
#include "store/sitemap.h"

/* sitemaps.org: an address is shorter than 2,048 characters. One that is longer is left out, and so is one that escaping as XML
 * makes longer than twice that. A part has at most 10,001 entries (10,000 ids and home), each with at most 4,096 bytes of loc and 80
 * around it: 42 MB, below the limit of 50 MB whatever is stored. With ordinary addresses it is about 1.5 MB. An index of 50,000
 * parts stays below 20 MB. */
#define LOC_MAX 2047
#define LOC_ESCAPED_MAX 4096

static enum status	view_urlset(struct scope *, struct db *, const struct site *, const struct sitemap_range *, struct view *);
static void		view_index(struct scope *, const struct site *, struct sitemap_writer *, const struct sitemap_range *, size_t count,
			    struct view *);
static void		begin(struct scope *, struct view *, const char *type);
static bool		fits(const char *loc);

enum status
view_sitemap(struct scope *s, struct db *db, const struct site *site, const char *part, struct view *out)
{
	struct sitemap_range *parts, only = { .has_home = true };
	struct sitemap_writer *w;
	int64_t first, at;
	size_t count;

	begin(s, out, "application/xml; charset=utf-8");
	if (site->noindex)
		return fail(s, ERR_NOT_FOUND, NULL, "the site is closed to crawlers, so its sitemap is empty");
	TRY(store_settings_changed_at(s, db, &at));
	view_modified(out, at);
	if (part != NULL) {
		if (!parse_int64(str_of(part), &first) || first < 1 || part[0] == '0')
			return fail(s, ERR_NOT_FOUND, NULL, "the sitemap has no such part");
		TRY(store_sitemap_part(s, db, &only, first));
		return view_urlset(s, db, site, &only, out);
	}
	TRY(store_sitemap_parts(s, db, &parts, &count));
	view_depend(s, out, "sitemap");
	if (count <= 1)
		return view_urlset(s, db, site, count == 1 ? &parts[0] : &only, out);
	w = sitemap_begin(s, true);
	view_index(s, site, w, parts, count, out);
	return sitemap_end(s, w, &out->body);
}

enum status
view_robots(struct scope *s, struct db *db, const struct site *site, struct view *out)
{
	int64_t at;

	begin(s, out, "text/plain; charset=utf-8");
	TRY(store_settings_changed_at(s, db, &at));
	view_modified(out, at);
	out->body = robots_txt(s, site);
	return OK;
}

static void
begin(struct scope *s, struct view *out, const char *type)
{
	*out = (struct view){ .status = 200, .type = type, .is_cacheable = true };
	view_depend(s, out, "settings");
}

static void
view_index(struct scope *s, const struct site *site, struct sitemap_writer *w, const struct sitemap_range *parts, size_t count,
    struct view *out)
{
	for (size_t i = 0; i < count; i++) {
		view_depend(s, out, "sitemap:%" PRId64, parts[i].first_id);
		view_modified(out, parts[i].changed_at);
		sitemap_add(w, scope_printf(s, "%s/sitemap-%" PRId64 ".xml", site->public_origin, parts[i].first_id), parts[i].changed_at);
	}
}

static enum status
view_urlset(struct scope *s, struct db *db, const struct site *site, const struct sitemap_range *part, struct view *out)
{
	struct sitemap_writer *w = sitemap_begin(s, false);
	struct scope *line = scope_new(s->log_id);
	struct arena_mark start = arena_mark(line->arena);
	struct db_rows *rows;
	enum status status, ended;
	size_t entries = 0;

	view_depend(s, out, "sitemap:%" PRId64, part->first_id);
	if (part->has_home)	/* its lastmod is that of the newest article, wherever this stands */
		view_depend(s, out, "list:article");
	view_modified(out, part->changed_at);
	if ((status = store_sitemap_entries(s, db, &rows, part)) == OK) {
		while (db_next(rows)) {
			const char *loc;

			arena_rewind(line->arena, start);
			loc = site_url(line, site, col_text(line, rows, 0));
			if (fits(loc)) {
				sitemap_add(w, loc, col_int(rows, 1));
				view_modified(out, col_int(rows, 1));
				entries++;
			}
		}
		status = db_end(s, rows);
	}
	scope_free(line);
	ended = sitemap_end(s, w, &out->body);
	if (status == OK && entries == 0)
		return fail(s, ERR_NOT_FOUND, NULL, "this part of the sitemap is empty");
	return status != OK ? status : ended;
}

static bool
fits(const char *loc)
{
	size_t len = 0, escaped = 0;

	for (; loc[len] != '\0'; len++)
		escaped += loc[len] == '&' ? 5 : 1;
	return len <= LOC_MAX && escaped <= LOC_ESCAPED_MAX;
}
