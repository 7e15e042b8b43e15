/* test_schema.c - the promises that the schema itself keeps, against SQL that bypasses all our code. */
#include "db/fixture.h"

#define HEX64 "'0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef'"
#define RESOURCE(id, more_columns, more_values)                                                            \
	"INSERT INTO resource (id, uid, kind, locale, state, slug, head_revision, created_at, changed_at" more_columns ") " \
	"VALUES (" #id ", '00000000-0000-7000-8000-00000000000" #id "', 'article', 'en', 'draft', 'slug-" #id "', 1, 0, 0" more_values ")"
#define PATH(path, fold, role, resource, target, status, was_canonical)                                    \
	"INSERT INTO path (path, fold, role, resource_id, target, status, was_canonical, created_at) "     \
	"VALUES ('" path "', '" fold "', '" role "', " #resource ", " target ", " #status ", " #was_canonical ", 0)"
#define IDEMPOTENCY(user, method, route, key, more_columns, more_values)                                   \
	"INSERT INTO idempotency_record (user_id, method, route, idempotency_key, request_hash, hash_version, status, first_request_id, " \
	"last_request_id, created_at, updated_at, expired_at" more_columns ") VALUES (" #user ", '" method "', '" route "', '" key "', " HEX64 ", " \
	"1, 'PROCESSING', 'r', 'r', 0, 0, 0" more_values ")"
#define OUTBOX(id, version, topic)                                                                         \
	"INSERT INTO outbox (aggregate, aggregate_id, event_version, topic, payload, created_at) "         \
	"VALUES ('resource', " #id ", " #version ", '" topic "', '{}', 0)"

static void
accepted(struct fixture *f, const char *sql)
{
	if (db_exec(f->s, f->db, sql) != OK) {
		print_error("%s\n%s\n", sql, f->s->error->detail);
		_fail(__FILE__, __LINE__);
	}
}

static void
refused(struct fixture *f, const char *sql, const char *why)
{
	enum status status = db_exec(f->s, f->db, sql);

	if (status != ERR_CONFLICT || strstr(f->s->error->detail, why) == NULL) {
		print_error("%s\nis %s: %s\n", sql, status_info(status)->code, status == OK ? "" : f->s->error->detail);
		_fail(__FILE__, __LINE__);
	}
}

static void
every_unique_index_exists(void **state)
{
	static const struct { const char *table, *columns, *where; } indexes[] = {
		{ "user", "name", NULL },
		{ "session", "id_hash", NULL },
		{ "api_token", "token_hash", NULL },
		{ "resource", "uid", NULL },
		{ "resource", "ref_source,client_ref", "WHERE client_ref IS NOT NULL" },
		{ "revision", "resource_id,number", NULL },
		{ "autosave", "user_id,uid", NULL },
		{ "path", "path", NULL },
		{ "path", "resource_id", "WHERE role = ''canonical''" },
		{ "path", "fold", "WHERE was_canonical = 1" },
		{ "path_query", "path,pairs", NULL },
		{ "path_rule", "pattern", NULL },
		{ "idempotency_record", "user_id,method,route,idempotency_key", NULL },
		{ "processed_message", "source,message_id", NULL },
		{ "outbox", "aggregate,aggregate_id,event_version,topic", NULL },
		{ "delivery", "outbox_id,sink", NULL },
		{ "operation", "id", NULL },
		{ "media", "sha256", NULL },
		{ "webhook", "url", NULL },
		{ "live_tag", "resource_id,tag_id", NULL },
		{ "setting", "key", NULL },
	};
	struct fixture *f = *state;
	size_t i;

	for (i = 0; i < COUNT(indexes); i++) {
		const char *sql = scope_printf(f->s,
		    "SELECT count(*) FROM pragma_index_list('%s') l WHERE l.\"unique\" = 1 AND l.partial = %d "
		    "AND (SELECT group_concat(name) FROM (SELECT name FROM pragma_index_info(l.name) ORDER BY seqno)) = '%s' "
		    "AND (%d = 0 OR (SELECT sql FROM sqlite_schema WHERE name = l.name) LIKE '%%%s')",
		    indexes[i].table, indexes[i].where != NULL, indexes[i].columns, indexes[i].where != NULL,
		    indexes[i].where != NULL ? indexes[i].where : "");

		if (ask(f, sql) != 1) {
			print_error("%s (%s) is not unique\n", indexes[i].table, indexes[i].columns);
			_fail(__FILE__, __LINE__);
		}
	}
}

