/* sanitize.c - the allow-list writer: keeps the open elements, so that what it prints is a tree any parser reads alike. */
#include "render/sanitize.h"

#define HAS(name) (UINT32_C(1) << ATTRIBUTE_##name)
#define GLOBAL (HAS(ID) | HAS(LANG) | HAS(DIR) | HAS(TITLE))

const struct element_info element_infos[ELEMENT_COUNT] = {
#define ELEMENT(name, tag, content, part, breaks, attributes) \
	[ELEMENT_##name] = { tag, CONTENT_##content, ELEMENT_##part, breaks, GLOBAL | (attributes) },
#include "render/elements.def"
#undef ELEMENT
};

struct open {
	enum element	 el;
	uint32_t	 number;
	bool		 is_implied;	/* opened for stray content: ends when a real part comes */
	bool		 has_id;
	bool		 has_content;
	bool		 has_rows;	/* of a table: a thead, tbody or tfoot was seen */
	size_t		 html_at;	/* behind "<h2" */
	size_t		 text_at;	/* visible text before it */
};

struct writer {
	struct scope	*s;
	struct buf	 html, text, links, images;
	struct buf	 value, staged;	/* of the attribute and the tag at hand */
	size_t		 limit;
	enum status	 status;
	struct anchors	*anchors;
	size_t		 depth, links_open, media_open, image_count;
	uint32_t	 number;
	size_t		 pre_at;	/* html.len behind the last "<pre>" */
	size_t		 lead_at;	/* visible text behind the headings a document begins with */
	bool		 gap;
	struct open	 stack[CONTENT_DEPTH_MAX];
};

static enum element	 fit(struct writer *, enum element);
static bool		 push(struct writer *, enum element, bool is_implied);
static void		 pop(struct writer *);
static uint32_t	 stage_attributes(struct writer *, enum element, const struct attributes *);
static void		 add_image(struct writer *, const struct attributes *);
static void		 add_escaped(struct writer *, struct str);

struct writer *
writer_new(struct scope *s, size_t source_len)
{
	struct writer *w = scope_alloc(s, sizeof(*w));

	w->s = s;
	w->limit = source_len * 8 + 65536;
	buf_init(&w->html, s->arena);
	buf_init(&w->text, s->arena);
	buf_init(&w->links, s->arena);
	buf_init(&w->images, s->arena);
	buf_init(&w->value, s->arena);
	buf_init(&w->staged, s->arena);
	w->anchors = anchors_new(s);
	return w;
}

enum status
writer_status(const struct writer *w)
{
	return w->status;
}

static const struct element_info *
info(enum element el)
{
	return &element_infos[el];
}

static struct open *
top(struct writer *w)
{
	return w->depth > 0 ? &w->stack[w->depth - 1] : NULL;
}

static bool
is_heading(enum element el)
{
	return el >= ELEMENT_H2 && el <= ELEMENT_H6;
}

/* Some elements say nothing without a certain attribute and are left out; `printed` is what passed the checks. */
static bool
is_worth_it(enum element el, uint32_t printed)
{
	switch ((int)el) {
	case ELEMENT_SPAN:
		return printed != 0;
	case ELEMENT_BDO:
		return (printed & HAS(DIR)) != 0;
	case ELEMENT_A:
		return (printed & (HAS(HREF) | HAS(ID))) != 0;
	case ELEMENT_SOURCE:
	case ELEMENT_TRACK:
		return (printed & HAS(SRC)) != 0;
	default:
		return true;
	}
}

/* A block that is unwrapped still separates what stands in it from what stands around it. */
static void
separate(struct writer *w)
{
	for (size_t i = w->depth; i > 0; i--)
		if (w->stack[i - 1].el == ELEMENT_PRE) {
			writer_text(w, STR("\n"));
			return;
		}
	writer_text(w, STR(" "));
}

uint32_t
writer_open(struct writer *w, enum element el, const struct attributes *a)
{
	static const struct attributes none = { 0 };
	bool breaks = info(el)->breaks;
	uint32_t printed;

	if (w->status != OK)
		return 0;
	if (el == ELEMENT_IMG) {
		add_image(w, a != NULL ? a : &none);
		return 0;
	}
	if ((el = fit(w, el)) == ELEMENT_NONE) {
		if (breaks)
			separate(w);
		return 0;
	}
	printed = stage_attributes(w, el, a != NULL ? a : &none);
	if (!is_worth_it(el, printed) || !push(w, el, false))
		return 0;
	w->gap |= breaks;
	top(w)->has_id = (printed & HAS(ID)) != 0;
	buf_str(&w->html, buf_as_str(&w->staged));
	if (el == ELEMENT_VIDEO || el == ELEMENT_AUDIO)
		buf_text(&w->html, " controls");
	buf_char(&w->html, '>');
	if (el == ELEMENT_PRE)
		w->pre_at = w->html.len;
	if (info(el)->content == CONTENT_VOID || info(el)->content == CONTENT_RULE) {
		w->depth--;
		return 0;
	}
	return w->number;
}

void
writer_close(struct writer *w, uint32_t number)
{
	size_t i = w->depth;

	if (number == 0 || w->status != OK)
		return;
	while (i > 0 && w->stack[i - 1].number > number)
		i--;
	if (i > 0 && w->stack[i - 1].number == number)
		while (w->depth >= i)
			pop(w);
}

/* Is `el` a part that may stand directly in `parent`? */
static bool
accepts(const struct open *parent, enum element el)
{
	enum element in = parent != NULL ? parent->el : ELEMENT_NONE;

	switch ((int)el) {
	case ELEMENT_LI:
		return in == ELEMENT_UL || in == ELEMENT_OL;
	case ELEMENT_DT:
	case ELEMENT_DD:
		return in == ELEMENT_DL;
	case ELEMENT_CAPTION:
		return in == ELEMENT_TABLE && !parent->has_content;
	case ELEMENT_THEAD:
		return in == ELEMENT_TABLE && !parent->has_rows;
	case ELEMENT_TBODY:
	case ELEMENT_TFOOT:
		return in == ELEMENT_TABLE;
	case ELEMENT_TR:
		return in == ELEMENT_THEAD || in == ELEMENT_TBODY || in == ELEMENT_TFOOT;
	case ELEMENT_TD:
	case ELEMENT_TH:
		return in == ELEMENT_TR;
	case ELEMENT_FIGCAPTION:
		return in == ELEMENT_FIGURE;
	case ELEMENT_SUMMARY:
		return in == ELEMENT_DETAILS && !parent->has_content;
	case ELEMENT_RT:
	case ELEMENT_RP:
		return in == ELEMENT_RUBY;
	case ELEMENT_SOURCE:
	case ELEMENT_TRACK:
		return in == ELEMENT_VIDEO || in == ELEMENT_AUDIO;
	default:
		return false;
	}
}

/* What a part becomes where its parent is missing; ELEMENT_COUNT for elements that are no parts. */
static enum element
stray_form(enum element el)
{
	switch ((int)el) {
	case ELEMENT_LI:
	case ELEMENT_DT:
	case ELEMENT_DD:
	case ELEMENT_CAPTION:
	case ELEMENT_TD:
	case ELEMENT_TH:
	case ELEMENT_FIGCAPTION:
	case ELEMENT_SUMMARY:
		return ELEMENT_DIV;
	case ELEMENT_THEAD:
	case ELEMENT_TBODY:
	case ELEMENT_TFOOT:
	case ELEMENT_TR:
	case ELEMENT_RT:
	case ELEMENT_RP:
	case ELEMENT_SOURCE:
	case ELEMENT_TRACK:
		return ELEMENT_NONE;
	default:
		return ELEMENT_COUNT;
	}
}

/* Stray content in a list or table gets the part it lacks. */
static void
wrap_stray(struct writer *w)
{
	while (w->depth > 0 && info(top(w)->el)->content == CONTENT_HOLDER) {
		if (!push(w, info(top(w)->el)->part, true))
			return;
		buf_char(&w->html, '>');
	}
}

/* A block ends the paragraph and the text-level elements it stands in; in a heading and its like it is unwrapped. */
static enum element
fit_block(struct writer *w, enum element el)
{
	size_t keep = w->depth;

	for (size_t i = w->depth; i > 0; i--) {
		enum element in = w->stack[i - 1].el;
		enum content content = info(in)->content;
		if (content == CONTENT_CLEAR)
			continue;
		if (content == CONTENT_MEDIA || (content == CONTENT_TEXT && in != ELEMENT_P))
			return ELEMENT_NONE;
		if (content != CONTENT_INLINE && content != CONTENT_TEXT)
			break;
		keep = i - 1;
	}
	while (w->depth > keep)
		pop(w);
	wrap_stray(w);
	return el;
}

static enum element
fit_part(struct writer *w, enum element el)
{
	while (w->depth > 0 && top(w)->is_implied && !accepts(top(w), el))
		pop(w);
	if (el == ELEMENT_THEAD && !accepts(top(w), el))
		el = ELEMENT_TBODY;
	/* A row or cell whose section or row was left out: HTML's parser supplies them, and so do we. */
	while (!accepts(top(w), el) && (el == ELEMENT_TR || el == ELEMENT_TD || el == ELEMENT_TH) && w->depth > 0 &&
	    info(top(w)->el)->content == CONTENT_HOLDER && top(w)->el >= ELEMENT_TABLE && top(w)->el <= ELEMENT_TR) {
		if (!push(w, info(top(w)->el)->part, true))
			return ELEMENT_NONE;
		buf_char(&w->html, '>');
	}
	if (accepts(top(w), el))
		return el;
	el = stray_form(el);
	return el == ELEMENT_NONE ? el : fit_block(w, el);
}

/* Close and open what must be before `el` may stand here; the element to open, or ELEMENT_NONE to leave it out. */
static enum element
fit(struct writer *w, enum element el)
{
	if (stray_form(el) != ELEMENT_COUNT)
		return fit_part(w, el);
	switch (info(el)->content) {
	case CONTENT_FLOW:
	case CONTENT_TEXT:
	case CONTENT_HOLDER:
	case CONTENT_RULE:
		return fit_block(w, el);
	case CONTENT_INLINE:
	case CONTENT_CLEAR:
	case CONTENT_MEDIA:
	case CONTENT_VOID:
		break;
	}
	if ((el == ELEMENT_A && w->links_open > 0) || (info(el)->content == CONTENT_MEDIA && w->media_open > 0))
		return ELEMENT_NONE;
	wrap_stray(w);
	return el;
}

static void
refuse(struct writer *w, const char *what)
{
	if (w->status == OK)
		w->status = fail(w->s, ERR_INVALID, "content", "%s", what);
}

/* "<tag" is written; attributes and '>' are the caller's. */
static bool
push(struct writer *w, enum element el, bool is_implied)
{
	struct open *parent = top(w);

	if (w->depth == CONTENT_DEPTH_MAX || w->html.len > w->limit)
		refuse(w, w->depth == CONTENT_DEPTH_MAX ? "elements nest deeper than 256" : "the page would be too large");
	if (w->status != OK)
		return false;
	if (parent != NULL) {
		parent->has_content = true;
		parent->has_rows |= el == ELEMENT_THEAD || el == ELEMENT_TBODY || el == ELEMENT_TFOOT;
	}
	buf_char(&w->html, '<');
	buf_text(&w->html, info(el)->tag);
	w->stack[w->depth++] = (struct open){ .el = el, .number = ++w->number, .is_implied = is_implied,
		.html_at = w->html.len, .text_at = w->text.len };
	w->links_open += el == ELEMENT_A;
	w->media_open += info(el)->content == CONTENT_MEDIA;
	return true;
}

static void
insert(struct buf *b, size_t at, const char *text)
{
	size_t len = strlen(text), tail = b->len - at;

	buf_add(b, text, len);
	memmove(b->p + at + len, b->p + at, tail);
	memcpy(b->p + at, text, len);
}

/* The id of a heading comes from its text, which is known only now. */
static void
end_heading(struct writer *w, const struct open *o)
{
	struct str text = str_trim(str_part(buf_as_str(&w->text), o->text_at, w->text.len));

	if (!o->has_id && text.len > 0)
		insert(&w->html, o->html_at, scope_printf(w->s, " id=\"%s\"", anchors_make(w->anchors, text)));
	if (o->text_at == w->lead_at)
		w->lead_at = w->text.len;
}

static void
pop(struct writer *w)
{
	struct open *o = &w->stack[--w->depth];

	if (is_heading(o->el))
		end_heading(w, o);
	w->links_open -= o->el == ELEMENT_A;
	w->media_open -= info(o->el)->content == CONTENT_MEDIA;
	buf_add(&w->html, "</", 2);
	buf_text(&w->html, info(o->el)->tag);
	buf_char(&w->html, '>');
	w->gap |= info(o->el)->breaks;
}

/* The attributes that pass, as markup in w->staged; returns which. */
static uint32_t
stage_attributes(struct writer *w, enum element el, const struct attributes *a)
{
	struct buf *out = &w->staged;
	uint32_t printed = 0;

	out->len = 0;
	for (uint32_t left = a->given & info(el)->attributes; left != 0; left &= left - 1) {
		enum attribute at = (enum attribute)__builtin_ctz(left);
		if (!attribute_check(&w->value, el, at, a->value[at]) ||
		    (at == ATTRIBUTE_ID && !anchors_claim(w->anchors, buf_as_str(&w->value))))
			continue;
		if (at == ATTRIBUTE_HREF) {
			buf_text(&w->links, w->links.len > 0 ? ",\"" : "\"");
			buf_str(&w->links, buf_as_str(&w->value));
			buf_char(&w->links, '"');
		}
		printed |= UINT32_C(1) << at;
		buf_char(out, ' ');
		buf_text(out, attribute_name(at));
		if (w->value.len > 0 || at == ATTRIBUTE_HREF || at == ATTRIBUTE_ALT) {
			buf_add(out, "=\"", 2);
			markup_escape(out, buf_as_str(&w->value));
			buf_char(out, '"');
		}
	}
	return printed;
}

static void
add_json_text(struct buf *out, struct str text)
{
	buf_char(out, '"');
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.p[i];
		if (c < 0x20)
			buf_printf(out, "\\u%04x", c);
		else if (c == '"' || c == '\\')
			buf_printf(out, "\\%c", c);
		else
			buf_char(out, (char)c);
	}
	buf_char(out, '"');
}

