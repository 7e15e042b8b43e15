/* address.c - which slug and path a resource may get. */
#include "actions/address.h"

#include "core/reserved.h"
#include "core/rule.h"
#include "core/slug.h"
#include "core/url.h"
#include "store/paths.h"

#define SENTINEL 9999999	/* a number no slug reaches; its place shows where numbers go */
#define SENTINEL_TEXT "-9999999"
#define NUMBER_MAX 1000000

static enum status	plan_exact(struct scope *, const char *exact, struct address_plan *);
static enum status	plan_generated(struct scope *, const struct site *, const struct resource *, const char *parent_path, const char *slug,
			    struct address_plan *);
static enum status	address_of(struct scope *, const struct site *, const struct resource *, const char *slug, const char *parent_path,
			    struct address *);
static bool		split(struct scope *, const char *text, const char **head, const char **tail);
static struct address	numbered(struct scope *, const struct address_plan *, int n);
static enum status	first_free(struct scope *, struct db *, const struct address_plan *, int from, int *out);
static enum status	refuse(struct scope *, struct db *, const struct address_plan *);

enum status
address_plan(struct scope *s, const struct site *site, const struct resource *r, const char *parent_path, const char *exact,
    bool slug_is_given, struct address_plan *out)
{
	const char *why, *short_id = scope_printf(s, "%s-%.8s", kind_name(r->kind), r->uid + 24), *tries[3];
	size_t i;

	*out = (struct address_plan){ .is_given = slug_is_given || exact != NULL, .from = 2,
		.conflict = exact != NULL ? ERR_PATH_CONFLICT : ERR_SLUG_CONFLICT };
	if (exact != NULL) {
		TRY(plan_exact(s, exact, out));
		out->first.slug = r->slug[0] != '\0' ? r->slug : short_id;
	} else if (slug_is_given) {
		TRY(address_of(s, site, r, r->slug, parent_path, &out->first));
	}
	if (out->is_given) {
		out->has_first = true;
		if (path_is_reserved(s, out->first.path, &why))
			return fail(s, ERR_RESERVED, exact != NULL ? "path" : "slug", "the path %.300s is reserved: %s", out->first.path, why);
		return OK;
	}
	/* "Sitemap" gives /sitemap, which is reserved with all that begins so: then its kind goes before it. */
	tries[0] = r->slug[0] != '\0' ? r->slug : short_id;
	tries[1] = slug_numbered(s, scope_printf(s, "%s-%s", kind_name(r->kind), tries[0]), SENTINEL);
	tries[1] = arena_strndup(s->arena, tries[1], strlen(tries[1]) - strlen(SENTINEL_TEXT));
	tries[2] = short_id;
	for (i = 0; i < COUNT(tries); i++) {
		TRY(plan_generated(s, site, r, parent_path, tries[i], out));
		if (out->has_first || !path_is_reserved(s, numbered(s, out, 2).path, &why))
			return OK;
	}
	return fail(s, ERR_RESERVED, "slug", "every path that the title gives is reserved");
}

enum status
address_probe(struct scope *s, struct db *db, struct address_plan *plan)
{
	bool taken;

	if (plan->is_given || plan->stem == NULL)
		return OK;
	if (plan->has_first) {
		TRY(store_path_is_taken(s, db, plan->first.path, plan->first.fold, &taken));
		plan->has_first = !taken;
	}
	return plan->has_first ? OK : first_free(s, db, plan, plan->from, &plan->from);
}

enum status
address_claim(struct scope *s, struct db *db, const struct address_plan *plan, int64_t resource, bool was_public, struct address *out)
{
	bool claimed = false;
	int n = plan->from;

	*out = plan->first;
	if (plan->has_first)
		TRY(store_path_claim(s, db, out->path, out->fold, resource, was_public, &claimed));
	if (!claimed && plan->stem != NULL && !plan->is_given) {
		*out = numbered(s, plan, n);
		TRY(store_path_claim(s, db, out->path, out->fold, resource, was_public, &claimed));
		if (!claimed) {
			TRY(first_free(s, db, plan, n, &n));
			*out = numbered(s, plan, n);
			TRY(store_path_claim(s, db, out->path, out->fold, resource, was_public, &claimed));
		}
	}
	return claimed ? OK : refuse(s, db, plan);
}

