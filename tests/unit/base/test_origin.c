/* test_origin.c - origins, hosts and addresses in their one normal form. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/config.h"
#include "base/origin.h"

static struct scope	*s;

static void
origins_are_normalised(void **unused)
{
	static const struct { const char *given, *want; } good[] = {
		{ "http://localhost:8080", "http://localhost:8080" },
		{ "HTTP://Example.ORG", "http://example.org" },
		{ "http://example.org:80", "http://example.org" },
		{ "http://example.org:443", "http://example.org:443" },
		{ "https://example.org:443", "https://example.org" },
		{ "https://example.org:0443", "https://example.org" },
		{ "http://192.0.2.1:8080", "http://192.0.2.1:8080" },
		{ "http://[2001:DB8:0::1]:81", "http://[2001:db8::1]:81" },
		{ "http://[::1]", "http://[::1]" },
		{ "https://xn--bcher-kva.example", "https://xn--bcher-kva.example" },
		{ "http://a-b_c.1x", "http://a-b_c.1x" },
	};
	const char	*out;

	for (size_t i = 0; i < COUNT(good); i++) {
		assert_int_equal(config_origin(s, &out, good[i].given), OK);
		assert_string_equal(out, good[i].want);
		assert_int_equal(config_origin(s, &out, out), OK);
		assert_string_equal(out, good[i].want);
	}
}

static void
what_is_no_origin_is_refused(void **unused)
{
	static const char *const bad[] = { "", "example.org", "//example.org", "ftp://example.org", "javascript://x",
		"http://", "http:///", "http://:80", "http://example.org/", "http://example.org/x", "http://example.org?x",
		"http://example.org#x", "http://user@example.org", "http://user:pw@example.org", "http://example.org\\@evil",
		"http://exa mple.org", "http://example.org:", "http://example.org:0", "http://example.org:65536",
		"http://example.org:99999999999999999999", "http://example.org:80:80", "http://example.org:8x", "http://.org",
		"http://a..b", "http://example.org.", "http://-a.org", "http://a-.org", "http://b\xc3\xbc\x63her.example",
		"http://[::1", "http://::1", "http://[::1]x", "http://[1.2.3.4]", "http://[fe80::1%eth0]", "http://1.2.3",
		"http://1.2.3.256", "http://0x7f.1", "http://example.org\r\nX: y", "http://\"onload", "http://a%2fb", "http ://a",
		" http://a", "http://[]", "http://a.org:-80", "http://a.org:+80" };
	const char	*out;

	for (size_t i = 0; i < COUNT(bad); i++) {
		enum status	 status = config_origin(s, &out, bad[i]);

		if (status != ERR_INVALID)
			print_error("was taken: %s\n", bad[i]);
		assert_int_equal(status, ERR_INVALID);
	}
}

static void
labels_and_hosts_have_their_length(void **unused)
{
	struct buf	 b;
	const char	*out;

	buf_init(&b, s->arena);
	for (int i = 0; i < 63; i++)
		buf_char(&b, 'a');
	assert_int_equal(origin_host(s, &out, buf_as_str(&b)), OK);
	buf_char(&b, 'a');
	assert_int_equal(origin_host(s, &out, buf_as_str(&b)), ERR_INVALID);
	buf_init(&b, s->arena);
	for (int i = 0; i < 126; i++)
		buf_text(&b, "a.");
	buf_char(&b, 'a');
	assert_int_equal(b.len, 253);
	assert_int_equal(origin_host(s, &out, buf_as_str(&b)), OK);
	buf_char(&b, 'a');
	assert_int_equal(origin_host(s, &out, buf_as_str(&b)), ERR_INVALID);
	assert_int_equal(origin_host(s, &out, STR("a\0b")), ERR_INVALID);
	assert_int_equal(origin_host(s, &out, STR("a.example:80")), ERR_INVALID);
}

static void
listen_addresses_give_an_origin(void **unused)
{
	static const struct { const char *given, *listen, *origin; } good[] = {
		{ "127.0.0.1:8080", "127.0.0.1:8080", "http://localhost:8080" },
		{ "127.0.0.2:80", "127.0.0.2:80", "http://localhost" },
		{ "0.0.0.0:8080", "0.0.0.0:8080", "http://localhost:8080" },
		{ "[0:0:0:0:0:0:0:1]:8080", "[::1]:8080", "http://localhost:8080" },
		{ "[::]:8080", "[::]:8080", "http://localhost:8080" },
		{ "192.0.2.1:65535", "192.0.2.1:65535", "http://192.0.2.1:65535" },
		{ "[2001:DB8::1]:80", "[2001:db8::1]:80", "http://[2001:db8::1]" },
	};
	const char	*listen, *origin;

	for (size_t i = 0; i < COUNT(good); i++) {
		assert_int_equal(origin_of_listen(s, &listen, &origin, str_of(good[i].given)), OK);
		assert_string_equal(listen, good[i].listen);
		assert_string_equal(origin, good[i].origin);
	}
	assert_int_equal(origin_of_listen(s, &listen, &origin, (struct str){ NULL, 0 }), ERR_INVALID);
	assert_int_equal(origin_of_listen(s, &listen, &origin, STR("127.0.0.1\0:80")), ERR_INVALID);
}

/* Three of them stand in one saved answer, which has its bound. */
static void
an_origin_has_at_most_200_characters(void **unused)
{
	struct buf	 b;
	const char	*out;

	buf_init(&b, s->arena);
	buf_text(&b, "https://");
	for (int i = 0; i < 96; i++)
		buf_text(&b, "a.");
	assert_int_equal(b.len, 200);
	b.p[199] = 'a';
	assert_int_equal(config_origin(s, &out, b.p), OK);
	assert_int_equal(strlen(out), 200);
	buf_char(&b, 'a');
	assert_int_equal(config_origin(s, &out, b.p), ERR_INVALID);
}

int
main(void)
{
	const struct CMUnitTest	 tests[] = {
		cmocka_unit_test(origins_are_normalised),
		cmocka_unit_test(what_is_no_origin_is_refused),
		cmocka_unit_test(labels_and_hosts_have_their_length),
		cmocka_unit_test(an_origin_has_at_most_200_characters),
		cmocka_unit_test(listen_addresses_give_an_origin),
	};
	int			 failures;

	s = scope_new("test");
	failures = cmocka_run_group_tests(tests, NULL, NULL);
	scope_free(s);
	return failures;
}
