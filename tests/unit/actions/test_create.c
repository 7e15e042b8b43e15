#include "actions/writes.h"

#define P1 "{\"title\":\"T1\",\"content\":\"C1\"}"

static void
draft_gets_slug_path_and_author(void **state)
{
	struct world *w = *state;
	json_t *a = world_made(w, &w->alice, KIND_ARTICLE, P1, 201);

	assert_text(a, "kind", "article");
	assert_text(a, "state", "draft");
	assert_text(a, "slug", "t1");
	assert_text(a, "path", "/articles/t1");
	assert_text(a, "url", BASE "/articles/t1");
	assert_text(a, "canonical", BASE "/articles/t1");
	assert_text(a, "author.name", "alice");
	assert_text(a, "author.url", BASE "/authors/alice");
	assert_text(a, "in_sitemap.reason", "draft");
	assert_int_equal(json_integer_value(json_object_get(a, "version")), 1);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM resource WHERE kind = 'article'"), 1);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM outbox"), 1);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM idempotency_record WHERE status = 'SUCCESS' AND resource_id IS NOT NULL"), 1);
	json_decref(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(draft_gets_slug_path_and_author, world_setup, world_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
