/* test_log.c - every line is one JSON object. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>

#include "base/clock.h"
#include "base/log.h"

static char	 last[8192];
static size_t	 last_len;
static int	 lines;

static void
keep(const char *line, size_t len)
{
	assert_true(len < sizeof(last));
	memcpy(last, line, len);
	last[len] = '\0';
	last_len = len;
	lines++;
}

static json_t *
parsed(void)
{
	json_t	*value;

	assert_true(last_len <= 4096 && last[last_len - 1] == '\n');
	assert_ptr_equal(strchr(last, '\n'), last + last_len - 1);
	value = json_loadb(last, last_len, JSON_REJECT_DUPLICATES, NULL);
	if (value == NULL)
		print_error("not JSON: %s\n", last);
	assert_non_null(value);
	return value;
}

static const char *
text_of(json_t *value, const char *key)
{
	return json_string_value(json_object_get(value, key));
}

static void
line_has_time_level_event_id_and_members(void **unused)
{
	struct scope	*s = scope_new("req \"7\"");
	json_t		*v;
	int64_t		 ms;

	log_info(s, "resource.published", "\"resource\":%" PRId64 ",\"title\":%s", INT64_C(42), log_quote(s, "a \"b\"\n"));
	v = parsed();
	assert_true(clock_parse_rfc3339(str_of(text_of(v, "time")), &ms));
	assert_string_equal(text_of(v, "level"), "info");
	assert_string_equal(text_of(v, "event"), "resource.published");
	assert_string_equal(text_of(v, "request_id"), "req \"7\"");
	assert_int_equal(json_integer_value(json_object_get(v, "resource")), 42);
	assert_string_equal(text_of(v, "title"), "a \"b\"\n");
	json_decref(v);
	log_error(NULL, "start", "%s", "");
	v = parsed();
	assert_string_equal(text_of(v, "level"), "error");
	assert_null(json_object_get(v, "request_id"));
	assert_int_equal(json_object_size(v), 3);
	json_decref(v);
	scope_free(s);
}

static void
levels_below_the_threshold_are_silent(void **unused)
{
	int	 before = lines;

	log_threshold(LOG_LEVEL_WARN);
	log_info(NULL, "quiet", "%s", "");
	assert_int_equal(lines, before);
	log_warn(NULL, "loud", "%s", "");
	assert_int_equal(lines, before + 1);
	log_threshold(LOG_LEVEL_INFO);
}

static void
quoting_survives_every_byte(void **unused)
{
	struct scope	*s = scope_new("test");

	for (int a = 1; a < 256; a++) {
		for (int b = 1; b < 256; b++) {
			char		 text[] = { 'x', (char)a, (char)b, '\0' };
			json_t		*v = json_loads(log_quote(s, text), JSON_DECODE_ANY, NULL);

			assert_non_null(v);
			if (utf8_valid(str_of(text)))
				assert_string_equal(json_string_value(v), text);
			json_decref(v);
		}
	}
	assert_string_equal(log_quote(s, NULL), "\"\"");
	assert_string_equal(log_quote(s, "\xff"), "\"\\\\xff\"");
	scope_free(s);
}

static void
quoting_cuts_at_a_character(void **unused)
{
	struct scope	*s = scope_new("test");
	char		 text[2000];
	json_t		*v;

	for (size_t i = 0; i + 1 < sizeof(text); i++)
		text[i] = "\xe4\xbd\xa0"[i % 3];
	text[1998] = '\0';
	v = json_loads(log_quote(s, text), JSON_DECODE_ANY, NULL);
	assert_int_equal(json_string_length(v), 510);
	json_decref(v);
	scope_free(s);
}

static void
long_lines_stay_whole_objects(void **unused)
{
	char		*long_id = malloc(5000);
	struct scope	*s;
	json_t		*v;
	struct buf	 b;

	memset(long_id, '\x01', 4999);
	long_id[4999] = '\0';
	s = scope_new(long_id);
	memset(long_id, 'x', 4999);
	for (int n = 1; n < 400; n++) {
		buf_init(&b, s->arena);
		/* Of another length each time, so that the cut falls everywhere. */
		buf_printf(&b, "\"pad\":\"%.*s\"", n, long_id + 3000);
		for (int i = 0; i < n; i++)
			buf_printf(&b, ",\"k%d\":{\"a\":[%d,\"},]\\\"{\"]}", i, i);
		log_warn(s, "many", "%s", b.p);
		v = parsed();
		assert_non_null(json_object_get(v, "k0"));
		assert_true((json_object_get(v, "cut") == NULL) == (json_object_get(v, scope_printf(s, "k%d", n - 1)) != NULL));
		json_decref(v);
	}
	log_info(s, "one", "\"k\":\"%s\"", long_id);
	v = parsed();
	assert_true(json_is_true(json_object_get(v, "cut")));
	json_decref(v);
	scope_free(s);
	free(long_id);
}

int
main(void)
{
	const struct CMUnitTest	 tests[] = {
		cmocka_unit_test(line_has_time_level_event_id_and_members),
		cmocka_unit_test(levels_below_the_threshold_are_silent),
		cmocka_unit_test(quoting_survives_every_byte),
		cmocka_unit_test(quoting_cuts_at_a_character),
		cmocka_unit_test(long_lines_stay_whole_objects),
	};

	log_sink(keep);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
