/* test_shared.c - the page that processes share. */
#include "db/fixture.h"
#include <pthread.h>
#include "base/clock.h"

static void
open_of_nothing_gives_a_private_page(void **state)
{
	struct fixture *f = *state;
	struct shared *a, *b;
	char *run = scope_printf(f->s, "%s/run", f->dir);

	assert_ok(f->s, shared_open(f->s, &a, f->dir, false));
	assert_ok(f->s, shared_open(f->s, &b, f->dir, false));
	shared_bump(a, 3);
	metric_add(a, METRIC_REQUESTS, 1);
	assert_int_equal(shared_generation(b), 1);
	assert_int_equal(metric_get(b, METRIC_REQUESTS), 0);
	assert_true(shared_turn_take(a, 0));
	assert_true(shared_turn_take(b, 0));
	shared_turn_give(a);
	shared_turn_give(b);
	shared_close(a);
	shared_close(b);
	assert_int_equal(access(run, F_OK), -1);
	shared_close(NULL);
}

static void
everybody_maps_the_page_of_serve(void **state)
{
	struct fixture *f = *state;
	struct shared *other;
	struct stat st;

	assert_ok(f->s, shared_open(f->s, &other, f->dir, false));
	shared_bump(f->shared, 7);
	metric_add(other, METRIC_WRITE_JOBS, 5);
	assert_int_equal(shared_slot_generation(other, 7), 2);
	assert_int_equal(metric_get(f->shared, METRIC_WRITE_JOBS), 5);
	assert_true(shared_turn_take(other, 0));
	assert_false(shared_turn_take(f->shared, 0));
	shared_turn_give(other);
	shared_close(other);
	assert_int_equal(stat(scope_printf(f->s, "%s/run/shared", f->dir), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(stat(scope_printf(f->s, "%s/run", f->dir), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
}

static void
serve_makes_the_page_anew(void **state)
{
	struct fixture *f = *state;
	struct shared *anew, *mapped;

	shared_bump(f->shared, 7);
	assert_true(shared_turn_take(f->shared, 0));
	assert_ok(f->s, shared_open(f->s, &anew, f->dir, true));
	assert_int_equal(shared_generation(anew), 1);
	assert_int_equal(shared_slot_generation(anew, 7), 0);
	assert_true(shared_turn_take(anew, 0));
	assert_ok(f->s, shared_open(f->s, &mapped, f->dir, false));
	assert_false(shared_turn_take(mapped, 0));
	shared_turn_give(anew);
	shared_turn_give(f->shared);
	shared_close(anew);
	shared_close(mapped);
}

/* Version, boot and size: a page that does not match is not touched, and not used. */
static void
a_page_of_something_else_is_not_used(void **state)
{
	struct fixture *f = *state;
	char *path = scope_printf(f->s, "%s/run/shared", f->dir);
	static const off_t places[] = { 0, 8, 12, 16, -1 };
	struct shared *page;
	struct stat st;
	char byte;
	size_t i;
	int fd;

	for (i = 0; i < COUNT(places); i++) {
		fd = open(path, O_RDWR);
		assert_int_equal(fstat(fd, &st), 0);
		if (places[i] >= 0) {
			assert_int_equal(pread(fd, &byte, 1, places[i]), 1);
			byte ^= 1;
			assert_int_equal(pwrite(fd, &byte, 1, places[i]), 1);
		} else
			assert_int_equal(ftruncate(fd, st.st_size - 4096), 0);
		metric_set(f->shared, METRIC_WAL_BYTES, 99);
		assert_ok(f->s, shared_open(f->s, &page, f->dir, false));
		assert_int_equal(metric_get(page, METRIC_WAL_BYTES), 0);
		shared_close(page);
		byte ^= 1;
		if (places[i] >= 0)
			assert_int_equal(pwrite(fd, &byte, 1, places[i]), 1);
		else
			assert_int_equal(ftruncate(fd, st.st_size), 0);
		close(fd);
		assert_ok(f->s, shared_open(f->s, &page, f->dir, false));
		assert_int_equal(metric_get(page, METRIC_WAL_BYTES), 99);
		shared_close(page);
	}
}

static void
a_page_that_cannot_be_made_is_a_storage_error(void **state)
{
	struct fixture *f = *state;
	struct shared *page = NULL;

	assert_int_equal(shared_open(f->s, &page, scope_printf(f->s, "%s/absent", f->dir), true), ERR_STORAGE);
	write_file(scope_printf(f->s, "%s/run", f->dir), "a file where the folder should be");
	assert_int_equal(shared_open(f->s, &page, f->dir, true), ERR_STORAGE);
	assert_null(page);
}

static void
no_room_for_the_page_is_found_at_once(struct fixture *f)
{
	struct rlimit limit = { 65536, 65536 };
	struct shared *page = NULL;

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	if (shared_open(f->s, &page, f->dir, true) != ERR_STORAGE || access(scope_printf(f->s, "%s/run/shared.new", f->dir), F_OK) == 0)
		_exit(1);
}

static void
a_full_disk_is_found_when_the_page_is_made(void **state)
{
	assert_int_equal(in_child(no_room_for_the_page_is_found_at_once, *state), 0);
}

static void
die_with_the_turn(struct fixture *f)
{
	if (shared_turn_take(f->shared, 1000))
		kill(getpid(), SIGKILL);
}

static void
a_dead_holder_gives_its_turn(void **state)
{
	struct fixture *f = *state;
	int i;

	for (i = 0; i < 3; i++) {
		assert_int_equal(in_child(die_with_the_turn, f), SIGKILL);
		assert_true(shared_turn_take(f->shared, 1000));
		assert_false(shared_turn_take(f->shared, 10));
		shared_turn_give(f->shared);
	}
}

static void
a_turn_not_given_in_time_is_refused(void **state)
{
	struct fixture *f = *state;
	int64_t before;

	assert_true(shared_turn_take(f->shared, 0));
	before = clock_monotonic();
	assert_false(shared_turn_take(f->shared, 1200));
	assert_in_range(clock_monotonic() - before, 1190, 2000);
	shared_turn_give(f->shared);
	assert_true(shared_turn_take(f->shared, 0));
	shared_turn_give(f->shared);
}

static void
wait_for_the_turn(struct fixture *f)
{
	(void)shared_turn_take(f->shared, 60000);
}

static void
a_waiter_that_was_killed_stops_nobody(void **state)
{
	struct fixture *f = *state;
	int64_t before;
	int i, status;
	pid_t pid;

	assert_true(shared_turn_take(f->shared, 0));
	if ((pid = fork()) == 0) {
		wait_for_the_turn(f);
		_exit(0);
	}
	usleep(200000);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	shared_turn_give(f->shared);
	before = clock_monotonic();
	for (i = 0; i < 2000; i++) {
		assert_true(shared_turn_take(f->shared, 0));
		shared_turn_give(f->shared);
	}
	assert_true(clock_monotonic() - before < 400);
}

static void
be_greedy(struct fixture *f)
{
	int64_t until = clock_monotonic() + 1500;

	while (clock_monotonic() < until) {
		if (!shared_turn_take(f->shared, 5000))
			_exit(1);
		metric_add(f->shared, METRIC_REQUESTS, 1);
		usleep(2000);
		shared_turn_give(f->shared);
	}
}

/* A holder that comes back at once must not starve who waits: about one turn of its own passes, not hundreds. */
static void
the_turn_goes_to_who_waits(void **state)
{
	struct fixture *f = *state;
	int64_t overtaken = 0, turns = 0;
	int status;
	pid_t pid;

	fflush(NULL);
	if ((pid = fork()) == 0) {
		be_greedy(f);
		_exit(0);
	}
	while (metric_get(f->shared, METRIC_REQUESTS) == 0)
		usleep(1000);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		overtaken -= metric_get(f->shared, METRIC_REQUESTS);
		assert_true(shared_turn_take(f->shared, 5000));
		overtaken += metric_get(f->shared, METRIC_REQUESTS);
		shared_turn_give(f->shared);
		turns++;
		usleep(500);
	}
	assert_int_equal(status, 0);
	print_message("%d turns beside a greedy holder, overtaken %d times\n", (int)turns, (int)overtaken);
	assert_true(turns >= 20);
	assert_true(overtaken <= 3 * turns);
}

static void *
bump_often(void *arg)
{
	struct shared *shared = arg;
	int i;

	for (i = 0; i < 50000; i++)
		shared_bump(shared, (uint32_t)i % 3);
	return NULL;
}

static void
bumps_are_never_lost(void **state)
{
	struct fixture *f = *state;
	uint64_t newest = 0;
	pthread_t threads[4];
	uint32_t slot;
	size_t i;

	for (i = 0; i < COUNT(threads); i++)
		assert_int_equal(pthread_create(&threads[i], NULL, bump_often, f->shared), 0);
	for (i = 0; i < COUNT(threads); i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(shared_generation(f->shared), 1 + 200000);
	for (slot = 0; slot < 3; slot++)
		if (shared_slot_generation(f->shared, slot) > newest)
			newest = shared_slot_generation(f->shared, slot);
	assert_int_equal(newest, 200001);
	assert_int_equal(shared_slot_generation(f->shared, 3), 0);
}

static void
bump_all_makes_every_slot_new(void **state)
{
	struct fixture *f = *state;
	uint32_t slot;

	shared_bump(f->shared, 5);
	shared_bump_all(f->shared);
	for (slot = 0; slot < SHARED_DEPENDENCIES; slot++)
		if (shared_slot_generation(f->shared, slot) != 3)
			_fail(__FILE__, __LINE__);
	shared_bump(f->shared, 5);
	assert_int_equal(shared_slot_generation(f->shared, 5), 4);
	assert_int_equal(shared_slot_generation(f->shared, 6), 3);
}

static void
slots_are_spread_and_fixed(void **state)
{
	static unsigned char used[SHARED_DEPENDENCIES];
	int i, distinct = 0;
	char name[32];

	for (i = 0; i < 10000; i++) {
		snprintf(name, sizeof(name), "resource:%d", i);
		distinct += !used[shared_slot(name)];
		used[shared_slot(name)] = 1;
	}
	/* 10,000 balls in 65,536 boxes fill about 9,280. */
	assert_in_range(distinct, 9000, 10000);
	assert_int_equal(shared_slot("resource:1"), shared_slot("resource:1"));
	assert_true(shared_slot("") < SHARED_DEPENDENCIES);
}

static void
metrics_have_names_types_and_help(void **state)
{
	struct fixture *f = *state;
	struct str name;
	int m;

	for (m = 0; m < METRIC_COUNT; m++) {
		assert_true(strlen(metric_name((enum metric)m)) > 0 && strlen(metric_help((enum metric)m)) > 0);
		name = str_of(metric_name((enum metric)m));
		name = str_part(name, 0, str_find(name, '{'));
		assert_int_equal(strcmp(metric_type((enum metric)m), "counter") == 0, str_ends(name, "_total"));
	}
	metric_add(f->shared, METRIC_CACHE_HITS, 2);
	metric_add(f->shared, METRIC_CACHE_HITS, 3);
	metric_set(f->shared, METRIC_WAL_BYTES, 10);
	metric_set(f->shared, METRIC_WAL_BYTES, 4);
	assert_int_equal(metric_get(f->shared, METRIC_CACHE_HITS), 5);
	assert_int_equal(metric_get(f->shared, METRIC_WAL_BYTES), 4);
	assert_int_equal(metric_get(f->shared, METRIC_CACHE_MISSES), 0);
}

static void
a_beat_tells_who_and_when(void **state)
{
	struct fixture *f = *state;
	int64_t before = clock_monotonic();

	assert_int_equal(shared_beat_at(f->shared, 16), 0);
	shared_beat(f->shared, 16, 4711);
	assert_in_range(shared_beat_at(f->shared, 16), before, clock_monotonic());
	assert_int_equal(shared_beat_pid(f->shared, 16), 4711);
	assert_int_equal(shared_beat_at(f->shared, 0), 0);
}

int
main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, database_setup, teardown)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(open_of_nothing_gives_a_private_page, folder_setup, teardown),
		cmocka_unit_test_setup_teardown(a_page_that_cannot_be_made_is_a_storage_error, folder_setup, teardown),
		cmocka_unit_test_setup_teardown(a_full_disk_is_found_when_the_page_is_made, folder_setup, teardown),
		TEST(everybody_maps_the_page_of_serve),
		TEST(serve_makes_the_page_anew),
		TEST(a_page_of_something_else_is_not_used),
		TEST(a_dead_holder_gives_its_turn),
		TEST(a_turn_not_given_in_time_is_refused),
		TEST(a_waiter_that_was_killed_stops_nobody),
		TEST(the_turn_goes_to_who_waits),
		TEST(bumps_are_never_lost),
		TEST(bump_all_makes_every_slot_new),
		TEST(slots_are_spread_and_fixed),
		TEST(metrics_have_names_types_and_help),
		TEST(a_beat_tells_who_and_when),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
