/* operation_begin.c - a request becomes long work: its data on disk, its row with the claim; and how it is called off. */
#include "actions/operation.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/clock.h"

#define FOLDER "imports"
#define ORPHAN_MS (INT64_C(3600) * 1000)	/* a request that has stored its file has claimed its key long before */

static const char *const kind_names[OPERATION_KIND_COUNT] = {
#define OPERATION(id, name, step, help) [OPERATION_##id] = name,
#include "actions/operations.def"
#undef OPERATION
};

static enum status	begin(struct scope *, struct db *, struct unit *);
static enum status	cancel(struct scope *, struct db *, struct unit *);
static enum status	check_room(struct scope *, const char *folder);
static enum status	write_whole(struct scope *, const char *path, struct str bytes);
static enum status	sync_folder(struct scope *, const char *path);
static enum status	is_needed(struct scope *, struct db *, const char *folder, const char *name, bool *needed);

const char *
operation_kind_name(enum operation_kind kind)
{
	return kind_names[kind];
}

struct operation_new *
operation_prepare(struct scope *s, struct unit *u, enum operation_kind kind)
{
	struct operation_new *n = scope_alloc(s, sizeof(*n));

	n->kind = kind;
	n->input = "{}";
	uuid7(n->id, s->now);
	u->input = n;
	u->apply = begin;
	return n;
}

const char *
operation_file_path(struct scope *s, const struct config *config, const char *id)
{
	return scope_printf(s, "%s/" FOLDER "/%s", config->data_dir, id);
}

enum status
operation_file_store(struct scope *s, const struct config *config, struct operation_new *n, struct str bytes)
{
	const char *folder = config_path(s, config, FOLDER), *path = operation_file_path(s, config, n->id);
	enum status status;

	if (mkdir(folder, 0700) == -1 && errno != EEXIST)
		return fail(s, ERR_STORAGE, NULL, "%s cannot be made: %s", folder, strerror(errno));
	status = check_room(s, folder);
	if (status == OK)
		status = write_whole(s, path, bytes);
	if (status == OK)
		status = sync_folder(s, folder);
	if (status != OK)
		(void)unlink(path);
	n->has_file = status == OK;
	return status;
}

enum status
operation_files_sweep(struct scope *s, struct db *read, const struct config *config)
{
	const char *folder = config_path(s, config, FOLDER);
	enum status status = OK;
	struct dirent *entry;
	bool needed;
	DIR *dir;

	if ((dir = opendir(folder)) == NULL)
		return errno == ENOENT ? OK : fail(s, ERR_STORAGE, NULL, "%s: %s", folder, strerror(errno));
	while (status == OK && (entry = readdir(dir)) != NULL) {
		struct arena_mark mark = arena_mark(s->arena);

		if (uuid_valid(str_of(entry->d_name)) && (status = is_needed(s, read, folder, entry->d_name, &needed)) == OK && !needed)
			(void)unlink(scope_printf(s, "%s/%s", folder, entry->d_name));
		if (status == OK)
			arena_rewind(s->arena, mark);
	}
	closedir(dir);
	return status;
}

enum status
operation_cancel_prepare(struct scope *s, struct db *db, struct unit *u, const char *id)
{
	struct operation o;

	TRY(store_operation_load(s, db, &o, id));
	if (o.user_id != u->who.user_id && u->who.role != ROLE_ADMIN)
		return fail(s, ERR_NOT_FOUND, NULL, "there is no such operation");
	u->input = arena_strdup(s->arena, o.id);
	u->apply = cancel;
	return OK;
}

