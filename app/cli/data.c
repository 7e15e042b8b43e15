/* data.c - DATA as commands find it: its owner, its lock, its database at the right version. */
#include "cli/cli.h"
#include "db/migrate.h"

#include <fcntl.h>
#include <grp.h>
#include <sys/file.h>
#include <sys/stat.h>

static enum status	load_config(struct scope *, struct config **, const char *data);
static enum status	become_owner(struct scope *, const char *data, const struct stat *);

enum status
data_enter(struct scope *s, const char **absolute, const char *data, bool create)
{
	struct stat st;
	char *path;

	if (create && mkdir(data, 0700) == -1 && errno != EEXIST)
		return fail(s, ERR_STORAGE, "--data", "%s cannot be made: %s", data, strerror(errno));
	path = realpath(data, NULL);
	if (path == NULL || stat(path, &st) == -1) {
		free(path);
		return fail(s, ERR_NOT_FOUND, "--data", "%s: %s; `stele migrate --data %s` makes a new site there", data,
		    strerror(errno), data);
	}
	*absolute = arena_strdup(s->arena, path);
	free(path);
	if (!S_ISDIR(st.st_mode))
		return fail(s, ERR_INVALID, "--data", "%s is not a directory", *absolute);
	TRY(become_owner(s, *absolute, &st));
	if (access(*absolute, R_OK | W_OK | X_OK) == -1)
		return fail(s, ERR_DENIED, "--data", "%s cannot be written: %s; run this as the user it belongs to", *absolute,
		    strerror(errno));
	return OK;
}

enum status
data_open(struct scope *s, const struct args *a, struct opened *out)
{
	enum status status;

	*out = (struct opened){ 0 };
	TRY(load_config(s, &out->config, a->data));
	TRY(data_check_exists(s, out->config));
	status = db_open(s, &out->db, config_path(s, out->config, "stele.db"), DB_WRITE);
	if (status == OK)
		status = data_check_schema(s, out->config, out->db);
	if (status == OK)
		status = shared_open(s, &out->shared, a->data, false);
	if (status != OK)
		data_close(out);
	return status;
}

void
data_close(struct opened *o)
{
	if (o->shared != NULL)
		shared_close(o->shared);
	db_close(o->db);
	*o = (struct opened){ 0 };
}

enum status
data_check_exists(struct scope *s, const struct config *c)
{
	if (access(config_path(s, c, "stele.db"), F_OK) == -1)
		return fail(s, ERR_CONFLICT, "--data", "%s has no database yet; run `stele migrate --data %s` first", c->data_dir,
		    c->data_dir);
	return OK;
}

enum status
data_check_schema(struct scope *s, const struct config *c, struct db *db)
{
	int64_t have, want;

	TRY(migrate_newest(s, migrations_dir(s, c), &want));
	TRY(db_schema_version(s, db, &have));
	if (have < want)
		return fail(s, ERR_CONFLICT, "--data", "the database has schema version %" PRId64 ", this program needs %" PRId64
		    "; run `stele migrate --data %s` first", have, want, c->data_dir);
	if (have > want)
		return fail(s, ERR_CONFLICT, "--data", "the database has schema version %" PRId64 ", newer than the %" PRId64
		    " of this program; install the newer Stele", have, want);
	return OK;
}

const char *
migrations_dir(struct scope *s, const struct config *c)
{
	return scope_printf(s, "%s/migrations/sqlite", c->share_dir);
}

enum status
lock_take(struct scope *s, const struct config *c, int *fd, int64_t *holder)
{
	const char *dir = config_path(s, c, "run"), *path = config_path(s, c, "run/lock");
	char text[32];
	ssize_t n;

	*holder = 0;
	*fd = -1;
	if (mkdir(dir, 0700) == -1 && errno != EEXIST)
		return fail(s, ERR_STORAGE, "--data", "%s cannot be made: %s", dir, strerror(errno));
	/* Not closed on exec: the children of `serve` hold the lock as long as one of them lives. */
	*fd = open(path, O_RDWR | O_CREAT, 0600);
	if (*fd == -1)
		return fail(s, ERR_STORAGE, "--data", "%s cannot be opened: %s", path, strerror(errno));
	if (flock(*fd, LOCK_EX | LOCK_NB) == 0)
		return OK;
	n = pread(*fd, text, sizeof(text), 0);
	if (n > 0)
		(void)parse_int64(str_trim((struct str){ text, (size_t)n }), holder);
	close(*fd);
	*fd = -1;
	return OK;
}

/* While the site is served, what it is served with: flags of `serve` included. */
static enum status
load_config(struct scope *s, struct config **out, const char *data)
{
	int64_t holder;
	int lock;

	TRY(config_load(s, out, data));
	TRY(lock_take(s, *out, &lock, &holder));
	if (lock != -1) {
		close(lock);
		return OK;
	}
	return config_load_file(s, out, data, config_path(s, *out, "run/serve.conf"));
}

static enum status
become_owner(struct scope *s, const char *data, const struct stat *st)
{
	if (geteuid() != 0 || st->st_uid == 0)
		return OK;
	if (setgroups(1, &st->st_gid) == -1 || setgid(st->st_gid) == -1 || setuid(st->st_uid) == -1)
		return fail(s, ERR_DENIED, "--data", "cannot become user %u, who owns %s: %s", (unsigned)st->st_uid, data,
		    strerror(errno));
	return OK;
}
