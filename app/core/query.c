/* query.c - pairs of a query in their one form, so that two spellings of a source are the same row. */
#include "core/url.h"
#include "core/percent.h"
#include "base/unicode.h"

static bool	is_plain(struct str);
static void	add_part(struct scope *, struct buf *, struct str raw, bool is_name);
static int	pair_order(const void *, const void *);

struct str
url_pair_form(struct scope *s, struct str pair)
{
	size_t equals = str_find(pair, '=');
	struct str value = str_part(pair, equals + 1, pair.len);
	struct buf b;

	if (is_plain(pair) && (equals == pair.len || value.len > 0))
		return pair;
	buf_init(&b, s->arena);
	add_part(s, &b, str_part(pair, 0, equals), true);
	if (value.len > 0) {
		buf_char(&b, '=');
		add_part(s, &b, value, false);
	}
	return buf_as_str(&b);
}

bool
url_pairs_form(struct scope *s, const char **out, struct str query, size_t max)
{
	struct str *pairs = scope_alloc(s, max * sizeof(*pairs)), pair;
	size_t count = 0;
	struct buf b;

	while (str_next(&query, '&', &pair)) {
		if ((pair = url_pair_form(s, pair)).len == 0)
			continue;
		if (count == max)
			return false;
		pairs[count++] = pair;
	}
	qsort(pairs, count, sizeof(*pairs), pair_order);
	buf_init(&b, s->arena);
	for (size_t i = 0; i < count; i++) {
		if (i > 0 && str_eq(pairs[i], pairs[i - 1]))
			continue;
		if (b.len > 0)
			buf_char(&b, '&');
		buf_str(&b, pairs[i]);
	}
	*out = b.len > 0 ? b.p : NULL;
	return true;
}

static bool
is_plain(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!is_unreserved((unsigned char)s.p[i]) && s.p[i] != '=')
			return false;
	return true;
}

static void
add_part(struct scope *s, struct buf *b, struct str raw, bool is_name)
{
	struct str text = percent_decode(s, raw, true), nfc;

	if (utf8_valid(text) && unicode_nfc(s, &nfc, text) == OK)
		text = nfc;
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.p[i];

		/* '&' and '=' divide, '+' would be read as a blank. */
		if ((is_pchar(c) || c == '/' || c == '?') && c != '&' && c != '+' && (c != '=' || !is_name))
			buf_char(b, text.p[i]);
		else
			percent_add(b, c);
	}
}

static int
pair_order(const void *left, const void *right)
{
	const struct str *a = left, *b = right;
	int order = memcmp(a->p, b->p, a->len < b->len ? a->len : b->len);

	return order != 0 ? order : (a->len > b->len) - (a->len < b->len);
}
