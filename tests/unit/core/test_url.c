/* test_url.c - the normal form of a path, public addresses, query strings. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/url.h"
#include "core/corpus.h"

static struct url_form
form_of(struct scope *s, const char *raw)
{
	struct url_form	form;

	if (url_form(s, &form, str_of(raw)) != OK)
		claim_fails("refused: %s (%s)", raw, s->error->detail);
	return form;
}

static void
spellings_of_one_address_share_one_form(void **unused)
{
	static const char *const same[][2] = {
		{ "/", "/" }, { "//", "/" }, { "/.", "/" }, { "/..", "/" }, { "/../../x", "/x" }, { "/a/",
		"/a" }, { "//a///b//", "/a/b" },
		{ "/a/./b/../c", "/a/c" }, { "/a//../b", "/b" }, { "/%2e%2E/a/%2e/b", "/a/b" }, { "/...",
		"/..." }, { "/a/..", "/" },
		{ "/%61%7E%2d", "/a~-" }, { "/a%20b", "/a%20b" }, { "/a b", "/a%20b" }, { "/\xc3\xa9", "/%C3%A9" },
		{ "/%c3%a9", "/%C3%A9" }, { "/e%CC%81", "/%C3%A9" }, { "/e\xcc\x81", "/%C3%A9" },
		{ "/\xe0\xb8\xa0", "/%E0%B8%A0" }, { "/a:b@c!$&'()*+,;=", "/a:b@c!$&'()*+,;=" },
		{ "/%3A%40%2B%3D", "/:@+=" },
		{ "/a%3Fb", "/a%3Fb" }, { "/a?b", "/a%3Fb" }, { "/a#b", "/a%23b" }, { "/a%22<>\"",
		"/a%22%3C%3E%22" }, { "/100%", "/100%25" },
		{ "/%zz%4", "/%25zz%254" }, { "/%25", "/%25" }, { "/%2541", "/%2541" }, { "/%2e%2e%2fa",
		"/..%2Fa" }, { "/a%2Fb", "/a%2Fb" },
		{ "/a%2fb", "/a%2Fb" }, { "/a%5cb", "/a%5Cb" }, { "/a\\b", "/a%5Cb" }, { "/a%3bb", "/a%3Bb" },
		{ "/a;b", "/a;b" },
	};
	struct scope	*s = scope_new("test");

	for (size_t i = 0; i < COUNT(same); i++)
		assert_string_equal(form_of(s, same[i][0]).path, same[i][1]);
	scope_free(s);
}

static void
kept_escapes_do_not_merge_with_accents(void **unused)
{
	struct scope	*s = scope_new("test");

	/* F with a dot above, C with a cedilla: had they been composed, the slash would be gone and a bare '%' left. */
	assert_string_equal(form_of(s, "/a%2F%CC%87").path, "/a%2F%CC%87");
	assert_string_equal(form_of(s, "/a%5C%CC%A7").path, "/a%5C%CC%A7");
	/* The Greek question mark is canonically a semicolon. */
	assert_string_equal(form_of(s, "/a%CD%BE").path, "/a;");
	scope_free(s);
}

static void
old_encodings_are_kept_per_segment(void **unused)
{
	struct scope	*s = scope_new("test");

	assert_string_equal(form_of(s, "/caf%e9").path, "/caf%E9");
	assert_string_equal(form_of(s, "/caf\xe9/e%CC%81").path, "/caf%E9/%C3%A9");
	assert_string_equal(form_of(s, "/CAF%E9").fold, form_of(s, "/caf%e9").fold);
	assert_string_not_equal(form_of(s, "/%E9").fold, form_of(s, "/%C3%A9").fold);
	scope_free(s);
}

static void
control_bytes_are_refused_raw_and_encoded(void **unused)
{
	static const struct str bad[] = { STR("/\0"), STR("/a\n"), STR("/%00"), STR("/%0a"),
	    STR("/%0D%0ALocation:%20x"), STR("/\x7f"),
		STR("/%7F"), STR("/a%1f"), STR("/a\t"), STR(""), STR("a"), STR("http://ex.com/"), STR("*"),
		STR("%2Fa"), STR("\\a") };
	struct scope	*s = scope_new("test");
	struct url_form	 form;

	for (size_t i = 0; i < COUNT(bad); i++)
		assert_int_equal(url_form(s, &form, bad[i]), ERR_MALFORMED_REQUEST);
	scope_free(s);
}

