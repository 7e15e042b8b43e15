/* wxr_content.c - the body of a WordPress post as WordPress would have shown it. */
#include "render/wxr.h"

#include "base/unicode.h"

/* Elements that stand between paragraphs. Inside `verbatim` ones line ends mean nothing more. */
static const struct { const char *name; bool is_verbatim; } blocks[] = {
	{ "address", false }, { "article", false }, { "aside", false }, { "audio", true }, { "blockquote", false }, { "dd", true },
	{ "details", false }, { "div", false }, { "dl", true }, { "dt", true }, { "fieldset", false }, { "figcaption", true },
	{ "figure", true }, { "footer", false }, { "form", true }, { "h1", true }, { "h2", true }, { "h3", true }, { "h4", true },
	{ "h5", true }, { "h6", true }, { "header", false }, { "hr", false }, { "iframe", true }, { "li", true }, { "main", false },
	{ "nav", true }, { "object", true }, { "ol", true }, { "p", true }, { "pre", true }, { "script", true }, { "section", false },
	{ "style", true }, { "table", true }, { "ul", true }, { "video", true },
};

/* How far ahead the end of a tag, a comment or a shortcode is looked for: hostile text cannot make the walk quadratic. */
#define TAG_MAX 4096
#define SHORTCODE_MAX 32768

/* A tag at the start of `in`: its length, name and direction. False when `in` begins with none. */
struct tag {
	size_t		 len;
	struct str	 name;
	bool		 is_end, is_void;
};

static bool
tag_read(struct str in, struct tag *tag)
{
	size_t i = 1, start;
	char quote = 0;

	in = str_part(in, 0, TAG_MAX);
	if (in.len < 3 || in.p[0] != '<')
		return false;
	tag->is_end = in.p[1] == '/';
	i += tag->is_end;
	start = i;
	while (i < in.len && ((in.p[i] | 0x20) >= 'a' ? (in.p[i] | 0x20) <= 'z' : in.p[i] >= '0' && in.p[i] <= '9'))
		i++;
	if (i == start)
		return false;
	tag->name = str_part(in, start, i);
	for (; i < in.len; i++) {
		if (quote != 0)
			quote = in.p[i] == quote ? 0 : quote;
		else if (in.p[i] == '"' || in.p[i] == '\'')
			quote = in.p[i];
		else if (in.p[i] == '>')
			break;
	}
	if (i == in.len)
		return false;
	tag->is_void = in.p[i - 1] == '/' || str_is_nocase(tag->name, "hr");
	tag->len = i + 1;
	return true;
}

static bool
tag_is_block(const struct tag *tag, bool *is_verbatim)
{
	size_t i;

	for (i = 0; i < COUNT(blocks); i++)
		if (str_is_nocase(tag->name, blocks[i].name)) {
			*is_verbatim = blocks[i].is_verbatim;
			return true;
		}
	return false;
}

/* "<!-- wp:paragraph {...} -->", "<!-- /wp:paragraph -->", "<!--more-->", "<!--nextpage-->": their length, 0 for other comments. */
static size_t
editor_comment(struct str in)
{
	struct str inner;
	size_t end;

	if (!str_starts(in, "<!--"))
		return 0;
	in = str_part(in, 0, SHORTCODE_MAX);
	end = str_find_str(in, STR("-->"));
	if (end == in.len)
		return 0;
	inner = str_trim(str_part(in, 4, end));
	return str_starts(inner, "wp:") || str_starts(inner, "/wp:") || str_starts(inner, "more") || str_is(inner, "nextpage") ||
	    str_is(inner, "noteaser") ? end + 3 : 0;
}

