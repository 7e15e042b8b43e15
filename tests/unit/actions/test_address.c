#include "actions/writes.h"

#include "actions/address.h"

static struct address_plan
plan(struct world *w, const char *pattern, const char *slug, bool is_given)
{
	struct resource r = { .kind = KIND_ARTICLE, .uid = "01900000-0000-7000-8000-abcdef012345", .slug = slug, .created_at = 1 };
	struct address_plan p;

	w->site.pattern[KIND_ARTICLE] = pattern;
	assert_ok(w->f.s, address_plan(w->f.s, &w->site, &r, NULL, NULL, is_given, &p));
	return p;
}

/* Claim for a new bare resource. */
static enum status
claim(struct world *w, const struct address_plan *p, struct address *out)
{
	struct scope *s = w->f.s;
	char uid[UUID_TEXT];

	uuid7(uid, s->now);
	assert_ok(s, db_exec(s, w->f.db, scope_printf(s, "INSERT INTO resource (uid, kind, locale, state, slug, head_revision, created_at, changed_at)"
	    " VALUES ('%s', 'article', 'en', 'draft', 'x', 1, 1, 1)", uid)));
	return address_claim(s, w->f.db, p, ask(&w->f, "SELECT max(id) FROM resource"), false, out);
}

static void
number_goes_to_the_slug_wherever_the_pattern_has_it(void **state)
{
	static const struct { const char *pattern, *slug, *second; } cases[] = {
		{ "/{slug}", "a", "/a-2" }, { "/x/{slug}.html", "a", "/x/a-2.html" }, { "/{yyyy}/{mm}/{slug}", "a", "/1970/01/a-2" },
		{ "/{slug}/{id}", "a", "/a-2/abcdef01" }, { "/{slug}", "9999999", "/9999999-2" }, { "/{slug}", "a-9999999", "/a-9999999-2" },
		{ "/{slug}", "\xd0\xb4", "/%D0%B4-2" },
	};
	struct world *w = *state;
	struct address got;
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		struct address_plan p = plan(w, cases[i].pattern, cases[i].slug, false);

		assert_ok(w->f.s, claim(w, &p, &got));
		assert_string_equal(got.slug, cases[i].slug);
		assert_ok(w->f.s, claim(w, &p, &got));
		assert_string_equal(got.path, cases[i].second);
		assert_string_equal(got.slug, scope_printf(w->f.s, "%s-2", cases[i].slug));
	}
}

static void
numbered_slug_keeps_the_bound_of_bytes(void **state)
{
	struct world *w = *state;
	struct address_plan p;
	struct address got;
	char slug[201];
	int i;

	memset(slug, 'x', 200);
	slug[200] = '\0';
	p = plan(w, "/{slug}", slug, false);
	for (i = 0; i < 12; i++) {
		assert_ok(w->f.s, claim(w, &p, &got));
		assert_true(strlen(got.slug) <= 200);
	}
	assert_non_null(strstr(got.slug, "-12"));
}

static void
search_takes_few_steps_and_leaves_no_gap(void **state)
{
	struct world *w = *state;
	struct scope *s = w->f.s;
	struct address_plan p = plan(w, "/{slug}", "a", false);
	struct address got;

	assert_ok(s, claim(w, &p, &got));
	assert_ok(s, db_exec(s, w->f.db, "WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)"
	    " INSERT INTO path (path, fold, role, status, was_canonical, created_at) SELECT '/a-' || i, '/a-' || i, 'gone', 410, 0, 1 FROM n"));
	assert_ok(s, claim(w, &p, &got));
	assert_string_equal(got.path, "/a-5001");
	/* A plan that has looked before starts there. */
	p = plan(w, "/{slug}", "a", false);
	assert_ok(s, address_probe(s, w->f.db, &p));
	assert_false(p.has_first);
	assert_int_equal(p.from, 5002);
	assert_ok(s, claim(w, &p, &got));
	assert_string_equal(got.slug, "a-5002");
}

static void
given_address_is_that_or_none(void **state)
{
	struct world *w = *state;
	struct address_plan p = plan(w, "/{slug}", "a", true);
	struct address got;

	assert_ok(w->f.s, claim(w, &p, &got));
	assert_int_equal(claim(w, &p, &got), ERR_SLUG_CONFLICT);
	assert_string_equal(w->f.s->error->field, "slug");
}

static void
pattern_with_the_id_alone_has_no_number(void **state)
{
	struct world *w = *state;
	struct address_plan p = plan(w, "/{id}", "a", false);
	struct address got;

	assert_null(p.stem);
	assert_ok(w->f.s, claim(w, &p, &got));
	assert_string_equal(got.path, "/abcdef01");
	assert_int_equal(claim(w, &p, &got), ERR_SLUG_CONFLICT);
}

#define T(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = { T(number_goes_to_the_slug_wherever_the_pattern_has_it), T(numbered_slug_keeps_the_bound_of_bytes),
		T(search_takes_few_steps_and_leaves_no_gap), T(given_address_is_that_or_none), T(pattern_with_the_id_alone_has_no_number) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
