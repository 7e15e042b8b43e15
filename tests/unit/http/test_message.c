/* test_message.c - header blocks: where they end, what they say, and what is refused. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "http/message.h"

static struct message m;

static enum status
parse(const char *block)
{
	size_t end;
	enum status status = message_end(str_of(block), &end);

	if (status != OK)
		return status;
	assert_int_equal(end, strlen(block));
	return message_parse(&m, str_of(block));
}

#define HOST "Host: example.org\r\n"

static void
a_block_ends_behind_its_empty_line(void **state)
{
	static const char text[] = "GET / HTTP/1.1\r\n" HOST "\r\nGET /next";
	size_t whole = sizeof(text) - 1 - strlen("GET /next"), end;

	for (size_t n = 0; n < sizeof(text) - 1; n++) {
		assert_int_equal(message_end((struct str){ text, n }, &end), OK);
		assert_int_equal(end, n >= whole ? whole : 0);
	}
}

static void
empty_lines_in_front_are_part_of_the_block(void **state)
{
	assert_int_equal(parse("\r\n\r\n\r\nGET / HTTP/1.1\r\n" HOST "\r\n"), OK);
	assert_true(str_is(m.path, "/"));
}

static void
a_line_end_without_cr_is_refused_at_once(void **state)
{
	static const char *const texts[] = { "\n", "GET / HTTP/1.1\n", "GET / HTTP/1.1\r\nA: b\n", "\r\n\nGET" };
	size_t end;

	for (size_t i = 0; i < COUNT(texts); i++)
		assert_int_equal(message_end(str_of(texts[i]), &end), ERR_MALFORMED_REQUEST);
}

static void
a_block_has_a_greatest_length(void **state)
{
	char big[MESSAGE_BYTES_MAX + 8];
	size_t end;

	memset(big, 'a', sizeof(big));
	assert_int_equal(message_end((struct str){ big, MESSAGE_BYTES_MAX - 1 }, &end), OK);
	assert_int_equal(message_end((struct str){ big, MESSAGE_BYTES_MAX }, &end), ERR_HEADERS);
	memcpy(big + MESSAGE_BYTES_MAX - 4, "\r\n\r\n", 4);
	assert_int_equal(message_end((struct str){ big, MESSAGE_BYTES_MAX }, &end), OK);
	assert_int_equal(end, MESSAGE_BYTES_MAX);
}

static void
a_request_is_taken_apart(void **state)
{
	assert_int_equal(parse("PATCH /a/b?c=d?e HTTP/1.1\r\nhOST: Example.org:81\r\nX-A:  v \t\r\nX-A: w\r\nX-E:\r\ncontent-length: 12\r\n\r\n"), OK);
	assert_int_equal(m.method, METHOD_PATCH);
	assert_true(str_is(m.target, "/a/b?c=d?e"));
	assert_true(str_is(m.path, "/a/b"));
	assert_true(str_is(m.query, "c=d?e"));
	assert_true(str_is(m.host, "Example.org:81"));
	assert_int_equal(m.header_count, 5);
	assert_true(str_is(message_header(&m, "x-a"), "v"));
	assert_non_null(message_header(&m, "x-e").p);
	assert_null(message_header(&m, "x-f").p);
	assert_int_equal(m.length, 12);
	assert_false(m.is_http10 || m.wants_close || m.wants_continue);
}

static void
framing_fields_are_read_strictly(void **state)
{
	static const struct { const char *fields; enum status status; } cases[] = {
		{ "Content-Length: 0\r\n", OK }, { "Content-Length: 00012\r\n", OK },
		{ "Content-Length: +1\r\n", ERR_MALFORMED_REQUEST }, { "Content-Length: -1\r\n", ERR_MALFORMED_REQUEST },
		{ "Content-Length: -0\r\n", ERR_MALFORMED_REQUEST }, { "Content-Length:\r\n", ERR_MALFORMED_REQUEST },
		{ "Content-Length: 1 1\r\n", ERR_MALFORMED_REQUEST }, { "Content-Length: 1,1\r\n", ERR_MALFORMED_REQUEST },
		{ "Content-Length: 9223372036854775808\r\n", ERR_MALFORMED_REQUEST },
		{ "Content-Length: 1\r\nContent-Length: 1\r\n", ERR_MALFORMED_REQUEST },
		{ "Transfer-Encoding: chunked\r\n", ERR_LENGTH_REQUIRED }, { "transfer-encoding: identity\r\n", ERR_LENGTH_REQUIRED },
		{ "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n", ERR_LENGTH_REQUIRED },
		{ "Content_Length: 99\r\n", OK }, { HOST, ERR_MALFORMED_REQUEST }, { "Host-Override: evil\r\n", OK },
	};
	char block[400];

	for (size_t i = 0; i < COUNT(cases); i++) {
		snprintf(block, sizeof(block), "POST / HTTP/1.1\r\n" HOST "%s\r\n", cases[i].fields);
		assert_int_equal(parse(block), cases[i].status);
		assert_true(str_is(m.host, "example.org"));
	}
}

static void
request_lines_are_read_strictly(void **state)
{
	static const struct { const char *line; enum status status; } cases[] = {
		{ "GET / HTTP/1.1", OK }, { "GET / HTTP/1.0", OK }, { "GET / HTTP/1.9", OK }, { "OPTIONS * HTTP/1.1", OK },
		{ "GET  / HTTP/1.1", ERR_MALFORMED_REQUEST }, { "GET / HTTP/1.1 ", ERR_MALFORMED_REQUEST }, { "GET /", ERR_MALFORMED_REQUEST },
		{ "GET", ERR_MALFORMED_REQUEST }, { "GET / HTTP/2.0", ERR_MALFORMED_REQUEST }, { "GET / HTTP/1.", ERR_MALFORMED_REQUEST },
		{ "GET / HTTP/1.10", ERR_MALFORMED_REQUEST }, { "GET / http/1.1", ERR_MALFORMED_REQUEST }, { "GET * HTTP/1.1", ERR_MALFORMED_REQUEST },
		{ "GET a HTTP/1.1", ERR_MALFORMED_REQUEST }, { "GET /a#b HTTP/1.1", ERR_MALFORMED_REQUEST }, { "G(T / HTTP/1.1", ERR_MALFORMED_REQUEST },
		{ "get / HTTP/1.1", ERR_NOT_IMPLEMENTED }, { "TRACE / HTTP/1.1", ERR_NOT_IMPLEMENTED }, { "PUT / HTTP/1.1", ERR_LENGTH_REQUIRED },
		{ "GET /\x7f HTTP/1.1", ERR_MALFORMED_REQUEST }, { "GET /\xc3\xa9 HTTP/1.1", OK }, { "GET http://a.b HTTP/1.1", OK },
		{ "GET HTTPS://a.b:8/c HTTP/1.1", OK }, { "GET http:/a.b HTTP/1.1", ERR_MALFORMED_REQUEST },
		{ "GET http:// HTTP/1.1", ERR_MALFORMED_REQUEST }, { "GET https:/ HTTP/1.1", ERR_MALFORMED_REQUEST },
	};
	char block[400];

	for (size_t i = 0; i < COUNT(cases); i++) {
		snprintf(block, sizeof(block), "%s\r\n" HOST "\r\n", cases[i].line);
		assert_int_equal(parse(block), cases[i].status);
	}
}

static void
the_host_of_an_absolute_target_wins(void **state)
{
	assert_int_equal(parse("GET http://other.example:99/a?b HTTP/1.1\r\n" HOST "\r\n"), OK);
	assert_true(str_is(m.host, "other.example:99"));
	assert_true(str_is(m.target, "/a?b"));
	assert_int_equal(parse("GET http://other.example HTTP/1.1\r\n" HOST "\r\n"), OK);
	assert_true(str_is(m.target, "/"));
}

static void
malformed_fields_are_refused(void **state)
{
	static const char *const fields[] = { "a", ": b", "a : b", " a: b", "\ta: b", "a: b\x01", "a: b\x7f", "a: b\rc", "\xc3\xa4: b", "a[: b" };
	char block[400];

	for (size_t i = 0; i < COUNT(fields); i++) {
		snprintf(block, sizeof(block), "GET / HTTP/1.1\r\n" HOST "%s\r\n\r\n", fields[i]);
		assert_int_equal(parse(block), ERR_MALFORMED_REQUEST);
	}
	assert_int_equal(message_parse(&m, (struct str){ "GET / HTTP/1.1\r\nHost: a\r\nb: \0\r\n\r\n", 34 }), ERR_MALFORMED_REQUEST);
	assert_int_equal(parse("GET / HTTP/1.1\r\nX: y\r\n\r\n"), ERR_MALFORMED_REQUEST);
}

static void
connection_options_are_a_list(void **state)
{
	assert_int_equal(parse("GET / HTTP/1.1\r\n" HOST "Connection: TE, Close\r\nTE: trailers\r\n\r\n"), OK);
	assert_true(m.wants_close);
	assert_int_equal(parse("GET / HTTP/1.1\r\n" HOST "Connection: closed, x\r\n\r\n"), OK);
	assert_false(m.wants_close);
	assert_int_equal(parse("GET / HTTP/1.0\r\n" HOST "Expect: 100-continue\r\n\r\n"), OK);
	assert_true(m.wants_close && !m.wants_continue);
	assert_int_equal(parse("POST / HTTP/1.1\r\n" HOST "Expect: 100-Continue\r\n\r\n"), OK);
	assert_true(m.wants_continue);
}

static void
there_is_a_greatest_number_of_fields(void **state)
{
	char block[MESSAGE_BYTES_MAX];

	for (int n = MESSAGE_LINES_MAX - 1; n <= MESSAGE_LINES_MAX + 1; n++) {
		size_t len = (size_t)snprintf(block, sizeof(block), "GET / HTTP/1.1\r\n" HOST);

		for (int i = 1; i < n; i++)
			len += (size_t)snprintf(block + len, sizeof(block) - len, "X-%d: 1\r\n", i);
		snprintf(block + len, sizeof(block) - len, "\r\n");
		assert_int_equal(parse(block), n <= MESSAGE_LINES_MAX ? OK : ERR_HEADERS);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_block_ends_behind_its_empty_line),
		cmocka_unit_test(empty_lines_in_front_are_part_of_the_block),
		cmocka_unit_test(a_line_end_without_cr_is_refused_at_once),
		cmocka_unit_test(a_block_has_a_greatest_length),
		cmocka_unit_test(a_request_is_taken_apart),
		cmocka_unit_test(framing_fields_are_read_strictly),
		cmocka_unit_test(request_lines_are_read_strictly),
		cmocka_unit_test(the_host_of_an_absolute_target_wins),
		cmocka_unit_test(malformed_fields_are_refused),
		cmocka_unit_test(connection_options_are_a_list),
		cmocka_unit_test(there_is_a_greatest_number_of_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
