/* supervisor.c - how the children of `stele serve` are started, watched, restarted and ended. */
#include "cli/supervisor.h"
#include "base/clock.h"
#include "base/log.h"
#include "jobs/jobs.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>

#define STOP_MS 15000		/* to finish what was begun, then SIGKILL */
#define DRAIN_MS 5000		/* for what a dead leader left behind */
#define DELAY_FIRST_MS 100
#define DELAY_MAX_MS 10000
#define HUNG_MS 30000		/* without a heartbeat of jobs */
#define WATCH_MS 1000
#define STEADY_MS 10000		/* who lived that long starts again without delay */
#define TICK_MS 50
#define LINE_MAX_BYTES 4096

enum { KORE, JOBS, CHILDREN };

struct child {
	const char	*name;
	int		 death_signal;	/* what the kernel sends it when this process dies */
	pid_t		 leader;	/* 0 = not running */
	pid_t		 group;		/* 0 = nobody left of the last start */
	int64_t		 started_at;	/* monotonic ms, as all times here */
	int64_t		 start_at;	/* when to start (again), with group 0 */
	int64_t		 kill_at;	/* when to kill the group; 0 = not yet */
	int		 delay_ms;
	time_t		 born_at;	/* wall clock */
	bool		 is_marked;	/* the shared memory that it made */
};

struct supervisor {
	const struct supervised *work;
	struct child	 children[CHILDREN];
	pid_t		 self;
	int		 signals;	/* signalfd */
	int		 lines[2];	/* Kore's standard output */
	char		 line[LINE_MAX_BYTES];
	size_t		 line_len;
	bool		 is_stopping;
};

static enum status	prepare(struct scope *, struct supervisor *);
static void		run_until_stopped(struct supervisor *);
static int		wait_ms(const struct supervisor *);
static void		read_signals(struct supervisor *);
static void		reap(struct supervisor *);
static void		child_ended(struct supervisor *, struct child *, int how);
static void		stop(struct supervisor *);
static void		tend(struct supervisor *, struct child *);
static void		watch_jobs(struct supervisor *);
static void		start(struct supervisor *, struct child *);
static void		mark_memory(struct child *);
static void		become_child(struct supervisor *, const struct child *) __attribute__((noreturn));
static void		read_lines(struct supervisor *);
static void		write_line(const char *line);
static void		write_log(bool is_warning, const char *event, const struct child *, const char *member, int64_t value);

enum status
supervise(struct scope *s, const struct supervised *work)
{
	struct supervisor sup = {
		.work = work,
		.children = {
			/* Killed, not asked: its parent process could spin for ever; the workers get SIGTERM by themselves. */
			[KORE] = { .name = "kore", .death_signal = SIGKILL },
			[JOBS] = { .name = "jobs", .death_signal = SIGTERM },
		},
		.self = getpid(),
		.signals = -1,
		.lines = { -1, -1 },
	};

	TRY(prepare(s, &sup));
	run_until_stopped(&sup);
	close(sup.signals);
	close(sup.lines[0]);
	close(sup.lines[1]);
	return OK;
}

static enum status
prepare(struct scope *s, struct supervisor *sup)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &set, NULL) == -1)
		return fail(s, ERR_INTERNAL, NULL, "sigprocmask: %s", strerror(errno));
	/* Inherited by the children: a site does not end because nobody reads its log any more. */
	(void)signal(SIGPIPE, SIG_IGN);
	sup->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (sup->signals == -1)
		return fail(s, ERR_INTERNAL, NULL, "signalfd: %s", strerror(errno));
	if (pipe2(sup->lines, O_CLOEXEC | O_NONBLOCK) == -1)
		return fail(s, ERR_INTERNAL, NULL, "pipe2: %s", strerror(errno));
	/* Workers whose leader died become ours, so that they can be waited for. */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1) == -1)
		return fail(s, ERR_INTERNAL, NULL, "prctl: %s", strerror(errno));
	return OK;
}

