/* jobs.c - `stele jobs`: front door of the loop that works after the commit. */
#include "cli/cli.h"
#include "jobs/jobs.h"

static enum status	run_jobs(struct scope *, struct args *);

const struct command command_jobs = {
	.name = "jobs",
	.summary = "run what happens after the commit (started by `serve`)",
	.more = "Checkpoints, schedule, retention, and long work such as imports. Runs until SIGTERM or SIGINT.",
	.run = run_jobs,
};

static enum status
run_jobs(struct scope *s, struct args *a)
{
	struct opened o;
	enum status status;

	TRY(data_open(s, a, &o));
	status = jobs_run(s, o.config, o.db, o.shared);
	data_close(&o);
	return status;
}
