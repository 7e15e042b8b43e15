#include "actions/writes.h"

#include "actions/plan.h"

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

static void
own_author_is_made_once(void **state)
{
	struct world *w = *state;

	json_decref(world_made(w, &w->alice, KIND_ARTICLE, P1, 201));
	json_decref(world_made(w, &w->alice, KIND_ARTICLE, P1, 201));
	json_decref(world_made(w, &w->bob, KIND_ARTICLE, P1, 201));
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM resource WHERE kind = 'author'"), 2);
	assert_int_equal(ask(&w->f, "SELECT count(DISTINCT author_id) FROM user WHERE author_id IS NOT NULL"), 2);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM outbox"), 3);
}

static void
author_is_announced_with_their_first_live_article(void **state)
{
	struct world *w = *state;

	json_decref(world_made(w, &w->alice, KIND_ARTICLE, "{\"title\":\"a\",\"state\":\"published\"}", 201));
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM outbox WHERE topic = 'resource.changed'"), 1);
	json_decref(world_made(w, &w->alice, KIND_ARTICLE, "{\"title\":\"b\",\"state\":\"published\"}", 201));
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM outbox WHERE topic = 'resource.changed'"), 1);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM sitemap_entry WHERE kind = 'author'"), 1);
}

static void
equal_titles_are_numbered_without_gaps(void **state)
{
	struct world *w = *state;
	char expected[32];
	int i;

	for (i = 1; i <= 40; i++) {
		json_t *a = world_made(w, &w->alice, KIND_ARTICLE, P1, 201);

		snprintf(expected, sizeof(expected), i == 1 ? "t1" : "t1-%d", i);
		assert_text(a, "slug", expected);
		assert_string_equal(text_at(a, "path") + strlen("/articles/"), expected);
		json_decref(a);
	}
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM resource r JOIN path p ON p.resource_id = r.id AND p.path = '/articles/' || r.slug"
	    " WHERE r.kind = 'article'"), 40);
}

static void
numbers_go_on_when_the_plan_is_older_than_others_writes(void **state)
{
	struct world *w = *state;
	struct scope *s = w->f.s;
	struct creation c = { KIND_ARTICLE, json_loads(P1, 0, NULL) };
	struct unit *units[20];
	size_t i;

	/* All plans first, as readers do; then all writes. */
	for (i = 0; i < COUNT(units); i++) {
		units[i] = world_unit(w, &w->alice, CREATE, NULL, scope_printf(s, "%zu", i));
		assert_ok(s, db_begin(s, w->read));
		assert_ok(s, world_prepare_creation(w, units[i], &c));
		db_rollback(w->read);
	}
	for (i = 0; i < COUNT(units); i++)
		assert_ok(s, writer_run(s, w->f.db, w->f.shared, unit_apply, units[i]));
	assert_int_equal(ask(&w->f, "SELECT count(DISTINCT slug) FROM resource WHERE kind = 'article'"), 20);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM path WHERE path = '/articles/t1-20'"), 1);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM resource WHERE kind = 'author'"), 1);
	json_decref(c.body);
}

static void
two_spellings_of_one_title_never_share_a_path(void **state)
{
	struct world *w = *state;

	/* NFC and NFD, and letters that fold to one. */
	json_decref(world_made(w, &w->alice, KIND_ARTICLE, "{\"title\":\"Caf\\u00e9\"}", 201));
	json_decref(world_made(w, &w->alice, KIND_ARTICLE, "{\"title\":\"Cafe\\u0301\"}", 201));
	json_decref(world_made(w, &w->alice, KIND_ARTICLE, "{\"title\":\"Stra\\u00dfe\"}", 201));
	json_decref(world_made(w, &w->alice, KIND_ARTICLE, "{\"title\":\"STRASSE\"}", 201));
	assert_int_equal(ask(&w->f, "SELECT count(DISTINCT fold) FROM path WHERE path LIKE '/articles/%'"), 4);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM resource WHERE kind = 'article' AND slug LIKE '%-2'"), 2);
}