static void
run_until_stopped(struct supervisor *sup)
{
	for (;;) {
		struct pollfd fds[] = { { .fd = sup->signals, .events = POLLIN }, { .fd = sup->lines[0], .events = POLLIN } };
		bool is_over = sup->is_stopping;

		for (size_t i = 0; i < CHILDREN; i++) {
			tend(sup, &sup->children[i]);
			is_over = is_over && sup->children[i].group == 0;
		}
		watch_jobs(sup);
		read_lines(sup);
		mark_memory(&sup->children[KORE]);
		if (is_over)
			return;
		(void)poll(fds, COUNT(fds), wait_ms(sup));
		read_signals(sup);
		reap(sup);
	}
}

static int
wait_ms(const struct supervisor *sup)
{
	const struct child *kore = &sup->children[KORE];
	bool is_busy = sup->is_stopping || (!kore->is_marked && clock_monotonic() - kore->started_at < STEADY_MS);

	for (size_t i = 0; i < CHILDREN; i++)
		is_busy = is_busy || sup->children[i].leader == 0;
	return is_busy ? TICK_MS : WATCH_MS;
}

static void
read_signals(struct supervisor *sup)
{
	struct signalfd_siginfo info;

	while (read(sup->signals, &info, sizeof(info)) == sizeof(info))
		if (info.ssi_signo != SIGCHLD && !sup->is_stopping)
			stop(sup);
}

static void
stop(struct supervisor *sup)
{
	sup->is_stopping = true;
	for (size_t i = 0; i < CHILDREN; i++) {
		struct child *c = &sup->children[i];

		if (c->leader != 0)
			kill(c->leader, SIGTERM);
		if (c->group != 0)
			c->kill_at = clock_monotonic() + STOP_MS;
	}
}

static void
reap(struct supervisor *sup)
{
	pid_t pid;
	int how;

	while ((pid = waitpid(-1, &how, WNOHANG)) > 0)
		for (size_t i = 0; i < CHILDREN; i++)
			if (sup->children[i].leader == pid)
				child_ended(sup, &sup->children[i], how);
}

static void
child_ended(struct supervisor *sup, struct child *c, int how)
{
	int64_t now = clock_monotonic();

	c->leader = 0;
	if (sup->is_stopping)
		return;
	if (WIFSIGNALED(how))
		write_log(true, "serve.child_killed", c, "signal", WTERMSIG(how));
	else
		write_log(true, "serve.child_ended", c, "code", WEXITSTATUS(how));
	c->kill_at = now + DRAIN_MS;
	if (now - c->started_at >= STEADY_MS)
		c->delay_ms = 0;
	c->start_at = now + c->delay_ms;
	c->delay_ms = c->delay_ms == 0 ? DELAY_FIRST_MS : c->delay_ms * 2;
	if (c->delay_ms > DELAY_MAX_MS)
		c->delay_ms = DELAY_MAX_MS;
}

/* Whatever is due for one child: bury its group, kill it, start it. */
static void
tend(struct supervisor *sup, struct child *c)
{
	int64_t now = clock_monotonic();

	if (c->group != 0 && c->leader == 0 && kill(-c->group, 0) == -1 && errno == ESRCH)
		c->group = 0;
	if (c->group != 0 && c->kill_at != 0 && now >= c->kill_at) {
		write_log(true, "serve.group_killed", c, "group", c->group);
		kill(-c->group, SIGKILL);
		c->kill_at = now + DRAIN_MS;
	}
	if (c->group == 0 && !sup->is_stopping && now >= c->start_at)
		start(sup, c);
}

/* Workers have their own watchdog; a loop of jobs that hangs is only seen from here. */
static void
watch_jobs(struct supervisor *sup)
{
	struct child *c = &sup->children[JOBS];
	int64_t last = shared_beat_at(sup->work->shared, JOBS_BEAT);

	if (c->leader == 0 || sup->is_stopping)
		return;
	if (last < c->started_at)
		last = c->started_at;
	if (clock_monotonic() - last < HUNG_MS)
		return;
	write_log(true, "serve.child_hung", c, "pid", c->leader);
	kill(c->leader, SIGKILL);
	/* Time for the kernel to act before the next look. */
	c->started_at = clock_monotonic();
}

static void
start(struct supervisor *sup, struct child *c)
{
	pid_t pid = fork();

	if (pid == 0)
		become_child(sup, c);
	c->started_at = clock_monotonic();
	c->kill_at = 0;
	c->born_at = time(NULL);
	c->is_marked = false;
	if (pid == -1) {
		c->start_at = c->started_at + DELAY_MAX_MS;
		write_log(true, "serve.fork_failed", c, "errno", errno);
		return;
	}
	/* Said on both sides of the fork, so that neither runs ahead of it. */
	(void)setpgid(pid, pid);
	c->leader = c->group = pid;
	write_log(false, "serve.child_started", c, "pid", pid);
}

