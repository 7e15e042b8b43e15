/* flush.c - `stele flush`: forget every cached answer. */
#include "cli/cli.h"

static enum status	run_flush(struct scope *, struct args *);

const struct command command_flush = {
	.name = "flush",
	.summary = "make the running site forget every cached answer",
	.more = "For when the database was changed by another tool. Stele's own writes do this by themselves.",
	.run = run_flush,
};

static enum status
run_flush(struct scope *s, struct args *a)
{
	struct opened o;

	TRY(data_open(s, a, &o));
	shared_bump_all(o.shared);
	data_close(&o);
	puts("flushed");
	return OK;
}
