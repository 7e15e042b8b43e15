/* public.c - handlers of the public routes: content, sitemap, robots.txt, files, the manual. */
#include <fcntl.h>
#include <sys/stat.h>
#include "actions/docs.h"
#include "actions/hits.h"
#include "actions/view.h"
#include "base/clock.h"
#include "http/api.h"
#include "http/exchange.h"
#include "http/respond.h"
#include "http/router.h"

#define MEDIA_BYTES_MAX 16777216	/* an answer lies in memory as a whole */
#define MEDIA_NAME_HEX 64

static const struct { const char *extension, *type; } media_types[] = {
	{ "jpg", "image/jpeg" }, { "png", "image/png" }, { "gif", "image/gif" }, { "webp", "image/webp" }, { "avif", "image/avif" },
	{ "pdf", "application/pdf" }, { "mp3", "audio/mpeg" }, { "ogg", "audio/ogg" }, { "wav", "audio/wav" }, { "mp4", "video/mp4" },
	{ "webm", "video/webm" }, { "zip", "application/zip" },
};

static void		respond_view(struct scope *, struct exchange *, const struct view *);
static enum status	docs_page(struct scope *, struct exchange *, const char *name);
static enum status	require_spelling(struct scope *, const struct exchange *, const char *path);
static const char	*media_type(struct str name);
static enum status	read_file(struct scope *, const char *path, struct str *out);

enum status
handle_content(struct scope *s, struct exchange *ex)
{
	const struct reader *r = ex->reader;
	struct resolution found;
	struct view view;

	TRY(resolve(s, r->db, r->site, ex->request->path, ex->request->query, true, &found));
	hits_count(&found, s->now);
	if (found.meaning == MEANING_REDIRECT) {
		respond_redirect(&ex->response, found.status, found.location);
		ex->response.body = str_of(scope_printf(s, "%s\n", found.location));
		return OK;
	}
	TRY(view_page(s, r->db, r->site, r->templates, &found, &view));
	/* That no old address is told by this query holds until a path row comes. */
	if (ex->request->query.len > 0 && view.depends_count < VIEW_DEPENDENCIES)
		view.depends[view.depends_count++] = "paths";
	else if (ex->request->query.len > 0)
		view.is_cacheable = false;
	respond_view(s, ex, &view);
	return OK;
}

enum status
handle_robots(struct scope *s, struct exchange *ex)
{
	struct view view;

	TRY(view_robots(s, ex->reader->db, ex->reader->site, &view));
	respond_view(s, ex, &view);
	return OK;
}

enum status
handle_llms(struct scope *s, struct exchange *ex)
{
	struct view view;

	TRY(view_llms(s, ex->reader->db, ex->reader->site, &view));
	respond_view(s, ex, &view);
	return OK;
}

enum status
handle_security(struct scope *s, struct exchange *ex)
{
	struct view view;

	TRY(view_security(s, ex->reader->site, &view));
	respond_view(s, ex, &view);
	return OK;
}

enum status
handle_sitemap(struct scope *s, struct exchange *ex)
{
	struct view view;

	TRY(view_sitemap(s, ex->reader->db, ex->reader->site, NULL, &view));
	respond_view(s, ex, &view);
	return OK;
}

enum status
handle_sitemap_part(struct scope *s, struct exchange *ex)
{
	const char *part = str_dup(s->arena, ex->params[0]);
	struct view view;

	TRY(require_spelling(s, ex, scope_printf(s, "/sitemap-%s.xml", part)));
	TRY(view_sitemap(s, ex->reader->db, ex->reader->site, part, &view));
	respond_view(s, ex, &view);
	return OK;
}

enum status
handle_feed(struct scope *s, struct exchange *ex)
{
	const char *extension = str_dup(s->arena, ex->params[0]);
	struct view view;

	TRY(require_spelling(s, ex, scope_printf(s, "/feed.%s", extension)));
	TRY(view_feed(s, ex->reader->db, ex->reader->site, NULL, extension, &view));
	respond_view(s, ex, &view);
	return OK;
}

enum status
handle_term_feed(struct scope *s, struct exchange *ex)
{
	struct str name = ex->params[0];
	size_t dot = str_find(name, '.');
	const char *term = str_dup(s->arena, str_part(name, 0, dot));
	struct view view;

	TRY(require_spelling(s, ex, scope_printf(s, "/feed/%.*s", STR_FMT(name))));
	TRY(view_feed(s, ex->reader->db, ex->reader->site, term, str_dup(s->arena, str_part(name, dot + 1, name.len)), &view));
	respond_view(s, ex, &view);
	return OK;
}

