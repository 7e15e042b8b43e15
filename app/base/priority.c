/* priority.c - Linux takes a nice value for each thread. */
#include "base/priority.h"
#include "base/base.h"

#include <sys/resource.h>

#define BACKGROUND	5

void
priority_background(void)
{
	(void)setpriority(PRIO_PROCESS, (id_t)gettid(), BACKGROUND);
}
