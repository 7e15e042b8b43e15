/* wxr_input.c - reads the file in blocks and hands out clean pieces of them. */
#include "render/wxr_input.h"

#include <fcntl.h>
#include <sys/stat.h>

#define BLOCK 8192

struct wxr_input {
	int		 fd;
	unsigned char	 block[BLOCK];
	size_t		 len, at;	/* bytes in the block, bytes already given out */
	int64_t		 read, total, dropped;
	bool		 is_utf8, at_eof;
};

/* What the first bytes say; NULL for anything that may be XML. */
static const char *
foreign_kind(struct str start)
{
	static const struct { const char *magic; size_t len; const char *what; } kinds[] = {
		{ "PK\x03\x04", 4, "a zip archive: unpack it and give the .xml file inside" },
		{ "\x1f\x8b", 2, "a gzip file: unpack it first" },
		{ "%PDF", 4, "a PDF" },
		{ "\xff\xfe", 2, "a UTF-16 file: save it as UTF-8" },
		{ "\xfe\xff", 2, "a UTF-16 file: save it as UTF-8" },
		{ "SQLite format 3", 15, "an SQLite database" },
		{ "\x89PNG", 4, "a PNG image" },
		{ "\xff\xd8\xff", 3, "a JPEG image" },
	};
	size_t i;

	for (i = 0; i < COUNT(kinds); i++)
		if (start.len >= kinds[i].len && memcmp(start.p, kinds[i].magic, kinds[i].len) == 0)
			return kinds[i].what;
	if (str_starts(start, "\xef\xbb\xbf"))
		start = str_part(start, 3, start.len);
	start = str_trim(start);
	if (start.len == 0)
		return "an empty file";
	if (start.p[0] == '{' || start.p[0] == '[')
		return "JSON: exports of WordPress are XML";
	if (start.len >= 14 && strncasecmp(start.p, "<!doctype html", 14) == 0)
		return "an HTML page, perhaps the log-in page of the site";
	if (start.len >= 5 && strncasecmp(start.p, "<html", 5) == 0)
		return "an HTML page, perhaps the log-in page of the site";
	return start.p[0] == '<' ? NULL : "no XML";
}

/* UTF-8 unless the XML declaration names something else. */
static bool
declares_utf8(struct str start)
{
	size_t end, at;

	end = str_find_str(start, STR("?>"));
	start = str_part(start, 0, end);
	at = str_find_str(start, STR("encoding="));
	if (at >= start.len)
		return true;
	start = str_part(start, at + 10, at + 15);
	return start.len == 5 && strncasecmp(start.p, "utf-8", 5) == 0;
}

static enum status
refill(struct scope *s, struct wxr_input *in)
{
	ssize_t n;

	if (in->at > 0 && in->at < in->len)
		memmove(in->block, in->block + in->at, in->len - in->at);
	in->len -= in->at;
	in->at = 0;
	while (in->len < BLOCK && !in->at_eof) {
		n = read(in->fd, in->block + in->len, BLOCK - in->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fail(s, ERR_STORAGE, "file", "reading failed: %s", strerror(errno));
		if (n == 0)
			in->at_eof = true;
		in->len += (size_t)n;
		in->read += n;
	}
	return OK;
}

enum status
wxr_input_open(struct scope *s, struct wxr_input **out, const char *file)
{
	struct wxr_input *in = scope_alloc(s, sizeof *in);
	const char *foreign;
	struct stat st;
	struct str start;
	enum status status;

	if ((in->fd = open(file, O_RDONLY | O_CLOEXEC)) < 0)
		return fail(s, ERR_NOT_FOUND, "file", "%s: %s", file, strerror(errno));
	if (fstat(in->fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		close(in->fd);
		return fail(s, ERR_INVALID, "file", "%s is no regular file", file);
	}
	in->total = st.st_size;
	if ((status = refill(s, in)) != OK) {
		close(in->fd);
		return status;
	}
	start = (struct str){ (const char *)in->block, in->len };
	if ((foreign = foreign_kind(start)) != NULL) {
		close(in->fd);
		return fail(s, ERR_INVALID, "file", "%s is not a WordPress export but %s", file, foreign);
	}
	in->is_utf8 = declares_utf8(str_part(start, 0, 300));
	*out = in;
	return OK;
}

/* Bytes of the clean character at p, 0 when it must be dropped (then *bad is its length). Incomplete at the end: both 0. */
static size_t
clean_character(const struct wxr_input *in, const unsigned char *p, size_t n, size_t *bad)
{
	size_t want, i = 0;
	int32_t c;

	*bad = 0;
	if (*p >= 0x20 && *p < 0x80)
		return 1;
	if (*p < 0x20) {
		*bad = *p == '\t' || *p == '\n' || *p == '\r' ? 0 : 1;
		return *bad == 0;
	}
	if (!in->is_utf8)
		return 1;
	want = *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : 2;
	if (n < want && !in->at_eof)
		return 0;
	c = utf8_next((struct str){ (const char *)p, n }, &i);
	if (c < 0 || c == 0xfffe || c == 0xffff) {
		*bad = i;
		return 0;
	}
	return i;
}

enum status
wxr_input_piece(struct scope *s, struct wxr_input *in, struct str *piece, bool *at_end)
{
	size_t start, step, bad;

	if (in->at == in->len || in->len - in->at < 4)
		TRY(refill(s, in));
	start = in->at;
	while (in->at < in->len) {
		step = clean_character(in, in->block + in->at, in->len - in->at, &bad);
		if (step > 0) {
			in->at += step;
			continue;
		}
		if (bad == 0)
			break;		/* the rest of the character is still in the file */
		if (in->at > start)
			break;		/* hand out what is clean first */
		in->at += bad;
		start = in->at;
		in->dropped++;
	}
	*piece = (struct str){ (const char *)in->block + start, in->at - start };
	*at_end = in->at_eof && in->at == in->len;
	return OK;
}

void
wxr_input_position(const struct wxr_input *in, int64_t *bytes, int64_t *total)
{
	*bytes = in->read - (int64_t)(in->len - in->at);
	*total = in->total;
}

int64_t
wxr_input_dropped(const struct wxr_input *in)
{
	return in->dropped;
}

void
wxr_input_close(struct wxr_input *in)
{
	close(in->fd);
}
