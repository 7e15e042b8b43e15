/* import_export.c - a WordPress export as an operation: the importer's own batches, each fenced by the operation's guard. */
#include "actions/import_request.h"

#include <sys/stat.h>

#include "actions/import.h"
#include "actions/input.h"
#include "actions/json.h"
#include "actions/operation.h"

#define NOTES 512		/* lines of the report that wait for the next write: more than two batches can leave */
#define PATH_MAX_CHARS 1000

struct run {
	struct operation_run *op;
	struct scope	*scope;			/* of the notes */
	struct import_note notes[NOTES];
	size_t		 note_count;
	bool		 is_dry_run;
	struct import_report report;
	int64_t		 created_before;	/* when this part of the work began */
};

static const char	*request_json(struct scope *, const char *path, const char *uploads, bool keep_permalinks, bool is_dry_run);
static enum status	below(struct scope *, const struct config *, const char *field, const char *name, bool is_folder, const char **absolute);
static enum status	options_of(struct scope *, const struct operation_run *, struct import_options *);
static enum status	import(struct scope *, struct run *, const struct import_options *);
static void		take_note(void *run, const struct import_note *);
static enum status	guard(struct scope *, struct db *, void *run, int64_t created);
static enum status	keep(struct scope *, void *run);
static enum status	write_notes(struct scope *, struct db *, struct operation_run *, void *run);
static enum status	write_end(struct scope *, struct db *, struct operation_run *, void *run);
static bool		result_of(const char *what, enum operation_result *);

enum status
import_upload_prepare(struct scope *s, const struct config *config, struct unit *u, struct str bytes, bool keep_permalinks, bool dry_run)
{
	struct operation_new *n = operation_prepare(s, u, OPERATION_IMPORT_EXPORT);

	if (bytes.len == 0)
		return fail(s, ERR_INVALID, "file", "is empty");
	n->input = request_json(s, NULL, NULL, keep_permalinks, dry_run);
	return operation_file_store(s, config, n, bytes);
}

enum status
import_path_prepare(struct scope *s, const struct config *config, struct unit *u, json_t *body, bool dry_run)
{
	static const char *const names[] = { "path", "uploads", "keep_permalinks", NULL };
	struct operation_new *n;
	const char *path, *uploads, *absolute;
	struct input in = input_of(s, body, "");
	bool keeps;

	s->error = NULL;
	input_known(&in, names);
	path = input_required(&in, "path", PATH_MAX_CHARS);
	uploads = input_text(&in, "uploads", PATH_MAX_CHARS, false);
	keeps = input_bool(&in, "keep_permalinks");
	if (in.status != OK)
		return in.status;
	TRY(below(s, config, "path", path, false, &absolute));
	if (uploads != NULL)
		TRY(below(s, config, "uploads", uploads, true, &absolute));
	n = operation_prepare(s, u, OPERATION_IMPORT_EXPORT);
	n->input = request_json(s, path, uploads, keeps, dry_run);
	return strlen(n->input) <= OPERATION_INPUT_MAX ? OK : fail(s, ERR_INVALID, "path", "is too long");
}

/* One piece, however long: the lease is renewed by each batch and between them. Taken up again it goes through the file from its beginning, and
 * what is there already is left as it is. */
enum status
import_export_step(struct scope *s, struct operation_run *op)
{
	struct run *run = scope_alloc(s, sizeof(*run));
	struct import_options options = { 0 };
	enum status status;

	*run = (struct run){ .op = op, .scope = scope_new(s->log_id), .created_before = op->op.tally[RESULT_CREATED] };
	status = options_of(s, op, &options);
	run->is_dry_run = options.is_dry_run;
	if (status == OK)
		status = import(s, run, &options);
	if (status == OK)
		status = operation_write(s, op, write_end, run);
	scope_free(run->scope);
	return status;
}

static const char *
request_json(struct scope *s, const char *path, const char *uploads, bool keep_permalinks, bool dry_run)
{
	struct buf b;

	buf_init(&b, s->arena);
	buf_printf(&b, "{\"keep_permalinks\":%s,\"dry_run\":%s,\"path\":", keep_permalinks ? "true" : "false", dry_run ? "true" : "false");
	json_put_text(&b, path);
	buf_text(&b, ",\"uploads\":");
	json_put_text(&b, uploads);
	buf_char(&b, '}');
	return b.p;
}

/* The name may lead through symbolic links, but where it ends lies in the folder. What lies elsewhere is not told from what is not there. */
static enum status
below(struct scope *s, const struct config *config, const char *field, const char *name, bool is_folder, const char **absolute)
{
	char *folder = NULL, *file = NULL;
	enum status status = OK;
	struct stat st;

	if (config->import_dir == NULL)
		return fail(s, ERR_INVALID, field, "files of the server are not read: the setting import_dir is empty");
	folder = realpath(config->import_dir, NULL);
	file = folder != NULL ? realpath(scope_printf(s, "%s/%s", folder, name), NULL) : NULL;
	if (file == NULL || !str_starts(str_of(file), scope_printf(s, "%s/", folder)) || stat(file, &st) == -1 ||
	    (is_folder ? !S_ISDIR(st.st_mode) : !S_ISREG(st.st_mode)))
		status = fail(s, ERR_INVALID, field, "there is no such %s in the folder for imports", is_folder ? "folder" : "file");
	else
		*absolute = arena_strdup(s->arena, file);
	free(file);
	free(folder);
	return status;
}

