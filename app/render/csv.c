/* csv.c - rows of a CSV file as people save them. */
#include "render/csv.h"

#define BLOCK 65536
#define SAMPLE 4096

struct csv {
	FILE		*file;
	char		 delimiter;
	int64_t		 line, bytes;
	size_t		 at, end;
	char		 block[BLOCK];
};

/* Where a row stands while it is read. */
struct reading {
	struct buf	 field;
	bool		 was_quoted;
	struct csv_row	*row;
};

static bool	fill(struct csv *);
static int	peek(struct csv *);
static void	begin(struct csv *);
static char	find_delimiter(const char *p, size_t n);
static void	read_row(struct scope *, struct csv *, struct csv_row *);
static void	read_quoted(struct csv *, struct reading *);
static void	end_field(struct scope *, struct reading *);
static void	add(struct reading *, int c);
static bool	is_empty(const struct csv_row *);

enum status
csv_open(struct scope *s, struct csv **out, const char *path)
{
	FILE *file = fopen(path, "rbe");
	struct csv *c;

	if (file == NULL)
		return fail(s, ERR_NOT_FOUND, NULL, "%s cannot be read: %s", path, strerror(errno));
	c = calloc(1, sizeof(*c));
	if (c == NULL)
		abort();
	*c = (struct csv){ .file = file, .line = 1 };
	if (fill(c) && c->end >= 2 && (memcmp(c->block, "\xff\xfe", 2) == 0 || memcmp(c->block, "\xfe\xff", 2) == 0)) {
		csv_close(c);
		return fail(s, ERR_INVALID, NULL, "line 1: the file is UTF-16; save it as CSV in UTF-8");
	}
	begin(c);
	*out = c;
	return OK;
}

void
csv_close(struct csv *c)
{
	if (c != NULL)
		fclose(c->file);
	free(c);
}

enum status
csv_next(struct scope *s, struct csv *c, struct csv_row *row, bool *more)
{
	struct arena_mark mark = arena_mark(s->arena);

	do {
		arena_rewind(s->arena, mark);
		*more = peek(c) != EOF;
		if (!*more)
			break;
		*row = (struct csv_row){ .line = c->line };
		read_row(s, c, row);
	} while (row->mistake == NULL && is_empty(row));
	return ferror(c->file) ? fail(s, ERR_STORAGE, NULL, "line %" PRId64 ": the file cannot be read on", c->line) : OK;
}

int64_t
csv_read_bytes(const struct csv *c)
{
	return c->bytes - (int64_t)(c->end - c->at);
}

void
csv_put(struct buf *b, const char *text)
{
	struct str t = str_of(text);
	bool quotes = t.len > 0 && (strpbrk(t.p, ",;\t\"\r\n") != NULL || t.p[0] == '=' || t.p[0] == ' ' || t.p[t.len - 1] == ' ');

	if (!quotes) {
		buf_str(b, t);
		return;
	}
	buf_char(b, '"');
	for (size_t i = 0; i < t.len; i++) {
		if (t.p[i] == '"')
			buf_char(b, '"');
		buf_char(b, t.p[i]);
	}
	buf_char(b, '"');
}

static bool
fill(struct csv *c)
{
	c->at = 0;
	c->end = fread(c->block, 1, sizeof(c->block), c->file);
	c->bytes += (int64_t)c->end;
	return c->end > 0;
}

static int
peek(struct csv *c)
{
	if (c->at == c->end && !fill(c))
		return EOF;
	return (unsigned char)c->block[c->at];
}

