/* resolve.c - follows an address through the path tables until it lands, then compares what was asked with what should have been. */
#include "actions/resolve.h"
#include "actions/paging.h"
#include "base/log.h"
#include "core/percent.h"
#include "core/reserved.h"
#include "store/lists.h"
#include "store/lookup.h"

/* Rows that may lead to one another; what is longer is a circle of external rows. */
#define STEPS_MAX 8

/* Where the search stands. */
struct walk {
	const char	*path, *fold;
	struct str	 query;		/* what is still to be kept */
	int		 status;	/* of the redirect so far; 0 = still at the address that was asked for */
	enum kind	 kind;		/* of out->resource_id */
	bool		 took_rule;
	const char	*redirect;	/* the first one */
};

static enum status	take_step(struct scope *, struct db *, const struct site *, struct walk *, struct resolution *, bool *done);
static enum status	find_row(struct scope *, struct db *, const struct site *, struct walk *, struct path_hit *, bool *found);
static const char	*key_of(struct scope *, const struct path_hit *);
static enum status	follow(struct scope *, const struct site *, struct walk *, const struct path_hit *, struct resolution *, bool *done);
static void		follow_target(struct scope *, const struct site *, struct walk *, const char *target, struct resolution *, bool *done);
static enum status	settle(struct scope *, struct db *, const struct site *, const struct walk *, struct str asked, bool host_is_canonical,
			    struct resolution *);
static enum list	landing_list(const struct walk *, const struct resolution *, bool *has_pages);
static int		merge_status(int first, int next);
static struct str	join_query(struct scope *, struct str a, struct str b);
static const char	*add_query(struct scope *, const char *url, struct str query);

static const struct resolution nothing = { .meaning = MEANING_NONE, .status = 404, .page = 1 };

enum status
resolve(struct scope *s, struct db *db, const struct site *site, struct str path, struct str query, bool host_is_canonical,
    struct resolution *out)
{
	struct url_form form;
	struct walk w;
	bool done = false;

	*out = nothing;
	TRY(url_form(s, &form, path));
	w = (struct walk){ form.path, form.fold, query, 0, KIND_PAGE, false, NULL };
	for (int steps = 0; steps < STEPS_MAX && !done; steps++)
		TRY(take_step(s, db, site, &w, out, &done));
	if (!done)
		log_warn(s, "redirect.circle", "\"path\":%s", log_quote(s, form.path));
	if (done && out->meaning == MEANING_PAGE)
		TRY(settle(s, db, site, &w, path, host_is_canonical, out));
	out->path = form.path;
	out->redirect = w.redirect;
	return OK;
}

const char *
resolve_list(const char *fold)
{
	static const char *const lists[] = { "articles", "tags", "authors" };

	if (strcmp(fold, "/") == 0)
		return "home";
	for (size_t i = 0; i < COUNT(lists); i++)
		if (fold[0] == '/' && strcmp(fold + 1, lists[i]) == 0)
			return lists[i];
	return NULL;
}

bool
resolve_is_route(struct scope *s, const char *path, const char *fold)
{
	static const char *const names[] = { "/media/", "/assets/", "/docs/", "/feed", "/sitemap", "/robots.txt", "/llms.txt", "/search",
		"/favicon.ico", "/.well-known/" };

	for (size_t i = 0; i < COUNT(names); i++)
		if (strncmp(fold, names[i], strlen(names[i])) == 0)
			return path_is_reserved(s, path, NULL);
	return false;
}

/* One row further. `done`: `out` is decided, or it is MEANING_PAGE and w->path, w->query are where it is. */
static enum status
take_step(struct scope *s, struct db *db, const struct site *site, struct walk *w, struct resolution *out, bool *done)
{
	struct path_hit hit;
	struct str rest = { NULL, 0 };
	bool found = false;

	if (w->query.len > 0)
		TRY(store_lookup_query(s, db, &hit, &found, &rest, w->path, w->query));
	if (found) {
		w->query = rest;
		return follow(s, site, w, &hit, out, done);
	}
	if ((out->list = resolve_list(w->fold)) != NULL) {
		w->path = strcmp(w->fold, "/") == 0 ? "/" : scope_printf(s, "/%s", out->list);
		out->meaning = MEANING_PAGE;
		out->resource_id = 0;
		*done = true;
		return OK;
	}
	TRY(find_row(s, db, site, w, &hit, &found));
	if (found)
		return follow(s, site, w, &hit, out, done);
	*done = true;
	/* The target of a redirect may be a route: a file, a feed. */
	if (w->status != 0 && resolve_is_route(s, w->path, w->fold)) {
		*out = (struct resolution){ .meaning = MEANING_REDIRECT, .status = w->status, .page = 1 };
		out->location = add_query(s, url_public(s, site->public_origin, w->path, false, (struct str){ NULL, 0 }), w->query);
	}
	return OK;
}

static enum status
find_row(struct scope *s, struct db *db, const struct site *site, struct walk *w, struct path_hit *hit, bool *found)
{
	bool is_ambiguous;

	TRY(store_lookup_exact(s, db, hit, found, w->path));
	if (*found)
		return OK;
	TRY(store_lookup_folded(s, db, hit, found, &is_ambiguous, w->fold));
	if (is_ambiguous)
		log_info(s, "path.ambiguous", "\"path\":%s", log_quote(s, w->path));
	/* One rule at most: what it leads to is a row, a list or another site, so rules cannot lead in circles. */
	if (*found || is_ambiguous || w->took_rule || path_is_reserved(s, w->path, NULL))
		return OK;
	TRY(store_lookup_rule(s, db, site->rules, hit, found, w->path));
	w->took_rule = *found;
	return OK;
}

