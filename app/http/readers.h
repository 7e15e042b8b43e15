/* readers.h - the threads that look up, validate and render: each with a read-only connection of its own. */
#ifndef HTTP_READERS_H
#define HTTP_READERS_H
#include "base/base.h"
#include "base/config.h"
#include "db/shared.h"
#include "http/task.h"
#include "render/template.h"

/* The settings as one reader last saw them; counted, as a unit on its way to the writer still points at them. */
struct site_copy;
void		 site_release(struct site_copy *);	/* NULL is fine; any thread */

struct readers;
struct readers_setup {
	const struct config *config;
	struct shared	*shared;
	const struct templates *templates;
	int		 threads, max_queue;
	/* Called on a reader thread when the answer stands in task->prepared, or, with to_write, when the unit is to be applied. */
	void		(*done)(struct task *, bool to_write);
};
enum status	 readers_start(struct scope *, struct readers **, const struct readers_setup *) MUST_USE;
/* False: the queue is full or closed; the task stays the caller's. */
bool		 readers_submit(struct readers *, struct task *);
/* Bump for changes that nobody announced, soon, on a reader; at most one such look-up at a time. */
void		 readers_poll_changes(struct readers *);
/* What is queued is finished; the threads are joined; everything freed. */
void		 readers_stop(struct readers *);
#endif
