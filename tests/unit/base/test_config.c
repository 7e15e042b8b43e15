/* test_config.c - the settings file: what it takes, what it refuses and where it says so. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/config.h"

static char		 dir[] = "/tmp/stele-config-XXXXXX";
static struct scope	*s;

static int
make_dir(void **unused)
{
	s = scope_new("test");
	return mkdtemp(dir) != NULL ? 0 : -1;
}

static int
remove_dir(void **unused)
{
	unlink(scope_printf(s, "%s/stele.conf", dir));
	rmdir(dir);
	scope_free(s);
	return 0;
}

static enum status
load(struct config **c, const void *text, size_t len)
{
	FILE	*f = fopen(scope_printf(s, "%s/stele.conf", dir), "w");

	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, len, f), len);
	fclose(f);
	s->error = NULL;
	return config_load(s, c, dir);
}

static enum status
load_text(struct config **c, const char *text)
{
	return load(c, text, strlen(text));
}

static void
without_a_file_the_defaults_hold(void **unused)
{
	struct config	*c;

	unlink(scope_printf(s, "%s/stele.conf", dir));
	assert_int_equal(config_load(s, &c, dir), OK);
	assert_string_equal(c->data_dir, dir);
	assert_string_equal(c->listen, "127.0.0.1:8080");
	assert_string_equal(c->public_origin, "http://localhost:8080");
	assert_string_equal(c->admin_origin, "http://localhost:8080");
	assert_null(c->aliases[0]);
	assert_null(c->trusted_proxies[0]);
	assert_int_equal(c->workers, 2);
	assert_int_equal(c->cache_bytes, 16777216);
	assert_int_equal(c->max_queue, 1024);
	assert_int_equal(c->share_dir[0], '/');
	assert_string_equal(config_path(s, c, "stele.db"), scope_printf(s, "%s/stele.db", dir));
	assert_int_equal(config_load(s, &c, "/nowhere/at/all/"), OK);
	assert_string_equal(c->data_dir, "/nowhere/at/all");
}

static void
relative_directories_become_absolute(void **unused)
{
	struct config	*c;
	char		 cwd[1000];

	assert_non_null(getcwd(cwd, sizeof(cwd)));
	assert_int_equal(config_load(s, &c, "none"), OK);
	assert_string_equal(c->data_dir, scope_printf(s, "%s/none", cwd));
	assert_int_equal(config_set(s, c, "share_dir", "share/", "--share-dir"), OK);
	assert_string_equal(c->share_dir, scope_printf(s, "%s/share", cwd));
	assert_int_equal(config_load(s, &c, ""), ERR_INVALID);
}

static void
every_key_is_read(void **unused)
{
	struct config	*c;

	assert_int_equal(load_text(&c, "# settings\r\n\n  listen=[0::1]:81 # local\r\n\tpublic_origin = HTTPS://WWW.Example.org:443\n"
	    "admin_origin = http://cms.example.org:8443\naliases =  example.org  Old.Example.org \n"
	    "trusted_proxies = 10.0.0.1 0:0::1\nworkers = 16\ncache_bytes = 0\nmax_queue = 1\nshare_dir = /srv/a#b"), OK);
	assert_string_equal(c->listen, "[::1]:81");
	assert_string_equal(c->public_origin, "https://www.example.org");
	assert_string_equal(c->admin_origin, "http://cms.example.org:8443");
	assert_string_equal(c->aliases[0], "example.org");
	assert_string_equal(c->aliases[1], "old.example.org");
	assert_null(c->aliases[2]);
	assert_string_equal(c->trusted_proxies[0], "10.0.0.1");
	assert_string_equal(c->trusted_proxies[1], "::1");
	assert_null(c->trusted_proxies[2]);
	assert_int_equal(c->workers, 16);
	assert_int_equal(c->cache_bytes, 0);
	assert_int_equal(c->max_queue, 1);
	assert_string_equal(c->share_dir, "/srv/a#b");
}

static void
origins_follow_until_they_are_given(void **unused)
{
	struct config	*c;

	assert_int_equal(load_text(&c, "listen = 192.0.2.7:80\n"), OK);
	assert_string_equal(c->public_origin, "http://192.0.2.7");
	assert_int_equal(config_set(s, c, "listen", "0.0.0.0:9000", "--listen"), OK);
	assert_string_equal(c->public_origin, "http://localhost:9000");
	assert_int_equal(config_set(s, c, "public_origin", "https://a.example", "--base-url"), OK);
	assert_string_equal(c->admin_origin, "https://a.example");
	assert_int_equal(config_set(s, c, "listen", "127.0.0.1:9001", "--listen"), OK);
	assert_string_equal(c->public_origin, "https://a.example");
	assert_int_equal(config_set(s, c, "admin_origin", "https://b.example", "--x"), OK);
	assert_int_equal(config_set(s, c, "public_origin", "https://c.example", "--base-url"), OK);
	assert_string_equal(c->admin_origin, "https://b.example");
}

static void
mistakes_name_file_and_line(void **unused)
{
	static const struct { const char *text, *at, *word; } bad[] = {
		{ "\n# x\nlisten_on = 1\n", ":3:", "listen_on" },
		{ "workers\n", ":1:", "key = value" },
		{ "workers = 0", ":1:", "workers" },
		{ "workers = 17", ":1:", "16" },
		{ "workers = 2x", ":1:", "whole number" },
		{ "workers =", ":1:", "workers" },
		{ "cache_bytes = -1", ":1:", "cache_bytes" },
		{ "cache_bytes = 16M", ":1:", "cache_bytes" },
		{ "max_queue = 99999999999999999999", ":1:", "max_queue" },
		{ "listen = 8080", ":1:", "listen" },
		{ "listen = :8080", ":1:", "listen" },
		{ "listen = ::1:8080", ":1:", "bracket" },
		{ "listen = [127.0.0.1]:8080", ":1:", "bracket" },
		{ "listen = 127.0.0.1:0", ":1:", "port" },
		{ "listen = 127.0.0.1:65536", ":1:", "port" },
		{ "listen = example.org:80", ":1:", "IP address" },
		{ "public_origin = https://a.example/", ":1:", "slash" },
		{ "public_origin = https://a.example/blog", ":1:", "path" },
		{ "aliases = a.example b/c", ":1:", "b/c" },
		{ "trusted_proxies = proxy.example", ":1:", "proxy.example" },
		{ "trusted_proxies = 10.0.0.0/8", ":1:", "10.0.0.0/8" },
		{ "share_dir =", ":1:", "empty" },
		{ "share_dir = /a\tb", ":1:", "control" },
		{ "share_dir = /a\xff", ":1:", "control" },
		{ "workers = 2\n= 3\n", ":2:", "no such setting" },
	};
	struct config	*c;

	for (size_t i = 0; i < COUNT(bad); i++) {
		assert_int_equal(load_text(&c, bad[i].text), ERR_INVALID);
		if (strstr(s->error->detail, bad[i].at) == NULL || strstr(s->error->detail, bad[i].word) == NULL)
			print_error("%s: %s\n", bad[i].text, s->error->detail);
		assert_non_null(strstr(s->error->detail, "/stele.conf"));
		assert_non_null(strstr(s->error->detail, bad[i].at));
		assert_non_null(strstr(s->error->detail, bad[i].word));
	}
	assert_int_equal(load(&c, "workers = 2\0\n", 13), ERR_INVALID);
	assert_int_equal(config_load_file(s, &c, dir, "/nowhere/at/all"), ERR_INVALID);
	assert_int_equal(config_load_file(s, &c, dir, dir), ERR_INVALID);
}

static void
a_flag_with_a_line_break_is_refused(void **unused)
{
	struct config	*c;

	assert_int_equal(config_load(s, &c, "none"), OK);
	assert_int_equal(config_set(s, c, "share_dir", "/a\nworkers = 9", "--share-dir"), ERR_INVALID);
	assert_int_equal(config_set(s, c, "share_dir", "/a #b", "--share-dir"), ERR_INVALID);
	assert_non_null(strstr(s->error->detail, "--share-dir"));
}

static void
written_settings_are_read_back(void **unused)
{
	static const char *const texts[] = { "", "listen = [::]:80\naliases = a.example b.example\nworkers = 3\n",
		"public_origin = https://x.example:8443\ntrusted_proxies = 127.0.0.1 ::1\nshare_dir = /srv/with blank\ncache_bytes = 5\n" };
	struct config	*c, *back;
	const char	*text;

	for (size_t i = 0; i < COUNT(texts); i++) {
		assert_int_equal(load_text(&c, texts[i]), OK);
		text = config_text(s, c);
		assert_int_equal(load_text(&back, text), OK);
		assert_string_equal(config_text(s, back), text);
		assert_string_equal(back->admin_origin, c->admin_origin);
		assert_string_equal(back->share_dir, c->share_dir);
		assert_int_equal(back->workers, c->workers);
	}
}

static void
the_file_and_its_lists_are_bounded(void **unused)
{
	struct config	*c;
	struct buf	 b;

	buf_init(&b, s->arena);
	while (b.len < 65536)
		buf_text(&b, "# filler\n");
	assert_int_equal(load_text(&c, b.p), ERR_TOO_LARGE);
	buf_init(&b, s->arena);
	buf_text(&b, "aliases =");
	for (int i = 0; i < 64; i++)
		buf_printf(&b, " h%d.example", i);
	assert_int_equal(load_text(&c, b.p), OK);
	assert_string_equal(c->aliases[63], "h63.example");
	assert_null(c->aliases[64]);
	buf_text(&b, " one.more");
	assert_int_equal(load_text(&c, b.p), ERR_INVALID);
}

/* Always the same bytes: a failure comes again. */
static void
fill(unsigned char *out, size_t n)
{
	static uint64_t	 state = 88172645463325252u;

	while (n-- > 0) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		*out++ = (unsigned char)(state >> 32);
	}
}

