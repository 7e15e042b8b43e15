/* supervisor.h - keeps the two children of `stele serve` alive, and lets none outlive it. */
#ifndef CLI_SUPERVISOR_H
#define CLI_SUPERVISOR_H
#include "base/base.h"
#include "base/config.h"
#include "db/shared.h"

struct supervised {
	const struct config *config;
	struct shared	*shared;
	const char	*exe;		/* this program, run again as `stele jobs` */
	const char	*kore_conf;	/* generated */
};

/* Starts `kore` and `stele jobs`, each leading a process group of its own, and starts again what ends. Returns OK after SIGTERM or SIGINT, when
 * no process of either group is left: they have 15 s to finish what they began, then they are killed (Kore's parent can spin after a
 * crash of a worker). If this process is killed, the kernel signals the children. Kore's log lines leave as JSON on standard error. */
enum status	 supervise(struct scope *, const struct supervised *) MUST_USE;
#endif
