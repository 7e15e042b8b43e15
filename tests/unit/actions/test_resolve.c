/* test_resolve.c - what an address means. */
#include "actions/public_site.h"
#include "actions/resolve.h"

static struct site site;

/* "200", "404", "410", "301 https://..." for a request target at the canonical host. */
static const char *
ask_at(struct fixture *f, const char *target, bool host_is_canonical)
{
	struct str whole = str_of(target), path = str_part(whole, 0, str_find(whole, '?'));
	struct str query = str_part(whole, path.len + 1, whole.len);
	struct resolution r;
	enum status status = resolve(f->s, f->db, &site, path, query, host_is_canonical, &r);

	if (status != OK)
		return status_info(status)->code;
	assert_true((r.meaning == MEANING_REDIRECT) == (r.location != NULL));
	assert_true((r.meaning == MEANING_PAGE) == (r.status == 200));
	assert_true((r.meaning == MEANING_NONE) == (r.status == 404));
	return r.location != NULL ? scope_printf(f->s, "%d %s", r.status, r.location) : scope_printf(f->s, "%d", r.status);
}

static const char *
answer(struct fixture *f, const char *target)
{
	return ask_at(f, target, true);
}

#define says(target, expected) assert_string_equal(answer(f, target), expected)

static int
setup(void **state)
{
	struct fixture *f;

	database_setup(state);
	f = *state;
	site = test_site();
	add_resource(f, 1, "article", "published", "/articles/hello", "<p>x</p>");
	add_resource(f, 2, "article", "draft", "/articles/draft", "");
	add_resource(f, 3, "article", "withdrawn", "/articles/withdrawn", "");
	add_resource(f, 4, "article", "gone", "/articles/gone", "");
	add_resource(f, 5, "article", "scheduled", "/articles/scheduled", "");
	add_resource(f, 6, "article", "published", "/articles/stra%C3%9Fe", "");
	add_resource(f, 10, "tag", "published", "/tags/red", "");
	add_resource(f, 11, "tag", "published", "/tags/empty", "");
	add_resource(f, 12, "author", "published", "/authors/ann", "");
	return 0;
}

static void
canonical_spelling_is_a_page(void **state)
{
	struct fixture *f = *state;

	says("/articles/hello", "200");
	says("/articles/stra%C3%9Fe", "200");
	says("/", "200");
	says("/articles", "200");
	says("/tags", "200");
	says("/authors", "200");
	says("/authors/ann", "200");
}

static void
undeclared_parameters_do_not_matter(void **state)
{
	struct fixture *f = *state;

	says("/articles/hello?utm_source=x", "200");
	says("/articles/hello?page=2", "200");
	says("/articles/hello?page=0", "200");
	says("/articles/hello?", "200");
	says("/?utm=x&&=", "200");
}

static void
every_other_spelling_is_one_redirect(void **state)
{
	struct fixture *f = *state;
	const char *const spellings[] = { "/articles/hello/", "//articles//hello", "/Articles/HELLO", "/articles/%68ello", "/articles/./hello",
		"/articles/x/../hello", "/../articles/hello", "/articles/hello///", "/%61rticles/Hello/" };

	for (size_t i = 0; i < COUNT(spellings); i++)
		says(spellings[i], "301 https://ex.test/articles/hello");
	says("/articles/stra%c3%9fe", "301 https://ex.test/articles/stra%C3%9Fe");
	says("/articles/STRASSE", "301 https://ex.test/articles/stra%C3%9Fe");
	says("/articles/stra\xC3\x9F" "e", "301 https://ex.test/articles/stra%C3%9Fe");
	says("/Articles/", "301 https://ex.test/articles");
	says("//", "301 https://ex.test/");
	says("/.", "301 https://ex.test/");
}

static void
redirect_keeps_the_query_byte_for_byte(void **state)
{
	struct fixture *f = *state;

	says("/articles/hello/?source=g&x=%2f+a&&y", "301 https://ex.test/articles/hello?source=g&x=%2f+a&&y");
	says("/articles/hello/?a=%zz%&b=|^`{}\\\"<>\'&c=\xC3\xA9#f g", "301 https://ex.test/articles/hello?a=%zz%&b=|^`{}\\\"<>\'&c=%C3%A9%23f%20g");
	says("/articles/hello/?page=1", "301 https://ex.test/articles/hello?page=1");
}

