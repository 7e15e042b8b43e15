/* arena.h - memory that lives and dies together. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H
#include <stdarg.h>
#include <stddef.h>

struct arena;

/* A place in an arena to come back to; plain data. */
struct arena_mark {
	void	*block;
	size_t	 used;
};

/* Out of memory aborts: no function here returns NULL. Not thread safe: an arena has one owner at a time.
 * Built with -DARENA_DEBUG every allocation is a malloc of its own, so that ASan sees overruns. */
struct arena	*arena_new(void);
void		 arena_free(struct arena *);		/* NULL is fine */
size_t		 arena_used(const struct arena *);	/* bytes handed out since arena_new; rewinding does not lower it */

/* 16-byte aligned, zero-filled. n may be 0. */
void		*arena_alloc(struct arena *, size_t n);
/* The same piece with room for new_len >= old_len bytes, in place if it can be; the bytes behind old_len are undefined.
 * The old pointer is dead. p may be NULL when old_len is 0. */
void		*arena_grow(struct arena *, void *p, size_t old_len, size_t new_len);
char		*arena_strdup(struct arena *, const char *);
char		*arena_strndup(struct arena *, const char *, size_t n);	/* always NUL-terminated */
char		*arena_printf(struct arena *, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
char		*arena_vprintf(struct arena *, const char *fmt, va_list) __attribute__((format(printf, 2, 0)));

/* Everything allocated after the mark is given back. Marks nest. */
struct arena_mark arena_mark(struct arena *);
void		 arena_rewind(struct arena *, struct arena_mark);

/* For a process that serves: freed memory stays for the next unit of work instead of going back to the system, where getting it again costs
 * more than the work itself. Bounded: 8 MiB at the top of each of at most four heaps. Before threads start. */
void		 arena_warm_up(void);

#endif
