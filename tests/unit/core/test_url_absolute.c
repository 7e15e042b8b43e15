/* test_url_absolute.c - absolute URLs: read as browsers read them, printed in strict ASCII. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/url.h"
#include "core/corpus.h"

static void
urls_are_printed_in_strict_ascii(void **unused)
{
	static const char *const cases[][2] = {
		{ "https://ex.com", "https://ex.com/" }, { " HTTP://EX.com:80/a/../b?c#d\n", "http://ex.com/b?c#d" },
		{ "https:\\\\ex.com\\a\tb", "https://ex.com/ab" },
		{ "https://b\xc3\xbc" "cher.example/\xc3\xa9?\xc3\xa9#\xc3\xa9",
		    "https://xn--bcher-kva.example/%C3%A9?%C3%A9#%C3%A9" }, { "http://ex.com:443/",
		    "http://ex.com:443/" },
		{ "http://ex.com:/", "http://ex.com/" }, { "http://ex.com:00080/", "http://ex.com/" },
		{ "http://0x7f.1/", "http://127.0.0.1/" },
		{ "http://2130706433", "http://127.0.0.1/" }, { "http://017700000001", "http://127.0.0.1/" },
		{ "http://1.2.3.4.", "http://1.2.3.4/" },
		{ "http://[::FFFF:1.2.3.4]/", "http://[::ffff:102:304]/" }, { "http://[1:0:0:2::]",
		"http://[1:0:0:2::]/" },
		{ "http://[0:0:0:0:0:0:0:0]", "http://[::]/" }, { "http://ex%41mple.com", "http://example.com/" },
		{ "http://ex.com/a%2fb%zz|^[]{}`\"", "http://ex.com/a%2fb%25zz%7C%5E%5B%5D%7B%7D%60%22" },
		{ "http://ex.com//a//", "http://ex.com//a//" },
		{ "http://ex.com/a/%2E%2e/b/.", "http://ex.com/b/" }, { "http://ex.com?a'b",
		"http://ex.com/?a%27b" }, { "http://ex.com#", "http://ex.com/#" },
		{ "http:ex.com/a", "http://ex.com/a" }, { "https:////ex.com", "https://ex.com/" },
		{ "http://a_b.example/", "http://a_b.example/" },
	};
	struct scope	*s = scope_new("test");
	const char	*out;

	for (size_t i = 0; i < COUNT(cases); i++) {
		if (url_absolute(s, &out, str_of(cases[i][0]), "target") != OK)
			claim_fails("refused: %s (%s)", cases[i][0], s->error->detail);
		assert_string_equal(out, cases[i][1]);
	}
	scope_free(s);
}

static void
what_is_no_http_url_is_refused(void **unused)
{
	static const struct str bad[] = { STR(""), STR("/a"), STR("//ex.com/"), STR("ex.com"),
	    STR("javascript:alert(1)"), STR("java\nscript:alert(1)"),
		STR("data:text/html,x"), STR("ftp://ex.com/"), STR("file:///etc"), STR("http://"),
		STR("http:///"), STR("https://?x"), STR("http://user@ex.com/"),
		STR("http://user:pw@ex.com/"), STR("http://@ex.com"), STR("http://ex.com:65536"),
		STR("http://ex.com:a"), STR("http://ex.com:-1"),
		STR("http://:80/"), STR("http://a b/"), STR("http://a%00b/"), STR("http://a\0b/"),
		STR("http://a<b/"), STR("http://1.2.3.256/"),
		STR("http://1.2.3.4.5/"), STR("http://256.256.256.256.256"), STR("http://0x100000000"),
		STR("http://foo.0x"), STR("http://1..2"),
		STR("http://[::1"), STR("http://[:::1]"), STR("http://[1:2:3:4:5:6:7]"),
		STR("http://[1:2:3:4:5:6:7:8:9]"), STR("http://[::1%25eth0]"),
		STR("http://[::1.2.3]"), STR("http://[::01.2.3.4]"), STR("http://[1::2::3]"),
		STR("http://[12345::]"), STR("http://[]"), STR("http://[1:]"),
		STR("http://xn--a"), STR("http://\xff.example"), STR("http://ex.com/\xff"),
		STR("http://%ff.example"), STR("http://\xc2\xad/"), STR("http://[::1]x/"), STR("http://a\"b/"),
		STR("http://a~b/") };
	struct scope	*s = scope_new("test");
	const char	*out;

	for (size_t i = 0; i < COUNT(bad); i++) {
		if (url_absolute(s, &out, bad[i], "target") != ERR_INVALID)
			claim_fails("accepted: %.*s -> %s", STR_FMT(bad[i]), out);
		assert_string_equal(s->error->field, "target");
	}
	scope_free(s);
}

static void
long_urls_are_refused(void **unused)
{
	struct scope	*s = scope_new("test");
	const char	*out;
	struct buf	 text;

	buf_init(&text, s->arena);
	buf_text(&text, "http://ex.com/");
	while (text.len < URL_PATH_MAX)
		buf_char(&text, 'a');
	assert_int_equal(url_absolute(s, &out, buf_as_str(&text), "target"), OK);
	buf_char(&text, 'a');
	assert_int_equal(url_absolute(s, &out, buf_as_str(&text), "target"), ERR_INVALID);
	while (text.len < 1000000)
		buf_text(&text, ".a");
	assert_int_equal(url_absolute(s, &out, buf_as_str(&text), "target"), ERR_INVALID);
	assert_int_equal(url_absolute(s, &out, str_of(scope_printf(s, "http://%s/", text.p + 20)), "target"),
	    ERR_INVALID);
	scope_free(s);
}

static bool
is_strict(const char *url)
{
	size_t	i;

	if (!str_starts(str_of(url), "http://") && !str_starts(str_of(url), "https://"))
		return false;
	for (i = 0; url[i] != '\0'; i++) {
		if (url[i] <= 0x20 || url[i] >= 0x7f || strchr("\"<>\\^`{|}", url[i]) != NULL)
			return false;
		if (url[i] == '%' && strspn(url + i + 1, "0123456789abcdefABCDEF") < 2)
			return false;
	}
	return true;
}

/* Relative inputs need a base, which we do not take; with a scheme and slashes the base plays no part, unless it is the fault. */
static bool
is_our_kind(struct scope *s, const json_t *test)
{
	struct str	input = json_text(json_object_get(test, "input")),
	    base = json_text(json_object_get(test, "base"));
	const char	*out;

	if (json_is_true(json_object_get(test, "failure")) && str_starts(base, "http") && url_absolute(s, &out,
	    base, "base") != OK)
		return false;
	while (input.len > 0 && (unsigned char)input.p[0] <= ' ')
		input = str_part(input, 1, input.len);
	return input.len > 8 && (strncasecmp(input.p, "http://", 7) == 0 || strncasecmp(input.p, "https://", 8) == 0);
}

