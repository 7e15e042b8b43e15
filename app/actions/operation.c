/* operation.c - carrying long work out: taken under a lease, moved on step by step, handed on when its worker is gone. */
#include "actions/operation.h"

#include "actions/settings.h"
#include "base/clock.h"
#include "base/log.h"
#include "db/writer.h"
#include "store/users.h"

#define LEASE_MS 60000
#define DELAY_MS 1000		/* after a failure of ours; doubled with each attempt */
#define OWNER_BYTES 18

static operation_step *const steps[OPERATION_KIND_COUNT] = {
#define OPERATION(id, name, step, help) [OPERATION_##id] = (step),
#include "actions/operations.def"
#undef OPERATION
};

struct take { struct operation op; const char *owner; int64_t now; bool moved; };
struct write { struct operation_run *run; operation_apply *apply; void *arg; };
struct leave { struct operation_run *run; enum status status; struct error *error; const char *owner; int64_t lease_until; bool moved; };

static enum status	take(struct scope *, struct db *, void *take);
static enum status	carry_out(struct scope *, const struct operation_worker *, const struct take *);
static enum status	open_run(struct scope *, struct operation_run *, struct site *, operation_step **);
static enum status	write_step(struct scope *, struct db *, void *write);
static enum status	lost(struct scope *, struct operation_run *);
static void		stop_short(struct scope *, struct operation_run *, enum status);
static enum status	leave(struct scope *, struct db *, void *leave);
static enum status	end(struct scope *, struct db *, void *leave);
static int64_t		lease_ms(void);
static void		item_fault(int64_t number);

enum status
operation_work(struct scope *s, const struct operation_worker *w, bool *worked)
{
	struct take t = { .now = clock_now() };
	unsigned char random[OWNER_BYTES];
	bool is_late;

	TRY(store_operation_next(s, w->read, &t.op, worked, t.now));
	if (!*worked)
		return OK;
	is_late = t.op.lease_until > 0;
	random_bytes(random, sizeof(random));
	t.owner = base64url(s, random, sizeof(random));
	TRY(writer_run(s, w->write, w->shared, take, &t));
	if (t.moved && is_late) {
		metric_add(w->shared, METRIC_PROCESSING_TIMEOUT, 1);
		log_warn(s, "operation.late", "\"operation\":\"%s\",\"attempts\":%" PRId64 ",\"status\":\"%s\"", t.op.id, t.op.attempts,
		    t.op.state == OPERATION_PROCESSING ? "taken over" : "given up");
	}
	return t.moved && t.op.state == OPERATION_PROCESSING ? carry_out(s, w, &t) : OK;
}

enum status
operation_write(struct scope *s, struct operation_run *run, operation_apply *apply, void *arg)
{
	struct write w = { run, apply, arg };

	item_fault(run->op.done + 1);
	TRY(writer_run(s, run->write, run->shared, write_step, &w));
	run->renewed_at = clock_monotonic();
	run->is_over = run->is_last;
	return OK;
}

enum status
operation_guard(struct scope *s, struct db *db, struct operation_run *run)
{
	int64_t now = clock_now();
	bool moved;

	TRY(store_operation_move(s, db, &run->op, run->op.owner, now + lease_ms(), now, &moved));
	return moved ? OK : lost(s, run);
}

enum status
operation_keep(struct scope *s, struct operation_run *run)
{
	if (run->stop_was_asked != NULL && run->stop_was_asked())
		return fail(s, ERR_BUSY, NULL, "the process is to stop");
	if (clock_monotonic() - run->renewed_at < lease_ms() / 3)
		return OK;
	return operation_write(s, run, NULL, NULL);
}

enum status
operation_note(struct scope *s, struct db *db, struct operation_run *run, int64_t number, enum operation_result result, const char *subject,
    const char *code, const char *detail)
{
	struct operation_entry e = { .number = number, .result = operation_result_name(result), .subject = subject, .code = code, .detail = detail };
	bool added;

	if (run->op.entries >= OPERATION_ENTRIES_MAX) {
		run->op.tally[result]++;
		return OK;
	}
	e.part = (int64_t)(hash_fast(str_of(scope_printf(s, "%d %s %s", (int)result, code != NULL ? code : "", detail != NULL ? detail : ""))) >> 1);
	TRY(store_operation_entry_add(s, db, run->op.id, &e, &added));
	run->op.entries += added;
	run->op.tally[result] += added;
	return OK;
}

/* Decided anew inside the transaction: since it was read its owner may have come back. */
static enum status
take(struct scope *s, struct db *db, void *arg)
{
	struct take *t = arg;
	struct operation *o = &t->op;
	bool is_late;

	TRY(store_operation_load(s, db, o, o->id));
	if (o->state != OPERATION_PROCESSING || o->lease_until > t->now)
		return OK;
	is_late = o->lease_until > 0;
	if (is_late && o->attempts > OPERATION_TAKEOVERS) {
		o->owner = NULL;
		(void)fail(s, ERR_PROCESSING_TIMEOUT, NULL, "given up after %" PRId64 " attempts", o->attempts);
		return operation_end(s, db, o, ERR_PROCESSING_TIMEOUT, &t->moved);
	}
	TRY(store_operation_take(s, db, o, t->owner, t->now, t->now + lease_ms(), OPERATION_TAKEOVERS, &t->moved));
	return t->moved && is_late && o->key != NULL ? store_record_taken(s, db, o) : OK;
}

