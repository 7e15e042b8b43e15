/* log.c - a line is made on the stack and leaves in one call, so that lines of several threads do not mix. */
#include "base/log.h"
#include "base/clock.h"

#define LINE_MAX_BYTES	4096
#define QUOTE_MAX	512
#define ID_MAX		128
#define CUT_NOTE	",\"cut\":true"

static void	write_stderr(const char *line, size_t len);
static void	log_line(struct scope *s, enum log_level level, const char *event, const char *members, va_list ap)
		    __attribute__((format(printf, 4, 0)));
static size_t	whole_members(const char *members, size_t len);
static size_t	quote(char *out, const char *text, size_t max);

static void		(*current_sink)(const char *, size_t) = write_stderr;
static enum log_level	  threshold = LOG_LEVEL_INFO;

void
log_sink(void (*sink)(const char *line, size_t len))
{
	current_sink = sink != NULL ? sink : write_stderr;
}

void
log_threshold(enum log_level level)
{
	threshold = level;
}

void
log_info(struct scope *s, const char *event, const char *members, ...)
{
	va_list	 ap;

	va_start(ap, members);
	log_line(s, LOG_LEVEL_INFO, event, members, ap);
	va_end(ap);
}

void
log_warn(struct scope *s, const char *event, const char *members, ...)
{
	va_list	 ap;

	va_start(ap, members);
	log_line(s, LOG_LEVEL_WARN, event, members, ap);
	va_end(ap);
}

void
log_error(struct scope *s, const char *event, const char *members, ...)
{
	va_list	 ap;

	va_start(ap, members);
	log_line(s, LOG_LEVEL_ERROR, event, members, ap);
	va_end(ap);
}

const char *
log_quote(struct scope *s, const char *text)
{
	char	 quoted[QUOTE_MAX * 6 + 3];
	size_t	 len = quote(quoted, text != NULL ? text : "", QUOTE_MAX);

	return arena_strndup(s->arena, quoted, len);
}

static void
log_line(struct scope *s, enum log_level level, const char *event, const char *members, va_list ap)
{
	static const char *const names[] = { "debug", "info", "warn", "error" };
	char	 line[LINE_MAX_BYTES + 1], time_text[CLOCK_TEXT], id[ID_MAX * 6 + 3], more[LINE_MAX_BYTES];
	size_t	 head, len, room;
	int	 n;

	if (level < threshold)
		return;
	n = snprintf(line, sizeof(line), "{\"time\":\"%s\",\"level\":\"%s\",\"event\":\"%.100s\"",
	    clock_rfc3339(time_text, clock_now()), names[level], event);
	head = (size_t)n;
	if (s != NULL && s->log_id != NULL) {
		len = quote(id, s->log_id, ID_MAX);
		n = snprintf(line + head, sizeof(line) - head, ",\"request_id\":%.*s", (int)len, id);
		head += (size_t)n;
	}
	n = vsnprintf(more, sizeof(more), members, ap);
	len = n < 0 ? 0 : (size_t)n;
	room = LINE_MAX_BYTES - head - sizeof("," CUT_NOTE "}\n");
	if (len > 0 && len <= room) {
		n = snprintf(line + head, sizeof(line) - head, ",%s", more);
		head += (size_t)n;
	} else if (len > 0) {
		len = whole_members(more, room);
		n = snprintf(line + head, sizeof(line) - head, "%s%.*s" CUT_NOTE, len > 0 ? "," : "", (int)len, more);
		head += (size_t)n;
	}
	line[head++] = '}';
	line[head++] = '\n';
	current_sink(line, head);
}

/* How many of the first `len` bytes are whole members: a cut line must stay one JSON object. */
static size_t
whole_members(const char *members, size_t len)
{
	size_t	 whole = 0;
	int	 depth = 0;
	bool	 in_string = false;

	for (size_t i = 0; i < len; i++) {
		char	 c = members[i];

		if (in_string) {
			if (c == '\\')
				i++;
			else if (c == '"')
				in_string = false;
		} else if (c == '"') {
			in_string = true;
		} else if (c == '{' || c == '[') {
			depth++;
		} else if (c == '}' || c == ']') {
			depth--;
		} else if (c == ',' && depth == 0) {
			whole = i;
		}
	}
	return whole;
}

/* `out` must hold 6 * max + 3 bytes. A byte that is not UTF-8 shows as \xHH (a backslash in the value). */
static size_t
quote(char *out, const char *text, size_t max)
{
	static const char	 hex[] = "0123456789abcdef";
	struct str		 s = utf8_cut(str_of(text), max);
	char			*at = out;

	*at++ = '"';
	for (size_t i = 0; i < s.len;) {
		size_t		 from = i;
		int32_t		 c = utf8_next(s, &i);
		unsigned char	 byte = (unsigned char)s.p[from];

		if (c == '"' || c == '\\') {
			*at++ = '\\';
			*at++ = (char)c;
		} else if (c >= 0x20 && c != 0x7f) {
			memcpy(at, s.p + from, i - from);
			at += i - from;
		} else {
			memcpy(at, c == -1 ? "\\\\x" : "\\u00", 4);
			at += c == -1 ? 3 : 4;
			*at++ = hex[byte >> 4];
			*at++ = hex[byte & 15];
		}
	}
	*at++ = '"';
	*at = '\0';
	return (size_t)(at - out);
}

static void
write_stderr(const char *line, size_t len)
{
	/* There is nowhere to report that the log cannot be written. */
	ssize_t	 n = write(STDERR_FILENO, line, len);

	(void)n;
}