static void
what_is_not_live_is_not_there(void **state)
{
	struct fixture *f = *state;

	says("/articles/draft", "404");
	says("/articles/scheduled", "404");
	says("/articles/withdrawn", "404");
	says("/articles/withdrawn/", "404");
	says("/articles/gone", "410");
	says("/articles/GONE/", "410");
	says("/articles/never", "404");
	says("/admin", "404");
	says("/articles/hello/more", "404");
}

static void
malformed_paths_are_refused(void **state)
{
	struct fixture *f = *state;

	says("/%00", "malformed_request");
	says("/a%0d%0aSet-Cookie:x", "malformed_request");
	says("/a\x01", "malformed_request");
	says("x", "malformed_request");
}

static void
alias_leads_to_its_resource_in_one_hop(void **state)
{
	struct fixture *f = *state;

	add_alias(f, "/2020/hello", 1, 301, true);
	add_alias(f, "/temp", 1, 302, false);
	add_alias(f, "/old-gone", 4, 301, true);
	add_alias(f, "/old-draft", 2, 301, true);
	says("/2020/hello", "301 https://ex.test/articles/hello");
	says("/2020/HELLO/?a=b", "301 https://ex.test/articles/hello?a=b");
	says("/temp", "302 https://ex.test/articles/hello");
	says("/TEMP/", "302 https://ex.test/articles/hello");
	says("/old-gone", "410");
	says("/old-draft", "404");
}

static void
ambiguous_fold_is_nothing(void **state)
{
	struct fixture *f = *state;

	add_alias(f, "/Two", 1, 301, false);
	add_alias(f, "/TWO", 6, 301, false);
	says("/Two", "301 https://ex.test/articles/hello");
	says("/TWO", "301 https://ex.test/articles/stra%C3%9Fe");
	says("/two", "404");
}

static void
query_source_comes_before_the_path(void **state)
{
	struct fixture *f = *state;

	add_query(f, "/", "p=1", 1, NULL);
	add_query(f, "/", "p=4", 4, NULL);
	add_query(f, "/", "p=2", 2, NULL);
	add_query(f, "/index.php", "p=1", 1, NULL);
	add_query(f, "/", "feed=x", 0, "https://feeds.test/a?b=c");
	says("/?p=1", "301 https://ex.test/articles/hello");
	says("/?utm=2&p=1&x=y", "301 https://ex.test/articles/hello?utm=2&x=y");
	says("/?p=4", "410");
	says("/?p=2", "404");
	says("/?p=3", "200");
	says("/index.php?p=1", "301 https://ex.test/articles/hello");
	says("/index.php", "404");
	says("/?feed=x&k=v", "301 https://feeds.test/a?b=c&k=v");
}

static void
external_rows_lead_anywhere_but_never_in_circles(void **state)
{
	struct fixture *f = *state;

	add_external(f, "/away", "https://other.test/x?y=1#part", 308);
	add_external(f, "/list", "/Articles/", 301);
	add_external(f, "/to-alias", "/was", 301);
	add_alias(f, "/was", 1, 301, true);
	add_external(f, "/own", "http://EX.test/articles/hello/", 307);
	add_external(f, "/a", "/b", 301);
	add_external(f, "/b", "/a", 301);
	add_external(f, "/self", "https://ex.test/self", 301);
	add_external(f, "/file", "/media/0.png", 301);
	add_external(f, "/dead", "/nowhere", 301);
	add_external(f, "/bad", "javascript:alert(1)", 301);
	add_external(f, "/net", "//evil.test/x", 301);
	says("/away", "308 https://other.test/x?y=1#part");
	says("/away?z=2", "308 https://other.test/x?y=1&z=2#part");
	says("/list?page=1&k=v", "301 https://ex.test/articles?k=v");
	says("/to-alias", "301 https://ex.test/articles/hello");
	says("/own", "307 https://ex.test/articles/hello");
	says("/a", "404");
	says("/self", "404");
	says("/file", "301 https://ex.test/media/0.png");
	says("/dead", "404");
	says("/bad", "404");
	/* Only absolute addresses and our own are ever written; this one says evil.test, so it leads there or nowhere, but not by accident. */
	assert_string_not_equal(answer(f, "/net"), "200");
}

