/* sanitize_values.c - what an attribute may say: URLs, words, numbers, ids. */
#include "base/unicode.h"
#include "render/sanitize.h"

#define ID_MAX 240

enum check { CHECK_LINK, CHECK_FILE, CHECK_ID, CHECK_TEXT, CHECK_LANGUAGE, CHECK_KEYWORD, CHECK_RELATIONS, CHECK_NUMBER,
	CHECK_FLAG, CHECK_TYPE, CHECK_CLASS, CHECK_MOMENT };

static const struct attribute_info {
	const char	*name;
	enum check	 check;
} attribute_infos[ATTRIBUTE_COUNT] = {
#define ATTRIBUTE(name, text, check) [ATTRIBUTE_##name] = { text, CHECK_##check },
#include "render/attributes.def"
#undef ATTRIBUTE
};

/* Blank-separated, with blanks at both ends, so that " word " can be searched. */
static const char *const keywords[ATTRIBUTE_COUNT] = {
	[ATTRIBUTE_DIR] = " ltr rtl auto ",
	[ATTRIBUTE_SCOPE] = " row col rowgroup colgroup ",
	[ATTRIBUTE_PRELOAD] = " none metadata auto ",
	[ATTRIBUTE_KIND] = " subtitles captions descriptions chapters ",
};
static const char relations[] = " author bookmark external license me nofollow noopener noreferrer sponsored tag ugc ";

const char *
attribute_name(enum attribute at)
{
	return attribute_infos[at].name;
}

bool
attribute_find(const char *name, enum attribute *out)
{
	for (size_t i = 0; i < ATTRIBUTE_COUNT; i++)
		if (strcmp(attribute_infos[i].name, name) == 0) {
			*out = (enum attribute)i;
			return true;
		}
	return false;
}

