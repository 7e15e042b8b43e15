/* json.c - strict JSON in one pass: the value, and the canonical bytes a request hash covers. */
#include "core/idempotency.h"

#define DEPTH_MAX 32
#define NUMBER_SHORT 64
#define EXPONENT_MAX INT64_C(999999999999)

/* A member of an object that is being read: its name, and where it stands in the canonical text. */
struct member {
	struct str	 name;
	size_t		 from, len;
};

struct parser {
	struct scope	*scope;
	struct str	 text;
	size_t		 at;
	int		 depth;
	enum status	 status;
	struct buf	 out;		/* canonical */
	struct buf	 decoded;	/* the string read last, when it had escapes */
	struct member	*members;	/* of all open objects, a stack */
	size_t		 member_count, member_cap;
	const char	*without;	/* top-level member to take out */
	json_t		*taken;
};

static json_t		*value_read(struct parser *);
static json_t		*object_read(struct parser *);
static bool		 member_read(struct parser *, json_t *object);
static void		 member_push(struct parser *, const struct member *);
static bool		 members_sort(struct parser *, size_t base, size_t start);
static void		 members_rewrite(struct parser *, const struct member *, size_t count, size_t start);
static json_t		*array_read(struct parser *);
static json_t		*string_read(struct parser *);
static bool		 string_scan(struct parser *, struct str *out);
static size_t		 run_end(struct str, size_t i);
static bool		 escape_read(struct parser *);
static int		 hex4_read(struct parser *);
static void		 string_print(struct parser *, struct str);
static json_t		*number_read(struct parser *);
static char		*number_copy(struct parser *, struct str, char room[NUMBER_SHORT]);
static json_t		*number_refuse(struct parser *);
static bool		 digits_skip(struct parser *);
static bool		 decimal_print(struct parser *, struct str number);
static json_t		*word_read(struct parser *, const char *word, json_t *value);
static void		 blanks_skip(struct parser *);
static int		 peek(const struct parser *);
static json_t		*refuse(struct parser *, const char *what);
static int		 member_order(const void *, const void *);
static int		 name_order(struct str, struct str);

enum status
json_read(struct scope *s, json_t **value, struct str *canonical, struct str body, const char *without,
    const char **taken)
{
	struct parser	p = { .scope = s, .text = body, .without = without };
	json_t		*root;

	*value = NULL;
	if (taken != NULL)
		*taken = NULL;
	if (!utf8_valid(body))
		return fail(s, ERR_MALFORMED_JSON, NULL, "the body is not UTF-8");
	if (str_starts(body, "\xEF\xBB\xBF"))
		return fail(s, ERR_MALFORMED_JSON, NULL, "the body begins with a byte order mark");
	buf_init(&p.out, s->arena);
	buf_init(&p.decoded, s->arena);
	root = value_read(&p);
	if (root != NULL) {
		blanks_skip(&p);
		if (p.at < body.len) {
			refuse(&p, "something follows the document");
			json_decref(root);
			root = NULL;
		}
	}
	if (root != NULL && p.taken != NULL && !json_is_string(p.taken))
		p.status = fail(s, ERR_KEY_INVALID, without, "is not a string");
	else if (root != NULL && p.taken != NULL && strlen(json_string_value(p.taken)) != json_string_length(p.taken))
		p.status = fail(s, ERR_KEY_INVALID, without, "has a NUL");
	else if (root != NULL && p.taken != NULL && taken != NULL)
		*taken = arena_strdup(s->arena, json_string_value(p.taken));
	json_decref(p.taken);
	if (p.status != OK) {
		json_decref(root);
		return p.status;
	}
	*value = root;
	*canonical = buf_as_str(&p.out);
	return OK;
}

/* Each reader appends the canonical form to `out` and answers a new reference, or NULL with `status` set. */
static json_t *
value_read(struct parser *p)
{
	blanks_skip(p);
	switch (peek(p)) {
	case '{':
		return object_read(p);
	case '[':
		return array_read(p);
	case '"':
		return string_read(p);
	case 't':
		return word_read(p, "true", json_true());
	case 'f':
		return word_read(p, "false", json_false());
	case 'n':
		return word_read(p, "null", json_null());
	default:
		return number_read(p);
	}
}

