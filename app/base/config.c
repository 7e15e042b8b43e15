/* config.c - the settings file: keys, checks, defaults, and writing it back. Addresses are checked in origin.c. */
#include "base/config.h"
#include "base/origin.h"

#include <fcntl.h>
#include <limits.h>

#define FILE_MAX	((size_t)64 * 1024)
#define LIST_MAX	64

struct setting {
	const char	*key;
	enum status	 (*set)(struct scope *s, struct config *c, const char *value);
};

static enum status	 set_listen(struct scope *s, struct config *c, const char *value);
static enum status	 set_public_origin(struct scope *s, struct config *c, const char *value);
static enum status	 set_admin_origin(struct scope *s, struct config *c, const char *value);
static enum status	 set_aliases(struct scope *s, struct config *c, const char *value);
static enum status	 set_trusted_proxies(struct scope *s, struct config *c, const char *value);
static enum status	 set_workers(struct scope *s, struct config *c, const char *value);
static enum status	 set_cache_bytes(struct scope *s, struct config *c, const char *value);
static enum status	 set_max_queue(struct scope *s, struct config *c, const char *value);
static enum status	 set_share_dir(struct scope *s, struct config *c, const char *value);
static enum status	 set_import_dir(struct scope *s, struct config *c, const char *value);
static enum status	 make_defaults(struct scope *s, struct config **out, const char *data_dir);
static enum status	 absolute_path(struct scope *s, const char **out, const char *path);
static const char	*default_share_dir(struct scope *s);
static enum status	 read_file(struct scope *s, struct str *out, const char *path, bool must_exist);
static enum status	 read_lines(struct scope *s, struct config *c, const char *path, struct str text);
static enum status	 set_list(struct scope *s, const char ***out, const char *value,
			    enum status (*check)(struct scope *, const char **, struct str));
static enum status	 set_number(struct scope *s, int64_t *out, const char *value, int64_t least, int64_t most);
static void		 add_list(struct buf *b, const char *key, const char *const *list);

static const struct setting	 settings[] = {
	{ "listen", set_listen },
	{ "public_origin", set_public_origin },
	{ "admin_origin", set_admin_origin },
	{ "aliases", set_aliases },
	{ "trusted_proxies", set_trusted_proxies },
	{ "workers", set_workers },
	{ "cache_bytes", set_cache_bytes },
	{ "max_queue", set_max_queue },
	{ "share_dir", set_share_dir },
	{ "import_dir", set_import_dir },
};

enum status
config_load(struct scope *s, struct config **out, const char *data_dir)
{
	const char	*absolute;
	struct config	*c;
	struct str	 text;
	char		*path;

	TRY(absolute_path(s, &absolute, data_dir));
	path = scope_printf(s, "%s/stele.conf", absolute);
	TRY(read_file(s, &text, path, false));
	TRY(make_defaults(s, &c, absolute));
	TRY(read_lines(s, c, path, text));
	*out = c;
	return OK;
}

enum status
config_load_file(struct scope *s, struct config **out, const char *data_dir, const char *path)
{
	struct config	*c;
	struct str	 text;

	TRY(read_file(s, &text, path, true));
	TRY(make_defaults(s, &c, data_dir));
	TRY(read_lines(s, c, path, text));
	*out = c;
	return OK;
}

enum status
config_set(struct scope *s, struct config *c, const char *key, const char *value, const char *where)
{
	const char	*trimmed = str_dup(s->arena, str_trim(str_of(value)));
	enum status	 status;

	for (size_t i = 0; i < COUNT(settings); i++) {
		if (strcmp(settings[i].key, key) != 0)
			continue;
		/* What config_text writes must be read back as it was. */
		if (!utf8_valid(str_of(trimmed)) || text_has_control(str_of(trimmed), false) || strstr(trimmed, " #") != NULL)
			return fail(s, ERR_INVALID, key, "%s: %s: control characters and ` #` cannot stand in a value", where, key);
		status = settings[i].set(s, c, trimmed);
		if (status != OK)
			return fail(s, status, key, "%s: %s: %s", where, key, s->error->detail);
		return OK;
	}
	return fail(s, ERR_INVALID, key, "%s: no such setting: %.100s", where, key);
}

