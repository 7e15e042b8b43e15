/* import_items.c - many articles in one request: each is created under a key of its own, whatever becomes of the others. */
#include "actions/import_request.h"

#include "actions/input.h"
#include "actions/operation.h"
#include "actions/resources.h"

#define ITEM_KEY_MAX 200

/* The scope in which the keys of items are told apart; a slash could make it a route. */
static const struct write_rule item_rule = { "POST", "/api/v1/imports#item", CARRIER_REQUIRED, RETENTION_STATE, ACTION_CREATE, "creates a row" };

struct item {
	struct unit	 unit;
	int64_t		 number;	/* from 1 */
	int64_t		 next;		/* offset of the line behind it */
	bool		 is_last, is_dry_run;
	const char	*key;		/* of its sender; NULL = none */
	const char	*code, *detail;	/* why nothing is made of it; code NULL = nothing against it */
};

static enum status	store_lines(struct scope *, const struct config *, struct operation_new *, json_t *items);
static enum status	read_item(struct scope *, const struct operation_run *, struct item *, struct str *line);
static enum status	prepare_item(struct scope *, struct operation_run *, struct item *, struct str line);
static enum status	check_item(struct scope *, struct operation_run *, struct item *, json_t *value);
static void		name_item(struct scope *, const struct operation_run *, struct item *, const char *key, struct str canonical);
static enum status	write_item(struct scope *, struct db *, struct operation_run *, void *item);
static enum status	apply_item(struct scope *, struct db *, struct item *);
static void		judge(struct scope *, struct item *, enum status);
static const char	*why(struct scope *, enum status);
static bool		is_dry_run(const struct operation_run *);

enum status
import_items_prepare(struct scope *s, const struct config *config, struct unit *u, json_t *body, bool dry_run)
{
	static const char *const names[] = { "items", NULL };
	json_t *items = json_object_get(body, "items");
	struct input in = input_of(s, body, "");
	struct operation_new *n;

	s->error = NULL;
	input_known(&in, names);
	if (!json_is_array(items) || json_array_size(items) == 0 || json_array_size(items) > IMPORT_ITEMS_MAX)
		input_bad(&in, ERR_INVALID, "items", "must be a list of 1 to %d items", IMPORT_ITEMS_MAX);
	if (in.status != OK)
		return in.status;
	n = operation_prepare(s, u, OPERATION_IMPORT_ITEMS);
	n->input = dry_run ? "{\"dry_run\":true}" : "{}";
	n->total = (int64_t)json_array_size(items);
	return store_lines(s, config, n, items);
}

enum status
import_items_step(struct scope *s, struct operation_run *run)
{
	struct item item = { .number = run->op.done + 1, .is_dry_run = is_dry_run(run) };
	struct str line;

	TRY(read_item(s, run, &item, &line));
	TRY(prepare_item(s, run, &item, line));
	return operation_write(s, run, write_item, &item);
}

/* One item a line, so that the work can be taken up anywhere without reading it all. */
static enum status
store_lines(struct scope *s, const struct config *config, struct operation_new *n, json_t *items)
{
	struct buf b;
	size_t i;

	buf_init(&b, s->arena);
	for (i = 0; i < json_array_size(items); i++) {
		char *text = json_dumps(json_array_get(items, i), JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);

		buf_text(&b, text);
		buf_char(&b, '\n');
		free(text);
	}
	return operation_file_store(s, config, n, buf_as_str(&b));
}

static enum status
read_item(struct scope *s, const struct operation_run *run, struct item *item, struct str *line)
{
	FILE *f = fopen(run->file != NULL ? run->file : "", "re");
	size_t room = 0;
	int64_t from = 0;
	char *text = NULL;
	ssize_t len = -1;

	(void)parse_int64(str_of(run->op.position), &from);
	if (f != NULL && fseeko(f, (off_t)from, SEEK_SET) == 0)
		len = getline(&text, &room, f);
	if (len > 0)
		*line = str_of(arena_strndup(s->arena, text, (size_t)len));
	free(text);
	item->next = from + len;
	item->is_last = item->number >= run->op.total;
	if (f != NULL)
		fclose(f);
	return len > 0 ? OK : fail(s, ERR_INTERNAL, NULL, "item %" PRId64 " cannot be read", item->number);
}

/* OK also when the item is faulty: then its own status says why. */
static enum status
prepare_item(struct scope *s, struct operation_run *run, struct item *item, struct str line)
{
	struct str canonical;
	const char *key = NULL;
	json_t *value = NULL;
	enum status status;

	if (line.len > IMPORT_ITEM_BYTES)
		status = fail(s, ERR_TOO_LARGE, NULL, "an item has at most %zu bytes", IMPORT_ITEM_BYTES);
	else
		status = json_read(s, &value, &canonical, line, NULL, &key);
	if (status == OK && (status = db_begin(s, run->read)) == OK) {
		status = check_item(s, run, item, value);
		db_rollback(run->read);
	}
	json_decref(value);
	if (status != OK && status_info(status)->http >= 500)
		return status;
	judge(s, item, status);
	return OK;
}

