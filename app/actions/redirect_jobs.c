/* redirect_jobs.c - importing redirects as long work and by a command. */
#include "actions/redirect_jobs.h"

#include <jansson.h>

#include "actions/operation.h"
#include "db/writer.h"

#define CHECKPOINT_COMMITS 200		/* of a command: nobody else may be there to move the log */

typedef enum status apply_fn(struct scope *, struct db *, void *);

struct job_commit { struct redirect_import *im; apply_fn *apply; void *arg; };
struct command { const struct redirect_command *asked; int64_t commits; };

static enum status	job_commit(struct scope *, struct redirect_import *, apply_fn *, void *arg);
static enum status	job_apply(struct scope *, struct db *, struct operation_run *, void *arg);
static enum status	run_piece(struct scope *, struct operation_run *, struct redirect_import *);
static enum status	finish(struct scope *, struct db *, void *import);
static enum status	refuse(struct scope *, struct redirect_import *);
static enum status	command_commit(struct scope *, struct redirect_import *, apply_fn *, void *arg);
static enum status	run_command(struct scope *, struct redirect_import *);

enum status
redirect_import_prepare(struct scope *s, const struct config *config, struct unit *u, struct str csv, bool is_dry_run)
{
	struct operation_new *n;

	TRY(permission_require(s, &u->who, ACTION_MANAGE_REDIRECTS, 0));
	if (csv.len == 0)
		return fail(s, ERR_INVALID, NULL, "the file is empty");
	n = operation_prepare(s, u, OPERATION_REDIRECTS);
	n->input = is_dry_run ? "{\"dry_run\":true}" : "{\"dry_run\":false}";
	return operation_file_store(s, config, n, csv);
}

/* One of the pieces; op.position says which: "" read, "check", "apply" and the source behind which to go on, "end". */
enum status
redirect_import_step(struct scope *s, struct operation_run *run)
{
	json_t *input = json_loads(run->op.input, 0, NULL);
	struct redirect_import im = { .write = run->write, .read = run->read, .shared = run->shared, .site = run->site, .file = run->file,
		.folder = run->config->data_dir, .run = run->op.id, .is_dry_run = json_is_true(json_object_get(input, "dry_run")),
		.commit = job_commit, .arg = run, .done = run->op.done, .lines = run->op.total };
	enum status status;

	json_decref(input);
	TRY(permission_require(s, &run->who, ACTION_MANAGE_REDIRECTS, 0));
	if (im.file == NULL)
		return fail(s, ERR_INTERNAL, NULL, "what was sent cannot be read again");
	status = run_piece(s, run, &im);
	redirect_import_free(&im);
	return status;
}

enum status
redirect_import_file(struct scope *s, const struct redirect_command *asked, struct redirect_import *im)
{
	struct command c = { .asked = asked };
	char run[UUID_TEXT];
	struct scope *last;
	enum status status;

	uuid7(run, s->now);
	*im = (struct redirect_import){ .write = asked->write, .read = asked->read, .shared = asked->shared, .site = asked->site, .file = asked->file,
		.folder = asked->folder, .run = arena_strdup(s->arena, run), .is_dry_run = asked->is_dry_run, .commit = command_commit, .arg = &c };
	status = run_command(s, im);
	/* Whatever happened, nobody will ask for this run again; what cannot be cleared now is by its age. */
	/* A piece that failed took its notes along. */
	im->notes = NULL;
	im->note_count = 0;
	last = scope_new(s->log_id);
	(void)!redirect_import_clear(last, im);
	scope_free(last);
	redirect_import_free(im);
	im->arg = NULL;
	return status;
}