/* An attribute's value inside "[name a="x" b=y]"; empty when absent. */
static struct str
attribute(struct str tag, const char *name)
{
	size_t n = strlen(name), i, end;
	char quote;

	for (i = 1; i + n + 1 < tag.len; i++) {
		if ((tag.p[i - 1] != ' ' && tag.p[i - 1] != '\n' && tag.p[i - 1] != '\t') || memcmp(tag.p + i, name, n) != 0 || tag.p[i + n] != '=')
			continue;
		i += n + 1;
		quote = tag.p[i];
		if (quote != '"' && quote != '\'')
			quote = 0;
		else
			i++;
		for (end = i; end < tag.len; end++)
			if (quote != 0 ? tag.p[end] == quote : tag.p[end] == ' ' || tag.p[end] == ']')
				break;
		return str_part(tag, i, end);
	}
	return (struct str){ NULL, 0 };
}

static void
add_escaped(struct buf *out, struct str text)
{
	size_t i;

	for (i = 0; i < text.len; i++)
		switch (text.p[i]) {
		case '<': buf_text(out, "&lt;"); break;
		case '>': buf_text(out, "&gt;"); break;
		case '"': buf_text(out, "&quot;"); break;
		default: buf_char(out, text.p[i]);
		}
}

static void
add_link(struct buf *out, struct str url)
{
	buf_text(out, "<a href=\"");
	add_escaped(out, url);
	buf_text(out, "\">");
	add_escaped(out, url);
	buf_text(out, "</a>");
}

/* [caption]<img> words[/caption]: the picture, and the words below it. */
static void
add_caption(struct buf *out, struct str open, struct str inner)
{
	struct str words = attribute(open, "caption");
	size_t at, cut = 0;
	struct tag tag;

	for (at = 0; at < inner.len; at++)
		if (tag_read(str_part(inner, at, inner.len), &tag)) {
			if (str_is_nocase(tag.name, "img") || str_is_nocase(tag.name, "a"))
				cut = at + tag.len;
			at += tag.len - 1;
		}
	if (words.len == 0)
		words = str_trim(str_part(inner, cut, inner.len));
	else
		cut = inner.len;
	buf_text(out, "\n\n<figure>");
	buf_str(out, str_part(inner, 0, cut));
	if (words.len > 0) {
		buf_text(out, "<figcaption>");
		buf_str(out, words);
		buf_text(out, "</figcaption>");
	}
	buf_text(out, "</figure>\n\n");
}

/* The shortcode at the start of `in`, when it is one we can show better than as its own text: bytes taken, 0 otherwise. */
static size_t
shortcode(struct buf *out, struct str in)
{
	static const char *const media[] = { "video", "audio", "playlist", "embed" };
	size_t open_len, end, i;
	struct str open, url;
	char closing[16];

	in = str_part(in, 0, SHORTCODE_MAX);
	open_len = str_find(in, ']') + 1;
	if (open_len > in.len)
		return 0;
	open = str_part(in, 0, open_len);
	if (str_starts(open, "[caption") || str_starts(open, "[wp_caption")) {
		struct str close = str_starts(open, "[caption") ? STR("[/caption]") : STR("[/wp_caption]");

		end = str_find_str(in, close);
		if (end == in.len)
			return 0;
		add_caption(out, open, str_part(in, open_len, end));
		return end + close.len;
	}
	for (i = 0; i < COUNT(media); i++) {
		size_t n = strlen(media[i]);

		if (open.len < n + 2 || memcmp(open.p + 1, media[i], n) != 0 || (open.p[n + 1] != ' ' && open.p[n + 1] != ']'))
			continue;
		snprintf(closing, sizeof closing, "[/%s]", media[i]);
		end = str_find_str(in, str_of(closing));
		url = attribute(open, "src");
		if (url.len == 0)
			url = attribute(open, "mp4");
		if (url.len == 0)
			url = attribute(open, "mp3");
		if (url.len == 0 && end < in.len)
			url = str_trim(str_part(in, open_len, end));
		if (!str_starts(url, "http://") && !str_starts(url, "https://") && !str_starts(url, "/"))
			return 0;
		buf_text(out, "\n\n");
		add_link(out, url);
		buf_text(out, "\n\n");
		return end < in.len ? end + strlen(closing) : open_len;
	}
	return 0;
}