static enum status
plan_exact(struct scope *s, const char *exact, struct address_plan *out)
{
	struct url_form form;

	if (url_form(s, &form, str_of(exact)) != OK)
		return fail(s, ERR_INVALID, "path", "%s", s->error->detail);
	/* As the source of a redirect, in an export too, it would take the addresses of others. */
	if (rule_is_pattern(str_of(form.path)))
		return fail(s, ERR_INVALID, "path", "has a segment that redirects read as a pattern: '*' or ':name'");
	out->first.path = form.path;
	out->first.fold = form.fold;
	return OK;
}

static enum status
plan_generated(struct scope *s, const struct site *site, const struct resource *r, const char *parent_path, const char *slug,
    struct address_plan *out)
{
	const char *long_slug = slug_numbered(s, slug, SENTINEL), *why;
	struct address sample;

	TRY(address_of(s, site, r, slug, parent_path, &out->first));
	out->has_first = !path_is_reserved(s, out->first.path, &why);
	TRY(address_of(s, site, r, long_slug, parent_path, &sample));
	out->stem = arena_strndup(s->arena, long_slug, strlen(long_slug) - strlen(SENTINEL_TEXT));
	/* A pattern that shows only the id leaves the number no place; such a path is free anyway. */
	if (!split(s, sample.path, &out->path.head, &out->path.tail) || !split(s, sample.fold, &out->fold.head, &out->fold.tail))
		out->stem = NULL;
	return OK;
}

static enum status
address_of(struct scope *s, const struct site *site, const struct resource *r, const char *slug, const char *parent_path, struct address *out)
{
	struct resource named = *r;
	struct url_form form;
	const char *path;

	named.slug = slug;
	TRY(path_from_pattern(s, &path, site->pattern[r->kind], &named, parent_path));
	if (url_form(s, &form, str_of(path)) != OK || strlen(path) > URL_PATH_MAX)
		return fail(s, ERR_INVALID, "slug", "gives a path of more than %d bytes", URL_PATH_MAX);
	*out = (struct address){ slug, form.path, form.fold };
	return OK;
}

/* Cut the last number out; both pieces keep the '-' outside. */
static bool
split(struct scope *s, const char *text, const char **head, const char **tail)
{
	const char *at = NULL, *p = text;

	while ((p = strstr(p, SENTINEL_TEXT)) != NULL)
		at = p++;
	if (at == NULL)
		return false;
	*head = arena_strndup(s->arena, text, (size_t)(at - text));
	*tail = at + strlen(SENTINEL_TEXT);
	return true;
}

static struct address
numbered(struct scope *s, const struct address_plan *plan, int n)
{
	if (plan->stem == NULL)
		return plan->first;
	return (struct address){ scope_printf(s, "%s-%d", plan->stem, n), scope_printf(s, "%s-%d%s", plan->path.head, n, plan->path.tail),
		scope_printf(s, "%s-%d%s", plan->fold.head, n, plan->fold.tail) };
}

/* A free number at or above `from` whose predecessor is taken, in few steps however many are in use: double the distance until one is
 * free, then halve it. */
static enum status
first_free(struct scope *s, struct db *db, const struct address_plan *plan, int from, int *out)
{
	int taken_at = from - 1, free_at = from, step = 1, middle;
	struct address a;
	bool taken = true;

	for (;;) {
		a = numbered(s, plan, free_at);
		TRY(store_path_is_taken(s, db, a.path, a.fold, &taken));
		if (!taken)
			break;
		if (free_at > NUMBER_MAX)
			return fail(s, ERR_SLUG_CONFLICT, "slug", "more than %d resources share this slug", NUMBER_MAX);
		taken_at = free_at;
		free_at += step;
		step *= 2;
	}
	while (free_at - taken_at > 1) {
		middle = taken_at + (free_at - taken_at) / 2;
		a = numbered(s, plan, middle);
		TRY(store_path_is_taken(s, db, a.path, a.fold, &taken));
		if (taken)
			taken_at = middle;
		else
			free_at = middle;
	}
	*out = free_at;
	return OK;
}

static enum status
refuse(struct scope *s, struct db *db, const struct address_plan *plan)
{
	const char *field = plan->conflict == ERR_PATH_CONFLICT ? "path" : "slug", *holder;
	bool found;

	TRY(store_path_holder(s, db, plan->first.path, plan->first.fold, &holder, &found));
	if (!found)
		return fail(s, ERR_INTERNAL, NULL, "the path %.300s was refused, but nobody holds it", plan->first.path);
	return fail(s, plan->conflict, field, "%s", holder);
}
