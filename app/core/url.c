/* url.c - the one normal form of a path, public addresses, and query strings. */
#include "core/url.h"
#include "core/host.h"
#include "core/percent.h"
#include "base/unicode.h"

#define RAW_MAX ((size_t)URL_PATH_MAX * 3)	/* a path of escapes alone is three times as long as what it means */
#define PAIRS_MAX 100

/* A `decoded` path is one in which every '%' begins one of the escapes that stay. */
static enum status	path_decode(struct scope *, struct str *decoded, struct str raw);
static bool		stays_encoded(int c);
static void		piece_close(struct scope *, struct buf *, size_t from);
static struct str	segments_resolve(struct scope *, struct str);
static struct str	path_encode(struct scope *, struct str decoded);
static const char	*fold_of(struct scope *, struct str decoded, const char *path);
static enum status	own_host_check(struct scope *, struct str *text, const char *origin, const char *field);
static bool		has_extension(struct str path);
static bool		is_shown(int32_t codepoint);
static size_t		escaped_character(struct str, size_t i, int32_t *codepoint);

enum status
url_form(struct scope *s, struct url_form *out, struct str raw)
{
	struct str	given = raw, decoded;

	*out = (struct url_form){ 0 };
	if (raw.len == 0 || raw.p[0] != '/')
		return fail(s, ERR_MALFORMED_REQUEST, NULL, "a path begins with '/'");
	if (raw.len > RAW_MAX)
		return fail(s, ERR_URI_TOO_LONG, NULL, "a path has at most %d bytes", URL_PATH_MAX);
	TRY(path_decode(s, &decoded, raw));
	decoded = segments_resolve(s, decoded);
	out->path = path_encode(s, decoded).p;
	if (strlen(out->path) > URL_PATH_MAX)
		return fail(s, ERR_URI_TOO_LONG, NULL, "a path has at most %d bytes", URL_PATH_MAX);
	out->fold = fold_of(s, decoded, out->path);
	out->had_slash = raw.p[raw.len - 1] == '/' && strcmp(out->path, "/") != 0;
	if (out->had_slash)
		given.len--;
	out->is_exact = str_is(given, out->path);
	return OK;
}

enum status
url_form_own(struct scope *s, struct url_form *out, struct str *query, struct str text, const char *origin,
    const char *field)
{
	struct buf	buf;
	struct str	rest = str_trim(text), path;
	size_t		i;

	*query = (struct str){ "", 0 };
	if (rest.len == 0)
		return fail(s, ERR_INVALID, field, "is empty");
	if (text_has_control(rest, false))
		return fail(s, ERR_INVALID, field, "has a control character");
	TRY(own_host_check(s, &rest, origin, field));
	rest.len = str_find(rest, '#');
	i = str_find(rest, '?');
	if (i < rest.len) {
		buf_init(&buf, s->arena);
		percent_add_query(&buf, str_part(rest, i + 1, rest.len), 0);
		*query = buf_as_str(&buf);
		if (query->len > URL_PATH_MAX)
			return fail(s, ERR_INVALID, field, "a query has at most %d bytes", URL_PATH_MAX);
	}
	path = str_part(rest, 0, i);
	if (path.len == 0 || path.p[0] != '/') {
		buf_init(&buf, s->arena);
		buf_char(&buf, '/');
		buf_str(&buf, path);
		path = buf_as_str(&buf);
	}
	if (url_form(s, out, path) != OK)
		return fail(s, ERR_INVALID, field, "%s", s->error->detail);
	return OK;
}

const char *
url_segment(struct scope *s, struct str text)
{
	struct buf	out;
	struct str	nfc;
	size_t		i;

	buf_init(&out, s->arena);
	if (utf8_valid(text) && unicode_nfc(s, &nfc, text) == OK)
		text = nfc;
	for (i = 0; i < text.len; i++) {
		if (is_pchar((unsigned char)text.p[i]))
			buf_char(&out, text.p[i]);
		else
			percent_add(&out, (unsigned char)text.p[i]);
	}
	return out.p;
}

