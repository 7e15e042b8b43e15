/* redirect_input.c - sources and targets as people and files write them. */
#include "actions/redirects.h"

#include "actions/resolve.h"
#include "core/host.h"
#include "core/reserved.h"
#include "core/rule.h"
#include "base/hash.h"
#include "store/lookup.h"

static enum status	split_own(struct scope *, const struct site *, struct str text, const char *field, struct str *local, bool *is_own);
static bool		is_own_host(struct scope *, const struct site *, const struct authority *);
static enum status	read_pairs(struct scope *, struct str query, const char **out, const char *field);
static enum status	target_here(struct scope *, struct db *, const struct site *, struct redirect *, struct str local, const char *field);
static enum status	target_row(struct scope *, struct redirect *, const struct path_hit *, struct str query, const char *field);

enum status
redirect_source(struct scope *s, const struct site *site, struct redirect *out, struct str text, const char *field)
{
	struct url_form form;
	struct str local, query;
	const char *why;
	bool is_own;

	TRY(split_own(s, site, str_trim(text), field, &local, &is_own));
	if (!is_own)
		return fail(s, ERR_INVALID, field, "is an address of another site");
	TRY(url_form_own(s, &form, &query, local, site->public_origin, field));
	*out = (struct redirect){ .source = SOURCE_PATH, .path = form.path, .fold = form.fold };
	if (rule_is_pattern(str_of(form.path))) {
		out->source = SOURCE_RULE;
		if (query.len > 0)
			return fail(s, ERR_INVALID, field, "is a rule, and a rule has no query");
		TRY(rule_check(s, form.path, field));
	} else if (query.len > 0) {
		out->source = SOURCE_QUERY;
		TRY(read_pairs(s, query, &out->pairs, field));
		/* In the form in which it is stored, and answered: escapes make it longer than what was typed. */
		if (strlen(form.path) + 1 + strlen(out->pairs) > URL_PATH_MAX)
			return fail(s, ERR_INVALID, field, "is longer than %d bytes", URL_PATH_MAX);
		if (strcmp(form.path, "/") == 0)
			return OK;
	}
	if (path_is_reserved(s, form.path, &why))
		return fail(s, ERR_RESERVED, field, "the path %.300s cannot be the source of a redirect: %s", form.path, why);
	return OK;
}

enum status
redirect_target(struct scope *s, struct db *db, const struct site *site, struct redirect *out, struct str text, const char *field)
{
	struct str local;
	const char *url;
	bool is_own, has_values;

	text = str_trim(text);
	out->resource_id = 0;
	out->target = NULL;
	if (uuid_valid(text)) {
		TRY(store_redirect_resource(s, db, &out->resource_id, str_dup(s->arena, text)));
		return out->resource_id != 0 ? OK : fail(s, ERR_INVALID, field, "there is no resource %.*s", STR_FMT(text));
	}
	if (text.len == 0)
		return fail(s, ERR_INVALID, field, "is empty");
	TRY(split_own(s, site, text, field, &local, &is_own));
	if (is_own)
		return target_here(s, db, site, out, local, field);
	if (str_starts(text, "//"))
		text = str_of(scope_printf(s, "https:%.*s", STR_FMT(text)));
	TRY(url_absolute(s, &url, text, field));
	out->target = url;
	return out->source == SOURCE_RULE ? rule_target(s, &out->target, &has_values, out->path, url, field) : OK;
}

enum status
redirect_own_target(struct scope *s, const struct site *site, const char **out, struct str text, const char *field)
{
	struct redirect source = { .source = SOURCE_PATH };
	struct url_form form;
	struct str local, query;
	bool is_own;

	*out = NULL;
	text = str_trim(text);
	if (uuid_valid(text))
		return OK;
	TRY(split_own(s, site, text, field, &local, &is_own));
	if (!is_own)
		return OK;
	if (str_find(local, '#') < local.len)
		return fail(s, ERR_INVALID, field, "has a fragment; a browser keeps the one it was asked with");
	TRY(url_form_own(s, &form, &query, local, site->public_origin, field));
	source.path = form.path;
	if (query.len > 0) {
		source.source = SOURCE_QUERY;
		TRY(read_pairs(s, query, &source.pairs, field));
	}
	*out = redirect_key(s, &source);
	return OK;
}

bool
redirect_status_is_good(int64_t status)
{
	return status == 301 || status == 302 || status == 307 || status == 308 || status == 410 || status == 451;
}