const char *
config_text(struct scope *s, const struct config *c)
{
	struct buf	 b;

	buf_init(&b, s->arena);
	buf_printf(&b, "listen = %s\npublic_origin = %s\nadmin_origin = %s\n", c->listen, c->public_origin, c->admin_origin);
	add_list(&b, "aliases", (const char *const *)c->aliases);
	add_list(&b, "trusted_proxies", (const char *const *)c->trusted_proxies);
	buf_printf(&b, "workers = %d\ncache_bytes = %" PRId64 "\nmax_queue = %d\nshare_dir = %s\n", c->workers,
	    c->cache_bytes, c->max_queue, c->share_dir);
	if (c->import_dir != NULL)
		buf_printf(&b, "import_dir = %s\n", c->import_dir);
	return b.p;
}

const char *
config_path(struct scope *s, const struct config *c, const char *name)
{
	return scope_printf(s, "%s/%s", c->data_dir, name);
}

static enum status
make_defaults(struct scope *s, struct config **out, const char *data_dir)
{
	static const char	*none[] = { NULL };
	struct config		*c = scope_alloc(s, sizeof(*c));

	TRY(absolute_path(s, &c->data_dir, data_dir));
	c->share_dir = default_share_dir(s);
	c->aliases = c->trusted_proxies = none;
	c->workers = 2;
	c->cache_bytes = INT64_C(16) << 20;
	c->max_queue = 1024;
	TRY(set_listen(s, c, "127.0.0.1:8080"));
	*out = c;
	return OK;
}

static enum status
read_file(struct scope *s, struct str *out, const char *path, bool must_exist)
{
	enum status	 status = OK;
	char		*bytes = NULL;
	size_t		 len = 0;
	ssize_t		 n;
	int		 fd;

	*out = (struct str){ NULL, 0 };
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd == -1) {
		if (errno == ENOENT && !must_exist)
			return OK;
		return fail(s, ERR_INVALID, NULL, "%s: %s", path, strerror(errno));
	}
	bytes = scope_alloc(s, FILE_MAX + 1);
	while (len <= FILE_MAX && (n = read(fd, bytes + len, FILE_MAX + 1 - len)) != 0) {
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1) {
			status = fail(s, ERR_INVALID, NULL, "%s: %s", path, strerror(errno));
			goto done;
		}
		len += (size_t)n;
	}
	if (len > FILE_MAX)
		status = fail(s, ERR_TOO_LARGE, NULL, "%s: more than %zu bytes", path, FILE_MAX);
	*out = (struct str){ bytes, len };
done:
	close(fd);
	return status;
}

static enum status
read_lines(struct scope *s, struct config *c, const char *path, struct str text)
{
	struct str	 line;
	char		*where, *key, *value;
	size_t		 at;
	int		 number = 0;

	while (str_next(&text, '\n', &line)) {
		number++;
		where = scope_printf(s, "%s:%d", path, number);
		line = str_trim(line);
		if (line.len == 0 || line.p[0] == '#')
			continue;
		line = str_part(line, 0, str_find_str(line, STR(" #")));
		line = str_part(line, 0, str_find_str(line, STR("\t#")));
		if (memchr(line.p, '\0', line.len) != NULL)
			return fail(s, ERR_INVALID, NULL, "%s: a NUL byte", where);
		at = str_find(line, '=');
		if (at == line.len)
			return fail(s, ERR_INVALID, NULL, "%s: expected `key = value`", where);
		key = str_dup(s->arena, str_trim(str_part(line, 0, at)));
		value = str_dup(s->arena, str_part(line, at + 1, line.len));
		TRY(config_set(s, c, key, value, where));
	}
	return OK;
}

/* `path` need not be there yet. */
static enum status
absolute_path(struct scope *s, const char **out, const char *path)
{
	char	 cwd[PATH_MAX];
	size_t	 len;

	if (path[0] == '\0')
		return fail(s, ERR_INVALID, NULL, "an empty path");
	if (path[0] == '/')
		*out = arena_strdup(s->arena, path);
	else if (getcwd(cwd, sizeof(cwd)) != NULL)
		*out = scope_printf(s, "%s/%s", cwd, path);
	else
		return fail(s, ERR_INVALID, NULL, "working directory: %s", strerror(errno));
	for (len = strlen(*out); len > 1 && (*out)[len - 1] == '/'; len--)
		;
	*out = arena_strndup(s->arena, *out, len);
	return OK;
}

