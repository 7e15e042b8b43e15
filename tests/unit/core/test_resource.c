/* test_resource.c - names, states and their moves. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/resource.h"

static const char *
after(enum state from, enum move move, bool was_public)
{
	enum state	to;

	return state_after(from, move, was_public, &to) ? state_name(to) : "-";
}

static void
only_the_workflow_moves_states(void **unused)
{
	/* Rows: states; columns: publish schedule cancel withdraw delete restore. */
	static const char *const	never[STATE_COUNT][MOVE_COUNT] = {
		[STATE_DRAFT] = { "published", "scheduled", "-", "-", "gone", "-" },
		[STATE_SCHEDULED] = { "published", "-", "draft", "-", "gone", "-" },
		[STATE_PUBLISHED] = { "published", "-", "-", "withdrawn", "gone", "-" },
		[STATE_WITHDRAWN] = { "published", "scheduled", "-", "-", "gone", "-" },
		[STATE_GONE] = { "-", "-", "-", "-", "-", "withdrawn" },
	};

	for (int from = 0; from < STATE_COUNT; from++) {
		for (int move = 0; move < MOVE_COUNT; move++) {
			assert_string_equal(after((enum state)from, (enum move)move, false), never[from][move]);
			if (from == STATE_SCHEDULED && move == MOVE_CANCEL)
				assert_string_equal(after(STATE_SCHEDULED, MOVE_CANCEL, true), "withdrawn");
			else
				assert_string_equal(after((enum state)from, (enum move)move, true),
				    never[from][move]);
		}
	}
}

static void
a_refused_move_leaves_the_answer_alone(void **unused)
{
	enum state	to = STATE_SCHEDULED;

	assert_false(state_after(STATE_GONE, MOVE_PUBLISH, true, &to));
	assert_int_equal(to, STATE_SCHEDULED);
}

static void
names_go_out_and_come_back(void **unused)
{
	enum kind	kind;
	enum state	state;

	for (int i = 0; i < KIND_COUNT; i++) {
		assert_true(kind_parse(str_of(kind_name((enum kind)i)), &kind));
		assert_int_equal(kind, i);
		assert_true(str_starts(str_of(kind_plural((enum kind)i)), kind_name((enum kind)i)));
	}
	for (int i = 0; i < STATE_COUNT; i++) {
		assert_true(state_parse(str_of(state_name((enum state)i)), &state));
		assert_int_equal(state, i);
	}
	assert_false(kind_parse(STR("articles"), &kind));
	assert_false(kind_parse(STR(""), &kind));
	assert_false(state_parse(STR("Draft"), &state));
	assert_string_equal(move_name(MOVE_WITHDRAW), "withdraw");
	assert_string_equal(format_name(FORMAT_HTML), "html");
	assert_string_equal(format_name(FORMAT_MARKDOWN), "markdown");
}

int
main(void)
{
	const struct CMUnitTest	tests[] = {
		cmocka_unit_test(only_the_workflow_moves_states),
		cmocka_unit_test(a_refused_move_leaves_the_answer_alone),
		cmocka_unit_test(names_go_out_and_come_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
