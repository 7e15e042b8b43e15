/* json.c - writing JSON straight into a buffer. */
#include "actions/json.h"

#include "base/clock.h"

void
json_put_text(struct buf *b, const char *text)
{
	const char *from, *p;

	if (text == NULL) {
		buf_text(b, "null");
		return;
	}
	buf_char(b, '"');
	for (from = p = text; *p != '\0'; p++) {
		unsigned char c = (unsigned char)*p;

		if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7f)
			continue;
		buf_add(b, from, (size_t)(p - from));
		if (c == '"' || c == '\\') {
			buf_char(b, '\\');
			buf_char(b, *p);
		} else if (c == '\n')
			buf_text(b, "\\n");
		else if (c == '\r')
			buf_text(b, "\\r");
		else if (c == '\t')
			buf_text(b, "\\t");
		else
			buf_printf(b, "\\u%04x", c);
		from = p + 1;
	}
	buf_add(b, from, (size_t)(p - from));
	buf_char(b, '"');
}

void
json_put_time(struct buf *b, int64_t ms)
{
	char text[CLOCK_TEXT];

	if (ms == 0) {
		buf_text(b, "null");
		return;
	}
	buf_char(b, '"');
	buf_text(b, clock_rfc3339(text, ms));
	buf_char(b, '"');
}

void
json_put_name(struct buf *b, const char *name)
{
	if (b->len > 0 && b->p[b->len - 1] != '{')
		buf_char(b, ',');
	buf_char(b, '"');
	buf_text(b, name);
	buf_text(b, "\":");
}
