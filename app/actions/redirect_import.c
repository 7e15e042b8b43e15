/* redirect_import.c - staged redirects: checked as a whole, then applied in small batches. */
#include "actions/redirect_import.h"

#include "actions/json.h"
#include "base/hash.h"
#include "core/rule.h"
#include "store/lookup.h"
#include "store/outbox.h"
#include "store/paths.h"

#define APPLY_ROWS 250
#define CLEAR_ROWS 500
#define CHECK_ROWS 500
#define DETAIL_MAX 600

enum plan { PLAN_NOTHING, PLAN_INSERT, PLAN_UPDATE };
struct apply_row { struct redirect redirect; enum plan plan; int64_t line; };
struct apply_batch { struct redirect_import *im; struct apply_row rows[APPLY_ROWS]; size_t count; };

static enum status	check_row(struct scope *, struct redirect_import *, struct scope *keep, struct rule_set *, const struct staged *);
static enum status	check_rule(struct scope *, struct scope *keep, struct rule_set *, const struct redirect *);
static enum status	plan_batch(struct scope *, struct redirect_import *, struct apply_batch *);
static enum status	plan_row(struct scope *, struct redirect_import *, const struct redirect *, struct apply_row *);
static enum status	apply_write(struct scope *, struct db *, void *batch);
static enum status	apply_row(struct scope *, struct db *, struct redirect_import *, const struct apply_row *);
static enum status	clear_write(struct scope *, struct db *, void *clear);

enum status
redirect_import_check(struct scope *s, struct redirect_import *im)
{
	struct rule_set rules;
	const char *at = "";
	size_t count;

	im->created = im->updated = im->existing = im->failed = 0;
	TRY(store_rules_load(s, im->read, &rules));
	do {
		struct scope *piece = scope_new(s->log_id);
		struct staged *rows = scope_alloc(piece, CHECK_ROWS * sizeof(*rows));
		enum status status = db_begin(piece, im->read);

		count = 0;
		if (status == OK)
			status = store_stage_after(piece, im->read, im->run, at, rows, CHECK_ROWS, &count);
		for (size_t i = 0; i < count && status == OK; i++)
			status = check_row(piece, im, s, &rules, &rows[i]);
		db_rollback(im->read);
		if (count > 0)
			at = scope_printf(s, "%s", rows[count - 1].source);
		if (status == OK)
			status = im->commit(piece, im, NULL, NULL);
		if (status != OK)
			s->error = piece->error == NULL ? NULL : scope_alloc(s, sizeof(*s->error));
		if (status != OK && s->error != NULL)
			*s->error = (struct error){ .status = status, .detail = scope_printf(s, "%s", piece->error->detail) };
		scope_free(piece);
		TRY(status);
	} while (count == CHECK_ROWS);
	return OK;
}

enum status
redirect_import_apply(struct scope *s, struct redirect_import *im)
{
	struct apply_batch *batch = scope_alloc(s, sizeof(*batch));
	enum status status;

	batch->im = im;
	TRY(db_begin(s, im->read));
	status = plan_batch(s, im, batch);
	db_rollback(im->read);
	return status == OK ? im->commit(s, im, apply_write, batch) : status;
}

enum status
redirect_import_clear(struct scope *s, struct redirect_import *im)
{
	struct { const char *run; int64_t removed; } clear = { im->run, 0 };

	do
		TRY(im->commit(s, im, clear_write, &clear));
	while (clear.removed == CLEAR_ROWS);
	return OK;
}

enum status
redirect_import_event(struct scope *s, struct db *db, const struct redirect_import *im)
{
	struct buf b;

	if (im->created + im->updated == 0)
		return OK;
	buf_init(&b, s->arena);
	buf_printf(&b, "{\"id\":\"%s\",\"created\":%" PRId64 ",\"changed\":%" PRId64 "}", im->run, im->created, im->updated);
	return store_outbox_event(s, db, "redirect", redirect_event_id(im->run), 1, "redirect.imported", buf_as_str(&b));
}

