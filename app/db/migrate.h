/* migrate.h - forward-only schema changes from numbered files. */
#ifndef DB_MIGRATE_H
#define DB_MIGRATE_H
#include "base/base.h"

struct migration_report { int64_t from, to; int applied; };
/* Apply every `dir`/NNNN_name.sql above the current version, each in one transaction with its row in schema_migration. An applied
 * file whose SHA-256 changed is ERR_CONFLICT; so is a gap or a database newer than the files. Creates the database if absent
 * (mode 0600). A file whose first line is "-- online" may be applied while the site is served; with `served` any other is ERR_CONFLICT. */
enum status	 migrate(struct scope *, const char *db_path, const char *dir, bool served, struct migration_report *) MUST_USE;
/* The newest version among the files. */
enum status	 migrate_newest(struct scope *, const char *dir, int64_t *out) MUST_USE;
#endif
