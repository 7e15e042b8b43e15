/* test_respond.c - responses as bytes: fields, validators, codings, replays. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "base/clock.h"
#include "http/respond.h"

static struct scope *s;

static int
setup(void **state)
{
	s = scope_new("test");
	return 0;
}

static int
teardown(void **state)
{
	scope_free(s);
	return 0;
}

static const char *
head_of(const struct wire *w)
{
	return arena_strndup(s->arena, w->bytes, w->head_len);
}

static struct prepared
prepare(struct response *r, enum route_kind kind, const struct header *fields, size_t n)
{
	const struct request request = { .method = METHOD_GET, .headers = fields, .header_count = n };
	struct prepared p;

	respond_prepare(s, &request, kind, r, &p);
	return p;
}

static void
drop(struct prepared p)
{
	wire_drop(p.full);
	wire_drop(p.not_modified);
}

static struct response
page(void)
{
	return (struct response){ .status = 200, .type = "text/html; charset=utf-8",
		.body = str_of(scope_printf(s, "<p>%01000d</p>", 1)) };
}

static void
a_public_page_has_validators_and_policies(void **state)
{
	struct response r = page();
	struct prepared p = prepare(&r, ROUTE_PUBLIC, NULL, 0);
	const char *head = head_of(p.full);

	assert_int_equal(strncmp(head, "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: 1007\r\n", 76), 0);
	assert_non_null(strstr(head, "\r\nETag: \""));
	assert_non_null(strstr(head, "\r\nVary: Accept-Encoding\r\n"));
	assert_non_null(strstr(head, "\r\nCache-Control: public, "));
	assert_non_null(strstr(head, "\r\nX-Content-Type-Options: nosniff\r\n"));
	assert_non_null(strstr(head, "\r\nContent-Security-Policy: default-src 'self';"));
	assert_null(strstr(head, "unsafe-inline"));
	assert_false(p.is_hit);
	drop(p);
}

static void
each_coding_has_its_own_tag(void **state)
{
	static const char *const names[] = { "identity", "gzip", "br" };
	char tags[3][64];

	for (size_t i = 0; i < COUNT(names); i++) {
		const struct header accept = { STR("Accept-Encoding"), str_of(names[i]) };
		struct response r = page();
		struct prepared p = prepare(&r, ROUTE_PUBLIC, &accept, 1);

		memcpy(tags[i], p.etag, sizeof(p.etag));
		assert_int_equal(strstr(head_of(p.full), "Content-Encoding: ") != NULL, i > 0);
		assert_true(i == 0 || p.full->body_len < 200);
		drop(p);
	}
	assert_string_not_equal(tags[0], tags[1]);
	assert_string_not_equal(tags[1], tags[2]);
}

static void
small_binary_and_api_bodies_are_not_compressed(void **state)
{
	const struct header accept = { STR("Accept-Encoding"), STR("br, gzip") };
	struct response cases[3] = { page(), page(), page() };
	enum route_kind kinds[] = { ROUTE_PUBLIC, ROUTE_PUBLIC, ROUTE_API };

	cases[0].body.len = 100;
	cases[1].type = "image/png";
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct prepared p = prepare(&cases[i], kinds[i], &accept, 1);

		assert_null(strstr(head_of(p.full), "Content-Encoding"));
		drop(p);
	}
}

static void
a_304_repeats_what_a_200_would_say_of_it(void **state)
{
	struct response r = page();
	struct prepared p;
	const char *head;

	response_header(&r, "Last-Modified", "Sun, 06 Nov 1994 08:49:37 GMT");
	response_header(&r, "Link", "<https://example.org/>; rel=\"canonical\"");
	p = prepare(&r, ROUTE_PUBLIC, NULL, 0);
	head = head_of(p.not_modified);
	assert_int_equal(strncmp(head, "HTTP/1.1 304 Not Modified\r\n", 27), 0);
	assert_non_null(strstr(head, "\r\nETag: "));
	assert_non_null(strstr(head, "\r\nVary: "));
	assert_non_null(strstr(head, "\r\nCache-Control: "));
	assert_null(strstr(head, "Content-Length"));
	assert_null(strstr(head, "Content-Type:"));
	assert_int_equal(p.not_modified->body_len, 0);
	assert_int_equal(p.modified_at, INT64_C(784111777000));
	drop(p);
}

static void
conditions_follow_their_order(void **state)
{
	struct header match = { STR("If-None-Match"), STR("\"a\"") }, other = { STR("If-None-Match"), STR("\"b\"") };
	struct header since = { STR("If-Modified-Since"), STR("Sun, 06 Nov 1994 08:49:37 GMT") };
	struct header both[] = { other, since };
	struct request r = { .method = METHOD_GET, .headers = &match, .header_count = 1 };
	int64_t at = INT64_C(784111777000);

	assert_true(respond_is_fresh(&r, "\"a\"", at));
	r.method = METHOD_POST;
	assert_false(respond_is_fresh(&r, "\"a\"", at));
	r = (struct request){ .method = METHOD_HEAD, .headers = both, .header_count = 2 };
	assert_false(respond_is_fresh(&r, "\"a\"", at));
	r = (struct request){ .method = METHOD_GET, .headers = &since, .header_count = 1 };
	assert_true(respond_is_fresh(&r, "\"a\"", at));
	assert_true(respond_is_fresh(&r, "\"a\"", at + 999));
	assert_false(respond_is_fresh(&r, "\"a\"", at + 1000));
	assert_false(respond_is_fresh(&r, "\"a\"", 0));
	since.value = STR("soon");
	assert_false(respond_is_fresh(&r, "\"a\"", at));
}

static void
conditions_apply_to_nothing_but_a_200(void **state)
{
	const struct header any = { STR("If-None-Match"), STR("*") };
	struct response r = { .status = 404, .type = "text/html", .body = STR("gone") };
	struct prepared p = prepare(&r, ROUTE_PUBLIC, &any, 1);

	assert_null(p.not_modified);
	assert_false(p.is_hit);
	drop(p);
}

static void
a_value_cannot_begin_a_line_of_its_own(void **state)
{
	struct response r = { .status = 301, .type = "text/plain", .body = STR("") };
	struct prepared p;

	response_header(&r, "Location", "https://example.org/\r\nSet-Cookie: a=b");
	p = prepare(&r, ROUTE_PUBLIC, NULL, 0);
	assert_null(strstr(head_of(p.full), "Set-Cookie"));
	drop(p);
}

static void
a_replay_says_that_it_is_one(void **state)
{
	struct unit unit = { .answer = { .status = 200, .location = "/api/v1/articles/x", .etag = "\"1\"", .body = STR("{}"),
		.replayed = true, .original_status = 201 } };
	struct exchange ex = { .unit = &unit };
	struct prepared p;
	const char *head;

	respond_answer(s, &ex);
	p = prepare(&ex.response, ROUTE_API, NULL, 0);
	head = head_of(p.full);
	assert_non_null(strstr(head, "\r\nLocation: /api/v1/articles/x\r\n"));
	assert_non_null(strstr(head, "\r\nETag: \"1\"\r\n"));
	assert_non_null(strstr(head, "\r\nIdempotent-Replayed: true\r\n"));
	assert_non_null(strstr(head, "\r\nIdempotency-Original-Status: 201\r\n"));
	assert_non_null(strstr(head, "\r\nCache-Control: private, no-store\r\n"));
	drop(p);
	unit.answer.replayed = false;
	unit.answer.is_problem = true;
	respond_answer(s, &ex);
	p = prepare(&ex.response, ROUTE_API, NULL, 0);
	head = head_of(p.full);
	assert_non_null(strstr(head, "\r\nIdempotent-Replayed: false\r\n"));
	assert_null(strstr(head, "Original-Status"));
	assert_non_null(strstr(head, "\r\nContent-Type: application/problem+json\r\n"));
	drop(p);
}

static void
errors_bring_the_fields_that_go_with_them(void **state)
{
	static const struct { enum status status; const char *path, *field; } cases[] = {
		{ ERR_KEY_REQUIRED, "/api/v1/articles", "\r\nLink: </docs/idempotency>; rel=\"describedby\"\r\n" },
		{ ERR_BUSY, "/api/v1/articles", "\r\nRetry-After: 1\r\n" }, { ERR_STORAGE, "/", "\r\nRetry-After: 1\r\n" },
		{ ERR_RATE, "/api/v1/articles", "\r\nRetry-After: 1\r\n" }, { ERR_METHOD, "/", "\r\nAllow: GET, HEAD, OPTIONS\r\n" },
		{ ERR_UNAUTHENTICATED, "/api/v1/articles", "\r\nWWW-Authenticate: Bearer\r\n" },
		{ ERR_NOT_FOUND, "/x", "\r\nContent-Type: text/html; charset=utf-8\r\n" },
		{ ERR_NOT_FOUND, "/api/x", "\r\nContent-Type: application/problem+json\r\n" },
	};

	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct request request = { .path = str_of(cases[i].path) };
		struct exchange ex = { .request = &request };
		struct prepared p;

		respond_error(s, &ex, cases[i].status);
		assert_int_equal(ex.response.status, status_info(cases[i].status)->http);
		p = prepare(&ex.response, router_kind(request.path), NULL, 0);
		assert_non_null(strstr(head_of(p.full), cases[i].field));
		drop(p);
	}
}

static void
the_tail_ends_the_head(void **state)
{
	char tail[WIRE_TAIL_MAX + 1];

	tail[wire_tail(tail, INT64_C(784111777123), "id-1", false)] = '\0';
	assert_string_equal(tail, "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nX-Request-Id: id-1\r\n\r\n");
	tail[wire_tail(tail, INT64_C(784111778123), "id-2", true)] = '\0';
	assert_string_equal(tail, "Date: Sun, 06 Nov 1994 08:49:38 GMT\r\nX-Request-Id: id-2\r\nConnection: close\r\n\r\n");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_public_page_has_validators_and_policies, setup, teardown),
		cmocka_unit_test_setup_teardown(each_coding_has_its_own_tag, setup, teardown),
		cmocka_unit_test_setup_teardown(small_binary_and_api_bodies_are_not_compressed, setup, teardown),
		cmocka_unit_test_setup_teardown(a_304_repeats_what_a_200_would_say_of_it, setup, teardown),
		cmocka_unit_test_setup_teardown(conditions_follow_their_order, setup, teardown),
		cmocka_unit_test_setup_teardown(conditions_apply_to_nothing_but_a_200, setup, teardown),
		cmocka_unit_test_setup_teardown(a_value_cannot_begin_a_line_of_its_own, setup, teardown),
		cmocka_unit_test_setup_teardown(a_replay_says_that_it_is_one, setup, teardown),
		cmocka_unit_test_setup_teardown(errors_bring_the_fields_that_go_with_them, setup, teardown),
		cmocka_unit_test_setup_teardown(the_tail_ends_the_head, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
