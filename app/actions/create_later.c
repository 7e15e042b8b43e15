/* create_later.c - creating as an operation: checked when it is sent, made when jobs comes to it. */
#include "actions/create_later.h"

#include "actions/input.h"
#include "actions/json.h"
#include "actions/operation.h"
#include "actions/resources.h"

static enum status	make(struct scope *, struct db *, struct operation_run *, void *unit);

enum status
create_later_prepare(struct scope *s, struct db *db, const struct config *config, struct unit *u, enum kind kind, json_t *body)
{
	struct operation_new *n;

	TRY(resource_create_prepare(s, db, u, kind, body));
	n = operation_prepare(s, u, OPERATION_CREATE);
	n->input = scope_printf(s, "{\"kind\":\"%s\",\"hash\":\"%s\"}", kind_name(kind), u->hash);
	n->total = 1;
	u->is_async = true;
	return operation_file_store(s, config, n, str_of(input_dump(s, body)));
}

/* All in one piece: the rows and the end of the operation are one transaction. */
enum status
create_later_step(struct scope *s, struct operation_run *run)
{
	json_t *input = json_loads(run->op.input, 0, NULL), *body = json_load_file(run->file != NULL ? run->file : "", 0, NULL);
	const char *name = json_string_value(json_object_get(input, "kind")), *hash = json_string_value(json_object_get(input, "hash"));
	struct unit u = { .who = run->who, .site = run->site };
	enum kind kind = KIND_ARTICLE;
	enum status status;

	if (body == NULL || name == NULL || hash == NULL || !kind_parse(str_of(name), &kind))
		status = fail(s, ERR_INTERNAL, NULL, "what was sent cannot be read again");
	else {
		u.rule = write_rule(kind == KIND_PAGE ? WRITE_PAGE_CREATE : WRITE_ARTICLE_CREATE);
		u.hash = hash;
		status = db_begin(s, run->read);
		if (status == OK)
			status = permission_require(s, &run->who, u.rule->action, 0);
		if (status == OK)
			status = resource_create_prepare(s, run->read, &u, kind, body);
		db_rollback(run->read);
	}
	if (status == OK)
		status = operation_write(s, run, make, &u);
	json_decref(body);
	json_decref(input);
	return status;
}

static enum status
make(struct scope *s, struct db *db, struct operation_run *run, void *arg)
{
	struct unit *u = arg;
	struct buf b;

	TRY(u->apply(s, db, u));
	buf_init(&b, run->scope->arena);
	buf_char(&b, '{');
	json_put_name(&b, "location");
	json_put_text(&b, u->answer.location);
	buf_char(&b, '}');
	run->op.more = b.p;
	run->op.tally[u->answer.replayed ? RESULT_EXISTING : RESULT_CREATED]++;
	run->op.done = 1;
	run->is_last = true;
	return OK;
}