static const char *
key_of(struct scope *s, const struct path_hit *hit)
{
	if (hit->rule != NULL)
		return scope_printf(s, "*%s", hit->rule);
	return hit->pairs != NULL ? scope_printf(s, "%s?%s", hit->path, hit->pairs) : hit->path;
}

static enum status
follow(struct scope *s, const struct site *site, struct walk *w, const struct path_hit *hit, struct resolution *out, bool *done)
{
	if (w->redirect == NULL && hit->role != PATH_CANONICAL)
		w->redirect = key_of(s, hit);
	if (hit->role == PATH_GONE) {
		*out = (struct resolution){ .meaning = MEANING_GONE, .status = hit->status, .page = 1 };
		*done = true;
		return OK;
	}
	if (hit->role == PATH_EXTERNAL) {
		w->status = merge_status(w->status, hit->status);
		follow_target(s, site, w, hit->target, out, done);
		return OK;
	}
	out->resource_id = hit->resource_id;
	w->kind = hit->kind;
	if (hit->state != STATE_PUBLISHED || hit->canonical == NULL) {
		if (hit->state == STATE_GONE)
			*out = (struct resolution){ .meaning = MEANING_GONE, .status = 410, .resource_id = hit->resource_id, .page = 1 };
		else
			*out = nothing;
		*done = true;
		return OK;
	}
	if (hit->role == PATH_CANONICAL && strcmp(hit->canonical, w->path) == 0) {
		out->meaning = MEANING_PAGE;
		*done = true;
		return OK;
	}
	/* Not there yet: the query may mean something else at the new path, and that must not cost a second redirect. */
	w->status = merge_status(w->status, hit->role == PATH_ALIAS ? hit->status : 301);
	w->path = hit->canonical;
	w->fold = "";
	return OK;
}

static void
follow_target(struct scope *s, const struct site *site, struct walk *w, const char *target, struct resolution *out, bool *done)
{
	struct url_form form;
	struct str query;
	const char *url;

	if (url_form_own(s, &form, &query, str_of(target), site->public_origin, "target") == OK) {
		w->path = form.path;
		w->fold = form.fold;
		w->query = join_query(s, query, w->query);
		return;
	}
	*done = true;
	if (url_absolute(s, &url, str_of(target), "target") == OK) {
		*out = (struct resolution){ .meaning = MEANING_REDIRECT, .status = w->status, .page = 1 };
		out->location = add_query(s, url, w->query);
	} else {
		log_warn(s, "redirect.target", "\"target\":%s", log_quote(s, target));
		*out = nothing;
	}
	s->error = NULL;
}

static enum status
settle(struct scope *s, struct db *db, const struct site *site, const struct walk *w, struct str asked, bool host_is_canonical,
    struct resolution *out)
{
	struct paging paging = { .query = w->query, .page = 1 };
	bool has_pages;
	enum list list;
	int64_t count;

	list = landing_list(w, out, &has_pages);
	if (has_pages && !paging_read(s, &paging, w->query)) {
		*out = nothing;
		return OK;
	}
	/* A tag without members is no page; the fixed lists and an author's own page are, even while they are empty. */
	if (has_pages && (paging.page > 1 || list == LIST_TAGGED)) {
		TRY(store_list_count(s, db, &count, list, out->resource_id, list_per_page(list, site)));
		if (count <= ((int64_t)paging.page - 1) * list_per_page(list, site)) {
			*out = nothing;
			return OK;
		}
	}
	out->page = paging.page;
	if (w->status == 0 && host_is_canonical && !paging.is_respelled &&
	    str_is(asked, url_public(s, "", w->path, site->always_slash, (struct str){ NULL, 0 }))) {
		out->status = 200;
		return OK;
	}
	out->meaning = MEANING_REDIRECT;
	out->status = w->status != 0 ? w->status : 301;
	out->location = add_query(s, site_url(s, site, w->path), paging.query);
	return OK;
}

static enum list
landing_list(const struct walk *w, const struct resolution *r, bool *has_pages)
{
	*has_pages = true;
	if (r->list != NULL && strcmp(r->list, "tags") == 0)
		return LIST_TAGS;
	if (r->list != NULL)
		return strcmp(r->list, "authors") == 0 ? LIST_AUTHORS : LIST_ARTICLES;
	*has_pages = w->kind == KIND_TAG || w->kind == KIND_AUTHOR;
	return w->kind == KIND_TAG ? LIST_TAGGED : LIST_WRITTEN;
}

/* One hop can only promise what every row on its way promises. */
static int
merge_status(int first, int next)
{
	return first == 0 || next == 302 || next == 307 ? next : first;
}

static struct str
join_query(struct scope *s, struct str a, struct str b)
{
	if (a.len == 0 || b.len == 0)
		return a.len == 0 ? b : a;
	return str_of(scope_printf(s, "%.*s&%.*s", STR_FMT(a), STR_FMT(b)));
}

static const char *
add_query(struct scope *s, const char *url, struct str query)
{
	struct str whole = str_of(url), before = str_part(whole, 0, str_find(whole, '#'));
	struct buf out;

	if (query.len == 0)
		return url;
	buf_init(&out, s->arena);
	buf_str(&out, before);
	buf_char(&out, str_find(before, '?') < before.len ? '&' : '?');
	/* Byte for byte, but for what would end the query or the header field. */
	for (size_t i = 0; i < query.len; i++) {
		if (query.p[i] <= ' ' || query.p[i] > '~' || query.p[i] == '#')
			percent_add(&out, (unsigned char)query.p[i]);
		else
			buf_char(&out, query.p[i]);
	}
	buf_str(&out, str_part(whole, before.len, whole.len));
	return out.p;
}
