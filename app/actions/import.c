/* import.c - the passes over an export: check it, then authors, terms, posts and pages, parents before children. */
#include "actions/import.h"

#include "actions/import_run.h"
#include "base/clock.h"
#include "core/url.h"
#include "db/writer.h"
#include "store/imports.h"

#define PROGRESS_MS 500
#define CHECKPOINT_FLUSHES 32	/* some megabytes */

static void
note_give(struct import_run *run, const struct import_note *note)
{
	struct import_report *r = run->report;

	if (strcmp(note->what, "created") == 0)
		r->created++;
	else if (strcmp(note->what, "updated") == 0)
		r->updated++;
	else if (strcmp(note->what, "unchanged") == 0)
		r->unchanged++;
	else if (strcmp(note->what, "skipped") == 0)
		r->skipped++;
	else if (strcmp(note->what, "failed") == 0)
		r->failed++;
	else
		r->warnings++;
	if (run->watch != NULL && run->watch->note != NULL)
		run->watch->note(run->watch->arg, note);
}

void
import_note(struct import_run *run, int line, int64_t post_id, const char *what, const char *fmt, ...)
{
	struct import_note note = { line, post_id, what, NULL };
	struct arena_mark mark = arena_mark(run->scope->arena);
	va_list ap;

	va_start(ap, fmt);
	note.reason = arena_vprintf(run->scope->arena, fmt, ap);
	va_end(ap);
	note_give(run, &note);
	arena_rewind(run->scope->arena, mark);
}

void
import_warn(struct import_run *run, struct import_thing *t, const char *fmt, ...)
{
	va_list ap;

	if (t->note_count == IMPORT_NOTES) {
		run->report->warnings++;
		return;
	}
	va_start(ap, fmt);
	t->notes[t->note_count++] = (struct import_note){ t->line, t->post_id, "warning", arena_vprintf(run->batch_scope->arena, fmt, ap) };
	va_end(ap);
}

/* The old addresses of one thing that stands now. */
static enum status
write_aliases(struct scope *s, struct db *db, struct import_run *run, struct import_thing *t)
{
	const struct resource *r = &t->draft.resource;
	const char *note = r->kind == KIND_TAG ? "category" : "wordpress";
	int64_t holder;
	size_t i;

	t->redirects = 0;
	for (i = 0; i < t->alias_count; i++) {
		const struct import_alias *a = &t->aliases[i];

		if (a->pairs != NULL)
			TRY(store_import_query(s, db, &holder, a->path, a->pairs, r->id, note));
		else
			TRY(store_import_alias(s, db, &holder, a->path, a->fold, r->id, r->state == STATE_PUBLISHED, note));
		t->redirects += holder == r->id;
		if (holder != r->id)
			import_warn(run, t, "the old address %.200s%s%s leads to something else already", a->path, a->pairs != NULL ? "?" : "",
			    a->pairs != NULL ? a->pairs : "");
	}
	if (t->alias_count > 0)
		db_touch(db, "paths");
	return OK;
}

/* The path wanted may be taken or reserved; then the thing gets one of its own and the report says so. */
static enum status
write_thing(struct scope *s, struct db *db, struct import_run *run, struct import_thing *t)
{
	struct resource_draft wanted = t->draft;
	size_t notes = t->note_count;
	enum status status;

	TRY(db_savepoint(s, db));
	status = resource_insert(s, db, run->site, run->who, &t->draft);
	if (status != OK && wanted.path != NULL && status_info(status)->http < 500) {
		db_undo(db);
		t->draft = wanted;
		t->draft.path = NULL;
		import_warn(run, t, "the permalink %.200s could not be kept: %s", wanted.path,
		    s->error != NULL && s->error->detail != NULL ? s->error->detail : status_info(status)->title);
		s->error = NULL;
		TRY(db_savepoint(s, db));
		status = resource_insert(s, db, run->site, run->who, &t->draft);
	}
	if (status == OK)
		status = write_aliases(s, db, run, t);
	if (status == OK)
		return db_release(s, db);
	db_undo(db);
	t->draft = wanted;
	t->note_count = notes;
	return status;
}

enum status
import_guard(struct import_run *run, struct scope *s, struct db *db, int64_t created)
{
	const struct import_watch *w = run->watch;

	return w != NULL && w->guard != NULL ? w->guard(s, db, w->arg, created) : OK;
}

