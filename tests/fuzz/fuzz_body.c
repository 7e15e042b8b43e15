/* fuzz_body.c - any body: refused, or taken apart into bounded pieces of text. The first line is the Content-Type. */
#include "http/parse.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
claim(bool holds)
{
	if (!holds)
		abort();
}

static bool
is_text(struct str s)
{
	return utf8_valid(s) && (s.len == 0 || memchr(s.p, '\0', s.len) == NULL);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct scope *s = scope_new("fuzz");
	struct str all = { (const char *)data, size }, charset;
	size_t eol = str_find(all, '\n'), count;
	struct str type = str_part(all, 0, eol), body = str_part(all, eol + 1, size);
	const struct header fields[] = { { STR("Cookie"), type } };
	const struct request request = { .headers = fields, .header_count = 1 };
	struct form_field *form;
	struct part *parts;
	const char *essence;

	if (parse_form(s, body, &form, &count) == OK) {
		claim(count <= 1000);
		for (size_t i = 0; i < count; i++)
			claim(is_text(form[i].name) && is_text(form[i].value));
	}
	if (parse_multipart(s, type, body, &parts, &count) == OK) {
		size_t total = 0;

		claim(count <= 100);
		for (size_t i = 0; i < count; i++) {
			claim(is_text(parts[i].name) && is_text(parts[i].file_name));
			total += parts[i].content.len;
		}
		claim(total <= size);
	}
	if (parse_media_type(s, type, &essence, &charset))
		claim(strchr(essence, '/') != NULL && strpbrk(essence, " ;\t\"") == NULL);
	claim(parse_cookie(&request, "stele").len <= type.len);
	(void)etag_none_match_hit(type, "\"a\"");
	(void)etag_match(type, "\"a\"");
	scope_free(s);
	return 0;
}
