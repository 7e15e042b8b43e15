#include "actions/writes.h"

#include "actions/cursor.h"
#include "base/clock.h"

static const struct principal nobody = { .role = ROLE_NONE };

static int
reading_setup(void **state)
{
	struct world *w;
	int rc = world_setup(state);

	w = *state;
	assert_ok(w->f.s, server_key_open(w->f.s, w->f.dir));
	return rc;
}

static enum status
read_as(struct world *w, const struct principal *who, enum kind kind, const char *id, json_t **out)
{
	struct str json;
	const char *etag;
	enum status status;

	*out = NULL;
	status = resource_read(w->f.s, w->read, &w->site, who, kind, id, &json, &etag);
	if (status == OK) {
		*out = json_loadb(json.p, json.len, 0, NULL);
		assert_non_null(*out);
		assert_string_equal(etag, scope_printf(w->f.s, "\"%lld\"", (long long)json_integer_value(json_object_get(*out, "version"))));
	}
	return status;
}

/* The slugs of one page of a list, joined by blanks; *next is the cursor behind it. */
static const char *
list_as(struct world *w, const struct principal *who, struct resource_filter filter, const char **next)
{
	struct scope *s = w->f.s;
	struct str json;
	struct buf b;
	json_t *root, *item;
	size_t i;

	assert_ok(s, resource_list(s, w->read, &w->site, who, KIND_ARTICLE, &filter, &json, next));
	root = json_loadb(json.p, json.len, 0, NULL);
	assert_non_null(root);
	buf_init(&b, s->arena);
	json_array_foreach(json_object_get(root, "items"), i, item) {
		assert_null(json_object_get(item, "html"));
		buf_printf(&b, "%s%s", i > 0 ? " " : "", text_at(item, "slug"));
	}
	assert_string_equal(text_at(root, "next"), *next != NULL ? *next : "");
	json_decref(root);
	return b.p;
}

static void
make(struct world *w, const struct principal *who, const char *body)
{
	json_decref(world_made(w, who, KIND_ARTICLE, body, 201));
	w->f.s->now += 1000;
}

static void
anonymous_reads_what_is_live(void **state)
{
	struct world *w = *state;
	json_t *a = world_made(w, &w->alice, KIND_ARTICLE, "{\"title\":\"live\",\"content\":\"*x*\",\"state\":\"published\"}", 201), *b;

	make(w, &w->alice, "{\"title\":\"draft\"}");
	json_decref(world_updated(w, &w->alice, KIND_ARTICLE, text_at(a, "id"), "{\"title\":\"secret\",\"content\":\"y\"}", "\"1\""));
	assert_ok(w->f.s, read_as(w, &nobody, KIND_ARTICLE, "live", &b));
	assert_text(b, "title", "live");
	assert_text(b, "content", "*x*");
	assert_non_null(strstr(text_at(b, "html"), "<em>x</em>"));
	json_decref(b);
	assert_ok(w->f.s, read_as(w, &w->alice, KIND_ARTICLE, text_at(a, "id"), &b));
	assert_text(b, "title", "secret");
	json_decref(b);
	assert_int_equal(read_as(w, &nobody, KIND_ARTICLE, "draft", &b), ERR_NOT_FOUND);
	assert_ok(w->f.s, read_as(w, &w->alice, KIND_ARTICLE, "draft", &b));
	json_decref(b);
	/* The kind is part of the address. */
	assert_int_equal(read_as(w, &w->alice, KIND_PAGE, text_at(a, "id"), &b), ERR_NOT_FOUND);
	json_decref(a);
}

static void
drafts_of_others_are_not_there(void **state)
{
	struct world *w = *state;
	struct principal carol = world_user(w, "carol", ROLE_AUTHOR), narrow = w->alice;
	const char *next;
	json_t *b;

	make(w, &w->alice, "{\"title\":\"draft\"}");
	make(w, &w->alice, "{\"title\":\"live\",\"state\":\"published\"}");
	narrow.scopes = TOKEN_SCOPE_WRITE;
	assert_int_equal(read_as(w, &carol, KIND_ARTICLE, "draft", &b), ERR_NOT_FOUND);
	assert_string_equal(list_as(w, &carol, (struct resource_filter){ 0 }, &next), "live");
	assert_string_equal(list_as(w, &nobody, (struct resource_filter){ 0 }, &next), "live");
	assert_string_equal(list_as(w, &nobody, (struct resource_filter){ .state = "draft" }, &next), "");
	assert_string_equal(list_as(w, &narrow, (struct resource_filter){ 0 }, &next), "live");
	assert_string_equal(list_as(w, &w->alice, (struct resource_filter){ 0 }, &next), "live draft");
	assert_string_equal(list_as(w, &w->bob, (struct resource_filter){ .state = "draft" }, &next), "draft");
}