/* An image that may not be shown leaves its alternative text. */
static void
add_image(struct writer *w, const struct attributes *a)
{
	struct attributes img = *a;
	struct str alt = (a->given & HAS(ALT)) != 0 ? a->value[ATTRIBUTE_ALT] : (struct str){ NULL, 0 };

	if ((a->given & HAS(SRC)) == 0 ||
	    !attribute_check(&w->value, ELEMENT_IMG, ATTRIBUTE_SRC, a->value[ATTRIBUTE_SRC])) {
		writer_text(w, alt);
		return;
	}
	attributes_give(&img, ATTRIBUTE_ALT, alt);
	buf_text(&w->images, w->images.len > 0 ? ",{\"src\":" : "{\"src\":");
	add_json_text(&w->images, buf_as_str(&w->value));
	attribute_check(&w->value, ELEMENT_IMG, ATTRIBUTE_ALT, alt);
	buf_text(&w->images, ",\"alt\":");
	add_json_text(&w->images, buf_as_str(&w->value));
	buf_char(&w->images, '}');
	wrap_stray(w);
	stage_attributes(w, ELEMENT_IMG, &img);
	if (!push(w, ELEMENT_IMG, false))
		return;
	buf_str(&w->html, buf_as_str(&w->staged));
	/* The first picture is likely in sight at once: loading it late would slow the page. */
	buf_text(&w->html, w->image_count++ > 0 ? " loading=\"lazy\">" : ">");
	w->depth--;
}

