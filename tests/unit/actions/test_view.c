/* test_view.c - pages as the public gets them, what they depend on, and when they changed. */
#include "actions/public_site.h"
#include "actions/docs.h"
#include "actions/view.h"
#include "base/clock.h"

static struct site site;
static struct templates *templates;

/* The view of a request target that must be no redirect. */
static struct view
view_of(struct fixture *f, const char *target)
{
	struct str whole = str_of(target), path = str_part(whole, 0, str_find(whole, '?'));
	struct resolution r;
	struct view v;

	assert_ok(f->s, resolve(f->s, f->db, &site, path, str_part(whole, path.len + 1, whole.len), true, &r));
	assert_int_not_equal(r.meaning, MEANING_REDIRECT);
	assert_ok(f->s, view_page(f->s, f->db, &site, templates, &r, &v));
	return v;
}

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

static int
setup(void **state)
{
	struct fixture *f;

	database_setup(state);
	f = *state;
	site = test_site();
	f->s->now = 1000;	/* the theme is as old as the first second */
	assert_ok(f->s, templates_load(f->s, &templates, "templates"));
	f->s->now = clock_now();
	return 0;
}

static int
end(void **state)
{
	templates_free(templates);
	return teardown(state);
}

static void
article_names_its_address_in_one_way_everywhere(void **state)
{
	struct fixture *f = *state;
	struct view v;

	add_resource(f, 1, "article", "published", "/articles/stra%C3%9Fe", "<p>Text</p>");
	v = view_of(f, "/articles/stra%C3%9Fe?utm=x");
	assert_int_equal(v.status, 200);
	assert_string_equal(v.link, "<https://ex.test/articles/stra%C3%9Fe>; rel=\"canonical\"");
	assert_int_equal(count_of(&v, "rel=\"canonical\""), 1);
	assert_true(has(&v, "<link rel=\"canonical\" href=\"https://ex.test/articles/stra%C3%9Fe\">"));
	assert_true(has(&v, "property=\"og:url\" content=\"https://ex.test/articles/stra%C3%9Fe\""));
	assert_true(has(&v, "\"url\":\"https://ex.test/articles/stra%C3%9Fe\""));
	assert_true(has(&v, "<p>Text</p>"));
	assert_null(v.robots);
	assert_false(has(&v, "utm"));
	assert_true(v.is_cacheable && depends(&v, "resource:1") && depends(&v, "settings") && depends(&v, "theme"));
	assert_int_equal(v.modified_at, 1000);
}

static void
override_and_duplicate_move_the_canonical_address_only(void **state)
{
	struct fixture *f = *state;
	struct view v;

	add_resource(f, 1, "article", "published", "/articles/a", "<p>x</p>");
	add_resource(f, 2, "article", "published", "/articles/b", "<p>x</p>");
	exec(f, "UPDATE resource SET live_canonical = 'https://other.test/x' WHERE id = 1; UPDATE resource SET duplicate_of = 1 WHERE id = 2");
	v = view_of(f, "/articles/a");
	assert_string_equal(v.link, "<https://other.test/x>; rel=\"canonical\"");
	assert_null(v.robots);
	v = view_of(f, "/articles/b");
	assert_string_equal(v.link, "<https://ex.test/articles/a>; rel=\"canonical\"");
	assert_int_equal(count_of(&v, "rel=\"canonical\""), 1);
	assert_true(depends(&v, "resource:1"));
	assert_null(v.robots);
	/* An original that left is no address to point at. */
	exec(f, "UPDATE resource SET state = 'withdrawn' WHERE id = 1");
	v = view_of(f, "/articles/b");
	assert_string_equal(v.link, "<https://ex.test/articles/b>; rel=\"canonical\"");
}

static void
noindex_is_said_in_head_and_header(void **state)
{
	struct fixture *f = *state;
	struct view v;

	add_resource(f, 1, "article", "published", "/articles/a", "<p>x</p>");
	exec(f, "UPDATE resource SET live_noindex = 1");
	v = view_of(f, "/articles/a");
	assert_string_equal(v.robots, "noindex");
	assert_true(has(&v, "<meta name=\"robots\" content=\"noindex\">"));
	exec(f, "UPDATE resource SET live_noindex = 0");
	assert_null(view_of(f, "/articles/a").robots);
	site.noindex = true;
	assert_string_equal(view_of(f, "/articles/a").robots, "noindex");
	assert_string_equal(view_of(f, "/").robots, "noindex");
}

