#include "actions/writes.h"

#include "actions/schedule.h"
#include "base/clock.h"

static json_t *
article(struct world *w, const char *body)
{
	return world_made(w, &w->alice, KIND_ARTICLE, body, 201);
}

static int64_t
number(struct world *w, const char *column)
{
	return ask(&w->f, scope_printf(w->f.s, "SELECT %s FROM resource WHERE kind = 'article' ORDER BY id LIMIT 1", column));
}

static int64_t
events(struct world *w, const char *topic)
{
	return ask(&w->f, scope_printf(w->f.s, "SELECT count(*) FROM outbox o JOIN resource r ON r.id = o.aggregate_id"
	    " WHERE r.kind = 'article' AND topic = '%s'", topic));
}

/* The next write happens this much later. */
static void
later(struct world *w, int64_t ms)
{
	w->f.s->now += ms;
}

static void
publishing_makes_a_draft_live(void **state)
{
	struct world *w = *state;
	json_t *a = article(w, "{\"title\":\"a\",\"content\":\"b\",\"tags\":[\"x\"]}"), *b;

	b = world_moved(w, &w->alice, KIND_ARTICLE, text_at(a, "id"), MOVE_PUBLISH);
	assert_text(b, "state", "published");
	assert_int_equal(json_integer_value(json_object_get(b, "version")), 2);
	assert_true(json_is_true(json_object_get(json_object_get(b, "in_sitemap"), "listed")));
	assert_int_equal(number(w, "live_revision = 1 AND live_title = 'a' AND first_published_at = live_changed_at AND live_author IS NOT NULL"), 1);
	assert_int_equal(ask(&w->f, "SELECT was_public FROM path WHERE path = '/articles/a'"), 1);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM live_tag"), 1);
	assert_int_equal(events(w, "resource.published"), 1);
	json_decref(a);
	json_decref(b);
}

static void
publishing_again_changes_nothing(void **state)
{
	struct world *w = *state;
	json_t *a = article(w, "{\"title\":\"a\"}"), *b;

	json_decref(world_moved(w, &w->alice, KIND_ARTICLE, text_at(a, "id"), MOVE_PUBLISH));
	later(w, 1000);
	b = world_moved(w, &w->alice, KIND_ARTICLE, text_at(a, "id"), MOVE_PUBLISH);
	assert_int_equal(json_integer_value(json_object_get(b, "version")), 2);
	assert_int_equal(events(w, "resource.published") + events(w, "resource.changed"), 1);
	json_decref(a);
	json_decref(b);
}

static void
lastmod_moves_with_visible_changes_only(void **state)
{
	struct world *w = *state;
	json_t *a = article(w, "{\"title\":\"a\",\"content\":\"b\",\"state\":\"published\"}");
	const char *id = text_at(a, "id");
	int64_t first = number(w, "live_changed_at");

	later(w, 1000);
	/* Another way to write the same page, and what crawlers alone see. */
	json_decref(world_updated(w, &w->alice, KIND_ARTICLE, id, "{\"content\":\"b\\n\",\"seo\":{\"noindex\":true}}", "\"1\""));
	json_decref(world_moved(w, &w->alice, KIND_ARTICLE, id, MOVE_PUBLISH));
	assert_int_equal(number(w, "live_revision"), 2);
	assert_int_equal(number(w, "live_noindex"), 1);
	assert_int_equal(number(w, "live_changed_at"), first);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM sitemap_entry WHERE kind = 'article'"), 0);
	later(w, 1000);
	json_decref(world_updated(w, &w->alice, KIND_ARTICLE, id, "{\"content\":\"c\"}", "\"3\""));
	json_decref(world_moved(w, &w->alice, KIND_ARTICLE, id, MOVE_PUBLISH));
	assert_int_equal(number(w, "live_changed_at"), first + 2000);
	assert_int_equal(number(w, "first_published_at"), first);
	assert_int_equal(events(w, "resource.changed"), 2);
	json_decref(a);
}

