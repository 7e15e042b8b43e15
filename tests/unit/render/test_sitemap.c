/* test_sitemap.c - sitemaps.org XML and robots.txt. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <libxml/parser.h>
#include <libxml/xmlschemas.h>

#include "base/clock.h"
#include "render/sitemap.h"

static xmlDocPtr
parsed(struct str text)
{
	xmlDocPtr doc = xmlReadMemory(text.p, (int)text.len, "sitemap.xml", NULL, XML_PARSE_NONET);

	assert_non_null(doc);
	return doc;
}

static void
urls_are_escaped_and_dated(void **unused)
{
	struct scope *s = scope_new("test");
	struct sitemap_writer *w = sitemap_begin(s, false);
	struct str out;

	sitemap_add(w, "https://ex.com/a?b&c='d'\"<>", 1700000000123);
	sitemap_add(w, "https://ex.com/", 0);
	assert_int_equal(sitemap_end(s, w, &out), OK);
	assert_string_equal(out.p, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
	    "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n"
	    "<url><loc>https://ex.com/a?b&amp;c='d'&quot;&lt;&gt;</loc><lastmod>2023-11-14T22:13:20Z</lastmod></url>\n"
	    "<url><loc>https://ex.com/</loc></url>\n</urlset>\n");
	xmlDocPtr doc = parsed(out);
	xmlChar *loc = xmlNodeGetContent(xmlFirstElementChild(xmlFirstElementChild(xmlDocGetRootElement(doc))));
	assert_string_equal((char *)loc, "https://ex.com/a?b&c='d'\"<>");
	xmlFree(loc);
	xmlFreeDoc(doc);
	scope_free(s);
}

static void
index_names_sitemaps(void **unused)
{
	struct scope *s = scope_new("test");
	struct sitemap_writer *w = sitemap_begin(s, true);
	struct str out;

	sitemap_add(w, "https://ex.com/sitemap-1.xml", 1700000000000);
	assert_int_equal(sitemap_end(s, w, &out), OK);
	assert_non_null(strstr(out.p, "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n<sitemap><loc>"
	    "https://ex.com/sitemap-1.xml</loc><lastmod>2023-11-14T22:13:20Z</lastmod></sitemap>\n</sitemapindex>"));
	scope_free(s);
}

static void
ten_thousand_urls_are_quick(void **unused)
{
	struct scope *s = scope_new("test");
	struct sitemap_writer *w = sitemap_begin(s, false);
	int64_t from = clock_monotonic();
	struct str out;

	for (int i = 0; i < 10000; i++)
		sitemap_add(w, scope_printf(s, "https://www.example.com/articles/an-article-with-some-words-%d", i), 1700000000000 + i);
	assert_int_equal(sitemap_end(s, w, &out), OK);
	assert_in_range(clock_monotonic() - from, 0, 2000);
	assert_in_range(out.len, 10000 * 100, 10000 * 200);
	scope_free(s);
}

static void
result_meets_the_published_schema(void **unused)
{
	const char *folder = getenv("STELE_CORPORA");
	struct scope *s = scope_new("test");

	if (folder == NULL)
		folder = "../shared/corpora";
	if (access(scope_printf(s, "%s/sitemap", folder), R_OK) != 0) {
		print_message("corpora absent\n");
		scope_free(s);
		skip();
	}
	for (int is_index = 0; is_index < 2; is_index++) {
		const char *name = is_index ? "siteindex.xsd" : "sitemap.xsd";
		struct sitemap_writer *w = sitemap_begin(s, is_index);
		struct str out;
		xmlSchemaPtr schema;
		sitemap_add(w, "https://www.example.com/%E5%A4%A9?a=b&c", 1700000000123);
		sitemap_add(w, "https://www.example.com/b", 0);
		assert_int_equal(sitemap_end(s, w, &out), OK);
		const char *path = scope_printf(s, "%s/sitemap/xsd-samdark/%s", folder, name);
		xmlSchemaParserCtxtPtr parser = xmlSchemaNewParserCtxt(path);
		assert_non_null(schema = xmlSchemaParse(parser));
		xmlSchemaValidCtxtPtr valid = xmlSchemaNewValidCtxt(schema);
		xmlDocPtr doc = parsed(out);
		assert_int_equal(xmlSchemaValidateDoc(valid, doc), 0);
		xmlFreeDoc(doc);
		xmlSchemaFreeValidCtxt(valid);
		xmlSchemaFree(schema);
		xmlSchemaFreeParserCtxt(parser);
	}
	scope_free(s);
}

static void
robots_keep_crawlers_out_of_the_system_only(void **unused)
{
	struct scope *s = scope_new("test");
	struct site site = { .public_origin = "https://ex.com", .robots = "Disallow: /drafts/" };

	assert_string_equal(robots_txt(s, &site).p, "User-agent: *\nDisallow: /admin/\nDisallow: /admin$\nDisallow: /api/\nDisallow: /api$\n"
	    "Disallow: /drafts/\n\nSitemap: https://ex.com/sitemap.xml\n");
	site.robots = "";
	site.noindex = true;
	assert_string_equal(robots_txt(s, &site).p, "User-agent: *\nDisallow: /\n");
	scope_free(s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(urls_are_escaped_and_dated),
		cmocka_unit_test(index_names_sitemaps),
		cmocka_unit_test(ten_thousand_urls_are_quick),
		cmocka_unit_test(result_meets_the_published_schema),
		cmocka_unit_test(robots_keep_crawlers_out_of_the_system_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
