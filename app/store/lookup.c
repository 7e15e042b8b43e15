/* lookup.c - rows of path, path_query and path_rule as one kind of answer. */
#include "store/lookup.h"

#define RULE_SEGMENTS 32

struct rule_part { struct str name, value; };	/* what a `:name` took; the splat's name is "*" */
struct rule_match {
	struct rule_part parts[RULE_SEGMENTS];
	size_t		 count;
};

static void	read_resource(struct scope *, struct db_rows *, struct path_hit *, int id_col, int kind_col);
static void	read_path_row(struct scope *, struct db_rows *, struct path_hit *);
static enum path_role role_parse_stored(struct str);
static size_t	split_pairs(struct str query, struct str *pairs, size_t max);
static bool	all_pairs_present(struct str wanted, const struct str *have, size_t have_count, size_t *wanted_count);
static struct str without_pairs(struct scope *, struct str query, struct str wanted);
static bool	rule_takes(struct str pattern, struct str path, struct rule_match *);
static bool	is_more_specific(struct str a, struct str b);
static const char *rule_fill(struct scope *, struct str target, const struct rule_match *);
static size_t	origin_length(struct str url);

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
	size_t have_count = split_pairs(query, have, COUNT(have)), best_count = 0;

	*found = false;
	*rest = query;
	for (size_t i = 0; i < have_count; i++) {
		struct db_rows *rows;
		size_t count;

		TRY(db_query(s, db, &rows, SQL_LOOKUP_QUERY_SOURCES, ARGS(TEXT(path), STRV(have[i]))));
		while (db_next(rows)) {
			if (!all_pairs_present(col_str(rows, 0), have, have_count, &count) || count <= best_count)
				continue;
			best_count = count;
			best = str_of(col_text(s, rows, 0));
			*out = (struct path_hit){ .path = path, .target = col_text(s, rows, 2), .status = (int)col_int(rows, 3) };
			out->role = out->target != NULL ? PATH_EXTERNAL : PATH_ALIAS;
			read_resource(s, rows, out, 1, 4);
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
store_lookup_rule(struct scope *s, struct db *db, struct path_hit *out, bool *found, const char *path)
{
	struct db_rows *rows;
	struct str best = { NULL, 0 }, target = { NULL, 0 };
	struct rule_match match;

	*found = false;
	TRY(db_query(s, db, &rows, SQL_LOOKUP_RULES, NO_ARGS));
	while (db_next(rows)) {
		if (!rule_takes(col_str(rows, 0), str_of(path), &match))
			continue;
		if (*found && !is_more_specific(col_str(rows, 0), best))
			continue;
		*found = true;
		best = str_of(col_text(s, rows, 0));
		target = str_of(col_text(s, rows, 1));
		*out = (struct path_hit){ .status = (int)col_int(rows, 2) };
		out->role = out->status >= 400 ? PATH_GONE : PATH_EXTERNAL;
	}
	TRY(db_end(s, rows));
	if (*found && rule_takes(best, str_of(path), &match))
		out->target = rule_fill(s, target, &match);
	return OK;
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

/* Distinct, non-empty raw pairs. */
static size_t
split_pairs(struct str query, struct str *pairs, size_t max)
{
	struct str pair;
	size_t count = 0;

	while (count < max && str_next(&query, '&', &pair)) {
		bool is_new = pair.len > 0;

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
		struct str left = wanted;
		bool is_wanted = false;

		while (!is_wanted && str_next(&left, '&', &pair))
			is_wanted = str_eq(piece, pair);
		if (is_wanted)
			continue;
		if (kept.len > 0)
			buf_char(&kept, '&');
		buf_str(&kept, piece);
	}
	return buf_as_str(&kept);
}

static bool
rule_takes(struct str pattern, struct str path, struct rule_match *match)
{
	struct str want, have;

	match->count = 0;
	while (str_next(&pattern, '/', &want)) {
		bool is_named = want.len > 1 && want.p[0] == ':';

		if (match->count == RULE_SEGMENTS)
			return false;
		if (str_is(want, "*") && pattern.len == 0) {
			match->parts[match->count++] = (struct rule_part){ want, path };
			return true;
		}
		if (!str_next(&path, '/', &have) || (is_named && have.len == 0) || (!is_named && !str_eq(want, have)))
			return false;
		if (is_named)
			match->parts[match->count++] = (struct rule_part){ want, have };
	}
	return path.len == 0;
}

static bool
is_more_specific(struct str a, struct str b)
{
	struct str left, right;

	for (;;) {
		bool more_a = str_next(&a, '/', &left), more_b = str_next(&b, '/', &right);
		int rank_a, rank_b;

		if (!more_a || !more_b)
			return more_a && !more_b;
		rank_a = str_is(left, "*") ? 0 : left.len > 1 && left.p[0] == ':' ? 1 : 2;
		rank_b = str_is(right, "*") ? 0 : right.len > 1 && right.p[0] == ':' ? 1 : 2;
		if (rank_a != rank_b)
			return rank_a > rank_b;
	}
}

/* A value may stand behind the origin only, so that what a visitor types never chooses the host. */
static const char *
rule_fill(struct scope *s, struct str target, const struct rule_match *match)
{
	struct buf out;
	size_t i = origin_length(target);

	buf_init(&out, s->arena);
	buf_add(&out, target.p, i);
	while (i < target.len) {
		const struct rule_part *part = NULL;
		struct str left = str_part(target, i, target.len);

		for (size_t k = 0; k < match->count; k++) {
			struct str name = match->parts[k].name;
			bool ends = left.len == name.len || (left.len > name.len && strchr("/?&=#-.", left.p[name.len]) != NULL);

			if (left.len >= name.len && memcmp(left.p, name.p, name.len) == 0 && (name.p[0] == '*' || ends))
				part = &match->parts[k];
		}
		if (part != NULL)
			buf_str(&out, part->value);
		else
			buf_char(&out, target.p[i]);
		i += part != NULL ? part->name.len : 1;
	}
	return str_dup(s->arena, buf_as_str(&out));
}

/* Bytes of "scheme://host", or of the '/' with which a local path begins; a target without a path takes no values. */
static size_t
origin_length(struct str url)
{
	size_t scheme = str_find_str(url, STR("://"));

	if (url.len > 0 && url.p[0] == '/')
		return 1;
	if (scheme == url.len)
		return url.len;
	scheme += 3;
	return scheme + str_find(str_part(url, scheme, url.len), '/');
}