static json_t *
object_read(struct parser *p)
{
	size_t	base = p->member_count, start = p->out.len + 1;
	json_t	*object;
	bool	more;

	if (++p->depth > DEPTH_MAX)
		return refuse(p, "nested too deep");
	object = json_object();
	p->at++;
	buf_char(&p->out, '{');
	blanks_skip(p);
	more = peek(p) != '}';
	while (more) {
		if (!member_read(p, object))
			goto refused;
		blanks_skip(p);
		more = peek(p) == ',';
		if (more)
			p->at++;
	}
	if (peek(p) != '}') {
		refuse(p, "',' or '}' expected");
		goto refused;
	}
	p->at++;
	if (!members_sort(p, base, start))
		goto refused;
	buf_char(&p->out, '}');
	p->depth--;
	return object;
refused:
	json_decref(object);
	return NULL;
}

static bool
member_read(struct parser *p, json_t *object)
{
	struct member	member = { .from = p->out.len };
	json_t		*value;

	blanks_skip(p);
	if (peek(p) != '"') {
		refuse(p, "a member name expected");
		return false;
	}
	if (!string_scan(p, &member.name))
		return false;
	if (member.name.len > 0 && memchr(member.name.p, '\0', member.name.len) != NULL) {
		refuse(p, "a member name has a NUL");
		return false;
	}
	string_print(p, member.name);
	if (member.name.p == p->decoded.p)	/* the next string overwrites it */
		member.name.p = str_dup(p->scope->arena, member.name);
	blanks_skip(p);
	if (peek(p) != ':') {
		refuse(p, "':' expected");
		return false;
	}
	p->at++;
	buf_char(&p->out, ':');
	if ((value = value_read(p)) == NULL)
		return false;
	buf_char(&p->out, ',');
	if (p->depth == 1 && p->without != NULL && str_is(member.name, p->without)) {
		p->out.len = member.from;
		json_decref(p->taken);
		p->taken = value;
	} else if (json_object_setn_new_nocheck(object, member.name.p, member.name.len, value) != 0) {
		refuse(p, "a member cannot be kept");
		return false;
	}
	member.len = p->out.len - member.from;
	member_push(p, &member);
	return true;
}

static void
member_push(struct parser *p, const struct member *member)
{
	struct member	*grown;

	if (p->member_count == p->member_cap) {
		p->member_cap = p->member_cap == 0 ? 64 : p->member_cap * 2;
		grown = scope_alloc(p->scope, p->member_cap * sizeof(*grown));
		if (p->member_count > 0)
			memcpy(grown, p->members, p->member_count * sizeof(*grown));
		p->members = grown;
	}
	p->members[p->member_count++] = *member;
}

/* Put the members of the innermost object in order. Each ends in a comma; the last one goes. */
static bool
members_sort(struct parser *p, size_t base, size_t start)
{
	struct member	*members;
	size_t		 count = p->member_count - base, i;
	bool		 in_order = true;

	if (count == 0)
		return true;
	members = p->members + base;
	p->member_count = base;
	for (i = 1; i < count && in_order; i++)
		in_order = name_order(members[i - 1].name, members[i].name) < 0;
	if (!in_order) {
		qsort(members, count, sizeof(*members), member_order);
		for (i = 1; i < count; i++) {
			if (name_order(members[i - 1].name, members[i].name) == 0) {
				refuse(p, "a member name occurs twice");
				return false;
			}
		}
		members_rewrite(p, members, count, start);
	}
	if (p->out.len > start)
		p->out.len--;
	return true;
}

/* The same pieces in another order: the text does not grow, so the copy can be given back. */
static void
members_rewrite(struct parser *p, const struct member *members, size_t count, size_t start)
{
	struct arena_mark	 mark = arena_mark(p->scope->arena);
	const char		*copy = arena_strndup(p->scope->arena, p->out.p + start, p->out.len - start);
	size_t			 i, to = start;

	for (i = 0; i < count; i++) {
		memcpy(p->out.p + to, copy + (members[i].from - start), members[i].len);
		to += members[i].len;
	}
	arena_rewind(p->scope->arena, mark);
}

static json_t *
array_read(struct parser *p)
{
	json_t	*array, *value;
	bool	more;

	if (++p->depth > DEPTH_MAX)
		return refuse(p, "nested too deep");
	array = json_array();
	p->at++;
	buf_char(&p->out, '[');
	blanks_skip(p);
	more = peek(p) != ']';
	while (more) {
		if ((value = value_read(p)) == NULL)
			goto refused;
		if (json_array_append_new(array, value) != 0) {
			refuse(p, "a value cannot be kept");
			goto refused;
		}
		blanks_skip(p);
		more = peek(p) == ',';
		if (more) {
			p->at++;
			buf_char(&p->out, ',');
		}
	}
	if (peek(p) != ']') {
		refuse(p, "',' or ']' expected");
		goto refused;
	}
	p->at++;
	buf_char(&p->out, ']');
	p->depth--;
	return array;
refused:
	json_decref(array);
	return NULL;
}

