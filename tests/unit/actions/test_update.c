#include "actions/writes.h"

#define PATCH(who, id, patch, version) world_updated(w, &w->who, KIND_ARTICLE, id, patch, version)

static json_t *
article(struct world *w, const char *body)
{
	return world_made(w, &w->alice, KIND_ARTICLE, body, 201);
}

static enum status
update_status(struct world *w, const struct principal *who, const char *id, const char *patch, const char *if_match)
{
	struct unit *u;

	return world_update(w, who, KIND_ARTICLE, id, patch, if_match, &u);
}

/* The HTTP status of an answer that is stored. */
static int
stored_status(struct world *w, enum kind kind, const char *id, const char *patch, const char *if_match, const char *code)
{
	struct unit *u;

	assert_ok(w->f.s, world_update(w, &w->bob, kind, id, patch, if_match, &u));
	if (u->answer.is_problem)
		assert_non_null(strstr(u->answer.body.p, code));
	return u->answer.status;
}

static void
patch_merges_into_a_new_revision(void **state)
{
	struct world *w = *state;
	json_t *a = article(w, "{\"title\":\"a\",\"content\":\"c\",\"summary\":\"s\",\"tags\":[\"x\"],\"fields\":{\"k\":1,\"l\":{\"m\":2}},\"seo\":{\"title\":\"st\"}}"), *b;

	b = PATCH(alice, text_at(a, "id"), "{\"title\":\"b\",\"summary\":null,\"fields\":{\"k\":null,\"l\":{\"n\":3}},\"seo\":{\"noindex\":true}}", "\"1\"");
	assert_text(b, "title", "b");
	assert_true(json_is_null(json_object_get(b, "summary")));
	assert_text(b, "slug", "a");
	assert_text(b, "seo.title", "st");
	assert_true(json_is_true(json_object_get(json_object_get(b, "seo"), "noindex")));
	assert_null(json_object_get(json_object_get(b, "fields"), "k"));
	assert_int_equal(json_object_size(json_object_get(json_object_get(b, "fields"), "l")), 2);
	assert_int_equal(json_array_size(json_object_get(b, "tags")), 1);
	assert_int_equal(json_integer_value(json_object_get(b, "version")), 2);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM revision v JOIN resource r ON r.id = v.resource_id WHERE r.kind = 'article'"), 2);
	assert_int_equal(ask(&w->f, "SELECT source = 'c' FROM revision WHERE number = 2"), 1);
	json_decref(a);
	json_decref(b);
}

static void
tags_and_author_change_and_go(void **state)
{
	struct world *w = *state;
	json_t *a = article(w, "{\"title\":\"a\",\"tags\":[\"x\",\"y\"]}"), *b;

	b = PATCH(alice, text_at(a, "id"), "{\"tags\":[\"y\",\"z\"],\"author\":null}", "\"1\"");
	assert_text(json_array_get(json_object_get(b, "tags"), 0), "slug", "y");
	assert_text(json_array_get(json_object_get(b, "tags"), 1), "slug", "z");
	assert_true(json_is_null(json_object_get(b, "author")));
	json_decref(b);
	b = PATCH(alice, text_at(a, "id"), "{\"tags\":null,\"author\":\"alice\"}", "\"2\"");
	assert_int_equal(json_array_size(json_object_get(b, "tags")), 0);
	assert_text(b, "author.slug", "alice");
	json_decref(a);
	json_decref(b);
}

static void
fields_survive_an_edit_whatever_they_hold(void **state)
{
	static const char fields[] = "{\"title\":\"a\",\"fields\":{\"\\\"\":\"\\u0001\\u2028\",\"big\":9223372036854775807,\"r\":0.1,\"e\":{}}}";
	struct world *w = *state;
	json_t *body = json_loads(fields, 0, NULL), *a, *b;

	char *text = json_dumps(body, 0);
	a = article(w, text);
	b = PATCH(alice, text_at(a, "id"), "{\"title\":\"b\"}", "\"1\"");
	assert_int_equal(ask(&w->f, "SELECT count(DISTINCT fields) FROM revision WHERE title IN ('a', 'b')"), 1);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM revision WHERE title IN ('a', 'b')"), 2);
	assert_int_equal(json_integer_value(json_object_get(json_object_get(b, "fields"), "big")), INT64_MAX);
	free(text);
	json_decref(body);
	json_decref(a);
	json_decref(b);
}