static enum status
options_of(struct scope *s, const struct operation_run *op, struct import_options *out)
{
	json_t *input = json_loads(op->op.input, 0, NULL);
	const char *path = json_string_value(json_object_get(input, "path")), *uploads = json_string_value(json_object_get(input, "uploads"));
	enum status status = OK;

	*out = (struct import_options){ .file = op->file, .media_dir = config_path(s, op->config, "media"),
		.is_dry_run = json_is_true(json_object_get(input, "dry_run")), .keep_permalinks = json_is_true(json_object_get(input, "keep_permalinks")) };
	if (path != NULL)
		status = below(s, op->config, "path", path, false, &out->file);
	if (status == OK && uploads != NULL)
		status = below(s, op->config, "uploads", uploads, true, &out->uploads_dir);
	json_decref(input);
	if (status == OK && out->file == NULL)
		status = fail(s, ERR_INTERNAL, NULL, "the file that was sent is not there");
	return status;
}

static enum status
import(struct scope *s, struct run *run, const struct import_options *options)
{
	struct import_watch watch = { .note = take_note, .keep = keep, .guard = options->is_dry_run ? NULL : guard, .arg = run };
	struct operation_run *op = run->op;
	struct import_trial trial;
	enum status status;

	if (!options->is_dry_run)
		return import_wxr(s, op->write, op->read, op->shared, op->site, &op->who, options, &watch, &run->report);
	status = import_trial_open(s, &trial, op->write, op->config->data_dir);
	if (status == OK)
		status = import_wxr(s, trial.write, trial.read, trial.shared, op->site, &op->who, options, &watch, &run->report);
	import_trial_close(s, &trial);
	return status;
}

/* Called when a batch is committed; the line goes with the next one. What went as it should is counted, not listed, unless nothing else is left
 * of it. */
static void
take_note(void *arg, const struct import_note *note)
{
	struct run *run = arg;
	enum operation_result result;

	if (!result_of(note->what, &result) || result == RESULT_EXISTING || (result == RESULT_CREATED && !run->is_dry_run))
		return;
	/* keep() empties the list long before it is full. */
	assert(run->note_count < NOTES);
	run->notes[run->note_count] = *note;
	run->notes[run->note_count++].reason = arena_strdup(run->scope->arena, note->reason != NULL ? note->reason : "");
}

static enum status
guard(struct scope *s, struct db *db, void *arg, int64_t created)
{
	struct run *run = arg;

	run->op->op.tally[RESULT_CREATED] += created;
	run->op->op.total = run->report.total;
	run->op->op.done = run->report.items;
	return operation_guard(s, db, run->op);
}

static enum status
keep(struct scope *s, void *arg)
{
	struct run *run = arg;

	if (run->note_count >= NOTES / 4) {
		struct scope *piece = scope_new(s->log_id);
		enum status status = operation_write(piece, run->op, write_notes, run);

		if (status != OK)
			(void)fail(s, status, NULL, "%s", piece->error != NULL && piece->error->detail != NULL ? piece->error->detail : "");
		scope_free(piece);
		TRY(status);
		scope_free(run->scope);
		run->scope = scope_new(s->log_id);
		run->note_count = 0;
	}
	return operation_keep(s, run->op);
}

static enum status
write_notes(struct scope *s, struct db *db, struct operation_run *op, void *arg)
{
	const struct run *run = arg;
	enum operation_result result;
	size_t i;

	op->op.total = run->report.total;
	op->op.done = run->report.items;
	for (i = 0; i < run->note_count; i++) {
		const struct import_note *n = &run->notes[i];
		const char *post = n->post_id > 0 ? scope_printf(s, "post:%" PRId64, n->post_id) : NULL;

		if (result_of(n->what, &result))
			TRY(operation_note(s, db, op, n->line, result, post, NULL, str_dup(s->arena, utf8_cut(str_of(n->reason), 1000))));
	}
	return OK;
}

static enum status
write_end(struct scope *s, struct db *db, struct operation_run *op, void *arg)
{
	const struct run *run = arg;
	const struct import_report *r = &run->report;

	TRY(write_notes(s, db, op, arg));
	op->op.done = op->op.total = r->total;
	/* What an earlier part of this work made is not said to have stood there before. Terms and authors that the export does not declare are made
	 * on the way, and not come across as unchanged. */
	op->op.tally[RESULT_EXISTING] = r->unchanged > run->created_before ? r->unchanged - run->created_before : 0;
	op->op.more = scope_printf(op->scope, "{\"posts\":%" PRId64 ",\"pages\":%" PRId64 ",\"attachments\":%" PRId64 ",\"authors\":%" PRId64
	    ",\"categories\":%" PRId64 ",\"tags\":%" PRId64 ",\"old_addresses\":%" PRId64 ",\"dropped_characters\":%" PRId64 ",\"dry_run\":%s}",
	    r->posts, r->pages, r->attachments, r->authors, r->categories, r->tags, r->redirects, r->dropped_characters,
	    run->is_dry_run ? "true" : "false");
	op->is_last = true;
	return OK;
}

static bool
result_of(const char *what, enum operation_result *out)
{
	static const struct { const char *what; enum operation_result result; } known[] = {
		{ "created", RESULT_CREATED }, { "updated", RESULT_UPDATED }, { "unchanged", RESULT_EXISTING }, { "skipped", RESULT_SKIPPED },
		{ "failed", RESULT_FAILED }, { "warning", RESULT_WARNING },
	};
	size_t i;

	for (i = 0; i < COUNT(known); i++)
		if (strcmp(known[i].what, what) == 0) {
			*out = known[i].result;
			return true;
		}
	return false;
}