/* Within the claim's transaction. */
static enum status
begin(struct scope *s, struct db *db, struct unit *u)
{
	struct operation_new *n = u->input;
	struct operation o = { .id = n->id, .kind = kind_names[n->kind], .user_id = u->who.user_id, .scopes = u->who.scopes,
		.method = u->key != NULL ? u->rule->method : NULL, .route = u->key != NULL ? u->rule->route : NULL, .key = u->key,
		.request_id = s->log_id, .total = n->total, .input = n->input, .has_file = n->has_file };

	int64_t open;

	assert(strlen(n->input) <= OPERATION_INPUT_MAX);
	TRY(store_operation_open(s, db, &open, OPERATION_OPEN_MAX));
	if (open >= OPERATION_OPEN_MAX)
		return fail(s, ERR_BUSY, NULL, "%d operations are not over yet", OPERATION_OPEN_MAX);
	TRY(store_operation_insert(s, db, &o));
	operation_running(s, u, n->id);
	return OK;
}

/* The owner's next write finds another generation and writes nothing. */
static enum status
cancel(struct scope *s, struct db *db, struct unit *u)
{
	struct operation o;
	bool moved;

	TRY(store_operation_load(s, db, &o, u->input));
	if (o.state == OPERATION_PROCESSING) {
		o.owner = NULL;
		(void)fail(s, ERR_OPERATION_CANCELLED, NULL, "it was cancelled after %" PRId64 " of %" PRId64 "; what was done stays", o.done, o.total);
		TRY(operation_end(s, db, &o, ERR_OPERATION_CANCELLED, &moved));
		s->error = NULL;
	} else if (!operation_was_cancelled(&o))
		return fail(s, ERR_STATE_CONFLICT, NULL, "the operation is over: %s", o.state == OPERATION_SUCCESS ? "SUCCESS" : "FAILED");
	TRY(store_operation_load(s, db, &o, u->input));
	u->answer = (struct answer){ .status = 200, .body = operation_json(s, &o) };
	return OK;
}

static enum status
check_room(struct scope *s, const char *folder)
{
	DIR *dir = opendir(folder);
	int n = 0;

	while (dir != NULL && n < OPERATION_FILES_MAX + 2 && readdir(dir) != NULL)
		n++;
	if (dir != NULL)
		closedir(dir);
	/* "." and ".." were counted. */
	return n < OPERATION_FILES_MAX + 2 ? OK : fail(s, ERR_BUSY, NULL, "%d files of operations are not taken up yet", OPERATION_FILES_MAX);
}

static enum status
write_whole(struct scope *s, const char *path, struct str bytes)
{
	enum status status = OK;
	ssize_t n;
	int fd;

	if ((fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) == -1)
		return fail(s, ERR_STORAGE, NULL, "%s: %s", path, strerror(errno));
	while (status == OK && bytes.len > 0) {
		if ((n = write(fd, bytes.p, bytes.len)) >= 0)
			bytes = str_part(bytes, (size_t)n, bytes.len);
		else if (errno != EINTR)
			status = fail(s, ERR_STORAGE, NULL, "%s: %s", path, strerror(errno));
	}
	if (status == OK && fsync(fd) == -1)
		status = fail(s, ERR_STORAGE, NULL, "%s: %s", path, strerror(errno));
	close(fd);
	return status;
}

/* Else a power cut could take the name of a file whose claim stands. */
static enum status
sync_folder(struct scope *s, const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	bool is_synced = fd != -1 && fsync(fd) == 0;

	if (fd != -1)
		close(fd);
	return is_synced ? OK : fail(s, ERR_STORAGE, NULL, "%s: %s", path, strerror(errno));
}

static enum status
is_needed(struct scope *s, struct db *db, const char *folder, const char *name, bool *needed)
{
	enum status status;
	struct operation o;
	struct stat st;

	status = store_operation_load(s, db, &o, name);
	if (status == OK)
		*needed = o.state == OPERATION_PROCESSING || o.retryable;
	else if (status == ERR_NOT_FOUND) {
		*needed = stat(scope_printf(s, "%s/%s", folder, name), &st) == 0 && (int64_t)st.st_mtime * 1000 > clock_now() - ORPHAN_MS;
		s->error = NULL;
		status = OK;
	}
	return status;
}
