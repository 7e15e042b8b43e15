#include "actions/audit.h"

#include "actions/live.h"
#include "actions/plan.h"
#include "db/writer.h"
#include "render/markdown.h"
#include "store/audit.h"
#include "store/duplicates.h"
#include "store/paths.h"
#include "store/resources.h"
#include "store/revisions.h"
#include "store/terms.h"

#define FOUND_MAX 200		/* faults of one query that are told; what is left shows when they are mended */

enum audit_about { ABOUT_ROWS, ABOUT_CANONICAL };
enum audit_range { RANGE_RESOURCES, RANGE_WHOLE };
enum audit_fix { FIX_NONE, FIX_TAGS, FIX_DUPLICATES, FIX_PART, FIX_RENDERED };

static const struct check {
	const char	*name;
	enum sql	 sql;
	enum audit_about about;
	enum audit_range range;
	enum audit_fix	 fix;
	const char	*promise, *advice;
} checks[] = {
#define AUDIT(NAME, name, about, range, fix, promise, advice) { name, SQL_AUDIT_##NAME, ABOUT_##about, RANGE_##range, FIX_##fix, promise, advice },
#include "actions/audit.def"
#undef AUDIT
};

struct found { int64_t id; const char *subject, *detail; };

struct mend {
	const struct site *site;
	enum audit_fix	 fix;
	int64_t		 id;
	int64_t		 number;	/* FIX_RENDERED: the live revision, */
	struct rendered	 rendered;	/* rendered before the writer's turn */
};

static enum status	run_check(struct scope *, struct audit *, const struct check *, int64_t after, int64_t last);
static enum status	find(struct scope *, struct db *, const struct site *, const struct check *, int64_t after, int64_t last, struct found *,
			    size_t *count);
static enum status	keep_own(struct scope *, struct db *, const struct site *, struct found *, size_t *count);
static enum status	still_there(struct scope *, struct db *, const struct site *, const struct check *, int64_t id, bool *out);
static int		by_id(const void *, const void *);
static enum status	mend(struct scope *, struct audit *, const struct check *, int64_t id, bool *mended);
static enum status	render_again(struct scope *, struct db *, struct mend *);
static enum status	mend_apply(struct scope *, struct db *, void *);
static enum status	mend_tags(struct scope *, struct db *, const struct resource *);
static enum status	mend_duplicates(struct scope *, struct db *, const struct site *, const struct resource *);
static enum status	compare_schema(struct scope *, struct audit *);

enum status
audit_rows(struct scope *s, struct audit *a)
{
	int64_t last, after;
	size_t i;

	TRY(compare_schema(s, a));
	TRY(store_audit_last_resource(s, a->read, &last));
	for (i = 0; i < COUNT(checks); i++)
		if (checks[i].range == RANGE_WHOLE)
			TRY(run_check(s, a, &checks[i], 0, 0));
	for (after = 0; after < last; after += AUDIT_RANGE) {
		int64_t end = after + AUDIT_RANGE < last ? after + AUDIT_RANGE : last;

		for (i = 0; i < COUNT(checks); i++)
			if (checks[i].range == RANGE_RESOURCES)
				TRY(run_check(s, a, &checks[i], after, end));
		a->rows = end;
		a->progress(a->arg, "rows", end);
	}
	return OK;
}

enum status
audit_canonical(struct scope *s, struct db *db, const struct site *site, int64_t after, int64_t last, struct audit_row *out, size_t limit,
    size_t *count)
{
	struct found found[FOUND_MAX];
	size_t n, total = 0;
	struct audit_row *all = scope_alloc(s, COUNT(checks) * FOUND_MAX * sizeof(*all));

	for (size_t i = 0; i < COUNT(checks); i++) {
		if (checks[i].about != ABOUT_CANONICAL)
			continue;
		TRY(find(s, db, site, &checks[i], after, last, found, &n));
		for (size_t k = 0; k < n; k++)
			all[total++] = (struct audit_row){ found[k].id, checks[i].name, found[k].detail, checks[i].advice };
	}
	qsort(all, total, sizeof(*all), by_id);
	*count = 0;
	for (size_t i = 0; i < total && *count < limit; i++)
		if (i == 0 || all[i].id != all[i - 1].id)
			out[(*count)++] = all[i];
	return OK;
}