static void
patch_that_changes_nothing_is_no_edit(void **state)
{
	struct world *w = *state;
	json_t *a = article(w, "{\"title\":\"a\",\"content\":\"c\",\"tags\":[\"x\"],\"fields\":{\"b\":1,\"a\":2}}"), *b;

	b = PATCH(alice, text_at(a, "id"), "{\"title\":\"a\",\"tags\":[\"X\"],\"fields\":{\"a\":2}}", "\"1\"");
	assert_int_equal(json_integer_value(json_object_get(b, "version")), 1);
	json_decref(b);
	b = PATCH(alice, text_at(a, "id"), "{}", "*");
	assert_int_equal(json_integer_value(json_object_get(b, "version")), 1);
	assert_int_equal(ask(&w->f, "SELECT max(number) FROM revision"), 1);
	json_decref(a);
	json_decref(b);
}

static void
version_must_be_given_and_current(void **state)
{
	struct world *w = *state;
	json_t *a = article(w, "{\"title\":\"a\"}");
	const char *id = text_at(a, "id");

	assert_int_equal(update_status(w, &w->alice, id, "{\"title\":\"b\"}", NULL), ERR_PRECONDITION);
	assert_int_equal(update_status(w, &w->alice, id, "{\"title\":\"b\"}", "\"2\""), ERR_VERSION);
	assert_non_null(strstr(w->f.s->error->detail, "\"1\""));
	assert_int_equal(update_status(w, &w->alice, id, "{\"title\":\"b\"}", "W/\"1\""), ERR_VERSION);
	assert_int_equal(update_status(w, &w->alice, id, "{\"title\":\"b\"}", "1"), ERR_VERSION);
	json_decref(PATCH(alice, id, "{\"title\":\"b\"}", "\"7\", \"1\""));
	assert_int_equal(update_status(w, &w->alice, id, "{\"title\":\"c\"}", "\"1\""), ERR_VERSION);
	json_decref(a);
}

static void
of_two_edits_of_one_version_one_is_refused(void **state)
{
	struct world *w = *state;
	struct scope *s = w->f.s;
	json_t *a = article(w, "{\"title\":\"a\"}");
	struct change c = { .kind = KIND_ARTICLE, .id = text_at(a, "id") };
	struct unit *units[2];
	int i;

	for (i = 0; i < 2; i++) {
		units[i] = world_unit(w, &w->alice, write_rule(WRITE_ARTICLE_UPDATE), NULL, i == 0 ? "x" : "y");
		units[i]->if_match = i == 0 ? "\"1\"" : "*";
		c.body = json_pack("{s:s}", "title", i == 0 ? "x" : "y");
		assert_ok(s, db_begin(s, w->read));
		assert_ok(s, world_prepare_update(w, units[i], &c));
		db_rollback(w->read);
		json_decref(c.body);
	}
	assert_ok(s, writer_run(s, w->f.db, w->f.shared, unit_apply, units[0]));
	assert_int_equal(writer_run(s, w->f.db, w->f.shared, unit_apply, units[1]), ERR_VERSION);
	assert_int_equal(ask(&w->f, "SELECT edit_version FROM resource WHERE kind = 'article'"), 2);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM idempotency_record WHERE status <> 'SUCCESS'"), 0);
	json_decref(a);
}

static void
strangers_see_no_draft_and_may_not_edit(void **state)
{
	struct world *w = *state;
	struct principal carol = world_user(w, "carol", ROLE_AUTHOR);
	json_t *a = article(w, "{\"title\":\"a\"}"), *b = article(w, "{\"title\":\"b\",\"state\":\"published\"}");

	assert_int_equal(update_status(w, &carol, text_at(a, "id"), "{\"title\":\"x\"}", "\"1\""), ERR_NOT_FOUND);
	assert_int_equal(update_status(w, &carol, text_at(b, "id"), "{\"title\":\"x\"}", "\"1\""), ERR_DENIED);
	assert_int_equal(update_status(w, &w->viewer, text_at(a, "id"), "{\"title\":\"x\"}", "\"1\""), ERR_DENIED);
	json_decref(PATCH(bob, text_at(a, "id"), "{\"title\":\"x\"}", "\"1\""));
	json_decref(a);
	json_decref(b);
}

