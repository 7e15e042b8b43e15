/* idempotency.c - the key, the request hash and the rules per route. */
#include "core/idempotency.h"
#include "core/percent.h"
#include "base/hash.h"

#define NIL_UUID "00000000-0000-0000-0000-000000000000"

struct ranked_field {
	const struct form_field	*field;
	size_t			 rank;	/* place in the form: qsort is not stable */
};

static const struct write_rule rules[WRITE_COUNT] = {
#define WRITE(id, method, route, carrier, retention, action, reason)                                       \
	[WRITE_##id] = { method, route, CARRIER_##carrier, RETENTION_##retention, ACTION_##action, reason },
#include "core/writes.def"
#undef WRITE
};

static struct str	blanks_off(struct str);
static bool		key_char(char);
static int		field_order(const void *, const void *);
static void		form_text_add(struct buf *, struct str);

const struct write_rule *
write_rule(enum write_id id)
{
	assert((unsigned)id < WRITE_COUNT);
	return &rules[id];
}

enum status
key_from_header(struct scope *s, const char **out, const struct str *values, size_t count)
{
	struct str	value;

	*out = NULL;
	if (count == 0)
		return OK;
	if (count > 1)
		return fail(s, ERR_KEY_INVALID, NULL, "there is more than one Idempotency-Key");
	value = blanks_off(values[0]);
	if (value.len > 0 && value.p[0] == '"') {
		/* RFC 8941 3.3.3. What a string may escape, a key may not hold, so nothing needs unescaping. */
		if (value.len < 2 || value.p[value.len - 1] != '"')
			return fail(s, ERR_KEY_INVALID, NULL, "the string does not end in '\"', or has parameters");
		value = str_part(value, 1, value.len - 1);
	}
	TRY(key_check(s, value));
	*out = str_dup(s->arena, value);
	return OK;
}

enum status
key_check(struct scope *s, struct str key)
{
	size_t	i;

	if (key.len < KEY_MIN || key.len > KEY_MAX)
		return fail(s, ERR_KEY_INVALID, NULL, "a key has %d to %d characters, this one %zu", KEY_MIN,
		    KEY_MAX, key.len);
	for (i = 0; i < key.len; i++) {
		if (!key_char(key.p[i]))
			return fail(s, ERR_KEY_INVALID, NULL, "a key holds only A-Z a-z 0-9 . _ : -");
	}
	if (str_is(key, NIL_UUID))
		return fail(s, ERR_KEY_INVALID, NULL, "the nil UUID is no key");
	return OK;
}

void
request_hash(struct scope *s, char out[65], const struct request_print *print)
{
	const struct str parts[] = { STR("v1"), str_of(print->method), str_of(print->route), print->path_params,
		print->query, str_of(print->media), print->if_match, print->body };
	struct sha256	*digest = sha256_new(s);
	size_t		 i;

	for (i = 0; i < COUNT(parts); i++) {
		sha256_add(digest, parts[i].p, parts[i].len);
		sha256_add(digest, "\n", 1);
	}
	sha256_hex(digest, out);
}

struct str
form_canonical(struct scope *s, const struct form_field *fields, size_t count, const char *without)
{
	struct ranked_field	*ranked = scope_alloc(s, count * sizeof(*ranked));
	struct buf		 out;
	size_t			 i, n = 0;

	for (i = 0; i < count; i++) {
		if (without == NULL || !str_is(fields[i].name, without))
			ranked[n++] = (struct ranked_field){ &fields[i], i };
	}
	qsort(ranked, n, sizeof(*ranked), field_order);
	buf_init(&out, s->arena);
	for (i = 0; i < n; i++) {
		if (i > 0)
			buf_char(&out, '&');
		form_text_add(&out, ranked[i].field->name);
		buf_char(&out, '=');
		form_text_add(&out, ranked[i].field->value);
	}
	return buf_as_str(&out);
}

static struct str
blanks_off(struct str text)
{
	while (text.len > 0 && (text.p[0] == ' ' || text.p[0] == '\t'))
		text = str_part(text, 1, text.len);
	while (text.len > 0 && (text.p[text.len - 1] == ' ' || text.p[text.len - 1] == '\t'))
		text.len--;
	return text;
}

static bool
key_char(char c)
{
	return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
	    c == ':' || c == '-';
}

static int
field_order(const void *left, const void *right)
{
	const struct ranked_field	*a = left, *b = right;
	struct str			 x = a->field->name, y = b->field->name;
	size_t				 shorter = x.len < y.len ? x.len : y.len;
	int				 order = shorter > 0 ? memcmp(x.p, y.p, shorter) : 0;

	if (order == 0 && x.len != y.len)
		order = x.len < y.len ? -1 : 1;
	if (order == 0)
		order = a->rank < b->rank ? -1 : 1;
	return order;
}

/* Browsers differ in the line ends they send from text areas; escapes keep names, values and fields apart. */
static void
form_text_add(struct buf *out, struct str text)
{
	size_t	i;

	for (i = 0; i < text.len; i++) {
		if (text.p[i] == '\r' || text.p[i] == '\n') {
			buf_text(out, "%0D%0A");
			if (text.p[i] == '\r' && i + 1 < text.len && text.p[i + 1] == '\n')
				i++;
		} else if (is_unreserved((unsigned char)text.p[i])) {
			buf_char(out, text.p[i]);
		} else {
			percent_add(out, (unsigned char)text.p[i]);
		}
	}
}
