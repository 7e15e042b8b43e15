#include "actions/writes.h"

#include "store/duplicates.h"
#include "store/idempotency.h"
#include "store/imports.h"
#include "store/outbox.h"
#include "store/paths.h"
#include "store/resources.h"
#include "store/revisions.h"

/* A bare draft without path. */
static int64_t
bare(struct world *w, const char *uid_tail)
{
	struct scope *s = w->f.s;
	struct resource r = { .uid = scope_printf(s, "01900000-0000-7000-8000-%s", uid_tail), .kind = KIND_ARTICLE, .locale = "en", .state = STATE_DRAFT,
		.slug = "x", .created_at = 1, .changed_at = 1 };
	bool inserted;

	assert_ok(s, store_resource_insert(s, w->f.db, &r, NULL, &inserted));
	assert_true(inserted && r.id > 0);
	return r.id;
}

static void
claim_is_refused_by_path_fold_and_owner(void **state)
{
	struct world *w = *state;
	struct scope *s = w->f.s;
	int64_t a = bare(w, "000000000001"), b = bare(w, "000000000002");
	bool done, taken;

	assert_ok(s, store_path_claim(s, w->f.db, "/A", "/a", a, false, &done));
	assert_true(done);
	assert_ok(s, store_path_claim(s, w->f.db, "/A", "/other", b, false, &done));
	assert_false(done);
	assert_ok(s, store_path_claim(s, w->f.db, "/a", "/a", b, false, &done));
	assert_false(done);
	assert_ok(s, store_path_claim(s, w->f.db, "/second", "/second", a, false, &done));
	assert_false(done);
	assert_ok(s, store_path_is_taken(s, w->f.db, "/a", "/a", &taken));
	assert_true(taken);
	assert_ok(s, store_path_is_taken(s, w->f.db, "/b", "/b", &taken));
	assert_false(taken);
}

static void
system_names_cannot_be_stored_by_any_hand(void **state)
{
	static const char *const names[] = { "/admin", "/Admin/x", "/%61dmin", "/api/v1/y", "/sitemap-3.xml", "/robots.txt", "/articles", "/" };
	struct world *w = *state;
	struct scope *s = w->f.s;
	int64_t a = bare(w, "000000000001"), holder;
	size_t i;
	bool done;

	for (i = 0; i < COUNT(names); i++) {
		assert_int_equal(store_path_claim(s, w->f.db, names[i], names[i], a, false, &done), ERR_RESERVED);
		assert_int_equal(store_import_alias(s, w->f.db, &holder, names[i], names[i], a, true, "test"), ERR_RESERVED);
		assert_int_equal(store_import_external(s, w->f.db, names[i], names[i], "/media/x", "test"), ERR_RESERVED);
	}
}

static void
holders_are_told_apart(void **state)
{
	struct world *w = *state;
	struct scope *s = w->f.s;
	int64_t a = bare(w, "000000000001");
	const char *text;
	bool done, found;

	assert_ok(s, store_path_claim(s, w->f.db, "/a", "/a", a, false, &done));
	assert_ok(s, db_exec(s, w->f.db, scope_printf(s,
	    "INSERT INTO path (path, fold, role, resource_id, created_at) VALUES ('/old', '/old', 'alias', %lld, 1);"
	    "INSERT INTO path (path, fold, role, target, created_at) VALUES ('/ext', '/ext', 'external', 'https://x.test/', 1);"
	    "INSERT INTO path (path, fold, role, status, created_at) VALUES ('/dead', '/dead', 'gone', 410, 1)", (long long)a)));
	static const struct { const char *path, *word; } cases[] = { { "/a", "draft" }, { "/old", "alias" }, { "/ext", "redirect" }, { "/dead", "gone" } };
	for (size_t i = 0; i < COUNT(cases); i++) {
		assert_ok(s, store_path_holder(s, w->f.db, cases[i].path, cases[i].path, &text, &found));
		assert_true(found);
		assert_non_null(strstr(text, cases[i].path));
		assert_non_null(strstr(text, cases[i].word));
	}
	assert_ok(s, store_path_holder(s, w->f.db, "/free", "/free", &text, &found));
	assert_false(found);
}

static void
path_that_was_seen_is_never_given_back(void **state)
{
	struct world *w = *state;
	struct scope *s = w->f.s;
	int64_t a = bare(w, "000000000001");
	struct path_row row;
	bool done;

	assert_ok(s, store_path_claim(s, w->f.db, "/a", "/a", a, false, &done));
	assert_ok(s, store_path_free(s, w->f.db, a, &done));
	assert_true(done);
	assert_int_equal(store_path_load(s, w->f.db, &row, a), ERR_NOT_FOUND);
	assert_ok(s, store_path_claim(s, w->f.db, "/a", "/a", a, false, &done));
	assert_ok(s, store_path_set_public(s, w->f.db, a));
	assert_ok(s, store_path_free(s, w->f.db, a, &done));
	assert_false(done);
	assert_ok(s, store_path_load(s, w->f.db, &row, a));
	assert_true(row.was_public);
}

