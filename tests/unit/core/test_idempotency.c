/* test_idempotency.c - what is a key, and what is the same request. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/idempotency.h"
#include "core/corpus.h"

#define K "0b1c2d3e-4f50-4a6b-8c7d-9e8f7a6b5c4d"
#define X16 "abcdefghijklmnop"
#define X64 X16 X16 X16 X16

static enum status
header(struct scope *s, struct str value, const char **key)
{
	return key_from_header(s, key, &value, 1);
}

static void
bare_and_quoted_keys_are_the_same(void **unused)
{
	static const struct str	good[] = { STR(K), STR("\"" K "\""), STR("  " K), STR("\"" K "\"  "),
	    STR("\t" K "\t") };
	struct scope		*s = scope_new("test");
	const char		*key;

	for (size_t i = 0; i < COUNT(good); i++) {
		assert_int_equal(header(s, good[i], &key), OK);
		assert_string_equal(key, K);
	}
	assert_int_equal(header(s, STR(X16), &key), OK);
	assert_int_equal(header(s, STR(X64), &key), OK);
	assert_string_equal(key, X64);
	assert_int_equal(header(s, STR("AZaz09._:-AZaz09"), &key), OK);
	assert_int_equal(header(s, STR("1234567890123456"), &key), OK);
	assert_int_equal(key_from_header(s, &key, NULL, 0), OK);
	assert_null(key);
	scope_free(s);
}

static void
everything_else_is_refused(void **unused)
{
	static const struct str bad[] = { STR(""), STR("   "), STR("\"\""), STR("\"  \""),
	    STR("abcdefghijklmno"), STR(X64 "x"), STR("\"" X64 "x\""), STR("\"" K), STR(K "\""),
		STR("\"" K "\";a=1"), STR("\"" K "\", \"" K "\""), STR(K "," K), STR(K ", " K),
		STR(":" "YWJjZGVmZ2hpamtsbW5vcA==:"), STR("?1?1?1?1?1?1?1?1"), STR("(\"" K "\")"),
		STR("\"abc\\\"defghijklmno\""), STR("\"abcdefgh\\\\ijklmno\""), STR("abcdefgh ijklmnop"),
		STR("\"abcdefgh ijklmnop\""), STR("abcdefgh\0ijklmnop"),
		STR("abcdefgh\nijklmnop"), STR("abcdefgh%0aijklmnop"), STR("'; DROP TABLE resource"),
		STR("caf\xc3\xa9" "abcdefghijklm"), STR("abcdefgh\x7fijklmnop"),
		STR("00000000-0000-0000-0000-000000000000"), STR("\"00000000-0000-0000-0000-000000000000\""),
		STR("\""), STR("\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"\"") };
	struct scope	*s = scope_new("test");
	struct str	 two[] = { STR(K), STR(K) };
	const char	*key;
	struct buf	 huge;

	for (size_t i = 0; i < COUNT(bad); i++) {
		if (header(s, bad[i], &key) != ERR_KEY_INVALID)
			claim_fails("accepted: %.*s", STR_FMT(bad[i]));
		assert_null(key);
	}
	assert_int_equal(key_from_header(s, &key, two, 2), ERR_KEY_INVALID);
	buf_init(&huge, s->arena);
	while (huge.len < 5000)
		buf_text(&huge, X16);
	assert_int_equal(header(s, buf_as_str(&huge), &key), ERR_KEY_INVALID);
	assert_true(strlen(s->error->detail) < 200);
	scope_free(s);
}

static struct str
filled(struct scope *s, struct str text, size_t at, const char *fill)
{
	struct buf	out;

	if (fill[0] == '\0')
		return text;
	buf_init(&out, s->arena);
	buf_str(&out, str_part(text, 0, at));
	buf_text(&out, fill);
	buf_str(&out, str_part(text, at, text.len));
	for (size_t i = 0; i < out.len; i++) {
		if (out.p[i] == ' ')
			out.p[i] = fill[0];
	}
	return buf_as_str(&out);
}

/* A case of the suite is a header of one or more lines that is a structured string, or is none. Its strings are short and hold
 * blanks, which no key may: `fill` makes them longer and stands in for the blanks. */
static void
structured_case(struct scope *s, const json_t *test, const char *fill, int *accepted, int *refused)
{
	json_t		*raw = json_object_get(test, "raw");
	struct str	 lines[8], content = json_text(json_array_get(json_object_get(test, "expected"), 0));
	const char	*key;
	size_t		 i, count = json_array_size(raw);
	enum status	 status;

	assert_true(count <= COUNT(lines));
	for (i = 0; i < count; i++)
		lines[i] = json_text(json_array_get(raw, i));
	if (lines[0].len == 0 || lines[0].p[0] != '"')
		return;
	lines[0] = filled(s, lines[0], 1, fill);
	content = filled(s, content, 0, fill);
	status = key_from_header(s, &key, lines, count);
	if (!json_is_true(json_object_get(test, "must_fail")) && count == 1 && key_check(s, content) == OK) {
		assert_int_equal(status, OK);
		assert_true(str_is(content, key));
		(*accepted)++;
	} else {
		assert_int_equal(status, ERR_KEY_INVALID);
		(*refused)++;
	}
}

