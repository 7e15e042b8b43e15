/* import_trial.c - the copy of the database that a dry run writes to. */
#include "actions/import.h"

#include <dirent.h>
#include <sys/stat.h>

#define PREFIX "dry-run-"
#define KEPT_MS (24 * INT64_C(3600) * 1000)

static void	remove_copy(struct scope *, const char *folder);

enum status
import_trial_open(struct scope *s, struct import_trial *t, struct db *db, const char *data_dir)
{
	char *folder = scope_printf(s, "%s/" PREFIX "XXXXXX", data_dir);
	const char *file;

	*t = (struct import_trial){ 0 };
	if (mkdtemp(folder) == NULL)
		return fail(s, ERR_STORAGE, NULL, "%s cannot be made: %s", folder, strerror(errno));
	t->folder = folder;
	file = scope_printf(s, "%s/stele.db", folder);
	TRY(import_copy(s, db, file));
	TRY(db_open(s, &t->write, file, DB_WRITE));
	TRY(db_open(s, &t->read, file, DB_READ));
	return shared_open(s, &t->shared, folder, false);
}

void
import_trial_close(struct scope *s, struct import_trial *t)
{
	db_close(t->read);
	db_close(t->write);
	if (t->shared != NULL)
		shared_close(t->shared);
	if (t->folder != NULL)
		remove_copy(s, t->folder);
}

void
import_trials_sweep(struct scope *s, const char *data_dir)
{
	DIR *dir = opendir(data_dir);
	struct dirent *entry;
	struct stat st;

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		const char *folder = scope_printf(s, "%s/%s", data_dir, entry->d_name);

		if (str_starts(str_of(entry->d_name), PREFIX) && stat(scope_printf(s, "%s/stele.db", folder), &st) == 0 &&
		    (int64_t)st.st_mtime * 1000 < s->now - KEPT_MS)
			remove_copy(s, folder);
	}
	if (dir != NULL)
		closedir(dir);
}

static void
remove_copy(struct scope *s, const char *folder)
{
	static const char *const files[] = { "stele.db", "stele.db-wal", "stele.db-shm", "stele.db-journal" };
	size_t i;

	for (i = 0; i < COUNT(files); i++)
		(void)unlink(scope_printf(s, "%s/%s", folder, files[i]));
	(void)rmdir(folder);
}