static void
withdrawn_is_gone_from_all_lists_but_keeps_its_path(void **state)
{
	struct world *w = *state;
	json_t *a = article(w, "{\"title\":\"a\",\"state\":\"published\",\"tags\":[\"x\"]}"), *b;
	struct unit *u;

	b = world_moved(w, &w->alice, KIND_ARTICLE, text_at(a, "id"), MOVE_WITHDRAW);
	assert_text(b, "state", "withdrawn");
	json_decref(b);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM live_tag"), 0);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM sitemap_entry WHERE kind <> 'home'"), 0);
	assert_int_equal(events(w, "resource.withdrawn"), 1);
	b = world_moved(w, &w->alice, KIND_ARTICLE, text_at(a, "id"), MOVE_WITHDRAW);
	assert_int_equal(json_integer_value(json_object_get(b, "version")), 2);
	json_decref(b);
	assert_int_equal(events(w, "resource.withdrawn"), 1);
	assert_ok(w->f.s, world_create(w, &w->bob, KIND_ARTICLE, "{\"title\":\"b\",\"slug\":\"a\"}", NULL, &u));
	assert_int_equal(u->answer.status, 409);
	assert_non_null(strstr(u->answer.body.p, "withdrawn"));
	b = world_moved(w, &w->alice, KIND_ARTICLE, text_at(a, "id"), MOVE_PUBLISH);
	assert_text(b, "path", "/articles/a");
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM live_tag"), 1);
	json_decref(a);
	json_decref(b);
}

static void
draft_cannot_be_withdrawn(void **state)
{
	struct world *w = *state;
	json_t *a = article(w, "{\"title\":\"a\"}");
	struct unit *u;

	assert_ok(w->f.s, world_move(w, &w->alice, KIND_ARTICLE, text_at(a, "id"), MOVE_WITHDRAW, &u));
	assert_int_equal(u->answer.status, 409);
	assert_non_null(strstr(u->answer.body.p, "state_conflict"));
	assert_non_null(strstr(u->answer.body.p, "draft"));
	json_decref(a);
}

static void
others_articles_are_published_by_editors_only(void **state)
{
	struct world *w = *state;
	struct principal carol = world_user(w, "carol", ROLE_AUTHOR), narrow = w->alice;
	json_t *a = article(w, "{\"title\":\"a\"}");
	struct unit *u;

	assert_int_equal(world_move(w, &carol, KIND_ARTICLE, text_at(a, "id"), MOVE_PUBLISH, &u), ERR_NOT_FOUND);
	narrow.scopes = TOKEN_SCOPE_READ | TOKEN_SCOPE_WRITE;
	assert_int_equal(world_move(w, &narrow, KIND_ARTICLE, text_at(a, "id"), MOVE_PUBLISH, &u), ERR_DENIED);
	assert_int_equal(world_create(w, &narrow, KIND_ARTICLE, "{\"title\":\"b\",\"state\":\"published\"}", NULL, &u), ERR_DENIED);
	json_decref(world_moved(w, &w->bob, KIND_ARTICLE, text_at(a, "id"), MOVE_PUBLISH));
	json_decref(a);
}

static void
edit_between_reader_and_writer_is_not_published_unseen(void **state)
{
	struct world *w = *state;
	struct scope *s = w->f.s;
	json_t *a = article(w, "{\"title\":\"a\"}");
	struct change c = { .kind = KIND_ARTICLE, .id = text_at(a, "id"), .move = MOVE_PUBLISH };
	struct unit *u = world_unit(w, &w->alice, write_rule(WRITE_ARTICLE_PUBLISH), NULL, "x");

	assert_ok(s, db_begin(s, w->read));
	assert_ok(s, world_prepare_move(w, u, &c));
	db_rollback(w->read);
	json_decref(world_updated(w, &w->alice, KIND_ARTICLE, text_at(a, "id"), "{\"title\":\"half\"}", "\"1\""));
	assert_ok(s, writer_run(s, w->f.db, w->f.shared, unit_apply, u));
	assert_int_equal(number(w, "live_title = 'a' AND live_revision = 1 AND head_revision = 2"), 1);
	assert_non_null(strstr(u->answer.body.p, "\"has_unpublished_changes\":true"));
	json_decref(a);
}