/* *local: the text without scheme and host, if these are ours. */
static enum status
split_own(struct scope *s, const struct site *site, struct str text, const char *field, struct str *local, bool *is_own)
{
	struct authority a = { .scheme = "https" };
	struct str rest = text;

	*local = text;
	*is_own = true;
	if (text.len == 0)
		return fail(s, ERR_INVALID, field, "is empty");
	if (!utf8_valid(text) || text_has_control(text, false))
		return fail(s, ERR_INVALID, field, "has a control character or is not UTF-8");
	if (!str_starts(text, "//") && !host_has_scheme(text))
		return OK;
	if (!str_starts(text, "//") && !host_cut_scheme(&rest, &a))
		return fail(s, ERR_INVALID, field, "is neither a path nor an http or https URL");
	TRY(host_cut_authority(s, &rest, &a, field));
	*is_own = is_own_host(s, site, &a);
	/* Two slashes at the front would be read as another host again. */
	while (str_starts(rest, "//"))
		rest = str_part(rest, 1, rest.len);
	*local = rest.len > 0 ? rest : STR("/");
	return OK;
}

static bool
is_own_host(struct scope *s, const struct site *site, const struct authority *a)
{
	const char *const origins[] = { site->public_origin, site->admin_origin }, *name = host_plain(s, a->host);

	for (size_t i = 0; i < COUNT(origins); i++) {
		struct authority ours;
		struct str rest = str_of(origins[i]);

		/* Most are not: told by looking for the name, before anything is taken apart. */
		if (strstr(origins[i], name) != NULL && host_cut_scheme(&rest, &ours) && host_cut_authority(s, &rest, &ours, NULL) == OK && strcmp(name, ours.host) == 0 &&
		    strcmp(a->port, ours.port) == 0)
			return true;
	}
	for (const char *const *alias = site->aliases; alias != NULL && *alias != NULL; alias++)
		if (strcmp(name, *alias) == 0)
			return true;
	return false;
}

static enum status
read_pairs(struct scope *s, struct str query, const char **out, const char *field)
{
	if (!url_pairs_form(s, out, query, LOOKUP_PAIRS))
		return fail(s, ERR_INVALID, field, "has more than %d query pairs", LOOKUP_PAIRS);
	return *out != NULL ? OK : fail(s, ERR_INVALID, field, "has a query without pairs");
}

/* A path of this site: what it stands for is stored, never the path of a row. */
static enum status
target_here(struct scope *s, struct db *db, const struct site *site, struct redirect *out, struct str local, const char *field)
{
	bool found = false, is_ambiguous, has_values = false;
	struct url_form form;
	struct path_hit hit;
	struct str query, rest;

	if (str_find(local, '#') < local.len)
		return fail(s, ERR_INVALID, field, "has a fragment; a browser keeps the one it was asked with");
	TRY(url_form_own(s, &form, &query, local, site->public_origin, field));
	if (out->source == SOURCE_RULE) {
		const char *whole = query.len > 0 ? scope_printf(s, "%s?%.*s", form.path, STR_FMT(query)) : form.path;

		TRY(rule_target(s, &out->target, &has_values, out->path, whole, field));
		if (has_values && path_is_reserved(s, form.path, NULL) && !resolve_is_route(s, form.path, form.fold))
			return fail(s, ERR_INVALID, field, "leads below a name that belongs to the system");
		if (has_values)
			return OK;
	}
	if (query.len > 0)
		TRY(store_lookup_query(s, db, &hit, &found, &rest, form.path, query));
	if (found)
		return target_row(s, out, &hit, rest, field);
	if (query.len > 0 && strcmp(form.path, "/") == 0)
		return fail(s, ERR_INVALID, field, "the home page takes no query here");
	if (resolve_list(form.fold) != NULL || resolve_is_route(s, form.path, form.fold)) {
		out->target = query.len > 0 ? scope_printf(s, "%s?%.*s", form.path, STR_FMT(query)) : form.path;
		return OK;
	}
	TRY(store_lookup_exact(s, db, &hit, &found, form.path));
	if (!found)
		TRY(store_lookup_folded(s, db, &hit, &found, &is_ambiguous, form.fold));
	if (!found && !path_is_reserved(s, form.path, NULL)) {
		TRY(store_lookup_rule(s, db, site->rules, &hit, &found, form.path));
		/* A rule leads to a row at most: looked up once more, without rules. */
		if (found && hit.role == PATH_EXTERNAL && hit.target[0] == '/') {
			TRY(url_form_own(s, &form, &rest, str_of(hit.target), site->public_origin, field));
			TRY(store_lookup_exact(s, db, &hit, &found, form.path));
		}
	}
	if (!found)
		return fail(s, ERR_INVALID, field, "nothing answers at %.300s; name a page, a list, or an address of another site", form.path);
	return target_row(s, out, &hit, query, field);
}

static enum status
target_row(struct scope *s, struct redirect *out, const struct path_hit *hit, struct str query, const char *field)
{
	if (hit->role == PATH_GONE)
		return fail(s, ERR_INVALID, field, "is marked as gone for good");
	if (query.len > 0)
		return fail(s, ERR_INVALID, field, "is a page's address and takes no query");
	out->resource_id = hit->resource_id;
	out->target = hit->resource_id != 0 ? NULL : hit->target;
	return OK;
}
