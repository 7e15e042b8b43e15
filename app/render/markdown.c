/* markdown.c - Markdown by md4c: its events go straight into the allow-list writer unless raw HTML is among them. */
#include "render/markdown.h"
#include <md4c-html.h>
#include <md4c.h>
#include "render/sanitize.h"

#define PARSER_FLAGS (MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH | MD_FLAG_PERMISSIVEAUTOLINKS | MD_FLAG_TASKLISTS)

/* Why parsing was left early. Kept in the events, since md4c loses what a callback returned inside inline text. */
enum { LEFT_FOR_HTML = 1, LEFT_FOR_BOUNDS };

struct events {
	struct scope	*s;
	struct writer	*w;
	struct { enum element el; uint32_t number; } open[CONTENT_DEPTH_MAX];	/* md4c's open blocks and spans */
	size_t		 depth;
	int		 images;	/* open; inside one everything is alternative text */
	struct buf	 alt;
	struct attributes image;
	struct buf	 src, title;	/* of the outermost open image */
	int		 left;
};

static enum status	 from_markdown(struct scope *, struct rendered *, struct str source);
static enum status	 from_mixed(struct scope *, struct rendered *, struct str source);
static enum status	 from_html(struct scope *, struct rendered *, struct str source, size_t source_len);

/* One kind of line end and no forbidden characters, so that all ways through see the same. */
static struct str
clean_source(struct scope *s, struct str source)
{
	struct buf lines, out;

	buf_init(&lines, s->arena);
	if (str_find(source, '\r') < source.len) {
		for (size_t at = 0; at < source.len;) {
			struct str rest = str_part(source, at, source.len);
			size_t len = str_find(rest, '\r');
			buf_str(&lines, str_part(rest, 0, len));
			at += len;
			if (at < source.len) {
				buf_char(&lines, '\n');
				at += str_starts(str_part(source, at, source.len), "\r\n") ? 2 : 1;
			}
		}
		source = buf_as_str(&lines);
	}
	if (!text_needs_cleaning(source))
		return source;
	buf_init(&out, s->arena);
	text_clean(&out, source);
	return buf_as_str(&out);
}

enum status
render_content(struct scope *s, struct rendered *out, enum format format, struct str source)
{
	if (source.len > SOURCE_MAX)
		return fail(s, ERR_INVALID, "content", "is longer than %d bytes", SOURCE_MAX);
	if (!utf8_valid(source))
		return fail(s, ERR_INVALID, "content", "is not UTF-8");
	source = clean_source(s, source);
	if (format == FORMAT_HTML)
		return from_html(s, out, source, source.len);
	return from_markdown(s, out, source);
}

static enum status
from_html(struct scope *s, struct rendered *out, struct str source, size_t source_len)
{
	struct writer *w = writer_new(s, source_len);

	TRY(html_walk(s, w, source));
	return writer_end(w, out);
}

struct draft {
	struct buf	 html;
	size_t		 limit;
	bool		 is_over;
};

static void
add_draft(const MD_CHAR *p, MD_SIZE len, void *arg)
{
	struct draft *d = arg;

	/* md4c's renderer cannot be stopped: what comes behind the limit is let go. */
	d->is_over |= d->html.len + len > d->limit;
	if (!d->is_over)
		buf_add(&d->html, p, len);
}

static enum status
from_mixed(struct scope *s, struct rendered *out, struct str source)
{
	struct draft d = { .limit = source.len * 8 + 65536 };

	buf_init(&d.html, s->arena);
	if (md_html(source.p, (MD_SIZE)source.len, add_draft, &d, PARSER_FLAGS, 0) != 0)
		return fail(s, ERR_INTERNAL, NULL, "the Markdown parser gave up");
	if (d.is_over)
		return fail(s, ERR_INVALID, "content", "the page would be too large");
	return from_html(s, out, buf_as_str(&d.html), source.len);
}

/* The character an entity stands for, or -1 for the many names that only the HTML parser knows. */
static int32_t
entity(struct str e)
{
	static const struct { const char *name; int32_t c; } known[] = {
		{ "&amp;", '&' }, { "&lt;", '<' }, { "&gt;", '>' }, { "&quot;", '"' }, { "&nbsp;", 0xA0 } };
	int32_t c = 0;
	bool hex;

	for (size_t i = 0; i < COUNT(known); i++)
		if (str_is(e, known[i].name))
			return known[i].c;
	if (e.len < 4 || e.p[1] != '#')
		return -1;
	hex = e.p[2] == 'x' || e.p[2] == 'X';
	for (size_t i = hex ? 3 : 2; i + 1 < e.len && c <= 0x10FFFF; i++) {
		char d = e.p[i];
		c = hex ? c * 16 + (d <= '9' ? d - '0' : (d | 0x20) - 'a' + 10) : c * 10 + (d - '0');
	}
	return c > 0x10FFFF || (c >= 0xD800 && c < 0xE000) || text_forbids(c) ? 0xFFFD : c;
}

