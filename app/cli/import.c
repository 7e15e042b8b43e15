/* import.c - `stele import wxr`: a WordPress export becomes a site, and the report says what became of each item. */
#include "cli/cli.h"

#include <sys/stat.h>

#include "actions/import.h"
#include "actions/settings.h"
#include "actions/users.h"
#include "base/clock.h"

static enum status	run_import_wxr(struct scope *, struct args *);

static const struct option wxr_options[] = {
	{ "dry-run", NULL, "import into a copy of the database and report; nothing here changes", false },
	{ "keep-permalinks", NULL, "old permalinks become the paths; otherwise they become 301s to new ones", false },
	{ "uploads", "DIR", "folder that holds the files of wp-content/uploads", false },
	{ "user", "NAME", "who imports (default: the first admin)", false },
	{ 0 },
};

const struct command command_import_wxr = {
	.name = "import wxr",
	.words = "FILE",
	.summary = "take in a WordPress export (WXR)",
	.more = "Run it again after an interruption: what is there already is left as it is. The report goes to standard output, one line an\n"
		"item that needs a word; progress goes to standard error.",
	.options = wxr_options,
	.run = run_import_wxr,
};

/* Items that went as they should are counted, not listed, unless this is a dry run. */
struct report_arg { bool is_dry_run, shows_progress; };

static void
print_note(void *arg, const struct import_note *note)
{
	const struct report_arg *r = arg;

	if (!r->is_dry_run && (strcmp(note->what, "created") == 0 || strcmp(note->what, "unchanged") == 0))
		return;
	printf("line %d", note->line);
	if (note->post_id > 0)
		printf(", post %" PRId64, note->post_id);
	printf(": %s: %s\n", note->what, note->reason != NULL ? note->reason : "");
}

static void
print_progress(void *arg, const struct import_report *report, int64_t done, int64_t total)
{
	const struct report_arg *r = arg;
	int percent = total > 0 ? (int)(done * 100 / total) : 100;

	if (r->shows_progress)
		fprintf(stderr, "\r%3d %% read, %" PRId64 " created, %" PRId64 " unchanged, %" PRId64 " skipped, %" PRId64 " failed ", percent,
		    report->created, report->unchanged, report->skipped, report->failed);
	fflush(stderr);
}

static void
print_report(const struct import_report *r, bool is_dry_run)
{
	printf("%s: %" PRId64 " items; %" PRId64 " created, %" PRId64 " unchanged, %" PRId64 " skipped, %" PRId64 " failed, %" PRId64 " warnings\n",
	    is_dry_run ? "dry run, nothing was changed" : "imported", r->items, r->created, r->unchanged, r->skipped, r->failed, r->warnings);
	printf("read: %" PRId64 " posts, %" PRId64 " pages, %" PRId64 " attachments, %" PRId64 " authors, %" PRId64 " categories, %" PRId64 " tags\n",
	    r->posts, r->pages, r->attachments, r->authors, r->categories, r->tags);
	printf("old addresses: %" PRId64 "; forbidden characters dropped: %" PRId64 "\n", r->redirects, r->dropped_characters);
}

static enum status
import_with(struct scope *s, const struct args *a, const struct opened *o, const struct import_trial *h, const struct import_options *options)
{
	struct report_arg shown = { options->is_dry_run, isatty(STDERR_FILENO) == 1 };
	struct import_watch watch = { .note = print_note, .progress = print_progress, .arg = &shown };
	const char *user = args_option(a, "user");
	struct import_report report;
	struct principal who;
	struct site site;
	enum status status;

	TRY(settings_site(s, h->read, o->config, &site));
	if (user == NULL)
		TRY(import_default_user(s, h->read, &user));
	TRY(user_by_name(s, h->read, user, &who));
	status = import_wxr(s, h->write, h->read, h->shared, &site, &who, options, &watch, &report);
	if (shown.shows_progress)
		fputc('\n', stderr);
	if (status == OK || report.created > 0)
		print_report(&report, options->is_dry_run);
	return status;
}

static enum status
run_import_wxr(struct scope *s, struct args *a)
{
	struct import_options options = { .file = a->words[0], .uploads_dir = args_option(a, "uploads"),
		.is_dry_run = args_option(a, "dry-run") != NULL, .keep_permalinks = args_option(a, "keep-permalinks") != NULL };
	struct import_trial h;
	struct opened o;
	struct stat st;
	enum status status;

	if (options.uploads_dir != NULL && (stat(options.uploads_dir, &st) != 0 || !S_ISDIR(st.st_mode)))
		return fail(s, ERR_NOT_FOUND, "--uploads", "%s is not a folder that can be read", options.uploads_dir);
	TRY(data_open(s, a, &o));
	options.media_dir = config_path(s, o.config, "media");
	h = (struct import_trial){ .write = o.db, .shared = o.shared };
	status = options.is_dry_run ? import_trial_open(s, &h, o.db, o.config->data_dir) :
				      db_open(s, &h.read, config_path(s, o.config, "stele.db"), DB_READ);
	if (status == OK)
		status = import_with(s, a, &o, &h, &options);
	if (options.is_dry_run)
		import_trial_close(s, &h);
	else
		db_close(h.read);
	data_close(&o);
	return status;
}