static int
by_id(const void *a, const void *b)
{
	const struct audit_row *x = a, *y = b;

	return x->id != y->id ? (x->id > y->id) - (x->id < y->id) : strcmp(x->check, y->check);
}

void
audit_tell(struct scope *s, struct audit *a, const char *check, const char *subject, const char *advice, bool is_mended, const char *detail_fmt, ...)
{
	struct audit_fault f = { .check = check, .subject = subject, .advice = advice, .is_mended = is_mended };
	va_list ap;

	va_start(ap, detail_fmt);
	f.detail = arena_vprintf(s->arena, detail_fmt, ap);
	va_end(ap);
	a->faults++;
	a->mended += is_mended;
	a->found(a->arg, &f);
}

static enum status
run_check(struct scope *s, struct audit *a, const struct check *c, int64_t after, int64_t last)
{
	/* Checks of the whole file take longer than a read may, and hold up nobody. */
	struct db *db = c->range == RANGE_WHOLE ? a->write : a->read;
	struct arena_mark mark = arena_mark(s->arena);
	struct found *found = scope_alloc(s, FOUND_MAX * sizeof(*found));
	size_t count, i;

	TRY(find(s, db, a->site, c, after, last, found, &count));
	for (i = 0; i < count; i++) {
		bool is_real = true, is_mended = false;

		if (c->range == RANGE_RESOURCES)
			TRY(still_there(s, db, a->site, c, found[i].id, &is_real));
		if (!is_real)
			continue;
		if (a->fixes && c->fix != FIX_NONE)
			TRY(mend(s, a, c, found[i].id, &is_mended));
		audit_tell(s, a, c->name, found[i].subject, c->advice, is_mended, "%s (promise: %s)", found[i].detail, c->promise);
	}
	arena_rewind(s->arena, mark);
	return OK;
}

static enum status
find(struct scope *s, struct db *db, const struct site *site, const struct check *c, int64_t after, int64_t last, struct found *out,
    size_t *count)
{
	struct db_rows *rows;

	*count = 0;
	TRY(c->range == RANGE_WHOLE ? store_audit_whole(s, db, &rows, c->sql, s->now) : store_audit_range(s, db, &rows, c->sql, after, last));
	while (*count < FOUND_MAX && db_next(rows))
		out[(*count)++] = (struct found){ col_int(rows, 0), col_text(s, rows, 1), col_text(s, rows, 2) };
	TRY(db_end(s, rows));
	return c->sql == SQL_AUDIT_OWN_OVERRIDE ? keep_own(s, db, site, out, count) : OK;
}

static enum status
keep_own(struct scope *s, struct db *db, const struct site *site, struct found *found, size_t *count)
{
	size_t kept = 0;

	for (size_t i = 0; i < *count; i++) {
		struct resource r;

		TRY(store_resource_load(s, db, &r, found[i].id));
		if (plan_override(s, site, r.live_canonical, r.path) == NULL)
			found[kept++] = found[i];
	}
	*count = kept;
	return OK;
}

static enum status
still_there(struct scope *s, struct db *db, const struct site *site, const struct check *c, int64_t id, bool *out)
{
	struct found found[FOUND_MAX];
	size_t count;

	TRY(find(s, db, site, c, id - 1, id, found, &count));
	*out = count > 0;
	return OK;
}

static enum status
mend(struct scope *s, struct audit *a, const struct check *c, int64_t id, bool *mended)
{
	struct mend m = { .site = a->site, .fix = c->fix, .id = id };
	bool is_left;

	enum status status = m.fix == FIX_RENDERED ? render_again(s, a->read, &m) : OK;

	if (status == OK)
		status = writer_run(s, a->write, a->shared, mend_apply, &m);
	/* What is damaged further, or was changed meanwhile, stays to be told; the others are looked at all the same. */
	if (status == ERR_NOT_FOUND || status == ERR_CONFLICT || status == ERR_INVALID) {
		s->error = NULL;
		*mended = false;
		return OK;
	}
	TRY(status);
	TRY(still_there(s, a->read, a->site, c, id, &is_left));
	*mended = !is_left;
	return OK;
}