static void
a_path_has_one_meaning(void **state)
{
	struct fixture *f = *state;

	accepted(f, RESOURCE(1, "", ""));
	accepted(f, RESOURCE(2, "", ""));
	accepted(f, PATH("/a", "/a", "canonical", 1, "NULL", 301, 1));
	refused(f, PATH("/a", "/a2", "canonical", 2, "NULL", 301, 1), "UNIQUE constraint failed: path.path");
	refused(f, PATH("/a", "/a2", "alias", 2, "NULL", 301, 0), "UNIQUE constraint failed: path.path");
	refused(f, PATH("/a", "/a2", "external", NULL, "'https://x.test/'", 301, 0), "UNIQUE constraint failed: path.path");
	refused(f, PATH("/a", "/a2", "gone", NULL, "NULL", 410, 0), "UNIQUE constraint failed: path.path");
}

static void
a_resource_has_one_canonical_path(void **state)
{
	struct fixture *f = *state;

	accepted(f, RESOURCE(1, "", ""));
	accepted(f, PATH("/a", "/a", "canonical", 1, "NULL", 301, 1));
	refused(f, PATH("/b", "/b", "canonical", 1, "NULL", 301, 1), "UNIQUE constraint failed: path.resource_id");
	accepted(f, PATH("/b", "/b", "alias", 1, "NULL", 301, 0));
	refused(f, "UPDATE path SET role = 'canonical', was_canonical = 1 WHERE path = '/b'", "UNIQUE constraint failed: path.resource_id");
	accepted(f, "UPDATE path SET role = 'alias' WHERE path = '/a'");
	accepted(f, "UPDATE path SET role = 'canonical', was_canonical = 1 WHERE path = '/b'");
}

static void
spellings_of_a_canonical_path_belong_to_it_for_ever(void **state)
{
	struct fixture *f = *state;

	accepted(f, RESOURCE(1, "", ""));
	accepted(f, RESOURCE(2, "", ""));
	accepted(f, PATH("/Straße", "/strasse", "canonical", 1, "NULL", 301, 1));
	refused(f, PATH("/strasse", "/strasse", "canonical", 2, "NULL", 301, 1), "UNIQUE constraint failed: path.fold");
	accepted(f, "UPDATE path SET role = 'alias'");
	refused(f, PATH("/strasse", "/strasse", "canonical", 2, "NULL", 301, 1), "UNIQUE constraint failed: path.fold");
	accepted(f, PATH("/STRASSE", "/strasse", "alias", 2, "NULL", 301, 0));
	accepted(f, PATH("/StrassE", "/strasse", "external", NULL, "'https://x.test/'", 301, 0));
}

