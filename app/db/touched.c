/* touched.c - from the names a transaction touched to change_log, and from there to the shared page. */
#include "db/touched.h"
#include "db/shared.h"
#include "db/sqlite.h"

#define ROWS_AT_ONCE 500

static void	 add(struct touched *, const char *name);
static void	 bump(struct shared *, const char *name);
static void	 bump_lines(struct shared *, struct str names);
static enum status start_anywhere(struct scope *, struct db *, struct shared *);

void
touched_clear(struct touched *t)
{
	t->count = t->saved = t->rows = 0;
}

struct touched_mark
touched_mark(const struct touched *t)
{
	return (struct touched_mark){ t->count, t->saved, t->rows };
}

void
touched_rewind(struct touched *t, struct touched_mark mark)
{
	t->count = mark.count;
	t->saved = mark.saved;
	t->rows = mark.rows;
}

void
db_touch(struct db *db, const char *name_fmt, ...)
{
	char name[TOUCHED_NAME];
	va_list ap;
	int len;

	va_start(ap, name_fmt);
	len = vsnprintf(name, sizeof(name), name_fmt, ap);
	va_end(ap);
	/* A name cut short would be another dependency; too much is always right. */
	if (len <= 0 || (size_t)len >= sizeof(name) || strchr(name, '\n') != NULL)
		add(db_touched(db), "*");
	else
		add(db_touched(db), name);
}

enum status
db_touched_save(struct scope *s, struct db *db)
{
	struct touched *t = db_touched(db);
	struct buf names;
	int64_t seq;
	int i;

	if (t->saved == t->count)
		return OK;
	buf_init(&names, s->arena);
	for (i = t->saved; i < t->count; i++) {
		if (i > t->saved)
			buf_char(&names, '\n');
		buf_text(&names, t->names[i]);
	}
	TRY(db_value(s, db, &seq, SQL_CHANGE_LOG_INSERT, ARGS(STRV(buf_as_str(&names)), INT(s->now))));
	if (t->rows++ == 0)
		t->first_seq = seq;
	t->saved = t->count;
	return OK;
}

void
db_touched_bump(struct db *db, struct shared *shared)
{
	struct touched *t = db_touched(db);
	int i;

	for (i = 0; i < t->count; i++)
		bump(shared, t->names[i]);
	/* Rows of one transaction are numbered without a gap, as there is one writing transaction at a time. */
	if (t->rows > 0)
		shared_changes_advance(shared, t->first_seq - 1, t->first_seq + t->rows - 1);
	touched_clear(t);
}

enum status
db_changes_apply(struct scope *s, struct db *db, struct shared *shared)
{
	struct db_rows *rows;
	int64_t seen, last, seq;
	int n;

	if (shared_changes_seen(shared) == 0)
		return start_anywhere(s, db, shared);
	do {
		seen = last = shared_changes_seen(shared);
		TRY(db_query(s, db, &rows, SQL_CHANGE_LOG_AFTER, ARGS(INT(seen), INT(ROWS_AT_ONCE))));
		for (n = 0; db_next(rows); n++) {
			seq = col_int(rows, 0);
			/* Rows that were removed before anybody read them: nobody knows what they said. */
			if (seq != last + 1)
				shared_bump_all(shared);
			bump_lines(shared, col_str(rows, 1));
			last = seq;
		}
		TRY(db_end(s, rows));
		if (n > 0)
			shared_changes_advance(shared, seen, last);
	} while (n == ROWS_AT_ONCE);
	return OK;
}

static void
add(struct touched *t, const char *name)
{
	uint32_t slot = shared_slot(name);
	int i;

	for (i = 0; i < t->count; i++)
		if (t->slots[i] == slot && strcmp(t->names[i], name) == 0)
			return;
	if (t->count == TOUCHED_MAX)
		return;			/* the last place holds "*" already */
	if (t->count == TOUCHED_MAX - 1)
		name = "*";
	t->slots[t->count] = shared_slot(name);
	snprintf(t->names[t->count++], TOUCHED_NAME, "%s", name);
}

static void
bump(struct shared *shared, const char *name)
{
	if (strcmp(name, "*") == 0)
		shared_bump_all(shared);
	else
		shared_bump(shared, shared_slot(name));
}

static void
bump_lines(struct shared *shared, struct str names)
{
	char name[TOUCHED_NAME];
	struct str line;

	while (str_next(&names, '\n', &line)) {
		snprintf(name, sizeof(name), "%.*s", STR_FMT(line));
		bump(shared, line.len < sizeof(name) ? name : "*");
	}
}

/* A new page: caches that came before it know nothing of its counters. */
static enum status
start_anywhere(struct scope *s, struct db *db, struct shared *shared)
{
	int64_t last;

	TRY(db_value(s, db, &last, SQL_CHANGE_LOG_LAST, NO_ARGS));
	if (last > 0 && shared_changes_advance(shared, 0, last))
		shared_bump_all(shared);
	return OK;
}
