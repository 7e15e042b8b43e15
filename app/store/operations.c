/* operations.c - long work: rows <-> struct operation. */
#include "store/operations.h"

#include <jansson.h>

static const char *const state_names[] = { [OPERATION_PROCESSING] = "PROCESSING", [OPERATION_SUCCESS] = "SUCCESS", [OPERATION_FAILED] = "FAILED" };
static const char *const result_names[RESULT_COUNT] = { [RESULT_CREATED] = "created", [RESULT_UPDATED] = "updated", [RESULT_EXISTING] = "existing",
	[RESULT_SKIPPED] = "skipped", [RESULT_FAILED] = "failed", [RESULT_WARNING] = "warning" };

static void		operation_of_row(struct scope *, struct db_rows *, struct operation *);
static void		report_read(struct scope *, struct operation *, const char *text);
static const char	*report_text(struct scope *, const struct operation *);
static struct record_key key_of(const struct operation *);

const char *
operation_result_name(enum operation_result result)
{
	return result_names[result];
}

enum status
store_operation_insert(struct scope *s, struct db *db, const struct operation *o)
{
	return db_run(s, db, SQL_OPERATION_INSERT, ARGS(TEXT(o->id), TEXT(o->kind), INT(o->user_id), INT(o->scopes), TEXT(o->method),
	    TEXT(o->route), TEXT(o->key), TEXT(o->request_id), INT(o->total), TEXT(o->input), INT(o->has_file), INT(s->now)), NULL);
}

enum status
store_operation_load(struct scope *s, struct db *db, struct operation *out, const char *id)
{
	struct db_rows *rows;
	bool found;

	TRY(db_query(s, db, &rows, SQL_OPERATION_LOAD, ARGS(TEXT(id))));
	if ((found = db_next(rows)))
		operation_of_row(s, rows, out);
	TRY(db_end(s, rows));
	return found ? OK : fail(s, ERR_NOT_FOUND, NULL, "there is no such operation");
}

enum status
store_operation_next(struct scope *s, struct db *db, struct operation *out, bool *found, int64_t now)
{
	struct db_rows *rows;

	TRY(db_query(s, db, &rows, SQL_OPERATION_NEXT, ARGS(INT(now))));
	if ((*found = db_next(rows)))
		operation_of_row(s, rows, out);
	return db_end(s, rows);
}

enum status
store_operation_open(struct scope *s, struct db *db, int64_t *out, int64_t max)
{
	return db_value(s, db, out, SQL_OPERATION_COUNT_OPEN, ARGS(INT(max)));
}

enum status
store_operation_list(struct scope *s, struct db *db, struct operation *out, size_t *count, size_t max, int64_t user, const char *before)
{
	struct db_rows *rows;

	*count = 0;
	TRY(db_query(s, db, &rows, SQL_OPERATION_LIST, ARGS(INT(user), TEXT(before), INT((int64_t)max))));
	while (*count < max && db_next(rows))
		operation_of_row(s, rows, &out[(*count)++]);
	return db_end(s, rows);
}

enum status
store_operation_take(struct scope *s, struct db *db, const struct operation *o, const char *owner, int64_t now, int64_t lease_until,
    int64_t attempts_max, bool *moved)
{
	int64_t changes;

	TRY(db_run(s, db, SQL_OPERATION_TAKE, ARGS(TEXT(owner), INT(lease_until), INT(now), TEXT(o->id), INT(o->generation), INT(attempts_max)),
	    &changes));
	*moved = changes == 1;
	return OK;
}

enum status
store_operation_free(struct scope *s, struct db *db, const char *id, int64_t now, int64_t attempts_max, bool *moved)
{
	int64_t changes;

	TRY(db_run(s, db, SQL_OPERATION_FREE, ARGS(INT(now), TEXT(id), INT(attempts_max)), &changes));
	*moved = changes == 1;
	return OK;
}

enum status
store_operation_revive(struct scope *s, struct db *db, const char *id, int64_t now, bool *moved)
{
	int64_t changes;

	TRY(db_run(s, db, SQL_OPERATION_REVIVE, ARGS(INT(now), TEXT(id)), &changes));
	*moved = changes == 1;
	return OK;
}

enum status
store_operation_move(struct scope *s, struct db *db, const struct operation *o, const char *owner, int64_t lease_until, int64_t now, bool *moved)
{
	int64_t changes;

	TRY(db_run(s, db, SQL_OPERATION_MOVE, ARGS(INT(o->done), INT(o->total), TEXT(o->position), TEXT(report_text(s, o)), INT(o->entries),
	    TEXT(owner), INT(lease_until), INT(now), TEXT(o->id), INT(o->generation), TEXT(o->owner)), &changes));
	*moved = changes == 1;
	return OK;
}

enum status
store_operation_finish(struct scope *s, struct db *db, const struct operation *o, int64_t now, bool *moved)
{
	int64_t changes;

	TRY(db_run(s, db, SQL_OPERATION_FINISH, ARGS(TEXT(state_names[o->state]), TEXT(o->error), INT(o->retryable), INT(o->done), INT(o->total),
	    TEXT(o->position), TEXT(report_text(s, o)), INT(o->entries), INT(now), TEXT(o->id), INT(o->generation), TEXT(o->owner)), &changes));
	*moved = changes == 1;
	return OK;
}

enum status
store_operation_entry_add(struct scope *s, struct db *db, const char *id, const struct operation_entry *e, bool *added)
{
	int64_t changes;

	TRY(db_run(s, db, SQL_OPERATION_ENTRY_ADD, ARGS(TEXT(id), INT(e->number), INT(e->part), TEXT(e->result), TEXT(e->subject), TEXT(e->code),
	    TEXT(e->detail)), &changes));
	*added = changes == 1;
	return OK;
}