/* Kore removes the memory that its workers share when it ends in peace; killed, it would leave half a megabyte for ever, and the system has room for
 * some thousand such pieces. What is marked goes with its last user. */
static void
mark_memory(struct child *kore)
{
	struct shmid_ds segment;
	struct shm_info info;
	int last = kore->leader == 0 || kore->is_marked ? -1 : shmctl(0, SHM_INFO, (struct shmid_ds *)(void *)&info);

	for (int i = 0; i <= last; i++) {
		int id = shmctl(i, SHM_STAT, &segment);

		/* Ids of processes come again: it must be ours, of this start, and in use already. */
		if (id != -1 && segment.shm_cpid == kore->leader && segment.shm_nattch > 0 && segment.shm_perm.uid == geteuid() &&
		    segment.shm_ctime >= kore->born_at)
			kore->is_marked = shmctl(id, IPC_RMID, NULL) == 0 || kore->is_marked;
	}
}

static void
become_child(struct supervisor *sup, const struct child *c)
{
	const char *kore = getenv("STELE_KORE");
	const char *run = NULL;
	struct scope *s = scope_new("serve");
	sigset_t none;

	sigemptyset(&none);
	run = config_path(s, sup->work->config, "run");
	/* The parent may have died before the kernel knew whom to tell. */
	if (setpgid(0, 0) == -1 || prctl(PR_SET_PDEATHSIG, c->death_signal) == -1 || getppid() != sup->self
	    || sigprocmask(SIG_SETMASK, &none, NULL) == -1 || setenv("STELE_DATA", sup->work->config->data_dir, 1) == -1)
		_exit(EXIT_FAILURE);
	if (c == &sup->children[KORE]) {
		if (dup2(sup->lines[1], STDOUT_FILENO) == -1 || chdir(run) == -1)
			_exit(EXIT_FAILURE);
		if (kore == NULL)
			kore = "kore";
		execlp(kore, "kore", "-f", "-n", "-r", "-c", sup->work->kore_conf, (char *)NULL);
	} else {
		execl(sup->work->exe, "stele", "jobs", "--data", sup->work->config->data_dir, (char *)NULL);
	}
	log_error(s, "serve.exec_failed", "\"child\":%s,\"error\":%s", log_quote(s, c->name), log_quote(s, strerror(errno)));
	_exit(EXIT_FAILURE);
}

/* Cut what Kore printed into lines; a line that is too long is cut in pieces. */
static void
read_lines(struct supervisor *sup)
{
	ssize_t n;

	while ((n = read(sup->lines[0], sup->line + sup->line_len, sizeof(sup->line) - 1 - sup->line_len)) > 0) {
		char *from = sup->line, *end;

		sup->line_len += (size_t)n;
		sup->line[sup->line_len] = '\0';
		while ((end = memchr(from, '\n', sup->line_len - (size_t)(from - sup->line))) != NULL) {
			*end = '\0';
			write_line(from);
			from = end + 1;
		}
		sup->line_len -= (size_t)(from - sup->line);
		memmove(sup->line, from, sup->line_len);
		if (sup->line_len == sizeof(sup->line) - 1) {
			sup->line[sup->line_len] = '\0';
			write_line(sup->line);
			sup->line_len = 0;
		}
	}
}

static void
write_line(const char *line)
{
	struct scope *s = scope_new("serve");

	if (line[0] == '{')
		dprintf(STDERR_FILENO, "%s\n", line);
	else if (line[0] != '\0')
		log_info(s, "kore", "\"line\":%s", log_quote(s, line));
	scope_free(s);
}

static void
write_log(bool is_warning, const char *event, const struct child *c, const char *member, int64_t value)
{
	struct scope *s = scope_new("serve");
	const char *name = log_quote(s, c->name);

	if (is_warning)
		log_warn(s, event, "\"child\":%s,\"%s\":%" PRId64, name, member, value);
	else
		log_info(s, event, "\"child\":%s,\"%s\":%" PRId64, name, member, value);
	scope_free(s);
}
