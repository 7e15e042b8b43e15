/* rule.c - redirect rules: patterns over path segments, and targets that they fill. */
#include "core/rule.h"

#include "core/percent.h"

struct part { struct str name, value; };	/* what a `:name` took; the splat's name is "*" */
struct match {
	struct part	 parts[RULE_SEGMENTS];
	size_t		 count;
};

static bool	is_name(struct str segment);
static bool	is_name_byte(char c, bool is_first);
static bool	take(struct str pattern, struct str path, struct match *);
static void	add_value(struct buf *, struct str value);
static size_t	origin_length(struct str url);
static size_t	name_at(struct str text, size_t i);
static const struct part *part_at(const struct match *, struct str text, size_t i);

bool
rule_is_pattern(struct str path)
{
	struct str segment;

	while (str_next(&path, '/', &segment))
		if (is_name(segment) || str_is(segment, "*"))
			return true;
	return false;
}

enum status
rule_check(struct scope *s, const char *pattern, const char *field)
{
	struct str rest = str_of(pattern), segment, names[RULE_SEGMENTS];
	size_t count = 0, name_count = 0;

	if (strcmp(pattern, "/*") == 0)
		return fail(s, ERR_INVALID, field, "takes every address of the site; name the first segment");
	while (str_next(&rest, '/', &segment)) {
		if (++count > RULE_SEGMENTS)
			return fail(s, ERR_INVALID, field, "has more than %d segments", RULE_SEGMENTS - 1);
		if (str_is(segment, "*") && rest.len > 0)
			return fail(s, ERR_INVALID, field, "'*' may only be the last segment; a :name takes one segment");
		if (!is_name(segment))
			continue;
		for (size_t i = 0; i < name_count; i++)
			if (str_eq(names[i], segment))
				return fail(s, ERR_INVALID, field, "uses the name %.*s twice", STR_FMT(segment));
		names[name_count++] = segment;
	}
	return OK;
}

enum status
rule_target(struct scope *s, const char **out, bool *has_values, const char *pattern, const char *target, const char *field)
{
	struct str text = str_of(target);
	size_t i = origin_length(text), n;
	struct match known;
	struct buf b;

	/* A pattern takes itself, and then every part is known by its name. */
	if (!take(str_of(pattern), str_of(pattern), &known))
		known.count = 0;
	*has_values = false;
	buf_init(&b, s->arena);
	buf_add(&b, text.p, i);
	while (i < text.len) {
		const struct part *part = part_at(&known, text, i);
		bool begins_segment = i > 0 && text.p[i - 1] == '/';

		n = name_at(text, i);
		if (part == NULL && n == strlen(":splat") && memcmp(text.p + i, ":splat", n) == 0)
			part = part_at(&known, STR("*"), 0);
		if (part != NULL) {
			*has_values = true;
			buf_str(&b, part->name);
			i += part->name.p[0] == '*' && n > 0 ? n : part->name.len;
			continue;
		}
		if (begins_segment && n > 0)
			return fail(s, ERR_INVALID, field, "uses %.*s, which the source does not have", (int)n, text.p + i);
		if (begins_segment && text.p[i] == '*' && (i + 1 == text.len || text.p[i + 1] == '/'))
			return fail(s, ERR_INVALID, field, "uses '*', which the source does not have");
		buf_char(&b, text.p[i++]);
	}
	*out = b.p;
	return OK;
}

bool
rule_takes(struct str pattern, struct str path)
{
	struct match match;

	return take(pattern, path, &match);
}

bool
rule_is_more_specific(struct str a, struct str b)
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

const char *
rule_fill(struct scope *s, struct str pattern, struct str path, struct str target)
{
	size_t i = origin_length(target);
	bool in_query = false;
	struct match match;
	struct buf out;

	if (!take(pattern, path, &match))
		match.count = 0;
	buf_init(&out, s->arena);
	buf_add(&out, target.p, i);
	while (i < target.len) {
		const struct part *part = part_at(&match, target, i);

		in_query = (in_query || target.p[i] == '?') && target.p[i] != '#';
		if (part != NULL && in_query)
			add_value(&out, part->value);
		else if (part != NULL)
			buf_str(&out, part->value);
		else
			buf_char(&out, target.p[i]);
		i += part != NULL ? part->name.len : 1;
	}
	return str_dup(s->arena, buf_as_str(&out));
}

/* In a query these would end the value, or mean a blank; in a path they are themselves. */
static void
add_value(struct buf *out, struct str value)
{
	for (size_t i = 0; i < value.len; i++)
		if (strchr("&=+;", value.p[i]) != NULL)
			percent_add(out, (unsigned char)value.p[i]);
		else
			buf_char(out, value.p[i]);
}

bool
rule_covers(struct str pattern, struct str target)
{
	struct str want, have;

	target = str_part(target, 0, str_find(target, '?'));
	while (str_next(&pattern, '/', &want)) {
		if (str_is(want, "*") && pattern.len == 0)
			return true;
		/* What a "*" becomes may be any number of segments: only another "*" is sure to take them. */
		if (!str_next(&target, '/', &have) || str_find(have, '*') < have.len)
			return false;
		if (is_name(want) ? have.len == 0 : !str_eq(want, have))
			return false;
	}
	return target.len == 0;
}

const struct rule *
rule_find(const struct rule_set *set, struct str path)
{
	const struct rule *best = NULL;

	for (size_t i = 0; i < set->count; i++) {
		const struct rule *r = &set->rules[i];

		if (rule_takes(str_of(r->pattern), path) &&
		    (best == NULL || rule_is_more_specific(str_of(r->pattern), str_of(best->pattern))))
			best = r;
	}
	return best;
}

static bool
is_name(struct str segment)
{
	return segment.len > 1 && segment.p[0] == ':' && name_at(segment, 0) == segment.len;
}

static bool
is_name_byte(char c, bool is_first)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (!is_first && c >= '0' && c <= '9');
}

static bool
take(struct str pattern, struct str path, struct match *match)
{
	struct str want, have;

	match->count = 0;
	while (str_next(&pattern, '/', &want)) {
		bool is_named = is_name(want);

		if (match->count == RULE_SEGMENTS)
			return false;
		if (str_is(want, "*") && pattern.len == 0) {
			match->parts[match->count++] = (struct part){ want, path };
			return true;
		}
		if (!str_next(&path, '/', &have) || (is_named && have.len == 0) || (!is_named && !str_eq(want, have)))
			return false;
		if (is_named)
			match->parts[match->count++] = (struct part){ want, have };
	}
	return path.len == 0;
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

/* Bytes of the ":name" at `i`, 0 if there is none. */
static size_t
name_at(struct str text, size_t i)
{
	size_t n = 1;

	if (i >= text.len || text.p[i] != ':')
		return 0;
	while (i + n < text.len && is_name_byte(text.p[i + n], n == 1))
		n++;
	return n > 1 ? n : 0;
}

static const struct part *
part_at(const struct match *match, struct str text, size_t i)
{
	size_t n = name_at(text, i);

	for (size_t k = 0; k < match->count; k++) {
		struct str name = match->parts[k].name;

		if (name.p[0] == '*' ? text.p[i] == '*' : n == name.len && memcmp(text.p + i, name.p, n) == 0)
			return &match->parts[k];
	}
	return NULL;
}