static enum status
render_again(struct scope *s, struct db *db, struct mend *m)
{
	struct revision v;
	struct resource r;

	TRY(store_resource_load(s, db, &r, m->id));
	TRY(store_revision_load(s, db, &v, r.id, r.live_revision, true));
	m->number = v.number;
	return render_content(s, &m->rendered, v.format, str_of(v.source));
}

static enum status
mend_apply(struct scope *s, struct db *db, void *arg)
{
	const struct mend *m = arg;
	struct resource r;
	int64_t first;

	TRY(store_resource_load(s, db, &r, m->id));
	if (m->fix == FIX_TAGS)
		TRY(mend_tags(s, db, &r));
	if (m->fix == FIX_DUPLICATES)
		TRY(mend_duplicates(s, db, m->site, &r));
	if (m->fix == FIX_RENDERED && r.live_revision == m->number)
		TRY(store_rendered_insert(s, db, r.id, m->number, RENDERER_VERSION, &m->rendered));
	TRY(store_sitemap_part_touch(s, db, r.id, s->now, &first));
	db_touch(db, "resource:%" PRId64, r.id);
	db_touch(db, "list:%s", kind_name(r.kind));
	db_touch(db, "sitemap:%" PRId64, first);
	db_touch(db, "sitemap");
	return OK;
}

static enum status
mend_tags(struct scope *s, struct db *db, const struct resource *r)
{
	struct revision v = { 0 };
	const int64_t *had;
	size_t count, i;

	TRY(store_live_tags_remove(s, db, r->id, &had, &count));
	if (r->state == STATE_PUBLISHED)
		TRY(store_revision_load(s, db, &v, r->id, r->live_revision, false));
	TRY(store_live_tags_set(s, db, r->id, r->first_published_at, v.tag_ids, v.tag_count));
	for (i = 0; i < count; i++)
		db_touch(db, "tag:%" PRId64, had[i]);
	for (i = 0; i < v.tag_count; i++)
		db_touch(db, "tag:%" PRId64, v.tag_ids[i]);
	db_touch(db, "list:tag");
	return OK;
}

static enum status
mend_duplicates(struct scope *s, struct db *db, const struct site *site, const struct resource *r)
{
	TRY(store_duplicates_set(s, db, r->id, 0));
	if (r->state != STATE_PUBLISHED || r->content_hash == NULL)
		return OK;
	return duplicates_settle(s, db, site, r->locale, r->content_hash, 0, &(int64_t){ 0 });
}

/* What the migrations make is there, and as they made it; what somebody added does no harm to a promise and is let be, but for triggers. */
static enum status
compare_schema(struct scope *s, struct audit *a)
{
	static const char advice[] = "make it again as the files in migrations/ say, or restore a backup";
	struct audit_object *want, *have;
	size_t want_count, have_count, i = 0, j = 0;
	struct db *fresh;
	enum status status;
	int order;

	TRY(db_open(s, &fresh, a->fresh_db, DB_READ));
	status = store_audit_schema(s, fresh, &want, &want_count);
	db_close(fresh);
	TRY(status);
	TRY(store_audit_schema(s, a->read, &have, &have_count));
	while (i < want_count || j < have_count) {
		order = i == want_count ? 1 : j == have_count ? -1 : strcmp(want[i].name, have[j].name);
		if (order < 0)
			audit_tell(s, a, "schema", want[i].name, advice, false, "the %s is missing", want[i].type);
		else if (order > 0 && strcmp(have[j].type, "trigger") == 0)
			audit_tell(s, a, "schema", have[j].name, "drop it", false, "the trigger was added by hand");
		else if (order == 0 && (strcmp(want[i].type, have[j].type) != 0 || strcmp(want[i].sql, have[j].sql) != 0))
			audit_tell(s, a, "schema", want[i].name, advice, false, "the %s is not as the migrations make it", want[i].type);
		i += order <= 0;
		j += order >= 0;
	}
	return OK;
}