static void
a_path_says_nothing_contradictory(void **state)
{
	struct fixture *f = *state;
	char *longest = scope_printf(f->s, "INSERT INTO path (path, fold, role, status, created_at) VALUES ('/' || hex(zeroblob(999)) || 'x', 'x', 'gone', 410, 0)");

	accepted(f, RESOURCE(1, "", ""));
	accepted(f, RESOURCE(2, "", ""));
	/* what a path looks like */
	refused(f, PATH("", "", "gone", NULL, "NULL", 410, 0), "CHECK");
	refused(f, PATH("/", "/", "gone", NULL, "NULL", 410, 0), "CHECK");
	refused(f, PATH("a", "a", "gone", NULL, "NULL", 410, 0), "CHECK");
	refused(f, PATH("/a/", "/a/", "gone", NULL, "NULL", 410, 0), "CHECK");
	refused(f, PATH("https://x.test/a", "/a", "gone", NULL, "NULL", 410, 0), "CHECK");
	accepted(f, longest);
	refused(f, "UPDATE path SET path = path || 'x'", "CHECK");
	/* canonical: a resource, no target, marked for ever */
	refused(f, PATH("/c", "/c", "canonical", NULL, "NULL", 301, 1), "CHECK");
	refused(f, PATH("/c", "/c", "canonical", 1, "'https://x.test/'", 301, 1), "CHECK");
	refused(f, PATH("/c", "/c", "canonical", 1, "NULL", 301, 0), "CHECK");
	refused(f, PATH("/c", "/c", "canonical", 99, "NULL", 301, 1), "FOREIGN KEY");
	/* alias: points at a resource, never at a path */
	refused(f, PATH("/c", "/c", "alias", NULL, "'/d'", 301, 0), "CHECK");
	refused(f, PATH("/c", "/c", "alias", 1, "'/d'", 301, 0), "CHECK");
	refused(f, PATH("/c", "/c", "alias", NULL, "NULL", 301, 0), "CHECK");
	refused(f, PATH("/c", "/c", "alias", 1, "NULL", 410, 0), "CHECK");
	refused(f, PATH("/c", "/c", "alias", 1, "NULL", 200, 0), "CHECK");
	accepted(f, PATH("/al", "/al", "alias", 1, "NULL", 308, 0));
	/* external */
	refused(f, PATH("/c", "/c", "external", NULL, "NULL", 301, 0), "CHECK");
	refused(f, PATH("/c", "/c", "external", 1, "'https://x.test/'", 301, 0), "CHECK");
	refused(f, PATH("/c", "/c", "external", NULL, "'https://x.test/'", 451, 0), "CHECK");
	accepted(f, PATH("/ex", "/ex", "external", NULL, "'https://x.test/'", 302, 0));
	/* gone */
	refused(f, PATH("/c", "/c", "gone", 1, "NULL", 410, 0), "CHECK");
	refused(f, PATH("/c", "/c", "gone", NULL, "'https://x.test/'", 410, 0), "CHECK");
	refused(f, PATH("/c", "/c", "gone", NULL, "NULL", 301, 0), "CHECK");
	accepted(f, PATH("/go", "/go", "gone", NULL, "NULL", 451, 0));
	refused(f, PATH("/c", "/c", "other", NULL, "NULL", 301, 0), "CHECK");
}

static void
a_redirect_by_query_has_one_meaning(void **state)
{
#define BY_QUERY(pairs, resource, target)                                                                  \
	"INSERT INTO path_query (path, pairs, resource_id, target, created_at) VALUES ('/', '" pairs "', " resource ", " target ", 0)"
	struct fixture *f = *state;

	accepted(f, RESOURCE(1, "", ""));
	accepted(f, BY_QUERY("p=1", "1", "NULL"));
	refused(f, BY_QUERY("p=1", "NULL", "'https://x.test/'"), "UNIQUE");
	refused(f, BY_QUERY("", "1", "NULL"), "CHECK");
	refused(f, BY_QUERY("p=2", "NULL", "NULL"), "CHECK");
	refused(f, BY_QUERY("p=2", "1", "'https://x.test/'"), "CHECK");
	accepted(f, BY_QUERY("p=2", "NULL", "'https://x.test/'"));
}

static void
a_key_is_claimed_once_in_its_scope(void **state)
{
	struct fixture *f = *state;

	accepted(f, IDEMPOTENCY(1, "POST", "/a", "k-0123456789abcdef", "", ""));
	refused(f, IDEMPOTENCY(1, "POST", "/a", "k-0123456789abcdef", "", ""), "UNIQUE constraint failed: idempotency_record.user_id");
	accepted(f, IDEMPOTENCY(2, "POST", "/a", "k-0123456789abcdef", "", ""));
	accepted(f, IDEMPOTENCY(1, "PATCH", "/a", "k-0123456789abcdef", "", ""));
	accepted(f, IDEMPOTENCY(1, "POST", "/b", "k-0123456789abcdef", "", ""));
	accepted(f, IDEMPOTENCY(1, "POST", "/a", "K-0123456789abcdef", "", ""));
	refused(f, IDEMPOTENCY(1, "POST", "/a", "k-0123456789abc", "", ""), "CHECK");
	refused(f, "UPDATE idempotency_record SET status = 'SUCCESS'", "CHECK");
	refused(f, "UPDATE idempotency_record SET response_body = hex(zeroblob(2049))", "CHECK");
	accepted(f, "UPDATE idempotency_record SET status = 'SUCCESS', response_status = 201, response_body = hex(zeroblob(2048))");
}