static void
tags_that_come_and_go_enter_and_leave_the_sitemap(void **state)
{
	struct world *w = *state;
	json_t *a = article(w, "{\"title\":\"a\",\"state\":\"published\",\"tags\":[\"x\",\"y\"]}");

	json_decref(world_updated(w, &w->alice, KIND_ARTICLE, text_at(a, "id"), "{\"tags\":[\"y\",\"z\"]}", "\"1\""));
	json_decref(world_moved(w, &w->alice, KIND_ARTICLE, text_at(a, "id"), MOVE_PUBLISH));
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM live_tag t JOIN resource r ON r.id = t.tag_id WHERE r.slug IN ('y', 'z')"), 2);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM live_tag"), 2);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM sitemap_entry WHERE kind = 'tag'"), 2);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM change_log, (SELECT id FROM resource WHERE slug = 'x') x WHERE seq ="
	    " (SELECT max(seq) FROM change_log) AND dependencies LIKE '%tag:' || x.id || '%'"), 1);
	json_decref(a);
}

static void
sitemap_parts_are_ranges_of_ids(void **state)
{
	struct world *w = *state;

	assert_ok(w->f.s, db_exec(w->f.s, w->f.db, "INSERT INTO sqlite_sequence (name, seq) VALUES ('resource', 19999)"));
	json_decref(article(w, "{\"title\":\"a\",\"state\":\"published\"}"));
	json_decref(article(w, "{\"title\":\"b\",\"state\":\"published\"}"));
	/* The author had id 20,000, the last of its part. The first part has the home page. */
	assert_int_equal(ask(&w->f, "SELECT group_concat(first_id || '-' || last_id) = '1-10000,10001-20000,20001-30000' FROM"
	    " (SELECT * FROM sitemap_part ORDER BY first_id)"), 1);
}

#define LONG_TEXT "lorem ipsum dolor sit amet consectetur adipiscing elit sed do eiusmod tempor incididunt ut labore et dolore magna aliqua " \
	"ut enim ad minim veniam quis nostrud exercitation ullamco laboris nisi ut aliquip ex ea commodo consequat duis aute irure"
#define SAME "{\"title\":\"Same\",\"state\":\"published\",\"content\":\"" LONG_TEXT "\"}"

static int64_t
duplicates(struct world *w)
{
	return ask(&w->f, "SELECT count(*) FROM resource WHERE duplicate_of IS NOT NULL");
}

static void
later_copy_points_to_the_original(void **state)
{
	struct world *w = *state;
	json_t *a = article(w, SAME), *b, *c;

	later(w, 10);
	b = article(w, SAME);
	later(w, 10);
	c = world_made(w, &w->bob, KIND_ARTICLE, SAME, 201);
	assert_text(b, "canonical", text_at(a, "url"));
	assert_text(b, "duplicate_of", text_at(a, "id"));
	assert_text(b, "in_sitemap.reason", "duplicate");
	assert_text(c, "duplicate_of", text_at(a, "id"));
	assert_string_not_equal(text_at(b, "url"), text_at(a, "url"));
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM sitemap_entry WHERE kind = 'article'"), 1);
	json_decref(a);
	json_decref(b);
	json_decref(c);
}

static void
next_in_time_takes_over(void **state)
{
	struct world *w = *state;
	json_t *a = article(w, SAME), *b, *c, *d;
	int64_t before;

	later(w, 10);
	b = article(w, SAME);
	later(w, 10);
	c = article(w, SAME);
	later(w, 10);
	before = events(w, "resource.changed");
	json_decref(world_moved(w, &w->alice, KIND_ARTICLE, text_at(a, "id"), MOVE_WITHDRAW));
	assert_int_equal(duplicates(w), 1);
	d = world_updated(w, &w->alice, KIND_ARTICLE, text_at(c, "id"), "{}", "\"1\"");
	assert_text(d, "duplicate_of", text_at(b, "id"));
	json_decref(d);
	/* Both were told of: one is the original now, the other follows it. */
	assert_int_equal(events(w, "resource.changed") - before, 2);
	/* Who comes back comes last. */
	later(w, 10);
	d = world_moved(w, &w->alice, KIND_ARTICLE, text_at(a, "id"), MOVE_PUBLISH);
	assert_text(d, "duplicate_of", text_at(b, "id"));
	assert_int_equal(duplicates(w), 2);
	json_decref(a);
	json_decref(b);
	json_decref(c);
	json_decref(d);
}

