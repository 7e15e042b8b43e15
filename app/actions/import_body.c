/* import_body.c - the text of a post: cleaned once, with its links to the old site made links of this one. */
#include "actions/import_run.h"

#include "render/markdown.h"

/* Host without "www." and port, in the same case: what decides whether a URL is of the old site. */
static struct str
bare_host(struct str host)
{
	host = str_part(host, 0, str_find(host, ':'));
	return host.len > 4 && strncasecmp(host.p, "www.", 4) == 0 ? str_part(host, 4, host.len) : host;
}

const char *
import_own_path(struct import_run *run, struct scope *s, struct str url)
{
	struct str rest = str_trim(url), host;
	size_t at, i;

	if (rest.len > 0 && rest.p[0] == '/' && !str_starts(rest, "//"))
		return str_dup(s->arena, rest);
	if (str_starts(rest, "//"))
		rest = str_part(rest, 2, rest.len);
	else if (rest.len > 7 && strncasecmp(rest.p, "http://", 7) == 0)
		rest = str_part(rest, 7, rest.len);
	else if (rest.len > 8 && strncasecmp(rest.p, "https://", 8) == 0)
		rest = str_part(rest, 8, rest.len);
	else
		return NULL;
	for (at = 0; at < rest.len && rest.p[at] != '/' && rest.p[at] != '?' && rest.p[at] != '#'; at++)
		continue;
	host = bare_host(str_part(rest, 0, at));
	if (host.len == 0 || host.len != strlen(run->host))
		return NULL;
	for (i = 0; i < host.len; i++)
		if ((host.p[i] >= 'A' && host.p[i] <= 'Z' ? host.p[i] | 0x20 : host.p[i]) != run->host[i])
			return NULL;
	rest = str_part(rest, at, rest.len);
	return rest.len > 0 && rest.p[0] == '/' ? str_dup(s->arena, rest) : scope_printf(s, "/%.*s", STR_FMT(rest));
}

struct link_map {
	struct import_run *run;
	struct import_thing *thing;
	int64_t		 kept;		/* uploads that still point to the old site */
	enum status	 failed;
};

static const char *
new_address(struct scope *s, void *arg, struct str url)
{
	struct link_map *map = arg;
	const char *own = import_own_path(map->run, s, url), *media = NULL;
	enum status status;

	if (own == NULL)
		return NULL;
	if (import_uploads_name(s, str_of(own)) == NULL)
		return own;
	if ((status = import_media(map->run, s, own, &media)) != OK)
		map->failed = status;
	if (media == NULL)
		map->kept++;
	return media;
}

enum status
import_body(struct import_run *run, struct scope *s, struct import_thing *t, const char *content, struct str *text, enum format *format)
{
	struct link_map map = { run, t, 0, OK };
	struct rendered clean;
	enum status status;

	*format = FORMAT_HTML;
	if (strlen(content) > SOURCE_MAX)
		status = fail(s, ERR_INVALID, "content", "is longer than %d bytes", SOURCE_MAX);
	else
		status = render_content(s, &clean, FORMAT_HTML, wxr_content_html(s, str_of(content)));
	if (status != OK) {
		import_warn(run, t, "the text could not be read as HTML (%s) and was taken as plain text",
		    s->error != NULL && s->error->detail != NULL ? s->error->detail : status_info(status)->title);
		s->error = NULL;
		*format = FORMAT_MARKDOWN;
		*text = str_of(content);
		return OK;
	}
	*text = render_addresses(s, str_of(clean.html), new_address, &map);
	if (map.kept > 0)
		import_warn(run, t, "%" PRId64 " uploads are still linked at the old site: give their folder with --uploads", map.kept);
	return map.failed;
}
