/* test_json.c - strict JSON: what is refused, and what has the same canonical form. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/idempotency.h"
#include "core/corpus.h"

static struct str
canonical(struct scope *s, const char *text)
{
	struct str	out;
	json_t		*value;

	if (json_read(s, &value, &out, str_of(text), NULL, NULL) != OK)
		claim_fails("refused: %s (%s)", text, s->error->detail);
	json_decref(value);
	return out;
}

static enum status
reading(struct scope *s, struct str text)
{
	struct str	out;
	json_t		*value;
	enum status	status = json_read(s, &value, &out, text, NULL, NULL);

	assert_true((status == OK) == (value != NULL));
	json_decref(value);
	return status;
}

static void
blanks_and_member_order_do_not_count(void **unused)
{
	struct scope	*s = scope_new("test");

	assert_true(str_is(canonical(s, "{\"a\":1,\"b\":[true,false,null],\"c\":{\"x\":\"\",\"y\":{}}}"),
	    "{\"a\":1,\"b\":[true,false,null],\"c\":{\"x\":\"\",\"y\":{}}}"));
	assert_true(str_is(canonical(s,
	    "\r\n\t{ \"c\" : { \"y\" : { } , \"x\" : \"\" } ,\n\"b\":[ true,false , null ],\"a\" : 1 }\n"),
	    "{\"a\":1,\"b\":[true,false,null],\"c\":{\"x\":\"\",\"y\":{}}}"));
	assert_true(str_is(canonical(s, "{\"a!\":0,\"a\":0,\"\\u0061\\\"\":0,\"B\":0,\"\":0,\"\xc3\xa9\":0}"),
	    "{\"\":0,\"B\":0,\"a\":0,\"a!\":0,\"a\\\"\":0,\"\xc3\xa9\":0}"));
	assert_true(str_is(canonical(s, "[]"), "[]"));
	scope_free(s);
}

static void
array_order_types_and_null_count(void **unused)
{
	static const char *const different[] = { "[1,2]", "[2,1]", "[\"1\",2]", "[1,2,null]", "[[1],2]",
	    "[1,\"2\"]", "{\"a\":null}",
		"{}", "{\"a\":false}", "{\"a\":\"null\"}", "{\"a\":0}", "{\"a\":[]}", "{\"a\":{}}", "[\"\xc3\xa9\"]",
		"[\"e\xcc\x81\"]", "[\"a,b\"]", "[\"a\",\"b\"]", "[\"a\\\",\\\"b\"]", "[\"\\\\u0061\"]", "[\"a\"]" };
	struct scope	*s = scope_new("test");

	for (size_t i = 0; i < COUNT(different); i++) {
		for (size_t j = 0; j < i; j++)
			assert_false(str_eq(canonical(s, different[i]), canonical(s, different[j])));
	}
	scope_free(s);
}

static void
strings_compare_after_unescaping(void **unused)
{
	struct scope	*s = scope_new("test");

	assert_true(str_is(canonical(s, "[\"\\u0041\\/\\u00e9\\uD83D\\uDE00\"]"),
	    "[\"A/\xc3\xa9\xf0\x9f\x98\x80\"]"));
	assert_true(str_eq(canonical(s, "[\"\\n\\t\\\"\\\\\"]"), canonical(s, "[\"\\u000a\\u0009\\u0022\\u005C\"]")));
	assert_true(str_is(canonical(s, "[\"\\u0000\x7f\"]"), "[\"\\u0000\x7f\"]"));
	scope_free(s);
}

static void
numbers_compare_by_value(void **unused)
{
	static const char *const same[][4] = {
		{ "1", "1.0", "1e0", "10E-1" }, { "0", "-0", "0.000", "-0e999999999999999999999" },
		{ "100", "1e2", "1E+0002", "100.00" }, { "-1.50", "-15e-1", "-0.15e1", "-1500e-3" },
		{ "9007199254740993", "9007199254740993.0", "9007199254740.993e3", "900719925474099300e-2" },
		{ "123456789012345678901234567890", "1.23456789012345678901234567890e29",
		"123456789012345678901234567890.0",
		    "12345678901234567890123456789e1" },
	};
	static const char *const different[] = { "9007199254740992", "9007199254740993", "-9007199254740993",
	    "9223372036854775807",
		"9223372036854775808", "123456789012345678901234567890", "123456789012345678901234567891",
		"0.1", "0.10000000000000001",
		"1e-400", "1e-401", "0", "1e1", "1", "-1", "11", "-1001234567890" };
	struct scope	*s = scope_new("test");

	for (size_t i = 0; i < COUNT(same); i++) {
		for (size_t j = 1; j < COUNT(same[0]); j++)
			assert_true(str_eq(canonical(s, same[i][0]), canonical(s, same[i][j])));
	}
	for (size_t i = 0; i < COUNT(different); i++) {
		for (size_t j = 0; j < i; j++)
			assert_false(str_eq(canonical(s, different[i]), canonical(s, different[j])));
	}
	assert_true(str_is(canonical(s, "-1234.500"), "-12345e-1"));
	assert_true(str_is(canonical(s, "1e308"), "1e308"));
	scope_free(s);
}

static void
absurd_numbers_are_refused_in_no_time(void **unused)
{
	struct scope	*s = scope_new("test");
	struct buf	 long_number;

	assert_int_equal(reading(s, STR("1e400")), ERR_MALFORMED_JSON);
	assert_int_equal(reading(s, STR("-1e99999999999999999999")), ERR_MALFORMED_JSON);
	assert_int_equal(reading(s, STR("1e-99999999999999999999")), ERR_MALFORMED_JSON);
	buf_init(&long_number, s->arena);
	buf_text(&long_number, "[1");
	for (int i = 0; i < 100000; i++)
		buf_text(&long_number, "0");
	buf_text(&long_number, "e-100000]");
	assert_true(str_is(canonical(s, long_number.p), "[1]"));
	scope_free(s);
}

static void
the_value_keeps_64_bit_integers(void **unused)
{
	struct scope	*s = scope_new("test");
	struct str	 out;
	json_t		*v;

	assert_int_equal(json_read(s, &v, &out,
	    STR("[-9223372036854775808,9223372036854775807,-1001234567890,1.5,\"\\u00e9\\u0000\"]"),
	    NULL, NULL), OK);
	assert_true(json_integer_value(json_array_get(v, 0)) == INT64_MIN);
	assert_true(json_integer_value(json_array_get(v, 1)) == INT64_MAX);
	assert_true(json_integer_value(json_array_get(v, 2)) == -1001234567890);
	assert_true(json_real_value(json_array_get(v, 3)) == 1.5);
	assert_true(str_eq(json_text(json_array_get(v, 4)), STR("\xc3\xa9\0")));
	json_decref(v);
	scope_free(s);
}

static void
malformed_documents_are_refused(void **unused)
{
	static const struct str bad[] = { STR(""), STR(" "), STR("\xEF\xBB\xBF{}"), STR("{}\0"), STR("123\0"),
	    STR("[12\0]"), STR("{} x"),
		STR("{}{}"), STR("{\"a\":1,\"a\":2}"), STR("{\"a\":1,\"b\":0,\"\\u0061\":1}"),
		STR("[{\"x\":{\"a\":1,\"a\":1}}]"),
		STR("[\"\\ud800\"]"), STR("[\"\\udc00\\ud800\"]"), STR("[\"\\ud800\\u0041\"]"),
		STR("[\"\xed\xa0\x80\"]"),
		STR("[\"\xff\"]"), STR("[\"\xc0\x80\"]"), STR("{\"a\\u0000b\":1}"), STR("[\"a\nb\"]"),
		STR("[\"\x1f\"]"), STR("[1,]"),
		STR("[,1]"), STR("{\"a\":1,}"), STR("{,}"), STR("{\"a\"}"), STR("{a:1}"), STR("{'a':1}"),
		STR("[1 2]"), STR("{\"a\" 1}"),
		STR("[\"\\x\"]"), STR("[\"\\"), STR("[\"\\u00"), STR("[\"\\u00g0\"]"), STR("\"abc"), STR("["),
		STR("{"), STR("{\"a\":"),
		STR("{\"a\":1"), STR("01"), STR("-"), STR("1."), STR(".5"), STR("+1"), STR("1e"), STR("1e+"),
		STR("-01"), STR("0x1"), STR("NaN"),
		STR("Infinity"), STR("tru"), STR("truex"), STR("True"), STR("nul"), STR("[1]\f"),
		STR("[1]\xc2\xa0"), STR("//\n1") };
	struct scope	*s = scope_new("test");

	for (size_t i = 0; i < COUNT(bad); i++) {
		if (reading(s, bad[i]) != ERR_MALFORMED_JSON)
			claim_fails("accepted: %.*s", STR_FMT(bad[i]));
	}
	scope_free(s);
}

static void
depth_ends_at_32(void **unused)
{
	static const char	open[] = "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
	    close[] = "]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]";
	struct scope		*s = scope_new("test");
	struct buf		 deep;

	assert_int_equal(reading(s, str_of(scope_printf(s, "%.*s%.*s", 32, open, 32, close))), OK);
	assert_int_equal(reading(s, str_of(scope_printf(s, "%.*s%.*s", 33, open, 33, close))), ERR_MALFORMED_JSON);
	assert_int_equal(reading(s, str_of(scope_printf(s, "%.*s{\"a\":{}}%.*s", 30, open, 30, close))), OK);
	assert_int_equal(reading(s, str_of(scope_printf(s, "%.*s{\"a\":{}}%.*s", 31, open, 31, close))),
	    ERR_MALFORMED_JSON);
	assert_int_equal(reading(s, str_of(scope_printf(s, "[%.*s%.*s,[]]", 31, open, 31, close))), OK);
	buf_init(&deep, s->arena);
	for (int i = 0; i < 1000000; i++)
		buf_char(&deep, i % 2 ? '[' : ' ');
	assert_int_equal(reading(s, buf_as_str(&deep)), ERR_MALFORMED_JSON);
	scope_free(s);
}

static void
the_key_carrier_is_taken_out(void **unused)
{
	static const char *const bodies[] = { "{\"idempotency_key\":\"K\",\"a\":1,\"b\":{\"idempotency_key\":2}}",
		"{\"a\":1,\"idempotency_\\u006bey\":\"\\u004b\",\"b\":{\"idempotency_key\":2}}",
		"{\"b\":{\"idempotency_key\":2},\"a\":1,\"idempotency_key\":\"K\"}" };
	struct scope	*s = scope_new("test");
	struct str	 out;
	const char	*taken;
	json_t		*v;

	for (size_t i = 0; i < COUNT(bodies); i++) {
		assert_int_equal(json_read(s, &v, &out, str_of(bodies[i]), "idempotency_key", &taken), OK);
		assert_string_equal(taken, "K");
		assert_true(str_is(out, "{\"a\":1,\"b\":{\"idempotency_key\":2}}"));
		assert_int_equal(json_object_size(v), 2);
		assert_null(json_object_get(v, "idempotency_key"));
		json_decref(v);
	}
	assert_int_equal(json_read(s, &v, &out, STR("{\"idempotency_key\":\"K\"}"), "idempotency_key", &taken), OK);
	assert_true(str_is(out, "{}"));
	json_decref(v);
	assert_int_equal(json_read(s, &v, &out, STR("[{\"idempotency_key\":\"K\"}]"), "idempotency_key", &taken), OK);
	assert_null(taken);
	assert_true(str_is(out, "[{\"idempotency_key\":\"K\"}]"));
	json_decref(v);
	assert_int_equal(json_read(s, &v, &out, STR("{}"), "idempotency_key", &taken), OK);
	assert_null(taken);
	json_decref(v);
	assert_int_equal(json_read(s, &v, &out, STR("{\"idempotency_key\":1}"), "idempotency_key", &taken),
	    ERR_KEY_INVALID);
	assert_null(v);
	assert_int_equal(json_read(s, &v, &out, STR("{\"idempotency_key\":\"K\\u0000\"}"), "idempotency_key",
	    &taken), ERR_KEY_INVALID);
	assert_int_equal(json_read(s, &v, &out, STR("{\"idempotency_key\":\"K\",\"idempotency_key\":\"L\"}"),
	    "idempotency_key", &taken),
	    ERR_MALFORMED_JSON);
	assert_int_equal(json_read(s, &v, &out, STR("{\"idempotency_key\":\"K\",}"), "idempotency_key", &taken),
	    ERR_MALFORMED_JSON);
	scope_free(s);
}

static void
canonical_form_is_its_own_canonical_form(void **unused)
{
	static const char *const texts[] = { "{\"z\":[1.50,{\"b\":-0,\"a\":1e300}],\"a\":\"\\u0001\\u00e9\"}",
	    "[0.001,1000,12.30e-7]",
		"{\"k\\\"\":{\"\\\\\":1,\"\\n\":2}}" };
	struct scope	*s = scope_new("test");
	struct str	 once;

	for (size_t i = 0; i < COUNT(texts); i++) {
		once = canonical(s, texts[i]);
		assert_true(str_eq(canonical(s, str_dup(s->arena, once)), once));
	}
	scope_free(s);
}

/* Names that occur twice or hold a NUL are refused on purpose, and depth ends at 32. */
static bool
may_be_refused(const char *name)
{
	return strcmp(name, "y_object_duplicated_key.json") == 0 || strcmp(name,
	    "y_object_duplicated_key_and_value.json") == 0 ||
	    strcmp(name, "y_object_escaped_null_in_key.json") == 0;
}

