/* audit_site.c - what addresses mean, and what the running site answers. */
#include "actions/audit.h"

#include "actions/facts.h"
#include "actions/resolve.h"
#include "core/reserved.h"
#include "core/url.h"
#include "render/sanitize.h"
#include "store/audit.h"
#include "store/lookup.h"
#include "store/resources.h"
#include "store/sitemap.h"

#define PLACE_MAX (4 * URL_PATH_MAX)	/* pairs that were stored in escaped form may be three times as long as what may be typed */
#define PIECE 500

/* One address, what is promised of it, and what is wrong with it. */
struct look {
	const struct audit_address *address;
	const char	*target;	/* as a client asks for it */
	struct resolution is;
	const char	*check, *fault;	/* NULL = as promised */
};

static enum status	look_twice(struct scope *, struct audit *, const struct audit_address *);
static enum status	look_at(struct scope *, struct audit *, struct look *);
static bool		is_in_form(struct scope *, const struct audit_address *);
static enum status	check_meaning(struct scope *, struct audit *, struct look *);
static enum status	check_canonical(struct scope *, struct audit *, struct look *, const struct resource *);
static enum status	check_target(struct scope *, struct audit *, struct look *);
static enum status	check_hop(struct scope *, struct audit *, struct look *);
static enum status	ask_site(struct scope *, struct audit *, struct look *);
static enum status	check_page(struct scope *, struct audit *, struct look *, const struct audit_reply *);
static void		wrong(struct scope *, struct look *, const char *check, const char *fmt, ...) PRINTF_LIKE(4, 5);
static size_t		count_of(struct str text, const char *needle);
static const char	*escaped(struct scope *, const char *text);
static enum status	check_part(struct scope *, struct audit *, const struct sitemap_range *, const char **fault);
static bool		next_loc(struct scope *, struct str *rest, const char **url);

enum status
audit_addresses(struct scope *s, struct audit *a)
{
	struct audit_address *piece = scope_alloc(s, PIECE * sizeof(*piece)), last;
	const struct audit_address *after = NULL;
	size_t count, i;

	do {
		struct arena_mark mark = arena_mark(s->arena);
		char path[PLACE_MAX + 1], pairs[PLACE_MAX + 1];

		TRY(store_audit_addresses(s, a->read, after, piece, PIECE, &count));
		for (i = 0; i < count; i++)
			TRY(look_twice(s, a, &piece[i]));
		if (count > 0) {
			last = piece[count - 1];
			snprintf(path, sizeof(path), "%s", last.path);
			snprintf(pairs, sizeof(pairs), "%s", last.pairs == NULL ? "" : last.pairs);
		}
		arena_rewind(s->arena, mark);
		if (count > 0) {
			last.path = arena_strdup(s->arena, path);
			last.pairs = last.pairs == NULL ? NULL : arena_strdup(s->arena, pairs);
			after = &last;
			/* One small copy for each piece is all that grows. */
			a->addresses += (int64_t)count;
			a->progress(a->arg, "addresses", a->addresses);
		}
	} while (count > 0);
	return OK;
}

enum status
audit_sitemap(struct scope *s, struct audit *a)
{
	struct sitemap_range *parts;
	struct audit_reply index;
	size_t count, i;

	TRY(store_sitemap_parts(s, a->read, &parts, &count));
	TRY(a->ask(s, a->arg, "/sitemap.xml", &index));
	if (index.status != 200)
		audit_tell(s, a, "sitemap", "/sitemap.xml", "look into the site's log", false, "answers %d", index.status);
	for (i = 0; index.status == 200 && i < count; i++) {
		struct arena_mark mark = arena_mark(s->arena);
		const char *fault = NULL;

		TRY(check_part(s, a, &parts[i], &fault));
		if (fault != NULL)
			TRY(check_part(s, a, &parts[i], &fault));
		if (fault != NULL)
			audit_tell(s, a, "sitemap", scope_printf(s, "part %" PRId64, parts[i].first_id), "run `stele flush`; then look into the site's log",
			    false, "%s", fault);
		arena_rewind(s->arena, mark);
		a->progress(a->arg, "sitemap parts", (int64_t)i + 1);
	}
	return OK;
}

static enum status
look_twice(struct scope *s, struct audit *a, const struct audit_address *address)
{
	struct arena_mark mark = arena_mark(s->arena);
	struct look l = { .address = address };

	TRY(look_at(s, a, &l));
	if (l.fault != NULL) {
		l.fault = NULL;
		TRY(look_at(s, a, &l));
	}
	if (l.fault != NULL)
		audit_tell(s, a, l.check, l.target, strcmp(l.check, "answer") == 0 ? "run `stele flush`; then look into the site's log" :
		    "change or delete the redirect, or move the resource", false, "%s", l.fault);
	arena_rewind(s->arena, mark);
	return OK;
}

