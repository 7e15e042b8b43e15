/* pattern.c - the path of a resource, from its kind's pattern. */
#include "core/resource.h"
#include "core/reserved.h"
#include "core/url.h"
#include "base/clock.h"

#define PATTERN_MAX 200
#define ID_AT 24		/* where the last group of a UUID begins */
#define ID_LEN 8

enum part { PART_SLUG, PART_YEAR, PART_MONTH, PART_ID, PART_PARENT, PART_COUNT };

static const char *const part_names[PART_COUNT] = { "slug", "yyyy", "mm", "id", "parent" };

static bool		part_cut(struct str *rest, struct str *literal, int *part);
static enum status	part_print(struct scope *, struct buf *, enum part, const struct resource *,
    const char *parent_path);
static enum status	segment_check(struct scope *, struct str segment, bool is_last, const char *field);

enum status
path_from_pattern(struct scope *s, const char **out, const char *pattern, const struct resource *r,
    const char *parent_path)
{
	struct url_form	form;
	struct buf	path;
	struct str	rest = str_of(pattern), literal;
	int		part;

	buf_init(&path, s->arena);
	while (rest.len > 0) {
		if (!part_cut(&rest, &literal, &part))
			return fail(s, ERR_INTERNAL, NULL, "the pattern '%s' was never checked", pattern);
		buf_str(&path, literal);
		if (part >= 0)
			TRY(part_print(s, &path, (enum part)part, r, parent_path));
	}
	if (url_form(s, &form, buf_as_str(&path)) != OK)
		return fail(s, ERR_INVALID, "slug", "gives no path: %s", s->error->detail);
	*out = form.path;
	return OK;
}

enum status
pattern_check(struct scope *s, const char *pattern, const char *field)
{
	const struct resource	 sample = { .uid = "01900000-0000-7000-8000-0x0x0x0x0000", .slug = "0x0x",
	    .created_at = 1 };
	const char		*path = NULL, *why;
	struct str		 rest = str_of(pattern), segment;

	if (rest.len == 0 || rest.p[0] != '/')
		return fail(s, ERR_INVALID, field, "must begin with '/'");
	if (rest.len > PATTERN_MAX)
		return fail(s, ERR_INVALID, field, "is longer than %d bytes", PATTERN_MAX);
	rest = str_part(rest, 1, rest.len);
	if (rest.len == 0 || str_ends(rest, "/"))
		return fail(s, ERR_INVALID, field, "must not end in '/'");
	while (str_next(&rest, '/', &segment))
		TRY(segment_check(s, segment, rest.len == 0, field));
	TRY(path_from_pattern(s, &path, pattern, &sample, NULL));
	if (path_is_reserved(s, path, &why))
		return fail(s, ERR_INVALID, field, "begins with a reserved name (%s)", why);
	return OK;
}

/* Cut the literal text up to the next "{part}" and that part off; *part is -1 at the end. False for braces that are no part. */
static bool
part_cut(struct str *rest, struct str *literal, int *part)
{
	size_t		open = str_find(*rest, '{'), close;
	struct str	name;
	int		i;

	*literal = str_part(*rest, 0, open);
	*part = -1;
	if (str_find(*literal, '}') < literal->len)
		return false;
	*rest = str_part(*rest, open, rest->len);
	if (rest->len == 0)
		return true;
	close = str_find(*rest, '}');
	if (close == rest->len)
		return false;
	name = str_part(*rest, 1, close);
	*rest = str_part(*rest, close + 1, rest->len);
	for (i = 0; i < PART_COUNT; i++) {
		if (str_is(name, part_names[i]))
			*part = i;
	}
	return *part >= 0;
}

static enum status
part_print(struct scope *s, struct buf *out, enum part part, const struct resource *r, const char *parent_path)
{
	struct clock_date	date;
	int64_t			at;

	at = r->first_published_at != 0 ? r->first_published_at :
	    r->publish_at != 0		? r->publish_at :
	    r->created_at != 0		? r->created_at :
					  s->now;
	date = clock_split(at);
	switch (part) {
	case PART_SLUG:
		if (r->slug == NULL || r->slug[0] == '\0' || strcmp(r->slug, ".") == 0 || strcmp(r->slug, "..") == 0)
			return fail(s, ERR_INVALID, "slug", "gives no path segment");
		buf_text(out, url_segment(s, str_of(r->slug)));
		break;
	case PART_YEAR:
		buf_printf(out, "%04d", date.year);
		break;
	case PART_MONTH:
		buf_printf(out, "%02d", date.month);
		break;
	case PART_ID:
		assert(strlen(r->uid) == ID_AT + 12);
		buf_add(out, r->uid + ID_AT, ID_LEN);
		break;
	case PART_PARENT:
		if (parent_path != NULL)
			buf_text(out, parent_path + (parent_path[0] == '/'));
		break;
	case PART_COUNT:
		return fail(s, ERR_INTERNAL, NULL, "no such part");
	}
	return OK;
}

static enum status
segment_check(struct scope *s, struct str segment, bool is_last, const char *field)
{
	struct url_form	form;
	struct buf	text;
	struct str	rest = segment, literal;
	int		part;
	bool		is_unique = false;

	buf_init(&text, s->arena);
	buf_char(&text, '/');
	while (rest.len > 0) {
		if (!part_cut(&rest, &literal, &part))
			return fail(s, ERR_INVALID, field, "may name {slug} {yyyy} {mm} {id} {parent} only");
		is_unique = is_unique || part == PART_SLUG || part == PART_ID;
		if (part == PART_PARENT && !str_is(segment, "{parent}"))
			return fail(s, ERR_INVALID, field, "{parent} must be a whole segment");
		buf_str(&text, literal);
		if (part >= 0)
			buf_char(&text, 'x');
	}
	if (is_last && !is_unique)
		return fail(s, ERR_INVALID, field, "must hold {slug} or {id} in its last segment");
	if (url_form(s, &form, buf_as_str(&text)) != OK || !form.is_exact || form.path[1] == '\0')
		return fail(s, ERR_INVALID, field, "has a segment that is not in normal form");
	return OK;
}