static void
json_test_suite_agrees(void **unused)
{
	struct scope	*s = scope_new("test");
	struct dirent	*entry;
	enum status	 status;
	int		 counts[3] = { 0 };
	DIR		*dir;

	corpus_require(s);
	dir = opendir(corpus_path(s, "json-parsing/test_parsing"));
	assert_non_null(dir);
	while ((entry = readdir(dir)) != NULL) {
		if (!str_ends(str_of(entry->d_name), ".json"))
			continue;
		status = reading(s, corpus_file(s, scope_printf(s, "json-parsing/test_parsing/%s", entry->d_name)));
		if (entry->d_name[0] == 'y' && (status == OK) == may_be_refused(entry->d_name))
			claim_fails("%s: %s", entry->d_name, status_info(status)->code);
		if (entry->d_name[0] == 'n' && status != ERR_MALFORMED_JSON)
			claim_fails("%s was accepted", entry->d_name);
		counts[entry->d_name[0] == 'y' ? 0 : entry->d_name[0] == 'n' ? 1 : 2]++;
	}
	closedir(dir);
	assert_true(counts[0] >= 90 && counts[1] >= 180 && counts[2] >= 30);
	scope_free(s);
}

/* Every prefix, and every byte replaced: nothing but OK or a refusal, and what is accepted has a stable form. */
static void
damaged_documents_never_break_the_reader(void **unused)
{
	static const char	whole[] = "{\"t\":\"a\\u00e9\\ud83d\\ude00\\n\",\"n\":[-12.5e+3,0,true],\"o\":{\"z\":null,\"a\":{}}}";
	static const char	bytes[] = "\"\\{}[],:0-9eEu\x80\xff\n";
	struct scope		*s;
	char			*copy;

	for (size_t i = 0; i < sizeof(whole) - 1; i++) {
		s = scope_new("test");
		copy = arena_strndup(s->arena, whole, i);
		assert_int_equal(reading(s, (struct str){ copy, i }), ERR_MALFORMED_JSON);
		for (size_t j = 0; j < sizeof(bytes); j++) {
			struct str	damaged = { arena_strndup(s->arena, whole, sizeof(whole) - 1),
			    sizeof(whole) - 1 };

			copy = arena_strndup(s->arena, whole, sizeof(whole) - 1);
			copy[i] = bytes[j];
			damaged.p = copy;
			if (reading(s, damaged) == OK)
				assert_true(str_eq(canonical(s, str_dup(s->arena, canonical(s, copy))),
				    canonical(s, copy)));
		}
		scope_free(s);
	}
}