static void
structured_field_tests_agree(void **unused)
{
	static const char *const files[] = { "structured-fields/string.json",
	    "structured-fields/string-generated.json" };
	struct scope	*s = scope_new("test");
	int		 accepted = 0, refused = 0;
	json_t		*tests, *test;
	size_t		 i;

	corpus_require(s);
	for (size_t f = 0; f < COUNT(files); f++) {
		tests = corpus_json(s, files[f]);
		json_array_foreach(tests, i, test) {
			structured_case(s, test, "", &accepted, &refused);
			structured_case(s, test, X16, &accepted, &refused);
		}
		json_decref(tests);
	}
	print_message("%d accepted, %d refused\n", accepted, refused);
	assert_true(accepted >= 66 && refused >= 400);
	scope_free(s);
}

static void
every_part_of_a_request_is_in_its_hash(void **unused)
{
	const struct request_print	base = { "POST", "/api/v1/articles/{id}", STR("id=1"), STR("a=1"),
	    "json", STR("\"1\""), STR("{}") };
	struct request_print		other[7];
	struct scope			*s = scope_new("test");
	char				 one[65], two[65];

	for (size_t i = 0; i < COUNT(other); i++)
		other[i] = base;
	other[0].method = "PUT";
	other[1].route = "/api/v1/pages/{id}";
	other[2].path_params = STR("id=2");
	other[3].query = STR("a=2");
	other[4].media = "form";
	other[5].if_match = STR("\"2\"");
	other[6].body = STR("[]");
	request_hash(s, one, &base);
	assert_int_equal(strspn(one, "0123456789abcdef"), 64);
	request_hash(s, two, &base);
	assert_string_equal(one, two);
	for (size_t i = 0; i < COUNT(other); i++) {
		request_hash(s, two, &other[i]);
		assert_string_not_equal(one, two);
	}
	scope_free(s);
}

/* Stored hashes of version 1 must be found again by later programs. */
static void
version_1_of_the_hash_never_changes(void **unused)
{
	const struct request_print	print = { "POST", "/api/v1/articles", { NULL, 0 }, { NULL, 0 }, "json",
	    { NULL, 0 },
		STR("{\"content\":\"C1\",\"title\":\"T1\"}") };
	struct scope			*s = scope_new("test");
	char				 out[65];

	assert_int_equal(REQUEST_HASH_VERSION, 1);
	request_hash(s, out, &print);
	assert_string_equal(out, "eaef81883ce13efa8ec3334a016d44ce034a6d24115e83736f43b1d6f374d8e5");
	scope_free(s);
}

static void
forms_compare_by_name_and_line_end(void **unused)
{
	const struct form_field	one[] = { { STR("title"), STR("T") }, { STR("tag"), STR("b") },
	    { STR("form_token"), STR("x") }, { STR("tag"), STR("a") },
		{ STR("content"), STR("1\r\n2\n3\r4\r\n\n") } };
	const struct form_field	two[] = { { STR("content"), STR("1\n2\r3\r\n4\r\r") }, { STR("tag"), STR("b") },
	    { STR("tag"), STR("a") }, { STR("title"), STR("T") } };
	const struct form_field	swapped[] = { two[0], two[2], two[1], two[3] };
	const struct form_field	joined[] = { { STR("a"), STR("1&b=2") } }, apart[] = { { STR("a"), STR("1") },
	    { STR("b"), STR("2") } };
	const struct form_field	odd[] = { { STR("a=1"), STR("") } }, even[] = { { STR("a"), STR("1=") } };
	struct scope		*s = scope_new("test");

	assert_true(str_is(form_canonical(s, one, COUNT(one), "form_token"),
	    "content=1%0D%0A2%0D%0A3%0D%0A4%0D%0A%0D%0A&tag=b&tag=a&title=T"));
	assert_true(str_eq(form_canonical(s, one, COUNT(one), "form_token"), form_canonical(s, two, COUNT(two),
	    NULL)));
	assert_false(str_eq(form_canonical(s, two, COUNT(two), NULL), form_canonical(s, swapped, COUNT(swapped),
	    NULL)));
	assert_false(str_eq(form_canonical(s, joined, 1, NULL), form_canonical(s, apart, 2, NULL)));
	assert_false(str_eq(form_canonical(s, odd, 1, NULL), form_canonical(s, even, 1, NULL)));
	assert_int_equal(form_canonical(s, NULL, 0, NULL).len, 0);
	scope_free(s);
}

static void
every_writing_route_has_one_rule(void **unused)
{
	const struct write_rule	*rule, *other;

	for (int i = 0; i < WRITE_COUNT; i++) {
		rule = write_rule((enum write_id)i);
		assert_true(rule->route[0] == '/' && rule->reason[0] != '\0');
		assert_true(strcmp(rule->method, "POST") != 0 || rule->carrier == CARRIER_REQUIRED ||
		    rule->carrier == CARRIER_EXEMPT);
		for (int j = 0; j < i; j++) {
			other = write_rule((enum write_id)j);
			assert_false(strcmp(rule->method, other->method) == 0 && strcmp(rule->route,
			    other->route) == 0);
		}
	}
	rule = write_rule(WRITE_ARTICLE_PUBLISH);
	assert_string_equal(rule->route, "/api/v1/articles/{id}/publish");
	assert_int_equal(rule->retention, RETENTION_STATE);
	assert_int_equal(rule->action, ACTION_PUBLISH);
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(bare_and_quoted_keys_are_the_same),
		cmocka_unit_test(everything_else_is_refused),
		cmocka_unit_test(structured_field_tests_agree),
		cmocka_unit_test(every_part_of_a_request_is_in_its_hash),
		cmocka_unit_test(version_1_of_the_hash_never_changes),
		cmocka_unit_test(forms_compare_by_name_and_line_end),
		cmocka_unit_test(every_writing_route_has_one_rule),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