void
attributes_give(struct attributes *a, enum attribute at, struct str value)
{
	a->given |= UINT32_C(1) << at;
	a->value[at] = value;
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* What follows the first of ":/?#" when that is a colon makes the text before it a scheme. */
static bool
scheme_allowed(struct str url, bool is_link)
{
	static const char *const allowed[] = { "http", "https", "mailto", "tel" };
	size_t colon = 0;

	while (colon < url.len && strchr(":/?#", url.p[colon]) == NULL)
		colon++;
	if (colon == url.len || url.p[colon] != ':')
		return true;
	for (size_t i = 0; i < (is_link ? COUNT(allowed) : 2); i++)
		if (str_is_nocase(str_part(url, 0, colon), allowed[i]))
			return true;
	return false;
}

/* The characters that md4c's own renderer leaves as they are, so that both ways through Markdown give the same; the others
 * are percent-encoded, so the result is ASCII. */
static bool
stands_in_url(unsigned char c)
{
	static const char marks[] = "~-_.+!*(),#@?=;:/$&";

	return c < 0x80 && (is_digit((char)c) || is_letter((char)c) || memchr(marks, c, sizeof(marks) - 1) != NULL);
}

bool
content_url(struct buf *out, struct str raw, bool is_link)
{
	static const char hex[] = "0123456789ABCDEF";
	size_t from = 0, to = raw.len;

	out->len = 0;
	while (from < to && (unsigned char)raw.p[from] <= ' ')
		from++;
	while (to > from && (unsigned char)raw.p[to - 1] <= ' ')
		to--;
	for (size_t i = from; i < to;) {
		size_t run = i;
		while (run < to && stands_in_url((unsigned char)raw.p[run]))
			run++;
		buf_add(out, raw.p + i, run - i);
		if ((i = run) == to)
			break;
		unsigned char c = (unsigned char)raw.p[i++];
		if (c == '%') {
			/* md4c's renderer encodes the tilde, which RFC 3986 2.3 has as an unreserved character. */
			bool tilde = str_is_nocase(str_part(raw, i, i + 2), "7e");
			buf_char(out, tilde ? '~' : '%');
			i += tilde ? 2 : 0;
			continue;
		}
		/* Browsers drop tab and newlines wherever they stand; no control has business in a URL. */
		if (c < ' ' || c == 0x7F)
			continue;
		buf_char(out, '%');
		buf_char(out, hex[c >> 4]);
		buf_char(out, hex[c & 15]);
	}
	return scheme_allowed(buf_as_str(out), is_link);
}

static bool
check_id(struct buf *out, struct str v)
{
	v = str_trim(v);
	if (v.len == 0 || v.len > ID_MAX)
		return false;
	for (size_t i = 0; i < v.len;) {
		int32_t c = utf8_next(v, &i);
		if (c < 0 || (c < 0x80 ? !is_digit((char)c) && !is_letter((char)c) && strchr("-_.:", (char)c) == NULL :
		    !unicode_is_letter_or_digit(c)))
			return false;
	}
	buf_str(out, v);
	return true;
}

/* Letters, digits and `marks`, at most `max` bytes. */
static bool
check_characters(struct buf *out, struct str v, const char *marks, size_t max)
{
	v = str_trim(v);
	if (v.len == 0 || v.len > max)
		return false;
	for (size_t i = 0; i < v.len; i++)
		if (!is_digit(v.p[i]) && !is_letter(v.p[i]) && (v.p[i] == '\0' || strchr(marks, v.p[i]) == NULL))
			return false;
	buf_str(out, v);
	return true;
}

static bool
check_number(struct buf *out, enum attribute at, struct str v)
{
	bool may_be_negative = at == ATTRIBUTE_START || at == ATTRIBUTE_VALUE;
	int64_t n;

	v = str_trim(v);
	if (v.len > 9 || !parse_int64(v, &n) || (n < 0 && !may_be_negative))
		return false;
	if ((at == ATTRIBUTE_COLSPAN || at == ATTRIBUTE_ROWSPAN) && (n < 1 || n > 1000))
		return false;
	buf_printf(out, "%" PRId64, n);
	return true;
}

/* Adds the words of `v` that are in `list`, in lower case, each once. */
static bool
check_words(struct buf *out, struct str v, const char *list, bool many)
{
	size_t i = 0;

	while (i < v.len) {
		char word[20];
		size_t n = 0, len = 0;
		while (i < v.len && (unsigned char)v.p[i] <= ' ')
			i++;
		for (; i < v.len && (unsigned char)v.p[i] > ' '; i++, len++)
			if (n + 3 < sizeof(word))
				word[++n] = is_letter(v.p[i]) ? v.p[i] | 0x20 : v.p[i];
		if (len == 0 || len > n)
			continue;
		word[0] = word[n + 1] = ' ';
		if (strstr(list, str_dup(out->arena, (struct str){ word, n + 2 })) == NULL)
			continue;
		struct str known = { word + 1, n };
		if (out->len > 0 && (!many || str_find_str(buf_as_str(out), known) < out->len))
			continue;
		if (out->len > 0)
			buf_char(out, ' ');
		buf_str(out, known);
	}
	return out->len > 0;
}

/* On code the language, on cells the side; other class names would only collide with the theme's. */
static bool
check_class(struct buf *out, enum element el, struct str v)
{
	size_t i = 0;

	if (el != ELEMENT_CODE)
		return check_words(out, v, " align-left align-center align-right ", false);
	while (i < v.len) {
		size_t from;
		while (i < v.len && (unsigned char)v.p[i] <= ' ')
			i++;
		for (from = i; i < v.len && (unsigned char)v.p[i] > ' ';)
			i++;
		struct str word = str_part(v, from, i);
		size_t prefix = str_starts(word, "language-") ? 9 : str_starts(word, "lang-") ? 5 : 0;
		if (prefix == 0)
			continue;
		buf_text(out, "language-");
		if (check_characters(out, str_part(word, prefix, word.len), "-_+#.", 40))
			return true;
		out->len = 0;
	}
	return false;
}

static bool
check_type(struct buf *out, enum element el, struct str v)
{
	if (el != ELEMENT_OL)
		return check_characters(out, v, "/+-.;= \",", 100);
	v = str_trim(v);
	if (v.len != 1 || strchr("1aAiI", v.p[0]) == NULL)
		return false;
	buf_str(out, v);
	return true;
}

bool
attribute_check(struct buf *out, enum element el, enum attribute at, struct str value)
{
	out->len = 0;
	switch (attribute_infos[at].check) {
	case CHECK_LINK:
		return content_url(out, value, true);
	case CHECK_FILE:
		return content_url(out, value, false) && out->len > 0;
	case CHECK_ID:
		return check_id(out, value);
	case CHECK_TEXT:
		text_clean(out, value);
		return out->len > 0 || at == ATTRIBUTE_ALT;
	case CHECK_LANGUAGE:
		return check_characters(out, value, "-", 35);
	case CHECK_KEYWORD:
		return check_words(out, value, keywords[at], false);
	case CHECK_RELATIONS:
		return check_words(out, value, relations, true);
	case CHECK_NUMBER:
		return check_number(out, at, value);
	case CHECK_FLAG:
		return true;
	case CHECK_TYPE:
		return check_type(out, el, value);
	case CHECK_CLASS:
		return check_class(out, el, value);
	case CHECK_MOMENT:
		return check_characters(out, value, ":-+. ", 40);
	}
	return false;
}
