/* visible.c - escaping for markup, and the text that a reader sees. */
#include "render/markdown.h"
#include "render/sanitize.h"

#define EXCERPT_MIN 160
#define EXCERPT_MAX 200

enum { ESCAPE = 1, BLANK = 2, DROP = 4, MAP = 8, MAYBE = 16 };
/* DROP: characters that XML or HTML forbids; they would not come back from a parser as they are. MAP: a form feed is a space, a
 * lone CR (only ever written as &#13;) a line end. MAYBE: C1 controls and noncharacters begin so. */
static const unsigned char classes[256] = {
	[0 ... 8] = DROP, ['\t'] = BLANK, ['\n'] = BLANK, [0x0B] = DROP, ['\f'] = BLANK | MAP, ['\r'] = BLANK | MAP,
	[0x0E ... 0x1F] = DROP, [' '] = BLANK, [0x7F] = DROP, ['&'] = ESCAPE, ['<'] = ESCAPE, ['>'] = ESCAPE, ['"'] = ESCAPE,
	[0xC2] = MAYBE, [0xEF] = MAYBE, [0xF0 ... 0xF4] = MAYBE,
};

bool
text_forbids(int32_t c)
{
	return (c < 0x20 && c != '\t' && c != '\n' && c != '\r' && c != '\f') || (c >= 0x7F && c <= 0x9F) ||
	    (c >= 0xFDD0 && c <= 0xFDEF) || (c & 0xFFFE) == 0xFFFE;
}

static unsigned
class_at(struct str t, size_t i)
{
	unsigned class = classes[(unsigned char)t.p[i]];

	return class == MAYBE ? text_forbids(utf8_next(t, &i)) ? DROP : 0 : class;
}

static size_t
size_at(struct str t, size_t i)
{
	size_t from = i;

	utf8_next(t, &i);
	return i - from;
}

/* What stands at *i when it is not to be copied as it is, in one byte ('\0': nothing); *i moves behind it. */
static char
mapped(struct str t, size_t *i)
{
	char c = (class_at(t, *i) & MAP) == 0 ? '\0' : t.p[*i] == '\r' ? '\n' : ' ';

	*i += size_at(t, *i);
	return c;
}

bool
text_needs_cleaning(struct str t)
{
	for (size_t i = 0; i < t.len; i++)
		if ((classes[(unsigned char)t.p[i]] & (DROP | MAP | MAYBE)) != 0 && class_at(t, i) != 0)
			return true;
	return false;
}

void
text_clean(struct buf *out, struct str t)
{
	for (size_t i = 0; i < t.len;) {
		size_t from = i;
		while (i < t.len && (class_at(t, i) & (DROP | MAP)) == 0)
			i++;
		buf_add(out, t.p + from, i - from);
		char c = i < t.len ? mapped(t, &i) : '\0';
		if (c != '\0')
			buf_char(out, c);
	}
}

void
markup_escape(struct buf *out, struct str t)
{
	for (size_t i = 0; i < t.len;) {
		size_t from = i;
		while (i < t.len && (classes[(unsigned char)t.p[i]] & ~BLANK) == 0)
			i++;
		buf_add(out, t.p + from, i - from);
		if (i == t.len)
			break;
		unsigned class = class_at(t, i);
		if (class == 0) {
			size_t size = size_at(t, i);
			buf_add(out, t.p + i, size);
			i += size;
			continue;
		}
		if (class == ESCAPE) {
			buf_text(out, t.p[i] == '&' ? "&amp;" : t.p[i] == '<' ? "&lt;" : t.p[i] == '>' ? "&gt;" : "&quot;");
			i++;
			continue;
		}
		char c = mapped(t, &i);
		if (c != '\0')
			buf_char(out, c);
	}
}

static bool
is_plain(char c)
{
	return (classes[(unsigned char)c] & (BLANK | DROP | MAYBE)) == 0;
}

void
visible_add(struct buf *text, bool *gap, struct str t)
{
	for (size_t i = 0; i < t.len;) {
		size_t from = i;
		/* Words with one space between them, the usual case, are copied as they stand. */
		while (i < t.len && (is_plain(t.p[i]) ||
		    (t.p[i] == ' ' && i > from && i + 1 < t.len && is_plain(t.p[i + 1]))))
			i++;
		if (i == from && class_at(t, i) == 0)
			i += size_at(t, i);
		if (i > from) {
			if (*gap && text->len > 0)
				buf_char(text, ' ');
			*gap = false;
			buf_add(text, t.p + from, i - from);
			continue;
		}
		*gap |= (class_at(t, i) & BLANK) != 0;
		i += size_at(t, i);
	}
}

