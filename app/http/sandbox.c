/* sandbox.c - the system calls a worker may make. */
#include "http/worker.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include "http/kore.h"
#include <kore/seccomp.h>

/* Needed besides Kore's own list. SQLite: pread64 to fdatasync, mremap; threads: clone3 to membarrier; the rest: files, clocks, randomness.
 * No connect, no exec, no ptrace: what leaves this machine is the business of jobs. */
#define OURS(call)                                                                                        \
	call(newfstatat) call(statx) call(pread64) call(pwrite64) call(fdatasync) call(fsync) call(ftruncate)    \
	call(fallocate) call(fchown) call(fchmod) call(mkdir) call(rmdir) call(getdents64) call(unlinkat)         \
	call(faccessat) call(faccessat2) call(mremap) call(clone3) call(set_robust_list) call(rseq)               \
	call(gettid) call(sched_yield) call(sched_getaffinity) call(membarrier) call(tgkill) call(eventfd2)       \
	call(sendmsg) call(shutdown) call(getrandom) call(sysinfo) call(uname) call(restart_syscall)               \
	call(setpriority) call(geteuid) call(getegid) call(getgid) call(clock_getres) call(shmdt) call(getppid)

/* Kore's list, by number only: its own filter goes on checking their arguments. prctl and seccomp install that filter. */
#define KORES(call)                                                                                       \
	call(open) call(read) call(stat) call(lstat) call(fstat) call(write) call(fcntl) call(lseek) call(close)  \
	call(openat) call(access) call(writev) call(getcwd) call(unlink) call(readlink) call(exit) call(kill)     \
	call(getpid) call(getuid) call(exit_group) call(nanosleep) call(clock_nanosleep) call(brk) call(munmap)   \
	call(mmap) call(madvise) call(mprotect) call(poll) call(ppoll) call(sendto) call(accept) call(sendfile)   \
	call(recvfrom) call(epoll_ctl) call(setsockopt) call(epoll_wait) call(epoll_pwait) call(sigaltstack)      \
	call(rt_sigreturn) call(rt_sigaction) call(rt_sigprocmask) call(futex) call(clock_gettime) call(ioctl)     \
	call(prctl)

#define ALLOW(name) KORE_SYSCALL_ALLOW(name),

static struct sock_filter ours[] = { OURS(ALLOW) };

/* Kore's filter kills the thread that trespasses, and a worker without its writer would hang its clients. Where two filters differ the
 * kernel takes the harsher verdict: this one ends the process, and Kore starts another. */
static struct sock_filter whole_process[] = {
	KORE_BPF_LOAD(nr, 0),
	OURS(ALLOW) KORES(ALLOW)
	KORE_BPF_RET(SECCOMP_RET_KILL_PROCESS),
};

/* Kore 4.1 calls this twice. */
void
kore_seccomp_hook(void)
{
	static bool is_done;
	struct sock_fprog program = { .len = COUNT(whole_process), .filter = whole_process };

	if (is_done)
		return;
	is_done = true;
	/* A killed parent must not leave workers that go on serving. */
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) == -1)
		fatalx("prctl: %s", strerror(errno));
	kore_seccomp_filter("stele", ours, COUNT(ours));
	/* Tracing, for finding out what a new library needs, must see the call happen. */
	if (kore_seccomp_tracing)
		return;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == -1)
		fatalx("prctl: %s", strerror(errno));
}