static void
tags_and_author_are_named_while_they_are_live(void **state)
{
	struct fixture *f = *state;
	struct view v;

	add_resource(f, 1, "article", "published", "/articles/a", "<p>x</p>");
	add_resource(f, 10, "tag", "published", "/tags/red", "");
	add_resource(f, 11, "tag", "published", "/tags/blue", "");
	add_resource(f, 12, "author", "published", "/authors/ann", "");
	tag_resource(f, 10, 1);
	tag_resource(f, 11, 1);
	exec(f, "UPDATE resource SET live_author = 12 WHERE id = 1");
	v = view_of(f, "/articles/a");
	assert_true(has(&v, "href=\"https://ex.test/tags/red\"") && has(&v, "href=\"https://ex.test/tags/blue\""));
	assert_true(has(&v, "href=\"https://ex.test/authors/ann\"") && has(&v, "Title 12"));
	assert_true(depends(&v, "resource:10") && depends(&v, "resource:11") && depends(&v, "resource:12"));
	exec(f, "UPDATE resource SET state = 'withdrawn', changed_at = 77000 WHERE id IN (10, 12)");
	v = view_of(f, "/articles/a");
	assert_false(has(&v, "/tags/red") || has(&v, "/authors/ann"));
	assert_true(has(&v, "/tags/blue") && depends(&v, "resource:10"));
	/* A page that names something no more changed when that left. */
	assert_int_equal(v.modified_at, 77000);
}

static void
page_shows_the_way_from_its_parents(void **state)
{
	struct fixture *f = *state;
	struct view v;

	add_resource(f, 1, "page", "published", "/a", "<p>x</p>");
	add_resource(f, 2, "page", "published", "/a/b", "<p>x</p>");
	add_resource(f, 3, "page", "published", "/a/b/c", "<p>x</p>");
	exec(f, "UPDATE resource SET parent_id = id - 1 WHERE id > 1");
	v = view_of(f, "/a/b/c");
	assert_true(has(&v, "href=\"https://ex.test/a\"") && has(&v, "href=\"https://ex.test/a/b\""));
	assert_true(depends(&v, "resource:1") && depends(&v, "resource:2") && depends(&v, "resource:3"));
	exec(f, "UPDATE resource SET parent_id = 3 WHERE id = 1");	/* a circle ends */
	assert_int_equal(view_of(f, "/a/b/c").status, 200);
}

static void
texts_are_escaped(void **state)
{
	struct fixture *f = *state;
	struct view v;

	add_resource(f, 1, "article", "published", "/articles/a", "<p>x</p>");
	exec(f, "UPDATE resource SET live_title = '</script><script>alert(1)</script>\"&', live_summary = '<b onclick=\"x\">'");
	v = view_of(f, "/articles/a");
	assert_false(has(&v, "<script>alert") || has(&v, "<b onclick"));
	v = view_of(f, "/");
	assert_false(has(&v, "<script>alert") || has(&v, "<b onclick"));
}

static void
links_are_printed_as_their_targets_are_now(void **state)
{
	struct fixture *f = *state;
	struct view v;

	add_resource(f, 1, "article", "published", "/articles/new", "");
	add_alias(f, "/old", 1, 301, true);
	add_resource(f, 2, "article", "published", "/articles/a",
	    "<p><a href=\"/old/?x=1&amp;y=2#part\">1</a><a href=\"https://EX.test/Old\">2</a><a href=\"https://other.test/old\">3</a>"
	    "<a href=\"/nothing\">4</a><a href=\"#here\">5</a><a href=\"/articles/new\">6</a><a href=\"//ex.test/old\">7</a>"
	    "<a href=\"/media/a.png\">8</a><a href=\"mailto:a@ex.test\">9</a></p>");
	v = view_of(f, "/articles/a");
	assert_true(has(&v, "<a href=\"/articles/new?x=1&amp;y=2#part\">1</a>"));
	assert_true(has(&v, "<a href=\"https://ex.test/articles/new\">2</a>"));
	assert_true(has(&v, "<a href=\"https://other.test/old\">3</a><a href=\"/nothing\">4</a><a href=\"#here\">5</a>"
	    "<a href=\"/articles/new\">6</a><a href=\"//ex.test/old\">7</a><a href=\"/media/a.png\">8</a><a href=\"mailto:a@ex.test\">9</a>"));
	assert_true(depends(&v, "resource:1") && depends(&v, "paths"));
}

