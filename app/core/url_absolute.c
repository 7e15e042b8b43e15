/* url_absolute.c - absolute http and https URLs: read as browsers read them, printed in strict ASCII. */
#include "core/url.h"
#include "core/host.h"
#include "core/percent.h"

#define TEXT_MAX 8000

static struct str	text_clean(struct scope *, struct str);
static void		path_print(struct scope *, struct buf *, struct str path);
static bool		is_dot(struct str), is_dot_dot(struct str);
static void		segment_print(struct buf *, struct str);

enum status
url_absolute(struct scope *s, const char **out, struct str text, const char *field)
{
	struct authority	a = { 0 };
	struct buf		buf;
	struct str		rest, tail;
	size_t			query, fragment;

	if (text.len > TEXT_MAX)
		return fail(s, ERR_INVALID, field, "is longer than %d bytes", URL_PATH_MAX);
	if (!utf8_valid(text))
		return fail(s, ERR_INVALID, field, "is not UTF-8");
	rest = text_clean(s, text);
	if (!host_cut_scheme(&rest, &a))
		return fail(s, ERR_INVALID, field, "must begin with http:// or https://");
	TRY(host_cut_authority(s, &rest, &a, field));

	buf_init(&buf, s->arena);
	buf_printf(&buf, "%s://%s%s%s", a.scheme, a.host, a.port[0] != '\0' ? ":" : "", a.port);
	fragment = str_find(rest, '#');
	tail = str_part(rest, 0, fragment);
	query = str_find(tail, '?');
	path_print(s, &buf, str_part(tail, 0, query));
	if (query < tail.len) {
		buf_char(&buf, '?');
		percent_add_query(&buf, str_part(tail, query + 1, tail.len), '\'');
	}
	if (fragment < rest.len) {
		buf_char(&buf, '#');
		percent_add_query(&buf, str_part(rest, fragment + 1, rest.len), 0);
	}
	if (buf.len > URL_PATH_MAX)
		return fail(s, ERR_INVALID, field, "is longer than %d bytes", URL_PATH_MAX);
	*out = buf.p;
	return OK;
}

/* Without controls and blanks around it, and without tabs and line ends inside: what pasting leaves. */
static struct str
text_clean(struct scope *s, struct str text)
{
	struct buf	out;
	size_t		i;

	while (text.len > 0 && (unsigned char)text.p[0] <= ' ')
		text = str_part(text, 1, text.len);
	while (text.len > 0 && (unsigned char)text.p[text.len - 1] <= ' ')
		text.len--;
	buf_init(&out, s->arena);
	for (i = 0; i < text.len; i++) {
		if (text.p[i] != '\t' && text.p[i] != '\n' && text.p[i] != '\r')
			buf_char(&out, text.p[i]);
	}
	return buf_as_str(&out);
}

/* Unlike our own paths, those of others keep empty segments, escapes and the trailing slash as they are. */
static void
path_print(struct scope *s, struct buf *out, struct str path)
{
	struct str	segment;
	size_t		start = out->len, end;
	bool		is_last = false;

	if (path.len > 0)
		path = str_part(path, 1, path.len);
	while (!is_last) {
		for (end = 0; end < path.len && path.p[end] != '/' && path.p[end] != '\\'; end++)
			;
		is_last = end == path.len;
		segment = str_part(path, 0, end);
		path = str_part(path, end + 1, path.len);
		if (is_dot_dot(segment)) {
			while (out->len > start && out->p[--out->len] != '/')
				;
		} else if (!is_dot(segment)) {
			buf_char(out, '/');
			segment_print(out, segment);
			continue;
		}
		if (is_last)
			buf_char(out, '/');
	}
}

static bool
is_dot(struct str segment)
{
	return str_is(segment, ".") || str_is_nocase(segment, "%2e");
}

static bool
is_dot_dot(struct str segment)
{
	return str_is(segment, "..") || str_is_nocase(segment, ".%2e") || str_is_nocase(segment, "%2e.") ||
	    str_is_nocase(segment, "%2e%2e");
}

static void
segment_print(struct buf *out, struct str segment)
{
	size_t	i;

	for (i = 0; i < segment.len; i++) {
		if (is_pchar((unsigned char)segment.p[i]) || percent_at(segment, i) >= 0)
			buf_char(out, segment.p[i]);
		else
			percent_add(out, (unsigned char)segment.p[i]);
	}
}