static json_t *
string_read(struct parser *p)
{
	struct str	text;

	if (!string_scan(p, &text))
		return NULL;
	string_print(p, text);
	return json_stringn_nocheck(text.p, text.len);
}

/* The string at '"', decoded: a piece of the body when it has no escapes, else in p->decoded until the next one. */
static bool
string_scan(struct parser *p, struct str *out)
{
	size_t		from = ++p->at;
	bool		has_escapes = false;
	unsigned char	c;

	for (;;) {
		p->at = run_end(p->text, p->at);
		if (p->at == p->text.len || (c = (unsigned char)p->text.p[p->at]) < 0x20) {
			refuse(p, p->at == p->text.len ? "a string does not end" : "a control character in a string");
			return false;
		}
		if (c == '"' && !has_escapes) {
			*out = (struct str){ p->text.p + from, p->at++ - from };
			return true;
		}
		if (!has_escapes) {
			p->decoded.len = 0;
			has_escapes = true;
		}
		buf_add(&p->decoded, p->text.p + from, p->at - from);
		p->at++;
		if (c == '"') {
			*out = buf_as_str(&p->decoded);
			return true;
		}
		if (!escape_read(p))
			return false;
		from = p->at;
	}
}

/* Where the next quote, backslash or control character stands. */
static size_t
run_end(struct str text, size_t i)
{
	while (i < text.len && (unsigned char)text.p[i] >= 0x20 && text.p[i] != '"' && text.p[i] != '\\')
		i++;
	return i;
}

/* What follows a backslash. */
static bool
escape_read(struct parser *p)
{
	static const char	from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	int			c = peek(p), high, low = -1;
	const char		*plain;

	p->at++;
	if (c != 'u') {
		plain = c > 0 ? strchr(from, c) : NULL;
		if (plain == NULL) {
			refuse(p, "an escape that JSON does not have");
			return false;
		}
		buf_char(&p->decoded, to[plain - from]);
		return true;
	}
	high = hex4_read(p);
	if (high >= 0xd800 && high <= 0xdbff && str_starts(str_part(p->text, p->at, p->text.len), "\\u")) {
		p->at += 2;
		low = hex4_read(p);
		if (low >= 0xdc00 && low <= 0xdfff)
			high = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
	}
	if (high < 0 || (high >= 0xd800 && high <= 0xdfff)) {
		refuse(p, high < 0 ? "\\u without four hex digits" : "a lone surrogate");
		return false;
	}
	buf_utf8(&p->decoded, high);
	return true;
}

static int
hex4_read(struct parser *p)
{
	int	value = 0, i, c;

	for (i = 0; i < 4; i++, p->at++) {
		c = peek(p);
		if (c >= '0' && c <= '9')
			value = value * 16 + c - '0';
		else if ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))
			value = value * 16 + (c | 0x20) - 'a' + 10;
		else
			return -1;
	}
	return value;
}

static void
string_print(struct parser *p, struct str text)
{
	bool		is_plain = text.p != p->decoded.p;
	size_t		i, from = 0;
	unsigned char	c;

	buf_char(&p->out, '"');
	for (i = 0; !is_plain && i < text.len; i++) {
		c = (unsigned char)text.p[i];
		if (c >= 0x20 && c != '"' && c != '\\')
			continue;
		buf_add(&p->out, text.p + from, i - from);
		if (c >= 0x20) {
			buf_char(&p->out, '\\');
			buf_char(&p->out, (char)c);
		} else {
			buf_printf(&p->out, "\\u%04x", c);
		}
		from = i + 1;
	}
	buf_add(&p->out, text.p + from, text.len - from);
	buf_char(&p->out, '"');
}