static enum status
run_piece(struct scope *s, struct operation_run *run, struct redirect_import *im)
{
	struct operation *op = &run->op;

	if (op->position[0] == '\0') {
		TRY(redirect_import_clear(s, im));
		TRY(redirect_import_read(s, im));
		op->total = im->lines;
		op->position = "check";
		return im->mistakes > 0 ? refuse(s, im) : im->commit(s, im, NULL, NULL);
	}
	if (strcmp(op->position, "check") == 0) {
		TRY(redirect_import_check(s, im));
		if (im->mistakes > 0)
			return refuse(s, im);
		op->position = im->is_dry_run ? "end" : "apply";
		if (!im->is_dry_run)
			im->created = im->updated = im->existing = 0;
		return im->commit(s, im, NULL, NULL);
	}
	im->created = op->tally[RESULT_CREATED];
	im->updated = op->tally[RESULT_UPDATED];
	im->existing = op->tally[RESULT_EXISTING];
	if (str_starts(str_of(op->position), "apply")) {
		im->at = op->position + strlen("apply");
		return redirect_import_apply(s, im);
	}
	TRY(redirect_import_clear(s, im));
	run->is_last = true;
	return im->commit(s, im, im->is_dry_run ? NULL : finish, im);
}

static enum status
finish(struct scope *s, struct db *db, void *import)
{
	return redirect_import_event(s, db, import);
}

static enum status
refuse(struct scope *s, struct redirect_import *im)
{
	TRY(redirect_import_clear(s, im));
	return fail(s, ERR_INVALID, NULL, "%" PRId64 " of %" PRId64 " lines cannot be imported; nothing was changed. The report names them", im->mistakes,
	    im->lines);
}

static enum status
job_commit(struct scope *s, struct redirect_import *im, apply_fn *apply, void *arg)
{
	struct job_commit c = { im, apply, arg };

	TRY(operation_write(s, im->arg, job_apply, &c));
	im->notes = NULL;
	im->note_count = 0;
	return OK;
}

static enum status
job_apply(struct scope *s, struct db *db, struct operation_run *run, void *arg)
{
	struct job_commit *c = arg;
	struct redirect_import *im = c->im;

	if (c->apply != NULL)
		TRY(c->apply(s, db, c->arg));
	for (size_t i = 0; i < im->note_count; i++) {
		const struct redirect_note *n = &im->notes[i];

		TRY(operation_note(s, db, run, n->line, n->result, n->subject, NULL, n->detail));
	}
	if (im->at != NULL)
		run->op.position = im->is_at_end ? "end" : scope_printf(run->scope, "apply%s", im->at);
	run->op.done = im->done;
	run->op.tally[RESULT_CREATED] = im->created;
	run->op.tally[RESULT_UPDATED] = im->updated;
	run->op.tally[RESULT_EXISTING] = im->existing;
	return OK;
}

static enum status
run_command(struct scope *s, struct redirect_import *im)
{
	TRY(redirect_import_read(s, im));
	if (im->mistakes == 0)
		TRY(redirect_import_check(s, im));
	if (im->mistakes > 0)
		return refuse(s, im);
	if (im->is_dry_run)
		return OK;
	im->created = im->updated = im->existing = 0;
	for (im->at = ""; !im->is_at_end;) {
		struct scope *piece = scope_new(s->log_id);
		enum status status = redirect_import_apply(piece, im);

		im->at = scope_printf(s, "%s", im->at);
		if (status != OK)
			(void)fail(s, status, NULL, "%s", piece->error != NULL ? piece->error->detail : "");
		scope_free(piece);
		TRY(status);
	}
	return im->commit(s, im, finish, im);
}

static enum status
command_commit(struct scope *s, struct redirect_import *im, apply_fn *apply, void *arg)
{
	struct command *c = im->arg;
	int64_t bytes;

	if (apply != NULL)
		TRY(writer_run(s, im->write, im->shared, apply, arg));
	for (size_t i = 0; i < im->note_count && c->asked->note != NULL; i++)
		c->asked->note(c->asked->arg, &im->notes[i]);
	im->notes = NULL;
	im->note_count = 0;
	return apply != NULL && ++c->commits % CHECKPOINT_COMMITS == 0 ? db_checkpoint(s, im->write, false, &bytes) : OK;
}