/* First pass: comments of the editor away, shortcodes resolved, line ends as LF. Block comments are paragraph borders. */
static void
simplify(struct buf *out, struct str in)
{
	size_t i = 0, n;

	while (i < in.len) {
		struct str rest = str_part(in, i, in.len);

		if (rest.p[0] == '\r') {
			buf_char(out, '\n');
			i += rest.len > 1 && rest.p[1] == '\n' ? 2 : 1;
		} else if (rest.p[0] == '<' && (n = editor_comment(rest)) > 0) {
			buf_text(out, "\n\n");
			i += n;
		} else if (rest.p[0] == '[' && (n = shortcode(out, rest)) > 0)
			i += n;
		else {
			buf_char(out, rest.p[0]);
			i++;
		}
	}
}

/* One run of inline content between blocks: a paragraph; single line ends are breaks; a URL alone on its line is a link. */
static void
add_paragraph(struct buf *out, struct str text)
{
	struct str line, rest;
	bool first = true;

	text = str_trim(text);
	if (text.len == 0)
		return;
	buf_text(out, "<p>");
	rest = text;
	while (str_next(&rest, '\n', &line)) {
		if (!first)
			buf_text(out, "<br>\n");
		first = false;
		line = str_trim(line);
		if ((str_starts(line, "http://") || str_starts(line, "https://")) && str_find(line, ' ') == line.len &&
		    str_find(line, '<') == line.len)
			add_link(out, line);
		else
			buf_str(out, line);
	}
	buf_text(out, "</p>\n");
}

static void
add_paragraphs(struct buf *out, struct str text)
{
	size_t i, start = 0, lines;

	for (i = 0; i < text.len; i++) {
		if (text.p[i] != '\n')
			continue;
		for (lines = 0; i < text.len && (text.p[i] == '\n' || text.p[i] == ' ' || text.p[i] == '\t'); i++)
			lines += text.p[i] == '\n';
		if (lines < 2) {
			i--;
			continue;
		}
		add_paragraph(out, str_part(text, start, i));
		start = i--;
	}
	add_paragraph(out, str_part(text, start, text.len));
}

/* Where the verbatim element that opens at the start of `in` ends (behind its end tag); in.len when it is never closed. */
static size_t
verbatim_end(struct str in, const struct tag *open)
{
	size_t i = open->len;
	struct tag tag;
	int depth = 1;

	while (i < in.len) {
		if (in.p[i] != '<' || !tag_read(str_part(in, i, in.len), &tag)) {
			i++;
			continue;
		}
		i += tag.len;
		if (tag.name.len != open->name.len || strncasecmp(tag.name.p, open->name.p, tag.name.len) != 0 || tag.is_void)
			continue;
		depth += tag.is_end ? -1 : 1;
		if (depth == 0)
			return i;
	}
	return in.len;
}

struct str
wxr_content_html(struct scope *s, struct str content)
{
	struct buf simple, out;
	size_t i = 0, start = 0;
	struct str in;
	struct tag tag;
	bool is_verbatim;

	buf_init(&simple, s->arena);
	buf_init(&out, s->arena);
	simplify(&simple, content);
	in = buf_as_str(&simple);
	while (i < in.len) {
		struct str rest = str_part(in, i, in.len);

		if (in.p[i] != '<' || !tag_read(rest, &tag)) {
			i++;
			continue;
		}
		if (!tag_is_block(&tag, &is_verbatim)) {
			i += tag.len;
			continue;
		}
		add_paragraphs(&out, str_part(in, start, i));
		start = i;
		i += is_verbatim && !tag.is_end && !tag.is_void ? verbatim_end(rest, &tag) : tag.len;
		buf_str(&out, str_part(in, start, i));
		buf_char(&out, '\n');
		start = i;
	}
	add_paragraphs(&out, str_part(in, start, in.len));
	return buf_as_str(&out);
}