static enum status
keep(struct import_run *run)
{
	const struct import_watch *w = run->watch;

	return w != NULL && w->keep != NULL ? w->keep(run->scope, w->arg) : OK;
}

struct batch_write { struct import_run *run; struct import_thing **things; size_t count; };

static enum status
write_batch(struct scope *s, struct db *db, void *arg)
{
	struct batch_write *w = arg;
	int64_t created = 0;
	size_t i;

	for (i = 0; i < w->count; i++) {
		struct import_thing *t = w->things[i];

		s->error = NULL;
		t->result = write_thing(s, db, w->run, t);
		t->reason = s->error != NULL ? s->error->detail : t->draft.resource.path;
		if (t->result != OK && status_info(t->result)->http >= 500)
			return t->result;
	}
	s->error = NULL;
	for (i = 0; i < w->count; i++)
		created += w->things[i]->result == OK && !w->things[i]->draft.existed;
	return import_guard(w->run, s, db, created);
}

static void
thing_told(struct import_run *run, const struct import_thing *t)
{
	const struct resource *r = &t->draft.resource;
	size_t i;

	if (t->result != OK) {
		import_note(run, t->line, t->post_id, "failed", "%s", t->reason != NULL ? t->reason : status_info(t->result)->title);
		return;
	}
	for (i = 0; i < t->note_count; i++)
		note_give(run, &t->notes[i]);
	if (t->draft.existed) {
		import_note(run, t->line, t->post_id, "unchanged", "stands twice in the export");
		return;
	}
	import_note(run, t->line, t->post_id, "created", "%s %s%s", kind_name(r->kind), r->path, r->state == STATE_PUBLISHED ? "" : " (draft)");
	run->report->redirects += t->redirects;
	run->written++;
}

static enum status	checkpoint(struct import_run *);

static enum status
batch_flush(struct import_run *run)
{
	struct batch_write w = { run, run->batch, run->batch_count };
	enum status status = OK;
	size_t i;

	if (run->batch_count > 0)
		status = writer_run(run->batch_scope, run->write, run->shared, write_batch, &w);
	if (status != OK) {
		const struct error *e = run->batch_scope->error;

		fail(run->scope, status, e != NULL ? "import" : NULL, "a batch could not be written: %s. Run the import again: it goes on where it stopped",
		    e != NULL && e->detail != NULL ? e->detail : status_info(status)->title);
	} else
		for (i = 0; i < run->batch_count; i++)
			thing_told(run, run->batch[i]);
	if (status == OK && ++run->flushes % CHECKPOINT_FLUSHES == 0)
		status = checkpoint(run);
	scope_free(run->batch_scope);
	run->batch_scope = scope_new("import");
	run->batch_count = run->batch_bytes = 0;
	return status;
}

/* Nobody else moves the log into the database while the site is not served. */
static enum status
checkpoint(struct import_run *run)
{
	int64_t wal_bytes;

	return db_checkpoint(run->scope, run->write, false, &wal_bytes);
}

/* Written at once, in a transaction of its own: something that what follows refers to. */
enum status
import_write_now(struct import_run *run, struct scope *s, struct import_thing *t)
{
	struct batch_write w = { run, &t, 1 };

	if (t == NULL)
		return OK;
	TRY(writer_run(s, run->write, run->shared, write_batch, &w));
	thing_told(run, t);
	return OK;
}

static enum status
batch_add(struct import_run *run, struct import_thing *t)
{
	if (t == NULL)
		return OK;
	run->batch[run->batch_count++] = t;
	run->batch_bytes += strlen(t->draft.revision.source);
	return run->batch_count == IMPORT_BATCH || run->batch_bytes >= IMPORT_BATCH_BYTES ? batch_flush(run) : OK;
}

static void
progress(struct import_run *run, const struct wxr *w, bool is_last)
{
	int64_t done, total, now = clock_monotonic();

	if (run->watch == NULL || run->watch->progress == NULL || (!is_last && now - run->told_at < PROGRESS_MS))
		return;
	run->told_at = now;
	wxr_position(w, &done, &total);
	run->watch->progress(run->watch->arg, run->report, done, total);
}

