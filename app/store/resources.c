/* resources.c - resource rows. */
#include "store/resources.h"

#include "base/hash.h"

static bool		raise_versions(struct resource *, int64_t changes);
static void		read_resource(struct scope *, struct db_rows *, struct resource *);
static enum status	load_one(struct scope *, struct db *, struct resource *, bool *found, enum sql, struct db_args);

enum status
store_resource_load(struct scope *s, struct db *db, struct resource *out, int64_t id)
{
	bool found;

	TRY(load_one(s, db, out, &found, SQL_RESOURCE_BY_ID, ARGS(INT(id))));
	return found ? OK : fail(s, ERR_NOT_FOUND, NULL, "there is no such resource");
}

enum status
store_resource_load_name(struct scope *s, struct db *db, struct resource *out, enum kind kind, const char *name)
{
	bool found;

	if (uuid_valid(str_of(name)))
		TRY(load_one(s, db, out, &found, SQL_RESOURCE_BY_UID, ARGS(TEXT(name), TEXT(kind_name(kind)))));
	else
		TRY(load_one(s, db, out, &found, SQL_RESOURCE_BY_SLUG, ARGS(TEXT(kind_name(kind)), TEXT(name))));
	return found ? OK : fail(s, ERR_NOT_FOUND, NULL, "there is no such %s", kind_name(kind));
}

enum status
store_resource_load_path(struct scope *s, struct db *db, struct resource *out, enum kind kind, const char *path)
{
	bool found;

	TRY(load_one(s, db, out, &found, SQL_RESOURCE_BY_PATH, ARGS(TEXT(path), TEXT(kind_name(kind)))));
	return found ? OK : fail(s, ERR_NOT_FOUND, NULL, "there is no such %s", kind_name(kind));
}

enum status
store_resource_find_ref(struct scope *s, struct db *db, struct resource *out, bool *found, const char *source, const char *client_ref)
{
	return load_one(s, db, out, found, SQL_RESOURCE_BY_REF, ARGS(TEXT(source), TEXT(client_ref)));
}

enum status
store_resource_insert(struct scope *s, struct db *db, struct resource *r, const char *name_fold, bool *inserted)
{
	int64_t changes;

	TRY(db_run(s, db, SQL_RESOURCE_INSERT,
	    ARGS(TEXT(r->uid), TEXT(kind_name(r->kind)), TEXT(r->locale), TEXT(state_name(r->state)), TEXT(r->slug), ID(r->parent_id),
	    ID(r->live_revision), ID(r->scheduled_revision), ID(r->publish_at), ID(r->first_published_at), ID(r->live_changed_at),
	    TEXT(r->live_title), TEXT(r->live_summary), INT(r->live_noindex), TEXT(r->live_canonical), ID(r->live_author), INT(r->is_sticky),
	    TEXT(r->content_hash), ID(r->hash_since), TEXT(r->ref_source), TEXT(r->client_ref), TEXT(r->ref_hash), TEXT(r->guid), TEXT(name_fold),
	    ID(r->owner_user), INT(r->created_at), INT(r->changed_at)), &changes));
	*inserted = changes == 1;
	if (*inserted)
		r->id = db_insert_id(db);
	return OK;
}

enum status
store_resource_set_address(struct scope *s, struct db *db, const struct resource *r)
{
	return db_run(s, db, SQL_RESOURCE_SET_ADDRESS, ARGS(TEXT(r->slug), TEXT(r->live_canonical), INT(r->id)), NULL);
}

enum status
store_resource_edit(struct scope *s, struct db *db, struct resource *r, const char *name_fold, bool *changed)
{
	int64_t changes;

	TRY(db_run(s, db, SQL_RESOURCE_EDIT, ARGS(INT(r->head_revision), TEXT(r->slug), ID(r->parent_id), TEXT(name_fold), INT(r->changed_at),
	    INT(r->id), INT(r->edit_version)), &changes));
	*changed = changes == 1;
	if (*changed)
		r->edit_version++;
	return OK;
}

enum status
store_resource_publish(struct scope *s, struct db *db, struct resource *r, enum state from, const char *name_fold, bool *changed)
{
	int64_t changes;

	TRY(db_run(s, db, SQL_RESOURCE_PUBLISH,
	    ARGS(INT(r->live_revision), INT(r->first_published_at), INT(r->live_changed_at), TEXT(r->live_title), TEXT(r->live_summary),
	    INT(r->live_noindex), TEXT(r->live_canonical), ID(r->live_author), TEXT(r->content_hash), ID(r->hash_since), TEXT(name_fold),
	    INT(r->changed_at), INT(r->id), TEXT(state_name(from)), INT(r->edit_version)), &changes));
	*changed = raise_versions(r, changes);
	return OK;
}