/* Where the program was built its templates lie beside it; where it was installed, in share/. */
static const char *
default_share_dir(struct scope *s)
{
	static const char *const	 beside[] = { "", "/..", "/../..", "/../share/stele" };
	char				 exe[PATH_MAX], real[PATH_MAX];
	ssize_t				 n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	const char			*dir;
	char				*slash;

	if (n > 0) {
		exe[n] = '\0';
		slash = strrchr(exe, '/');
		for (size_t i = 0; slash != NULL && i < COUNT(beside); i++) {
			dir = scope_printf(s, "%.*s%s", (int)(slash - exe), exe, beside[i]);
			if (access(scope_printf(s, "%s/templates", dir), R_OK | X_OK) == 0 && realpath(dir, real) != NULL)
				return arena_strdup(s->arena, real);
		}
	}
	return "/usr/share/stele";
}

static enum status
set_listen(struct scope *s, struct config *c, const char *value)
{
	const char	*listen, *origin;

	TRY(origin_of_listen(s, &listen, &origin, str_of(value)));
	c->listen = listen;
	if (!c->public_given)
		c->public_origin = origin;
	if (!c->admin_given)
		c->admin_origin = c->public_origin;
	return OK;
}

static enum status
set_public_origin(struct scope *s, struct config *c, const char *value)
{
	TRY(config_origin(s, &c->public_origin, value));
	c->public_given = true;
	if (!c->admin_given)
		c->admin_origin = c->public_origin;
	return OK;
}

static enum status
set_admin_origin(struct scope *s, struct config *c, const char *value)
{
	TRY(config_origin(s, &c->admin_origin, value));
	c->admin_given = true;
	return OK;
}

static enum status
set_aliases(struct scope *s, struct config *c, const char *value)
{
	return set_list(s, &c->aliases, value, origin_host);
}

static enum status
set_trusted_proxies(struct scope *s, struct config *c, const char *value)
{
	return set_list(s, &c->trusted_proxies, value, origin_address);
}

static enum status
set_workers(struct scope *s, struct config *c, const char *value)
{
	int64_t	 number;

	TRY(set_number(s, &number, value, 1, 16));
	c->workers = (int)number;
	return OK;
}

static enum status
set_cache_bytes(struct scope *s, struct config *c, const char *value)
{
	return set_number(s, &c->cache_bytes, value, 0, INT64_C(1) << 40);
}

static enum status
set_max_queue(struct scope *s, struct config *c, const char *value)
{
	int64_t	 number;

	TRY(set_number(s, &number, value, 1, 65536));
	c->max_queue = (int)number;
	return OK;
}

static enum status
set_share_dir(struct scope *s, struct config *c, const char *value)
{
	return absolute_path(s, &c->share_dir, value);
}

static enum status
set_import_dir(struct scope *s, struct config *c, const char *value)
{
	c->import_dir = NULL;
	return value[0] == '\0' ? OK : absolute_path(s, &c->import_dir, value);
}

static enum status
set_list(struct scope *s, const char ***out, const char *value,
    enum status (*check)(struct scope *, const char **, struct str))
{
	const char	**list = scope_alloc(s, (LIST_MAX + 1) * sizeof(*list));
	struct str	  rest = str_of(value), piece;
	size_t		  n = 0;

	while (str_next(&rest, ' ', &piece)) {
		if (piece.len == 0)
			continue;
		if (n == LIST_MAX)
			return fail(s, ERR_INVALID, NULL, "more than %d entries", LIST_MAX);
		TRY(check(s, &list[n++], piece));
	}
	*out = list;
	return OK;
}

static enum status
set_number(struct scope *s, int64_t *out, const char *value, int64_t least, int64_t most)
{
	int64_t	 number;

	if (!parse_int64(str_of(value), &number) || number < least || number > most)
		return fail(s, ERR_INVALID, NULL, "must be a whole number from %" PRId64 " to %" PRId64, least, most);
	*out = number;
	return OK;
}

static void
add_list(struct buf *b, const char *key, const char *const *list)
{
	buf_printf(b, "%s =", key);
	for (; *list != NULL; list++)
		buf_printf(b, " %s", *list);
	buf_char(b, '\n');
}