/* The decoded text of one of md4c's strings; false when an entity needs the HTML parser. */
static bool
attribute_text(struct buf *out, const MD_ATTRIBUTE *a)
{
	out->len = 0;
	for (size_t i = 0; a->text != NULL && a->substr_offsets[i] < a->size; i++) {
		MD_OFFSET from = a->substr_offsets[i];
		struct str part = { a->text + from, a->substr_offsets[i + 1] - from };
		int32_t c = a->substr_types[i] == MD_TEXT_NULLCHAR ? 0xFFFD : 0;
		if (a->substr_types[i] == MD_TEXT_ENTITY && (c = entity(part)) < 0)
			return false;
		if (c != 0)
			buf_utf8(out, c);
		else
			buf_str(out, part);
	}
	return true;
}

static int
open_element(struct events *e, enum element el, const struct attributes *a)
{
	if (e->depth == COUNT(e->open))
		return LEFT_FOR_BOUNDS;
	e->open[e->depth].el = el;
	e->open[e->depth++].number = writer_open(e->w, el, a);
	return 0;
}

/* md4c's bare links can end a span that began outside of them, so its events are not always a tree. Then the HTML parser sorts
 * them out, as it does in any browser. */
static int
close_element(struct events *e, enum element el)
{
	if (e->images != 0 || e->depth == 0 || e->open[e->depth - 1].el != el)
		return LEFT_FOR_HTML;
	writer_close(e->w, e->open[--e->depth].number);
	return 0;
}

static int
enter_code(struct events *e, const MD_BLOCK_CODE_DETAIL *detail)
{
	struct attributes a;
	struct buf class;

	a.given = 0;
	if (open_element(e, ELEMENT_PRE, NULL) != 0)
		return LEFT_FOR_BOUNDS;
	if (detail->lang.size > 0) {
		buf_init(&class, e->s->arena);
		if (!attribute_text(&class, &detail->lang))
			return LEFT_FOR_HTML;
		attributes_give(&a, ATTRIBUTE_CLASS, str_of(scope_printf(e->s, "language-%s", class.p)));
	}
	return open_element(e, ELEMENT_CODE, &a);
}

static int
enter_cell(struct events *e, enum element el, const MD_BLOCK_TD_DETAIL *detail)
{
	static const char *const classes[] = { [MD_ALIGN_LEFT] = "align-left", [MD_ALIGN_CENTER] = "align-center",
		[MD_ALIGN_RIGHT] = "align-right" };
	struct attributes a;

	a.given = 0;
	if (detail->align != MD_ALIGN_DEFAULT)
		attributes_give(&a, ATTRIBUTE_CLASS, str_of(classes[detail->align]));
	return open_element(e, el, &a);
}

static int
enter_list(struct events *e, const MD_BLOCK_OL_DETAIL *detail)
{
	struct attributes a;

	a.given = 0;
	if (detail->start != 1)
		attributes_give(&a, ATTRIBUTE_START, str_of(scope_printf(e->s, "%u", detail->start)));
	return open_element(e, ELEMENT_OL, &a);
}

static int
enter_item(struct events *e, const MD_BLOCK_LI_DETAIL *detail)
{
	int left = open_element(e, ELEMENT_LI, NULL);

	if (left == 0 && detail->is_task)
		writer_text(e->w, detail->task_mark == ' ' ? STR("☐ ") : STR("☑ "));
	return left;
}

static void
add_newline(struct events *e)
{
	writer_text(e->w, STR("\n"));
}