static enum status
look_at(struct scope *s, struct audit *a, struct look *l)
{
	const struct audit_address *at = l->address;
	enum status status;

	l->target = url_public(s, "", at->path, at->is_canonical && a->site->always_slash, (struct str){ NULL, 0 });
	if (at->pairs != NULL)
		l->target = scope_printf(s, "%s?%s", l->target, at->pairs);
	TRY(db_begin(s, a->read));
	status = check_meaning(s, a, l);
	db_rollback(a->read);
	TRY(status);
	return a->ask != NULL && l->fault == NULL ? ask_site(s, a, l) : OK;
}

static bool
is_in_form(struct scope *s, const struct audit_address *at)
{
	struct url_form form;
	bool is_good = url_form(s, &form, str_of(at->path)) == OK && strcmp(form.path, at->path) == 0 &&
	    (at->fold == NULL || strcmp(form.fold, at->fold) == 0);

	s->error = NULL;
	return is_good;
}

static enum status
check_meaning(struct scope *s, struct audit *a, struct look *l)
{
	const struct audit_address *at = l->address;
	struct str target = str_of(l->target), path = str_part(target, 0, str_find(target, '?'));
	struct resource r;
	enum status status;

	/* The home page is told from what once lay at /?p=12 by its query. */
	if (path_is_reserved(s, at->path, NULL) && (at->pairs == NULL || strcmp(at->path, "/") != 0)) {
		wrong(s, l, "address", "belongs to a route of the system, so nobody can ever reach what is stored here");
		return OK;
	}
	if (!is_in_form(s, at)) {
		wrong(s, l, "spelling", "is not in the form in which addresses are looked up, so nobody can ever reach what is stored here");
		return OK;
	}
	TRY(resolve(s, a->read, a->site, path, str_of(at->pairs == NULL ? "" : at->pairs), true, &l->is));
	if (at->is_canonical) {
		status = store_resource_load(s, a->read, &r, at->resource_id);
		/* Its row is told of by another check, or it was just removed. */
		if (status == ERR_NOT_FOUND) {
			s->error = NULL;
			return OK;
		}
		TRY(status);
		return check_canonical(s, a, l, &r);
	}
	TRY(check_target(s, a, l));
	return l->is.meaning == MEANING_REDIRECT && l->fault == NULL ? check_hop(s, a, l) : OK;
}

/* A redirect to a redirect: it may be answered in one hop, but a chain or a circle is what must not be stored. */
static enum status
check_target(struct scope *s, struct audit *a, struct look *l)
{
	struct path_hit hit;
	struct url_form form;
	struct str query;
	bool found;

	if (l->address->target == NULL)
		return OK;
	if (url_form_own(s, &form, &query, str_of(l->address->target), a->site->public_origin, "target") != OK) {
		s->error = NULL;	/* elsewhere */
		return OK;
	}
	TRY(store_lookup_exact(s, a->read, &hit, &found, form.path));
	if (found && hit.role != PATH_CANONICAL)
		wrong(s, l, "hop", "points at %s, which is no page but a redirect or gone", form.path);
	return OK;
}

static enum status
check_canonical(struct scope *s, struct audit *a, struct look *l, const struct resource *r)
{
	int want = r->state == STATE_PUBLISHED ? 200 : r->state == STATE_GONE ? 410 : 404;
	struct resource other;
	/* A tag that nothing carries is no page. */
	bool is_empty_tag = r->kind == KIND_TAG && want == 200 && l->is.status == 404;

	if (r->merged_into != 0) {
		TRY(store_resource_load(s, a->read, &other, r->merged_into));
		want = other.state == STATE_PUBLISHED ? 301 : other.state == STATE_GONE ? 410 : 404;
	}
	if (l->is.status != want && !is_empty_tag)
		wrong(s, l, "address", "is the address of the %s %s, which is %s, and means %d", kind_name(r->kind), r->uid, state_name(r->state),
		    l->is.status);
	return OK;
}

/* What a redirect leads to inside the site must be there: a second redirect would be a second hop. */
static enum status
check_hop(struct scope *s, struct audit *a, struct look *l)
{
	struct resolution next;
	struct url_form form;
	struct str query, location = str_of(l->is.location);
	enum status status = url_form_own(s, &form, &query, location, a->site->public_origin, "target");

	if (status != OK) {
		s->error = NULL;	/* elsewhere */
		return OK;
	}
	location = str_part(location, strlen(a->site->public_origin), location.len);
	location = str_part(location, 0, str_find(location, '#'));
	TRY(resolve(s, a->read, a->site, str_part(location, 0, str_find(location, '?')), query, true, &next));
	if (next.meaning == MEANING_REDIRECT)
		wrong(s, l, "hop", "leads to %s, which leads on to %s", l->is.location, next.location);
	else if (next.status != 200 && !path_is_reserved(s, form.path, NULL))
		wrong(s, l, "hop", "leads to %s, which means %d", l->is.location, next.status);
	return OK;
}