static void
long_paths_are_refused(void **unused)
{
	struct scope	*s = scope_new("test");
	struct url_form	 form;
	struct buf	 plain, escaped, wide;

	buf_init(&plain, s->arena);
	buf_init(&escaped, s->arena);
	buf_init(&wide, s->arena);
	buf_char(&plain, '/');
	buf_char(&escaped, '/');
	buf_char(&wide, '/');
	for (int i = 0; i < URL_PATH_MAX - 1; i++) {
		buf_char(&plain, 'a');
		buf_text(&escaped, "%61");
		if (i % 6 == 0)
			buf_text(&wide, "\xc3\xa9");
	}
	assert_int_equal(url_form(s, &form, buf_as_str(&plain)), OK);
	assert_int_equal(url_form(s, &form, buf_as_str(&escaped)), OK);
	assert_int_equal(strlen(form.path), URL_PATH_MAX);
	assert_int_equal(url_form(s, &form, buf_as_str(&wide)), ERR_URI_TOO_LONG);
	buf_char(&plain, 'a');
	assert_int_equal(url_form(s, &form, buf_as_str(&plain)), ERR_URI_TOO_LONG);
	while (plain.len < 1000000)
		buf_text(&plain, "/../%61");
	assert_int_equal(url_form(s, &form, buf_as_str(&plain)), ERR_URI_TOO_LONG);
	scope_free(s);
}

static void
exactness_and_slash_are_told(void **unused)
{
	static const struct { const char *raw; bool slash, exact; } cases[] = { { "/", false, true }, { "//",
	    false, false },
		{ "/a", false, true }, { "/a/", true, true }, { "/a//", true, false }, { "/%61", false, false },
		{ "/A", false, true },
		{ "/%c3%a9", false, false }, { "/%C3%A9/", true, true }, { "/a/.", false, false }, { "/a/..",
		false, false },
		{ "/a/../", false, false }, { "/%2f", false, false }, { "/%2F", false, true } };
	struct scope	*s = scope_new("test");
	struct url_form	 form;

	for (size_t i = 0; i < COUNT(cases); i++) {
		form = form_of(s, cases[i].raw);
		if (form.had_slash != cases[i].slash || form.is_exact != cases[i].exact)
			claim_fails("%s: slash %d exact %d", cases[i].raw, form.had_slash, form.is_exact);
	}
	scope_free(s);
}

static void
fold_joins_what_differs_by_case_alone(void **unused)
{
	static const char *const joined[][2] = { { "/About", "/ABOUT" }, { "/Stra%C3%9Fe", "/STRASSE" },
	    { "/%CE%A3", "/%CF%82" },
		{ "/%C3%89t%C3%A9", "/E%CC%81T%C3%A9" }, { "/a%2fB", "/A%2FB" } };
	static const char *const apart[][2] = { { "/a%2Fb", "/a/b" }, { "/a", "/b" }, { "/e", "/%C3%A9" },
	    { "/a;b", "/a%3Bb" } };
	struct scope	*s = scope_new("test");

	for (size_t i = 0; i < COUNT(joined); i++)
		assert_string_equal(form_of(s, joined[i][0]).fold, form_of(s, joined[i][1]).fold);
	for (size_t i = 0; i < COUNT(apart); i++)
		assert_string_not_equal(form_of(s, apart[i][0]).fold, form_of(s, apart[i][1]).fold);
	scope_free(s);
}

static uint64_t
next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Bytes that mean something in paths come often. */
static struct str
random_path(struct scope *s, uint64_t *state)
{
	static const char *const pieces[] = { "/", "/", ".", "..", "%", "%2", "%2e", "%2F", "%5C", "%25", "%3b",
	    "\\", "a", "B", "\xc3", "\xa9", "\xcc\x87",
		"%CC", "%87", "e", "%c3%a9", "\xef\xbc\x8f", "?", "#", "@", ":", "//", "evil.com", "%CD%BE",
		"\xe2\x84\xaa", "\xf0\x9f\x98\x80", "%F0" };
	struct buf	 path;
	uint64_t	 n = next_random(state) % 12;

	buf_init(&path, s->arena);
	buf_char(&path, '/');
	while (n-- > 0) {
		if (next_random(state) % 8 == 0)
			buf_char(&path, (char)(next_random(state) % 256));
		else
			buf_text(&path, pieces[next_random(state) % COUNT(pieces)]);
	}
	return buf_as_str(&path);
}

