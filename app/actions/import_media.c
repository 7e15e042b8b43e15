/* import_media.c - uploads: the file is looked at, named by its digest, on disk before its row commits. */
#include "actions/import_run.h"

#include <fcntl.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "core/reserved.h"
#include "core/url.h"
#include "db/writer.h"
#include "store/imports.h"

#define MEDIA_MAX (16LL * 1024 * 1024)	/* what /media answers with */
#define SNIFF 16

/* What the first bytes say a file is; the name it came with says nothing. Scripts and SVG are not taken. */
static const struct { const char *magic; size_t at, len; const char *type, *extension; } kinds[] = {
	{ "\x89PNG\r\n\x1a\n", 0, 8, "image/png", "png" },
	{ "\xff\xd8\xff", 0, 3, "image/jpeg", "jpg" },
	{ "GIF87a", 0, 6, "image/gif", "gif" },
	{ "GIF89a", 0, 6, "image/gif", "gif" },
	{ "WEBP", 8, 4, "image/webp", "webp" },
	{ "ftypavif", 4, 8, "image/avif", "avif" },
	{ "ftyp", 4, 4, "video/mp4", "mp4" },
	{ "\x1a\x45\xdf\xa3", 0, 4, "video/webm", "webm" },
	{ "OggS", 0, 4, "audio/ogg", "ogg" },
	{ "ID3", 0, 3, "audio/mpeg", "mp3" },
	{ "\xff\xfb", 0, 2, "audio/mpeg", "mp3" },
	{ "%PDF-", 0, 5, "application/pdf", "pdf" },
};

const char *
import_uploads_name(struct scope *s, struct str path)
{
	static const struct str mark = { "/wp-content/uploads/", 20 };
	struct str name, rest, segment;
	const char *decoded;
	size_t at, end;

	for (end = 0; end < path.len && path.p[end] != '?' && path.p[end] != '#'; end++)
		continue;
	path = str_part(path, 0, end);
	at = str_find_str(path, mark);
	if (at == path.len)
		return NULL;
	name = str_part(path, at + mark.len, path.len);
	decoded = url_decode_for_people(s, name);
	rest = str_of(decoded);
	if (rest.len == 0 || rest.p[rest.len - 1] == '/')
		return NULL;
	while (str_next(&rest, '/', &segment))
		if (segment.len == 0 || str_is(segment, ".") || str_is(segment, ".."))
			return NULL;
	return decoded;
}

static enum status
sniff(struct scope *s, int fd, const char **type, const char **extension)
{
	char start[SNIFF] = { 0 };
	ssize_t n = pread(fd, start, sizeof start, 0);
	size_t i;

	*type = NULL;
	if (n < 0)
		return fail(s, ERR_STORAGE, "uploads", "reading failed: %s", strerror(errno));
	for (i = 0; i < COUNT(kinds); i++)
		if ((size_t)n >= kinds[i].at + kinds[i].len && memcmp(start + kinds[i].at, kinds[i].magic, kinds[i].len) == 0) {
			*type = kinds[i].type;
			*extension = kinds[i].extension;
			return OK;
		}
	return OK;
}