static enum status
ask_site(struct scope *s, struct audit *a, struct look *l)
{
	struct audit_reply reply;

	TRY(a->ask(s, a->arg, l->target, &reply));
	if (reply.status != l->is.status)
		wrong(s, l, "answer", "should answer %d and answers %d", l->is.status, reply.status);
	else if (l->is.meaning == MEANING_REDIRECT && (reply.location == NULL || strcmp(reply.location, l->is.location) != 0))
		wrong(s, l, "answer", "should lead to %s and leads to %s", l->is.location, reply.location == NULL ? "nowhere" : reply.location);
	else if (l->is.meaning != MEANING_REDIRECT && reply.location != NULL)
		wrong(s, l, "answer", "answers %d with a Location", reply.status);
	else if (l->is.meaning == MEANING_PAGE && l->is.resource_id != 0)
		return check_page(s, a, l, &reply);
	return OK;
}

static enum status
check_page(struct scope *s, struct audit *a, struct look *l, const struct audit_reply *reply)
{
	struct facts f = { 0 };
	const char *canonical, *in_html;

	TRY(store_resource_load(s, a->read, &f.resource, l->is.resource_id));
	TRY(facts_load_original(s, a->read, &f));
	canonical = facts_canonical(s, a->site, &f);
	in_html = escaped(s, canonical);
	a->pages++;
	if (count_of(reply->body, "rel=\"canonical\"") != 1 ||
	    count_of(reply->body, scope_printf(s, "<link rel=\"canonical\" href=\"%s\">", in_html)) != 1)
		wrong(s, l, "answer", "does not have exactly one canonical link to %s", canonical);
	else if (count_of(reply->body, scope_printf(s, "<meta property=\"og:url\" content=\"%s\">", in_html)) != 1)
		wrong(s, l, "answer", "has another og:url than its canonical %s", canonical);
	else if (reply->link == NULL || strstr(reply->link, scope_printf(s, "<%s>; rel=\"canonical\"", canonical)) == NULL)
		wrong(s, l, "answer", "has another canonical in its Link field than %s", canonical);
	return OK;
}

static enum status
check_part(struct scope *s, struct audit *a, const struct sitemap_range *part, const char **fault)
{
	struct audit_reply reply;
	struct db_rows *rows;
	const char *got, *want;
	struct str rest;

	*fault = NULL;
	TRY(a->ask(s, a->arg, scope_printf(s, "/sitemap-%" PRId64 ".xml", part->first_id), &reply));
	if (reply.status != 200) {
		*fault = scope_printf(s, "answers %d", reply.status);
		return OK;
	}
	rest = reply.body;
	TRY(store_sitemap_entries(s, a->read, &rows, part));
	while (*fault == NULL && db_next(rows)) {
		want = site_url(s, a->site, col_text(s, rows, 0));
		if (!next_loc(s, &rest, &got))
			*fault = scope_printf(s, "does not list %s", want);
		else if (strcmp(got, want) != 0)
			*fault = scope_printf(s, "lists %s where %s should stand", got, want);
	}
	TRY(db_end(s, rows));
	if (*fault == NULL && next_loc(s, &rest, &got))
		*fault = scope_printf(s, "lists %s, which the view does not", got);
	return OK;
}

static void
wrong(struct scope *s, struct look *l, const char *check, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	l->fault = arena_vprintf(s->arena, fmt, ap);
	va_end(ap);
	l->check = check;
}

static size_t
count_of(struct str text, const char *needle)
{
	struct str wanted = str_of(needle);
	size_t n = 0, at;

	while ((at = str_find_str(text, wanted)) < text.len) {
		n++;
		text = str_part(text, at + wanted.len, text.len);
	}
	return n;
}

static const char *
escaped(struct scope *s, const char *text)
{
	struct buf b;

	buf_init(&b, s->arena);
	markup_escape(&b, str_of(text));
	return b.p;
}

/* The next <loc> of a list that we wrote ourselves; of XML's escapes only "&amp;" can stand in a URL. */
static bool
next_loc(struct scope *s, struct str *rest, const char **url)
{
	size_t at = str_find_str(*rest, STR("<loc>")), end;
	struct str loc;
	struct buf b;

	if (at == rest->len)
		return false;
	*rest = str_part(*rest, at + 5, rest->len);
	end = str_find_str(*rest, STR("</loc>"));
	loc = str_part(*rest, 0, end);
	*rest = str_part(*rest, end, rest->len);
	buf_init(&b, s->arena);
	while (loc.len > 0) {
		at = str_find_str(loc, STR("&amp;"));
		buf_str(&b, str_part(loc, 0, at));
		if (at < loc.len)
			buf_char(&b, '&');
		loc = str_part(loc, at + 5 < loc.len ? at + 5 : loc.len, loc.len);
	}
	*url = b.len == 0 ? "" : b.p;
	return true;
}