static bool
is_stored_form(const char *path)
{
	size_t	i, n = strlen(path);

	if (path[0] != '/' || (n > 1 && path[n - 1] == '/') || strstr(path, "//") != NULL)
		return false;
	if (strstr(path, "/./") != NULL || strstr(path, "/../") != NULL || str_ends(str_of(path), "/.") ||
	    str_ends(str_of(path), "/.."))
		return false;
	for (i = 0; i < n; i++) {
		if (path[i] == '%' && (strspn(path + i + 1, "0123456789ABCDEF") < 2))
			return false;
		if (path[i] <= 0x20 || path[i] >= 0x7f || strchr("\"<>\\^`{|}?#[]", path[i]) != NULL)
			return false;
	}
	return true;
}

static void
every_form_is_stored_form_and_its_own_form(void **unused)
{
	uint64_t	 state = 88172645463325252u;
	struct scope	*s;
	struct url_form	 once, twice;
	const char	*shown;
	size_t		 accepted = 0;

	for (int i = 0; i < 60000; i++) {
		s = scope_new("test");
		if (url_form(s, &once, random_path(s, &state)) == OK) {
			accepted++;
			assert_true(is_stored_form(once.path));
			assert_int_equal(url_form(s, &twice, str_of(once.path)), OK);
			assert_string_equal(twice.path, once.path);
			assert_string_equal(twice.fold, once.fold);
			assert_true(twice.is_exact && !twice.had_slash);
			shown = url_decode_for_people(s, str_of(once.path));
			assert_true(utf8_valid(str_of(shown)));
			assert_int_equal(url_form(s, &twice, str_of(shown)), OK);
			assert_string_equal(twice.path, once.path);
		}
		scope_free(s);
	}
	assert_true(accepted > 30000);
}

static void
own_urls_lose_scheme_host_and_fragment(void **unused)
{
	static const struct { const char *text, *path, *query; } good[] = {
		{ "about", "/about", "" }, { " /about/ ", "/about", "" }, { "/a?x=1#f", "/a", "x=1" },
		{ "/a#f?x", "/a", "" },
		{ "https://ex.com/a", "/a", "" }, { "http://EX.com:80/a?p=12", "/a", "p=12" },
		{ "HTTPS://ex.com:443", "/", "" },
		{ "https://ex.com?p=1", "/", "p=1" }, { "//ex.com/a", "/a", "" }, { "?p=12", "/", "p=12" },
		{ "/?p=12&q=%C3%A9", "/", "p=12&q=%C3%A9" },
		{ "/a b?q=\xc3\xa9 \"x\"", "/a%20b", "q=%C3%A9%20%22x%22" }, { "\xe0\xb8\xa0", "/%E0%B8%A0",
		"" }, { "/a/%2561", "/a/%2561", "" },
		{ "/wiki:Main", "/wiki:Main", "" }, { "https:\\\\ex.com/a", "/a", "" }, { "a/b:c", "/a/b:c", "" },
	};
	static const char *const bad[] = { "", "  ", "https://evil.com/a", "https://ex.com.evil.com/",
	    "https://ex.com:8443/a", "//evil.com/a",
		"https://ex.com@evil.com/", "https://user@ex.com/", "javascript:alert(1)", "mailto:a@ex.com",
		"ftp://ex.com/a", "/a\nb", "/%00", "/a%0d",
		"https:///", "///evil.com/a", "/\\/evil\rx" };
	struct scope	*s = scope_new("test");
	struct url_form	 form;
	struct str	 query;

	for (size_t i = 0; i < COUNT(good); i++) {
		if (url_form_own(s, &form, &query, str_of(good[i].text), "https://ex.com", "source") != OK)
			claim_fails("refused: %s (%s)", good[i].text, s->error->detail);
		assert_string_equal(form.path, good[i].path);
		assert_true(str_is(query, good[i].query));
	}
	for (size_t i = 0; i < COUNT(bad); i++) {
		if (url_form_own(s, &form, &query, str_of(bad[i]), "https://ex.com", "source") != ERR_INVALID)
			claim_fails("accepted: %s", bad[i]);
		assert_string_equal(s->error->field, "source");
	}
	assert_int_equal(url_form_own(s, &form, &query, STR("http://[::1]:8080/a"), "http://[0:0::1]:8080",
	    "source"), OK);
	assert_int_equal(url_form_own(s, &form, &query, STR("http://b\xc3\xbc" "cher.example/a"),
	    "http://xn--bcher-kva.example", "source"), OK);
	scope_free(s);
}

