/* redirect_import.c - a CSV of redirects: read and sorted, checked as a whole, then applied in small batches. */
#include "actions/redirect_import.h"

#include "actions/json.h"
#include "actions/redirect_sort.h"
#include "base/hash.h"
#include "core/rule.h"
#include "render/csv.h"
#include "store/lookup.h"
#include "store/outbox.h"
#include "store/paths.h"

#define STAGE_ROWS 1000		/* of one transaction: some milliseconds */
#define APPLY_ROWS 250
#define CLEAR_ROWS 2000
#define CHECK_ROWS 500
#define SOURCE_MAX 1500
#define TARGET_MAX 2000
#define DETAIL_MAX 600

enum column { COLUMN_SOURCE, COLUMN_TARGET, COLUMN_STATUS, COLUMN_NOTE, COLUMN_COUNT };

/* Where each column stands; -1 = nowhere. */
struct columns { int at[COLUMN_COUNT]; };
struct stage_batch { const char *run; struct staged rows[STAGE_ROWS]; size_t count; };
enum plan { PLAN_NOTHING, PLAN_INSERT, PLAN_UPDATE };
struct apply_row { struct redirect redirect; enum plan plan; int64_t line; };
struct apply_batch { struct redirect_import *im; struct apply_row rows[APPLY_ROWS]; size_t count; };

static enum status	read_file(struct scope *, struct redirect_import *, struct csv *, struct sorter *);
static bool		read_header(const struct csv_row *, struct columns *);
static enum status	read_line(struct scope *, const struct site *, const struct csv_row *, const struct columns *, struct staged *);
static const char	*field(struct scope *, const struct csv_row *, const struct columns *, enum column);
static enum status	stage(struct scope *, struct redirect_import *, struct sorter *);
static bool		is_double(struct scope *, struct redirect_import *, const struct staged *before, const struct staged *);
static enum status	stage_write(struct scope *, struct db *, void *batch);
static enum status	check_row(struct scope *, struct redirect_import *, struct scope *keep, struct rule_set *, const struct staged *);
static enum status	check_rule(struct scope *, struct scope *keep, struct rule_set *, const struct redirect *);
static enum status	plan_batch(struct scope *, struct redirect_import *, struct apply_batch *);
static enum status	plan_row(struct scope *, struct redirect_import *, const struct redirect *, struct apply_row *);
static enum status	apply_write(struct scope *, struct db *, void *batch);
static enum status	apply_row(struct scope *, struct db *, struct redirect_import *, const struct apply_row *);
static enum status	clear_write(struct scope *, struct db *, void *clear);
static bool		is_fault_of_ours(enum status);

enum status
redirect_import_read(struct scope *s, struct redirect_import *im)
{
	struct sorter *sorter = sorter_new(im->folder);
	struct csv *csv = NULL;
	enum status status;

	im->lines = im->mistakes = 0;
	im->created = im->updated = im->existing = im->failed = 0;
	status = csv_open(s, &csv, im->file);
	if (status == OK)
		status = read_file(s, im, csv, sorter);
	csv_close(csv);
	/* With a mistake nothing will be applied, but what can be found out about the rest is said at once. */
	if (status == OK)
		status = stage(s, im, sorter);
	sorter_free(sorter);
	if (status == OK && im->note_count > 0)
		status = im->commit(s, im, NULL, NULL);
	return status;
}

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
			*s->error = (struct error){ status, NULL, scope_printf(s, "%s", piece->error->detail), NULL };
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
read_file(struct scope *s, struct redirect_import *im, struct csv *csv, struct sorter *sorter)
{
	struct columns columns = { { 0, 1, 2, 3 } };
	struct scope *line = scope_new(s->log_id);
	enum status status = OK;
	bool more = true, is_first = true;

	while (status == OK && more) {
		struct arena_mark mark = arena_mark(line->arena);
		struct csv_row row;
		struct staged r = { 0 };

		status = csv_next(line, csv, &row, &more);
		if (status != OK || !more)
			break;
		if (!is_first || row.mistake != NULL || !read_header(&row, &columns)) {
			im->lines++;
			status = read_line(line, im->site, &row, &columns, &r);
			if (status == OK)
				status = sorter_add(line, sorter, &r);
			if (status != OK && !is_fault_of_ours(status)) {
				im->mistakes++;
				redirect_import_note(s, im, row.line, RESULT_FAILED, row.mistake != NULL ? NULL : row.fields[0].p, "%s%s%s", line->error->field != NULL ? line->error->field : "",
				    line->error->field != NULL ? ": " : "", line->error->detail);
				status = OK;
			}
		}
		is_first = false;
		if (status == OK) {
			line->error = NULL;
			arena_rewind(line->arena, mark);
		}
	}
	if (status != OK)
		(void)fail(s, status, NULL, "%s", line->error->detail);
	scope_free(line);
	return status;
}