void
redirect_import_free(struct redirect_import *im)
{
	redirect_chains_free(im->chains);
	im->chains = NULL;
}

bool
redirect_import_is_ours(enum status status)
{
	return status != OK && status_info(status)->http >= 500;
}

void
redirect_import_note(struct scope *s, struct redirect_import *im, int64_t line, enum operation_result result, const char *subject,
    const char *fmt, ...)
{
	va_list ap;
	const char *detail;

	if (im->note_count == REDIRECT_NOTES_MAX)
		return;
	if (im->notes == NULL)
		im->notes = scope_alloc(s, REDIRECT_NOTES_MAX * sizeof(*im->notes));
	va_start(ap, fmt);
	detail = arena_vprintf(s->arena, fmt, ap);
	va_end(ap);
	im->notes[im->note_count++] = (struct redirect_note){ line, result,
		subject == NULL ? NULL : str_dup(s->arena, utf8_cut(str_of(subject), DETAIL_MAX)),
		str_dup(s->arena, utf8_cut(str_of(detail), DETAIL_MAX)) };
}

enum status
redirect_import_resolve(struct scope *s, struct redirect_import *im, const struct staged *row, struct redirect *out)
{
	const char *target;

	if (!redirect_key_parse(s, str_of(row->source), out))
		return fail(s, ERR_INTERNAL, NULL, "a staged source is no source");
	out->fold = row->fold;
	out->status = row->status;
	out->note = row->note;
	TRY(redirect_chain_end(s, im, row, &target));
	return target == NULL ? OK : redirect_target(s, im->read, im->site, out, str_of(target), "target");
}

static enum status
check_row(struct scope *s, struct redirect_import *im, struct scope *keep, struct rule_set *rules, const struct staged *row)
{
	struct apply_row planned = { .line = row->line };
	struct redirect wanted = { 0 };
	enum status status = redirect_import_resolve(s, im, row, &wanted);

	if (status == OK && wanted.source == SOURCE_RULE)
		status = check_rule(s, keep, rules, &wanted);
	if (status == OK)
		status = plan_row(s, im, &wanted, &planned);
	if (redirect_import_is_ours(status))
		return status;
	if (status != OK) {
		im->mistakes++;
		redirect_import_note(s, im, row->line, RESULT_FAILED, row->source, "%s%s%s", s->error->field != NULL ? s->error->field : "",
		    s->error->field != NULL ? ": " : "", s->error->detail);
		s->error = NULL;
	} else if (planned.plan == PLAN_INSERT)
		im->created++;
	else if (planned.plan == PLAN_UPDATE)
		im->updated++;
	else
		im->existing++;
	return OK;
}

/* `rules` is what will be live; rules come first of all rows. */
static enum status
check_rule(struct scope *s, struct scope *keep, struct rule_set *rules, const struct redirect *r)
{
	struct rule *list = (struct rule *)(uintptr_t)rules->rules;
	size_t i = 0;

	TRY(redirect_rule_agrees(s, rules, r));
	while (i < rules->count && strcmp(list[i].pattern, r->path) != 0)
		i++;
	if (i == RULES_MAX)
		return fail(s, ERR_INVALID, "source", "there are %d rules already, and no more are read", RULES_MAX);
	if (i == rules->count)
		rules->count++;
	list[i] = (struct rule){ scope_printf(keep, "%s", r->path), r->target == NULL ? NULL : scope_printf(keep, "%s", r->target),
		r->resource_id, r->status };
	return OK;
}

