/* test_lists.c - pages of public lists, in order and without gaps. */
#include "actions/public_site.h"
#include "base/clock.h"
#include "store/lists.h"

/* Ids of a page as "3,2,1". */
static const char *
page_of(struct fixture *f, enum list list, int64_t of, int page, int per_page)
{
	struct list_item *items = scope_alloc(f->s, (size_t)per_page * sizeof(*items));
	struct buf out;
	size_t count;

	buf_init(&out, f->s->arena);
	assert_ok(f->s, store_list_items(f->s, f->db, items, &count, list, of, page, per_page));
	for (size_t i = 0; i < count; i++)
		buf_printf(&out, "%s%" PRId64, i > 0 ? "," : "", items[i].id);
	return out.p;
}

static int64_t
count_of(struct fixture *f, enum list list, int64_t of, int per_page)
{
	int64_t n;

	assert_ok(f->s, store_list_count(f->s, f->db, &n, list, of, per_page));
	return n;
}

static void
pages_hold_every_live_member_once(void **state)
{
	struct fixture *f = *state;

	add_many(f, 1, 7);
	add_resource(f, 20, "article", "draft", "/articles/d", "");
	add_resource(f, 21, "page", "published", "/p", "");
	exec(f, "UPDATE resource SET is_sticky = 1 WHERE id = 2");
	assert_string_equal(page_of(f, LIST_ARTICLES, 0, 1, 3), "2,7,6");
	assert_string_equal(page_of(f, LIST_ARTICLES, 0, 2, 3), "5,4,3");
	assert_string_equal(page_of(f, LIST_ARTICLES, 0, 3, 3), "1");
	assert_string_equal(page_of(f, LIST_ARTICLES, 0, 4, 3), "");
	assert_int_equal(count_of(f, LIST_ARTICLES, 0, 3), 7);
}

static void
same_moment_is_ordered_by_id(void **state)
{
	struct fixture *f = *state;

	add_many(f, 1, 4);
	exec(f, "UPDATE resource SET first_published_at = 5");
	assert_string_equal(page_of(f, LIST_ARTICLES, 0, 1, 2), "4,3");
	assert_string_equal(page_of(f, LIST_ARTICLES, 0, 2, 2), "2,1");
}

static void
tagged_and_written_lists_are_their_own(void **state)
{
	struct fixture *f = *state;

	add_many(f, 1, 5);
	add_resource(f, 10, "tag", "published", "/tags/t", "");
	add_resource(f, 12, "author", "published", "/authors/a", "");
	tag_resource(f, 10, 1);
	tag_resource(f, 10, 4);
	exec(f, "UPDATE resource SET live_author = 12 WHERE id IN (2, 5)");
	assert_string_equal(page_of(f, LIST_TAGGED, 10, 1, 10), "4,1");
	assert_string_equal(page_of(f, LIST_WRITTEN, 12, 1, 10), "5,2");
	assert_int_equal(count_of(f, LIST_TAGGED, 10, 10), 2);
	assert_int_equal(count_of(f, LIST_WRITTEN, 12, 10), 2);
	exec(f, "UPDATE resource SET state = 'withdrawn' WHERE id = 5");
	assert_string_equal(page_of(f, LIST_WRITTEN, 12, 1, 10), "2");
}

static void
terms_are_in_the_order_of_slugs(void **state)
{
	struct fixture *f = *state;
	struct list_term terms[10];
	size_t count;

	add_many(f, 1, 3);
	for (int i = 10; i < 14; i++)
		add_resource(f, i, "tag", "published", scope_printf(f->s, "/tags/t%d", i), "");
	exec(f, "UPDATE resource SET slug = 'z' WHERE id = 10");
	tag_resource(f, 10, 1);
	tag_resource(f, 11, 1);
	tag_resource(f, 11, 2);
	tag_resource(f, 13, 3);
	exec(f, "UPDATE resource SET state = 'withdrawn' WHERE id = 13");
	assert_ok(f->s, store_list_terms(f->s, f->db, terms, &count, LIST_TAGS, 1, 10));
	assert_int_equal(count, 2);
	assert_string_equal(terms[0].path, "/tags/t11");
	assert_int_equal(terms[0].count, 2);
	assert_string_equal(terms[1].path, "/tags/t10");
	assert_int_equal(count_of(f, LIST_TAGS, 0, 100), 2);
}

static void
counting_stops_behind_the_last_page(void **state)
{
	struct fixture *f = *state;

	add_many(f, 1, 1200);
	assert_int_equal(count_of(f, LIST_ARTICLES, 0, 1), LIST_PAGES_MAX + 1);
	assert_int_equal(count_of(f, LIST_ARTICLES, 0, 2), 1200);
}

static int64_t
microseconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000) + t.tv_nsec / 1000;
}

static void
last_page_costs_little_more_than_the_first(void **state)
{
	struct fixture *f = *state;
	int64_t first, last, start;

	add_many(f, 1, 10000);
	page_of(f, LIST_ARTICLES, 0, 1, 10);
	start = microseconds();
	page_of(f, LIST_ARTICLES, 0, 1, 10);
	first = microseconds() - start;
	start = microseconds();
	page_of(f, LIST_ARTICLES, 0, 1000, 10);
	last = microseconds() - start;
	print_message("page 1: %" PRId64 " us, page 1000: %" PRId64 " us\n", first, last);
	assert_true(last < 20000);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, database_setup, teardown)
		T(pages_hold_every_live_member_once),
		T(same_moment_is_ordered_by_id),
		T(tagged_and_written_lists_are_their_own),
		T(terms_are_in_the_order_of_slugs),
		T(counting_stops_behind_the_last_page),
		T(last_page_costs_little_more_than_the_first),
	};
	return cmocka_run_group_tests_name("lists", tests, NULL, NULL);
}
