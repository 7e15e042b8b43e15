/* lists.h - public lists by page number, and the names that pages print of other resources. */
#ifndef STORE_LISTS_H
#define STORE_LISTS_H
#include "base/base.h"
#include "core/site.h"
#include "db/db.h"

/* Which list: all articles (sticky first), what carries a tag or has an author (`of` is its id), all tags or authors that have something live. */
enum list { LIST_ARTICLES, LIST_TAGGED, LIST_WRITTEN, LIST_TAGS, LIST_AUTHORS };
#define LIST_PAGES_MAX 1000
#define LIST_TERMS 100		/* on a page of LIST_TAGS and LIST_AUTHORS */
int		 list_per_page(enum list, const struct site *);

/* How another resource is named, while it is live. */
struct list_name {
	int64_t		 id;
	const char	*title, *path;
	int64_t		 changed_at;	/* of the row */
	bool		 is_live;	/* false: do not print it */
};

#define LIST_ITEM_TAGS 20
struct list_item {
	int64_t		 id;
	const char	*title, *path, *summary, *excerpt;	/* summary, excerpt: NULL = none */
	int64_t		 published_at;
	int64_t		 author_id;	/* 0 = none */
};
struct list_term { const char *title, *path; int64_t count; };

/* Members of a list, counted up to LIST_PAGES_MAX pages of `per_page` and one more. */
enum status	 store_list_count(struct scope *, struct db *, int64_t *out, enum list, int64_t of, int per_page) MUST_USE;
/* One page (from 1) of LIST_ARTICLES, LIST_TAGGED, LIST_WRITTEN; `out` has room for `per_page`. */
enum status	 store_list_items(struct scope *, struct db *, struct list_item *out, size_t *count, enum list, int64_t of, int page,
		    int per_page) MUST_USE;
/* One page of LIST_TAGS, LIST_AUTHORS, in the order of their slugs. */
enum status	 store_list_terms(struct scope *, struct db *, struct list_term *out, size_t *count, enum list, int page, int per_page) MUST_USE;

/* The tags of a live resource in the order given, those no longer live too. At most `max`. */
enum status	 store_list_tags_of(struct scope *, struct db *, struct list_name *out, size_t *count, size_t max, int64_t id) MUST_USE;
/* ERR_NOT_FOUND. */
enum status	 store_list_name(struct scope *, struct db *, struct list_name *out, int64_t id) MUST_USE;

/* When anything that could be in a list last changed, what left one too. One seek per kind. */
enum status	 store_list_changed_at(struct scope *, struct db *, int64_t *out) MUST_USE;
enum status	 store_settings_changed_at(struct scope *, struct db *, int64_t *out) MUST_USE;
#endif