static enum status
carry_out(struct scope *s, const struct operation_worker *w, const struct take *t)
{
	struct operation_run run = { .write = w->write, .read = w->read, .shared = w->shared, .config = w->config, .scope = s,
		.stop_was_asked = w->stop_was_asked, .renewed_at = clock_monotonic() };
	operation_step *step = NULL;
	enum status status;
	struct site site;

	TRY(store_operation_load(s, w->read, &run.op, t->op.id));
	if (run.op.owner == NULL || strcmp(run.op.owner, t->owner) != 0)
		return OK;
	log_info(s, "operation.taken", "\"operation\":\"%s\",\"kind\":\"%s\",\"request\":%s,\"attempts\":%" PRId64 ",\"done\":%" PRId64, run.op.id,
	    run.op.kind, log_quote(s, run.op.request_id), run.op.attempts, run.op.done);
	status = open_run(s, &run, &site, &step);
	if (status != OK)
		stop_short(s, &run, status);
	while (!run.is_over) {
		struct scope *piece = scope_new(run.op.request_id);

		status = operation_keep(piece, &run);
		if (status == OK)
			status = step(piece, &run);
		if (status != OK)
			stop_short(piece, &run, status);
		scope_free(piece);
	}
	if (run.file != NULL && run.op.state != OPERATION_PROCESSING && !run.op.retryable)
		(void)unlink(run.file);
	log_info(s, "operation.left", "\"operation\":\"%s\",\"done\":%" PRId64 ",\"finished\":%s", run.op.id, run.op.done,
	    run.op.state != OPERATION_PROCESSING ? "true" : "false");
	return OK;
}

/* The role is that of now: a right that was lost since is lost for the rest of the work too. */
static enum status
open_run(struct scope *s, struct operation_run *run, struct site *site, operation_step **step)
{
	bool found;
	size_t i;

	for (i = 0; i < OPERATION_KIND_COUNT; i++)
		if (strcmp(run->op.kind, operation_kind_name((enum operation_kind)i)) == 0)
			*step = steps[i];
	if (*step == NULL)
		return fail(s, ERR_INTERNAL, NULL, "this program does not know operations of the kind %s", run->op.kind);
	TRY(settings_site(s, run->read, run->config, site));
	run->site = site;
	run->file = run->op.has_file ? operation_file_path(s, run->config, run->op.id) : NULL;
	TRY(store_user_find_id(s, run->read, &run->who, &found, run->op.user_id));
	if (!found)
		return fail(s, ERR_DENIED, NULL, "the user who asked for this is no longer active");
	run->who.scopes &= run->op.scopes;
	return OK;
}

static enum status
write_step(struct scope *s, struct db *db, void *arg)
{
	const struct write *w = arg;
	struct operation_run *run = w->run;
	bool moved;

	if (w->apply != NULL)
		TRY(w->apply(s, db, run, w->arg));
	if (!run->is_last)
		return operation_guard(s, db, run);
	TRY(operation_end(s, db, &run->op, OK, &moved));
	return moved ? OK : lost(s, run);
}

static enum status
lost(struct scope *s, struct operation_run *run)
{
	run->is_over = true;
	return fail(s, ERR_STATE_CONFLICT, NULL, "the operation was cancelled or is carried out by somebody else");
}

/* A step has failed, or the process is to stop: what is stored now is what the next one begins with. */
static void
stop_short(struct scope *s, struct operation_run *run, enum status status)
{
	bool is_stopping = status == ERR_BUSY && run->stop_was_asked != NULL && run->stop_was_asked();
	bool is_final = !is_stopping && (status_info(status)->http < 500 || run->op.attempts > OPERATION_TAKEOVERS);
	struct leave l = { .run = run, .status = status, .error = s->error };

	if (run->is_over) {
		log_warn(s, "operation.lost", "\"operation\":\"%s\"", run->op.id);
		return;
	}
	run->is_over = true;
	/* The write that should have ended it was not stored. */
	run->is_last = false;
	run->op.state = OPERATION_PROCESSING;
	if (!is_stopping)
		log_error(s, "operation.failed", "\"operation\":\"%s\",\"final\":%s,\"code\":\"%s\",\"detail\":%s", run->op.id, is_final ? "true" : "false",
		    status_info(status)->code, log_quote(s, s->error != NULL ? s->error->detail : ""));
	if (!is_stopping)
		l.lease_until = clock_now() + (DELAY_MS << run->op.attempts);
	if (writer_run(s, run->write, run->shared, is_final ? end : leave, &l) != OK || !l.moved)
		log_warn(s, "operation.lost", "\"operation\":\"%s\"", run->op.id);
}

/* From the row as it is stored: the failed step may have moved its copy. */
static enum status
leave(struct scope *s, struct db *db, void *arg)
{
	struct leave *l = arg;
	struct operation o;

	TRY(store_operation_load(s, db, &o, l->run->op.id));
	o.generation = l->run->op.generation;
	o.owner = l->run->op.owner;
	return store_operation_move(s, db, &o, NULL, l->lease_until, clock_now(), &l->moved);
}

static enum status
end(struct scope *s, struct db *db, void *arg)
{
	struct leave *l = arg;
	struct operation_run *run = l->run;
	struct operation o;

	TRY(store_operation_load(s, db, &o, run->op.id));
	o.generation = run->op.generation;
	o.owner = run->op.owner;
	s->error = l->error;
	TRY(operation_end(s, db, &o, l->status, &l->moved));
	if (l->moved) {
		run->op.state = o.state;
		run->op.retryable = o.retryable;
	}
	return OK;
}

/* Long enough for any step; a test does not wait for it. */
static int64_t
lease_ms(void)
{
#ifdef STELE_TEST
	const char *text = getenv("STELE_LEASE_MS");
	int64_t given;

	if (text != NULL && parse_int64(str_of(text), &given) && given > 0)
		return given;
#endif
	return LEASE_MS;
}

static void
item_fault(int64_t number)
{
#ifdef STELE_TEST
	char point[40];

	snprintf(point, sizeof(point), "worker_item_%" PRId64, number);
	(void)fault(point);
#endif
}
