#include "http/parse.h"

#define FIELDS_MAX 1000

static enum status	decode(struct scope *, struct str raw, struct str *out);
static int		hex(char);
static bool		tag_next(struct str *rest, struct str *tag, bool *is_weak);
static struct str	opaque(struct str tag);

enum status
parse_form(struct scope *s, struct str body, struct form_field **fields, size_t *count)
{
	struct str rest = body, pair;
	size_t pairs = 0;

	while (str_next(&rest, '&', &pair))
		if (pair.len > 0 && ++pairs > FIELDS_MAX)
			return fail(s, ERR_TOO_LARGE, NULL, "a form has at most %d fields", FIELDS_MAX);
	*fields = scope_alloc(s, (pairs + 1) * sizeof(**fields));
	*count = 0;
	for (rest = body; str_next(&rest, '&', &pair);) {
		struct form_field *f = &(*fields)[*count];
		size_t eq = str_find(pair, '=');

		if (pair.len == 0)
			continue;
		TRY(decode(s, str_part(pair, 0, eq), &f->name));
		TRY(decode(s, str_part(pair, eq + 1, pair.len), &f->value));
		++*count;
	}
	return OK;
}

struct str
parse_cookie(const struct request *r, const char *name)
{
	for (size_t i = 0; i < r->header_count; i++) {
		struct str rest = r->headers[i].value, pair;

		if (!str_is_nocase(r->headers[i].name, "cookie"))
			continue;
		while (str_next(&rest, ';', &pair)) {
			size_t eq = str_find(pair, '=');

			if (eq < pair.len && str_is(str_trim(str_part(pair, 0, eq)), name))
				return str_trim(str_part(pair, eq + 1, pair.len));
		}
	}
	return (struct str){ NULL, 0 };
}

bool
parse_media_type(struct scope *s, struct str value, const char **essence, struct str *charset)
{
	struct str rest = str_trim(value), type, parameter;
	size_t slash;
	char *lower;

	*charset = (struct str){ NULL, 0 };
	if (!str_next(&rest, ';', &type))
		return false;
	type = str_trim(type);
	slash = str_find(type, '/');
	if (slash == 0 || slash + 1 >= type.len)
		return false;
	for (size_t i = 0; i < type.len; i++)
		if ((unsigned char)type.p[i] <= ' ' || (unsigned char)type.p[i] >= 0x7f || strchr("()<>@,;:\\\"[]?={}", type.p[i]) != NULL ||
		    (type.p[i] == '/' && i != slash))
			return false;
	lower = str_dup(s->arena, type);
	for (char *p = lower; *p != '\0'; p++)
		if (*p >= 'A' && *p <= 'Z')
			*p = (char)(*p - 'A' + 'a');
	*essence = lower;
	while (str_next(&rest, ';', &parameter)) {
		size_t eq = str_find(parameter, '=');
		struct str text = str_trim(str_part(parameter, eq + 1, parameter.len));

		if (charset->p != NULL || !str_is_nocase(str_trim(str_part(parameter, 0, eq)), "charset"))
			continue;
		if (text.len >= 2 && text.p[0] == '"' && text.p[text.len - 1] == '"')
			text = str_part(text, 1, text.len - 1);
		*charset = text;
	}
	return true;
}

bool
etag_none_match_hit(struct str list, const char *etag)
{
	struct str rest = list, tag, own = opaque(str_of(etag));
	bool is_weak;

	if (str_is(str_trim(list), "*"))
		return true;
	while (tag_next(&rest, &tag, &is_weak))
		if (str_eq(tag, own))
			return true;
	return false;
}

bool
etag_match(struct str list, const char *etag)
{
	struct str rest = list, tag;
	bool is_weak;

	if (str_is(str_trim(list), "*"))
		return true;
	if (str_starts(str_of(etag), "W/"))
		return false;
	while (tag_next(&rest, &tag, &is_weak))
		if (!is_weak && str_eq(tag, str_of(etag)))
			return true;
	return false;
}

/* The next entity-tag with its quotes. An opaque tag may hold commas, so the list cannot be split at them. */
static bool
tag_next(struct str *rest, struct str *tag, bool *is_weak)
{
	struct str r = *rest;
	size_t from = 0, end;

	while (from < r.len && (r.p[from] == ' ' || r.p[from] == '\t' || r.p[from] == ','))
		from++;
	r = str_part(r, from, r.len);
	*is_weak = str_starts(r, "W/");
	if (*is_weak)
		r = str_part(r, 2, r.len);
	if (!str_starts(r, "\""))
		return false;
	end = 1 + str_find(str_part(r, 1, r.len), '"');
	if (end >= r.len)
		return false;
	*tag = str_part(r, 0, end + 1);
	*rest = str_part(r, end + 1, r.len);
	return true;
}

static struct str
opaque(struct str tag)
{
	return str_starts(tag, "W/") ? str_part(tag, 2, tag.len) : tag;
}

static enum status
decode(struct scope *s, struct str raw, struct str *out)
{
	char *p = arena_alloc(s->arena, raw.len + 1);
	size_t n = 0;

	for (size_t i = 0; i < raw.len; i++) {
		int high, low;

		if (raw.p[i] != '%') {
			p[n++] = raw.p[i] == '+' ? ' ' : raw.p[i];
			continue;
		}
		high = i + 2 < raw.len ? hex(raw.p[i + 1]) : -1;
		low = high >= 0 ? hex(raw.p[i + 2]) : -1;
		if (low < 0)
			return fail(s, ERR_MALFORMED_REQUEST, NULL, "the form has an escape that is not %%XX");
		p[n++] = (char)(high << 4 | low);
		i += 2;
	}
	*out = (struct str){ p, n };
	if (memchr(p, '\0', n) != NULL || !utf8_valid(*out))
		return fail(s, ERR_MALFORMED_REQUEST, NULL, "form fields must be UTF-8 without NUL");
	return OK;
}

static int
hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}