/* At a word's end if there is one between the bounds, else (Chinese, Japanese) behind a full stop or comma, else at the bound. */
const char *
excerpt_of(struct scope *s, struct str text)
{
	size_t i = 0, count = 0, space = 0, stop = 0;

	text = str_trim(text);
	while (i < text.len && count < EXCERPT_MAX) {
		size_t at = i;
		int32_t c = utf8_next(text, &i);
		count++;
		if (count <= EXCERPT_MIN)
			continue;
		if (c == ' ')
			space = at;
		if (c == 0x3002 || c == 0xFF0C || c == 0x3001 || c == 0xFF01 || c == 0xFF1F || c == 0xFF1B)
			stop = i;
	}
	if (i == text.len)
		return str_dup(s->arena, text);
	if (text.p[i] == ' ')
		space = i;
	size_t end = space > 0 ? space : stop > 0 ? stop : i;
	return scope_printf(s, "%.*s…", (int)end, text.p);
}

/* The element named at the start of `tag` ("p class=..." or "/p"). */
static enum element
element_named(struct str tag)
{
	size_t len = 0;

	if (tag.len > 0 && tag.p[0] == '/')
		tag = str_part(tag, 1, tag.len);
	while (len < tag.len && tag.p[len] != ' ' && tag.p[len] != '>')
		len++;
	for (size_t i = 1; i < ELEMENT_COUNT; i++)
		if (str_is(str_part(tag, 0, len), element_infos[i].tag))
			return (enum element)i;
	return ELEMENT_NONE;
}

/* The character that our own writer escaped at *i (which is at '&'), and *i behind it. */
static char
unescape(struct str t, size_t *i)
{
	static const struct { const char *escape; char c; } escapes[] = {
		{ "&amp;", '&' }, { "&lt;", '<' }, { "&gt;", '>' }, { "&quot;", '"' } };
	struct str rest = str_part(t, *i, t.len);

	for (size_t k = 0; k < COUNT(escapes); k++)
		if (str_starts(rest, escapes[k].escape)) {
			*i += strlen(escapes[k].escape);
			return escapes[k].c;
		}
	return t.p[(*i)++];
}

const char *
render_text(struct scope *s, struct str html)
{
	struct buf text;
	bool gap = false;

	buf_init(&text, s->arena);
	for (size_t i = 0; i < html.len;) {
		struct str rest = str_part(html, i, html.len);
		if (rest.p[0] == '<') {
			gap |= element_infos[element_named(str_part(rest, 1, rest.len))].breaks;
			i += str_find(rest, '>') + 1;
		} else if (rest.p[0] == '&') {
			char c = unescape(html, &i);
			visible_add(&text, &gap, (struct str){ &c, 1 });
		} else {
			size_t len = str_find(rest, '<'), amp = str_find(str_part(rest, 0, len), '&');
			len = amp < len ? amp : len;
			visible_add(&text, &gap, str_part(rest, 0, len));
			i += len;
		}
	}
	return text.p;
}

/* Where an address stands in HTML that render_content made: text has its '<' escaped, and href or src is always the first attribute. */
static const struct str link_marks[] = { { "<a href=\"", 9 } };
static const struct str media_marks[] = { { "<a href=\"", 9 }, { "<img src=\"", 10 }, { "<video src=\"", 12 }, { "<audio src=\"", 12 },
	{ "<source src=\"", 13 } };

/* The first mark at or behind `at`; html.len when there is none. *len is its length. */
static size_t
find_mark(struct str html, size_t at, const struct str *marks, size_t count, size_t *len)
{
	for (; at < html.len; at++) {
		at += str_find(str_part(html, at, html.len), '<');
		for (size_t i = 0; i < count && at < html.len; i++)
			if (html.len - at >= marks[i].len && memcmp(html.p + at, marks[i].p, marks[i].len) == 0) {
				*len = marks[i].len;
				return at;
			}
	}
	return html.len;
}

static struct str
replace_addresses(struct scope *s, struct str html, const struct str *marks, size_t count, address_fn *current, void *arg)
{
	struct buf out, url;
	size_t done = 0, at, len;

	buf_init(&out, s->arena);
	while ((at = find_mark(html, done, marks, count, &len)) < html.len) {
		size_t from = at + len, end = from + str_find(str_part(html, from, html.len), '"');
		buf_init(&url, s->arena);
		for (size_t i = from; i < end;)
			buf_char(&url, html.p[i] == '&' ? unescape(html, &i) : html.p[i++]);
		const char *now = current(s, arg, buf_as_str(&url));
		buf_str(&out, str_part(html, done, from));
		if (now != NULL)
			markup_escape(&out, str_of(now));
		else
			buf_str(&out, str_part(html, from, end));
		done = end;
	}
	if (done == 0)
		return html;
	buf_str(&out, str_part(html, done, html.len));
	return buf_as_str(&out);
}

struct str
render_links(struct scope *s, struct str html, address_fn *current, void *arg)
{
	return replace_addresses(s, html, link_marks, COUNT(link_marks), current, arg);
}

struct str
render_addresses(struct scope *s, struct str html, address_fn *current, void *arg)
{
	return replace_addresses(s, html, media_marks, COUNT(media_marks), current, arg);
}
