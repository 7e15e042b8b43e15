/* test_lookup.c - rows of the path tables, found by what was asked. */
#include "actions/public_site.h"
#include "store/lookup.h"

static bool
exact(struct fixture *f, struct path_hit *hit, const char *path)
{
	bool found;

	assert_ok(f->s, store_lookup_exact(f->s, f->db, hit, &found, path));
	return found;
}

static bool
by_query(struct fixture *f, struct path_hit *hit, struct str *rest, const char *path, const char *query)
{
	bool found;

	assert_ok(f->s, store_lookup_query(f->s, f->db, hit, &found, rest, path, str_of(query)));
	return found;
}

/* The target that the rules give, or NULL. */
static const char *
by_rule(struct fixture *f, const char *path)
{
	struct path_hit hit;
	bool found;

	assert_ok(f->s, store_lookup_rule(f->s, f->db, NULL, &hit, &found, path));
	return found ? hit.target : NULL;
}

static void
exact_row_comes_with_its_resource(void **state)
{
	struct fixture *f = *state;
	struct path_hit hit;

	add_resource(f, 7, "article", "withdrawn", "/articles/a", "");
	add_alias(f, "/old", 7, 302, false);
	assert_true(exact(f, &hit, "/old"));
	assert_int_equal(hit.role, PATH_ALIAS);
	assert_int_equal(hit.status, 302);
	assert_int_equal(hit.resource_id, 7);
	assert_int_equal(hit.kind, KIND_ARTICLE);
	assert_int_equal(hit.state, STATE_WITHDRAWN);
	assert_string_equal(hit.canonical, "/articles/a");
	assert_false(exact(f, &hit, "/OLD"));
}

static void
folded_prefers_what_was_canonical(void **state)
{
	struct fixture *f = *state;
	struct path_hit hit;
	bool found, is_ambiguous;

	add_resource(f, 1, "article", "published", "/articles/a", "");
	add_resource(f, 2, "article", "published", "/articles/b", "");
	add_alias(f, "/Name", 1, 301, false);
	add_alias(f, "/NAME", 2, 301, true);
	assert_ok(f->s, store_lookup_folded(f->s, f->db, &hit, &found, &is_ambiguous, "/name"));
	assert_true(found);
	assert_false(is_ambiguous);
	assert_int_equal(hit.resource_id, 2);
}

static void
folded_takes_the_only_alias_and_none_of_several(void **state)
{
	struct fixture *f = *state;
	struct path_hit hit;
	bool found, is_ambiguous;

	add_resource(f, 1, "article", "published", "/articles/a", "");
	add_alias(f, "/One", 1, 301, false);
	add_alias(f, "/Two", 1, 301, false);
	add_alias(f, "/TWO", 1, 301, false);
	assert_ok(f->s, store_lookup_folded(f->s, f->db, &hit, &found, &is_ambiguous, "/one"));
	assert_true(found && !is_ambiguous);
	assert_ok(f->s, store_lookup_folded(f->s, f->db, &hit, &found, &is_ambiguous, "/two"));
	assert_true(!found && is_ambiguous);
	assert_ok(f->s, store_lookup_folded(f->s, f->db, &hit, &found, &is_ambiguous, "/three"));
	assert_true(!found && !is_ambiguous);
}

static void
query_source_needs_all_its_pairs_in_any_order(void **state)
{
	struct fixture *f = *state;
	struct path_hit hit;
	struct str rest;

	add_resource(f, 1, "article", "published", "/articles/a", "");
	add_query(f, "/", "p=12", 1, NULL);
	add_query(f, "/", "cat=3&p=12", 0, "/articles/b");
	assert_true(by_query(f, &hit, &rest, "/", "utm=x&p=12&a=%20b"));
	assert_int_equal(hit.resource_id, 1);
	assert_int_equal(hit.role, PATH_ALIAS);
	assert_true(str_is(rest, "utm=x&a=%20b"));
	/* More pairs say more. */
	assert_true(by_query(f, &hit, &rest, "/", "p=12&cat=3"));
	assert_string_equal(hit.target, "/articles/b");
	assert_int_equal(rest.len, 0);
	assert_true(by_query(f, &hit, &rest, "/", "cat=3&p=12"));
	assert_string_equal(hit.target, "/articles/b");
	assert_false(by_query(f, &hit, &rest, "/", "cat=3"));
	assert_false(by_query(f, &hit, &rest, "/", "p=120"));
	assert_false(by_query(f, &hit, &rest, "/", "p=1"));
	assert_false(by_query(f, &hit, &rest, "/x", "p=12"));
	assert_false(by_query(f, &hit, &rest, "/", ""));
}

