/* fault.c - the test build's ways to die, fail or hang at a named point. */
#include "db/writer.h"

#ifdef STELE_TEST
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>

#define MAX_FAULTS 16
#define MAX_TEXT 512

struct entry {
	char		 point[32], action[16];
	int64_t		 only;		/* this pass; 0 = every one */
	int64_t		 passes;
};

static pthread_mutex_t	 lock = PTHREAD_MUTEX_INITIALIZER;
static char		 known[MAX_TEXT];	/* the text that entries were made from */
static struct entry	 entries[MAX_FAULTS];
static int		 entry_count;

static void	 parse(struct str text);
static bool	 fires(struct entry *);
static bool	 first_of_all(const struct entry *);
static bool	 act(const struct entry *);

bool
fault(const char *point)
{
	const char *text = getenv("STELE_FAULT");
	struct entry due[MAX_FAULTS];
	bool error = false;
	int i, n = 0;

	if (text == NULL)
		return false;
	pthread_mutex_lock(&lock);
	/* A forked test sets its own faults after its parent's were read. */
	if (strcmp(text, known) != 0)
		parse(str_of(text));
	for (i = 0; i < entry_count; i++)
		if (strcmp(entries[i].point, point) == 0 && fires(&entries[i]))
			due[n++] = entries[i];
	pthread_mutex_unlock(&lock);
	for (i = 0; i < n; i++)
		error |= act(&due[i]);
	return error;
}

static void
parse(struct str text)
{
	struct str one, point, action;
	struct entry *e;

	snprintf(known, sizeof(known), "%.*s", STR_FMT(text));
	entry_count = 0;
	while (entry_count < MAX_FAULTS && str_next(&text, ',', &one)) {
		e = &entries[entry_count];
		memset(e, 0, sizeof(*e));
		if (!str_next(&one, ':', &point) || !str_next(&one, ':', &action))
			abort();	/* a test that asks for nothing would pass for nothing */
		if (one.len > 0 && (!parse_int64(one, &e->only) || e->only < 1))
			abort();
		snprintf(e->point, sizeof(e->point), "%.*s", STR_FMT(point));
		snprintf(e->action, sizeof(e->action), "%.*s", STR_FMT(action));
		entry_count++;
	}
}

static bool
fires(struct entry *e)
{
	e->passes++;
	return (e->only == 0 || e->passes == e->only) && first_of_all(e);
}

static bool
first_of_all(const struct entry *e)
{
	const char *dir = getenv("STELE_FAULT_ONCE");
	char path[4096];
	int fd;

	if (dir == NULL)
		return true;
	if ((size_t)snprintf(path, sizeof(path), "%s/%s.%s", dir, e->point, e->action) >= sizeof(path))
		abort();
	if ((fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) == -1)
		return false;
	close(fd);
	return true;
}

static bool
act(const struct entry *e)
{
	int64_t seconds;

	if (strcmp(e->action, "error") == 0 || strcmp(e->action, "on") == 0)
		return true;
	if (strcmp(e->action, "kill") == 0)
		kill(getpid(), SIGKILL);
	else if (strcmp(e->action, "killgroup") == 0)
		kill(0, SIGKILL);
	else if (strcmp(e->action, "syscall") == 0)
		syscall(SYS_getpriority, 0, 0);
	else if (strncmp(e->action, "sleep", 5) == 0 && parse_int64(str_of(e->action + 5), &seconds))
		sleep((unsigned int)seconds);
	else
		abort();
	return false;
}
#endif