static void
public_addresses_follow_the_slash_policy(void **unused)
{
	static const struct { const char *path; bool slash; const char *url; } cases[] = {
		{ "/", true, "https://ex.com/" }, { "/", false, "https://ex.com/" }, { "/a", true,
		"https://ex.com/a/" },
		{ "/a", false, "https://ex.com/a" }, { "/a.html", true, "https://ex.com/a.html" }, { "/v1.2",
		true, "https://ex.com/v1.2/" },
		{ "/a.b/c", true, "https://ex.com/a.b/c/" }, { "/.x", true, "https://ex.com/.x/" }, { "/a.",
		true, "https://ex.com/a./" },
		{ "/a.mp3", true, "https://ex.com/a.mp3" }, { "/a.longword", true, "https://ex.com/a.longword/" },
	};
	struct scope	*s = scope_new("test");
	struct str	 none = { NULL, 0 };

	for (size_t i = 0; i < COUNT(cases); i++)
		assert_string_equal(url_public(s, "https://ex.com", cases[i].path, cases[i].slash, none),
		    cases[i].url);
	assert_string_equal(url_public(s, "https://ex.com", "/a", true, STR("b=1&c=%20")),
	    "https://ex.com/a/?b=1&c=%20");
	assert_string_equal(url_public(s, "https://ex.com", "/a", false, STR("b=\r\nX: y\xff")),
	    "https://ex.com/a?b=%0D%0AX:%20y%FF");
	scope_free(s);
}

static void
segments_hold_any_text(void **unused)
{
	struct scope	*s = scope_new("test");

	assert_string_equal(url_segment(s, STR("a/b?c#d%e;f")), "a%2Fb%3Fc%23d%25e;f");
	assert_string_equal(url_segment(s, STR("e\xcc\x81t\xc3\xa9")), "%C3%A9t%C3%A9");
	assert_string_equal(url_segment(s, STR("")), "");
	scope_free(s);
}

static void
people_see_letters_but_no_traps(void **unused)
{
	static const char *const cases[][2] = { { "/%E0%B8%A0/a", "/\xe0\xb8\xa0/a" }, { "/a%2Fb%20c",
	    "/a%2Fb%20c" }, { "/%2541", "/%2541" },
		{ "/%E9", "/%E9" }, { "/%E2%80%AEgpj", "/%E2%80%AEgpj" }, { "/%C2%A0", "/%C2%A0" }, { "/%C2%85",
		"/%C2%85" }, { "/%3F%23", "/%3F%23" },
		{ "/%3Cb%3E", "/%3Cb%3E" }, { "/%F0%9F%98%80", "/\xf0\x9f\x98\x80" }, { "/%E0%80%AF",
		"/%E0%80%AF" } };
	struct scope	*s = scope_new("test");

	for (size_t i = 0; i < COUNT(cases); i++)
		assert_string_equal(url_decode_for_people(s, str_of(cases[i][0])), cases[i][1]);
	scope_free(s);
}

