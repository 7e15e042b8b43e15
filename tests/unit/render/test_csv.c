/* test_csv.c - rows of a CSV file as people save them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "render/csv.h"

static struct scope	*s;

static int
setup(void **unused)
{
	s = scope_new("test");
	return 0;
}

static int
teardown(void **unused)
{
	scope_free(s);
	return 0;
}

/* Every row as "LINE[a|b]", a mistake as "LINE!", one after another. */
static const char *
rows_of(const char *bytes, size_t len)
{
	char path[] = "/tmp/stele-csv-XXXXXX";
	struct csv_row row;
	struct csv *csv = NULL;
	bool more = true;
	struct buf b;
	int fd = mkstemp(path);

	assert_true(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
	close(fd);
	buf_init(&b, s->arena);
	if (csv_open(s, &csv, path) != OK)
		buf_text(&b, "refused");
	while (csv != NULL) {
		assert_int_equal(csv_next(s, csv, &row, &more), OK);
		if (!more)
			break;
		buf_printf(&b, "%d%s", (int)row.line, row.mistake != NULL ? "!" : "[");
		for (size_t i = 0; i < row.count && row.mistake == NULL; i++)
			buf_printf(&b, "%s%.*s", i > 0 ? "|" : "", STR_FMT(row.fields[i]));
		buf_text(&b, row.mistake != NULL ? "" : "]");
	}
	csv_close(csv);
	unlink(path);
	return b.p;
}
#define ROWS(literal) rows_of(literal, sizeof(literal) - 1)

static void
line_ends_blanks_and_the_mark_do_not_matter(void **unused)
{
	assert_string_equal(ROWS("a,b\nc,d\n"), "1[a|b]2[c|d]");
	assert_string_equal(ROWS("a,b\r\nc,d"), "1[a|b]2[c|d]");
	assert_string_equal(ROWS("a,b\rc,d\r"), "1[a|b]2[c|d]");
	assert_string_equal(ROWS("\xef\xbb\xbf" "a,b"), "1[a|b]");
	assert_string_equal(ROWS("\n\n a , b \n\n"), "3[a|b]");
	assert_string_equal(ROWS(""), "");
	assert_string_equal(ROWS(",\n"), "1[|]");
}

static void
the_delimiter_is_found_out(void **unused)
{
	assert_string_equal(ROWS("a;b,c;d\n"), "1[a|b,c|d]");
	assert_string_equal(ROWS("a\tb\tc,d\n"), "1[a|b|c,d]");
	assert_string_equal(ROWS("sep=;\r\na;b\n"), "2[a|b]");
	assert_string_equal(ROWS("\"a;b;c\",d\n"), "1[a;b;c|d]");
}

static void
quotes_are_those_of_rfc_4180(void **unused)
{
	assert_string_equal(ROWS("\"a,b\",\"c\"\"d\"\n"), "1[a,b|c\"d]");
	assert_string_equal(ROWS("\"a\nb\",c\nd,e\n"), "1[a\nb|c]3[d|e]");
	assert_string_equal(ROWS("\"a\" ,b\n"), "1[a|b]");
	assert_string_equal(ROWS("=\"a\",b\n"), "1[a|b]");
	assert_string_equal(ROWS("\"a\"x,b\nc,d\n"), "1!2[c|d]");
	assert_string_equal(ROWS("a,\"b\nc,d\n"), "1!");
	assert_string_equal(ROWS("\"\",\"\"\n"), "1[|]");
}

static void
what_is_no_utf8_is_told_by_its_line(void **unused)
{
	assert_string_equal(ROWS("a,b\ncaf\xe9,d\n"), "1[a|b]2!");
	assert_string_equal(ROWS("a\0b,c\n"), "1!");
	assert_string_equal(ROWS("\xff\xfe" "a\0,\0"), "refused");
}

static void
a_field_that_is_too_long_is_a_mistake_and_more_fields_are_dropped(void **unused)
{
	struct buf b;

	buf_init(&b, s->arena);
	for (int i = 0; i < CSV_FIELD_MAX + 1; i++)
		buf_char(&b, 'x');
	buf_text(&b, ",a\n1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17\n");
	assert_string_equal(rows_of(b.p, b.len), "1!2[1|2|3|4|5|6|7|8|9|10|11|12|13|14|15|16]");
}

static void
what_is_put_comes_back(void **unused)
{
	const char *const texts[] = { "a", "", "a,b", "a;b", "a\tb", "\"", "a\"b\"", "=1+1", "=\"x\"", " a", "a ", "a\nb", "é" };

	for (size_t i = 0; i < COUNT(texts); i++) {
		struct buf b;

		buf_init(&b, s->arena);
		buf_text(&b, "k,");
		csv_put(&b, texts[i]);
		buf_text(&b, ",x\r\n");
		assert_string_equal(rows_of(b.p, b.len), scope_printf(s, "1[k|%s|x]", texts[i]));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
		T(line_ends_blanks_and_the_mark_do_not_matter), T(the_delimiter_is_found_out), T(quotes_are_those_of_rfc_4180),
		T(what_is_no_utf8_is_told_by_its_line), T(a_field_that_is_too_long_is_a_mistake_and_more_fields_are_dropped), T(what_is_put_comes_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
