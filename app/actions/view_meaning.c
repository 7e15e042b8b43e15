/* view_meaning.c - what an address means, for front ends elsewhere that print the same truth. */
#include "actions/view_parts.h"
#include "core/host.h"
#include "core/url.h"
#include "store/resources.h"

/* An address as it was asked for. */
struct asked {
	struct str	 path, query;	/* raw */
	bool		 is_own;
	bool		 is_canonical;	/* a path alone, or at the public origin: nothing but the path can be wrong with it */
};

static enum status	read_address(struct scope *, const struct site *, const char *text, struct asked *);
static bool		is_origin(struct scope *, const char *origin, const struct authority *, bool *same_scheme);
static enum status	find_page(struct scope *, struct db *, const struct site *, const struct resolution *, struct resolution *page);
static enum status	add_page(struct scope *, struct page_build *, const struct resolution *page, json_t *answer);
static json_t		*text_or_null(const char *);

enum status
view_meaning(struct scope *s, struct db *db, const struct site *site, const struct templates *templates, const char *text, struct view *out)
{
	static const char *const names[] = { [MEANING_PAGE] = "page", [MEANING_REDIRECT] = "redirect", [MEANING_GONE] = "gone", [MEANING_NONE] = "none" };
	struct page_build b = { .db = db, .site = site, .templates = templates, .out = out };
	struct resolution r = { .meaning = MEANING_NONE, .status = 404, .page = 1 }, page;
	struct asked asked;
	json_t *answer;
	char *json;
	enum status status;

	*out = (struct view){ .status = 200, .type = "application/json", .is_cacheable = true };
	if (text == NULL || *text == '\0')
		return fail(s, ERR_INVALID, "url", "name a path of this site or an absolute URL");
	TRY(read_address(s, site, text, &asked));
	if (asked.is_own)
		TRY(resolve(s, db, site, asked.path, asked.query, asked.is_canonical, &r));
	TRY(find_page(s, db, site, &r, &page));
	answer = json_pack("{s:s, s:s, s:i, s:i, s:o, s:n, s:n, s:n}", "url", text, "meaning", names[r.meaning], "status", r.status, "hops",
	    r.meaning == MEANING_REDIRECT, "location", text_or_null(r.location), "resource", "list", "head");
	status = page.meaning == MEANING_PAGE ? add_page(s, &b, &page, answer) : OK;
	out->type = "application/json";
	view_depend(s, out, "settings");
	view_depend(s, out, "paths");
	view_depend(s, out, "rules");
	/* Pairs and fragments that count for nothing make no end of addresses either. */
	out->is_cacheable = out->is_cacheable && asked.query.len == 0 && strchr(text, '#') == NULL;
	if (page.meaning != MEANING_PAGE) {
		if (r.resource_id != 0)
			view_depend(s, out, "resource:%" PRId64, r.resource_id);
		/* There is no end of addresses that mean nothing: they may not push pages out of the cache. */
		out->is_cacheable = out->is_cacheable && r.meaning == MEANING_REDIRECT;
	}
	json = status == OK ? json_dumps(answer, JSON_COMPACT) : NULL;
	json_decref(answer);
	TRY(status);
	if (json == NULL)
		return fail(s, ERR_INVALID, "url", "is no UTF-8");
	out->body = str_of(arena_strdup(s->arena, json));
	free(json);
	return OK;
}

static enum status
read_address(struct scope *s, const struct site *site, const char *text, struct asked *out)
{
	struct str rest = str_trim(str_of(text)), all;
	struct authority authority = { 0 };
	bool same_scheme = true;

	*out = (struct asked){ .is_own = true, .is_canonical = true };
	if (!utf8_valid(rest))
		return fail(s, ERR_INVALID, "url", "is no UTF-8");
	if (!str_starts(rest, "/") || str_starts(rest, "//")) {
		if (str_starts(rest, "//"))
			authority.scheme = str_starts(str_of(site->public_origin), "https:") ? "https" : "http";
		else if (!host_cut_scheme(&rest, &authority))
			return fail(s, ERR_INVALID, "url", "is neither a path that begins with / nor an http or https URL");
		TRY(host_cut_authority(s, &rest, &authority, "url"));
		out->is_canonical = is_origin(s, site->public_origin, &authority, &same_scheme) && same_scheme;
		out->is_own = out->is_canonical || is_origin(s, site->public_origin, &authority, &same_scheme) ||
		    is_origin(s, site->admin_origin, &authority, &same_scheme);
		for (const char *const *alias = site->aliases; alias != NULL && *alias != NULL && !out->is_own; alias++)
			out->is_own = strcmp(host_plain(s, authority.host), *alias) == 0;
	}
	all = str_part(rest, 0, str_find(rest, '#'));
	out->path = str_part(all, 0, str_find(all, '?'));
	out->query = out->path.len < all.len ? str_part(all, out->path.len + 1, all.len) : (struct str){ "", 0 };
	if (out->path.len == 0)
		out->path = str_of("/");
	return OK;
}

static bool
is_origin(struct scope *s, const char *origin, const struct authority *asked, bool *same_scheme)
{
	struct authority own = { 0 };
	struct str rest = str_of(origin);

	if (!host_cut_scheme(&rest, &own) || host_cut_authority(s, &rest, &own, "origin") != OK) {
		s->error = NULL;
		return false;
	}
	*same_scheme = strcmp(own.scheme, asked->scheme) == 0;
	/* http://host asks for the same site as https://host, each at its own port. */
	return strcmp(own.host, host_plain(s, asked->host)) == 0 && strcmp(own.port, asked->port) == 0;
}

/* The page itself, or the one of this site behind a redirect. */
static enum status
find_page(struct scope *s, struct db *db, const struct site *site, const struct resolution *r, struct resolution *page)
{
	struct asked next;

	*page = *r;
	if (r->meaning != MEANING_REDIRECT)
		return OK;
	TRY(read_address(s, site, r->location, &next));
	if (next.is_own)
		TRY(resolve(s, db, site, next.path, next.query, next.is_canonical, page));
	return OK;
}

static enum status
add_page(struct scope *s, struct page_build *b, const struct resolution *page, json_t *answer)
{
	struct resource r;
	struct head head;

	TRY(view_head(s, b->db, b->site, b->templates, page, b->out, &head));
	if (page->list != NULL) {
		json_object_set_new(answer, "list", json_string(page->list));
	} else {
		TRY(store_resource_load(s, b->db, &r, page->resource_id));
		json_object_set_new(answer, "resource", json_pack("{s:s, s:s, s:s, s:s}", "id", r.uid, "kind", kind_name(r.kind), "title", r.live_title,
		    "url", site_url(s, b->site, r.path)));
	}
	json_object_set_new(answer, "head", json_pack("{s:s, s:o}", "html", head_html(s, &head), "json", head_json(s, &head)));
	return OK;
}

static json_t *
text_or_null(const char *text)
{
	return text != NULL ? json_string(text) : json_null();
}
