/* serve.c - `stele serve`: a small supervisor of the web side (kore) and of what runs after the commit (stele jobs). */
#include "cli/cli.h"
#include "cli/supervisor.h"
#include "base/clock.h"

#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define LOCK_WAIT_MS 20000

static enum status	run_serve(struct scope *, struct args *);
static enum status	apply_flags(struct scope *, struct args *, struct config *);
static enum status	lock_wait(struct scope *, const struct config *, int *fd);
static enum status	check_database(struct scope *, const struct config *);
static enum status	check_address_is_free(struct scope *, const struct config *);
static enum status	check_kore(struct scope *);
static enum status	write_file(struct scope *, const char *path, const char *text);
static const char	*kore_conf(struct scope *, const struct config *, const char *so);
static void		 split_listen(struct scope *, const struct config *, const char **host, const char **port);
static const char	*own_path(struct scope *);
static enum status	find_module(struct scope *, const char *exe, const char **out);

static const struct option serve_options[] = {
	{ "listen", "ADDR:PORT", "where to listen (default: 127.0.0.1:8080)", false },
	{ "base-url", "URL", "how the world sees the site, https://example.org", false },
	{ "workers", "N", "web processes, 1 to 16 (default: 2)", false },
	{ 0 },
};

const struct command command_serve = {
	.name = "serve",
	.summary = "serve the site, until SIGTERM or SIGINT",
	.more = "Options go before the file DATA/stele.conf. Everything else that can be set there is listed in README.md.",
	.options = serve_options,
	.run = run_serve,
};

static enum status
run_serve(struct scope *s, struct args *a)
{
	struct config *c;
	struct shared *shared = NULL;
	struct supervised work = { 0 };
	const char *module;
	enum status status;
	int lock;

	TRY(config_load(s, &c, a->data));
	TRY(apply_flags(s, a, c));
	TRY(lock_wait(s, c, &lock));
	TRY(check_database(s, c));
	TRY(check_kore(s));
	TRY(check_address_is_free(s, c));
	work.exe = own_path(s);
	TRY(find_module(s, work.exe, &module));
	TRY(write_file(s, config_path(s, c, "run/serve.conf"), config_text(s, c)));
	work.kore_conf = config_path(s, c, "run/kore.conf");
	TRY(write_file(s, work.kore_conf, kore_conf(s, c, module)));
	TRY(shared_open(s, &shared, a->data, true));
	work.config = c;
	work.shared = shared;
	status = supervise(s, &work);
	shared_close(shared);
	close(lock);
	return status;
}

static enum status
apply_flags(struct scope *s, struct args *a, struct config *c)
{
	static const struct { const char *option, *key; } flags[] = {
		{ "listen", "listen" }, { "base-url", "public_origin" }, { "workers", "workers" },
	};

	for (size_t i = 0; i < COUNT(flags); i++) {
		const char *value = args_option(a, flags[i].option);

		if (value == NULL)
			continue;
		if (config_set(s, c, flags[i].key, value, scope_printf(s, "--%s", flags[i].option)) != OK)
			return misuse(s, a, "%s", s->error->detail);
	}
	return OK;
}

/* A running `serve` refuses at once; what one that was killed has left behind drains by itself and is waited for. */
static enum status
lock_wait(struct scope *s, const struct config *c, int *fd)
{
	const struct timespec pause = { 0, 100 * 1000000 };
	int64_t give_up = clock_monotonic() + LOCK_WAIT_MS, holder;
	char text[32];
	int n;

	for (;;) {
		TRY(lock_take(s, c, fd, &holder));
		if (*fd != -1)
			break;
		if (holder > 0 && kill((pid_t)holder, 0) == 0)
			return fail(s, ERR_CONFLICT, "--data", "%s is already served by process %" PRId64 "; stop that first",
			    c->data_dir, holder);
		if (clock_monotonic() > give_up)
			return fail(s, ERR_BUSY, "--data", "%s is still in use by another process", c->data_dir);
		nanosleep(&pause, NULL);
	}
	n = snprintf(text, sizeof(text), "%d\n", (int)getpid());
	if (ftruncate(*fd, 0) == -1 || pwrite(*fd, text, (size_t)n, 0) != n)
		return fail(s, ERR_STORAGE, "--data", "%s/run/lock cannot be written: %s", c->data_dir, strerror(errno));
	return OK;
}

static enum status
check_database(struct scope *s, const struct config *c)
{
	struct db *db;
	enum status status;

	TRY(data_check_exists(s, c));
	TRY(db_open(s, &db, config_path(s, c, "stele.db"), DB_READ));
	status = data_check_schema(s, c, db);
	db_close(db);
	return status;
}