static void
temporary_step_makes_the_whole_way_temporary(void **state)
{
	struct fixture *f = *state;

	add_external(f, "/one", "/two", 301);
	add_alias(f, "/two", 1, 302, false);
	add_external(f, "/three", "/four", 302);
	add_alias(f, "/four", 1, 301, true);
	says("/one", "302 https://ex.test/articles/hello");
	says("/three", "302 https://ex.test/articles/hello");
}

static void
query_source_at_the_new_path_is_part_of_the_same_hop(void **state)
{
	struct fixture *f = *state;

	add_alias(f, "/old", 1, 301, true);
	add_query(f, "/articles/hello", "v=2", 6, NULL);
	says("/old?v=2&k=w", "301 https://ex.test/articles/stra%C3%9Fe?k=w");
	says("/articles/hello?v=2", "301 https://ex.test/articles/stra%C3%9Fe");
}

static void
gone_rows_and_legal_reasons(void **state)
{
	struct fixture *f = *state;

	add_gone(f, "/spam", 410);
	add_gone(f, "/court", 451);
	says("/spam", "410");
	says("/spam/?a", "410");
	says("/court", "451");
}

static void
rules_come_last_and_resolve_to_the_end(void **state)
{
	struct fixture *f = *state;

	add_rule(f, "/blog/:slug", "/articles/:slug", 301);
	add_rule(f, "/articles/*", "/elsewhere", 301);
	add_rule(f, "/x/*", "https://other.test/*", 302);
	add_rule(f, "/wp-admin/*", "", 410);
	says("/blog/hello", "301 https://ex.test/articles/hello");
	says("/blog/HELLO?k=v", "301 https://ex.test/articles/hello?k=v");
	says("/blog/gone", "410");
	says("/blog/draft", "404");
	says("/articles/draft", "404");
	says("/x/a/b?c=d", "302 https://other.test/a/b?c=d");
	says("/wp-admin/x.php", "410");
}

static void
pages_are_numbered_from_two_to_the_end(void **state)
{
	struct fixture *f = *state;

	site.per_page = 10;
	add_many(f, 100, 21);	/* with the two of the set-up: 23, three pages */
	says("/?page=2", "200");
	says("/articles?page=3", "200");
	says("/articles?page=3&utm=x", "200");
	says("/articles?utm=x&page=3", "200");
	says("/articles?page=4", "404");
	says("/articles?page=0", "404");
	says("/articles?page=00", "404");
	says("/articles?page=-1", "404");
	says("/articles?page=two", "404");
	says("/articles?page=2x", "404");
	says("/articles?page=+2", "404");
	says("/articles?page=", "404");
	says("/articles?page", "404");
	says("/articles?page=99999999999999999999", "404");
	says("/articles?page=1001", "404");
	says("/articles?page=1", "301 https://ex.test/articles");
	says("/articles?page=01", "301 https://ex.test/articles");
	says("/articles?page=02", "301 https://ex.test/articles?page=2");
	says("/articles?page=%32", "301 https://ex.test/articles?page=2");
	says("/articles?a=1&page=02&b=2", "301 https://ex.test/articles?a=1&page=2&b=2");
	says("/articles?a=1&page=1&b=2", "301 https://ex.test/articles?a=1&b=2");
	says("/articles?page=2&page=3", "301 https://ex.test/articles?page=2");
	says("/Articles/?page=02", "301 https://ex.test/articles?page=2");
	says("/Articles/?page=4", "404");
}

static void
numbered_pages_end_at_a_thousand(void **state)
{
	struct fixture *f = *state;

	site.per_page = 1;
	add_many(f, 100, 1500);
	says("/articles?page=1000", "200");
	says("/articles?page=1001", "404");
}

static void
tag_without_members_is_nothing_and_an_author_without_is_a_page(void **state)
{
	struct fixture *f = *state;

	says("/tags/empty", "404");
	says("/tags/red", "404");
	tag_resource(f, 10, 1);
	says("/tags/red", "200");
	says("/tags/RED/", "301 https://ex.test/tags/red");
	says("/tags/red?page=1", "301 https://ex.test/tags/red");
	says("/tags/red?page=2", "404");
	says("/authors/ann?page=2", "404");
}

