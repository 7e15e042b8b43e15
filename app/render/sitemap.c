/* sitemap.c - sitemaps.org XML, and robots.txt. */
#include "render/sitemap.h"
#include "base/clock.h"
#include "render/xml_out.h"

#define SITEMAP_NS "http://www.sitemaps.org/schemas/sitemap/0.9"

struct sitemap_writer {
	struct xml_out	*xml;
	const char	*item;		/* "url" or "sitemap" */
};

struct sitemap_writer *
sitemap_begin(struct scope *s, bool is_index)
{
	struct sitemap_writer *w = scope_alloc(s, sizeof(*w));

	w->item = is_index ? "sitemap" : "url";
	w->xml = xml_begin(s);
	xml_open(w->xml, is_index ? "sitemapindex" : "urlset");
	xml_attribute(w->xml, "xmlns", SITEMAP_NS);
	return w;
}

void
sitemap_add(struct sitemap_writer *w, const char *loc, int64_t changed_at)
{
	char text[CLOCK_TEXT];

	xml_line(w->xml);
	xml_open(w->xml, w->item);
	xml_leaf(w->xml, "loc", loc);
	xml_leaf(w->xml, "lastmod", changed_at == 0 ? NULL : clock_rfc3339_seconds(text, changed_at));
	xml_close(w->xml);
}

enum status
sitemap_end(struct scope *s, struct sitemap_writer *w, struct str *out)
{
	xml_line(w->xml);
	return xml_end(s, w->xml, out);
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