void
writer_text(struct writer *w, struct str text)
{
	struct open *in = top(w);

	if (w->status != OK || text.len == 0)
		return;
	if (w->html.len > w->limit) {
		refuse(w, "the page would be too large");
		return;
	}
	if (in != NULL && (info(in->el)->content == CONTENT_HOLDER || in->el == ELEMENT_DETAILS)) {
		if (str_trim(text).len == 0) {
			/* Parsers move or drop blanks between the parts of a table. */
			if (in->el < ELEMENT_TABLE || in->el > ELEMENT_TR)
				markup_escape(&w->html, text);
			return;
		}
		in->has_content = true;
		wrap_stray(w);
	}
	add_escaped(w, text);
	visible_add(&w->text, &w->gap, text);
}

/* A parser drops a newline that directly follows "<pre>", so one that is meant is doubled. */
static void
add_escaped(struct writer *w, struct str text)
{
	size_t before = w->html.len;

	markup_escape(&w->html, text);
	if (before == w->pre_at && before > 0 && w->html.len > before && w->html.p[before] == '\n')
		insert(&w->html, before, "\n");
}

enum status
writer_end(struct writer *w, struct rendered *out)
{
	while (w->depth > 0)
		pop(w);
	if (w->html.len > w->limit)
		refuse(w, "the page would be too large");
	if (w->status != OK)
		return w->status;
	out->html = w->html.p;
	out->text = w->text.p;
	if (w->lead_at == w->text.len)
		w->lead_at = 0;		/* nothing but headings */
	out->excerpt = excerpt_of(w->s, str_part(buf_as_str(&w->text), w->lead_at, w->text.len));
	out->links = scope_printf(w->s, "[%s]", w->links.p);
	out->images = scope_printf(w->s, "[%s]", w->images.p);
	return OK;
}