static void
unknown_and_fixed_members_are_refused(void **state)
{
	static const char *const patches[] = { "{\"state\":\"published\"}", "{\"locale\":\"de\"}", "{\"client_ref\":\"x\"}", "{\"version\":3}",
		"{\"parent\":\"x\"}", "{\"title\":null}", "{\"slug\":null}", "{\"slug\":\"\"}", "{\"seo\":{\"x\":1}}", "{\"fields\":7}", "7", "[]",
		"{\"author\":\"nobody\"}" };
	struct world *w = *state;
	json_t *a = article(w, "{\"title\":\"a\"}");
	size_t i;

	for (i = 0; i < COUNT(patches); i++) {
		enum status status = update_status(w, &w->alice, text_at(a, "id"), patches[i], "\"1\"");

		if (status_info(status)->http != 422)
			print_error("%s: %s\n", patches[i], status_info(status)->code);
		assert_int_equal(status_info(status)->http, 422);
	}
	json_decref(a);
}

static void
edit_of_a_live_article_changes_nothing_public(void **state)
{
	struct world *w = *state;
	json_t *a = article(w, "{\"title\":\"a\",\"state\":\"published\",\"tags\":[\"x\"]}"), *b;
	int64_t changes = ask(&w->f, "SELECT count(*) FROM change_log"), events = ask(&w->f, "SELECT count(*) FROM outbox");

	b = PATCH(alice, text_at(a, "id"), "{\"title\":\"b\",\"tags\":[],\"author\":null}", "\"1\"");
	assert_true(json_is_true(json_object_get(b, "has_unpublished_changes")));
	assert_text(b, "path", "/articles/a");
	assert_int_equal(ask(&w->f, "SELECT live_title = 'a' AND live_author IS NOT NULL FROM resource WHERE kind = 'article'"), 1);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM live_tag"), 1);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM change_log"), changes);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM outbox"), events);
	json_decref(a);
	json_decref(b);
}

static void
slug_may_change_until_it_was_public(void **state)
{
	struct world *w = *state;
	json_t *a = article(w, "{\"title\":\"a\"}"), *b;
	const char *id = text_at(a, "id");

	json_decref(article(w, "{\"title\":\"other\"}"));
	b = PATCH(alice, id, "{\"slug\":\"New Name\"}", "\"1\"");
	assert_text(b, "slug", "new-name");
	assert_text(b, "path", "/articles/new-name");
	json_decref(b);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM path WHERE path = '/articles/a'"), 0);
	assert_int_equal(stored_status(w, KIND_ARTICLE, id, "{\"slug\":\"other\"}", "\"2\"", "slug_conflict"), 409);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM path WHERE path = '/articles/new-name'"), 1);
	json_decref(world_moved(w, &w->alice, KIND_ARTICLE, id, MOVE_PUBLISH));
	assert_int_equal(stored_status(w, KIND_ARTICLE, id, "{\"slug\":\"third\"}", "\"3\"", "state_conflict"), 409);
	json_decref(world_moved(w, &w->alice, KIND_ARTICLE, id, MOVE_WITHDRAW));
	assert_int_equal(stored_status(w, KIND_ARTICLE, id, "{\"slug\":\"third\"}", "\"4\"", "state_conflict"), 409);
	/* The slug it has is no change. */
	assert_int_equal(stored_status(w, KIND_ARTICLE, id, "{\"slug\":\"new-name\",\"title\":\"t\"}", "\"4\"", ""), 200);
	json_decref(a);
}

static void
reserved_slug_is_refused_on_update_too(void **state)
{
	struct world *w = *state;
	struct unit *u;
	json_t *a = world_made(w, &w->bob, KIND_PAGE, "{\"title\":\"x\"}", 201);

	assert_int_equal(world_update(w, &w->bob, KIND_PAGE, text_at(a, "id"), "{\"slug\":\"admin\"}", "\"1\"", &u), ERR_RESERVED);
	json_decref(a);
}

static void
pages_below_follow(void **state)
{
	struct world *w = *state;
	json_t *a = world_made(w, &w->bob, KIND_PAGE, "{\"title\":\"a\"}", 201), *c;

	json_decref(world_made(w, &w->bob, KIND_PAGE, "{\"title\":\"b\",\"parent\":\"/a\"}", 201));
	c = world_made(w, &w->bob, KIND_PAGE, "{\"title\":\"c\",\"parent\":\"/a/b\"}", 201);
	json_decref(world_updated(w, &w->bob, KIND_PAGE, text_at(a, "id"), "{\"slug\":\"z\"}", "\"1\""));
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM path WHERE path IN ('/z', '/z/b', '/z/b/c') AND fold = path"), 3);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM path WHERE path LIKE '/a%' AND path NOT LIKE '/authors%'"), 0);
	/* As soon as one below was seen, the whole branch stands. */
	json_decref(world_moved(w, &w->bob, KIND_PAGE, text_at(c, "id"), MOVE_PUBLISH));
	assert_int_equal(stored_status(w, KIND_PAGE, text_at(a, "id"), "{\"slug\":\"y\"}", "\"2\"", "state_conflict"), 409);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM path WHERE path IN ('/z', '/z/b', '/z/b/c')"), 3);
	json_decref(a);
	json_decref(c);
}

