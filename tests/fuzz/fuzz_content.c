/* fuzz_content.c - content of any bytes: first byte chooses the format. Checks that the output is bounded and stays as it is when
 * it is rendered again. */
#include "render/markdown.h"

int	 LLVMFuzzerTestOneInput(const uint8_t *, size_t);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct scope *s = scope_new("fuzz");
	struct rendered once, twice;

	if (size > 0) {
		struct str source = { (const char *)data + 1, size - 1 };
		enum format format = data[0] % 2 == 0 ? FORMAT_MARKDOWN : FORMAT_HTML;
		if (render_content(s, &once, format, source) == OK) {
			assert(strlen(once.html) <= size * 8 + 65536);
			assert(strcmp(render_text(s, str_of(once.html)), once.text) == 0);
			assert(strstr(once.html, "<script") == NULL);
			if (render_content(s, &twice, FORMAT_HTML, str_of(once.html)) == OK)
				assert(strcmp(once.html, twice.html) == 0);
		} else {
			assert(s->error != NULL);
		}
	}
	scope_free(s);
	return 0;
}
