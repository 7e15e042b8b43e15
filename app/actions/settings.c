/* settings.c - the settings of the database, for commands. */
#include "actions/settings.h"
#include "core/robots.h"
#include "render/sitemap.h"
#include "store/lookup.h"
#include "store/sitemap.h"

static enum status	find_forbidden(struct scope *, struct db *, const struct site *, const struct sitemap_range *, struct str robots,
			    const char **url);
static bool		is_forbidden(struct scope *, const struct site *, struct str robots, const char *url);

enum status
settings_site(struct scope *s, struct db *db, const struct config *config, struct site *out)
{
	return site_load(s, db, config, out);
}

enum status
settings_rules(struct scope *s, struct db *db, struct site *site)
{
	struct rule_set *rules = scope_alloc(s, sizeof(*rules));

	TRY(store_rules_load(s, db, rules));
	site->rules = rules;
	return OK;
}

enum status
setting_change(struct scope *s, struct db *db, void *arg)
{
	struct setting_change *change = arg;

	return setting_put(s, db, change->key, change->value);
}

enum status
settings_read(struct scope *s, struct db *db, struct setting **out, size_t *count)
{
	return setting_list(s, db, out, count);
}

enum status
settings_robots_conflict(struct scope *s, struct db *db, const struct config *config, const char **url)
{
	struct sitemap_range *parts, home = { .has_home = true };
	const char *sitemap;
	struct site site;
	struct str robots;
	size_t count, i;

	*url = NULL;
	TRY(site_load(s, db, config, &site));
	if (site.noindex)	/* the sitemap is empty */
		return OK;
	robots = robots_txt(s, &site);
	sitemap = scope_printf(s, "%s/sitemap.xml", site.public_origin);
	if (is_forbidden(s, &site, robots, sitemap)) {
		*url = sitemap;
		return OK;
	}
	TRY(store_sitemap_parts(s, db, &parts, &count));
	if (count == 0) {
		parts = &home;
		count = 1;
	}
	for (i = 0; i < count && *url == NULL; i++)
		TRY(find_forbidden(s, db, &site, &parts[i], robots, url));
	return OK;
}

static enum status
find_forbidden(struct scope *s, struct db *db, const struct site *site, const struct sitemap_range *part, struct str robots,
    const char **url)
{
	struct scope *line = scope_new(s->log_id);
	struct arena_mark start = arena_mark(line->arena);
	struct db_rows *rows;
	enum status status;

	if ((status = store_sitemap_entries(s, db, &rows, part)) == OK) {
		while (*url == NULL && db_next(rows)) {
			const char *loc;

			arena_rewind(line->arena, start);
			loc = site_url(line, site, col_text(line, rows, 0));
			if (is_forbidden(line, site, robots, loc))
				*url = scope_printf(s, "%s", loc);
		}
		status = db_end(s, rows);
	}
	scope_free(line);
	return status;
}

static bool
is_forbidden(struct scope *s, const struct site *site, struct str robots, const char *url)
{
	return !robots_allow(s, robots, "*", str_of(url + strlen(site->public_origin)));
}