static void
a_million_numbers_take_little_more_than_their_text(void **unused)
{
	struct scope	*s = scope_new("test"), *reader = scope_new("test");
	struct buf	 text;

	buf_init(&text, s->arena);
	buf_text(&text, "[1.25");
	for (int i = 0; i < 400000; i++)
		buf_text(&text, ",1.25");
	buf_char(&text, ']');
	assert_int_equal(reading(reader, buf_as_str(&text)), OK);
	assert_true(arena_used(reader->arena) < text.len * 4 + 65536);
	scope_free(reader);
	scope_free(s);
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(blanks_and_member_order_do_not_count),
		cmocka_unit_test(array_order_types_and_null_count),
		cmocka_unit_test(strings_compare_after_unescaping),
		cmocka_unit_test(numbers_compare_by_value),
		cmocka_unit_test(absurd_numbers_are_refused_in_no_time),
		cmocka_unit_test(the_value_keeps_64_bit_integers),
		cmocka_unit_test(malformed_documents_are_refused),
		cmocka_unit_test(depth_ends_at_32),
		cmocka_unit_test(the_key_carrier_is_taken_out),
		cmocka_unit_test(canonical_form_is_its_own_canonical_form),
		cmocka_unit_test(json_test_suite_agrees),
		cmocka_unit_test(damaged_documents_never_break_the_reader),
		cmocka_unit_test(a_million_numbers_take_little_more_than_their_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
