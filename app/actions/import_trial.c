/* import_trial.c - the copy of the database that a dry run writes to. */
#include "actions/import.h"

enum status
import_trial_open(struct scope *s, struct import_trial *t, struct db *db, const char *data_dir)
{
	char *folder = scope_printf(s, "%s/dry-run-XXXXXX", data_dir);
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
	static const char *const files[] = { "stele.db", "stele.db-wal", "stele.db-shm", "stele.db-journal" };
	size_t i;

	db_close(t->read);
	db_close(t->write);
	if (t->shared != NULL)
		shared_close(t->shared);
	if (t->folder == NULL)
		return;
	for (i = 0; i < COUNT(files); i++)
		(void)unlink(scope_printf(s, "%s/%s", t->folder, files[i]));
	(void)rmdir(t->folder);
}