static void
slash_policy_decides_which_form_is_the_address(void **state)
{
	struct fixture *f = *state;

	add_resource(f, 20, "page", "published", "/file.html", "");
	site.always_slash = true;
	says("/articles/hello/", "200");
	says("/articles/hello", "301 https://ex.test/articles/hello/");
	says("/articles/HELLO?x=y", "301 https://ex.test/articles/hello/?x=y");
	says("/articles/", "200");
	says("/articles", "301 https://ex.test/articles/");
	says("/", "200");
	says("/file.html", "200");
	says("/file.html/", "301 https://ex.test/file.html");
}

static void
other_host_is_corrected_in_the_same_hop(void **state)
{
	struct fixture *f = *state;

	add_alias(f, "/old", 1, 301, true);
	assert_string_equal(ask_at(f, "/articles/hello", false), "301 https://ex.test/articles/hello");
	assert_string_equal(ask_at(f, "/OLD/?k=v", false), "301 https://ex.test/articles/hello?k=v");
	assert_string_equal(ask_at(f, "/articles?page=1", false), "301 https://ex.test/articles");
	assert_string_equal(ask_at(f, "/articles/gone", false), "410");
	assert_string_equal(ask_at(f, "/articles/draft", false), "404");
}

static void
location_is_always_on_a_known_host(void **state)
{
	struct fixture *f = *state;
	const char *const targets[] = { "//evil.test/articles/hello", "/\\evil.test", "/%2F%2Fevil.test", "/%5Cevil.test/", "//evil.test/%2e%2e",
		"/https://evil.test/", "///", "/.//evil.test/..", "/@evil.test/..", "/%09/evil.test/..", "/;/evil.test/.." };

	add_rule(f, "/away/*", "/*", 301);
	for (size_t i = 0; i < COUNT(targets); i++) {
		const char *a = answer(f, targets[i]), *location = strchr(a, ' ');

		if (location != NULL)
			assert_memory_equal(location + 1, ORIGIN "/", strlen(ORIGIN "/"));
		a = answer(f, scope_printf(f->s, "/away%s", targets[i]));
		location = strchr(a, ' ');
		if (location != NULL)
			assert_memory_equal(location + 1, ORIGIN "/", strlen(ORIGIN "/"));
	}
}

static void
following_a_redirect_never_redirects_again(void **state)
{
	struct fixture *f = *state;
	const char *const targets[] = { "/Articles/Hello/?a=b", "/old?page=1", "/to-list?page=01&k", "/q?p=9&page=02", "/articles?page=%31", "/blog/HELLO/?x",
		"//?page=1&k=%7e", "/old?k=\"<>\\^`{|}", "/articles/hello/?\xC3\xA9=1" };

	add_many(f, 100, 30);
	add_alias(f, "/old", 12, 301, true);
	add_external(f, "/to-list", "/articles/?page=1", 301);
	add_query(f, "/q", "p=9", 0, "/articles?k=v");
	add_rule(f, "/blog/*", "/articles/*/", 301);
	for (size_t i = 0; i < COUNT(targets); i++) {
		const char *a = answer(f, targets[i]);

		assert_memory_equal(a, "301 " ORIGIN, strlen("301 " ORIGIN));
		assert_string_equal(answer(f, a + strlen("301 " ORIGIN)), "200");
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(canonical_spelling_is_a_page),
		T(undeclared_parameters_do_not_matter),
		T(every_other_spelling_is_one_redirect),
		T(redirect_keeps_the_query_byte_for_byte),
		T(what_is_not_live_is_not_there),
		T(malformed_paths_are_refused),
		T(alias_leads_to_its_resource_in_one_hop),
		T(ambiguous_fold_is_nothing),
		T(query_source_comes_before_the_path),
		T(external_rows_lead_anywhere_but_never_in_circles),
		T(temporary_step_makes_the_whole_way_temporary),
		T(query_source_at_the_new_path_is_part_of_the_same_hop),
		T(gone_rows_and_legal_reasons),
		T(rules_come_last_and_resolve_to_the_end),
		T(pages_are_numbered_from_two_to_the_end),
		T(numbered_pages_end_at_a_thousand),
		T(tag_without_members_is_nothing_and_an_author_without_is_a_page),
		T(slash_policy_decides_which_form_is_the_address),
		T(other_host_is_corrected_in_the_same_hop),
		T(location_is_always_on_a_known_host),
		T(following_a_redirect_never_redirects_again),
	};
	return cmocka_run_group_tests_name("resolve", tests, NULL, NULL);
}