static enum status
check_item(struct scope *s, struct operation_run *run, struct item *item, json_t *value)
{
	static const char *const names[] = { "key", "article", NULL };
	struct unit *u = &item->unit;
	struct input in = input_of(s, value, "");
	const char *key = input_text(&in, "key", ITEM_KEY_MAX, false), *none;
	json_t *article = json_object_get(value, "article"), *again = NULL;
	struct str canonical;
	bool found;

	input_known(&in, names);
	if (key != NULL && key[0] == '\0')
		input_bad(&in, ERR_INVALID, "key", "is empty");
	if (in.status == OK && !json_is_object(article))
		input_bad(&in, ERR_INVALID, "article", "must be an object");
	if (in.status != OK)
		return in.status;
	item->key = key;
	TRY(json_read(s, &again, &canonical, str_of(input_dump(s, article)), NULL, &none));
	json_decref(again);
	name_item(s, run, item, key, canonical);
	TRY(permission_require(s, &run->who, ACTION_CREATE, 0));
	TRY(unit_find(s, run->read, u, &found));
	return found ? OK : resource_create_prepare(s, run->read, u, KIND_ARTICLE, article);
}

/* The print is that of the same article sent alone, so that its client_ref means the same both ways. An item without a key is told apart by its
 * place in this operation: taken up again it is not made again. */
static void
name_item(struct scope *s, const struct operation_run *run, struct item *item, const char *key, struct str canonical)
{
	const struct write_rule *alone = write_rule(WRITE_ARTICLE_CREATE);
	struct request_print print = { .method = alone->method, .route = alone->route, .media = "json", .body = canonical };
	char *hash = scope_alloc(s, SHA256_HEX), *derived = scope_alloc(s, SHA256_HEX);
	const char *text = key != NULL ? scope_printf(s, "key\n%s", key) : scope_printf(s, "place\n%s\n%" PRId64, run->op.id, item->number);

	sha256_hex_of(str_of(text), derived);
	request_hash(s, hash, &print);
	item->unit = (struct unit){ .rule = &item_rule, .who = run->who, .site = run->site, .key = derived, .hash = hash };
}

static enum status
write_item(struct scope *s, struct db *db, struct operation_run *run, void *arg)
{
	struct item *item = arg;
	const struct answer *a = &item->unit.answer;
	enum operation_result result = RESULT_FAILED;
	const char *subject = item->key;

	if (item->code == NULL)
		TRY(apply_item(s, db, item));
	if (item->code == NULL) {
		result = a->replayed ? RESULT_EXISTING : RESULT_CREATED;
		if (a->replayed || !item->is_dry_run)
			subject = a->location;
	}
	TRY(operation_note(s, db, run, item->number, result, subject, item->code, item->detail));
	run->op.done = item->number;
	run->op.position = scope_printf(run->scope, "%" PRId64, item->next);
	run->is_last = item->is_last;
	return OK;
}

/* In a savepoint of its own: what an item had begun before it was refused must not stay, but the report's line must. */
static enum status
apply_item(struct scope *s, struct db *db, struct item *item)
{
	const struct answer *a = &item->unit.answer;
	json_t *problem;
	enum status status;

	TRY(db_savepoint(s, db));
	status = unit_apply(s, db, &item->unit);
	if (status == OK && !item->is_dry_run)
		TRY(db_release(s, db));
	else
		db_undo(db);
	if (status != OK && status_info(status)->http >= 500)
		return status;
	judge(s, item, status);
	if (status != OK || !a->is_problem)
		return OK;
	/* A refusal that was saved, now or when the item was sent before. */
	problem = json_loadb(a->body.p, a->body.len, 0, NULL);
	if (json_is_object(problem)) {
		item->code = arena_strdup(s->arena, json_string_value(json_object_get(problem, "code")));
		item->detail = arena_strdup(s->arena, json_string_value(json_object_get(problem, "detail")));
	}
	json_decref(problem);
	return item->code != NULL ? OK : fail(s, ERR_INTERNAL, NULL, "a saved refusal cannot be read");
}

static void
judge(struct scope *s, struct item *item, enum status status)
{
	item->code = status != OK ? status_info(status)->code : NULL;
	item->detail = status == OK ? NULL :
	    status == ERR_KEY_CONFLICT ? "the key of this item belongs to another article; give it a new one" : why(s, status);
	s->error = NULL;
}

/* The first mistakes with the members they are in. */
static const char *
why(struct scope *s, enum status status)
{
	const struct error *e = s->error;
	struct buf b;

	if (e == NULL || e->status != status)
		return status_info(status)->help;
	buf_init(&b, s->arena);
	for (; e != NULL && b.len < 500; e = e->next)
		buf_printf(&b, "%s%s%s%s", b.len > 0 ? "; " : "", e->field != NULL ? e->field : "", e->field != NULL ? ": " : "",
		    e->detail != NULL ? e->detail : status_info(e->status)->title);
	return str_dup(s->arena, utf8_cut(buf_as_str(&b), 1000));
}

static bool
is_dry_run(const struct operation_run *run)
{
	json_t *input = json_loads(run->op.input, 0, NULL);
	bool is = json_is_true(json_object_get(input, "dry_run"));

	json_decref(input);
	return is;
}
