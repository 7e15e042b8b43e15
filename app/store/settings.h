/* settings.h - the settings that live in the database. */
#ifndef STORE_SETTINGS_H
#define STORE_SETTINGS_H
#include "base/base.h"
#include "base/config.h"
#include "core/site.h"
#include "db/db.h"

/* Defaults, then what is stored, then the origins of the configuration. Texts live in the scope, the origins in `config`. */
enum status	 site_load(struct scope *, struct db *, const struct config *, struct site *out) MUST_USE;
/* Check and store one setting; touches "settings". ERR_INVALID names the key. */
enum status	 setting_put(struct scope *, struct db *, const char *key, const char *value) MUST_USE;
/* The stored ones by key, in the scope. */
struct setting { const char *key, *value; };
enum status	 setting_list(struct scope *, struct db *, struct setting **, size_t *count) MUST_USE;
#endif