static void
page_cannot_stand_below_itself(void **state)
{
	struct world *w = *state;
	json_t *a = world_made(w, &w->bob, KIND_PAGE, "{\"title\":\"a\"}", 201);
	struct unit *u;

	json_decref(world_made(w, &w->bob, KIND_PAGE, "{\"title\":\"b\",\"parent\":\"/a\"}", 201));
	assert_int_equal(world_update(w, &w->bob, KIND_PAGE, text_at(a, "id"), "{\"parent\":\"/a/b\"}", "\"1\"", &u), ERR_INVALID);
	assert_int_equal(world_update(w, &w->bob, KIND_PAGE, text_at(a, "id"), "{\"parent\":\"/a\"}", "\"1\"", &u), ERR_INVALID);
	json_decref(a);
}

static void
page_moves_to_another_parent_and_out(void **state)
{
	struct world *w = *state;
	json_t *a = world_made(w, &w->bob, KIND_PAGE, "{\"title\":\"a\"}", 201), *b = world_made(w, &w->bob, KIND_PAGE, "{\"title\":\"b\"}", 201), *c;

	c = world_updated(w, &w->bob, KIND_PAGE, text_at(b, "id"), "{\"parent\":\"/a\"}", "\"1\"");
	assert_text(c, "path", "/a/b");
	json_decref(c);
	/* A patch about something else keeps it there. */
	c = world_updated(w, &w->bob, KIND_PAGE, text_at(b, "id"), "{\"title\":\"B\"}", "\"2\"");
	assert_text(c, "path", "/a/b");
	json_decref(c);
	c = world_updated(w, &w->bob, KIND_PAGE, text_at(b, "id"), "{\"parent\":null}", "\"3\"");
	assert_text(c, "path", "/b");
	json_decref(a);
	json_decref(b);
	json_decref(c);
}

static void
renamed_tag_is_found_by_its_new_name(void **state)
{
	struct world *w = *state;
	json_t *a = world_made(w, &w->bob, KIND_TAG, "{\"title\":\"Old\"}", 201), *b;

	json_decref(world_updated(w, &w->bob, KIND_TAG, text_at(a, "id"), "{\"title\":\"New\"}", "\"1\""));
	b = article(w, "{\"title\":\"x\",\"tags\":[\"NEW\"]}");
	assert_text(json_array_get(json_object_get(b, "tags"), 0), "slug", "old");
	json_decref(a);
	json_decref(b);
}

static void
renamed_tag_keeps_the_name_the_world_sees_until_it_is_published(void **state)
{
	struct world *w = *state;
	json_t *a = world_made(w, &w->bob, KIND_TAG, "{\"title\":\"Old Name\",\"state\":\"published\"}", 201), *b;

	json_decref(world_updated(w, &w->bob, KIND_TAG, text_at(a, "id"), "{\"title\":\"New Name\"}", "\"1\""));
	b = article(w, "{\"title\":\"x\",\"tags\":[\"OLD NAME\", \"New Name\"]}");
	assert_text(json_array_get(json_object_get(b, "tags"), 0), "slug", "old-name");
	assert_text(json_array_get(json_object_get(b, "tags"), 1), "slug", "new-name");
	json_decref(a);
	json_decref(b);
}

#define T(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(patch_merges_into_a_new_revision), T(tags_and_author_change_and_go), T(fields_survive_an_edit_whatever_they_hold), T(patch_that_changes_nothing_is_no_edit),
		T(version_must_be_given_and_current), T(of_two_edits_of_one_version_one_is_refused), T(strangers_see_no_draft_and_may_not_edit),
		T(unknown_and_fixed_members_are_refused), T(edit_of_a_live_article_changes_nothing_public), T(slug_may_change_until_it_was_public),
		T(reserved_slug_is_refused_on_update_too), T(pages_below_follow), T(page_cannot_stand_below_itself),
		T(page_moves_to_another_parent_and_out), T(renamed_tag_is_found_by_its_new_name),
		T(renamed_tag_keeps_the_name_the_world_sees_until_it_is_published),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