/* Where the old site was: what its links are recognised by. */
static void
take_channel(struct import_run *run, const struct wxr_channel *c)
{
	const char *url = c->blog_url != NULL ? c->blog_url : c->site_url != NULL ? c->site_url : "";
	struct str rest = str_trim(str_of(url)), host;
	struct url_form form;
	size_t at = str_find_str(rest, STR("://")), i;
	char *lower;

	rest = at < rest.len ? str_part(rest, at + 3, rest.len) : (struct str){ NULL, 0 };
	at = str_find(rest, '/');
	host = str_part(rest, 0, str_find(str_part(rest, 0, at), ':'));
	if (host.len > 4 && strncasecmp(host.p, "www.", 4) == 0)
		host = str_part(host, 4, host.len);
	lower = str_dup(run->scope->arena, host);
	for (i = 0; i < host.len; i++)
		if (lower[i] >= 'A' && lower[i] <= 'Z')
			lower[i] |= 0x20;
	run->host = lower;
	run->source = scope_printf(run->scope, "wxr:%s", lower);
	run->base = "";
	if (at < rest.len && url_form(run->scope, &form, str_part(rest, at, rest.len)) == OK && strcmp(form.path, "/") != 0)
		run->base = form.path;
	run->scope->error = NULL;
}

static enum status
take_attachment(struct import_run *run, struct scope *s, const struct wxr_item *item)
{
	const char *own = import_own_path(run, s, str_of(item->attachment_url)), *address = NULL;
	int64_t before = run->files;

	if (own != NULL)
		TRY(import_media(run, s, own, &address));
	if (address != NULL)
		import_note(run, item->line, item->post_id, run->files > before ? "created" : "unchanged", "media %s", address);
	else if (run->options->uploads_dir == NULL)
		import_note(run, item->line, item->post_id, "skipped", "attachment %.200s: give the folder of its files with --uploads", item->attachment_url);
	else
		import_note(run, item->line, item->post_id, "skipped", "attachment %.200s: no such file under --uploads, or of a type that is not taken",
		    item->attachment_url);
	return OK;
}

static bool
is_known(struct import_run *run, struct scope *s, int64_t post_id, enum status *status, int64_t *id)
{
	struct import_known known;

	*status = store_import_find(s, run->read, &known, run->source, scope_printf(s, "post:%" PRId64, post_id));
	*id = *status == OK ? known.id : 0;
	return *id != 0;
}

/* A page is taken in the pass that finds its parent there and the pass before did not: so each is taken once, and after its parent. In the last
 * pass it goes to the top when there is none. */
static enum status
take_page(struct import_run *run, struct scope *s, const struct wxr_item *item, bool is_last_pass)
{
	struct import_thing *t;
	enum status status;
	int64_t parent = 0, own;
	bool is_there = is_known(run, s, item->post_id, &status, &own);

	TRY(status);
	if (is_there && run->pass > 1)
		return OK;
	if (!is_there) {
		(void)is_known(run, s, item->parent_id, &status, &parent);
		TRY(status);
		if (parent != 0 && parent <= run->newest_before)
			return OK;
		if ((parent == 0 || parent > run->newest) && !is_last_pass) {
			run->deferred++;
			return OK;
		}
	}
	TRY(import_item_thing(run, s, &t, item));
	if (t == NULL)
		return OK;
	t->draft.resource.parent_id = parent;
	if (parent == 0)
		import_warn(run, t, "its parent (post %" PRId64 ") is not in the export: it lies at the top", item->parent_id);
	run->report->pages++;
	return batch_add(run, t);
}

static enum status
take_item(struct import_run *run, struct scope *s, const struct wxr_item *item, bool is_last_pass)
{
	bool is_page = strcmp(item->type, "page") == 0, is_child = is_page && item->parent_id > 0 && item->post_id > 0;
	struct import_thing *t;

	if (is_child && strcmp(item->status, "trash") != 0)
		return take_page(run, s, item, is_last_pass);
	if (run->pass > 1)
		return OK;
	if (strcmp(item->type, "attachment") == 0) {
		run->report->attachments++;
		return take_attachment(run, s, item);
	}
	if (!is_page && strcmp(item->type, "post") != 0 && item->type[0] != '\0') {
		import_note(run, item->line, item->post_id, "skipped", "type \"%.40s\" (title \"%.80s\"): only posts and pages are taken", item->type,
		    item->title);
		return OK;
	}
	TRY(import_item_thing(run, s, &t, item));
	if (t == NULL)
		return OK;
	if (is_page)
		run->report->pages++;
	else
		run->report->posts++;
	return batch_add(run, t);
}

