/* diff.h - what changed between two texts, line by line. Pure. */
#ifndef CORE_DIFF_H
#define CORE_DIFF_H
#include "base/base.h"

/* Lines apart that are looked for; texts that differ more are told as one block taken away and one put in, between equal ends. */
#define DIFF_DISTANCE_MAX 1000

enum diff_op { DIFF_SAME, DIFF_REMOVED, DIFF_ADDED };
struct diff_run { enum diff_op op; size_t from, count; };	/* lines of the old text; of the new one for DIFF_ADDED */
struct diff {
	struct str	*old_lines, *new_lines;	/* without their LF */
	size_t		 old_count, new_count;
	struct diff_run	*runs;		/* in order; at one place what was removed comes first */
	size_t		 run_count;
	bool		 is_whole;	/* false: the distance was too great to look for the least change */
};
/* E. W. Myers, "An O(ND) Difference Algorithm and Its Variations", 1986. Borrows the texts. Memory: up to 4 MB at DIFF_DISTANCE_MAX. */
void	 diff_lines(struct scope *, struct diff *out, struct str old, struct str new);
#endif
