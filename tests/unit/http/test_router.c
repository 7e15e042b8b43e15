/* test_router.c - paths to routes, and hosts to origins. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "core/idempotency.h"
#include "http/hosts.h"
#include "http/router.h"

static const struct route *
find(enum method m, const char *path, struct str params[4])
{
	const struct route *r;

	return router_find(&r, m, str_of(path), params) == OK ? r : NULL;
}

static void
named_routes_come_before_content(void **state)
{
	struct str params[4] = { 0 };

	assert_ptr_equal(find(METHOD_GET, "/robots.txt", NULL)->handler, handle_robots);
	assert_ptr_equal(find(METHOD_HEAD, "/robots.txt", NULL)->handler, handle_robots);
	assert_ptr_equal(find(METHOD_GET, "/robots.txt/", NULL)->handler, handle_content);
	assert_ptr_equal(find(METHOD_GET, "/", NULL)->handler, handle_content);
	assert_ptr_equal(find(METHOD_GET, "/sitemap-12.xml", params)->handler, handle_sitemap_part);
	assert_true(str_is(params[0], "12"));
	assert_ptr_equal(find(METHOD_GET, "/sitemap-.xml", NULL)->handler, handle_content);
	assert_ptr_equal(find(METHOD_POST, "/api/v1/articles/a%2Fb/publish", params)->handler, handle_article_publish);
	assert_true(str_is(params[0], "a%2Fb"));
}

static void
nothing_below_api_is_content(void **state)
{
	static const char *const paths[] = { "/api", "/api/", "/api/v1", "/api/v1/articles/", "/api/v1/articles//publish", "/api/v2/articles" };
	const struct route *r;

	for (size_t i = 0; i < COUNT(paths); i++) {
		assert_int_equal(router_find(&r, METHOD_GET, str_of(paths[i]), NULL), ERR_NOT_FOUND);
		assert_int_equal(router_kind(str_of(paths[i])), ROUTE_API);
	}
	assert_int_equal(router_kind(STR("/apis")), ROUTE_PUBLIC);
	assert_int_equal(router_kind(STR("/healthz")), ROUTE_ANY_HOST);
}

static void
other_methods_are_refused_where_a_route_is(void **state)
{
	struct scope *s = scope_new("test");
	const struct route *r;

	assert_int_equal(router_find(&r, METHOD_POST, STR("/"), NULL), ERR_METHOD);
	assert_int_equal(router_find(&r, METHOD_DELETE, STR("/robots.txt"), NULL), ERR_METHOD);
	assert_int_equal(router_find(&r, METHOD_PUT, STR("/api/v1/articles"), NULL), ERR_METHOD);
	assert_string_equal(router_allow(s, STR("/")), "GET, HEAD, OPTIONS");
	assert_string_equal(router_allow(s, STR("/api/v1/articles")), "GET, HEAD, POST, OPTIONS");
	scope_free(s);
}

static void
every_write_of_the_api_has_its_rule(void **state)
{
	static const struct { enum method method; const char *pattern; } routes[] = {
#define ROUTE(method, pattern, handler, limit, kind) { METHOD_##method, pattern },
#include "http/routes.def"
#undef ROUTE
	};
	size_t writes = 0;

	for (size_t i = 0; i < COUNT(routes); i++) {
		bool has_rule = false;

		if (routes[i].method <= METHOD_HEAD)
			continue;
		writes++;
		for (enum write_id w = 0; w < WRITE_COUNT && !has_rule; w++)
			has_rule = strcmp(write_rule(w)->route, routes[i].pattern) == 0 &&
			    strcmp(write_rule(w)->method, method_name(routes[i].method)) == 0;
		assert_true(has_rule);
	}
	assert_int_equal(writes, WRITE_COUNT);
}

static enum host_rule
rule(const struct config *c, const char *peer, const char *host, enum route_kind kind, const char *proto)
{
	const struct header fields[] = { { STR("X-Forwarded-Proto"), str_of(proto) }, { STR("X-Forwarded-Host"), STR("") } };
	const struct request r = { .host = str_of(host), .peer = str_of(peer), .headers = fields, .header_count = proto != NULL ? 2 : 0 };
	const char *origin;

	return host_rule(c, &r, kind, &origin);
}

static void
hosts_are_ours_elsewhere_or_unknown(void **state)
{
	const char *aliases[] = { "www.example.org", "old.example", NULL }, *proxies[] = { "10.0.0.1", NULL };
	const struct config c = { .public_origin = "https://example.org", .admin_origin = "https://edit.example.org:8443",
		.aliases = aliases, .trusted_proxies = proxies };

	assert_int_equal(rule(&c, "1.2.3.4", "example.org", ROUTE_PUBLIC, NULL), HOST_OURS);
	assert_int_equal(rule(&c, "1.2.3.4", "EXAMPLE.ORG:443", ROUTE_PUBLIC, NULL), HOST_OURS);
	assert_int_equal(rule(&c, "1.2.3.4", "example.org:80", ROUTE_PUBLIC, NULL), HOST_UNKNOWN);
	assert_int_equal(rule(&c, "1.2.3.4", "example.org.evil", ROUTE_PUBLIC, NULL), HOST_UNKNOWN);
	assert_int_equal(rule(&c, "1.2.3.4", "old.example:8080", ROUTE_PUBLIC, NULL), HOST_ELSEWHERE);
	assert_int_equal(rule(&c, "1.2.3.4", "edit.example.org:8443", ROUTE_PUBLIC, NULL), HOST_ELSEWHERE);
	assert_int_equal(rule(&c, "1.2.3.4", "edit.example.org:8443", ROUTE_API, NULL), HOST_OURS);
	assert_int_equal(rule(&c, "1.2.3.4", "example.org", ROUTE_API, NULL), HOST_ELSEWHERE);
	assert_int_equal(rule(&c, "1.2.3.4", "anything", ROUTE_ANY_HOST, NULL), HOST_OURS);
	assert_int_equal(rule(&c, "1.2.3.4", "anything", ROUTE_API, NULL), HOST_UNKNOWN);
}

static void
only_trusted_proxies_are_believed(void **state)
{
	const char *none[] = { NULL }, *proxies[] = { "10.0.0.1", NULL };
	const struct config c = { .public_origin = "https://example.org", .admin_origin = "https://example.org",
		.aliases = none, .trusted_proxies = proxies };
	const struct header forwarded[] = { { STR("X-Forwarded-Host"), STR("example.org") } };
	struct request r = { .host = STR("127.0.0.1:8080"), .peer = STR("10.0.0.1"), .headers = forwarded, .header_count = 1 };
	const char *origin;

	assert_int_equal(rule(&c, "1.2.3.4", "example.org", ROUTE_PUBLIC, "http"), HOST_OURS);
	assert_int_equal(rule(&c, "10.0.0.1", "example.org", ROUTE_PUBLIC, "http"), HOST_ELSEWHERE);
	assert_int_equal(rule(&c, "10.0.0.1", "example.org", ROUTE_PUBLIC, "https"), HOST_OURS);
	assert_int_equal(rule(&c, "10.0.0.1", "example.org", ROUTE_PUBLIC, ""), HOST_OURS);
	assert_int_equal(host_rule(&c, &r, ROUTE_PUBLIC, &origin), HOST_OURS);
	r.peer = STR("10.0.0.2");
	assert_int_equal(host_rule(&c, &r, ROUTE_PUBLIC, &origin), HOST_UNKNOWN);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(named_routes_come_before_content),
		cmocka_unit_test(nothing_below_api_is_content),
		cmocka_unit_test(other_methods_are_refused_where_a_route_is),
		cmocka_unit_test(every_write_of_the_api_has_its_rule),
		cmocka_unit_test(hosts_are_ours_elsewhere_or_unknown),
		cmocka_unit_test(only_trusted_proxies_are_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
