/* operations.c - the threads that carry long work out. */
#include "jobs/operations.h"

#include <pthread.h>
#include <stdatomic.h>

#include "actions/operation.h"
#include "base/log.h"

#define THREADS 2
#define PAUSE_MS 100
#define FAILED_PAUSE_MS 1000

static struct {
	pthread_t	 threads[THREADS];
	int		 count;
	_Atomic bool	 is_stopping;
	const struct config *config;
	struct shared	*shared;
} all;

static void		*operations_main(void *);
static enum status	work(struct scope *, struct operation_worker *, bool *worked);
static bool		stop_was_asked(void);
static void		rest(int ms);

enum status
operations_start(struct scope *s, const struct config *config, struct shared *shared)
{
	int error;

	all.config = config;
	all.shared = shared;
	atomic_store(&all.is_stopping, false);
	for (all.count = 0; all.count < THREADS; all.count++)
		if ((error = pthread_create(&all.threads[all.count], NULL, operations_main, NULL)) != 0) {
			operations_stop();
			return fail(s, ERR_BUSY, NULL, "cannot start a thread: %s", strerror(error));
		}
	return OK;
}

void
operations_stop(void)
{
	atomic_store(&all.is_stopping, true);
	while (all.count > 0)
		pthread_join(all.threads[--all.count], NULL);
}

static void *
operations_main(void *unused)
{
	struct operation_worker w = { .shared = all.shared, .config = all.config, .stop_was_asked = stop_was_asked };

	while (!stop_was_asked()) {
		struct scope *s = scope_new("operations");
		bool worked = false;
		enum status status = work(s, &w, &worked);

		if (status != OK)
			log_error(s, "operations.failed", "\"code\":\"%s\",\"detail\":%s", status_info(status)->code,
			    log_quote(s, s->error != NULL ? s->error->detail : ""));
		scope_free(s);
		if (!worked)
			rest(status == OK ? PAUSE_MS : FAILED_PAUSE_MS);
	}
	db_close(w.read);
	db_close(w.write);
	return NULL;
}

static enum status
work(struct scope *s, struct operation_worker *w, bool *worked)
{
	if (w->write == NULL)
		TRY(db_open(s, &w->write, config_path(s, w->config, "stele.db"), DB_WRITE));
	if (w->read == NULL)
		TRY(db_open(s, &w->read, config_path(s, w->config, "stele.db"), DB_READ));
	return operation_work(s, w, worked);
}

static bool
stop_was_asked(void)
{
	return atomic_load(&all.is_stopping);
}

static void
rest(int ms)
{
	const struct timespec pause = { ms / 1000, ms % 1000 * 1000000L };

	(void)nanosleep(&pause, NULL);
}