const char *
url_decode_for_people(struct scope *s, struct str path)
{
	struct buf	out;
	int32_t		codepoint;
	size_t		i = 0, len;

	buf_init(&out, s->arena);
	while (i < path.len) {
		len = escaped_character(path, i, &codepoint);
		if (len > 0 && is_shown(codepoint)) {
			buf_utf8(&out, codepoint);
			i += len;
		} else {
			buf_char(&out, path.p[i++]);
		}
	}
	return out.p;
}

const char *
url_public(struct scope *s, const char *origin, const char *path, bool always_slash, struct str query)
{
	struct buf	out;

	buf_init(&out, s->arena);
	buf_text(&out, origin);
	buf_text(&out, path);
	if (always_slash && strcmp(path, "/") != 0 && !has_extension(str_of(path)))
		buf_char(&out, '/');
	if (query.len > 0) {
		buf_char(&out, '?');
		percent_add_query(&out, query, 0);
	}
	return out.p;
}

void
url_query(struct scope *s, struct str query, struct url_pair **pairs, size_t *count)
{
	struct url_pair	*list = scope_alloc(s, PAIRS_MAX * sizeof(*list));
	struct str	 piece;
	size_t		 equals, n = 0;

	while (n < PAIRS_MAX && str_next(&query, '&', &piece)) {
		if (piece.len == 0)
			continue;
		equals = str_find(piece, '=');
		list[n].raw = piece;
		list[n].name = percent_decode(s, str_part(piece, 0, equals), true);
		list[n].value = percent_decode(s, str_part(piece, equals + 1, piece.len), true);
		n++;
	}
	*pairs = list;
	*count = n;
}

/* %2F, %5C, %25 and %3B mean something else than the character they stand for, so they never become that character. */
static bool
stays_encoded(int c)
{
	return c == '/' || c == '\\' || c == '%' || c == ';';
}

static enum status
path_decode(struct scope *s, struct str *decoded, struct str raw)
{
	struct buf	buf;
	size_t		i, from = 0;
	int		escape, c;

	buf_init(&buf, s->arena);
	for (i = 0; i < raw.len; i++) {
		escape = percent_at(raw, i);
		c = escape >= 0 ? escape : (unsigned char)raw.p[i];
		if (c < 0x20 || c == 0x7f)
			return fail(s, ERR_MALFORMED_REQUEST, NULL, "the path has a control character");
		if (escape >= 0)
			i += 2;
		if (escape >= 0 ? stays_encoded(c) : c == '%' || c == '\\') {
			piece_close(s, &buf, from);
			percent_add(&buf, (unsigned char)c);
			from = buf.len;
		} else if (c == '/') {
			piece_close(s, &buf, from);
			buf_char(&buf, '/');
			from = buf.len;
		} else {
			buf_char(&buf, (char)c);
		}
	}
	piece_close(s, &buf, from);
	*decoded = buf_as_str(&buf);
	return OK;
}

/* Normalised piece by piece: a kept escape must not take part ("%2F" and a combining dot would become "%2" and another letter),
 * and one segment in an old encoding must not keep the others from their normal form. */
static void
piece_close(struct scope *s, struct buf *buf, size_t from)
{
	struct str	piece = { buf->p + from, buf->len - from }, nfc;

	if (!utf8_valid(piece) || unicode_nfc(s, &nfc, piece) != OK || str_eq(nfc, piece))
		return;
	buf->len = from;
	buf_str(buf, nfc);
}

/* Empty and "." segments go, ".." takes the one before it along. */
static struct str
segments_resolve(struct scope *s, struct str path)
{
	struct buf	out;
	struct str	segment;

	buf_init(&out, s->arena);
	while (str_next(&path, '/', &segment)) {
		if (segment.len == 0 || str_is(segment, "."))
			continue;
		if (str_is(segment, "..")) {
			while (out.len > 0 && out.p[--out.len] != '/')
				;
			continue;
		}
		buf_char(&out, '/');
		buf_str(&out, segment);
	}
	if (out.len == 0)
		buf_char(&out, '/');
	return buf_as_str(&out);
}

