/* multipart.c - multipart/form-data (RFC 7578, RFC 2046) taken apart without copying contents. */
#include "http/parse.h"

#define PARTS_MAX 100
#define PART_LINES_MAX 16
#define PART_HEAD_MAX 8192
#define BOUNDARY_MAX 70		/* RFC 2046 5.1.1 */

static enum status	find_boundary(struct scope *, struct str content_type, struct str *out);
static bool		parameter(struct scope *, struct str value, const char *name, struct str *out);
static enum status	read_head(struct scope *, struct str head, struct part *);
static bool		is_text(struct str);
static enum status	malformed(struct scope *, const char *why);

enum status
parse_multipart(struct scope *s, struct str content_type, struct str body, struct part **parts, size_t *count)
{
	struct str boundary = { NULL, 0 }, rest = body, delimiter;
	size_t at;

	TRY(find_boundary(s, content_type, &boundary));
	delimiter = str_of(scope_printf(s, "\r\n--%.*s", STR_FMT(boundary)));
	*parts = scope_alloc(s, PARTS_MAX * sizeof(**parts));
	*count = 0;
	/* The first delimiter has no CR LF in front when there is no preamble. */
	if (str_starts(rest, delimiter.p + 2))
		rest = str_part(rest, delimiter.len - 2, rest.len);
	else {
		at = str_find_str(rest, delimiter);
		if (at == rest.len)
			return malformed(s, "the boundary does not occur");
		rest = str_part(rest, at + delimiter.len, rest.len);
	}
	while (!str_starts(rest, "--")) {
		size_t line = str_find_str(rest, STR("\r\n")), head;
		struct part *p = &(*parts)[*count];

		if (line == rest.len || str_trim(str_part(rest, 0, line)).len > 0)
			return malformed(s, "a boundary line is not alone on its line");
		if (*count == PARTS_MAX)
			return fail(s, ERR_TOO_LARGE, NULL, "a form has at most %d parts", PARTS_MAX);
		/* Keep the line end, so that a part without header lines ends its head at once. */
		rest = str_part(rest, line, rest.len);
		head = str_find_str(rest, STR("\r\n\r\n"));
		at = str_find_str(rest, delimiter);
		if (head == rest.len || at == rest.len || at < head)
			return malformed(s, "a part is not complete");
		TRY(read_head(s, str_part(rest, 2, head), p));
		p->content = at < head + 4 ? (struct str){ "", 0 } : str_part(rest, head + 4, at);
		rest = str_part(rest, at + delimiter.len, rest.len);
		++*count;
	}
	return OK;
}

static enum status
find_boundary(struct scope *s, struct str content_type, struct str *out)
{
	const char *essence;
	struct str charset;

	if (!parse_media_type(s, content_type, &essence, &charset) || strcmp(essence, "multipart/form-data") != 0)
		return fail(s, ERR_MEDIA_TYPE, NULL, "this route takes multipart/form-data");
	if (!parameter(s, content_type, "boundary", out) || out->len == 0 || out->len > BOUNDARY_MAX)
		return malformed(s, "the boundary parameter is missing or too long");
	return OK;
}

/* Header lines of one part: Content-Disposition is needed, Content-Type taken, others ignored. */
static enum status
read_head(struct scope *s, struct str head, struct part *p)
{
	struct str rest = head, line;
	int lines = 0;
	bool has_name = false;

	if (head.len > PART_HEAD_MAX)
		return fail(s, ERR_TOO_LARGE, NULL, "the header lines of a part take at most %d bytes", PART_HEAD_MAX);
	*p = (struct part){ .type = STR("text/plain") };
	while (str_next(&rest, '\n', &line)) {
		size_t colon = str_find(line, ':');
		struct str name = str_part(line, 0, colon), value = str_trim(str_part(line, colon + 1, line.len));

		if (++lines > PART_LINES_MAX)
			return fail(s, ERR_TOO_LARGE, NULL, "a part has at most %d header lines", PART_LINES_MAX);
		if (str_is_nocase(name, "content-type"))
			p->type = value;
		if (!str_is_nocase(name, "content-disposition"))
			continue;
		if (!str_is_nocase(str_trim(str_part(value, 0, str_find(value, ';'))), "form-data"))
			return malformed(s, "a part is not form-data");
		has_name = parameter(s, value, "name", &p->name);
		p->is_file = parameter(s, value, "filename", &p->file_name);
	}
	if (!has_name)
		return malformed(s, "a part has no name");
	if (!is_text(p->name) || !is_text(p->file_name))
		return malformed(s, "names must be UTF-8 without NUL");
	return OK;
}

/* The parameter `name` of "x; a=1; name=\"...\"". In quotes, browsers write %22 for '"' and leave '\' alone (WHATWG), others escape with '\'. */
static bool
parameter(struct scope *s, struct str value, const char *name, struct str *out)
{
	size_t i = str_find(value, ';');

	while (i < value.len) {
		size_t from, eq;
		struct str key;
		struct buf text;

		for (i++; i < value.len && (value.p[i] == ' ' || value.p[i] == '\t'); i++)
			continue;
		eq = i + str_find(str_part(value, i, value.len), '=');
		from = i + str_find(str_part(value, i, value.len), ';');
		if (from < eq) {
			i = from;
			continue;
		}
		key = str_trim(str_part(value, i, eq));
		from = eq + 1;
		if (from >= value.len || value.p[from] != '"') {
			i = from + str_find(str_part(value, from, value.len), ';');
			if (eq < value.len && str_is_nocase(key, name)) {
				*out = str_trim(str_part(value, from, i));
				return true;
			}
			continue;
		}
		buf_init(&text, s->arena);
		for (i = from + 1; i < value.len && value.p[i] != '"'; i++) {
			if (value.p[i] == '\\' && i + 1 < value.len && (value.p[i + 1] == '"' || value.p[i + 1] == '\\'))
				i++;
			buf_char(&text, value.p[i]);
		}
		if (i == value.len)
			return false;
		if (str_is_nocase(key, name)) {
			*out = buf_as_str(&text);
			return true;
		}
		i += str_find(str_part(value, i, value.len), ';');
	}
	return false;
}

static bool
is_text(struct str s)
{
	return s.len == 0 || (utf8_valid(s) && memchr(s.p, '\0', s.len) == NULL);
}

static enum status
malformed(struct scope *s, const char *why)
{
	return fail(s, ERR_MALFORMED_REQUEST, NULL, "multipart/form-data: %s", why);
}