static enum element
element_of_block(MD_BLOCKTYPE type, const void *detail)
{
	static const enum element headings[] = { 0, ELEMENT_H2, ELEMENT_H2, ELEMENT_H3, ELEMENT_H4, ELEMENT_H5,
		ELEMENT_H6 };

	switch (type) {
	case MD_BLOCK_QUOTE:	return ELEMENT_BLOCKQUOTE;
	case MD_BLOCK_UL:	return ELEMENT_UL;
	case MD_BLOCK_OL:	return ELEMENT_OL;
	case MD_BLOCK_LI:	return ELEMENT_LI;
	case MD_BLOCK_HR:	return ELEMENT_HR;
	case MD_BLOCK_H:	return headings[((const MD_BLOCK_H_DETAIL *)detail)->level];
	case MD_BLOCK_CODE:	return ELEMENT_PRE;
	case MD_BLOCK_P:	return ELEMENT_P;
	case MD_BLOCK_TABLE:	return ELEMENT_TABLE;
	case MD_BLOCK_THEAD:	return ELEMENT_THEAD;
	case MD_BLOCK_TBODY:	return ELEMENT_TBODY;
	case MD_BLOCK_TR:	return ELEMENT_TR;
	case MD_BLOCK_TH:	return ELEMENT_TH;
	case MD_BLOCK_TD:	return ELEMENT_TD;
	case MD_BLOCK_DOC:
	case MD_BLOCK_HTML:
		break;
	}
	return ELEMENT_NONE;
}

static int
block_begins(struct events *e, MD_BLOCKTYPE type, void *detail)
{
	enum element el = element_of_block(type, detail);
	int left;

	if (type == MD_BLOCK_DOC)
		return 0;
	if (el == ELEMENT_NONE)
		return LEFT_FOR_HTML;
	if (el == ELEMENT_LI)
		return enter_item(e, detail);
	if (el == ELEMENT_PRE)
		return enter_code(e, detail);
	if (el == ELEMENT_TH || el == ELEMENT_TD)
		return enter_cell(e, el, detail);
	left = el == ELEMENT_OL ? enter_list(e, detail) : open_element(e, el, NULL);
	/* The same line ends as md4c's own renderer gives: see from_mixed. */
	if (el == ELEMENT_BLOCKQUOTE || el == ELEMENT_UL || el == ELEMENT_OL || el == ELEMENT_HR)
		add_newline(e);
	return left;
}

static int
keep(struct events *e, int left)
{
	if (e->left == 0 && (left != 0 || writer_status(e->w) != OK))
		e->left = left != 0 ? left : LEFT_FOR_BOUNDS;
	return e->left;
}

static int
enter_block(MD_BLOCKTYPE type, void *detail, void *arg)
{
	struct events *e = arg;

	return e->left != 0 ? e->left : keep(e, block_begins(e, type, detail));
}

static int
leave_block(MD_BLOCKTYPE type, void *detail, void *arg)
{
	struct events *e = arg;

	if (type == MD_BLOCK_DOC || e->left != 0)
		return e->left;
	if (type == MD_BLOCK_CODE && close_element(e, ELEMENT_CODE) != 0)
		return keep(e, LEFT_FOR_HTML);
	if (close_element(e, element_of_block(type, detail)) != 0)
		return keep(e, LEFT_FOR_HTML);
	if (type != MD_BLOCK_HR)
		add_newline(e);
	return keep(e, 0);
}

static int
enter_link(struct events *e, const MD_SPAN_A_DETAIL *detail)
{
	struct attributes a;
	struct buf href, title;

	a.given = 0;
	buf_init(&href, e->s->arena);
	buf_init(&title, e->s->arena);
	if (!attribute_text(&href, &detail->href) || !attribute_text(&title, &detail->title))
		return LEFT_FOR_HTML;
	attributes_give(&a, ATTRIBUTE_HREF, buf_as_str(&href));
	if (title.len > 0)
		attributes_give(&a, ATTRIBUTE_TITLE, buf_as_str(&title));
	return open_element(e, ELEMENT_A, &a);
}

static int
enter_image(struct events *e, const MD_SPAN_IMG_DETAIL *detail)
{
	if (e->images++ > 0)
		return 0;
	e->image.given = 0;
	e->alt.len = 0;
	if (!attribute_text(&e->src, &detail->src) || !attribute_text(&e->title, &detail->title))
		return LEFT_FOR_HTML;
	return 0;
}

static int
leave_image(struct events *e)
{
	if (e->images == 0)
		return LEFT_FOR_HTML;
	if (--e->images > 0)
		return 0;
	attributes_give(&e->image, ATTRIBUTE_SRC, buf_as_str(&e->src));
	attributes_give(&e->image, ATTRIBUTE_ALT, buf_as_str(&e->alt));
	if (e->title.len > 0)
		attributes_give(&e->image, ATTRIBUTE_TITLE, buf_as_str(&e->title));
	writer_open(e->w, ELEMENT_IMG, &e->image);
	return 0;
}

