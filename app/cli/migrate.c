/* migrate.c - `stele migrate`: bring the database to the version of this program. */
#include "cli/cli.h"
#include "db/migrate.h"

static enum status	run_migrate(struct scope *, struct args *);

const struct command command_migrate = {
	.name = "migrate",
	.summary = "make a new site, or bring its database to the version of this program",
	.more = "Nothing else ever changes the schema. While the site is served, only changes that are\n"
		"marked as safe for that are applied; otherwise stop `stele serve` first.",
	.makes_data = true,
	.run = run_migrate,
};

static enum status
run_migrate(struct scope *s, struct args *a)
{
	struct config *c;
	struct migration_report report = { 0 };
	enum status status;
	int64_t holder;
	int lock = -1;

	TRY(config_load(s, &c, a->data));
	/* Held to the end, so that `serve` cannot start in the middle. */
	TRY(lock_take(s, c, &lock, &holder));
	status = migrate(s, config_path(s, c, "stele.db"), migrations_dir(s, c), lock == -1, &report);
	if (lock != -1)
		close(lock);
	TRY(status);
	if (report.applied == 0)
		printf("%s: schema version %" PRId64 ", nothing to do\n", a->data, report.to);
	else
		printf("%s: schema version %" PRId64 " -> %" PRId64 ", %d applied\n", a->data, report.from, report.to,
		    report.applied);
	return OK;
}
