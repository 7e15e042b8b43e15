/* worker.h - the hooks by which Kore runs the web side, and the configuration that makes it do so.
 *
 * Started as `kore -f -n -r -c DATA/run/kore.conf` with STELE_DATA=DATA (absolute) in the environment; settings are read from
 * DATA/run/serve.conf, or as config_load does where that file is absent. Kore's configuration, one blank between key and value:
 *
 *	load PATH/stele.so
 *	pidfile kore.pid
 *	workers N
 *	worker_set_affinity 0			threads would share their worker's one CPU
 *	worker_accept_threshold 1		else one worker takes all connections
 *	worker_max_connections 2000
 *	worker_rlimit_nofiles 4000
 *	http_header_max 16384
 *	http_hsts_enable 0
 *	http_keepalive_time 30
 *	http_request_limit 4000			more than wait for readers and writer together
 *	server stele {
 *		bind ADDR PORT app_connect	guard.c
 *		tls no
 *	}
 *	domain * {
 *		attach stele
 *		route ^/.*$ app_dispatch	dispatch.c
 *	}
 *
 * SIGTERM drains: writes that were accepted are committed and answered. A worker that finds a newer schema ends the server in the same way. */
#ifndef HTTP_WORKER_H
#define HTTP_WORKER_H
#include "base/base.h"

#define WORKER_READERS 2
#define WORKER_READ_QUEUE 1024
#define WORKER_TICK_MS 250
#define WORKER_STALL_MS 10000		/* a writer without progress for so long: the worker is started anew */
#define WORKER_DRAIN_MS 5000

/* Called by Kore, by name. */
EXPORT void	 kore_parent_configure(int, char **);
EXPORT void	 kore_worker_configure(void);
EXPORT void	 kore_worker_teardown(void);
/* sandbox.c: before the filter of a worker is in force. The system calls that a worker may make; any other kills the process. */
EXPORT void	 kore_seccomp_hook(void);
#endif