static void
queries_fall_into_pairs(void **unused)
{
	static const struct { const char *name, *value, *raw; } expected[] = { { "a", "1", "a=1" }, { "b", "",
	    "b" }, { "c", "d=e", "c=d=e" },
		{ "f g", "h/", "f+g=%68%2F" }, { "%zz", "%", "%zz=%" }, { "", "x", "=x" } };
	struct scope	*s = scope_new("test");
	struct url_pair	*pairs;
	struct buf	 many;
	size_t		 count;

	url_query(s, STR("a=1&&b&c=d=e&f+g=%68%2F&%zz=%&=x&"), &pairs, &count);
	assert_int_equal(count, COUNT(expected));
	for (size_t i = 0; i < count; i++) {
		assert_true(str_is(pairs[i].name, expected[i].name));
		assert_true(str_is(pairs[i].value, expected[i].value));
		assert_true(str_is(pairs[i].raw, expected[i].raw));
	}
	url_query(s, (struct str){ NULL, 0 }, &pairs, &count);
	assert_int_equal(count, 0);
	buf_init(&many, s->arena);
	for (int i = 0; i < 5000; i++)
		buf_text(&many, "&x=1");
	url_query(s, buf_as_str(&many), &pairs, &count);
	assert_int_equal(count, 100);
	scope_free(s);
}

static void
spellings_of_one_pair_share_one_form(void **unused)
{
	static const struct { const char *form, *spellings[5]; } expected[] = {
		{ "p=12", { "p=12", "%70=12", "p=%31%32" } }, { "q=a%20b", { "q=a b", "q=a+b", "q=a%20b" } }, { "q=a%2Bb", { "q=a%2bb", "q=a%2Bb" } },
		{ "q", { "q", "q=", "%71=" } }, { "q=a/b?c", { "q=a/b?c", "q=a%2Fb%3f%63" } }, { "q=%C3%A9", { "q=\xc3\xa9", "q=%c3%a9", "q=e\xcc\x81", "q=e%CC%81" } },
		{ "a%26b=c%26d==", { "a%26b=c%26d==", "a%26b=c%26d%3d=" } }, { "%3Da=b", { "%3da=b" } }, { "q=%25zz%FF", { "q=%zz\xff", "q=%25zz%ff" } },
		{ "q=%00%0D%0A", { "q=%00%0d%0a" } }, { "=x", { "=x", "=%78" } }, { "", { "", "=" } },
	};
	struct scope *s = scope_new("test");

	for (size_t i = 0; i < COUNT(expected); i++)
		for (size_t j = 0; j < COUNT(expected[i].spellings) && expected[i].spellings[j] != NULL; j++) {
			struct str form = url_pair_form(s, str_of(expected[i].spellings[j]));

			assert_string_equal(str_dup(s->arena, form), expected[i].form);
			assert_true(str_is(url_pair_form(s, form), expected[i].form));
		}
	scope_free(s);
}

static void
pairs_of_a_source_are_sorted_and_each_is_there_once(void **unused)
{
	struct scope *s = scope_new("test");
	const char *pairs;

	assert_true(url_pairs_form(s, &pairs, STR("b=2&&a=%31&b=%32&=&c"), 3 + 1));
	assert_string_equal(pairs, "a=1&b=2&c");
	assert_true(url_pairs_form(s, &pairs, STR("&=&"), 4));
	assert_null(pairs);
	assert_true(url_pairs_form(s, &pairs, (struct str){ NULL, 0 }, 4));
	assert_null(pairs);
	assert_false(url_pairs_form(s, &pairs, STR("a&b&c"), 2));
	scope_free(s);
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(spellings_of_one_address_share_one_form),
		cmocka_unit_test(kept_escapes_do_not_merge_with_accents),
		cmocka_unit_test(old_encodings_are_kept_per_segment),
		cmocka_unit_test(control_bytes_are_refused_raw_and_encoded),
		cmocka_unit_test(long_paths_are_refused),
		cmocka_unit_test(exactness_and_slash_are_told),
		cmocka_unit_test(fold_joins_what_differs_by_case_alone),
		cmocka_unit_test(every_form_is_stored_form_and_its_own_form),
		cmocka_unit_test(own_urls_lose_scheme_host_and_fragment),
		cmocka_unit_test(public_addresses_follow_the_slash_policy),
		cmocka_unit_test(segments_hold_any_text),
		cmocka_unit_test(people_see_letters_but_no_traps),
		cmocka_unit_test(queries_fall_into_pairs),
		cmocka_unit_test(spellings_of_one_pair_share_one_form),
		cmocka_unit_test(pairs_of_a_source_are_sorted_and_each_is_there_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
