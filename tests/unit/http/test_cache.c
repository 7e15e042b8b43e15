/* test_cache.c - what is kept, for how long, and what goes first. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "http/cache.h"

#define NOW 1000000

struct fixture {
	struct scope	*scope;
	struct shared	*shared;
	struct cache	*cache;
};

static int
setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->scope = scope_new("test");
	assert_int_equal(shared_open(f->scope, &f->shared, "/nonexistent", false), OK);
	f->cache = cache_new(f->shared, 1 << 20);
	*state = f;
	return 0;
}

static int
teardown(void **state)
{
	struct fixture *f = *state;

	cache_free(f->cache);
	shared_close(f->shared);
	scope_free(f->scope);
	free(f);
	return 0;
}

static struct cache_key
key(const char *path, const char *query)
{
	struct cache_key k;

	assert_true(cache_key_make(&k, CODING_IDENTITY, str_of(path), str_of(query)));
	return k;
}

static void
put(struct fixture *f, const char *path, size_t size, const char *depends)
{
	struct cache_key k = key(path, "");
	struct cache_entry *e = cache_entry_new(&k);
	char *body = scope_alloc(f->scope, size);

	e->full = wire_new(200, STR("HTTP/1.1 200 OK\r\n"), (struct str){ body, size });
	e->generation = shared_generation(f->shared);
	if (depends != NULL) {
		e->slots[0] = shared_slot(depends);
		e->slot_count = 1;
	}
	cache_put(f->cache, e, NOW);
}

static bool
has(struct fixture *f, const char *path)
{
	struct cache_key k = key(path, "");

	return cache_find(f->cache, &k, NOW) != NULL;
}

static void
what_was_put_is_found(void **state)
{
	struct fixture *f = *state;

	assert_false(has(f, "/a"));
	put(f, "/a", 10, NULL);
	assert_true(has(f, "/a"));
	assert_false(has(f, "/b"));
	assert_int_equal(cache_count(f->cache), 1);
	put(f, "/a", 20, NULL);
	assert_int_equal(cache_count(f->cache), 1);
}

static void
a_bump_ends_what_depends_on_it_and_nothing_else(void **state)
{
	struct fixture *f = *state;

	put(f, "/a", 10, "resource:1");
	put(f, "/b", 10, "resource:2");
	shared_bump(f->shared, shared_slot("resource:1"));
	assert_false(has(f, "/a"));
	assert_true(has(f, "/b"));
	shared_bump_all(f->shared);
	assert_false(has(f, "/b"));
	assert_int_equal(cache_count(f->cache), 0);
	assert_int_equal(cache_bytes(f->cache), 0);
}

static void
an_answer_from_before_a_bump_is_not_kept(void **state)
{
	struct fixture *f = *state;
	struct cache_key k = key("/a", "");
	struct cache_entry *e = cache_entry_new(&k);

	e->full = wire_new(200, STR("x"), STR(""));
	e->generation = shared_generation(f->shared);
	e->slots[0] = shared_slot("resource:1");
	e->slot_count = 1;
	shared_bump(f->shared, e->slots[0]);
	cache_put(f->cache, e, NOW);
	assert_int_equal(cache_count(f->cache), 0);
}

static void
a_time_bound_ends_an_answer(void **state)
{
	struct fixture *f = *state;
	struct cache_key k = key("/a", "");
	struct cache_entry *e = cache_entry_new(&k);

	e->full = wire_new(200, STR("x"), STR(""));
	e->generation = shared_generation(f->shared);
	e->valid_until = NOW + 5;
	cache_put(f->cache, e, NOW);
	assert_non_null(cache_find(f->cache, &k, NOW + 4));
	assert_null(cache_find(f->cache, &k, NOW + 5));
}

static void
bytes_are_bounded_and_what_is_used_stays(void **state)
{
	struct fixture *f = *state;
	char path[32];

	put(f, "/hot", 1000, NULL);
	for (int i = 0; i < 5000; i++) {
		snprintf(path, sizeof(path), "/cold/%d", i);
		put(f, path, 1000, NULL);
		assert_true(has(f, "/hot"));
		assert_true(cache_bytes(f->cache) <= 1 << 20);
	}
	assert_true(cache_count(f->cache) > 300);
	assert_false(has(f, "/cold/0"));
	assert_true(has(f, "/cold/4999"));
}

static void
one_answer_cannot_take_the_whole_cache(void **state)
{
	struct fixture *f = *state;

	put(f, "/small", 10, NULL);
	put(f, "/large", 1 << 18, NULL);
	assert_true(has(f, "/small"));
	assert_false(has(f, "/large"));
}

static void
thousands_of_answers_are_found_again(void **state)
{
	struct fixture *f = *state;
	struct cache *large = cache_new(f->shared, 1 << 30);
	struct cache *small = f->cache;
	char path[32];

	f->cache = large;
	for (int i = 0; i < 10000; i++) {
		snprintf(path, sizeof(path), "/page/%d", i);
		put(f, path, 1, NULL);
	}
	for (int i = 0; i < 10000; i++) {
		snprintf(path, sizeof(path), "/page/%d", i);
		assert_true(has(f, path));
	}
	assert_int_equal(cache_count(large), 10000);
	cache_free(large);
	f->cache = small;
}

static void
a_wire_outlives_its_entry_while_it_is_held(void **state)
{
	struct fixture *f = *state;
	struct cache_key k = key("/a", "");
	struct wire *w;

	put(f, "/a", 10, "resource:1");
	w = wire_hold(cache_find(f->cache, &k, NOW)->full);
	shared_bump(f->shared, shared_slot("resource:1"));
	assert_false(has(f, "/a"));
	assert_int_equal(w->refs, 1);
	assert_memory_equal(w->bytes, "HTTP/1.1", 8);
	wire_drop(w);
}

static void
keys_tell_codings_paths_and_queries_apart(void **state)
{
	struct cache_key a, b;

	assert_true(cache_key_make(&a, CODING_GZIP, STR("/a"), STR("")));
	assert_true(cache_key_make(&b, CODING_BR, STR("/a"), STR("")));
	assert_true(a.len != b.len || memcmp(a.text, b.text, a.len) != 0);
	assert_true(cache_key_make(&a, CODING_GZIP, STR("/a"), STR("page=2")));
	assert_true(cache_key_make(&b, CODING_GZIP, STR("/a"), STR("page=3")));
	assert_true(memcmp(a.text, b.text, a.len) != 0);
}

static void
other_parameters_and_long_addresses_have_no_key(void **state)
{
	static const char *const queries[] = { "p=12", "page=2&utm=x", "page", "pages=2", "Page=2", "page=2&&q=a", "%70age=2" };
	char path[CACHE_KEY_MAX + 1];
	struct cache_key k;

	for (size_t i = 0; i < COUNT(queries); i++)
		assert_false(cache_key_make(&k, CODING_IDENTITY, STR("/a"), str_of(queries[i])));
	assert_true(cache_key_make(&k, CODING_IDENTITY, STR("/a"), STR("q=a%26b&page=2")));
	memset(path, 'a', sizeof(path));
	assert_false(cache_key_make(&k, CODING_IDENTITY, (struct str){ path, sizeof(path) }, STR("")));
	assert_true(cache_key_make(&k, CODING_IDENTITY, (struct str){ path, CACHE_KEY_MAX - 2 }, STR("")));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_was_put_is_found, setup, teardown),
		cmocka_unit_test_setup_teardown(a_bump_ends_what_depends_on_it_and_nothing_else, setup, teardown),
		cmocka_unit_test_setup_teardown(an_answer_from_before_a_bump_is_not_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(a_time_bound_ends_an_answer, setup, teardown),
		cmocka_unit_test_setup_teardown(bytes_are_bounded_and_what_is_used_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(one_answer_cannot_take_the_whole_cache, setup, teardown),
		cmocka_unit_test_setup_teardown(thousands_of_answers_are_found_again, setup, teardown),
		cmocka_unit_test_setup_teardown(a_wire_outlives_its_entry_while_it_is_held, setup, teardown),
		cmocka_unit_test(keys_tell_codings_paths_and_queries_apart),
		cmocka_unit_test(other_parameters_and_long_addresses_have_no_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