enum status
store_resource_leave(struct scope *s, struct db *db, struct resource *r, enum state from, bool *changed)
{
	int64_t changes;

	TRY(db_run(s, db, SQL_RESOURCE_LEAVE, ARGS(TEXT(state_name(r->state)), ID(r->merged_into), INT(r->changed_at), INT(r->id),
	    TEXT(state_name(from)), INT(r->edit_version)), &changes));
	*changed = raise_versions(r, changes);
	return OK;
}

enum status
store_resource_schedule(struct scope *s, struct db *db, struct resource *r, enum state from, bool *changed)
{
	int64_t changes;

	TRY(db_run(s, db, SQL_RESOURCE_SCHEDULE, ARGS(TEXT(state_name(r->state)), ID(r->scheduled_revision), ID(r->publish_at), ID(r->withdraw_at),
	    INT(r->changed_at), INT(r->id), TEXT(state_name(from)), INT(r->edit_version)), &changes));
	*changed = raise_versions(r, changes);
	return OK;
}

enum status
store_resource_is_used(struct scope *s, struct db *db, int64_t id, bool *used)
{
	int64_t value;

	TRY(db_value(s, db, &value, SQL_RESOURCE_IS_USED, ARGS(INT(id))));
	*used = value != 0;
	return OK;
}

enum status
store_resource_remove(struct scope *s, struct db *db, const struct resource *r, bool *removed)
{
	int64_t changes;

	TRY(db_run(s, db, SQL_RESOURCE_REMOVE_LINKS, ARGS(INT(r->id)), NULL));
	TRY(db_run(s, db, SQL_RESOURCE_REMOVE_RENDERED, ARGS(INT(r->id)), NULL));
	TRY(db_run(s, db, SQL_RESOURCE_REMOVE_REVISIONS, ARGS(INT(r->id)), NULL));
	TRY(db_run(s, db, SQL_RESOURCE_REMOVE_AUTOSAVES, ARGS(TEXT(r->uid)), NULL));
	TRY(db_run(s, db, SQL_PATH_REMOVE_ALL, ARGS(INT(r->id)), NULL));
	TRY(db_run(s, db, SQL_RESOURCE_REMOVE, ARGS(INT(r->id), INT(r->edit_version)), &changes));
	*removed = changes == 1;
	return OK;
}

enum status
store_resource_readdress(struct scope *s, struct db *db, struct resource *r, bool *changed)
{
	int64_t changes;

	TRY(db_run(s, db, SQL_RESOURCE_READDRESS, ARGS(TEXT(r->slug), ID(r->parent_id), TEXT(r->live_canonical), INT(r->changed_at), INT(r->id),
	    INT(r->edit_version)), &changes));
	*changed = raise_versions(r, changes);
	return OK;
}

enum status
store_resource_note(struct scope *s, struct db *db, int64_t id, int64_t *event_version)
{
	return db_value(s, db, event_version, SQL_RESOURCE_NOTE, ARGS(INT(id)));
}

enum status
store_resource_due(struct scope *s, struct db *db, int64_t now, struct due *out, size_t limit, size_t *count)
{
	struct db_rows *rows;

	*count = 0;
	TRY(db_query(s, db, &rows, SQL_RESOURCE_DUE, ARGS(INT(now), INT((int64_t)limit))));
	while (*count < limit && db_next(rows)) {
		out[*count].id = col_int(rows, 0);
		out[(*count)++].revision = col_int(rows, 1);
	}
	return db_end(s, rows);
}

enum status
store_resource_due_out(struct scope *s, struct db *db, int64_t now, int64_t *out, size_t limit, size_t *count)
{
	struct db_rows *rows;

	*count = 0;
	TRY(db_query(s, db, &rows, SQL_RESOURCE_DUE_OUT, ARGS(INT(now), INT((int64_t)limit))));
	while (*count < limit && db_next(rows))
		out[(*count)++] = col_int(rows, 0);
	return db_end(s, rows);
}

enum status
store_resource_owner(struct scope *s, struct db *db, int64_t id, int64_t *owner, bool *found)
{
	struct db_rows *rows;

	TRY(db_query(s, db, &rows, SQL_RESOURCE_OWNER, ARGS(INT(id))));
	*found = db_next(rows);
	*owner = *found ? col_int(rows, 0) : 0;
	return db_end(s, rows);
}

