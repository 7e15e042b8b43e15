/* paging.c - reads and writes the number of a page. */
#include "actions/paging.h"
#include "core/percent.h"
#include "store/lists.h"

static bool	is_page_pair(struct scope *, struct str pair, struct str *value);
static int	page_number(struct str text);

bool
paging_read(struct scope *s, struct paging *out, struct str query)
{
	struct str left = query, pair, value;
	struct buf kept;
	bool is_given = false;

	*out = (struct paging){ .page = 1, .query = query };
	buf_init(&kept, s->arena);
	while (str_next(&left, '&', &pair)) {
		if (is_page_pair(s, pair, &value)) {
			if (is_given || (out->page = page_number(value)) == 1) {
				is_given = out->is_respelled = true;
				continue;
			}
			is_given = true;
			if (out->page == 0)
				return false;
			if (!str_eq(pair, paging_query(s, out->page))) {
				out->is_respelled = true;
				pair = paging_query(s, out->page);
			}
		}
		if (kept.len > 0)
			buf_char(&kept, '&');
		buf_str(&kept, pair);
	}
	if (out->is_respelled)
		out->query = buf_as_str(&kept);
	return true;
}

struct str
paging_query(struct scope *s, int n)
{
	return n <= 1 ? (struct str){ NULL, 0 } : str_of(scope_printf(s, "page=%d", n));
}

static bool
is_page_pair(struct scope *s, struct str pair, struct str *value)
{
	size_t equals = str_find(pair, '=');

	*value = percent_decode(s, str_part(pair, equals + 1, pair.len), true);
	return str_is(percent_decode(s, str_part(pair, 0, equals), true), "page");
}

/* Decimal digits alone; 0 when it is none or no page can have it. */
static int
page_number(struct str text)
{
	int n = 0;

	for (size_t i = 0; i < text.len; i++) {
		if (text.p[i] < '0' || text.p[i] > '9')
			return 0;
		n = n * 10 + (text.p[i] - '0');
		if (n > LIST_PAGES_MAX)
			return 0;
	}
	return n;
}
