/* xml_out.c - a document in memory, written by libxml2. */
#include "render/xml_out.h"

#include <libxml/xmlwriter.h>

struct xml_out {
	struct scope	*s;
	struct buf	 bytes;
	xmlTextWriterPtr writer;
	bool		 failed;
};

static int
take_bytes(void *arg, const char *bytes, int len)
{
	struct xml_out *x = arg;

	buf_add(&x->bytes, bytes, (size_t)len);
	return len;
}

struct xml_out *
xml_begin(struct scope *s)
{
	struct xml_out *x = scope_alloc(s, sizeof(*x));
	xmlOutputBufferPtr pending;

	x->s = s;
	buf_init(&x->bytes, s->arena);
	pending = xmlOutputBufferCreateIO(take_bytes, NULL, x, NULL);
	assert(pending != NULL);
	x->writer = xmlNewTextWriter(pending);
	assert(x->writer != NULL);
	x->failed = xmlTextWriterStartDocument(x->writer, "1.0", "UTF-8", NULL) < 0;
	return x;
}

void
xml_open(struct xml_out *x, const char *name)
{
	x->failed = x->failed || xmlTextWriterStartElement(x->writer, (const xmlChar *)name) < 0;
}

/* How many of the bytes at `p` are no character of XML 1.0: a control, or U+FFFE, U+FFFF. 0 = it is one. */
static size_t
forbidden(const char *p)
{
	unsigned char c = (unsigned char)p[0];

	if (c < 0x20)
		return c != '\t' && c != '\n' && c != '\r';
	return c == 0xEF && (unsigned char)p[1] == 0xBF && ((unsigned char)p[2] & 0xFE) == 0xBE ? 3 : 0;
}

/* The same pointer when there is nothing to leave out, as nearly always. */
static const char *
clean(struct scope *s, const char *text)
{
	struct buf kept;
	const char *p;

	for (p = text; *p != '\0' && forbidden(p) == 0; p++)
		continue;
	if (*p == '\0')
		return text;
	buf_init(&kept, s->arena);
	for (p = text; *p != '\0';) {
		size_t skip = forbidden(p);

		if (skip == 0)
			buf_char(&kept, *p++);
		else
			p += skip;
	}
	return kept.p;
}

void
xml_attribute(struct xml_out *x, const char *name, const char *text)
{
	if (text != NULL)
		x->failed = x->failed || xmlTextWriterWriteAttribute(x->writer, (const xmlChar *)name, (const xmlChar *)clean(x->s, text)) < 0;
}

void
xml_text(struct xml_out *x, const char *text)
{
	x->failed = x->failed || xmlTextWriterWriteString(x->writer, (const xmlChar *)clean(x->s, text)) < 0;
}

void
xml_close(struct xml_out *x)
{
	x->failed = x->failed || xmlTextWriterEndElement(x->writer) < 0;
}

void
xml_leaf(struct xml_out *x, const char *name, const char *text)
{
	if (text != NULL)
		x->failed = x->failed || xmlTextWriterWriteElement(x->writer, (const xmlChar *)name, (const xmlChar *)clean(x->s, text)) < 0;
}

void
xml_line(struct xml_out *x)
{
	x->failed = x->failed || xmlTextWriterWriteString(x->writer, BAD_CAST "\n") < 0;
}

enum status
xml_end(struct scope *s, struct xml_out *x, struct str *out)
{
	bool failed = x->failed || xmlTextWriterEndDocument(x->writer) < 0;

	xmlFreeTextWriter(x->writer);
	if (failed)
		return fail(s, ERR_INTERNAL, NULL, "the document could not be written");
	*out = buf_as_str(&x->bytes);
	return OK;
}
