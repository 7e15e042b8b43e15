/* test_fault.c - the test build's fault points; elsewhere they are nothing at all. */
#include "db/fixture.h"
#include <poll.h>
#include "base/clock.h"

static void
nothing_happens_unasked(void **state)
{
	unsetenv("STELE_FAULT");
	assert_false(fault("pre_commit"));
	setenv("STELE_FAULT", "elsewhere:error", 1);
	assert_false(fault("pre_commit"));
	unsetenv("STELE_FAULT");
}

#ifndef STELE_TEST
static void
a_release_has_no_fault_points(void **state)
{
	setenv("STELE_FAULT", "pre_commit:error", 1);
	assert_false(fault("pre_commit"));
	unsetenv("STELE_FAULT");
}
#else
static void
errors_are_told_at_their_point_and_pass(void **state)
{
	setenv("STELE_FAULT", "a:error,b:error:3,c:error:1,c:error:2", 1);
	assert_true(fault("a") && fault("a"));
	assert_false(fault("b"));
	assert_false(fault("b"));
	assert_true(fault("b"));
	assert_false(fault("b"));
	assert_true(fault("c") && fault("c"));
	assert_false(fault("c"));
	/* Another text is another count. */
	setenv("STELE_FAULT", "b:error:1", 1);
	assert_true(fault("b"));
	assert_false(fault("b"));
	assert_false(fault("a"));
	setenv("STELE_FAULT", "a:on", 1);
	assert_true(fault("a") && fault("a"));
	unsetenv("STELE_FAULT");
}

static void
a_sleep_takes_its_time(void **state)
{
	int64_t before = clock_monotonic();

	setenv("STELE_FAULT", "a:sleep1:1,a:syscall:2", 1);
	assert_false(fault("a"));
	assert_in_range(clock_monotonic() - before, 990, 5000);
	before = clock_monotonic();
	assert_false(fault("a"));
	assert_true(clock_monotonic() - before < 900);
	unsetenv("STELE_FAULT");
}

static void
pass_the_point(struct fixture *f)
{
	(void)fault("a");
	(void)fault("a");
}

static void
kill_ends_the_process(void **state)
{
	setenv("STELE_FAULT", "a:kill:2", 1);
	assert_int_equal(in_child(pass_the_point, *state), SIGKILL);
	setenv("STELE_FAULT", "a:kill:3", 1);
	assert_int_equal(in_child(pass_the_point, *state), 0);
	unsetenv("STELE_FAULT");
}

static int held[2];		/* a pipe: read here, kept open by the second process of the group */

static void
pass_in_a_group_of_two(struct fixture *f)
{
	if (setpgid(0, 0) == -1)
		_exit(2);
	if (fork() == 0)
		for (;;)
			pause();
	(void)fault("a");
}

static void
killgroup_ends_every_process_of_the_group(void **state)
{
	struct pollfd end;

	assert_int_equal(pipe(held), 0);
	setenv("STELE_FAULT", "a:killgroup", 1);
	assert_int_equal(in_child(pass_in_a_group_of_two, *state), SIGKILL);
	close(held[1]);
	end = (struct pollfd){ .fd = held[0], .events = POLLIN };
	assert_int_equal(poll(&end, 1, 5000), 1);
	assert_true(end.revents & POLLHUP);
	close(held[0]);
	unsetenv("STELE_FAULT");
}

/* A server that is started again after its death must not die of the same fault for ever. */
static void
once_means_once_over_all_processes(void **state)
{
	struct fixture *f = *state;

	setenv("STELE_FAULT", "a:kill", 1);
	setenv("STELE_FAULT_ONCE", f->dir, 1);
	assert_int_equal(in_child(pass_the_point, f), SIGKILL);
	assert_int_equal(access(scope_printf(f->s, "%s/a.kill", f->dir), F_OK), 0);
	assert_int_equal(in_child(pass_the_point, f), 0);
	unsetenv("STELE_FAULT");
	unsetenv("STELE_FAULT_ONCE");
}

/* abort() makes a core file; the child's limit forbids it. */
static void
pass_without_core(struct fixture *f)
{
	struct rlimit none = { 0, 0 };

	setrlimit(RLIMIT_CORE, &none);
	(void)fault("a");
}

static void
a_wrong_wish_is_not_ignored(void **state)
{
	static const char *const wrong[] = { "a", "a:", "a:explode", "a:error:0", "a:error:x", "a:sleepx" };
	size_t i;

	for (i = 0; i < COUNT(wrong); i++) {
		setenv("STELE_FAULT", wrong[i], 1);
		assert_int_equal(WTERMSIG(in_child(pass_without_core, *state)), SIGABRT);
	}
	unsetenv("STELE_FAULT");
}
#endif

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, folder_setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(nothing_happens_unasked),
#ifndef STELE_TEST
		TEST(a_release_has_no_fault_points),
#else
		TEST(errors_are_told_at_their_point_and_pass),
		TEST(a_sleep_takes_its_time),
		TEST(kill_ends_the_process),
		TEST(killgroup_ends_every_process_of_the_group),
		TEST(once_means_once_over_all_processes),
		TEST(a_wrong_wish_is_not_ignored),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