/* Is the row names of columns? Then *columns says where each stands. */
static bool
read_header(const struct csv_row *row, struct columns *columns)
{
	static const struct { const char *name; enum column column; } names[] = {
		{ "source", COLUMN_SOURCE }, { "source url", COLUMN_SOURCE }, { "source_url", COLUMN_SOURCE }, { "from", COLUMN_SOURCE },
		{ "old", COLUMN_SOURCE }, { "old url", COLUMN_SOURCE }, { "old_url", COLUMN_SOURCE }, { "redirect from", COLUMN_SOURCE },
		{ "path", COLUMN_SOURCE }, { "old path", COLUMN_SOURCE }, { "old_path", COLUMN_SOURCE },
		{ "target", COLUMN_TARGET }, { "target url", COLUMN_TARGET }, { "target_url", COLUMN_TARGET }, { "to", COLUMN_TARGET },
		{ "new", COLUMN_TARGET }, { "new url", COLUMN_TARGET }, { "new_url", COLUMN_TARGET }, { "redirect to", COLUMN_TARGET },
		{ "destination", COLUMN_TARGET }, { "location", COLUMN_TARGET }, { "new_path", COLUMN_TARGET }, { "new path", COLUMN_TARGET },
		{ "status", COLUMN_STATUS }, { "code", COLUMN_STATUS }, { "type", COLUMN_STATUS }, { "status code", COLUMN_STATUS },
		{ "status_code", COLUMN_STATUS }, { "http code", COLUMN_STATUS },
		{ "note", COLUMN_NOTE }, { "notes", COLUMN_NOTE }, { "comment", COLUMN_NOTE },
	};
	struct columns found = { { -1, -1, -1, -1 } };

	for (size_t i = 0; i < row->count; i++)
		for (size_t k = 0; k < COUNT(names); k++)
			if (str_is_nocase(row->fields[i], names[k].name) && found.at[names[k].column] < 0)
				found.at[names[k].column] = (int)i;
	if (found.at[COLUMN_SOURCE] < 0 || (found.at[COLUMN_TARGET] < 0 && found.at[COLUMN_STATUS] < 0))
		return false;
	*columns = found;
	return true;
}

static enum status
read_line(struct scope *s, const struct site *site, const struct csv_row *row, const struct columns *columns, struct staged *out)
{
	const char *source = field(s, row, columns, COLUMN_SOURCE), *target = field(s, row, columns, COLUMN_TARGET);
	const char *status_text = field(s, row, columns, COLUMN_STATUS), *note = field(s, row, columns, COLUMN_NOTE), *own;
	int64_t status = 301;
	struct redirect r;

	if (row->mistake != NULL)
		return fail(s, ERR_INVALID, NULL, "%s", row->mistake);
	if (source == NULL || strlen(source) > SOURCE_MAX)
		return fail(s, ERR_INVALID, "source", source == NULL ? "is empty" : "is longer than %d bytes", SOURCE_MAX);
	TRY(redirect_source(s, site, &r, str_of(source), "source"));
	if (status_text != NULL && (!parse_int64(str_of(status_text), &status) || !redirect_status_is_good(status)))
		return fail(s, ERR_INVALID, "status", "must be 301, 302, 307, 308, 410 or 451");
	if (note != NULL && (utf8_count(str_of(note)) > REDIRECT_NOTE_MAX || text_has_control(str_of(note), false)))
		return fail(s, ERR_INVALID, "note", "is longer than %d characters, or has a control character", REDIRECT_NOTE_MAX);
	*out = (struct staged){ .source = redirect_key(s, &r), .line = row->line, .fold = r.fold, .status = (int)status, .note = note };
	if (status >= 400) {
		if (target != NULL)
			return fail(s, ERR_INVALID, "target", "what is gone (%d) leads nowhere", (int)status);
		return r.source == SOURCE_QUERY ? fail(s, ERR_INVALID, "status", "an address with a query cannot be marked as gone") : OK;
	}
	if (target == NULL || strlen(target) > TARGET_MAX)
		return fail(s, ERR_INVALID, "target", target == NULL ? "is empty" : "is longer than %d bytes", TARGET_MAX);
	TRY(redirect_own_target(s, site, &own, str_of(target), "target"));
	if (own != NULL && strcmp(own, out->source) == 0)
		return fail(s, ERR_INVALID, "target", "is the source itself");
	out->target = own != NULL ? own : target;
	return OK;
}