static void
given_slug_that_is_taken_names_the_holder(void **state)
{
	struct world *w = *state;
	struct unit *u;
	json_t *a = world_made(w, &w->alice, KIND_ARTICLE, "{\"title\":\"a\",\"slug\":\"taken\",\"state\":\"published\"}", 201);

	assert_ok(w->f.s, world_create(w, &w->bob, KIND_ARTICLE, "{\"title\":\"b\",\"slug\":\"Taken\"}", NULL, &u));
	assert_int_equal(u->answer.status, 409);
	assert_true(u->answer.is_problem);
	assert_non_null(strstr(u->answer.body.p, "slug_conflict"));
	assert_non_null(strstr(u->answer.body.p, text_at(a, "id")));
	assert_non_null(strstr(u->answer.body.p, "live"));
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM resource WHERE kind = 'article'"), 1);
	/* Nothing of the refused request is left: not even bob's author. */
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM resource WHERE kind = 'author'"), 1);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM idempotency_record WHERE status = 'FAILED' AND retryable = 0"), 1);
	json_decref(a);
}

static void
holder_that_is_a_draft_is_called_so(void **state)
{
	struct world *w = *state;
	struct unit *u;

	json_decref(world_made(w, &w->alice, KIND_ARTICLE, "{\"title\":\"a\",\"slug\":\"taken\"}", 201));
	assert_ok(w->f.s, world_create(w, &w->bob, KIND_ARTICLE, "{\"title\":\"b\",\"slug\":\"taken\"}", NULL, &u));
	assert_non_null(strstr(u->answer.body.p, "draft"));
}

static void
reserved_names_are_refused_when_given_and_avoided_when_made(void **state)
{
	struct world *w = *state;
	struct unit *u;
	json_t *a;

	assert_int_equal(world_create(w, &w->alice, KIND_PAGE, "{\"title\":\"x\",\"slug\":\"admin\"}", NULL, &u), ERR_RESERVED);
	assert_string_equal(w->f.s->error->field, "slug");
	a = world_made(w, &w->alice, KIND_PAGE, "{\"title\":\"Admin\"}", 201);
	assert_text(a, "path", "/admin-2");
	json_decref(a);
	a = world_made(w, &w->alice, KIND_PAGE, "{\"title\":\"Sitemap\"}", 201);
	assert_text(a, "path", "/page-sitemap");
	json_decref(a);
	a = world_made(w, &w->alice, KIND_PAGE, "{\"title\":\"En\"}", 201);
	assert_text(a, "path", "/en-2");
	json_decref(a);
}

static void
title_without_letters_gives_kind_and_id(void **state)
{
	struct world *w = *state;
	json_t *a = world_made(w, &w->alice, KIND_ARTICLE, "{\"title\":\"\\ud83c\\udf5f !!!\"}", 201);

	assert_int_equal(strncmp(text_at(a, "slug"), "article-", 8), 0);
	assert_int_equal(strlen(text_at(a, "slug")), 16);
	json_decref(a);
}

static void
tags_are_found_by_name_and_made_when_missing(void **state)
{
	struct world *w = *state;
	json_t *a = world_made(w, &w->alice, KIND_ARTICLE, "{\"title\":\"a\",\"tags\":[\"News\",\"C++\",\" news \"]}", 201), *b;

	assert_int_equal(json_array_size(json_object_get(a, "tags")), 2);
	b = world_made(w, &w->alice, KIND_ARTICLE, "{\"title\":\"b\",\"tags\":[\"NEWS\",\"C\"]}", 201);
	assert_text(json_array_get(json_object_get(b, "tags"), 0), "slug", "news");
	/* "C" has the slug of "C++" but is another word. */
	assert_text(json_array_get(json_object_get(b, "tags"), 1), "slug", "c-2");
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM resource WHERE kind = 'tag' AND state = 'published'"), 3);
	json_decref(a);
	json_decref(b);
	b = world_made(w, &w->alice, KIND_ARTICLE, "{\"title\":\"c\",\"tags\":[\"c-2\"]}", 201);
	assert_text(json_array_get(json_object_get(b, "tags"), 0), "name", "C");
	json_decref(b);
}

