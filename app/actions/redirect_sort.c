/* redirect_sort.c - the rows of a file in the order of their sources, in bounded memory. */
#include "actions/redirect_sort.h"

#include <fcntl.h>

#define PIECE_BYTES ((size_t)16 << 20)
#define PIECES_MAX 256

enum { SOURCE, FOLD, TARGET, NOTE, TEXTS };

/* A row as it lies in memory and in a piece: texts follow, each with its NUL. */
struct row {
	int64_t		 line;
	int32_t		 status;
	uint32_t	 lens[TEXTS];	/* with the NUL; 0 = none */
	char		 texts[];
};

struct piece {
	FILE		*file;
	struct row	*row;		/* the next one; NULL = at its end */
	size_t		 room;
};

struct sorter {
	const char	*folder;
	struct arena	*arena;
	struct arena_mark start;
	struct row	**rows;
	size_t		 count, room, bytes, next;
	struct piece	 pieces[PIECES_MAX];
	size_t		 piece_count, last;	/* `last` was given out and is to move on */
	bool		 is_merging;
};

static size_t		row_size(const struct row *);
static int		row_order(const void *, const void *);
static enum status	write_piece(struct scope *, struct sorter *);
static enum status	read_row(struct scope *, struct piece *);
static enum status	begin_merge(struct scope *, struct sorter *);
static void		show(const struct row *, struct staged *);

struct sorter *
sorter_new(const char *folder)
{
	struct sorter *o = calloc(1, sizeof(*o));

	if (o == NULL)
		abort();
	o->arena = arena_new();
	o->folder = arena_strdup(o->arena, folder);
	o->start = arena_mark(o->arena);
	o->last = PIECES_MAX;
	return o;
}

void
sorter_free(struct sorter *o)
{
	if (o == NULL)
		return;
	for (size_t i = 0; i < o->piece_count; i++) {
		fclose(o->pieces[i].file);
		free(o->pieces[i].row);
	}
	arena_free(o->arena);
	free(o->rows);
	free(o);
}

enum status
sorter_add(struct scope *s, struct sorter *o, const struct staged *r)
{
	const char *texts[TEXTS] = { r->source, r->fold, r->target, r->note };
	size_t size = sizeof(struct row), at = 0;
	struct row *row;

	assert(!o->is_merging);
	for (int i = 0; i < TEXTS; i++)
		size += texts[i] != NULL ? strlen(texts[i]) + 1 : 0;
	if (o->bytes + size > PIECE_BYTES)
		TRY(write_piece(s, o));
	if (o->count == o->room) {
		o->room = o->room * 2 + 1024;
		o->rows = realloc(o->rows, o->room * sizeof(struct row *));
		if (o->rows == NULL)
			abort();
	}
	row = arena_alloc(o->arena, size);
	row->line = r->line;
	row->status = r->status;
	for (int i = 0; i < TEXTS; i++) {
		row->lens[i] = texts[i] != NULL ? (uint32_t)strlen(texts[i]) + 1 : 0;
		if (texts[i] != NULL)
			memcpy(row->texts + at, texts[i], row->lens[i]);
		at += row->lens[i];
	}
	o->rows[o->count++] = row;
	o->bytes += size + sizeof(struct row *);
	return OK;
}

enum status
sorter_next(struct scope *s, struct sorter *o, struct staged *out, bool *more)
{
	size_t best = PIECES_MAX;

	if (!o->is_merging)
		TRY(begin_merge(s, o));
	if (o->piece_count == 0) {
		if ((*more = o->next < o->count))
			show(o->rows[o->next++], out);
		return OK;
	}
	if (o->last < PIECES_MAX)
		TRY(read_row(s, &o->pieces[o->last]));
	for (size_t i = 0; i < o->piece_count; i++)
		if (o->pieces[i].row != NULL && (best == PIECES_MAX || row_order(&o->pieces[i].row, &o->pieces[best].row) < 0))
			best = i;
	o->last = best;
	if ((*more = best < PIECES_MAX))
		show(o->pieces[best].row, out);
	return OK;
}

static size_t
row_size(const struct row *r)
{
	size_t size = sizeof(*r);

	for (int i = 0; i < TEXTS; i++)
		size += r->lens[i];
	return size;
}

static int
row_order(const void *left, const void *right)
{
	const struct row *a = *(struct row *const *)left, *b = *(struct row *const *)right;
	int order = strcmp(a->texts, b->texts);

	return order != 0 ? order : (a->line > b->line) - (a->line < b->line);
}

static enum status
write_piece(struct scope *s, struct sorter *o)
{
	const char *path = scope_printf(s, "%s/sort.XXXXXX", o->folder);
	char *name = arena_strdup(s->arena, path);
	FILE *file;
	int fd;

	if (o->piece_count == PIECES_MAX)
		return fail(s, ERR_TOO_LARGE, NULL, "the file is larger than %zu MB", PIECES_MAX * PIECE_BYTES >> 20);
	fd = mkostemp(name, O_CLOEXEC);
	if (fd == -1 || (file = fdopen(fd, "w+b")) == NULL)
		return fail(s, ERR_STORAGE, NULL, "%s cannot be made: %s", path, strerror(errno));
	(void)unlink(name);
	o->pieces[o->piece_count++].file = file;
	qsort(o->rows, o->count, sizeof(struct row *), row_order);
	for (size_t i = 0; i < o->count; i++) {
		uint32_t size = (uint32_t)row_size(o->rows[i]);

		if (fwrite(&size, sizeof(size), 1, file) != 1 || fwrite(o->rows[i], size, 1, file) != 1)
			return fail(s, ERR_STORAGE, NULL, "%s cannot be written: %s", o->folder, strerror(errno));
	}
	arena_rewind(o->arena, o->start);
	o->count = o->bytes = 0;
	return OK;
}

static enum status
begin_merge(struct scope *s, struct sorter *o)
{
	o->is_merging = true;
	if (o->piece_count == 0) {
		if (o->count > 0)
			qsort(o->rows, o->count, sizeof(struct row *), row_order);
		return OK;
	}
	TRY(write_piece(s, o));
	for (size_t i = 0; i < o->piece_count; i++) {
		if (fflush(o->pieces[i].file) != 0)
			return fail(s, ERR_STORAGE, NULL, "%s cannot be written: %s", o->folder, strerror(errno));
		rewind(o->pieces[i].file);
		TRY(read_row(s, &o->pieces[i]));
	}
	return OK;
}

static enum status
read_row(struct scope *s, struct piece *p)
{
	uint32_t size;

	if (fread(&size, sizeof(size), 1, p->file) != 1) {
		free(p->row);
		p->row = NULL;
		return ferror(p->file) ? fail(s, ERR_STORAGE, NULL, "a sorted piece cannot be read") : OK;
	}
	if (size > p->room) {
		p->room = size;
		p->row = realloc(p->row, p->room);
		if (p->row == NULL)
			abort();
	}
	if (fread(p->row, size, 1, p->file) != 1)
		return fail(s, ERR_STORAGE, NULL, "a sorted piece cannot be read");
	return OK;
}

static void
show(const struct row *r, struct staged *out)
{
	const char *texts[TEXTS], *p = r->texts;

	for (int i = 0; i < TEXTS; i++) {
		texts[i] = r->lens[i] > 0 ? p : NULL;
		p += r->lens[i];
	}
	*out = (struct staged){ texts[SOURCE], r->line, texts[FOLD], texts[TARGET], r->status, texts[NOTE] };
}
