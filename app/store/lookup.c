/* lookup.c - rows of path, path_query and path_rule as one kind of answer. */
#include "store/lookup.h"

#include "core/url.h"

static void	read_resource(struct scope *, struct db_rows *, struct path_hit *, int id_col, int kind_col);
static void	read_query_row(struct scope *, struct db_rows *, struct path_hit *, const char *path);
static void	read_path_row(struct scope *, struct db_rows *, struct path_hit *);
static enum path_role role_parse_stored(struct str);
static size_t	split_pairs(struct scope *, struct str query, struct str *pairs, size_t max);
static bool	all_pairs_present(struct str wanted, const struct str *have, size_t have_count, size_t *wanted_count);
static struct str without_pairs(struct scope *, struct str query, struct str wanted);

enum status
store_lookup_exact(struct scope *s, struct db *db, struct path_hit *out, bool *found, const char *path)
{
	struct db_rows *rows;

	TRY(db_query(s, db, &rows, SQL_LOOKUP_EXACT, ARGS(TEXT(path))));
	if ((*found = db_next(rows)))
		read_path_row(s, rows, out);
	return db_end(s, rows);
}

enum status
store_lookup_folded(struct scope *s, struct db *db, struct path_hit *out, bool *found, bool *is_ambiguous, const char *fold)
{
	struct db_rows *rows;
	bool was_canonical = false;

	*is_ambiguous = false;
	TRY(db_query(s, db, &rows, SQL_LOOKUP_FOLDED, ARGS(TEXT(fold))));
	if ((*found = db_next(rows))) {
		read_path_row(s, rows, out);
		was_canonical = col_bool(rows, 8);
	}
	if (*found && !was_canonical && db_next(rows)) {
		*found = false;
		*is_ambiguous = true;
	}
	return db_end(s, rows);
}

enum status
store_lookup_query(struct scope *s, struct db *db, struct path_hit *out, bool *found, struct str *rest, const char *path,
    struct str query)
{
	struct str have[LOOKUP_PAIRS], best = { NULL, 0 };
	size_t have_count = split_pairs(s, query, have, COUNT(have)), best_count = 0;

	struct db_rows *rows;
	const char *all;

	*found = false;
	*rest = query;
	/* As most are asked for, and the only way to one among thousands that begin with the same pair. */
	if (url_pairs_form(s, &all, query, LOOKUP_PAIRS) && all != NULL) {
		TRY(db_query(s, db, &rows, SQL_LOOKUP_QUERY_EXACT, ARGS(TEXT(path), TEXT(all))));
		if ((*found = db_next(rows))) {
			read_query_row(s, rows, out, path);
			*rest = (struct str){ "", 0 };
		}
		TRY(db_end(s, rows));
		if (*found)
			return OK;
	}
	for (size_t i = 0; i < have_count; i++) {
		size_t count;

		TRY(db_query(s, db, &rows, SQL_LOOKUP_QUERY_SOURCES, ARGS(TEXT(path), STRV(have[i]))));
		while (db_next(rows)) {
			if (!all_pairs_present(col_str(rows, 0), have, have_count, &count) || count <= best_count)
				continue;
			best_count = count;
			read_query_row(s, rows, out, path);
			best = str_of(out->pairs);
		}
		TRY(db_end(s, rows));
	}
	if (best_count > 0) {
		*found = true;
		*rest = without_pairs(s, query, best);
	}
	return OK;
}

enum status
store_lookup_rule(struct scope *s, struct db *db, const struct rule_set *set, struct path_hit *out, bool *found, const char *path)
{
	struct db_rows *rows;
	const struct rule *rule;
	struct rule_set read;

	if (set == NULL) {
		TRY(store_rules_load(s, db, &read));
		set = &read;
	}
	rule = rule_find(set, str_of(path));
	if (!(*found = rule != NULL))
		return OK;
	*out = (struct path_hit){ .rule = rule->pattern, .status = rule->status };
	if (rule->resource_id == 0) {
		out->role = rule->status >= 400 ? PATH_GONE : PATH_EXTERNAL;
		out->target = rule_fill(s, str_of(rule->pattern), str_of(path), str_of(rule->target));
		return OK;
	}
	out->role = PATH_ALIAS;
	TRY(db_query(s, db, &rows, SQL_LOOKUP_RESOURCE, ARGS(INT(rule->resource_id))));
	if (db_next(rows))
		read_resource(s, rows, out, 0, 1);
	return db_end(s, rows);
}