static void
tags_of_another_locale_are_other_tags(void **state)
{
	struct world *w = *state;
	json_t *a;

	json_decref(world_made(w, &w->alice, KIND_ARTICLE, "{\"title\":\"a\",\"tags\":[\"news\"]}", 201));
	a = world_made(w, &w->alice, KIND_ARTICLE, "{\"title\":\"b\",\"locale\":\"DE\",\"tags\":[\"news\"]}", 201);
	assert_text(a, "locale", "de");
	assert_text(json_array_get(json_object_get(a, "tags"), 0), "slug", "news-2");
	json_decref(a);
	json_decref(world_made(w, &w->alice, KIND_ARTICLE, "{\"title\":\"c\",\"locale\":\"de\",\"tags\":[\"News\"]}", 201));
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM resource WHERE kind = 'tag'"), 2);
}

static void
published_at_creation_is_live_at_once(void **state)
{
	struct world *w = *state;
	json_t *a = world_made(w, &w->alice, KIND_ARTICLE, "{\"title\":\"a\",\"content\":\"*b*\",\"summary\":\"s\",\"state\":\"published\",\"tags\":[\"x\"]}", 201);

	assert_text(a, "state", "published");
	assert_true(json_is_true(json_object_get(json_object_get(a, "in_sitemap"), "listed")));
	assert_string_not_equal(text_at(a, "published_at"), "");
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM sitemap_entry WHERE kind = 'article' AND path = '/articles/a'"), 1);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM sitemap_entry WHERE kind = 'tag'"), 1);
	assert_int_equal(ask(&w->f, "SELECT was_public FROM path WHERE path = '/articles/a'"), 1);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM live_tag"), 1);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM sitemap_part WHERE first_id = 1 AND last_id = 10000"), 1);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM outbox WHERE topic = 'resource.published' AND aggregate_id ="
	    " (SELECT id FROM resource WHERE kind = 'article')"), 1);
	assert_int_equal(ask(&w->f, "SELECT live_title = 'a' AND live_summary = 's' AND live_author IS NOT NULL FROM resource WHERE kind = 'article'"), 1);
	json_decref(a);
}

static void
what_a_write_touches_is_in_the_change_log(void **state)
{
	struct world *w = *state;

	json_decref(world_made(w, &w->alice, KIND_ARTICLE, "{\"title\":\"a\",\"state\":\"published\",\"tags\":[\"x\"]}", 201));
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM change_log, (SELECT id FROM resource WHERE kind = 'article') a,"
	    " (SELECT id FROM resource WHERE kind = 'tag') t, (SELECT id FROM resource WHERE kind = 'author') u"
	    " WHERE dependencies LIKE '%resource:' || a.id || '%' AND dependencies LIKE '%list:article%' AND dependencies LIKE '%paths%'"
	    " AND dependencies LIKE '%tag:' || t.id || '%' AND dependencies LIKE '%author:' || u.id || '%' AND dependencies LIKE '%sitemap:1%'"), 1);
}

static void
pages_nest_below_their_parent(void **state)
{
	struct world *w = *state;
	json_t *a = world_made(w, &w->bob, KIND_PAGE, "{\"title\":\"About\"}", 201), *b, *c;
	char body[200];

	snprintf(body, sizeof(body), "{\"title\":\"Team\",\"parent\":\"%s\"}", text_at(a, "id"));
	b = world_made(w, &w->bob, KIND_PAGE, body, 201);
	assert_text(b, "path", "/about/team");
	assert_text(b, "parent", text_at(a, "id"));
	c = world_made(w, &w->bob, KIND_PAGE, "{\"title\":\"Alice\",\"parent\":\"/about/team/\"}", 201);
	assert_text(c, "path", "/about/team/alice");
	json_decref(a);
	json_decref(b);
	json_decref(c);
	c = world_made(w, &w->bob, KIND_PAGE, "{\"title\":\"Bob\",\"parent\":\"team\"}", 201);
	assert_text(c, "path", "/about/team/bob");
	json_decref(c);
}

static void
every_mistake_is_reported(void **state)
{
	struct world *w = *state;
	const struct error *e;
	struct unit *u;
	int count = 0;

	assert_int_equal(world_create(w, &w->alice, KIND_ARTICLE, "{\"content\":7,\"titel\":\"x\",\"format\":\"rtf\",\"tags\":\"x\",\"slug\":\"/\","
	    "\"seo\":{\"canonical\":\"javascript:1\",\"noindex\":1},\"locale\":\"e\",\"state\":\"gone\"}", NULL, &u), ERR_UNKNOWN_FIELD);
	for (e = w->f.s->error; e != NULL; e = e->next)
		count++;
	assert_int_equal(count, 10);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM idempotency_record"), 0);
}

