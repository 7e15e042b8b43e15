/* content_driver.c - renders what comes on stdin for test_content.py, which reads the result with another parser.
 * In: one byte 'm' or 'h', four bytes length (little endian), the source. Out: one byte '+' or '-', then length and bytes of
 * html, text, excerpt, links and images, or of the refusal alone. */
#include "base/unicode.h"
#include "render/markdown.h"

static void
put(const char *text)
{
	uint32_t len = (uint32_t)strlen(text);

	fwrite(&len, sizeof(len), 1, stdout);
	fwrite(text, 1, len, stdout);
}

int
main(void)
{
	int kind;
	uint32_t len;

	unicode_warm_up();
	while ((kind = getchar()) != EOF && fread(&len, sizeof(len), 1, stdin) == 1) {
		struct scope *s = scope_new("driver");
		struct rendered r;
		char *source = scope_alloc(s, len + 1);
		if (fread(source, 1, len, stdin) != len)
			return 1;
		if (render_content(s, &r, kind == 'm' ? FORMAT_MARKDOWN : FORMAT_HTML, (struct str){ source, len }) == OK) {
			putchar(strcmp(render_text(s, str_of(r.html)), r.text) == 0 ? '+' : '!');
			put(r.html);
			put(r.text);
			put(r.excerpt);
			put(r.links);
			put(r.images);
		} else {
			putchar('-');
			put(s->error->detail);
		}
		fflush(stdout);
		scope_free(s);
	}
	return 0;
}