static json_t *
number_read(struct parser *p)
{
	size_t		from = p->at;
	struct str	text;
	int64_t		integer;
	double		real;
	bool		is_integer = true;
	char		copy[NUMBER_SHORT];

	if (peek(p) == '-')
		p->at++;
	if (peek(p) == '0')
		p->at++;
	else if (!digits_skip(p))
		return number_refuse(p);
	if (peek(p) == '.') {
		is_integer = false;
		p->at++;
		if (!digits_skip(p))
			return number_refuse(p);
	}
	if (peek(p) == 'e' || peek(p) == 'E') {
		is_integer = false;
		p->at++;
		if (peek(p) == '+' || peek(p) == '-')
			p->at++;
		if (!digits_skip(p))
			return number_refuse(p);
	}
	text = str_part(p->text, from, p->at);
	if (!decimal_print(p, text))
		return refuse(p, "a number out of range");
	if (is_integer && parse_int64(text, &integer))
		return json_integer(integer);
	real = strtod(number_copy(p, text, copy), NULL);
	if (real - real != 0.0)		/* infinite */
		return refuse(p, "a number out of range");
	return json_real(real);
}

/* The text NUL-terminated: in `room` when it is short, so that a million numbers take no memory. */
static char *
number_copy(struct parser *p, struct str number, char room[NUMBER_SHORT])
{
	if (number.len >= NUMBER_SHORT)
		return str_dup(p->scope->arena, number);
	memcpy(room, number.p, number.len);
	room[number.len] = '\0';
	return room;
}

static json_t *
number_refuse(struct parser *p)
{
	return refuse(p, p->at == p->text.len ? "the document does not end" : "a value expected");
}

static bool
digits_skip(struct parser *p)
{
	size_t	from = p->at;

	while (peek(p) >= '0' && peek(p) <= '9')
		p->at++;
	return p->at > from;
}

/* The exact value as its digits without zeros at either end and a power of ten: 100, 1e2 and 100.0 are "1e2". Never written out,
 * so 1e400 stays short. False when the exponent is absurd. */
static bool
decimal_print(struct parser *p, struct str number)
{
	struct str	 mantissa = number, exponent_text = { NULL, 0 };
	char		 copy[NUMBER_SHORT], *digits = number_copy(p, number, copy);
	size_t		 i, n = 0, fraction = 0, zeros = 0;
	int64_t		 exponent = 0;
	bool		 seen_point = false;

	for (i = 0; i < number.len; i++) {
		if (number.p[i] == 'e' || number.p[i] == 'E') {
			mantissa = str_part(number, 0, i);
			exponent_text = str_part(number, i + 1 + (number.p[i + 1] == '+'), number.len);
			break;
		}
	}
	for (i = 0; i < mantissa.len; i++) {
		if (mantissa.p[i] == '.') {
			seen_point = true;
		} else if (mantissa.p[i] != '-') {
			fraction += seen_point;
			if (n > 0 || mantissa.p[i] != '0')
				digits[n++] = mantissa.p[i];
		}
	}
	if (n == 0) {
		buf_char(&p->out, '0');
		return true;
	}
	while (digits[n - 1 - zeros] == '0')
		zeros++;
	if (exponent_text.len > 0 && !parse_int64(exponent_text, &exponent))
		return false;
	if (exponent > EXPONENT_MAX || exponent < -EXPONENT_MAX)
		return false;
	exponent += (int64_t)zeros - (int64_t)fraction;
	if (number.p[0] == '-')
		buf_char(&p->out, '-');
	buf_add(&p->out, digits, n - zeros);
	if (exponent != 0)
		buf_printf(&p->out, "e%" PRId64, exponent);
	return true;
}

static json_t *
word_read(struct parser *p, const char *word, json_t *value)
{
	if (!str_starts(str_part(p->text, p->at, p->text.len), word))
		return refuse(p, "a value expected");
	p->at += strlen(word);
	buf_text(&p->out, word);
	return value;
}

static void
blanks_skip(struct parser *p)
{
	int	c;

	while ((c = peek(p)) == ' ' || c == '\n' || c == '\r' || c == '\t')
		p->at++;
}

/* The next byte, or -1 at the end. */
static int
peek(const struct parser *p)
{
	return p->at < p->text.len ? (unsigned char)p->text.p[p->at] : -1;
}

static json_t *
refuse(struct parser *p, const char *what)
{
	p->status = fail(p->scope, ERR_MALFORMED_JSON, NULL, "at byte %zu: %s", p->at, what);
	return NULL;
}

static int
member_order(const void *left, const void *right)
{
	const struct member	*a = left, *b = right;

	return name_order(a->name, b->name);
}

static int
name_order(struct str a, struct str b)
{
	size_t	shorter = a.len < b.len ? a.len : b.len;
	int	order = shorter > 0 ? memcmp(a.p, b.p, shorter) : 0;

	if (order != 0 || a.len == b.len)
		return order;
	return a.len < b.len ? -1 : 1;
}
