/* arena.c - blocks of 64 kB handed out from the front; large pieces are allocated on their own. */
#include "base/arena.h"
#include "base/base.h"

#include <malloc.h>

#define ALIGNMENT	((size_t)16)
#define PIECE_MAX	(SIZE_MAX / 4)
#define ROUND(n)	(((n) + ALIGNMENT - 1) & ~(ALIGNMENT - 1))

static void	*must_alloc(void *p);

void
arena_warm_up(void)
{
	mallopt(M_ARENA_MAX, 4);
	mallopt(M_MMAP_THRESHOLD, 1024 * 1024);
	mallopt(M_TRIM_THRESHOLD, 8 * 1024 * 1024);
}

#ifdef ARENA_DEBUG

/* A piece is a malloc of its own that ends where the piece ends, so that ASan sees the first byte too many. */
struct piece {
	struct piece	*older;
	size_t		 len;
};

struct arena {
	struct piece	*newest;
	size_t		 handed_out;
};

struct arena *
arena_new(void)
{
	return must_alloc(calloc(1, sizeof(struct arena)));
}

void
arena_free(struct arena *a)
{
	if (a == NULL)
		return;
	arena_rewind(a, (struct arena_mark){ NULL, 0 });
	free(a);
}

void *
arena_alloc(struct arena *a, size_t n)
{
	struct piece	*piece;

	if (n > PIECE_MAX)
		must_alloc(NULL);
	piece = must_alloc(calloc(1, sizeof(*piece) + n));
	piece->older = a->newest;
	piece->len = n;
	a->newest = piece;
	a->handed_out += n;
	return piece + 1;
}

void *
arena_grow(struct arena *a, void *p, size_t old_len, size_t new_len)
{
	void	*bigger = arena_alloc(a, new_len);

	if (old_len > 0)
		memcpy(bigger, p, old_len);
	return bigger;
}

struct arena_mark
arena_mark(struct arena *a)
{
	return (struct arena_mark){ a->newest, 0 };
}

void
arena_rewind(struct arena *a, struct arena_mark mark)
{
	struct piece	*piece;

	while ((piece = a->newest) != mark.block) {
		assert(piece != NULL);
		a->newest = piece->older;
		free(piece);
	}
}

#else

#define BLOCK_BYTES	((size_t)64 * 1024)
#define LARGE_FROM	((size_t)16 * 1024)

struct block {
	struct block	*older;
	size_t		 used;		/* of bytes[] */
	_Alignas(16) unsigned char bytes[];
};
#define BLOCK_ROOM	(BLOCK_BYTES - sizeof(struct block))

/* Stands in a block where the large piece would stand, so that rewinding over the note frees the piece. */
struct large {
	struct large	*older;
	void		*p;
};

struct arena {
	struct block	*newest;
	struct large	*large;
	size_t		 handed_out;
};

static struct block	*block_new(struct block *older);
static void		*alloc_large(struct arena *a, size_t n);
static void		 free_large_from(struct arena *a, const unsigned char *from, const unsigned char *to);
static void		*take(struct arena *a, size_t rounded);

struct arena *
arena_new(void)
{
	struct block	*first = block_new(NULL);
	struct arena	*a = (struct arena *)(void *)first->bytes;

	*a = (struct arena){ .newest = first };
	first->used = ROUND(sizeof(*a));
	return a;
}

void
arena_free(struct arena *a)
{
	struct block	*block, *older;

	if (a == NULL)
		return;
	for (struct large *large = a->large; large != NULL; large = large->older)
		free(large->p);
	/* The oldest block holds the arena itself and goes last. */
	for (block = a->newest; block != NULL; block = older) {
		older = block->older;
		free(block);
	}
}

void *
arena_alloc(struct arena *a, size_t n)
{
	if (n >= LARGE_FROM)
		return alloc_large(a, n);
	a->handed_out += n;
	return memset(take(a, ROUND(n)), 0, n);
}