static void
noindex_and_override_never_lead(void **state)
{
	struct world *w = *state;
	json_t *a = article(w, SAME), *b, *c;

	later(w, 10);
	b = article(w, SAME);
	later(w, 10);
	json_decref(world_updated(w, &w->alice, KIND_ARTICLE, text_at(a, "id"), "{\"seo\":{\"noindex\":true}}", "\"1\""));
	c = world_moved(w, &w->alice, KIND_ARTICLE, text_at(a, "id"), MOVE_PUBLISH);
	assert_text(c, "duplicate_of", text_at(b, "id"));
	json_decref(c);
	assert_int_equal(duplicates(w), 1);
	/* Indexable again, it has had the text longest. */
	json_decref(world_updated(w, &w->alice, KIND_ARTICLE, text_at(a, "id"), "{\"seo\":{\"noindex\":false}}", "\"3\""));
	c = world_moved(w, &w->alice, KIND_ARTICLE, text_at(a, "id"), MOVE_PUBLISH);
	assert_text(c, "duplicate_of", "");
	json_decref(c);
	assert_int_equal(duplicates(w), 1);
	json_decref(world_updated(w, &w->alice, KIND_ARTICLE, text_at(a, "id"), "{\"seo\":{\"canonical\":\"https://o.test/\"}}", "\"5\""));
	json_decref(world_moved(w, &w->alice, KIND_ARTICLE, text_at(a, "id"), MOVE_PUBLISH));
	assert_int_equal(duplicates(w), 0);
	json_decref(a);
	json_decref(b);
}

static void
changed_text_ends_the_duplicate(void **state)
{
	struct world *w = *state;
	json_t *a = article(w, SAME), *b, *c;

	later(w, 10);
	b = article(w, SAME);
	later(w, 10);
	json_decref(world_updated(w, &w->alice, KIND_ARTICLE, text_at(a, "id"), "{\"content\":\"another " LONG_TEXT "\"}", "\"1\""));
	json_decref(world_moved(w, &w->alice, KIND_ARTICLE, text_at(a, "id"), MOVE_PUBLISH));
	assert_int_equal(duplicates(w), 0);
	c = article(w, "{\"title\":\"same\",\"locale\":\"de\",\"state\":\"published\",\"content\":\"" LONG_TEXT "\"}");
	assert_text(c, "duplicate_of", "");
	json_decref(a);
	json_decref(b);
	json_decref(c);
}

static void
different_on_purpose_stays_itself(void **state)
{
	struct world *w = *state;
	json_t *a = article(w, SAME), *b;

	later(w, 10);
	b = article(w, SAME);
	assert_ok(w->f.s, db_exec(w->f.s, w->f.db, "UPDATE resource SET distinct_reason = 'another country', duplicate_of = NULL WHERE duplicate_of IS NOT NULL"));
	later(w, 10);
	json_decref(article(w, SAME));
	assert_int_equal(duplicates(w), 1);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM resource WHERE distinct_reason IS NOT NULL AND duplicate_of IS NULL"), 1);
	json_decref(a);
	json_decref(b);
}

