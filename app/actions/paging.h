/* paging.h - the query parameter `page` of numbered lists. */
#ifndef ACTIONS_PAGING_H
#define ACTIONS_PAGING_H
#include "base/base.h"

struct paging {
	int		 page;		/* 1 when there is none */
	bool		 is_respelled;	/* the query that should have been asked is another one: */
	struct str	 query;		/* every other pair byte for byte, `page` as a plain decimal from 2 */
};
/* False: no such page whatever the list holds (0, a word, above the last number). Of several `page` the first counts. */
bool		 paging_read(struct scope *, struct paging *, struct str query);
/* The query of page `n`, for a list's own addresses: empty for the first. */
struct str	 paging_query(struct scope *, int n);
#endif
