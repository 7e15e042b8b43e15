/* view_lists.c - lists of resources and terms, a page at a time. */
#include "actions/view_parts.h"

static enum status	add_items(struct scope *, struct page_build *, json_t *view, enum list, int64_t of, int page);
static enum status	add_item(struct scope *, struct page_build *, json_t *items, const struct list_item *);
static enum status	add_terms(struct scope *, struct page_build *, json_t *view, enum list, int page);
static enum status	add_pager(struct scope *, struct page_build *, json_t *view, enum list, int64_t of, int page, const char *path);

struct fixed_list {
	const char	*name, *path, *title, *template;
	enum list	 list;
};
static const struct fixed_list fixed_lists[] = {
	{ "home", "/", NULL, "home", LIST_ARTICLES },
	{ "articles", "/articles", "Articles", "list", LIST_ARTICLES },
	{ "tags", "/tags", "Tags", "terms", LIST_TAGS },
	{ "authors", "/authors", "Authors", "terms", LIST_AUTHORS },
};

enum status
view_list(struct scope *s, struct page_build *b, const char *name, int page)
{
	const struct fixed_list *l = NULL;
	json_t *view = json_object();
	enum status status;

	for (size_t i = 0; i < COUNT(fixed_lists); i++)
		if (strcmp(fixed_lists[i].name, name) == 0)
			l = &fixed_lists[i];
	assert(l != NULL);
	b->head.kind = l->list == LIST_ARTICLES && l->title == NULL && page == 1 ? "home" : "list";
	b->head.title = view_title(s, b->site, l->title, page);
	b->head.description = l->title == NULL && *b->site->description != '\0' ? b->site->description : NULL;
	b->head.url = b->head.canonical = view_url(s, b->site, l->path, page);
	view_depend(s, b->out, "list:article");
	view_set(view, "title", l->title != NULL ? l->title : b->site->title);
	view_set(view, "intro", b->head.description);
	if (l->list == LIST_ARTICLES) {
		status = add_items(s, b, view, l->list, 0, page);
	} else {
		/* Counts and the terms that are named at all hang on what is live. */
		view_depend(s, b->out, l->list == LIST_TAGS ? "list:tag" : "list:author");
		status = add_terms(s, b, view, l->list, page);
	}
	if (status == OK)
		status = add_pager(s, b, view, l->list, 0, page, l->path);
	if (status != OK) {
		json_decref(view);
		return status;
	}
	return view_finish(s, b, l->template, view);
}

enum status
view_term(struct scope *s, struct page_build *b, const struct resource *r, int page)
{
	enum list list = r->kind == KIND_TAG ? LIST_TAGGED : LIST_WRITTEN;
	json_t *view = json_object();
	struct rendered rendered;
	struct str content;
	enum status status;

	if ((status = view_about(s, b, r, &rendered, &content)) != OK)
		goto done;
	view_depend(s, b->out, "%s:%" PRId64, kind_name(r->kind), r->id);
	b->head.feed_url = view_feed_url(s, b->site, r->uid);
	b->head.feed_title = view_title(s, b->site, r->live_title, 1);
	if (page > 1) {
		b->head.title = view_title(s, b->site, r->live_title, page);
		b->head.url = b->head.canonical = view_url(s, b->site, r->path, page);
	}
	view_set(view, "title", r->live_title);
	view_set(view, "intro", r->live_summary);
	if (page == 1 && content.len > 0)
		json_object_set_new(view, "content_html", json_stringn(content.p, content.len));
	if ((status = add_items(s, b, view, list, r->id, page)) == OK)
		status = add_pager(s, b, view, list, r->id, page, r->path);
done:
	if (status != OK) {
		json_decref(view);
		return status;
	}
	return view_finish(s, b, kind_name(r->kind), view);
}

static enum status
add_items(struct scope *s, struct page_build *b, json_t *view, enum list list, int64_t of, int page)
{
	struct list_item *items = scope_alloc(s, (size_t)b->site->per_page * sizeof(*items));
	json_t *array = json_array();
	size_t count;

	json_object_set_new(view, "items", array);
	/* Items name their author and tags. */
	view_depend(s, b->out, "list:author");
	view_depend(s, b->out, "list:tag");
	TRY(store_list_items(s, b->db, items, &count, list, of, page, b->site->per_page));
	json_object_set_new(view, "is_empty", json_boolean(count == 0));
	for (size_t i = 0; i < count; i++)
		TRY(add_item(s, b, array, &items[i]));
	return OK;
}

static enum status
add_item(struct scope *s, struct page_build *b, json_t *items, const struct list_item *item)
{
	struct list_name tags[LIST_ITEM_TAGS], author = { .id = 0 };
	json_t *o = json_object(), *names = json_array();
	size_t count;

	json_array_append_new(items, o);
	json_object_set_new(o, "tags", names);
	view_set(o, "title", item->title);
	view_set(o, "url", view_url(s, b->site, item->path, 1));
	view_set(o, "excerpt", item->summary != NULL && *item->summary != '\0' ? item->summary : item->excerpt);
	json_object_set_new(o, "published", view_time(s, item->published_at, b->site->locale));
	if (item->author_id != 0)
		TRY(store_list_name(s, b->db, &author, item->author_id));
	if (author.is_live)
		json_object_set_new(o, "author", view_name(author.title, view_url(s, b->site, author.path, 1)));
	TRY(store_list_tags_of(s, b->db, tags, &count, LIST_ITEM_TAGS, item->id));
	for (size_t i = 0; i < count; i++)
		if (tags[i].is_live)
			json_array_append_new(names, view_name(tags[i].title, view_url(s, b->site, tags[i].path, 1)));
	return OK;
}

static enum status
add_terms(struct scope *s, struct page_build *b, json_t *view, enum list list, int page)
{
	struct list_term *terms = scope_alloc(s, LIST_TERMS * sizeof(*terms));
	json_t *array = json_array();
	size_t count;

	json_object_set_new(view, "terms", array);
	TRY(store_list_terms(s, b->db, terms, &count, list, page, LIST_TERMS));
	json_object_set_new(view, "is_empty", json_boolean(count == 0));
	for (size_t i = 0; i < count; i++) {
		json_t *o = view_name(terms[i].title, view_url(s, b->site, terms[i].path, 1));

		json_object_set_new(o, "count", json_integer(terms[i].count));
		json_array_append_new(array, o);
	}
	return OK;
}

static enum status
add_pager(struct scope *s, struct page_build *b, json_t *view, enum list list, int64_t of, int page, const char *path)
{
	int per_page = list_per_page(list, b->site);
	int64_t count, pages, at;
	json_t *pager;

	/* What left the list is no member any more, but the list changed when it left. */
	TRY(store_list_changed_at(s, b->db, &at));
	view_modified(b->out, at);
	TRY(store_list_count(s, b->db, &count, list, of, per_page));
	pages = (count + per_page - 1) / per_page;
	if (pages > LIST_PAGES_MAX)
		pages = LIST_PAGES_MAX;
	if (pages <= 1)
		return OK;
	pager = json_pack("{s:i, s:I}", "page", page, "pages", (json_int_t)pages);
	if (page > 1)
		b->head.prev_url = view_url(s, b->site, path, page - 1);
	if (page < pages)
		b->head.next_url = view_url(s, b->site, path, page + 1);
	view_set(pager, "prev_url", b->head.prev_url);
	view_set(pager, "next_url", b->head.next_url);
	json_object_set_new(view, "pager", pager);
	return OK;
}