static void
query_source_is_found_among_thousands_without_reading_them(void **state)
{
	struct fixture *f = *state;
	struct path_hit hit;
	struct str rest;

	add_resource(f, 1, "article", "published", "/articles/a", "");
	exec(f, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) "
	    "INSERT INTO path_query (path, pairs, resource_id, created_at) SELECT '/', 'p=' || i, 1, 1 FROM n");
	assert_true(by_query(f, &hit, &rest, "/", "p=19999"));
	assert_false(by_query(f, &hit, &rest, "/", "p=20001"));
	/* Pairs that share a beginning are no candidates of one another. */
	assert_true(by_query(f, &hit, &rest, "/", "p=1&p=20001"));
	assert_true(str_is(rest, "p=20001"));
}

static void
rule_fills_names_and_splat_into_the_target(void **state)
{
	struct fixture *f = *state;

	add_rule(f, "/blog/:year/:slug", "/articles/:slug?from=:year", 301);
	add_rule(f, "/news/*", "/archive/*", 301);
	assert_string_equal(by_rule(f, "/blog/2020/hello"), "/articles/hello?from=2020");
	assert_string_equal(by_rule(f, "/news/a/b/c"), "/archive/a/b/c");
	assert_string_equal(by_rule(f, "/news"), "/archive/");
	assert_null(by_rule(f, "/blog/2020"));
	assert_null(by_rule(f, "/blog/2020/a/b"));
	assert_null(by_rule(f, "/newsletter"));
}

static void
rule_that_says_more_wins_whatever_the_order(void **state)
{
	struct fixture *f = *state;

	add_rule(f, "/*", "/all", 301);
	add_rule(f, "/blog/*", "/any", 301);
	add_rule(f, "/blog/:slug", "/one", 301);
	add_rule(f, "/blog/about", "/about", 301);
	assert_string_equal(by_rule(f, "/blog/about"), "/about");
	assert_string_equal(by_rule(f, "/blog/x"), "/one");
	assert_string_equal(by_rule(f, "/blog/x/y"), "/any");
	assert_string_equal(by_rule(f, "/else"), "/all");
}

static void
rule_never_lets_the_visitor_choose_the_host(void **state)
{
	struct fixture *f = *state;

	add_rule(f, "/go/:host", "https://:host", 301);
	add_rule(f, "/to/:x", "https://ok.test/:x", 301);
	add_rule(f, "/s/*", "https://*.test/*", 301);
	assert_string_equal(by_rule(f, "/go/evil.test"), "https://:host");
	assert_string_equal(by_rule(f, "/to/evil.test"), "https://ok.test/evil.test");
	assert_string_equal(by_rule(f, "/s/evil"), "https://*.test/evil");
}

static void
rule_longer_than_any_path_is_no_overrun(void **state)
{
	struct fixture *f = *state;
	struct buf pattern;

	buf_init(&pattern, f->s->arena);
	for (int i = 0; i < 100; i++)
		buf_text(&pattern, "/:x");
	add_rule(f, pattern.p, "/b", 301);
	for (char *p = pattern.p; *p != '\0'; p++)
		if (*p == ':')
			*p = 'y';
	assert_null(by_rule(f, pattern.p));
}

static void
rule_can_say_gone(void **state)
{
	struct fixture *f = *state;
	struct path_hit hit;
	bool found;

	add_rule(f, "/wp-admin/*", "", 410);
	assert_ok(f->s, store_lookup_rule(f->s, f->db, NULL, &hit, &found, "/wp-admin/x.php"));
	assert_true(found);
	assert_int_equal(hit.role, PATH_GONE);
	assert_int_equal(hit.status, 410);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, database_setup, teardown)
		T(exact_row_comes_with_its_resource),
		T(folded_prefers_what_was_canonical),
		T(folded_takes_the_only_alias_and_none_of_several),
		T(query_source_needs_all_its_pairs_in_any_order),
		T(query_source_is_found_among_thousands_without_reading_them),
		T(rule_fills_names_and_splat_into_the_target),
		T(rule_that_says_more_wins_whatever_the_order),
		T(rule_never_lets_the_visitor_choose_the_host),
		T(rule_longer_than_any_path_is_no_overrun),
		T(rule_can_say_gone),
	};
	return cmocka_run_group_tests_name("lookup", tests, NULL, NULL);
}
