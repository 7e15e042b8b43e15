#include "actions/writes.h"

static enum status
add(struct world *w, enum status (*apply)(struct scope *, struct db *, void *), void *arg)
{
	return writer_run(w->f.s, w->f.db, w->f.shared, apply, arg);
}

static void
name_is_taken_once(void **state)
{
	struct world *w = *state;
	struct user_new u = { .name = "alice", .role = ROLE_ADMIN };
	int64_t count;

	assert_int_equal(add(w, user_add, &u), ERR_CONFLICT);
	assert_string_equal(w->f.s->error->field, "name");
	assert_ok(w->f.s, users_count(w->f.s, w->f.db, &count));
	assert_int_equal(count, 3);
}

static void
names_have_bounds(void **state)
{
	static const char *const names[] = { "", " a", "a ", "a\nb", "\xff",
		"1234567890123456789012345678901234567890123456789012345678901234x" };
	struct world *w = *state;
	size_t i;

	for (i = 0; i < COUNT(names); i++)
		assert_int_equal(add(w, user_add, &(struct user_new){ .name = names[i], .role = ROLE_VIEWER }), ERR_INVALID);
	assert_int_equal(add(w, user_add, &(struct user_new){ .name = "x" }), ERR_INVALID);
}

static void
token_is_shown_once_and_stored_as_digest(void **state)
{
	struct world *w = *state;
	struct token_new t = { .user = "alice", .scopes = TOKEN_SCOPE_READ | TOKEN_SCOPE_WRITE };
	struct principal who;

	assert_ok(w->f.s, add(w, token_add, &t));
	assert_int_equal(strlen(t.token), strlen("stele_") + 43);
	assert_int_equal(ask(&w->f, scope_printf(w->f.s, "SELECT count(*) FROM api_token WHERE token_hash LIKE '%%%s%%'", t.token + 6)), 0);
	assert_ok(w->f.s, user_by_token(w->f.s, w->read, str_of(t.token), &who));
	assert_int_equal(who.user_id, w->alice.user_id);
	assert_int_equal(who.role, ROLE_AUTHOR);
	assert_int_equal(who.scopes, t.scopes);
}

static void
only_a_living_token_of_an_active_user_counts(void **state)
{
	struct world *w = *state;
	struct scope *s = w->f.s;
	struct token_new t = { .user = "alice", .scopes = TOKEN_SCOPE_ALL, .expires_at = s->now + 1000 }, past = t;
	struct principal who;

	past.expires_at = s->now;
	assert_int_equal(add(w, token_add, &past), ERR_INVALID);
	assert_int_equal(add(w, token_add, &(struct token_new){ .user = "alice" }), ERR_INVALID);
	assert_int_equal(add(w, token_add, &(struct token_new){ .user = "nobody", .scopes = 1 }), ERR_NOT_FOUND);
	assert_ok(s, add(w, token_add, &t));
	assert_ok(s, user_by_token(s, w->f.db, str_of(t.token), &who));
	assert_int_equal(user_by_token(s, w->f.db, str_of("stele_wrong"), &who), ERR_UNAUTHENTICATED);
	assert_int_equal(user_by_token(s, w->f.db, (struct str){ NULL, 0 }, &who), ERR_UNAUTHENTICATED);
	s->now += 1000;
	assert_int_equal(user_by_token(s, w->f.db, str_of(t.token), &who), ERR_UNAUTHENTICATED);
	s->now -= 1000;
	assert_ok(s, db_exec(s, w->f.db, "UPDATE api_token SET revoked_at = 1"));
	assert_int_equal(user_by_token(s, w->f.db, str_of(t.token), &who), ERR_UNAUTHENTICATED);
	assert_ok(s, db_exec(s, w->f.db, "UPDATE api_token SET revoked_at = NULL; UPDATE user SET is_active = 0"));
	assert_int_equal(user_by_token(s, w->f.db, str_of(t.token), &who), ERR_UNAUTHENTICATED);
	assert_int_equal(user_by_name(s, w->f.db, "alice", &who), ERR_NOT_FOUND);
}

#define T(name) cmocka_unit_test_setup_teardown(name, world_setup, world_teardown)

int
main(void)
{
	const struct CMUnitTest tests[] = { T(name_is_taken_once), T(names_have_bounds), T(token_is_shown_once_and_stored_as_digest),
		T(only_a_living_token_of_an_active_user_counts) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