static void
many_links_stay_within_the_dependencies(void **state)
{
	struct fixture *f = *state;
	struct buf html;
	struct view v;

	add_many(f, 100, 150);
	buf_init(&html, f->s->arena);
	for (int i = 100; i < 250; i++)
		buf_printf(&html, "<a href=\"/articles/N%d\">x</a>", i);
	add_resource(f, 1, "article", "published", "/articles/a", html.p);
	v = view_of(f, "/articles/a");
	assert_true(v.is_cacheable && depends(&v, "paths"));
	assert_true(has(&v, "\"/articles/n249\""));
}

static void
lists_are_newest_first_with_sticky_in_front(void **state)
{
	struct fixture *f = *state;
	struct view v;

	for (int i = 1; i <= 5; i++)
		add_resource(f, i, "article", i == 3 ? "draft" : "published", scope_printf(f->s, "/articles/a%d", i), "");
	exec(f, "UPDATE resource SET is_sticky = 1 WHERE id = 2");
	site.per_page = 3;
	v = view_of(f, "/");
	assert_true(str_find_str(v.body, STR("/articles/a2\"")) < str_find_str(v.body, STR("/articles/a5\"")));
	assert_true(str_find_str(v.body, STR("/articles/a5\"")) < str_find_str(v.body, STR("/articles/a4\"")));
	assert_false(has(&v, "/articles/a1\"") || has(&v, "/articles/a3\""));
	assert_true(depends(&v, "list:article"));
	assert_true(has(&v, "rel=\"next\" href=\"https://ex.test/?page=2\""));
	assert_string_equal(v.link, "<https://ex.test/>; rel=\"canonical\"");
	v = view_of(f, "/?page=2");
	assert_string_equal(v.link, "<https://ex.test/?page=2>; rel=\"canonical\"");
	assert_true(has(&v, "/articles/a1\"") && has(&v, "rel=\"prev\" href=\"https://ex.test/\""));
	assert_false(has(&v, "rel=\"next\""));
}

static void
list_changed_when_a_member_left(void **state)
{
	struct fixture *f = *state;

	add_resource(f, 1, "article", "published", "/articles/a", "");
	add_resource(f, 2, "article", "published", "/articles/b", "");
	assert_int_equal(view_of(f, "/articles").modified_at, 2000);
	exec(f, "UPDATE resource SET state = 'withdrawn', changed_at = 50000 WHERE id = 1");
	assert_int_equal(view_of(f, "/articles").modified_at, 50000);
	exec(f, "INSERT INTO setting VALUES ('title', 'New', 60000)");
	assert_int_equal(view_of(f, "/articles").modified_at, 60000);
}

static void
nothing_changed_in_the_future(void **state)
{
	struct fixture *f = *state;

	add_resource(f, 1, "article", "published", "/articles/a", "");
	exec(f, "UPDATE resource SET changed_at = 99999999999999");
	assert_true(view_of(f, "/articles/a").modified_at <= f->s->now);
}

static void
tag_and_author_pages_list_what_is_theirs(void **state)
{
	struct fixture *f = *state;
	struct view v;

	add_resource(f, 10, "tag", "published", "/tags/red", "<p>About red</p>");
	add_resource(f, 12, "author", "published", "/authors/ann", "<p>About Ann</p>");
	add_many(f, 100, 12);
	for (int i = 100; i < 111; i++)
		tag_resource(f, 10, i);
	exec(f, "UPDATE resource SET live_author = 12 WHERE id = 105");
	v = view_of(f, "/tags/red");
	assert_true(has(&v, "About red") && has(&v, "/articles/n110\"") && !has(&v, "/articles/n100\"") && !has(&v, "/articles/n111\""));
	assert_true(depends(&v, "tag:10") && depends(&v, "resource:10"));
	v = view_of(f, "/tags/red?page=2");
	assert_true(has(&v, "/articles/n100\"") && !has(&v, "About red"));
	assert_string_equal(v.link, "<https://ex.test/tags/red?page=2>; rel=\"canonical\"");
	v = view_of(f, "/authors/ann");
	assert_true(has(&v, "About Ann") && has(&v, "/articles/n105\"") && !has(&v, "/articles/n106\""));
	assert_true(depends(&v, "author:12"));
}