/* Labels that are no punycode: browsers let them pass by a newer rule than ICU's. */
static bool
has_punycode(struct str input)
{
	for (size_t i = 0; i + 4 <= input.len; i++) {
		if (strncasecmp(input.p + i, "xn--", 4) == 0)
			return true;
	}
	return false;
}

static bool
has_odd_host(const json_t *test)
{
	const char	*host = json_string_value(json_object_get(test, "hostname"));

	return host != NULL && host[strspn(host, "abcdefghijklmnopqrstuvwxyz0123456789-._")] != '\0';
}

struct tally { int agree, agree_strictly, refused_credentials, refused_characters, refused_punycode; };

static void
case_compare(const json_t *test, struct tally *tally)
{
	struct scope	*s = scope_new("test");
	struct str	 input = json_text(json_object_get(test, "input")),
	    href = json_text(json_object_get(test, "href"));
	const char	*out, *expected;
	enum status	 status = url_absolute(s, &out, input, "url");

	if (json_is_true(json_object_get(test, "failure"))) {
		if (status == OK)
			claim_fails("accepted: %.*s -> %s", STR_FMT(input), out);
		tally->agree++;
	} else if (status != OK) {
		if (json_text(json_object_get(test, "username")).len > 0 ||
		    str_find(input, '@') < input.len)
			tally->refused_credentials++;
		else if (has_odd_host(test))
			tally->refused_characters++;
		else if (has_punycode(input))
			tally->refused_punycode++;
		else
			claim_fails("refused: %.*s (%s)", STR_FMT(input), s->error->detail);
	} else {
		assert_true(is_strict(out));
		if (str_is(href, out)) {
			tally->agree++;
		} else {
			/* Equal after the escapes that only we add. */
			assert_int_equal(url_absolute(s, &expected, href, "url"), OK);
			if (strcmp(expected, out) != 0)
				claim_fails("%.*s -> %s, not %.*s", STR_FMT(input), out, STR_FMT(href));
			tally->agree_strictly++;
		}
	}
	scope_free(s);
}

