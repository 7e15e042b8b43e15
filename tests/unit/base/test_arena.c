/* test_arena.c - memory that lives and dies together. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/base.h"

static uint64_t	state = 88172645463325252u;

static size_t
any(size_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (size_t)(state % below);
}

static bool
all_are(const unsigned char *p, size_t n, unsigned char value)
{
	for (size_t i = 0; i < n; i++)
		if (p[i] != value)
			return false;
	return true;
}

static void
pieces_are_zeroed_and_aligned(void **unused)
{
	static const size_t	 sizes[] = { 0, 1, 15, 16, 17, 240, 4096, 16383, 16384, 65536, 1000000 };
	struct arena		*a = arena_new();

	for (int round = 0; round < 30; round++) {
		struct arena_mark	 mark = arena_mark(a);

		for (size_t i = 0; i < COUNT(sizes); i++) {
			unsigned char	*p = arena_alloc(a, sizes[i]);

			assert_non_null(p);
			assert_int_equal((uintptr_t)p % 16, 0);
			assert_true(all_are(p, sizes[i], 0));
			memset(p, 0xaa, sizes[i]);
		}
		if (round % 2 == 0)
			arena_rewind(a, mark);
	}
	arena_free(a);
}

static void
pieces_do_not_overlap(void **unused)
{
	struct { unsigned char *p; size_t n; } pieces[600];
	struct arena	*a = arena_new();

	for (size_t i = 0; i < COUNT(pieces); i++) {
		pieces[i].n = any(20) == 0 ? any(100000) : any(900);
		pieces[i].p = arena_alloc(a, pieces[i].n);
		memset(pieces[i].p, (int)(i % 251), pieces[i].n);
	}
	for (size_t i = 0; i < COUNT(pieces); i++)
		assert_true(all_are(pieces[i].p, pieces[i].n, (unsigned char)(i % 251)));
	arena_free(a);
}

static void
used_counts_what_was_asked_for(void **unused)
{
	struct arena		*a = arena_new();
	struct arena_mark	 mark = arena_mark(a);

	assert_int_equal(arena_used(a), 0);
	arena_alloc(a, 7);
	arena_alloc(a, 100000);
	assert_int_equal(arena_used(a), 100007);
	arena_rewind(a, mark);
	assert_int_equal(arena_used(a), 100007);
	arena_free(a);
	arena_free(NULL);
}

static void
rewind_gives_back_what_came_after_the_mark_only(void **unused)
{
	struct arena	*a = arena_new();

	for (int round = 0; round < 200; round++) {
		struct { unsigned char *p; size_t n; } kept[40];
		struct arena_mark	 mark, inner;

		for (size_t i = 0; i < COUNT(kept); i++) {
			kept[i].n = any(8) == 0 ? 16000 + any(40000) : any(3000);
			kept[i].p = arena_alloc(a, kept[i].n);
			memset(kept[i].p, (int)i + 1, kept[i].n);
		}
		mark = arena_mark(a);
		for (int n = (int)any(30); n > 0; n--)
			memset(arena_alloc(a, any(30000) + 1), 0xee, 1);
		inner = arena_mark(a);
		for (int n = (int)any(30); n > 0; n--)
			memset(arena_alloc(a, any(30000) + 1), 0xdd, 1);
		arena_rewind(a, inner);
		arena_rewind(a, inner);
		arena_rewind(a, mark);
		for (size_t i = 0; i < COUNT(kept); i++)
			assert_true(all_are(kept[i].p, kept[i].n, (unsigned char)(i + 1)));
	}
	arena_free(a);
}

/* Without giving back, this would take 500 MB. */
static void
rewinding_in_a_loop_needs_no_more_memory(void **unused)
{
	struct arena		*a = arena_new();
	struct arena_mark	 mark = arena_mark(a);

	for (int i = 0; i < 500; i++) {
		memset(arena_alloc(a, 1000000), 1, 64);
		memset(arena_alloc(a, 15000), 1, 15000);
		arena_rewind(a, mark);
	}
	arena_free(a);
}

static void
growing_keeps_the_bytes(void **unused)
{
	struct arena	*a = arena_new();

	for (int round = 0; round < 50; round++) {
		unsigned char	*p = NULL, *neighbour = NULL;
		size_t		 len = 0;

		while (len < 200000) {
			size_t	 more = 1 + any(len < 20000 ? 700 : 60000);

			p = arena_grow(a, p, len, len + more);
			assert_int_equal((uintptr_t)p % 16, 0);
			memset(p + len, 0x5a, more);
			len += more;
			if (any(4) == 0) {
				neighbour = arena_alloc(a, 33);
				memset(neighbour, 0xa5, 33);
			}
			assert_true(neighbour == NULL || all_are(neighbour, 33, 0xa5));
		}
		assert_true(all_are(p, len, 0x5a));
		if (round % 10 == 9) {
			arena_free(a);
			a = arena_new();
		}
	}
	arena_free(a);
}

static void
copies_end_in_nul(void **unused)
{
	struct arena	*a = arena_new();
	char		 wide[3000];

	assert_string_equal(arena_strdup(a, ""), "");
	assert_string_equal(arena_strdup(a, "stone"), "stone");
	assert_string_equal(arena_strndup(a, "stone", 3), "sto");
	assert_string_equal(arena_strndup(a, NULL, 0), "");
	assert_string_equal(arena_printf(a, "%s-%d", "a", 7), "a-7");
	memset(wide, 'w', sizeof(wide));
	for (size_t n = 250; n < 262; n++)
		assert_int_equal(strlen(arena_printf(a, "%.*s", (int)n, wide)), n);
	assert_int_equal(strlen(arena_printf(a, "%.*s", (int)sizeof(wide), wide)), sizeof(wide));
	arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest	 tests[] = {
		cmocka_unit_test(pieces_are_zeroed_and_aligned),
		cmocka_unit_test(pieces_do_not_overlap),
		cmocka_unit_test(used_counts_what_was_asked_for),
		cmocka_unit_test(rewind_gives_back_what_came_after_the_mark_only),
		cmocka_unit_test(rewinding_in_a_loop_needs_no_more_memory),
		cmocka_unit_test(growing_keeps_the_bytes),
		cmocka_unit_test(copies_end_in_nul),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