static void
a_client_ref_names_one_resource(void **state)
{
	struct fixture *f = *state;

	accepted(f, RESOURCE(1, ", ref_source, client_ref, ref_hash", ", 'user:1', 'x', " HEX64));
	refused(f, RESOURCE(2, ", ref_source, client_ref, ref_hash", ", 'user:1', 'x', " HEX64), "UNIQUE constraint failed: resource.ref_source");
	accepted(f, RESOURCE(2, ", ref_source, client_ref, ref_hash", ", 'user:2', 'x', " HEX64));
	accepted(f, RESOURCE(3, ", ref_source", ", 'user:1'"));
	accepted(f, RESOURCE(4, ", ref_source", ", 'user:1'"));
	refused(f, RESOURCE(5, ", client_ref", ", 'y'"), "CHECK");
	refused(f, "UPDATE resource SET uid = '00000000-0000-7000-8000-000000000001' WHERE id = 2", "UNIQUE constraint failed: resource.uid");
}

static void
messages_and_events_are_stored_once(void **state)
{
	struct fixture *f = *state;

	accepted(f, "INSERT INTO processed_message VALUES ('hook', 'm1', 0)");
	refused(f, "INSERT INTO processed_message VALUES ('hook', 'm1', 1)", "UNIQUE constraint failed: processed_message.source");
	accepted(f, "INSERT INTO processed_message VALUES ('other', 'm1', 0)");
	refused(f, "INSERT INTO processed_message VALUES ('hook', '', 0)", "CHECK");
	accepted(f, OUTBOX(1, 1, "published"));
	refused(f, OUTBOX(1, 1, "published"), "UNIQUE constraint failed: outbox.aggregate");
	accepted(f, OUTBOX(1, 2, "published"));
	accepted(f, OUTBOX(1, 1, "withdrawn"));
	accepted(f, "INSERT INTO delivery (outbox_id, sink, state, next_at) VALUES (1, 's', 'pending', 0)");
	refused(f, "INSERT INTO delivery (outbox_id, sink, state, next_at) VALUES (1, 's', 'pending', 0)", "UNIQUE constraint failed: delivery.outbox_id");
	refused(f, "INSERT INTO delivery (outbox_id, sink, state, next_at) VALUES (99, 's', 'pending', 0)", "FOREIGN KEY");
}

static void
ids_are_never_given_again(void **state)
{
	struct fixture *f = *state;

	accepted(f, RESOURCE(7, "", ""));
	accepted(f, "DELETE FROM resource");
	accepted(f, "INSERT INTO resource (uid, kind, locale, state, slug, head_revision, created_at, changed_at) "
	    "VALUES ('00000000-0000-7000-8000-000000000008', 'article', 'en', 'draft', 's', 1, 0, 0)");
	assert_int_equal(ask(f, "SELECT id FROM resource"), 8);
}

static void
a_revision_never_changes(void **state)
{
	struct fixture *f = *state;

	accepted(f, RESOURCE(1, "", ""));
	accepted(f, "INSERT INTO revision (resource_id, number, title, format, source, created_at) VALUES (1, 1, 't', 'markdown', 's', 0)");
	refused(f, "INSERT INTO revision (resource_id, number, title, format, source, created_at) VALUES (1, 1, 't', 'markdown', 's', 0)", "UNIQUE");
	refused(f, "UPDATE revision SET title = 'u'", "a revision never changes");
	refused(f, "INSERT INTO revision (resource_id, number, title, format, source, created_at) VALUES (1, 2, 't', 'pdf', 's', 0)", "CHECK");
}

