/* resource_bulk.c - one state move for many: each resource has its own verdict, and the refusal of one undoes nothing of the others. */
#include "actions/input.h"
#include "actions/json.h"
#include "actions/resource_answer.h"
#include "actions/resource_step.h"
#include "actions/resources.h"
#include "store/resources.h"

#define NAME_SHOWN 40		/* of an id that names nothing: with BULK_MAX of them the answer stays below 4 kB */

struct row {
	const char	*name;		/* as asked for */
	const char	*if_match;	/* NULL = any version */
	int64_t		 id;
	const char	*uid;
	enum status	 status;	/* found when it was prepared */
	struct publish_plan plan;
};

struct bulk {
	enum move	 move;
	struct schedule_times no_times;
	struct row	 rows[BULK_MAX];
	size_t		 count;
};

static enum status	read_rows(struct input *, struct bulk *);
static void		read_row(struct input *, struct bulk *, json_t *);
static bool		read_move(struct str, enum move *);
static enum status	prepare_row(struct scope *, struct db *, const struct unit *, enum kind, const struct bulk *, struct row *);
static enum status	bulk_apply(struct scope *, struct db *, struct unit *);
static enum status	row_apply(struct scope *, struct db *, const struct unit *, const struct bulk *, const struct row *, struct resource *);
static void		put_result(struct buf *, const struct row *, enum status, const struct resource *);

enum status
resource_bulk_prepare(struct scope *s, struct db *db, struct unit *u, enum kind kind, json_t *body)
{
	struct bulk *bulk = scope_alloc(s, sizeof(*bulk));
	static const char *const names[] = { "action", "ids", NULL };
	struct input in;
	const char *action;
	size_t i;

	s->error = NULL;
	in = input_of(s, body, "");
	input_known(&in, names);
	action = input_required(&in, "action", 20);
	if (action != NULL && !read_move(str_of(action), &bulk->move))
		input_bad(&in, ERR_INVALID, "action", "must be publish, withdraw, cancel, delete or restore");
	TRY(read_rows(&in, bulk));
	TRY(permission_require(s, &u->who, step_action[bulk->move], u->who.user_id));
	for (i = 0; i < bulk->count; i++)
		TRY(prepare_row(s, db, u, kind, bulk, &bulk->rows[i]));
	u->input = bulk;
	u->apply = bulk_apply;
	return OK;
}

static enum status
read_rows(struct input *in, struct bulk *bulk)
{
	json_t *ids = in->object == NULL ? NULL : json_object_get(in->object, "ids");
	size_t count = json_array_size(ids), i;

	if (!json_is_array(ids) || count == 0)
		input_bad(in, ERR_INVALID, "ids", "must be an array of ids, slugs or { \"id\", \"version\" }");
	else if (count > BULK_MAX)
		input_bad(in, ERR_INVALID, "ids", "has %zu entries, at most %d are taken at once", count, BULK_MAX);
	for (i = 0; in->status == OK && i < count; i++)
		read_row(in, bulk, json_array_get(ids, i));
	return in->status;
}

static void
read_row(struct input *in, struct bulk *bulk, json_t *value)
{
	struct row *row = &bulk->rows[bulk->count++];
	json_t *version = json_object_get(value, "version");
	const char *name = json_string_value(json_is_object(value) ? json_object_get(value, "id") : value);

	if (name == NULL || name[0] == '\0' || (json_is_object(value) && json_object_size(value) != (version == NULL ? 1U : 2U)))
		input_bad(in, ERR_INVALID, "ids", "entry %zu is neither an id nor { \"id\", \"version\" }", bulk->count);
	else if (version != NULL && (!json_is_integer(version) || json_integer_value(version) < 1))
		input_bad(in, ERR_INVALID, "ids", "the version of entry %zu must be a number from 1", bulk->count);
	else
		row->name = arena_strdup(in->s->arena, name);
	if (version != NULL)
		row->if_match = scope_printf(in->s, "\"%" PRId64 "\"", (int64_t)json_integer_value(version));
}

static bool
read_move(struct str text, enum move *out)
{
	for (*out = 0; *out < MOVE_COUNT; (*out)++)
		if (*out != MOVE_SCHEDULE && str_is(text, move_name(*out)))
			return true;
	return false;
}

/* What is wrong with one row is that row's own result. */
static enum status
prepare_row(struct scope *s, struct db *db, const struct unit *u, enum kind kind, const struct bulk *bulk, struct row *row)
{
	struct resource r;

	row->status = resource_for_step(s, db, &u->who, step_action[bulk->move], kind, row->name, bulk->move == MOVE_RESTORE, &r);
	if (row->status == OK) {
		row->id = r.id;
		row->uid = r.uid;
		if (bulk->move == MOVE_PUBLISH)
			row->status = publish_plan(s, db, &r, r.head_revision, &row->plan);
	}
	s->error = NULL;
	return status_info(row->status)->http >= 500 ? fail(s, row->status, NULL, "%s cannot be read", row->name) : OK;
}

static enum status
bulk_apply(struct scope *s, struct db *db, struct unit *u)
{
	const struct bulk *bulk = u->input;
	struct buf b;
	size_t i;

	buf_init(&b, s->arena);
	buf_text(&b, "{\"results\":[");
	for (i = 0; i < bulk->count; i++) {
		struct resource r = { 0 };
		enum status status = row_apply(s, db, u, bulk, &bulk->rows[i], &r);

		if (status_info(status)->http >= 500)
			return status;
		s->error = NULL;
		if (i > 0)
			buf_char(&b, ',');
		put_result(&b, &bulk->rows[i], status, &r);
	}
	buf_text(&b, "]}");
	u->answer = (struct answer){ .status = 200, .body = buf_as_str(&b) };
	return OK;
}

static enum status
row_apply(struct scope *s, struct db *db, const struct unit *u, const struct bulk *bulk, const struct row *row, struct resource *out)
{
	enum status status = row->status;
	bool unchanged;

	if (status != OK)
		return status;
	TRY(db_savepoint(s, db));
	status = step_write(s, db, u->site, bulk->move, row->id, &row->plan, &bulk->no_times, row->if_match, out, &unchanged);
	if (status == OK)
		return db_release(s, db);
	db_undo(db);
	/* Removed since it was prepared, perhaps by the row before: the same id twice. */
	return status == ERR_NOT_FOUND ? ERR_GONE : status;
}

static void
put_result(struct buf *b, const struct row *row, enum status status, const struct resource *r)
{
	char shown[NAME_SHOWN + 1];

	snprintf(shown, sizeof(shown), "%.*s", STR_FMT(utf8_cut(str_of(row->name), NAME_SHOWN)));
	/* What JSON would escape is up to six times as long, and stands in no id and no slug. */
	for (char *p = shown; *p != '\0'; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f || *p == '"' || *p == '\\')
			*p = '?';
	buf_char(b, '{');
	json_put_name(b, "id");
	json_put_text(b, row->uid != NULL ? row->uid : shown);
	json_put_name(b, "status");
	buf_printf(b, "%d", status == OK ? 200 : status_info(status)->http);
	json_put_name(b, status == OK ? "state" : "code");
	json_put_text(b, status == OK ? state_name(r->state) : status_info(status)->code);
	if (status == OK) {
		json_put_name(b, "version");
		buf_printf(b, "%" PRId64, r->edit_version);
	}
	buf_char(b, '}');
}
