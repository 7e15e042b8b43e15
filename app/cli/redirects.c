/* redirects.c - `stele import redirects` and `stele export redirects`: the whole set as CSV, in and out. */
#include "cli/cli.h"

#include "actions/redirect_jobs.h"
#include "actions/settings.h"

#define EXPORT_ROWS 5000

static enum status	run_import(struct scope *, struct args *);
static enum status	run_export(struct scope *, struct args *);

static const struct option import_options[] = {
	{ "dry-run", NULL, "check the whole file and report; nothing changes", false },
	{ 0 },
};

const struct command command_import_redirects = {
	.name = "import redirects",
	.words = "FILE",
	.summary = "take in redirects from a CSV",
	.more = "Columns are source, target, status and note; a first row may name them. The whole file is checked before the first row is stored:\n"
		"while a line has a mistake nothing is. What stands already is left as it is, so a run that was cut short may be begun again.",
	.options = import_options,
	.run = run_import,
};
const struct command command_export_redirects = {
	.name = "export redirects",
	.summary = "write all redirects as CSV to standard output",
	.run = run_export,
};

static void
print_note(void *arg, const struct redirect_note *n)
{
	printf("line %" PRId64 ": %s%s%s: %s\n", n->line, operation_result_name(n->result), n->subject != NULL ? ": " : "",
	    n->subject != NULL ? n->subject : "", n->detail);
}

static enum status
run_import(struct scope *s, struct args *a)
{
	struct redirect_command c = { .file = a->words[0], .is_dry_run = args_option(a, "dry-run") != NULL, .note = print_note };
	struct redirect_import done = { 0 };
	struct opened o;
	struct site site;
	enum status status;

	TRY(data_open(s, a, &o));
	c.write = o.db;
	c.shared = o.shared;
	c.site = &site;
	c.folder = o.config->data_dir;
	status = db_open(s, &c.read, config_path(s, o.config, "stele.db"), DB_READ);
	if (status == OK)
		status = settings_site(s, c.read, o.config, &site);
	if (status == OK)
		status = redirect_import_file(s, &c, &done);
	if (status == OK)
		printf("%s: %" PRId64 " lines; %" PRId64 " created, %" PRId64 " changed, %" PRId64 " unchanged, %" PRId64 " failed\n",
		    c.is_dry_run ? "dry run, nothing was changed" : "imported", done.lines, done.created, done.updated, done.existing, done.failed);
	db_close(c.read);
	data_close(&o);
	return status;
}

static enum status
run_export(struct scope *s, struct args *a)
{
	const char *after = "";
	enum status status;
	struct opened o;
	struct db *read = NULL;
	bool more = true;

	TRY(data_open(s, a, &o));
	status = db_open(s, &read, config_path(s, o.config, "stele.db"), DB_READ);
	while (status == OK && more) {
		struct scope *piece = scope_new("export");
		struct buf csv;

		buf_init(&csv, piece->arena);
		status = redirect_export(piece, read, &csv, &after, EXPORT_ROWS, &more);
		after = scope_printf(s, "%s", after);
		if (status == OK && fwrite(csv.p, 1, csv.len, stdout) != csv.len)
			status = fail(s, ERR_STORAGE, NULL, "standard output: %s", strerror(errno));
		else if (status != OK)
			(void)fail(s, status, NULL, "%s", piece->error != NULL ? piece->error->detail : "");
		scope_free(piece);
	}
	db_close(read);
	data_close(&o);
	return status;
}
