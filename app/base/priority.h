/* priority.h - who goes first when processors are short. */
#ifndef BASE_PRIORITY_H
#define BASE_PRIORITY_H

/* The calling thread from now on yields to threads that answer from memory: a burst of writes must not slow the pages that are ready.
 * No effect where the system refuses. */
void		 priority_background(void);

#endif