static void
web_platform_tests_agree(void **unused)
{
	static const char *const files[] = { "whatwg-url/urltestdata.json", "whatwg-url/ada_extra_urltestdata.json" };
	struct scope	*s = scope_new("test");
	struct tally	 tally = { 0 };
	json_t		*tests, *test;
	size_t		 i;

	corpus_require(s);
	for (size_t f = 0; f < COUNT(files); f++) {
		tests = corpus_json(s, files[f]);
		json_array_foreach(tests, i, test) {
			if (json_is_object(test) && is_our_kind(s, test))
				case_compare(test, &tally);
		}
		json_decref(tests);
	}
	print_message("%d agree byte for byte, %d after our escapes, refused: %d with credentials, %d with odd characters in "
	    "the host, %d with bad punycode\n", tally.agree, tally.agree_strictly, tally.refused_credentials,
	    tally.refused_characters,
	    tally.refused_punycode);
	assert_true(tally.agree >= 300 && tally.refused_punycode < 10 && tally.refused_characters < 10);
	scope_free(s);
}

/* The host of a URL, or failure. ICU knows Unicode 15, where capital sharp s is two letters; a name that is refused can do no harm. */
static void
international_hosts_agree(void **unused)
{
	struct scope	*s = scope_new("test");
	json_t		*tests, *test;
	struct str	 input, output;
	const char	*out, *expected;
	enum status	 status;
	size_t		 i, agree = 0, refused = 0, all = 0;

	corpus_require(s);
	tests = corpus_json(s, "whatwg-url/toascii.json");
	json_array_foreach(tests, i, test) {
		if (!json_is_object(test))
			continue;
		input = json_text(json_object_get(test, "input"));
		output = json_text(json_object_get(test, "output"));
		status = url_absolute(s, &out, str_of(scope_printf(s, "https://%.*s/x", STR_FMT(input))), "url");
		expected = scope_printf(s, "https://%.*s/x", STR_FMT(output));
		all++;
		if (json_is_null(json_object_get(test, "output")) ? status != OK : status == OK && strcmp(out,
		    expected) == 0)
			agree++;
		else if (status != OK)
			refused++;
		else if (!str_starts(input, "\xe1\xba\x9e"))
			claim_fails("%.*s -> %s, not %s", STR_FMT(input), out, expected);
	}
	json_decref(tests);
	print_message("%zu of %zu agree, %zu are refused besides\n", agree, all, refused);
	assert_true(agree >= 70 && refused <= 15);
	scope_free(s);
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(urls_are_printed_in_strict_ascii),
		cmocka_unit_test(what_is_no_http_url_is_refused),
		cmocka_unit_test(long_urls_are_refused),
		cmocka_unit_test(web_platform_tests_agree),
		cmocka_unit_test(international_hosts_agree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