enum status
store_operation_entries(struct scope *s, struct db *db, struct operation_entry *out, size_t *count, size_t max, const char *id, int64_t number,
    int64_t part)
{
	struct db_rows *rows;

	*count = 0;
	TRY(db_query(s, db, &rows, SQL_OPERATION_ENTRIES, ARGS(TEXT(id), INT(number), INT(part), INT((int64_t)max))));
	while (*count < max && db_next(rows))
		out[(*count)++] = (struct operation_entry){ col_int(rows, 0), col_int(rows, 1), col_text(s, rows, 2), col_text(s, rows, 3),
			col_text(s, rows, 4), col_text(s, rows, 5) };
	return db_end(s, rows);
}

enum status
store_operation_purge(struct scope *s, struct db *db, int64_t before, int limit, int64_t *removed)
{
	int64_t rows = 0;

	TRY(db_run(s, db, SQL_OPERATION_ENTRIES_PURGE, ARGS(INT(before), INT(limit)), removed));
	if (*removed < limit)
		TRY(db_run(s, db, SQL_OPERATION_PURGE, ARGS(INT(before), INT(limit - *removed)), &rows));
	*removed += rows;
	return OK;
}

enum status
store_message_purge(struct scope *s, struct db *db, int64_t before, int limit, int64_t *removed)
{
	return db_run(s, db, SQL_MESSAGE_PURGE, ARGS(INT(before), INT(limit)), removed);
}

enum status
store_record_defer(struct scope *s, struct db *db, const struct record_key *k, const char *operation_id)
{
	int64_t changes;

	TRY(db_run(s, db, SQL_RECORD_DEFER, ARGS(TEXT(operation_id), INT(k->user_id), TEXT(k->method), TEXT(k->route), TEXT(k->key)), &changes));
	return changes == 1 ? OK : fail(s, ERR_INTERNAL, NULL, "the claim of the key vanished");
}

enum status
store_record_taken(struct scope *s, struct db *db, const struct operation *o)
{
	struct record_key k = key_of(o);

	return db_run(s, db, SQL_RECORD_TAKEN, ARGS(INT(k.user_id), TEXT(k.method), TEXT(k.route), TEXT(k.key), TEXT(o->id)), NULL);
}

enum status
store_record_complete(struct scope *s, struct db *db, const struct operation *o, const struct record *r, int64_t now)
{
	struct record_key k = key_of(o);

	return db_run(s, db, SQL_RECORD_COMPLETE, ARGS(TEXT(r->is_failed ? "FAILED" : "SUCCESS"), INT(r->is_retryable), INT(r->status),
	    TEXT(r->headers), STRV(r->body), TEXT(r->resource_type), ID(r->resource_id), INT(now), INT(k.user_id), TEXT(k.method), TEXT(k.route),
	    TEXT(k.key), TEXT(o->id)), NULL);
}

enum status
store_record_revive(struct scope *s, struct db *db, const struct operation *o, int64_t now)
{
	struct record_key k = key_of(o);

	return db_run(s, db, SQL_RECORD_REVIVE, ARGS(INT(now), INT(k.user_id), TEXT(k.method), TEXT(k.route), TEXT(k.key), TEXT(o->id)), NULL);
}

static void
operation_of_row(struct scope *s, struct db_rows *rows, struct operation *o)
{
	struct str state = col_str(rows, 8);
	size_t i;

	*o = (struct operation){ .id = col_text(s, rows, 0), .kind = col_text(s, rows, 1), .user_id = col_int(rows, 2),
		.scopes = (unsigned)col_int(rows, 3), .method = col_text(s, rows, 4), .route = col_text(s, rows, 5), .key = col_text(s, rows, 6),
		.request_id = col_text(s, rows, 7), .done = col_int(rows, 9), .total = col_int(rows, 10), .input = col_text(s, rows, 11),
		.has_file = col_bool(rows, 12), .position = col_text(s, rows, 13), .error = col_text(s, rows, 15), .retryable = col_bool(rows, 16),
		.entries = col_int(rows, 17), .lease_until = col_int(rows, 18), .generation = col_int(rows, 19), .attempts = col_int(rows, 20),
		.owner = col_text(s, rows, 21), .created_at = col_int(rows, 22), .changed_at = col_int(rows, 23) };
	for (i = 0; i < COUNT(state_names); i++)
		if (str_is(state, state_names[i]))
			o->state = (enum operation_state)i;
	report_read(s, o, col_text(s, rows, 14));
}

static void
report_read(struct scope *s, struct operation *o, const char *text)
{
	json_t *report = json_loads(text, 0, NULL), *more = json_object_get(report, "more");
	char *dumped;
	size_t i;

	for (i = 0; i < RESULT_COUNT; i++)
		o->tally[i] = json_integer_value(json_object_get(report, result_names[i]));
	if (more != NULL && (dumped = json_dumps(more, JSON_COMPACT)) != NULL) {
		o->more = arena_strdup(s->arena, dumped);
		free(dumped);
	}
	json_decref(report);
}

static const char *
report_text(struct scope *s, const struct operation *o)
{
	struct buf b;
	size_t i;

	buf_init(&b, s->arena);
	for (i = 0; i < RESULT_COUNT; i++)
		buf_printf(&b, "%c\"%s\":%" PRId64, i == 0 ? '{' : ',', result_names[i], o->tally[i]);
	if (o->more != NULL)
		buf_printf(&b, ",\"more\":%s", o->more);
	buf_char(&b, '}');
	return b.p;
}

static struct record_key
key_of(const struct operation *o)
{
	return (struct record_key){ o->user_id, o->method, o->route, o->key };
}