void *
arena_grow(struct arena *a, void *p, size_t old_len, size_t new_len)
{
	struct block	*block = a->newest;
	unsigned char	*end = block->bytes + block->used;
	size_t		 more;
	void		*bigger;

	assert(new_len >= old_len && new_len <= PIECE_MAX);
	if (a->large != NULL && a->large->p == p && p != NULL) {
		a->handed_out += new_len - old_len;
		return a->large->p = must_alloc(realloc(p, new_len));
	}
	more = ROUND(new_len) - ROUND(old_len);
	if (p != NULL && old_len < LARGE_FROM && (unsigned char *)p + ROUND(old_len) == end &&
	    more <= BLOCK_ROOM - block->used) {
		block->used += more;
		a->handed_out += new_len - old_len;
		return p;
	}
	bigger = arena_alloc(a, new_len);
	if (old_len > 0)
		memcpy(bigger, p, old_len);
	return bigger;
}

struct arena_mark
arena_mark(struct arena *a)
{
	return (struct arena_mark){ a->newest, a->newest->used };
}

void
arena_rewind(struct arena *a, struct arena_mark mark)
{
	struct block	*block;

	while ((block = a->newest) != mark.block) {
		assert(block->older != NULL);
		free_large_from(a, block->bytes, block->bytes + block->used);
		a->newest = block->older;
		free(block);
	}
	assert(mark.used <= block->used);
	free_large_from(a, block->bytes + mark.used, block->bytes + block->used);
	block->used = mark.used;
}

static struct block *
block_new(struct block *older)
{
	struct block	*block = must_alloc(malloc(BLOCK_BYTES));

	block->older = older;
	block->used = 0;
	return block;
}

static void *
take(struct arena *a, size_t rounded)
{
	struct block	*block = a->newest;

	if (rounded > BLOCK_ROOM - block->used)
		block = a->newest = block_new(block);
	block->used += rounded;
	return block->bytes + block->used - rounded;
}

static void *
alloc_large(struct arena *a, size_t n)
{
	struct large	*large = take(a, ROUND(sizeof(*large)));

	if (n > PIECE_MAX)
		must_alloc(NULL);
	large->p = must_alloc(calloc(1, n));
	large->older = a->large;
	a->large = large;
	a->handed_out += n;
	return large->p;
}

static void
free_large_from(struct arena *a, const unsigned char *from, const unsigned char *to)
{
	while (a->large != NULL && (const unsigned char *)a->large >= from && (const unsigned char *)a->large < to) {
		free(a->large->p);
		a->large = a->large->older;
	}
}

#endif

size_t
arena_used(const struct arena *a)
{
	return a->handed_out;
}

char *
arena_strdup(struct arena *a, const char *text)
{
	return arena_strndup(a, text, strlen(text));
}

char *
arena_strndup(struct arena *a, const char *text, size_t n)
{
	char	*copy = arena_alloc(a, n + 1);

	if (n > 0)
		memcpy(copy, text, n);
	return copy;
}

char *
arena_printf(struct arena *a, const char *fmt, ...)
{
	char	*text;
	va_list	 ap;

	va_start(ap, fmt);
	text = arena_vprintf(a, fmt, ap);
	va_end(ap);
	return text;
}

char *
arena_vprintf(struct arena *a, const char *fmt, va_list ap)
{
	va_list	 again;
	char	 small[256];
	char	*text;
	int	 len;

	va_copy(again, ap);
	len = vsnprintf(small, sizeof(small), fmt, ap);
	assert(len >= 0);
	if ((size_t)len < sizeof(small)) {
		text = arena_strndup(a, small, (size_t)len);
	} else {
		text = arena_alloc(a, (size_t)len + 1);
		vsnprintf(text, (size_t)len + 1, fmt, again);
	}
	va_end(again);
	return text;
}

static void *
must_alloc(void *p)
{
	static const char	 message[] = "stele: out of memory\n";

	if (p == NULL) {
		if (write(STDERR_FILENO, message, sizeof(message) - 1) < 0)
			_exit(1);
		abort();
	}
	return p;
}
