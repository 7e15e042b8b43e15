/* fuzz_template.c - template sources of any bytes, rendered over a small view. */
#include <jansson.h>
#include <sys/stat.h>
#include "render/template.h"

int	 LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static char folder[] = "/tmp/stele-fuzz-XXXXXX";
static char file[64];

static void
clean_up(void)
{
	unlink(file);
	rmdir(folder);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static json_t *view;
	struct scope *s = scope_new("fuzz");
	struct templates *t = NULL;
	struct str out;

	if (view == NULL) {
		view = json_loads("{\"a\":\"<&>\",\"b\":[1,2.5,{\"a\":\"x\"}],\"c\":{\"d\":{\"e\":true}},\"n\":null,\"x_html\":\"<b>\"}", 0, NULL);
		assert(mkdtemp(folder) != NULL);
		snprintf(file, sizeof(file), "%s/a.mustache", folder);
		atexit(clean_up);
	}
	FILE *f = fopen(file, "w");
	assert(f != NULL);
	fwrite(data, 1, size, f);
	fclose(f);
	if (templates_load(s, &t, folder) == OK) {
		if (template_render(s, t, "a", view, &out) == OK)
			assert(out.len <= 8 * 1024 * 1024);
		templates_free(t);
	}
	scope_free(s);
	return 0;
}