static void
escaped_nul_is_refused_in_every_text(void **state)
{
	static const char *const bodies[] = {
		"{\"title\":\"a\\u0000b\"}", "{\"title\":\"a\",\"content\":\"a\\u0000b\"}", "{\"title\":\"a\",\"summary\":\"a\\u0000b\"}",
		"{\"title\":\"a\",\"slug\":\"a\\u0000b\"}", "{\"title\":\"a\",\"client_ref\":\"a\\u0000b\"}", "{\"title\":\"a\",\"tags\":[\"a\\u0000b\"]}",
		"{\"title\":\"a\",\"author\":\"a\\u0000b\"}", "{\"title\":\"a\",\"locale\":\"en\\u0000b\"}", "{\"title\":\"a\",\"state\":\"draft\\u0000b\"}",
		"{\"title\":\"a\",\"format\":\"html\\u0000b\"}", "{\"title\":\"a\",\"seo\":{\"title\":\"a\\u0000b\"}}",
		"{\"title\":\"a\",\"seo\":{\"image\":\"/a\\u0000b\"}}", "{\"title\":\"a\",\"seo\":{\"canonical\":\"https://a.test/\\u0000b\"}}",
		"{\"title\":\"a\",\"state\":\"scheduled\",\"publish_at\":\"2050-01-01T00:00:00Z\\u0000b\"}",
		"{\"title\":\"a\",\"fields\":{\"k\":\"a\\u0000b\"}}", "{\"title\":\"a\",\"fields\":{\"k\":[{\"l\":\"\\u0000\"}]}}",
	};
	struct world *w = *state;
	struct unit *u;
	size_t i;

	for (i = 0; i < COUNT(bodies); i++) {
		enum status status = world_create(w, &w->alice, KIND_ARTICLE, bodies[i], NULL, &u);

		if (status_info(status)->http != 422)
			print_error("%s: %s\n", bodies[i], status_info(status)->code);
		assert_int_equal(status_info(status)->http, 422);
	}
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM resource"), 0);
}

static void
one_wrong_member_is_refused(void **state)
{
	static const char *const bodies[] = {
		"{}", "[]", "\"x\"", "{\"title\":\"  \"}", "{\"title\":null}", "{\"title\":\"a\\u0007\"}", "{\"title\":\"a\",\"client_ref\":\"\"}",
		"{\"title\":\"a\",\"fields\":[]}", "{\"title\":\"a\",\"fields\":{\"x\":[{\"y\":\"a\\u0000\"}]}}", "{\"title\":\"a\",\"seo\":[]}", "{\"title\":\"a\",\"author\":\"nobody\"}",
		"{\"title\":\"a\",\"publish_at\":\"2030-01-01T00:00:00Z\"}", "{\"title\":\"a\",\"state\":\"scheduled\"}",
		"{\"title\":\"a\",\"state\":\"scheduled\",\"publish_at\":\"2001-01-01T00:00:00Z\"}",
		"{\"title\":\"a\",\"state\":\"scheduled\",\"publish_at\":\"2050-01-01T00:00:00\"}", "{\"title\":\"a\",\"tags\":[1]}",
		"{\"title\":\"a\",\"tags\":[\"\"]}", "{\"title\":\"a\",\"parent\":\"x\"}", "{\"title\":\"a\",\"slug\":\"...\"}",
		"{\"title\":\"a\",\"content\":\"a\\uffff\"}", "{\"title\":\"a\",\"seo\":{\"image\":\"//evil.test/x\",\"nothing\":1}}",
	};
	struct world *w = *state;
	struct unit *u;
	size_t i;

	for (i = 0; i < COUNT(bodies); i++) {
		enum status status = world_create(w, &w->alice, KIND_ARTICLE, bodies[i], NULL, &u);

		if (status_info(status)->http != 422)
			print_error("%s: %s\n", bodies[i], status_info(status)->code);
		assert_int_equal(status_info(status)->http, 422);
	}
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM resource"), 0);
}

