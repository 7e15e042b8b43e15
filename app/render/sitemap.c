/* sitemap.c - sitemaps.org XML through libxml2's writer, and robots.txt. */
#include "render/sitemap.h"
#include <libxml/xmlwriter.h>
#include "base/clock.h"

#define SITEMAP_NS "http://www.sitemaps.org/schemas/sitemap/0.9"

struct sitemap_writer {
	struct buf	 out;
	xmlOutputBufferPtr pending;	/* owned by `xml` */
	xmlTextWriterPtr xml;
	const xmlChar	*item;		/* "url" or "sitemap" */
	bool		 failed;
};

static int
take_bytes(void *arg, const char *bytes, int len)
{
	struct sitemap_writer *w = arg;

	buf_add(&w->out, bytes, (size_t)len);
	return len;
}

struct sitemap_writer *
sitemap_begin(struct scope *s, bool is_index)
{
	struct sitemap_writer *w = scope_alloc(s, sizeof(*w));

	buf_init(&w->out, s->arena);
	w->item = BAD_CAST (is_index ? "sitemap" : "url");
	w->pending = xmlOutputBufferCreateIO(take_bytes, NULL, w, NULL);
	assert(w->pending != NULL);
	w->xml = xmlNewTextWriter(w->pending);
	assert(w->xml != NULL);
	w->failed = xmlTextWriterStartDocument(w->xml, "1.0", "UTF-8", NULL) < 0 ||
	    xmlTextWriterStartElement(w->xml, BAD_CAST (is_index ? "sitemapindex" : "urlset")) < 0 ||
	    xmlTextWriterWriteAttribute(w->xml, BAD_CAST "xmlns", BAD_CAST SITEMAP_NS) < 0;
	return w;
}

void
sitemap_add(struct sitemap_writer *w, const char *loc, int64_t changed_at)
{
	char text[CLOCK_TEXT];

	if (w->failed)
		return;
	w->failed = xmlTextWriterWriteString(w->xml, BAD_CAST "\n") < 0 ||
	    xmlTextWriterStartElement(w->xml, w->item) < 0 ||
	    xmlTextWriterWriteElement(w->xml, BAD_CAST "loc", (const xmlChar *)loc) < 0;
	if (!w->failed && changed_at != 0)
		w->failed = xmlTextWriterWriteElement(w->xml, BAD_CAST "lastmod",
		    BAD_CAST clock_rfc3339_seconds(text, changed_at)) < 0;
	w->failed = w->failed || xmlTextWriterEndElement(w->xml) < 0;
}

enum status
sitemap_end(struct scope *s, struct sitemap_writer *w, struct str *out)
{
	bool failed = w->failed || xmlTextWriterWriteString(w->xml, BAD_CAST "\n") < 0 ||
	    xmlTextWriterEndDocument(w->xml) < 0;

	xmlFreeTextWriter(w->xml);
	if (failed)
		return fail(s, ERR_INTERNAL, NULL, "the sitemap could not be written");
	*out = buf_as_str(&w->out);
	return OK;
}

struct str
robots_txt(struct scope *s, const struct site *site)
{
	struct buf out;

	buf_init(&out, s->arena);
	buf_text(&out, "User-agent: *\n");
	if (site->noindex) {
		buf_text(&out, "Disallow: /\n");
	} else {
		/* Not "/admin" alone: that would also forbid an article at /administration. */
		buf_text(&out, "Disallow: /admin/\nDisallow: /admin$\nDisallow: /api/\nDisallow: /api$\n");
	}
	if (site->robots != NULL && *site->robots != '\0')
		buf_printf(&out, "%s%s", site->robots, str_ends(str_of(site->robots), "\n") ? "" : "\n");
	if (!site->noindex)
		buf_printf(&out, "\nSitemap: %s/sitemap.xml\n", site->public_origin);
	return buf_as_str(&out);
}
