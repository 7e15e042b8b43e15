/* api_imports.c - imports over HTTP: a list of articles, an export that is sent, or one that lies on the server. */
#include "http/api.h"
#include "http/parse.h"
#include "http/router.h"

#include "actions/import_request.h"

static api_prepare	import;
static enum status	import_form(struct scope *, struct exchange *, struct unit *, bool is_dry_run);
static enum status	flag(struct scope *, const char *field, struct str value, bool *out);

enum status
handle_import(struct scope *s, struct exchange *ex)
{
	static const char *const media[] = { "multipart", NULL };

	return api_write_media(s, ex, WRITE_IMPORT, media, import);
}

static enum status
import(struct scope *s, struct exchange *ex, struct unit *u, json_t *body)
{
	const char *given = api_parameter(s, ex, "dry_run");
	const struct config *config = ex->reader->config;
	bool dry_run = false;

	if (given != NULL)
		TRY(flag(s, "dry_run", str_of(given), &dry_run));
	if (body == NULL)
		return import_form(s, ex, u, dry_run);
	if (json_object_get(body, "path") != NULL)
		return import_path_prepare(s, config, u, body, dry_run);
	if (ex->request->body.len > IMPORT_ITEMS_BYTES)
		return fail(s, ERR_TOO_LARGE, NULL, "items of one import have at most %zu bytes together; send them in several", IMPORT_ITEMS_BYTES);
	return import_items_prepare(s, config, u, body, dry_run);
}

static enum status
import_form(struct scope *s, struct exchange *ex, struct unit *u, bool dry_run)
{
	const struct part *file = NULL;
	bool keeps = false;
	size_t i;

	for (i = 0; i < ex->part_count; i++) {
		const struct part *p = &ex->parts[i];

		if (str_is(p->name, "keep_permalinks"))
			TRY(flag(s, "keep_permalinks", p->content, &keeps));
		else if (!str_is(p->name, "file"))
			return fail(s, ERR_UNKNOWN_FIELD, str_dup(s->arena, utf8_cut(p->name, 100)), "is not known here");
		else if (file != NULL)
			return fail(s, ERR_INVALID, "file", "one file is taken at a time");
		else
			file = p;
	}
	if (file == NULL)
		return fail(s, ERR_INVALID, "file", "is missing: the export must be a part of this name");
	return import_upload_prepare(s, ex->reader->config, u, file->content, keeps, dry_run);
}

static enum status
flag(struct scope *s, const char *field, struct str value, bool *out)
{
	*out = str_is(value, "1") || str_is(value, "true");
	return *out || str_is(value, "0") || str_is(value, "false") ? OK : fail(s, ERR_INVALID, field, "must be 1 or 0");
}