static void
terms_count_what_is_live_and_leave_out_the_empty(void **state)
{
	struct fixture *f = *state;
	struct view v;

	add_resource(f, 1, "article", "published", "/articles/a", "");
	add_resource(f, 10, "tag", "published", "/tags/red", "");
	add_resource(f, 11, "tag", "published", "/tags/empty", "");
	tag_resource(f, 10, 1);
	v = view_of(f, "/tags");
	assert_true(has(&v, "https://ex.test/tags/red\"") && !has(&v, "/tags/empty"));
	assert_true(depends(&v, "list:tag") && depends(&v, "list:article"));
	assert_int_equal(view_of(f, "/authors").status, 200);
}

static void
error_pages_have_their_status_and_no_canonical(void **state)
{
	struct fixture *f = *state;
	struct view v;

	add_resource(f, 1, "article", "gone", "/articles/a", "");
	v = view_of(f, "/nothing");
	assert_int_equal(v.status, 404);
	assert_false(v.is_cacheable);
	assert_null(v.link);
	assert_string_equal(v.robots, "noindex");
	assert_false(has(&v, "canonical"));
	v = view_of(f, "/articles/a");
	assert_int_equal(v.status, 410);
	assert_null(v.link);
}

static void
manual_has_an_entry_for_every_error(void **state)
{
	struct fixture *f = *state;
	struct view v;

	assert_ok(f->s, view_docs(f->s, f->db, &site, templates, "templates/docs", "errors", &v));
	for (enum status e = OK + 1; e < STATUS_COUNT; e++)
		assert_true(has(&v, scope_printf(f->s, "id=\"%s\"", status_info(e)->code)));
	assert_string_equal(v.link, "<https://ex.test/docs/errors>; rel=\"canonical\"");
}

static void
manual_pages_are_rendered_and_link_to_errors_that_exist(void **state)
{
	struct fixture *f = *state;
	static const char *const names[] = { "idempotency", "urls" };

	for (size_t i = 0; i < COUNT(names); i++) {
		struct view v;
		struct str rest, code;

		assert_ok(f->s, view_docs(f->s, f->db, &site, templates, "templates/docs", names[i], &v));
		assert_int_equal(count_of(&v, "<h1"), 1);
		assert_true(has(&v, "<table") && !has(&v, "<td>|"));
		rest = v.body;
		for (size_t at; (at = str_find_str(rest, STR("/docs/errors#"))) < rest.len;) {
			bool is_known = false;

			rest = str_part(rest, at + strlen("/docs/errors#"), rest.len);
			code = str_part(rest, 0, str_find(rest, '"'));
			for (enum status e = OK + 1; e < STATUS_COUNT; e++)
				is_known = is_known || str_is(code, status_info(e)->code);
			assert_true(is_known);
		}
	}
}

static void
manual_reads_no_other_files(void **state)
{
	struct fixture *f = *state;
	static const char *const names[] = { "", "..", "../../README", "Urls", "urls.md", "/etc/passwd", "none",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" };
	struct view v;

	for (size_t i = 0; i < COUNT(names); i++)
		assert_int_equal(view_docs(f->s, f->db, &site, templates, "templates/docs", names[i], &v), ERR_NOT_FOUND);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, end)
		T(article_names_its_address_in_one_way_everywhere),
		T(override_and_duplicate_move_the_canonical_address_only),
		T(noindex_is_said_in_head_and_header),
		T(tags_and_author_are_named_while_they_are_live),
		T(page_shows_the_way_from_its_parents),
		T(texts_are_escaped),
		T(links_are_printed_as_their_targets_are_now),
		T(many_links_stay_within_the_dependencies),
		T(lists_are_newest_first_with_sticky_in_front),
		T(list_changed_when_a_member_left),
		T(nothing_changed_in_the_future),
		T(tag_and_author_pages_list_what_is_theirs),
		T(terms_count_what_is_live_and_leave_out_the_empty),
		T(error_pages_have_their_status_and_no_canonical),
		T(manual_has_an_entry_for_every_error),
		T(manual_pages_are_rendered_and_link_to_errors_that_exist),
		T(manual_reads_no_other_files),
	};
	return cmocka_run_group_tests_name("view", tests, NULL, NULL);
}