static void
a_state_has_what_it_needs(void **state)
{
	struct fixture *f = *state;

	accepted(f, RESOURCE(1, "", ""));
	refused(f, "UPDATE resource SET state = 'published'", "CHECK");
	refused(f, "UPDATE resource SET state = 'published', live_revision = 1, first_published_at = 1", "CHECK");
	accepted(f, "UPDATE resource SET state = 'published', live_revision = 1, first_published_at = 1, live_changed_at = 1");
	refused(f, "UPDATE resource SET state = 'scheduled'", "CHECK");
	refused(f, "UPDATE resource SET state = 'scheduled', publish_at = 1", "CHECK");
	accepted(f, "UPDATE resource SET state = 'scheduled', publish_at = 1, scheduled_revision = 1");
	refused(f, "UPDATE resource SET state = 'live'", "CHECK");
	refused(f, "UPDATE resource SET duplicate_of = id", "CHECK");
	refused(f, "UPDATE resource SET duplicate_of = 99", "FOREIGN KEY");
}

static void
types_are_kept(void **state)
{
	struct fixture *f = *state;

	refused(f, "INSERT INTO setting VALUES ('k', 'v', 'yesterday')", "TEXT");
	refused(f, "INSERT INTO setting VALUES ('k', x'00', 1)", "BLOB");
}

/* The sitemap is a view: what is hidden, overridden, double or not live is not in it. */
static void
the_sitemap_lists_only_what_may_be_listed(void **state)
{
	static const char *const out[] = {
		"UPDATE resource SET state = 'withdrawn'", "UPDATE resource SET state = 'gone'",
		"UPDATE resource SET live_noindex = 1", "UPDATE resource SET live_canonical = 'https://x.test/'",
		"UPDATE resource SET duplicate_of = 2 WHERE id = 1", "UPDATE path SET role = 'alias'",
		"UPDATE resource SET kind = 'tag'", "UPDATE resource SET kind = 'author'",
	};
	struct fixture *f = *state;
	size_t i;

	accepted(f, RESOURCE(1, "", ""));
	accepted(f, RESOURCE(2, "", ""));
	assert_int_equal(ask(f, "SELECT count(*) FROM sitemap_entry WHERE path = '/' AND changed_at = 0"), 1);
	accepted(f, PATH("/a", "/a", "canonical", 1, "NULL", 301, 1));
	assert_int_equal(ask(f, "SELECT count(*) FROM sitemap_entry"), 1);
	accepted(f, "UPDATE resource SET state = 'published', live_revision = 1, first_published_at = 1, live_changed_at = 5 WHERE id = 1");
	assert_int_equal(ask(f, "SELECT changed_at FROM sitemap_entry WHERE path = '/a'"), 5);
	assert_int_equal(ask(f, "SELECT changed_at FROM sitemap_entry WHERE path = '/'"), 5);
	for (i = 0; i < COUNT(out); i++) {
		assert_ok(f->s, db_begin(f->s, f->db));
		accepted(f, out[i]);
		if (ask(f, "SELECT count(*) FROM sitemap_entry WHERE path = '/a'") != 0) {
			print_error("%s\n", out[i]);
			_fail(__FILE__, __LINE__);
		}
		db_rollback(f->db);
	}
	assert_int_equal(ask(f, "SELECT count(*) FROM sitemap_entry WHERE path = '/a'"), 1);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, database_setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(every_unique_index_exists),
		TEST(a_path_has_one_meaning),
		TEST(a_resource_has_one_canonical_path),
		TEST(spellings_of_a_canonical_path_belong_to_it_for_ever),
		TEST(a_path_says_nothing_contradictory),
		TEST(a_redirect_by_query_has_one_meaning),
		TEST(a_key_is_claimed_once_in_its_scope),
		TEST(a_client_ref_names_one_resource),
		TEST(messages_and_events_are_stored_once),
		TEST(ids_are_never_given_again),
		TEST(a_revision_never_changes),
		TEST(a_state_has_what_it_needs),
		TEST(types_are_kept),
		TEST(the_sitemap_lists_only_what_may_be_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