static struct str
path_encode(struct scope *s, struct str decoded)
{
	struct buf	out;
	size_t		i;
	unsigned char	c;

	buf_init(&out, s->arena);
	for (i = 0; i < decoded.len; i++) {
		c = (unsigned char)decoded.p[i];
		if (is_pchar(c) || c == '/' || c == '%')
			buf_char(&out, decoded.p[i]);
		else
			percent_add(&out, c);
	}
	return buf_as_str(&out);
}

/* What is not UTF-8 has no case fold; its encoded form in lower case cannot be the fold of other text, where '%' only begins an
 * escape that stays. */
static const char *
fold_of(struct scope *s, struct str decoded, const char *path)
{
	struct str	 fold;
	char		*lower;
	size_t		 i;

	if (utf8_valid(decoded) && unicode_fold(s, &fold, decoded) == OK)
		return str_dup(s->arena, fold);
	lower = arena_strdup(s->arena, path);
	for (i = 0; lower[i] != '\0'; i++) {
		if (lower[i] >= 'A' && lower[i] <= 'Z')
			lower[i] += 'a' - 'A';
	}
	return lower;
}

/* Cut scheme and host off an absolute URL of our own origin. */
static enum status
own_host_check(struct scope *s, struct str *text, const char *origin, const char *field)
{
	struct authority	theirs, ours;
	struct str		rest = *text, own = str_of(origin);
	bool			is_network_path = str_starts(rest, "//");

	if (!is_network_path && !host_has_scheme(rest))
		return OK;
	if (!is_network_path && !host_cut_scheme(&rest, &theirs))
		return fail(s, ERR_INVALID, field, "is neither a path nor an http or https URL");
	if (!host_cut_scheme(&own, &ours))
		return fail(s, ERR_INTERNAL, field, "the origin '%s' is no http or https URL", origin);
	if (is_network_path)
		theirs = ours;
	TRY(host_cut_authority(s, &rest, &theirs, field));
	TRY(host_cut_authority(s, &own, &ours, field));
	if (strcmp(host_plain(s, theirs.host), ours.host) != 0 || strcmp(theirs.port, ours.port) != 0)
		return fail(s, ERR_INVALID, field, "is a URL of another site than %s", origin);
	*text = rest;
	return OK;
}

/* "page.html" names a file and gets no slash; "v1.2" does not, as an extension has a letter. */
static bool
has_extension(struct str path)
{
	size_t		i = path.len, n = 0;
	bool		has_letter = false;
	unsigned char	c;

	while (i > 0 && path.p[i - 1] != '.') {
		c = (unsigned char)path.p[--i];
		if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')))
			return false;
		has_letter = has_letter || c > '9';
		n++;
	}
	return i > 1 && n >= 1 && n <= 5 && has_letter && path.p[i - 2] != '/';
}

/* Left encoded: what would change the meaning of the address when it is typed again, and what cannot be seen or turns the
 * reading order. */
static bool
is_shown(int32_t c)
{
	if (c < 0x80)
		return c > 0x20 && c < 0x7f && strchr("%/\\;?#\"<>", c) == NULL;
	return c >= 0xa0 && !unicode_is_space(c) && c != 0xad && c != 0x061c && c != 0xfeff && !(c >= 0x200b &&
	    c <= 0x200f) &&
	    !(c >= 0x2028 && c <= 0x202e) && !(c >= 0x2060 && c <= 0x206f) && !(c >= 0xe000 && c <= 0xf8ff) &&
	    !(c >= 0xfff0 && c <= 0xffff) && c < 0xe0000;
}

/* The length of the escapes at `i` that make up one UTF-8 character, or 0. */
static size_t
escaped_character(struct str path, size_t i, int32_t *codepoint)
{
	char	bytes[4];
	size_t	n = 0, used = 0;
	int	c;

	while (n < sizeof(bytes) && (c = percent_at(path, i + n * 3)) >= 0)
		bytes[n++] = (char)c;
	if (n == 0)
		return 0;
	*codepoint = utf8_next((struct str){ bytes, n }, &used);
	return *codepoint < 0 ? 0 : used * 3;
}
