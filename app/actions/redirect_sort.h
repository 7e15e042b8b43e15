/* redirect_sort.h - the rows of a file in the order of their sources, in bounded memory: sorted pieces on disk, merged while they are read. */
#ifndef ACTIONS_REDIRECT_SORT_H
#define ACTIONS_REDIRECT_SORT_H
#include "store/stage.h"

struct sorter;
/* Pieces lie in `folder`, already without a name. At most 16 MB are held in memory. */
struct sorter	*sorter_new(const char *folder);
void		 sorter_free(struct sorter *);		/* NULL is fine */
/* Copies. ERR_STORAGE when a piece cannot be written. */
enum status	 sorter_add(struct scope *, struct sorter *, const struct staged *) MUST_USE;
/* By source, then by line; what `out` points at is good until the next call. Nothing may be added after the first call. */
enum status	 sorter_next(struct scope *, struct sorter *, struct staged *out, bool *more) MUST_USE;
#endif
