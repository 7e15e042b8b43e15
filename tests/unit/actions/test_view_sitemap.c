/* test_view_sitemap.c - what the sitemap lists, in which part, and what each part hangs on. */
#include "actions/public_site.h"
#include "actions/view.h"

static struct site site;

static bool
has(const struct view *v, const char *text)
{
	return str_find_str(v->body, str_of(text)) < v->body.len;
}

static int
count_of(const struct view *v, const char *text)
{
	struct str rest = v->body, needle = str_of(text);
	int n = 0;

	for (size_t at; (at = str_find_str(rest, needle)) < rest.len; n++)
		rest = str_part(rest, at + needle.len, rest.len);
	return n;
}

static bool
depends(const struct view *v, const char *name)
{
	for (size_t i = 0; i < v->depends_count; i++)
		if (strcmp(v->depends[i], name) == 0)
			return true;
	return false;
}

static struct view
sitemap(struct fixture *f, const char *part)
{
	struct view v;

	assert_ok(f->s, view_sitemap(f->s, f->db, &site, part, &v));
	assert_string_equal(v.type, "application/xml; charset=utf-8");
	return v;
}

static enum status
part_status(struct fixture *f, const char *part)
{
	struct view v;

	return view_sitemap(f->s, f->db, &site, part, &v);
}

static void
add_part(struct fixture *f, int first, int changed_at)
{
	exec(f, "INSERT INTO sitemap_part VALUES (%d, %d, %d)", first, first + 9999, changed_at);
}

static int
setup(void **state)
{
	database_setup(state);
	site = test_site();
	return 0;
}

