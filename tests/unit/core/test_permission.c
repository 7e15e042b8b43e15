/* test_permission.c - the table of permission.def is what is decided, and scopes only narrow it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/permission.h"

#define ME 7
#define OTHER 8

static const struct { const char *name; enum token_scope scope; bool viewer, own, other, editor,
    admin; } table[ACTION_COUNT] = {
#define PERMISSION(action, scope, viewer, own, other, editor, admin) \
	{ #action, TOKEN_SCOPE_##scope, viewer, own, other, editor, admin },
#include "core/permission.def"
#undef PERMISSION
};

static bool
may(enum role role, unsigned scopes, enum action action, int64_t owner)
{
	struct principal	who = { .user_id = role == ROLE_NONE ? 0 : ME, .role = role, .scopes = scopes };

	return permitted(&who, action, owner);
}

static void
decisions_follow_the_table(void **unused)
{
	for (size_t i = 0; i < ACTION_COUNT; i++) {
		enum action	a = (enum action)i;

		assert_int_equal(may(ROLE_VIEWER, TOKEN_SCOPE_ALL, a, ME), table[i].viewer);
		assert_int_equal(may(ROLE_AUTHOR, TOKEN_SCOPE_ALL, a, ME), table[i].own);
		assert_int_equal(may(ROLE_AUTHOR, TOKEN_SCOPE_ALL, a, 0), table[i].own);
		assert_int_equal(may(ROLE_AUTHOR, TOKEN_SCOPE_ALL, a, OTHER), table[i].other);
		assert_int_equal(may(ROLE_EDITOR, TOKEN_SCOPE_ALL, a, OTHER), table[i].editor);
		assert_int_equal(may(ROLE_ADMIN, TOKEN_SCOPE_ALL, a, OTHER), table[i].admin);
		assert_true(table[i].admin);
		assert_int_equal(may(ROLE_NONE, TOKEN_SCOPE_ALL, a, 0), table[i].scope == TOKEN_SCOPE_NONE);
	}
}

static void
authors_touch_only_what_is_theirs(void **unused)
{
	static const enum action	owned[] = { ACTION_READ_DRAFT, ACTION_UPDATE, ACTION_PUBLISH,
	    ACTION_WITHDRAW, ACTION_DELETE };

	for (size_t i = 0; i < COUNT(owned); i++) {
		assert_true(may(ROLE_AUTHOR, TOKEN_SCOPE_ALL, owned[i], ME));
		assert_false(may(ROLE_AUTHOR, TOKEN_SCOPE_ALL, owned[i], OTHER));
	}
	assert_false(may(ROLE_VIEWER, TOKEN_SCOPE_ALL, ACTION_CREATE, 0));
	assert_false(may(ROLE_EDITOR, TOKEN_SCOPE_ALL, ACTION_MANAGE_USERS, 0));
}

static void
scopes_narrow_and_never_widen(void **unused)
{
	static const enum role	roles[] = { ROLE_NONE, ROLE_VIEWER, ROLE_AUTHOR, ROLE_EDITOR, ROLE_ADMIN };

	for (size_t r = 0; r < COUNT(roles); r++) {
		for (size_t i = 0; i < ACTION_COUNT; i++) {
			for (unsigned scopes = 0; scopes <= TOKEN_SCOPE_ALL; scopes++) {
				bool	enough = (scopes & (unsigned)table[i].scope) == (unsigned)table[i].scope;
				bool	whole = may(roles[r], TOKEN_SCOPE_ALL, (enum action)i, OTHER);

				assert_int_equal(may(roles[r], scopes, (enum action)i, OTHER), enough && whole);
			}
		}
	}
}

static void
refusal_tells_credentials_from_rights(void **unused)
{
	struct scope	*s = scope_new("test");
	struct principal nobody = { .role = ROLE_NONE }, viewer = { .user_id = ME, .role = ROLE_VIEWER,
	    .scopes = TOKEN_SCOPE_ALL },
			 reader = { .user_id = ME, .role = ROLE_ADMIN, .scopes = TOKEN_SCOPE_READ },
			     off = { .user_id = ME, .role = ROLE_NONE };

	assert_int_equal(permission_require(s, &nobody, ACTION_READ_PUBLIC, 0), OK);
	assert_int_equal(permission_require(s, &nobody, ACTION_CREATE, 0), ERR_UNAUTHENTICATED);
	assert_int_equal(permission_require(s, &viewer, ACTION_CREATE, 0), ERR_DENIED);
	assert_non_null(strstr(s->error->detail, "viewer"));
	assert_int_equal(permission_require(s, &reader, ACTION_PUBLISH, 0), ERR_DENIED);
	assert_non_null(strstr(s->error->detail, "publish"));
	assert_int_equal(permission_require(s, &off, ACTION_CREATE, 0), ERR_DENIED);
	scope_free(s);
}

static void
names_go_out_and_come_back(void **unused)
{
	static const enum role	roles[] = { ROLE_VIEWER, ROLE_AUTHOR, ROLE_EDITOR, ROLE_ADMIN };
	struct scope		*s = scope_new("test");
	enum role		 role;
	unsigned		 scopes;

	for (size_t i = 0; i < COUNT(roles); i++) {
		assert_true(role_parse(str_of(role_name(roles[i])), &role));
		assert_int_equal(role, roles[i]);
	}
	assert_false(role_parse(STR("none"), &role));
	assert_false(role_parse(STR("Admin"), &role));
	assert_false(role_parse(STR(""), &role));
	for (unsigned all = 1; all <= TOKEN_SCOPE_ALL; all++) {
		assert_true(scopes_parse(str_of(scopes_text(s, all)), &scopes));
		assert_int_equal(scopes, all);
	}
	assert_string_equal(scopes_text(s, TOKEN_SCOPE_ALL), "read,write,publish,admin");
	assert_string_equal(scopes_text(s, 0), "");
	assert_true(scopes_parse(STR(" read , write"), &scopes));
	assert_int_equal(scopes, TOKEN_SCOPE_READ | TOKEN_SCOPE_WRITE);
	assert_true(scopes_parse(STR("all"), &scopes));
	assert_int_equal(scopes, TOKEN_SCOPE_ALL);
	assert_false(scopes_parse(STR(""), &scopes));
	assert_false(scopes_parse(STR("read,fly"), &scopes));
	assert_false(scopes_parse(STR(","), &scopes));
	assert_string_equal(action_name(ACTION_READ_PUBLIC), "read_public");
	assert_string_equal(action_name(ACTION_MANAGE_SETTINGS), "manage_settings");
	scope_free(s);
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(decisions_follow_the_table),
		cmocka_unit_test(authors_touch_only_what_is_theirs),
		cmocka_unit_test(scopes_narrow_and_never_widen),
		cmocka_unit_test(refusal_tells_credentials_from_rights),
		cmocka_unit_test(names_go_out_and_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