/* NULL when it is not there or empty. */
static const char *
field(struct scope *s, const struct csv_row *row, const struct columns *columns, enum column column)
{
	int at = columns->at[column];
	struct str text;

	if (at < 0 || (size_t)at >= row->count)
		return NULL;
	text = str_trim(row->fields[at]);
	return text.len > 0 ? str_dup(s->arena, text) : NULL;
}

/* From the sorter into the table, in order, each source once. */
static enum status
stage(struct scope *s, struct redirect_import *im, struct sorter *sorter)
{
	struct staged row, before = { 0 };
	enum status status = OK;
	bool more = true;

	while (more && status == OK) {
		struct scope *piece = scope_new(s->log_id);
		struct stage_batch *batch = scope_alloc(piece, sizeof(*batch));

		batch->run = im->run;
		while (batch->count < STAGE_ROWS && (status = sorter_next(piece, sorter, &row, &more)) == OK && more) {
			if (before.source != NULL && is_double(s, im, &before, &row))
				continue;
			before = batch->rows[batch->count++] = (struct staged){ arena_strdup(piece->arena, row.source), row.line,
				row.fold == NULL ? NULL : arena_strdup(piece->arena, row.fold), row.target == NULL ? NULL : arena_strdup(piece->arena, row.target),
				row.status, row.note == NULL ? NULL : arena_strdup(piece->arena, row.note) };
		}
		if (status == OK && batch->count > 0)
			status = im->commit(piece, im, stage_write, batch);
		if (status != OK)
			(void)fail(s, status, NULL, "%s", piece->error->detail);
		/* The last row is compared with the first of the next batch. */
		if (before.source != NULL)
			before = (struct staged){ scope_printf(s, "%s", before.source), before.line, NULL,
				before.target == NULL ? NULL : scope_printf(s, "%s", before.target), before.status, NULL };
		scope_free(piece);
	}
	return status;
}

static bool
is_double(struct scope *s, struct redirect_import *im, const struct staged *before, const struct staged *row)
{
	bool same_target = before->target == row->target ||
	    (before->target != NULL && row->target != NULL && strcmp(before->target, row->target) == 0);

	if (strcmp(before->source, row->source) != 0)
		return false;
	if (same_target && before->status == row->status)
		redirect_import_note(s, im, row->line, RESULT_WARNING, row->source, "says the same as line %" PRId64, before->line);
	else {
		im->mistakes++;
		redirect_import_note(s, im, row->line, RESULT_FAILED, row->source, "source: line %" PRId64 " has it too, with another target",
		    before->line);
	}
	return true;
}

static enum status
stage_write(struct scope *s, struct db *db, void *arg)
{
	const struct stage_batch *batch = arg;

	for (size_t i = 0; i < batch->count; i++)
		TRY(store_stage_insert(s, db, batch->run, &batch->rows[i]));
	return OK;
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
	if (is_fault_of_ours(status))
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
		if (is_fault_of_ours(status))
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

static bool
is_fault_of_ours(enum status status)
{
	return status != OK && status_info(status)->http >= 500;
}