/* Copy to `to` (NULL: only read), giving digest and size. */
static enum status
copy_bytes(struct scope *s, int from, int to, char hex[SHA256_HEX], int64_t *bytes)
{
	struct sha256 *digest = sha256_new(s);
	char block[16384];
	ssize_t n, out, done;

	*bytes = 0;
	while ((n = read(from, block, sizeof block)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(s, ERR_STORAGE, "uploads", "reading failed: %s", strerror(errno));
		sha256_add(digest, block, (size_t)n);
		*bytes += n;
		for (done = 0; to >= 0 && done < n; done += out)
			if ((out = write(to, block + done, (size_t)(n - done))) < 0) {
				if (errno != EINTR)
					return fail(s, ERR_STORAGE, "media", "writing failed: %s", strerror(errno));
				out = 0;
			}
	}
	sha256_hex(digest, hex);
	return OK;
}

/* Into the media folder under a temporary name, fsync, then its final name: a crash leaves no half file under a digest. */
static enum status
store_file(struct scope *s, const char *folder, int from, const char *extension, struct media_row *row)
{
	char hex[SHA256_HEX], *temporary = scope_printf(s, "%s/incoming-XXXXXX", folder);
	enum status status;
	int to, dir;

	if (mkdir(folder, 0700) != 0 && errno != EEXIST)
		return fail(s, ERR_STORAGE, "media", "%s: %s", folder, strerror(errno));
	if ((to = mkostemp(temporary, O_CLOEXEC)) < 0)
		return fail(s, ERR_STORAGE, "media", "%s: %s", folder, strerror(errno));
	status = copy_bytes(s, from, to, hex, &row->bytes);
	if (status == OK && (fsync(to) != 0 || rename(temporary, scope_printf(s, "%s/%s.%s", folder, hex, extension)) != 0))
		status = fail(s, ERR_STORAGE, "media", "%s: %s", folder, strerror(errno));
	close(to);
	if (status != OK) {
		unlink(temporary);
		return status;
	}
	if ((dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) >= 0) {
		(void)fsync(dir);
		close(dir);
	}
	row->sha256 = arena_strdup(s->arena, hex);
	return OK;
}

struct media_write {
	struct import_run *run;
	bool		 is_new;
	struct media_row row;
	const char	*path, *fold, *target;	/* old address -> new one; path NULL = the old one stays as it is */
};

static enum status
write_media(struct scope *s, struct db *db, void *arg)
{
	const struct media_write *w = arg;

	TRY(store_media_insert(s, db, &w->row));
	if (w->path != NULL) {
		db_touch(db, "paths");
		TRY(store_import_external(s, db, w->path, w->fold, w->target, "wordpress"));
	}
	return import_guard(w->run, s, db, w->is_new);
}

static const char *
address_of(struct scope *s, const struct media_row *row)
{
	size_t i;

	for (i = 0; i < COUNT(kinds); i++)
		if (strcmp(kinds[i].type, row->type) == 0)
			return scope_printf(s, "/media/%s.%s", row->sha256, kinds[i].extension);
	return NULL;
}

/* The digest decides whether the file is new; whatever it is called, the same bytes are stored once. */
static enum status
take_file(struct import_run *run, struct scope *s, int fd, const char *path, struct media_write *w, const char **address)
{
	char hex[SHA256_HEX];
	const char *extension = NULL;
	bool is_stored, has_address;
	struct url_form form;
	struct stat st;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > MEDIA_MAX)
		return OK;
	TRY(sniff(s, fd, &w->row.type, &extension));
	if (w->row.type == NULL)
		return OK;
	TRY(copy_bytes(s, fd, -1, hex, &w->row.bytes));
	w->row.sha256 = hex;
	TRY(store_media_is_there(s, run->read, hex, &is_stored));
	if (!is_stored && !run->options->is_dry_run) {
		if (lseek(fd, 0, SEEK_SET) != 0)
			return fail(s, ERR_STORAGE, "uploads", "%s: %s", w->row.name, strerror(errno));
		TRY(store_file(s, run->options->media_dir, fd, extension, &w->row));
	}
	TRY(url_form(s, &form, str_of(path)));
	w->path = form.path;
	w->fold = form.fold;
	w->target = scope_printf(s, "/media/%s.%s", w->row.sha256, extension);
	TRY(store_import_path_is_there(s, run->read, form.path, &has_address));
	if (has_address || path_is_reserved(s, form.path, NULL))
		w->path = NULL;
	w->run = run;
	w->is_new = !is_stored;
	if (!is_stored || w->path != NULL)
		TRY(writer_run(s, run->write, run->shared, write_media, w));
	run->files += !is_stored;
	*address = w->target;
	return OK;
}

enum status
import_media(struct import_run *run, struct scope *s, const char *url, const char **address)
{
	const char *name = import_uploads_name(s, str_of(url)), *path, *file;
	struct media_write w = { .row = { .name = name } };
	struct media_row known;
	enum status status;
	size_t end;
	int fd;

	*address = NULL;
	if (name == NULL || run->options->uploads_dir == NULL)
		return OK;
	for (end = 0; url[end] != '\0' && url[end] != '?' && url[end] != '#'; end++)
		continue;
	path = arena_strndup(s->arena, url, end);
	/* With its host: another site may have had another file at the same path. */
	w.row.source_url = scope_printf(s, "//%s%s", run->host, path);
	TRY(store_media_find_source(s, run->read, &known, w.row.source_url));
	if (known.sha256 != NULL) {
		*address = address_of(s, &known);
		return OK;
	}
	file = scope_printf(s, "%s/%s", run->options->uploads_dir, name);
	if ((fd = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) < 0)
		return OK;
	status = take_file(run, s, fd, path, &w, address);
	close(fd);
	return status;
}