static void
filters_narrow_and_sorts_order(void **state)
{
	struct world *w = *state;
	char since[CLOCK_TEXT];
	const char *next;

	make(w, &w->alice, "{\"title\":\"a\",\"tags\":[\"x\"],\"state\":\"published\"}");
	make(w, &w->bob, "{\"title\":\"b\",\"tags\":[\"x\",\"y\"],\"state\":\"published\"}");
	make(w, &w->bob, "{\"title\":\"c\",\"locale\":\"de\"}");
	assert_string_equal(list_as(w, &w->bob, (struct resource_filter){ 0 }, &next), "c b a");
	assert_string_equal(list_as(w, &w->bob, (struct resource_filter){ .sort = "created_at" }, &next), "a b c");
	assert_string_equal(list_as(w, &w->bob, (struct resource_filter){ .tag = "x", .sort = "changed_at" }, &next), "a b");
	assert_string_equal(list_as(w, &w->bob, (struct resource_filter){ .tag = "y" }, &next), "b");
	assert_string_equal(list_as(w, &w->bob, (struct resource_filter){ .tag = "none" }, &next), "");
	assert_string_equal(list_as(w, &w->bob, (struct resource_filter){ .author = "alice" }, &next), "a");
	assert_string_equal(list_as(w, &w->bob, (struct resource_filter){ .locale = "de" }, &next), "c");
	json_decref(world_updated(w, &w->bob, KIND_ARTICLE, "a", "{\"title\":\"A\"}", "\"1\""));
	assert_string_equal(list_as(w, &w->bob, (struct resource_filter){ .sort = "-changed_at" }, &next), "a c b");
	assert_string_equal(list_as(w, &w->bob, (struct resource_filter){ .changed_since = clock_rfc3339(since, w->f.s->now) }, &next), "a");
}

static void
cursor_walks_every_item_once(void **state)
{
	static const char *const sorts[] = { "created_at", "-created_at", "changed_at", "-changed_at" };
	struct world *w = *state;
	const char *next = NULL;
	size_t i, pages;
	int n;

	for (n = 0; n < 7; n++)
		json_decref(world_made(w, &w->alice, KIND_ARTICLE, "{\"title\":\"same\"}", 201));	/* all in one millisecond */
	for (i = 0; i < COUNT(sorts); i++) {
		struct resource_filter f = { .sort = sorts[i], .limit = "3" };
		struct buf seen;

		buf_init(&seen, w->f.s->arena);
		for (pages = 0; pages == 0 || next != NULL; pages++) {
			f.cursor = next;
			buf_printf(&seen, "%s%s", pages > 0 ? " " : "", list_as(w, &w->alice, f, &next));
		}
		assert_int_equal(pages, 3);
		assert_string_equal(seen.p, sorts[i][0] == '-' ? "same-7 same-6 same-5 same-4 same-3 same-2 same" :
		    "same same-2 same-3 same-4 same-5 same-6 same-7");
	}
}

static void
cursor_is_good_for_its_own_list_only(void **state)
{
	struct world *w = *state;
	struct scope *s = w->f.s;
	const char *cursor, *next;
	struct str json;
	struct resource_filter wrong[5] = { { .sort = "created_at" }, { .state = "draft" }, { .locale = "de" }, { 0 }, { 0 } };
	size_t i;

	make(w, &w->alice, "{\"title\":\"a\"}");
	make(w, &w->alice, "{\"title\":\"b\"}");
	list_as(w, &w->alice, (struct resource_filter){ .limit = "1" }, &cursor);
	assert_string_equal(list_as(w, &w->alice, (struct resource_filter){ .limit = "5", .cursor = cursor }, &next), "a");
	for (i = 0; i < COUNT(wrong); i++) {
		wrong[i].cursor = i == 3 ? scope_printf(s, "9%s", cursor) : i == 4 ? "" : cursor;
		assert_int_equal(resource_list(s, w->read, &w->site, &w->alice, KIND_ARTICLE, &wrong[i], &json, &next), ERR_CURSOR);
	}
	assert_int_equal(resource_list(s, w->read, &w->site, &nobody, KIND_ARTICLE, &(struct resource_filter){ .cursor = cursor }, &json, &next),
	    ERR_CURSOR);
}

static void
wrong_filters_are_named(void **state)
{
	static const struct { const char *field; struct resource_filter filter; } cases[] = {
		{ "state", { .state = "live" } }, { "sort", { .sort = "title" } }, { "sort", { .sort = "--created_at" } }, { "limit", { .limit = "0" } },
		{ "limit", { .limit = "101" } }, { "limit", { .limit = "x" } }, { "changed_since", { .changed_since = "yesterday" } },
		{ "changed_since", { .changed_since = "2026-01-01T00:00:00" } },
	};
	struct world *w = *state;
	const char *next;
	struct str json;
	size_t i;

	for (i = 0; i < COUNT(cases); i++) {
		assert_int_equal(resource_list(w->f.s, w->read, &w->site, &w->alice, KIND_ARTICLE, &cases[i].filter, &json, &next), ERR_INVALID);
		assert_string_equal(w->f.s->error->field, cases[i].field);
	}
}

#define T(name) cmocka_unit_test_setup_teardown(name, reading_setup, world_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(anonymous_reads_what_is_live), T(drafts_of_others_are_not_there), T(filters_narrow_and_sorts_order), T(cursor_walks_every_item_once),
		T(cursor_is_good_for_its_own_list_only), T(wrong_filters_are_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
