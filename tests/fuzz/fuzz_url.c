/* fuzz_url.c - any address: refused, or brought into a form that is its own form and names no other host. */
#include "core/reserved.h"
#include "core/url.h"

#define ORIGIN "https://ex.com"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
claim(bool holds)
{
	if (!holds)
		abort();
}

static void
path_is_sound(struct scope *s, const struct url_form *form)
{
	struct url_form	again;
	size_t		i;

	claim(form->path[0] == '/' && form->path[1] != '/' && strlen(form->path) <= URL_PATH_MAX);
	for (i = 0; form->path[i] != '\0'; i++)
		claim(form->path[i] > ' ' && form->path[i] < 0x7f && form->path[i] != '\\');
	claim(url_form(s, &again, str_of(form->path)) == OK);
	claim(again.is_exact && !again.had_slash && strcmp(again.path, form->path) == 0 && strcmp(again.fold, form->fold) == 0);
	claim(url_form(s, &again, str_of(url_decode_for_people(s, str_of(form->path)))) == OK);
	claim(strcmp(again.path, form->path) == 0);
	claim(path_is_reserved(s, form->path, NULL) == path_is_reserved(s, again.path, NULL));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct scope	*s = scope_new("fuzz");
	struct str	 text = { (const char *)data, size }, query;
	struct url_form	 form;
	struct url_pair	*pairs;
	const char	*once, *twice;
	size_t		 count;

	if (url_form(s, &form, text) == OK)
		path_is_sound(s, &form);
	if (url_form_own(s, &form, &query, text, ORIGIN, "source") == OK) {
		path_is_sound(s, &form);
		claim(url_absolute(s, &once, str_of(url_public(s, ORIGIN, form.path, false, (struct str){ NULL, 0 })), "x") != OK ||
		    str_starts(str_of(once), ORIGIN "/"));
	}
	if (url_absolute(s, &once, text, "target") == OK)
		claim(url_absolute(s, &twice, str_of(once), "target") == OK && strcmp(once, twice) == 0);
	url_query(s, text, &pairs, &count);
	claim(count <= 100);
	scope_free(s);
	return 0;
}