enum status
store_rules_load(struct scope *s, struct db *db, struct rule_set *out)
{
	struct rule *rules = scope_alloc(s, RULES_MAX * sizeof(*rules));
	struct db_rows *rows;

	*out = (struct rule_set){ rules, 0 };
	TRY(db_query(s, db, &rows, SQL_LOOKUP_RULES, ARGS(INT(RULES_MAX))));
	while (db_next(rows))
		rules[out->count++] = (struct rule){ col_text(s, rows, 0), col_text(s, rows, 1), col_int(rows, 2), (int)col_int(rows, 3) };
	return db_end(s, rows);
}

static void
read_query_row(struct scope *s, struct db_rows *rows, struct path_hit *out, const char *path)
{
	*out = (struct path_hit){ .path = path, .pairs = col_text(s, rows, 0), .target = col_text(s, rows, 2), .status = (int)col_int(rows, 3) };
	out->role = out->target != NULL ? PATH_EXTERNAL : PATH_ALIAS;
	read_resource(s, rows, out, 1, 4);
}

static void
read_path_row(struct scope *s, struct db_rows *rows, struct path_hit *out)
{
	*out = (struct path_hit){ .path = col_text(s, rows, 0), .role = role_parse_stored(col_str(rows, 1)),
		.target = col_text(s, rows, 3), .status = (int)col_int(rows, 4) };
	read_resource(s, rows, out, 2, 5);
}

/* Kind, state and canonical path stand in three columns from `kind_col`. The schema's CHECKs leave no other words than those parsed. */
static void
read_resource(struct scope *s, struct db_rows *rows, struct path_hit *out, int id_col, int kind_col)
{
	if (col_null(rows, id_col) || col_null(rows, kind_col))
		return;
	out->resource_id = col_int(rows, id_col);
	if (!kind_parse(col_str(rows, kind_col), &out->kind) || !state_parse(col_str(rows, kind_col + 1), &out->state))
		out->state = STATE_DRAFT;
	out->canonical = col_text(s, rows, kind_col + 2);
}

static enum path_role
role_parse_stored(struct str role)
{
	if (str_is(role, "canonical"))
		return PATH_CANONICAL;
	if (str_is(role, "alias"))
		return PATH_ALIAS;
	return str_is(role, "external") ? PATH_EXTERNAL : PATH_GONE;
}

/* Distinct, non-empty pairs in their one form. */
static size_t
split_pairs(struct scope *s, struct str query, struct str *pairs, size_t max)
{
	struct str pair;
	size_t count = 0;

	while (count < max && str_next(&query, '&', &pair)) {
		bool is_new = (pair = url_pair_form(s, pair)).len > 0;

		for (size_t i = 0; i < count && is_new; i++)
			is_new = !str_eq(pairs[i], pair);
		if (is_new)
			pairs[count++] = pair;
	}
	return count;
}

static bool
all_pairs_present(struct str wanted, const struct str *have, size_t have_count, size_t *wanted_count)
{
	struct str pair;

	*wanted_count = 0;
	while (str_next(&wanted, '&', &pair)) {
		bool is_there = false;

		for (size_t i = 0; i < have_count && !is_there; i++)
			is_there = str_eq(have[i], pair);
		if (!is_there)
			return false;
		++*wanted_count;
	}
	return *wanted_count > 0;
}

static struct str
without_pairs(struct scope *s, struct str query, struct str wanted)
{
	struct buf kept;
	struct str piece, pair;

	buf_init(&kept, s->arena);
	while (str_next(&query, '&', &piece)) {
		struct str left = wanted, form = url_pair_form(s, piece);
		bool is_wanted = false;

		while (!is_wanted && str_next(&left, '&', &pair))
			is_wanted = str_eq(form, pair);
		if (is_wanted)
			continue;
		if (kept.len > 0)
			buf_char(&kept, '&');
		buf_str(&kept, piece);
	}
	return buf_as_str(&kept);
}
