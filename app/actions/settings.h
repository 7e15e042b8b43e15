/* settings.h - reading and changing the settings that live in the database. */
#ifndef ACTIONS_SETTINGS_H
#define ACTIONS_SETTINGS_H
#include "base/base.h"
#include "db/db.h"
#include "store/settings.h"

/* The settings as one value: defaults, what is stored, and the origins of the configuration, which must outlive it. */
enum status	 settings_site(struct scope *, struct db *, const struct config *, struct site *out) MUST_USE;

/* The rules of the site, kept with it for whoever looks up many addresses. */
enum status	 settings_rules(struct scope *, struct db *, struct site *) MUST_USE;

/* For writer_run; the argument is a struct setting_change. ERR_INVALID names an unknown key or says what the value must be. Cached pages
 * made with the old value are void when this is committed. */
struct setting_change { const char *key, *value; };
enum status	 setting_change(struct scope *, struct db *, void *change) MUST_USE;

/* The first address of the sitemap, or that of the sitemap itself, that robots.txt with the stored settings keeps crawlers from;
 * NULL when there is none. */
enum status	 settings_robots_conflict(struct scope *, struct db *, const struct config *, const char **url) MUST_USE;

/* What is stored, in the order of the keys; what is not stored has its default. */
enum status	 settings_read(struct scope *, struct db *, struct setting **, size_t *count) MUST_USE;
#endif
