/* dispatch.h - Kore's tickets <-> tasks: who waits for what, and who is told when it is there. Event loop only. */
#ifndef HTTP_DISPATCH_H
#define HTTP_DISPATCH_H
#include "http/task.h"

/* From a reader or the writer, any thread: the task is on its way back. */
void		 dispatch_reader_done(struct task *, bool to_write);
/* What has come back since: keep answers, wake tickets, free what nobody waits for. */
void		 dispatch_collect(void);
/* Tasks that are with readers or writer. */
int		 dispatch_pending(void);
#endif