static enum status
take_thing(struct import_run *run, struct wxr *w, enum wxr_event event, bool is_last_pass)
{
	struct import_thing *t = NULL;

	if (event == WXR_CHANNEL) {
		if (run->pass == 1)
			take_channel(run, wxr_channel(w));
		return OK;
	}
	if (event == WXR_ITEM) {
		if (run->pass == 1)
			run->report->items++;
		return take_item(run, run->batch_scope, wxr_item(w), is_last_pass);
	}
	if (run->pass > 1)
		return OK;
	if (event == WXR_AUTHOR) {
		run->report->authors++;
		TRY(import_author_thing(run, run->batch_scope, &t, wxr_author(w)));
	} else if (event == WXR_TERM) {
		if (wxr_term(w)->kind == WXR_TAG)
			run->report->tags++;
		else
			run->report->categories += wxr_term(w)->kind == WXR_CATEGORY;
		TRY(import_term_thing(run, run->batch_scope, &t, wxr_term(w)));
	}
	return batch_add(run, t);
}

/* Things of another sort refer to what is waiting in the batch, so it is written first. What puts nothing into the batch leaves no memory
 * behind: an export may hold any number of things that are known already. */
static enum status
take_event(struct import_run *run, struct wxr *w, enum wxr_event event, enum wxr_event *last, bool is_last_pass)
{
	struct arena_mark mark;
	size_t count;
	int64_t flushes;

	if (event != *last || event == WXR_TERM)
		TRY(batch_flush(run));
	*last = event;
	count = run->batch_count;
	flushes = run->flushes;
	mark = arena_mark(run->batch_scope->arena);
	TRY(take_thing(run, w, event, is_last_pass));
	if (run->batch_count == count && run->flushes == flushes) {
		run->batch_scope->error = NULL;
		arena_rewind(run->batch_scope->arena, mark);
	}
	return OK;
}

static enum status
one_pass(struct import_run *run, bool is_last_pass)
{
	enum wxr_event event = WXR_CHANNEL, last = WXR_CHANNEL;
	struct wxr *w = NULL;
	enum status status = OK;

	run->pass++;
	run->deferred = run->written = 0;
	run->newest_before = run->newest;
	TRY(store_import_newest(run->scope, run->read, &run->newest));
	TRY(wxr_open(run->scope, &w, run->options->file));
	while ((status = wxr_next(run->scope, w, &event)) == OK && event != WXR_END) {
		if ((status = keep(run)) != OK || (status = take_event(run, w, event, &last, is_last_pass)) != OK)
			break;
		progress(run, w, false);
	}
	if (status == OK)
		status = batch_flush(run);
	run->report->dropped_characters = wxr_dropped(w);
	progress(run, w, true);
	wxr_close(w);
	return status;
}

/* Nothing is written unless the file is whole. */
static enum status
check_whole(struct import_run *run)
{
	enum wxr_event event = WXR_CHANNEL;
	struct wxr *w = NULL;
	enum status status;

	TRY(wxr_open(run->scope, &w, run->options->file));
	while ((status = wxr_next(run->scope, w, &event)) == OK && event != WXR_END && (status = keep(run)) == OK)
		run->report->total += event == WXR_ITEM;
	wxr_close(w);
	run->report->is_complete = status == OK;
	return status;
}

enum status
import_default_user(struct scope *s, struct db *db, const char **name)
{
	TRY(store_import_first_admin(s, db, name));
	return *name != NULL ? OK : fail(s, ERR_NOT_FOUND, "--user", "there is no admin yet; `stele user add NAME --role admin` makes one");
}

enum status
import_copy(struct scope *s, struct db *db, const char *file)
{
	return store_import_copy(s, db, file);
}

enum status
import_wxr(struct scope *s, struct db *write, struct db *read, struct shared *shared, const struct site *site, const struct principal *who,
    const struct import_options *options, const struct import_watch *watch, struct import_report *report)
{
	struct import_run run = { .scope = s, .write = write, .read = read, .shared = shared, .site = site, .who = who, .options = options,
		.watch = watch, .report = report, .host = "", .base = "", .source = "wxr:" };
	enum status status;

	*report = (struct import_report){ 0 };
	TRY(permission_require(s, who, ACTION_IMPORT, 0));
	TRY(check_whole(&run));
	run.batch_scope = scope_new("import");
	status = one_pass(&run, false);
	while (status == OK && run.deferred > 0 && run.written > 0 && run.pass < IMPORT_PASSES)
		status = one_pass(&run, false);
	if (status == OK && run.deferred > 0)
		status = one_pass(&run, true);
	scope_free(run.batch_scope);
	return status;
}