static void
page_without_such_a_parent_is_refused(void **state)
{
	struct world *w = *state;
	struct unit *u;

	assert_int_equal(world_create(w, &w->bob, KIND_PAGE, "{\"title\":\"a\",\"parent\":\"nope\"}", NULL, &u), ERR_INVALID);
	assert_string_equal(w->f.s->error->field, "parent");
	assert_null(w->f.s->error->next);
}

static void
answer_never_outgrows_what_is_saved(void **state)
{
	struct world *w = *state;
	json_t *body = json_pack("{s:s, s:s, s:[], s:{}, s:{}}", "title", "x", "state", "published", "tags", "fields", "seo"), *a;
	char long_title[1201], summary[2401], word[200];
	int i;

	for (i = 0; i < 300; i++)
		memcpy(long_title + 4 * i, "\xf0\x90\x8c\xb0", 4);
	long_title[1200] = '\0';
	for (i = 0; i < 1200; i++)
		memcpy(summary + 2 * i, "\"\\", 2);
	summary[600] = '\0';
	json_object_set_new(body, "title", json_string(long_title));
	json_object_set_new(body, "summary", json_string(summary));
	for (i = 0; i < 50; i++) {
		snprintf(word, sizeof(word), "tag number %d with a rather long name, as long as it may be, nearly so, one hundred characters", i);
		json_array_append_new(json_object_get(body, "tags"), json_string(word));
	}
	for (i = 0; i < 50; i++) {
		snprintf(word, sizeof(word), "f%d", i);
		json_object_set_new(json_object_get(body, "fields"), word, json_string(long_title));
	}
	char *text = json_dumps(body, 0);
	a = world_made(w, &w->alice, KIND_ARTICLE, text, 201);
	assert_null(json_object_get(a, "fields"));
	assert_text(json_object_get(a, "omitted"), "x", "");
	assert_string_equal(json_string_value(json_array_get(json_object_get(a, "omitted"), 0)), "fields");
	assert_text(a, "title", long_title);
	assert_string_not_equal(text_at(a, "url"), "");
	free(text);
	json_decref(a);
	json_decref(body);
}

static void
fields_too_large_are_refused(void **state)
{
	struct world *w = *state;
	char *big = malloc(70000), *text;
	json_t *body;
	struct unit *u;

	memset(big, 'x', 69999);
	big[69999] = '\0';
	body = json_pack("{s:s, s:{s:s}}", "title", "x", "fields", "a", big);
	text = json_dumps(body, 0);
	assert_int_equal(world_create(w, &w->alice, KIND_ARTICLE, text, NULL, &u), ERR_INVALID);
	assert_string_equal(w->f.s->error->field, "fields");
	free(text);
	free(big);
	json_decref(body);
}

static void
client_ref_makes_one_resource(void **state)
{
	struct world *w = *state;
	json_t *a = world_made(w, &w->alice, KIND_ARTICLE, "{\"title\":\"a\",\"client_ref\":\"order-1\"}", 201);
	struct unit *u;

	/* Another key, the same content: what is there, told as a replay. */
	assert_ok(w->f.s, world_create(w, &w->alice, KIND_ARTICLE, "{\"title\":\"a\",\"client_ref\":\"order-1\"}", NULL, &u));
	assert_int_equal(u->answer.status, 200);
	assert_true(u->answer.replayed);
	assert_non_null(strstr(u->answer.body.p, text_at(a, "id")));
	assert_non_null(strstr(u->answer.location, text_at(a, "id")));
	assert_ok(w->f.s, world_create(w, &w->alice, KIND_ARTICLE, "{\"title\":\"other\",\"client_ref\":\"order-1\"}", NULL, &u));
	assert_int_equal(u->answer.status, 409);
	assert_non_null(strstr(u->answer.body.p, "client_ref_conflict"));
	/* Somebody else's name space. */
	json_decref(world_made(w, &w->bob, KIND_ARTICLE, "{\"title\":\"a\",\"client_ref\":\"order-1\"}", 201));
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM resource WHERE kind = 'article'"), 2);
	json_decref(a);
}

