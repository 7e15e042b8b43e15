/* fuzz_slug.c - any title: a slug that is one path segment and its own slug. */
#include "core/slug.h"
#include "core/url.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
claim(bool holds)
{
	if (!holds)
		abort();
}

static void
slug_is_sound(struct scope *s, const char *slug)
{
	struct url_form	 form;
	const char	*again;

	claim(strlen(slug) <= SLUG_MAX && utf8_valid(str_of(slug)));
	claim(slug[0] != '-' && strstr(slug, "--") == NULL && strchr(slug, '/') == NULL);
	if (slug[0] == '\0')
		return;
	claim(slug[strlen(slug) - 1] != '-');
	claim(slug_given(s, &again, str_of(slug), "slug") == OK && strcmp(again, slug) == 0);
	claim(url_form(s, &form, str_of(scope_printf(s, "/%s", url_segment(s, str_of(slug))))) == OK && form.is_exact);
	claim(strlen(slug_numbered(s, slug, 12345)) <= SLUG_MAX);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct scope	*s = scope_new("fuzz");
	struct str	 text = { (const char *)data, size };
	const char	*slug;

	if (slug_from_title(s, &slug, text, SLUG_UNICODE) == OK)
		slug_is_sound(s, slug);
	if (slug_from_title(s, &slug, text, SLUG_ASCII) == OK)
		slug_is_sound(s, slug);
	if (slug_given(s, &slug, text, "slug") == OK)
		slug_is_sound(s, slug);
	scope_free(s);
	return 0;
}
