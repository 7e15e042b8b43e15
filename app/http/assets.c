/* assets.c - /assets/NAME: the theme's files. NAME may carry the theme's hash ("theme-0123456789abcdef.css" is theme.css), and is
 * then good for ever. */
#include <fcntl.h>
#include <sys/stat.h>
#include "base/clock.h"
#include "http/router.h"

#define ASSET_MAX ((off_t)4 << 20)
#define HASH_LEN 16

static bool		 name_is_safe(struct str);
static const char	*without_hash(struct scope *, struct str name, const char *hash, bool *is_current);
static const char	*type_of(const char *name);
static enum status	 read_asset(struct scope *, const char *path, struct str *out, int64_t *modified_at);

enum status
handle_asset(struct scope *s, struct exchange *ex)
{
	static const char *const depends[] = { "theme" };
	struct str asked = ex->params[0], body;
	bool is_current;
	const char *name, *type;
	int64_t modified_at = 0;
	char *date = scope_alloc(s, CLOCK_TEXT);

	if (!name_is_safe(asked))
		return fail(s, ERR_NOT_FOUND, NULL, "there is no such file");
	name = without_hash(s, asked, templates_hash(ex->reader->templates), &is_current);
	type = type_of(name);
	if (type == NULL)
		return fail(s, ERR_NOT_FOUND, NULL, "there is no such file");
	TRY(read_asset(s, scope_printf(s, "%s/assets/%s", ex->reader->config->share_dir, name), &body, &modified_at));
	ex->response = (struct response){
		.status = 200, .type = type, .body = body, .is_cacheable = true, .depends = depends, .depends_count = COUNT(depends),
	};
	response_header(&ex->response, "Cache-Control", is_current ? "public, max-age=31536000, immutable" : "public, max-age=300");
	response_header(&ex->response, "Last-Modified", clock_http_date(date, modified_at));
	return OK;
}

static bool
name_is_safe(struct str name)
{
	for (size_t i = 0; i < name.len; i++) {
		char c = name.p[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.'))
			return false;
	}
	return name.len > 0 && name.len < 100 && name.p[0] != '.';
}

/* An old page may ask for the file under a former hash: it gets the present one, but not for ever. */
static const char *
without_hash(struct scope *s, struct str name, const char *hash, bool *is_current)
{
	size_t dot = 0, from;

	for (size_t i = 0; i < name.len; i++)
		if (name.p[i] == '.')
			dot = i;
	*is_current = false;
	if (dot <= HASH_LEN + 1 || name.p[dot - HASH_LEN - 1] != '-')
		return str_dup(s->arena, name);
	from = dot - HASH_LEN;
	for (size_t i = from; i < dot; i++)
		if (!((name.p[i] >= '0' && name.p[i] <= '9') || (name.p[i] >= 'a' && name.p[i] <= 'f')))
			return str_dup(s->arena, name);
	*is_current = str_is(str_part(name, from, dot), hash);
	return scope_printf(s, "%.*s%.*s", (int)(from - 1), name.p, (int)(name.len - dot), name.p + dot);
}

/* Only these leave the folder. */
static const char *
type_of(const char *name)
{
	static const struct { const char *ending, *type; } types[] = {
		{ ".css", "text/css; charset=utf-8" }, { ".js", "text/javascript; charset=utf-8" }, { ".svg", "image/svg+xml" },
		{ ".png", "image/png" }, { ".ico", "image/x-icon" }, { ".webp", "image/webp" }, { ".woff2", "font/woff2" },
	};

	for (size_t i = 0; i < COUNT(types); i++)
		if (str_ends(str_of(name), types[i].ending))
			return types[i].type;
	return NULL;
}

static enum status
read_asset(struct scope *s, const char *path, struct str *out, int64_t *modified_at)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	enum status status = OK;
	struct stat st;
	size_t len = 0;
	ssize_t n = 0;
	char *p;

	if (fd == -1)
		return fail(s, ERR_NOT_FOUND, NULL, "there is no such file");
	if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode) || st.st_size > ASSET_MAX) {
		status = fail(s, ERR_NOT_FOUND, NULL, "there is no such file");
		goto done;
	}
	p = scope_alloc(s, (size_t)st.st_size + 1);
	while (len < (size_t)st.st_size && (n = read(fd, p + len, (size_t)st.st_size - len)) > 0)
		len += (size_t)n;
	if (n == -1)
		status = fail(s, ERR_INTERNAL, NULL, "a file of the theme cannot be read");
	*out = (struct str){ p, len };
	*modified_at = (int64_t)st.st_mtime * 1000;
done:
	close(fd);
	return status;
}