static void
due_articles_go_live_once(void **state)
{
	struct world *w = *state;
	struct scope *s = w->f.s;
	struct schedule_run run = { .site = &w->site };
	char at[CLOCK_TEXT];
	int i;

	for (i = 0; i < 25; i++)
		json_decref(article(w, scope_printf(s, "{\"title\":\"a\",\"state\":\"scheduled\",\"publish_at\":\"%s\"}", clock_rfc3339(at, s->now + 1000))));
	json_decref(article(w, scope_printf(s, "{\"title\":\"b\",\"state\":\"scheduled\",\"publish_at\":\"%s\"}", clock_rfc3339(at, s->now + 900000))));
	assert_ok(s, schedule_run_due(s, w->f.db, w->read, w->f.shared, &run));
	assert_int_equal(run.published, 0);
	assert_false(run.is_more);
	later(w, 1000);
	assert_ok(s, schedule_run_due(s, w->f.db, w->read, w->f.shared, &run));
	assert_int_equal(run.published, SCHEDULE_BATCH);
	assert_true(run.is_more);
	assert_ok(s, schedule_run_due(s, w->f.db, w->read, w->f.shared, &run));
	assert_int_equal(run.published, 5);
	assert_ok(s, schedule_run_due(s, w->f.db, w->read, w->f.shared, &run));
	assert_int_equal(run.published, 0);
	assert_int_equal(events(w, "resource.published"), 25);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM resource WHERE state = 'scheduled'"), 1);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM resource WHERE state = 'published' AND publish_at IS NOT NULL"), 0);
}

static void
what_was_published_by_hand_is_not_due_any_more(void **state)
{
	struct world *w = *state;
	struct scope *s = w->f.s;
	struct schedule_run run = { .site = &w->site };
	char at[CLOCK_TEXT];
	json_t *a = article(w, scope_printf(s, "{\"title\":\"a\",\"state\":\"scheduled\",\"publish_at\":\"%s\"}", clock_rfc3339(at, s->now + 1000)));

	json_decref(world_moved(w, &w->alice, KIND_ARTICLE, text_at(a, "id"), MOVE_PUBLISH));
	later(w, 5000);
	assert_ok(s, schedule_run_due(s, w->f.db, w->read, w->f.shared, &run));
	assert_int_equal(run.published, 0);
	assert_int_equal(events(w, "resource.published"), 1);
	json_decref(a);
}

static void
one_that_cannot_go_live_does_not_hold_up_the_others(void **state)
{
	struct world *w = *state;
	struct scope *s = w->f.s;
	struct schedule_run run = { .site = &w->site };
	char at[CLOCK_TEXT];
	json_t *a = article(w, scope_printf(s, "{\"title\":\"a\",\"state\":\"scheduled\",\"publish_at\":\"%s\"}", clock_rfc3339(at, s->now + 1000)));
	json_t *b = article(w, scope_printf(s, "{\"title\":\"b\",\"state\":\"scheduled\",\"publish_at\":\"%s\"}", clock_rfc3339(at, s->now + 2000)));

	assert_ok(s, db_exec(s, w->f.db, "DELETE FROM rendered WHERE resource_id = (SELECT id FROM resource WHERE slug = 'a')"));
	later(w, 5000);
	assert_ok(s, schedule_run_due(s, w->f.db, w->read, w->f.shared, &run));
	assert_int_equal(run.published, 1);
	assert_false(run.is_more);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM resource WHERE slug = 'b' AND state = 'published'"), 1);
	assert_int_equal(ask(&w->f, "SELECT count(*) FROM resource WHERE slug = 'a' AND state = 'scheduled'"), 1);
	json_decref(a);
	json_decref(b);
}

#define T(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(publishing_makes_a_draft_live), T(publishing_again_changes_nothing), T(lastmod_moves_with_visible_changes_only),
		T(withdrawn_is_gone_from_all_lists_but_keeps_its_path), T(draft_cannot_be_withdrawn), T(others_articles_are_published_by_editors_only),
		T(edit_between_reader_and_writer_is_not_published_unseen), T(tags_that_come_and_go_enter_and_leave_the_sitemap),
		T(sitemap_parts_are_ranges_of_ids), T(later_copy_points_to_the_original), T(next_in_time_takes_over), T(noindex_and_override_never_lead),
		T(changed_text_ends_the_duplicate), T(different_on_purpose_stays_itself), T(due_articles_go_live_once), T(one_that_cannot_go_live_does_not_hold_up_the_others),
		T(what_was_published_by_hand_is_not_due_any_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