static void
empty_site_lists_its_home_page(void **state)
{
	struct fixture *f = *state;
	struct view v = sitemap(f, NULL);

	assert_true(has(&v, "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">"));
	assert_int_equal(count_of(&v, "<loc>"), 1);
	assert_true(has(&v, "<loc>https://ex.test/</loc>"));
	assert_false(has(&v, "lastmod"));
	assert_true(depends(&v, "sitemap") && depends(&v, "settings"));
}

static void
only_what_is_live_indexable_unique_and_self_canonical_is_listed(void **state)
{
	struct fixture *f = *state;
	struct view v;

	add_resource(f, 1, "article", "published", "/articles/yes", "");
	add_resource(f, 2, "article", "draft", "/articles/draft", "");
	add_resource(f, 3, "article", "scheduled", "/articles/scheduled", "");
	add_resource(f, 4, "article", "withdrawn", "/articles/withdrawn", "");
	add_resource(f, 5, "article", "gone", "/articles/gone", "");
	add_resource(f, 6, "article", "published", "/articles/noindex", "");
	add_resource(f, 7, "article", "published", "/articles/override", "");
	add_resource(f, 8, "article", "published", "/articles/duplicate", "");
	add_resource(f, 9, "page", "published", "/yes", "");
	add_resource(f, 10, "tag", "published", "/tags/yes", "");
	add_resource(f, 11, "tag", "published", "/tags/empty", "");
	add_resource(f, 12, "author", "published", "/authors/yes", "");
	add_resource(f, 13, "author", "published", "/authors/idle", "");
	add_alias(f, "/alias", 1, 301, true);
	add_external(f, "/external", "https://other.test/", 301);
	tag_resource(f, 10, 1);
	exec(f, "UPDATE resource SET live_noindex = 1 WHERE id = 6; UPDATE resource SET live_canonical = 'https://o.test/' WHERE id = 7;"
	    "UPDATE resource SET duplicate_of = 1 WHERE id = 8; UPDATE resource SET live_author = 12 WHERE id = 1");
	add_part(f, 1, 5000);
	v = sitemap(f, NULL);
	assert_int_equal(count_of(&v, "<loc>"), 5);
	assert_true(has(&v, "<loc>https://ex.test/</loc>") && has(&v, "<loc>https://ex.test/articles/yes</loc>") &&
	    has(&v, "<loc>https://ex.test/yes</loc>") && has(&v, "<loc>https://ex.test/tags/yes</loc>") &&
	    has(&v, "<loc>https://ex.test/authors/yes</loc>"));
	assert_true(has(&v, "<loc>https://ex.test/articles/yes</loc><lastmod>1970-01-01T00:00:01Z</lastmod>"));
	assert_true(depends(&v, "sitemap:1") && depends(&v, "list:article"));
	assert_true(v.modified_at >= 5000);
}

static void
addresses_are_written_as_pages_write_them(void **state)
{
	struct fixture *f = *state;
	struct view v;

	add_resource(f, 1, "article", "published", "/articles/a&b!(c)", "");
	add_part(f, 1, 1);
	site.always_slash = true;
	v = sitemap(f, NULL);
	assert_true(has(&v, "<loc>https://ex.test/articles/a&amp;b!(c)/</loc>"));
}

static void
second_part_makes_an_index(void **state)
{
	struct fixture *f = *state;
	struct view v;

	add_resource(f, 1, "article", "published", "/articles/a", "");
	add_resource(f, 10001, "article", "published", "/articles/b", "");
	add_part(f, 1, 7000);
	add_part(f, 10001, 8000);
	v = sitemap(f, NULL);
	assert_true(has(&v, "<sitemapindex "));
	assert_true(has(&v, "<loc>https://ex.test/sitemap-1.xml</loc><lastmod>1970-01-01T00:00:07Z</lastmod>"));
	assert_true(has(&v, "<loc>https://ex.test/sitemap-10001.xml</loc><lastmod>1970-01-01T00:00:08Z</lastmod>"));
	assert_true(depends(&v, "sitemap") && depends(&v, "sitemap:1") && depends(&v, "sitemap:10001"));
	v = sitemap(f, "1");
	assert_int_equal(count_of(&v, "<loc>"), 2);
	assert_true(has(&v, "<loc>https://ex.test/</loc>") && depends(&v, "sitemap:1"));
	v = sitemap(f, "10001");
	assert_int_equal(count_of(&v, "<loc>"), 1);
	assert_true(has(&v, "<loc>https://ex.test/articles/b</loc>"));
	assert_false(depends(&v, "sitemap:1") || depends(&v, "list:article"));
}

static void
empty_part_is_neither_listed_nor_there(void **state)
{
	struct fixture *f = *state;
	struct view v;

	add_resource(f, 1, "article", "withdrawn", "/articles/a", "");
	add_resource(f, 10001, "article", "withdrawn", "/articles/b", "");
	add_resource(f, 20001, "article", "published", "/articles/c", "");
	add_part(f, 1, 1);
	add_part(f, 10001, 1);
	add_part(f, 20001, 1);
	v = sitemap(f, NULL);
	assert_int_equal(count_of(&v, "<loc>"), 2);
	assert_true(has(&v, "/sitemap-1.xml<") && has(&v, "/sitemap-20001.xml<"));
	assert_int_equal(part_status(f, "10001"), ERR_NOT_FOUND);
}

static void
part_has_one_name_only(void **state)
{
	struct fixture *f = *state;
	static const char *const names[] = { "0", "01", "-1", "+1", "2", "9999", "10001", "", "1x", "99999999999999999999", "index" };

	add_resource(f, 1, "article", "published", "/articles/a", "");
	add_part(f, 1, 1);
	assert_int_equal(part_status(f, "1"), OK);
	for (size_t i = 0; i < COUNT(names); i++)
		assert_int_equal(part_status(f, names[i]), ERR_NOT_FOUND);
}

static void
part_of_the_longest_addresses_stays_below_the_limit(void **state)
{
	struct fixture *f = *state;
	struct view v;

	/* 9,900 addresses that escaping makes nearly as long as it may, 50 that it makes too long, and 50 that are too long unescaped. */
	exec(f, "BEGIN; WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10000) "
	    "INSERT INTO resource (id, uid, kind, locale, state, slug, head_revision, live_revision, first_published_at, live_changed_at, "
	    "created_at, changed_at) SELECT i, printf('%%036d', i), 'page', 'en', 'published', 'n', 1, 1, 1, 1, 1, 1 FROM n;"
	    "INSERT INTO path (path, fold, role, resource_id, was_canonical, created_at) SELECT "
	    "'/' || id || CASE WHEN id <= 9900 THEN replace(hex(zeroblob(400)), '00', '&&') "
	    "WHEN id <= 9950 THEN replace(hex(zeroblob(500)), '00', '&&') ELSE replace(hex(zeroblob(995)), '00', 'ab') END, id, 'canonical', id, 1, 1 FROM resource; COMMIT");
	add_part(f, 1, 1);
	site.public_origin = "https://a-host-name-that-is-not-short-at-all-but-allowed.ex.test";
	v = sitemap(f, NULL);
	assert_true(v.body.len < 50 * 1024 * 1024);
	assert_int_equal(count_of(&v, "<loc>"), 1 + 9900);
	assert_true(v.body.len > 38 * 1000 * 1000);
	assert_true(arena_used(f->s->arena) < (size_t)200 * 1024 * 1024);
}

static void
part_of_ten_thousand_is_small(void **state)
{
	struct fixture *f = *state;
	struct view v;

	add_many(f, 1, 10000);
	add_part(f, 1, 1);
	v = sitemap(f, NULL);
	assert_int_equal(count_of(&v, "<loc>"), 10001);
	assert_true(v.body.len < 2 * 1024 * 1024);
}

static void
robots_names_the_sitemap_and_follows_the_setting(void **state)
{
	struct fixture *f = *state;
	struct view v;

	assert_ok(f->s, view_robots(f->s, f->db, &site, &v));
	assert_true(has(&v, "Sitemap: https://ex.test/sitemap.xml\n") && has(&v, "Disallow: /admin/\n"));
	assert_false(has(&v, "Disallow: /\n"));
	assert_true(depends(&v, "settings"));
	site.noindex = true;
	assert_ok(f->s, view_robots(f->s, f->db, &site, &v));
	assert_true(has(&v, "Disallow: /\n"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(empty_site_lists_its_home_page),
		T(only_what_is_live_indexable_unique_and_self_canonical_is_listed),
		T(addresses_are_written_as_pages_write_them),
		T(second_part_makes_an_index),
		T(empty_part_is_neither_listed_nor_there),
		T(part_has_one_name_only),
		T(part_of_the_longest_addresses_stays_below_the_limit),
		T(part_of_ten_thousand_is_small),
		T(robots_names_the_sitemap_and_follows_the_setting),
	};
	return cmocka_run_group_tests_name("view_sitemap", tests, NULL, NULL);
}
