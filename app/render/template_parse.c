/* template_parse.c - Mustache source -> a flat array of steps. */
#include "render/template_ops.h"

#define OPS_MAX 100000
#define DELIMITER_MAX 16

struct parser {
	struct scope	*s;
	struct arena	*arena;
	const char	*file;
	struct str	 src;
	size_t		 at;			/* next byte to read */
	char		 open[DELIMITER_MAX + 1], close[DELIMITER_MAX + 1];
	struct op	*ops;
	size_t		 count, cap;
	struct {
		size_t		 op;
		size_t		 at;		/* of its tag, for messages */
		struct markup	 markup;
	}		 nest[TEMPLATE_SECTIONS_MAX];
	size_t		 depth;
	struct markup	 markup;
};

/* One tag as found in the source. */
struct tag {
	size_t		 start, end;		/* of the whole tag */
	char		 sigil;			/* '\0' for a plain name */
	struct str	 inside;		/* trimmed */
};

static enum status	 next_tag(struct parser *, struct tag *, bool *found);
static bool		 stands_alone(const struct parser *, const struct tag *, size_t *line_start, size_t *line_end);
static enum status	 add_tag(struct parser *, const struct tag *, bool alone, struct str indent);
static void		 add_text(struct parser *, size_t from, size_t to);
static enum status	 mistake(const struct parser *, size_t at, const char *what, struct str about);

enum status
template_parse(struct scope *s, struct arena *arena, struct template *out, const char *file, struct str source)
{
	struct parser p = { .s = s, .arena = arena, .file = file, .src = source, .open = "{{", .close = "}}" };

	for (;;) {
		struct tag tag;
		bool found;
		size_t line_start, line_end, text_start = p.at;

		TRY(next_tag(&p, &tag, &found));
		if (!found)
			break;
		bool alone = stands_alone(&p, &tag, &line_start, &line_end);
		add_text(&p, text_start, alone ? line_start : tag.start);
		p.at = alone ? line_end : tag.end;
		TRY(add_tag(&p, &tag, alone, str_part(source, line_start, tag.start)));
		if (p.count > OPS_MAX)
			return mistake(&p, tag.start, "more than 100000 tags", (struct str){ 0 });
	}
	add_text(&p, p.at, source.len);
	if (p.depth > 0) {
		const struct op *op = &p.ops[p.nest[p.depth - 1].op];
		return mistake(&p, p.nest[p.depth - 1].at, "section is never closed", str_of(op->name));
	}
	out->ops = p.ops;
	out->count = p.count;
	return OK;
}

static enum status
mistake(const struct parser *p, size_t at, const char *what, struct str about)
{
	size_t line = 1;

	for (size_t i = 0; i < at && i < p->src.len; i++)
		if (p->src.p[i] == '\n')
			line++;
	about = utf8_cut(about, 60);
	return fail(p->s, ERR_INVALID, "template", "%s:%zu: %s%s%.*s%s", p->file, line, what, about.len ? " '" : "",
	    STR_FMT(about), about.len ? "'" : "");
}

static enum status
next_tag(struct parser *p, struct tag *tag, bool *found)
{
	size_t start = p->at + str_find_str(str_part(p->src, p->at, p->src.len), str_of(p->open));
	size_t inner = start + strlen(p->open);
	struct str close = str_of(p->close);
	char braced[DELIMITER_MAX + 2], equals[DELIMITER_MAX + 2];

	*found = false;
	if (start >= p->src.len)
		return OK;
	tag->start = start;
	tag->sigil = inner < p->src.len && strchr("#^/>!={&", p->src.p[inner]) != NULL ? p->src.p[inner] : '\0';
	if (tag->sigil != '\0')
		inner++;
	if (tag->sigil == '{') {
		snprintf(braced, sizeof(braced), "}%s", p->close);
		close = str_of(braced);
	} else if (tag->sigil == '=') {
		snprintf(equals, sizeof(equals), "=%s", p->close);
		close = str_of(equals);
	}
	struct str rest = str_part(p->src, inner, p->src.len);
	size_t len = str_find_str(rest, close);
	if (len == rest.len)
		return mistake(p, start, "tag is never closed", str_part(p->src, start, start + 20));
	tag->inside = str_trim(str_part(rest, 0, len));
	tag->end = inner + len + close.len;
	*found = true;
	return OK;
}

/* A section, comment, partial or delimiter tag with nothing but blanks beside it takes its whole line with it. */
static bool
stands_alone(const struct parser *p, const struct tag *tag, size_t *line_start, size_t *line_end)
{
	size_t a = tag->start, b = tag->end;

	while (a > 0 && (p->src.p[a - 1] == ' ' || p->src.p[a - 1] == '\t'))
		a--;
	while (b < p->src.len && (p->src.p[b] == ' ' || p->src.p[b] == '\t'))
		b++;
	*line_start = a;
	*line_end = tag->end;
	if (strchr("#^/>!=", tag->sigil) == NULL || tag->sigil == '\0')
		return false;
	if (a > 0 && p->src.p[a - 1] != '\n')
		return false;
	if (b + 1 < p->src.len && p->src.p[b] == '\r' && p->src.p[b + 1] == '\n')
		b++;
	if (b < p->src.len && p->src.p[b] != '\n')
		return false;
	*line_end = b < p->src.len ? b + 1 : b;
	return true;
}

static struct op *
add_op(struct parser *p, enum op_kind kind, size_t source_at)
{
	if (p->count == p->cap) {
		size_t cap = p->cap ? p->cap * 2 : 32;
		struct op *ops = arena_alloc(p->arena, cap * sizeof(*ops));
		if (p->count > 0)
			memcpy(ops, p->ops, p->count * sizeof(*ops));
		p->ops = ops;
		p->cap = cap;
	}
	struct op *op = &p->ops[p->count++];
	*op = (struct op){ .kind = kind };
	op->begins_line = source_at == 0 || p->src.p[source_at - 1] == '\n';
	return op;
}