static void
conditional_updates_need_the_version_that_was_read(void **state)
{
	struct world *w = *state;
	struct scope *s = w->f.s;
	int64_t id = bare(w, "000000000001");
	struct resource r, stale;
	bool changed;

	assert_ok(s, store_resource_load(s, w->f.db, &r, id));
	stale = r;
	r.head_revision = 2;
	assert_ok(s, store_resource_edit(s, w->f.db, &r, NULL, &changed));
	assert_true(changed && r.edit_version == 2);
	assert_ok(s, store_resource_edit(s, w->f.db, &stale, NULL, &changed));
	assert_false(changed);
	stale.live_revision = 1;
	stale.first_published_at = stale.live_changed_at = 1;
	assert_ok(s, store_resource_publish(s, w->f.db, &stale, STATE_DRAFT, NULL, &changed));
	assert_false(changed);
	r.live_revision = r.first_published_at = r.live_changed_at = 1;
	assert_ok(s, store_resource_publish(s, w->f.db, &r, STATE_WITHDRAWN, NULL, &changed));
	assert_false(changed);
	assert_ok(s, store_resource_publish(s, w->f.db, &r, STATE_DRAFT, NULL, &changed));
	assert_true(changed && r.edit_version == 3 && r.event_version == 2);
	assert_ok(s, store_resource_leave(s, w->f.db, &r, STATE_PUBLISHED, &changed));
	assert_true(changed);
	assert_ok(s, store_resource_leave(s, w->f.db, &r, STATE_PUBLISHED, &changed));
	assert_false(changed);
}

static void
one_event_per_version_and_topic(void **state)
{
	struct world *w = *state;
	struct scope *s = w->f.s;

	assert_ok(s, store_outbox_insert(s, w->f.db, 1, 1, "resource.changed", STR("{}")));
	assert_ok(s, store_outbox_insert(s, w->f.db, 1, 2, "resource.changed", STR("{}")));
	assert_int_equal(store_outbox_insert(s, w->f.db, 1, 2, "resource.changed", STR("{}")), ERR_CONFLICT);
}

static void
revision_comes_back_as_it_went(void **state)
{
	struct world *w = *state;
	struct scope *s = w->f.s;
	int64_t id = bare(w, "000000000001"), tags[] = { 7, 8, 900000000000 };
	struct revision in = { .number = 1, .title = "t", .format = FORMAT_HTML, .source = "<p>", .tag_ids = tags, .tag_count = 3, .noindex = true,
		.canonical = "https://x.test/", .seo_description = "\"d\\\xe2\x80\xa8", .seo_image = "/i.png", .fields = "{\"a\":1}", .created_at = 5 }, out;

	assert_ok(s, store_revision_insert(s, w->f.db, id, &in));
	assert_int_equal(store_revision_insert(s, w->f.db, id, &in), ERR_CONFLICT);
	assert_ok(s, store_revision_load(s, w->f.db, &out, id, 1, true));
	assert_string_equal(out.title, "t");
	assert_string_equal(out.source, "<p>");
	assert_true(out.format == FORMAT_HTML && out.noindex && out.summary == NULL && out.seo_title == NULL && out.author_id == 0);
	assert_string_equal(out.canonical, in.canonical);
	assert_string_equal(out.seo_description, in.seo_description);
	assert_string_equal(out.seo_image, "/i.png");
	assert_int_equal(out.tag_count, 3);
	assert_memory_equal(out.tag_ids, tags, sizeof(tags));
	assert_ok(s, store_revision_load(s, w->f.db, &out, id, 1, false));
	assert_null(out.source);
	assert_int_equal(store_revision_load(s, w->f.db, &out, id, 2, false), ERR_NOT_FOUND);
	assert_int_not_equal(db_exec(s, w->f.db, "UPDATE revision SET title = 'x'"), OK);
}

static void
ids_are_read_as_far_as_they_are_ids(void **state)
{
	static const struct { const char *text; size_t count; int64_t last; } cases[] = {
		{ "[]", 0, 0 }, { "", 0, 0 }, { "[", 0, 0 }, { "[1]", 1, 1 }, { "[1,2,-3]", 3, -3 }, { "[1,x,3]", 1, 1 }, { "[99999999999999999999]", 0, 0 },
	};
	struct world *w = *state;
	const int64_t *ids;
	size_t i, count;

	for (i = 0; i < COUNT(cases); i++) {
		store_ids_parse(w->f.s, str_of(cases[i].text), &ids, &count);
		assert_int_equal(count, cases[i].count);
		if (count > 0)
			assert_int_equal(ids[count - 1], cases[i].last);
	}
	assert_string_equal(store_ids_text(w->f.s, (const int64_t[]){ 3, 1 }, 2), "[3,1]");
}

static void
sitemap_part_is_made_once_and_moves_after(void **state)
{
	struct world *w = *state;
	struct scope *s = w->f.s;
	int64_t first;

	assert_ok(s, store_sitemap_part_touch(s, w->f.db, 10000, 5, &first));
	assert_int_equal(first, 1);
	assert_ok(s, store_sitemap_part_touch(s, w->f.db, 10001, 6, &first));
	assert_int_equal(first, 10001);
	/* A part that was halved. */
	assert_ok(s, db_exec(s, w->f.db, "UPDATE sitemap_part SET last_id = 5000 WHERE first_id = 1;"
	    "INSERT INTO sitemap_part VALUES (5001, 10000, 5)"));
	assert_ok(s, store_sitemap_part_touch(s, w->f.db, 9999, 7, &first));
	assert_int_equal(first, 5001);
	assert_ok(s, store_sitemap_part_touch(s, w->f.db, 1, 8, &first));
	assert_int_equal(first, 1);
	assert_int_equal(ask(&w->f, "SELECT group_concat(changed_at) = '8,7,6' FROM (SELECT * FROM sitemap_part ORDER BY first_id)"), 1);
}

#define T(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(claim_is_refused_by_path_fold_and_owner), T(system_names_cannot_be_stored_by_any_hand),
		T(holders_are_told_apart), T(path_that_was_seen_is_never_given_back),
		T(conditional_updates_need_the_version_that_was_read), T(one_event_per_version_and_topic), T(revision_comes_back_as_it_went),
		T(ids_are_read_as_far_as_they_are_ids), T(sitemap_part_is_made_once_and_moves_after),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