enum status
handle_resolve(struct scope *s, struct exchange *ex)
{
	const struct reader *r = ex->reader;
	struct view view;

	TRY(view_meaning(s, r->db, r->site, r->templates, api_parameter(s, ex, "url"), &view));
	respond_view(s, ex, &view);
	if (r->site->cors_origin[0] != '\0')
		response_header(&ex->response, "Access-Control-Allow-Origin", r->site->cors_origin);
	return OK;
}

enum status
handle_docs_index(struct scope *s, struct exchange *ex)
{
	return docs_page(s, ex, "index");
}

enum status
handle_docs(struct scope *s, struct exchange *ex)
{
	const char *name = str_dup(s->arena, ex->params[0]);

	/* The index has an address of its own. */
	TRY(require_spelling(s, ex, strcmp(name, "index") == 0 ? "/docs" : scope_printf(s, "/docs/%s", name)));
	return docs_page(s, ex, name);
}

static enum status
docs_page(struct scope *s, struct exchange *ex, const char *name)
{
	const struct reader *r = ex->reader;
	struct view view;

	TRY(view_docs(s, r->db, r->site, r->templates, scope_printf(s, "%s/templates/docs", r->config->share_dir), name, &view));
	respond_view(s, ex, &view);
	return OK;
}

enum status
handle_media(struct scope *s, struct exchange *ex)
{
	struct response *r = &ex->response;
	const char *name = str_dup(s->arena, ex->params[0]), *type = media_type(ex->params[0]);

	TRY(require_spelling(s, ex, scope_printf(s, "/media/%s", name)));
	if (type == NULL)
		return fail(s, ERR_NOT_FOUND, NULL, "there is no such file");
	*r = (struct response){ .status = 200, .type = type };
	TRY(read_file(s, scope_printf(s, "%s/media/%s", ex->reader->config->data_dir, name), &r->body));
	response_header(r, "Cache-Control", "public, max-age=31536000, immutable");
	return OK;
}

static void
respond_view(struct scope *s, struct exchange *ex, const struct view *v)
{
	struct response *r = &ex->response;
	/* What nothing stored has a say in is as old as the program that makes it. */
	int64_t modified_at = v->modified_at != 0 ? v->modified_at : templates_loaded_at(ex->reader->templates);
	char date[CLOCK_TEXT];

	*r = (struct response){ .status = v->status, .type = v->type, .body = v->body, .is_cacheable = v->is_cacheable,
		.depends_count = v->depends_count };
	/* The view lies on the handler's stack, what it names in the scope. */
	const char **depends = scope_alloc(s, sizeof(v->depends));
	memcpy(depends, v->depends, sizeof(v->depends));
	r->depends = depends;
	if (v->link != NULL)
		response_header(r, "Link", v->link);
	if (v->robots != NULL)
		response_header(r, "X-Robots-Tag", v->robots);
	if (v->status == 200)
		response_header(r, "Last-Modified", arena_strdup(s->arena, clock_http_date(date, modified_at)));
}

/* A route with a name in it answers at one spelling, as content does. */
static enum status
require_spelling(struct scope *s, const struct exchange *ex, const char *path)
{
	return str_is(ex->request->path, path) ? OK : fail(s, ERR_NOT_FOUND, NULL, "there is nothing at this address");
}

/* NULL unless the name is a digest and an extension that we serve: no other file can be asked for. */
static const char *
media_type(struct str name)
{
	size_t hex = 0;

	while (hex < name.len && ((name.p[hex] >= '0' && name.p[hex] <= '9') || (name.p[hex] >= 'a' && name.p[hex] <= 'f')))
		hex++;
	if (hex != MEDIA_NAME_HEX || hex == name.len || name.p[hex] != '.')
		return NULL;
	for (size_t i = 0; i < COUNT(media_types); i++)
		if (str_is(str_part(name, hex + 1, name.len), media_types[i].extension))
			return media_types[i].type;
	return NULL;
}

static enum status
read_file(struct scope *s, const char *path, struct str *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	struct stat st;
	size_t len = 0;
	char *p;
	ssize_t n;

	if (fd < 0)
		return fail(s, ERR_NOT_FOUND, NULL, "there is no such file");
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > MEDIA_BYTES_MAX) {
		close(fd);
		return fail(s, ERR_TOO_LARGE, NULL, "the file is larger than %d bytes", MEDIA_BYTES_MAX);
	}
	p = arena_alloc(s->arena, (size_t)st.st_size + 1);
	while (len < (size_t)st.st_size && (n = read(fd, p + len, (size_t)st.st_size - len)) > 0)
		len += (size_t)n;
	close(fd);
	*out = (struct str){ p, len };
	return len == (size_t)st.st_size ? OK : fail(s, ERR_INTERNAL, NULL, "the file could not be read");
}