/* Past the byte order mark and Excel's line that names the delimiter. */
static void
begin(struct csv *c)
{
	struct str text;

	if (c->end >= 3 && memcmp(c->block, "\xef\xbb\xbf", 3) == 0)
		c->at = 3;
	text = (struct str){ c->block + c->at, c->end - c->at };
	if (text.len >= 6 && str_is_nocase(str_part(text, 0, 4), "sep=") && strchr(",;\t", text.p[4]) != NULL &&
	    (text.p[5] == '\r' || text.p[5] == '\n')) {
		c->delimiter = text.p[4];
		c->at += text.len >= 7 && text.p[5] == '\r' && text.p[6] == '\n' ? 7 : 6;
		c->line = 2;
		return;
	}
	c->delimiter = find_delimiter(text.p, text.len < SAMPLE ? text.len : SAMPLE);
}

static char
find_delimiter(const char *p, size_t n)
{
	static const char candidates[] = ",;\t";
	size_t counts[COUNT(candidates) - 1] = { 0 }, i, k, best = 0;
	bool in_quotes = false, has_text = false;

	for (i = 0; i < n; i++) {
		if (p[i] == '"')
			in_quotes = !in_quotes;
		else if ((p[i] == '\n' || p[i] == '\r') && !in_quotes && has_text)
			break;
		has_text = has_text || (p[i] != '\n' && p[i] != '\r');
		for (k = 0; k < COUNT(counts) && !in_quotes; k++)
			counts[k] += p[i] == candidates[k];
	}
	for (k = 1; k < COUNT(counts); k++)
		if (counts[k] > counts[best])
			best = k;
	return candidates[best];
}

static void
read_row(struct scope *s, struct csv *c, struct csv_row *row)
{
	struct reading r = { .row = row };
	int ch;

	buf_init(&r.field, s->arena);
	for (;;) {
		ch = peek(c);
		if (ch == EOF || ch == '\n' || ch == '\r')
			break;
		c->at++;
		if (ch == c->delimiter)
			end_field(s, &r);
		else if (ch == '"' && !r.was_quoted && str_trim(buf_as_str(&r.field)).len == 0) {
			r.field.len = 0;
			read_quoted(c, &r);
		} else if (r.was_quoted && ch != ' ' && ch != '\t')
			row->mistake = "has text behind a closing quotation mark";
		else if (!r.was_quoted)
			add(&r, ch);
	}
	end_field(s, &r);
	if (ch == '\r') {
		c->at++;
		if (peek(c) == '\n')
			c->at++;
	} else if (ch == '\n')
		c->at++;
	c->line++;
}

static void
read_quoted(struct csv *c, struct reading *r)
{
	int ch;

	r->was_quoted = true;
	while ((ch = peek(c)) != EOF) {
		c->at++;
		if (ch == '"') {
			if (peek(c) != '"')
				return;
			c->at++;
		}
		if (ch == '\n')
			c->line++;
		add(r, ch);
	}
	r->row->mistake = "begins a quotation mark that is never closed";
}

static void
end_field(struct scope *s, struct reading *r)
{
	struct str text = buf_as_str(&r->field);
	struct csv_row *row = r->row;

	if (!r->was_quoted) {
		text = str_trim(text);
		/* Excel writes ="x" for what it shall not take for a number. */
		if (text.len >= 3 && str_starts(text, "=\"") && text.p[text.len - 1] == '"')
			text = str_part(text, 2, text.len - 1);
	}
	if (row->mistake == NULL && !utf8_valid(text))
		row->mistake = "is not UTF-8; save the file as CSV in UTF-8";
	if (row->mistake == NULL && memchr(text.p != NULL ? text.p : "", '\0', text.len) != NULL)
		row->mistake = "holds a NUL";
	if (row->count < CSV_FIELDS)
		row->fields[row->count++] = (struct str){ str_dup(s->arena, text), text.len };
	r->field.len = 0;
	r->was_quoted = false;
}

static void
add(struct reading *r, int c)
{
	if (r->field.len < CSV_FIELD_MAX)
		buf_char(&r->field, (char)c);
	else
		r->row->mistake = "has a field that is too long";
}

static bool
is_empty(const struct csv_row *row)
{
	return row->count == 1 && row->fields[0].len == 0;
}