enum status
store_resource_is_live_by(struct scope *s, struct db *db, int64_t author, int64_t except, bool *out)
{
	struct db_rows *rows;

	TRY(db_query(s, db, &rows, SQL_RESOURCE_LIVE_BY_AUTHOR, ARGS(INT(author), INT(except))));
	*out = db_next(rows);
	return db_end(s, rows);
}

enum status
store_resource_is_above(struct scope *s, struct db *db, int64_t id, int64_t of, bool *out, int *depth)
{
	struct db_rows *rows;

	*out = id == of;
	*depth = 0;
	TRY(db_query(s, db, &rows, SQL_RESOURCE_ANCESTORS, ARGS(INT(of))));
	while (db_next(rows)) {
		*out = *out || col_int(rows, 0) == id;
		*depth = (int)col_int(rows, 1);
	}
	return db_end(s, rows);
}

enum status
store_resource_list(struct scope *s, struct db *db, const struct list_filter *f, int64_t *out, size_t *count)
{
	static const enum sql sql[2][2] = {
		{ SQL_RESOURCE_LIST_CREATED_UP, SQL_RESOURCE_LIST_CREATED_DOWN },
		{ SQL_RESOURCE_LIST_CHANGED_UP, SQL_RESOURCE_LIST_CHANGED_DOWN },
	};
	struct db_rows *rows;

	*count = 0;
	TRY(db_query(s, db, &rows, sql[f->by_changed][f->is_down],
	    ARGS(TEXT(kind_name(f->kind)), TEXT(f->state), ID(f->tag_id), ID(f->author_id), TEXT(f->locale), INT(f->changed_since),
	    INT(f->sees_all), INT(f->user_id), INT(f->after_at), INT(f->after_id), INT(f->limit))));
	while (*count < (size_t)f->limit && db_next(rows))
		out[(*count)++] = col_int(rows, 0);
	return db_end(s, rows);
}

static bool
raise_versions(struct resource *r, int64_t changes)
{
	if (changes != 1)
		return false;
	r->edit_version++;
	r->event_version++;
	return true;
}

static enum status
load_one(struct scope *s, struct db *db, struct resource *out, bool *found, enum sql sql, struct db_args args)
{
	struct db_rows *rows;

	TRY(db_query(s, db, &rows, sql, args));
	*found = db_next(rows);
	if (*found)
		read_resource(s, rows, out);
	return db_end(s, rows);
}

static void
read_resource(struct scope *s, struct db_rows *rows, struct resource *r)
{
	int col = 0;

	*r = (struct resource){ 0 };
	r->id = col_int(rows, col++);
	r->uid = col_text(s, rows, col++);
	(void)kind_parse(col_str(rows, col++), &r->kind);
	r->locale = col_text(s, rows, col++);
	(void)state_parse(col_str(rows, col++), &r->state);
	r->slug = col_text(s, rows, col++);
	r->parent_id = col_int(rows, col++);
	r->edit_version = col_int(rows, col++);
	r->event_version = col_int(rows, col++);
	r->head_revision = col_int(rows, col++);
	r->live_revision = col_int(rows, col++);
	r->scheduled_revision = col_int(rows, col++);
	r->publish_at = col_int(rows, col++);
	r->withdraw_at = col_int(rows, col++);
	r->first_published_at = col_int(rows, col++);
	r->live_changed_at = col_int(rows, col++);
	r->live_title = col_text(s, rows, col++);
	r->live_summary = col_text(s, rows, col++);
	r->live_noindex = col_bool(rows, col++);
	r->live_canonical = col_text(s, rows, col++);
	r->live_author = col_int(rows, col++);
	r->is_sticky = col_bool(rows, col++);
	r->content_hash = col_text(s, rows, col++);
	r->hash_since = col_int(rows, col++);
	r->duplicate_of = col_int(rows, col++);
	r->distinct_reason = col_text(s, rows, col++);
	r->merged_into = col_int(rows, col++);
	r->client_ref = col_text(s, rows, col++);
	r->ref_hash = col_text(s, rows, col++);
	r->ref_source = col_text(s, rows, col++);
	r->guid = col_text(s, rows, col++);
	r->owner_user = col_int(rows, col++);
	r->created_at = col_int(rows, col++);
	r->changed_at = col_int(rows, col++);
	r->path = col_text(s, rows, col++);
}