static enum element
element_of_span(MD_SPANTYPE type)
{
	switch ((int)type) {
	case MD_SPAN_EM:	return ELEMENT_EM;
	case MD_SPAN_STRONG:	return ELEMENT_STRONG;
	case MD_SPAN_A:		return ELEMENT_A;
	case MD_SPAN_CODE:	return ELEMENT_CODE;
	case MD_SPAN_DEL:	return ELEMENT_DEL;
	default:		return ELEMENT_NONE;
	}
}

static int
span_begins(struct events *e, MD_SPANTYPE type, void *detail)
{
	enum element el = element_of_span(type);

	if (type == MD_SPAN_IMG)
		return enter_image(e, detail);
	if (e->images > 0)
		return 0;
	if (el == ELEMENT_NONE)
		return LEFT_FOR_HTML;
	return el == ELEMENT_A ? enter_link(e, detail) : open_element(e, el, NULL);
}

static int
enter_span(MD_SPANTYPE type, void *detail, void *arg)
{
	struct events *e = arg;

	return e->left != 0 ? e->left : keep(e, span_begins(e, type, detail));
}

static int
leave_span(MD_SPANTYPE type, void *detail, void *arg)
{
	struct events *e = arg;

	if (e->left != 0)
		return e->left;
	if (type == MD_SPAN_IMG)
		return keep(e, leave_image(e));
	if (e->images > 0)
		return 0;
	return keep(e, close_element(e, element_of_span(type)));
}

static void
add_text(struct events *e, struct str text)
{
	if (e->images > 0)
		buf_str(&e->alt, text);
	else
		writer_text(e->w, text);
}

static int
text_comes(struct events *e, MD_TEXTTYPE type, const MD_CHAR *p, MD_SIZE len)
{
	struct buf one;
	int32_t c;

	switch (type) {
	case MD_TEXT_NORMAL:
	case MD_TEXT_CODE:
		add_text(e, (struct str){ p, len });
		break;
	case MD_TEXT_NULLCHAR:
		add_text(e, STR("\xEF\xBF\xBD"));
		break;
	case MD_TEXT_BR:
		if (e->images == 0)
			writer_open(e->w, ELEMENT_BR, NULL);
		add_text(e, e->images > 0 ? STR(" ") : STR("\n"));
		break;
	case MD_TEXT_SOFTBR:
		add_text(e, e->images > 0 ? STR(" ") : STR("\n"));
		break;
	case MD_TEXT_ENTITY:
		if ((c = entity((struct str){ p, len })) < 0)
			return LEFT_FOR_HTML;
		buf_init(&one, e->s->arena);
		buf_utf8(&one, c);
		add_text(e, buf_as_str(&one));
		break;
	case MD_TEXT_HTML:
	case MD_TEXT_LATEXMATH:
		return LEFT_FOR_HTML;
	}
	return 0;
}

static int
on_text(MD_TEXTTYPE type, const MD_CHAR *p, MD_SIZE len, void *arg)
{
	struct events *e = arg;

	return e->left != 0 ? e->left : keep(e, text_comes(e, type, p, len));
}

static enum status
from_markdown(struct scope *s, struct rendered *out, struct str source)
{
	static const MD_PARSER parser = { .flags = PARSER_FLAGS, .enter_block = enter_block, .leave_block = leave_block,
		.enter_span = enter_span, .leave_span = leave_span, .text = on_text };
	struct events *e = scope_alloc(s, sizeof(*e));
	int parsed;

	e->s = s;
	e->w = writer_new(s, source.len);
	buf_init(&e->alt, s->arena);
	buf_init(&e->src, s->arena);
	buf_init(&e->title, s->arena);
	parsed = md_parse(source.p != NULL ? source.p : "", (MD_SIZE)source.len, &parser, e);
	if (e->left == LEFT_FOR_HTML)
		return from_mixed(s, out, source);
	if (writer_status(e->w) != OK)
		return writer_status(e->w);
	if (e->left == LEFT_FOR_BOUNDS)
		return fail(s, ERR_INVALID, "content", "elements nest deeper than %d", CONTENT_DEPTH_MAX);
	if (parsed != 0)
		return fail(s, ERR_INTERNAL, NULL, "the Markdown parser gave up");
	return writer_end(e->w, out);
}