/* Looks where execlp of supervisor.c will. */
static enum status
check_kore(struct scope *s)
{
	const char *name = getenv("STELE_KORE"), *path = getenv("PATH");
	struct str rest = str_of(path != NULL ? path : "/usr/local/bin:/usr/bin:/bin"), dir;

	if (name == NULL)
		name = "kore";
	if (strchr(name, '/') != NULL) {
		if (access(name, X_OK) == 0)
			return OK;
	} else {
		while (str_next(&rest, ':', &dir))
			if (access(scope_printf(s, "%.*s/%s", STR_FMT(dir), name), X_OK) == 0)
				return OK;
	}
	return fail(s, ERR_NOT_FOUND, NULL, "the program %s is missing; on Debian: apt install kore", name);
}

/* Kore would start, fail and be started again: better said here. */
static enum status
check_address_is_free(struct scope *s, const struct config *c)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICHOST | AI_NUMERICSERV };
	struct addrinfo *list = NULL;
	const char *host, *port;
	enum status status = OK;
	int fd = -1, on = 1, error;

	split_listen(s, c, &host, &port);
	error = getaddrinfo(host, port, &hints, &list);
	if (error != 0)
		return fail(s, ERR_INVALID, "listen", "%s is not a numeric address and port: %s", c->listen, gai_strerror(error));
	fd = socket(list->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd == -1 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == -1
	    || bind(fd, list->ai_addr, list->ai_addrlen) == -1 || listen(fd, 1) == -1)
		status = fail(s, ERR_CONFLICT, "listen", "cannot listen on %s: %s; choose another with --listen ADDR:PORT", c->listen,
		    strerror(errno));
	if (fd != -1)
		close(fd);
	freeaddrinfo(list);
	return status;
}

/* "[::1]:8080" -> "::1", "8080". config_set has checked the form. */
static void
split_listen(struct scope *s, const struct config *c, const char **host, const char **port)
{
	const char *colon = strrchr(c->listen, ':');
	struct str address = { c->listen, (size_t)(colon - c->listen) };

	if (str_starts(address, "[") && str_ends(address, "]"))
		address = str_part(address, 1, address.len - 1);
	*host = str_dup(s->arena, address);
	*port = colon + 1;
}

static const char *
own_path(struct scope *s)
{
	char *path = realpath("/proc/self/exe", NULL);
	const char *copy = path != NULL ? arena_strdup(s->arena, path) : "stele";

	free(path);
	return copy;
}

/* stele.so lies beside the program that was built, or in ../lib/stele of the one that was installed. */
static enum status
find_module(struct scope *s, const char *exe, const char **out)
{
	struct str dir = { exe, (size_t)(strrchr(exe, '/') - exe) };
	const char *beside = scope_printf(s, "%.*s/stele.so", STR_FMT(dir));
	char *installed = realpath(scope_printf(s, "%.*s/../lib/stele/stele.so", STR_FMT(dir)), NULL);

	*out = access(beside, R_OK) == 0 ? beside : installed != NULL ? arena_strdup(s->arena, installed) : NULL;
	free(installed);
	if (*out == NULL)
		return fail(s, ERR_NOT_FOUND, NULL, "%s is missing; build it with `make`", beside);
	if (strpbrk(*out, " \t") != NULL)
		return fail(s, ERR_INVALID, NULL, "Kore cannot load %s: its path has blanks; move Stele elsewhere", *out);
	return OK;
}

static enum status
write_file(struct scope *s, const char *path, const char *text)
{
	size_t len = strlen(text);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	bool ok = fd != -1 && write(fd, text, len) == (ssize_t)len;
	int error = errno;

	if (fd != -1 && close(fd) == -1)
		ok = false;
	if (!ok)
		return fail(s, ERR_STORAGE, NULL, "%s cannot be written: %s", path, strerror(error));
	return OK;
}

/* One blank between key and value: Kore's parser wants it so. The values are those of http/worker.h. */
static const char *
kore_conf(struct scope *s, const struct config *c, const char *module)
{
	const char *host, *port;

#ifdef __SANITIZE_ADDRESS__
	/* The sanitizers' own system calls are logged, not punished. */
	const char *tracing = "seccomp_tracing yes\n";
#else
	const char *tracing = "";
#endif

	split_listen(s, c, &host, &port);
	return scope_printf(s,
	    "# Made by `stele serve`; changes here are lost.\n"
	    "%s"
	    "load %s\n"
	    "pidfile kore.pid\n"
	    "workers %d\n"
	    "worker_set_affinity 0\n"
	    "worker_accept_threshold 1\n"
	    "worker_max_connections 2000\n"
	    "worker_rlimit_nofiles 4000\n"
	    "http_header_max 16384\n"
	    "http_hsts_enable 0\n"
	    "http_keepalive_time 30\n"
	    "http_request_limit 4000\n"
	    "server stele {\n"
	    "\tbind %s %s app_connect\n"
	    "\ttls no\n"
	    "}\n"
	    "domain * {\n"
	    "\tattach stele\n"
	    "\troute ^/.*$ app_dispatch\n"
	    "}\n",
	    tracing, module, c->workers, host, port);
}