static void
override_that_is_the_own_address_is_none(void **state)
{
	struct world *w = *state;
	json_t *a = world_made(w, &w->alice, KIND_ARTICLE,
	    "{\"title\":\"a\",\"state\":\"published\",\"seo\":{\"canonical\":\"HTTPS://EX.test:443/articles/a\"}}", 201);

	assert_true(json_is_true(json_object_get(json_object_get(a, "in_sitemap"), "listed")));
	json_decref(a);
	a = world_made(w, &w->alice, KIND_ARTICLE,
	    "{\"title\":\"b\",\"state\":\"published\",\"seo\":{\"canonical\":\"https://other.test/b\"}}", 201);
	assert_text(a, "canonical", "https://other.test/b");
	assert_text(a, "in_sitemap.reason", "canonical");
	json_decref(a);
}

static void
scheduled_waits_for_its_time(void **state)
{
	struct world *w = *state;
	json_t *a = world_made(w, &w->alice, KIND_ARTICLE, "{\"title\":\"a\",\"state\":\"scheduled\",\"publish_at\":\"2090-01-01T08:00:00+08:00\"}", 201);

	assert_text(a, "state", "scheduled");
	assert_text(a, "publish_at", "2090-01-01T00:00:00.000Z");
	assert_text(a, "published_at", "");
	assert_int_equal(ask(&w->f, "SELECT was_public FROM path WHERE path = '/articles/a'"), 0);
	json_decref(a);
}

static void
insert_tells_the_caller_what_it_made(void **state)
{
	struct world *w = *state;
	struct scope *s = w->f.s;
	struct resource_draft draft = {
		.resource = { .kind = KIND_ARTICLE, .locale = "en", .state = STATE_PUBLISHED, .owner_user = w->alice.user_id, .created_at = 1000,
		    .changed_at = 2000, .first_published_at = 1000, .live_changed_at = 2000 },
		.revision = { .title = "Old", .format = FORMAT_HTML, .source = "<p>x", .fields = "{}", .editor_user = w->alice.user_id },
		.rendered = { .html = "<p>x</p>", .text = "x", .excerpt = "x", .links = "[]", .images = "[]" },
		.path = "/2024/05/old",
	};

	assert_ok(s, db_begin(s, w->f.db));
	assert_ok(s, resource_insert(s, w->f.db, &w->site, &w->alice, &draft));
	assert_true(draft.resource.id > 0);
	assert_string_equal(draft.resource.path, "/2024/05/old");
	assert_true(draft.resource.first_published_at == 1000 && draft.resource.live_changed_at == 2000);
	draft.resource = (struct resource){ .kind = KIND_ARTICLE, .locale = "en", .state = STATE_DRAFT, .owner_user = w->alice.user_id };
	assert_int_equal(resource_insert(s, w->f.db, &w->site, &w->alice, &draft), ERR_PATH_CONFLICT);
	db_rollback(w->f.db);
}

#define T(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(draft_gets_slug_path_and_author), T(own_author_is_made_once), T(author_is_announced_with_their_first_live_article),
		T(equal_titles_are_numbered_without_gaps), T(numbers_go_on_when_the_plan_is_older_than_others_writes),
		T(two_spellings_of_one_title_never_share_a_path), T(given_slug_that_is_taken_names_the_holder), T(holder_that_is_a_draft_is_called_so),
		T(reserved_names_are_refused_when_given_and_avoided_when_made), T(title_without_letters_gives_kind_and_id),
		T(tags_are_found_by_name_and_made_when_missing), T(tags_of_another_locale_are_other_tags), T(published_at_creation_is_live_at_once),
		T(what_a_write_touches_is_in_the_change_log), T(pages_nest_below_their_parent), T(every_mistake_is_reported),
		T(one_wrong_member_is_refused), T(escaped_nul_is_refused_in_every_text), T(page_without_such_a_parent_is_refused), T(answer_never_outgrows_what_is_saved),
		T(fields_too_large_are_refused), T(client_ref_makes_one_resource), T(override_that_is_the_own_address_is_none),
		T(scheduled_waits_for_its_time), T(insert_tells_the_caller_what_it_made),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
