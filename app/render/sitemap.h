/* sitemap.h - sitemap XML and robots.txt. Written through libxml2's writer only. */
#ifndef RENDER_SITEMAP_H
#define RENDER_SITEMAP_H
#include "base/base.h"
#include "core/site.h"

struct sitemap_writer;		/* one document; ended by sitemap_end */
/* is_index: <sitemapindex>, else <urlset>. */
struct sitemap_writer *sitemap_begin(struct scope *, bool is_index);
/* changed_at: Unix ms, 0 leaves lastmod out. */
void		 sitemap_add(struct sitemap_writer *, const char *loc, int64_t changed_at);
enum status	 sitemap_end(struct scope *, struct sitemap_writer *, struct str *out) MUST_USE;
/* robots.txt for the site: allows all, disallows /admin and /api, the setting's extra lines, one absolute Sitemap line. */
struct str	 robots_txt(struct scope *, const struct site *);
#endif
