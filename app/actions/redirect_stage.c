/* redirect_stage.c - a CSV of redirects: read line by line, sorted, and staged each source once. */
#include "actions/redirect_import.h"

#include "actions/redirect_sort.h"
#include "render/csv.h"

#define STAGE_ROWS 1000		/* of one transaction: some milliseconds */
#define SOURCE_MAX 1500
#define TARGET_MAX 2000

enum column { COLUMN_SOURCE, COLUMN_TARGET, COLUMN_STATUS, COLUMN_NOTE, COLUMN_COUNT };

/* Where each column stands; -1 = nowhere. */
struct columns { int at[COLUMN_COUNT]; };
struct stage_batch { const char *run; struct staged rows[STAGE_ROWS]; size_t count; };

static enum status	read_file(struct scope *, struct redirect_import *, struct csv *, struct sorter *);
static bool		read_header(const struct csv_row *, struct columns *);
static enum status	read_line(struct scope *, const struct site *, const struct csv_row *, const struct columns *, struct staged *);
static const char	*field(struct scope *, const struct csv_row *, const struct columns *, enum column);
static enum status	stage(struct scope *, struct redirect_import *, struct sorter *);
static bool		is_double(struct scope *, struct redirect_import *, const struct staged *before, const struct staged *);
static enum status	stage_write(struct scope *, struct db *, void *batch);

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
			if (status != OK && !redirect_import_is_ours(status)) {
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
