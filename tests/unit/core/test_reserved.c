/* test_reserved.c - which first segments content may not take. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/reserved.h"

static const struct { const char *name, *extent; } names[] = {
#define RESERVED(name, extent, why) { name, #extent },
#include "core/reserved.def"
#undef RESERVED
};

static void
every_name_is_taken_to_its_extent(void **unused)
{
	struct scope	*s = scope_new("test");

	for (size_t i = 0; i < COUNT(names); i++) {
		bool	is_exact = strcmp(names[i].extent, "EXACT") == 0, is_prefix = strcmp(names[i].extent,
		    "PREFIX") == 0;

		assert_true(path_is_reserved(s, scope_printf(s, "/%s", names[i].name), NULL));
		assert_int_equal(path_is_reserved(s, scope_printf(s, "/%s/below", names[i].name), NULL), !is_exact);
		if (is_prefix)
			assert_true(path_is_reserved(s, scope_printf(s, "/%sxyz", names[i].name), NULL));
		assert_false(path_is_reserved(s, scope_printf(s, "/blog/%s", names[i].name), NULL));
	}
	scope_free(s);
}

static void
spelling_does_not_get_around(void **unused)
{
	static const char *const taken[] = { "/Admin", "/%61dmin", "/ADMIN/x", "//admin", "/./admin",
	    "/x/../admin", "/admin/", "/\xef\xbc\xa1/../API", "/%41PI",
		"/Articles", "/articles/", "/Feed.atom", "/_x", "/%5Fx", "/SITEMAP-1.xml", "/.Well-Known/x",
		"/adm\xc4\xb1n/../admin", "/\xe2\x84\xaa\x6f/../healthz",
		"/", "//", "/..", "/%00", "no-path", "" };
	static const char *const free_paths[] = { "/administrator", "/apis", "/articles/x", "/articlesx",
	    "/tags/en", "/feedback", "/feed-me", "/robots", "/a",
		"/admin%2Fx", "/x/admin", "/loginn" };
	struct scope	*s = scope_new("test");
	const char	*why;

	for (size_t i = 0; i < COUNT(taken); i++) {
		assert_true(path_is_reserved(s, taken[i], &why));
		assert_non_null(why);
	}
	for (size_t i = 0; i < COUNT(free_paths); i++) {
		assert_false(path_is_reserved(s, free_paths[i], &why));
		assert_null(why);
	}
	scope_free(s);
}

static void
language_codes_are_taken_as_whole_first_segments(void **unused)
{
	static const char *const taken[] = { "/en", "/aa", "/zu", "/sq/x", "/DE", "/zh-cn", "/pt-BR/x",
	    "/es-419", "/%65n" };
	static const char *const free_paths[] = { "/xx", "/qq", "/a", "/eng", "/english", "/en-", "/en-g",
	    "/en-usa", "/en_us", "/e1", "/en-1a", "/nb-", "/x/en", "/zz-cn",
		"/ab-cd-ef" };
	struct scope	*s = scope_new("test");

	for (size_t i = 0; i < COUNT(taken); i++)
		assert_true(path_is_reserved(s, taken[i], NULL));
	for (size_t i = 0; i < COUNT(free_paths); i++)
		assert_false(path_is_reserved(s, free_paths[i], NULL));
	scope_free(s);
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(every_name_is_taken_to_its_extent),
		cmocka_unit_test(spelling_does_not_get_around),
		cmocka_unit_test(language_codes_are_taken_as_whole_first_segments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