static void
add_text(struct parser *p, size_t from, size_t to)
{
	if (from >= to)
		return;
	struct op *op = add_op(p, OP_TEXT, from);
	op->text = str_part(p->src, from, to);
	markup_feed(&p->markup, op->text);
}

/* "a.b.c" as its parts; "." alone has none. */
static enum status
set_name(struct parser *p, struct op *op, const struct tag *tag)
{
	struct str rest = tag->inside, piece;
	size_t parts = 1;

	if (rest.len == 0)
		return mistake(p, tag->start, "tag without a name", (struct str){ 0 });
	op->name = str_dup(p->arena, rest);
	if (str_is(rest, "."))
		return OK;
	for (size_t i = 0; i < rest.len; i++) {
		if (strchr(" \t\r\n{}<>\"'", rest.p[i]) != NULL)
			return mistake(p, tag->start, "not a name", rest);
		if (rest.p[i] == '.')
			parts++;
	}
	op->path = arena_alloc(p->arena, parts * sizeof(*op->path));
	while (str_next(&rest, '.', &piece)) {
		if (piece.len == 0)
			return mistake(p, tag->start, "not a name", tag->inside);
		op->path[op->path_len++] = str_dup(p->arena, piece);
	}
	if (op->path_len != parts)
		return mistake(p, tag->start, "not a name", tag->inside);
	return OK;
}

static enum status
set_delimiters(struct parser *p, const struct tag *tag)
{
	struct str in = tag->inside;
	size_t a = 0, b;

	while (a < in.len && in.p[a] != ' ' && in.p[a] != '\t' && in.p[a] != '\n')
		a++;
	struct str open = str_part(in, 0, a), close = str_trim(str_part(in, a, in.len));
	for (b = 0; b < close.len; b++)
		if (strchr(" \t\r\n", close.p[b]) != NULL)
			break;
	if (open.len == 0 || close.len == 0 || b < close.len || open.len > DELIMITER_MAX || close.len > DELIMITER_MAX ||
	    str_find(in, '=') < in.len)
		return mistake(p, tag->start, "not a pair of delimiters", in);
	snprintf(p->open, sizeof(p->open), "%.*s", STR_FMT(open));
	snprintf(p->close, sizeof(p->close), "%.*s", STR_FMT(close));
	return OK;
}

static enum status
open_section(struct parser *p, const struct tag *tag, bool alone)
{
	struct op *op = add_op(p, tag->sigil == '#' ? OP_SECTION : OP_INVERTED, tag->start);

	op->begins_line = op->begins_line && !alone;
	TRY(set_name(p, op, tag));
	if (p->depth == TEMPLATE_SECTIONS_MAX)
		return mistake(p, tag->start, "more than 64 sections inside each other at", tag->inside);
	p->nest[p->depth].op = p->count - 1;
	p->nest[p->depth].at = tag->start;
	p->nest[p->depth].markup = p->markup;
	p->depth++;
	return OK;
}

static enum status
close_section(struct parser *p, const struct tag *tag, bool alone)
{
	if (p->depth == 0)
		return mistake(p, tag->start, "section was never opened", tag->inside);
	p->depth--;
	size_t start = p->nest[p->depth].op;
	if (!str_is(tag->inside, p->ops[start].name))
		return mistake(p, tag->start, "closes another section than the open one", tag->inside);
	if (!markup_same(&p->nest[p->depth].markup, &p->markup))
		return mistake(p, tag->start, "section opens and closes in different parts of the markup", tag->inside);
	struct op *op = add_op(p, OP_END, tag->start);
	op->begins_line = op->begins_line && !alone;
	op->jump = start;
	p->ops[start].jump = p->count;
	return OK;
}

static enum status
add_value(struct parser *p, const struct tag *tag)
{
	bool raw = tag->sigil == '{' || tag->sigil == '&';
	struct op *op = add_op(p, raw ? OP_RAW : OP_VALUE, tag->start);

	TRY(set_name(p, op, tag));
	if (raw && !str_ends(tag->inside, "_html"))
		return mistake(p, tag->start, "only names that end in _html may be printed unescaped, not", tag->inside);
	return OK;
}

static enum status
add_tag(struct parser *p, const struct tag *tag, bool alone, struct str indent)
{
	static const enum op_kind kinds[128] = { ['#'] = OP_SECTION, ['^'] = OP_INVERTED, ['/'] = OP_END, ['>'] = OP_PARTIAL,
		['{'] = OP_RAW, ['&'] = OP_RAW, ['\0'] = OP_VALUE };
	const char *refusal;

	if (tag->sigil == '!')
		return OK;
	if (tag->sigil == '=')
		return set_delimiters(p, tag);
	if ((refusal = markup_refuses(&p->markup, kinds[(unsigned char)tag->sigil])) != NULL)
		return mistake(p, tag->start, refusal, tag->inside);
	if (tag->sigil == '#' || tag->sigil == '^')
		return open_section(p, tag, alone);
	if (tag->sigil == '/')
		return close_section(p, tag, alone);
	if (tag->sigil != '>')
		return add_value(p, tag);

	struct op *op = add_op(p, OP_PARTIAL, tag->start);
	op->begins_line = op->begins_line && !alone;
	op->name = str_dup(p->arena, tag->inside);
	op->is_alone = alone;
	if (alone)
		op->text = indent;
	if (tag->inside.len == 0)
		return mistake(p, tag->start, "tag without a name", (struct str){ 0 });
	return OK;
}