/* What the next rows ask for, worked out on the reader. A line that can no longer be had is reported and left out. */
static enum status
plan_batch(struct scope *s, struct redirect_import *im, struct apply_batch *batch)
{
	struct staged *rows = scope_alloc(s, APPLY_ROWS * sizeof(*rows));
	char uid[UUID_TEXT];
	size_t count;

	TRY(store_stage_after(s, im->read, im->run, im->at, rows, APPLY_ROWS, &count));
	for (size_t i = 0; i < count; i++) {
		struct apply_row *row = &batch->rows[batch->count];
		struct redirect wanted;
		enum status status = redirect_import_resolve(s, im, &rows[i], &wanted);

		*row = (struct apply_row){ .line = rows[i].line };
		if (status == OK)
			status = plan_row(s, im, &wanted, row);
		if (redirect_import_is_ours(status))
			return status;
		if (status != OK) {
			redirect_import_note(s, im, rows[i].line, RESULT_FAILED, wanted.path, "%s", s->error->detail);
			im->failed++;
			s->error = NULL;
		} else if (row->plan == PLAN_NOTHING)
			im->existing++;
		else {
			uuid7(uid, s->now);
			row->redirect.uid = row->redirect.uid != NULL ? row->redirect.uid : arena_strdup(s->arena, uid);
			row->redirect.created_at = row->redirect.changed_at = s->now;
			batch->count++;
		}
	}
	if (count > 0)
		im->at = rows[count - 1].source;
	im->is_at_end = count < APPLY_ROWS;
	im->done += (int64_t)count;
	return OK;
}

/* What is to be done about the row that `wanted` asks for, as things stand. */
static enum status
plan_row(struct scope *s, struct redirect_import *im, const struct redirect *wanted, struct apply_row *out)
{
	struct redirect live = *wanted;
	bool found, taken = false;

	out->redirect = *wanted;
	out->plan = PLAN_INSERT;
	TRY(store_redirect_find(s, im->read, &live, &found));
	if (!found) {
		if (wanted->source == SOURCE_PATH)
			TRY(store_path_is_taken(s, im->read, wanted->path, wanted->fold, &taken));
		return taken ? redirect_refuse_source(s, im->read, wanted) : OK;
	}
	if (redirect_is_same(wanted, &live)) {
		out->plan = PLAN_NOTHING;
		return OK;
	}
	TRY(redirect_keeps_public(s, &live, wanted));
	out->plan = PLAN_UPDATE;
	out->redirect.uid = live.uid;
	out->redirect.version = live.version;
	return OK;
}

static enum status
apply_write(struct scope *s, struct db *db, void *arg)
{
	struct apply_batch *batch = arg;
	bool has_rules = false;

	for (size_t i = 0; i < batch->count; i++) {
		TRY(apply_row(s, db, batch->im, &batch->rows[i]));
		has_rules = has_rules || batch->rows[i].redirect.source == SOURCE_RULE;
	}
	if (batch->count > 0)
		db_touch(db, "paths");
	if (has_rules)
		db_touch(db, "rules");
	return OK;
}

/* Decided again by constraint: whoever came in between keeps what they have, and the line is reported. */
static enum status
apply_row(struct scope *s, struct db *db, struct redirect_import *im, const struct apply_row *row)
{
	const struct redirect *r = &row->redirect;
	bool done;

	if (row->plan == PLAN_UPDATE)
		TRY(store_redirect_update(s, db, r, &done));
	else
		TRY(store_redirect_insert(s, db, r, &done));
	if (!done) {
		im->failed++;
		redirect_import_note(s, im, row->line, RESULT_FAILED, r->path, "was changed by somebody else meanwhile");
	} else if (row->plan == PLAN_UPDATE)
		im->updated++;
	else {
		im->created++;
		if (r->source == SOURCE_PATH)
			TRY(store_not_found_forget(s, db, r->path));
	}
	return OK;
}

static enum status
clear_write(struct scope *s, struct db *db, void *arg)
{
	struct { const char *run; int64_t removed; } *clear = arg;

	return store_stage_clear(s, db, clear->run, CLEAR_ROWS, &clear->removed);
}