static void
random_files_are_read_or_refused(void **unused)
{
	static const char	*words[] = { "listen", "public_origin", "aliases", "workers", "share_dir", " = ", "=", "\n", "\n", "#",
		" ", "127.0.0.1:80", "http://a", "[::1]:9", "\xff", "a.b", "7", "/", ":", "\t", "[", "]", "@" };
	unsigned char		 bytes[24];

	for (int round = 0; round < 1000; round++) {
		struct scope	*mine = s;
		struct config	*c, *back;
		struct buf	 b;

		s = scope_new("round");
		fill(bytes, sizeof(bytes));
		buf_init(&b, s->arena);
		for (size_t i = 0; i < sizeof(bytes); i++)
			buf_text(&b, words[bytes[i] % COUNT(words)]);
		if (load(&c, b.p, b.len) == OK)
			assert_int_equal(load_text(&back, config_text(s, c)), OK);
		else
			assert_non_null(s->error->detail);
		scope_free(s);
		s = mine;
	}
}

int
main(void)
{
	const struct CMUnitTest	 tests[] = {
		cmocka_unit_test(without_a_file_the_defaults_hold),
		cmocka_unit_test(relative_directories_become_absolute),
		cmocka_unit_test(every_key_is_read),
		cmocka_unit_test(origins_follow_until_they_are_given),
		cmocka_unit_test(mistakes_name_file_and_line),
		cmocka_unit_test(a_flag_with_a_line_break_is_refused),
		cmocka_unit_test(written_settings_are_read_back),
		cmocka_unit_test(the_file_and_its_lists_are_bounded),
		cmocka_unit_test(random_files_are_read_or_refused),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
