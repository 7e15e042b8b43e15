/* robots.c - groups and rules of robots.txt, by RFC 9309. */
#include "core/robots.h"
#include "core/percent.h"

#define BOM "\xef\xbb\xbf"

/* The longest rule that matches, of one kind of group: -1 = none. */
struct verdict {
	bool		 has_group;
	int64_t		 allow, disallow;
};

static bool		next_line(struct str *rest, struct str *line);
static bool		read_field(struct str line, struct str *name, struct str *value);
static bool		names_agent(struct str value, const char *agent);
static bool		names_all(struct str value);
static void		weigh(struct scope *, struct verdict *, bool is_allow, struct str pattern, struct str target);
static struct str	pattern_form(struct scope *, struct str pattern);
static bool		matches(struct str pattern, struct str target);

bool
robots_allow(struct scope *s, struct str robots, const char *agent, struct str target)
{
	struct verdict own = { false, -1, -1 }, all = { false, -1, -1 }, *decides;
	bool in_own = false, in_all = false, has_rules = true, is_allow;
	struct str line, name, value;

	if (str_starts(robots, BOM))
		robots = str_part(robots, sizeof(BOM) - 1, robots.len);
	while (next_line(&robots, &line)) {
		if (!read_field(line, &name, &value))
			continue;
		if (str_is_nocase(name, "user-agent")) {
			if (has_rules)
				in_own = in_all = has_rules = false;
			in_own |= names_agent(value, agent);
			in_all |= names_all(value);
			own.has_group |= in_own;
		} else if ((is_allow = str_is_nocase(name, "allow")) || str_is_nocase(name, "disallow")) {
			has_rules = true;
			if (in_own)
				weigh(s, &own, is_allow, value, target);
			if (in_all)
				weigh(s, &all, is_allow, value, target);
		}
	}
	decides = own.has_group ? &own : &all;
	return decides->allow >= decides->disallow;
}

/* A line ends at CR, LF or both. */
static bool
next_line(struct str *rest, struct str *line)
{
	size_t end = 0;

	if (rest->len == 0)
		return false;
	while (end < rest->len && rest->p[end] != '\r' && rest->p[end] != '\n')
		end++;
	*line = str_part(*rest, 0, end);
	*rest = str_part(*rest, end + 1, rest->len);
	return true;
}

/* Crawlers also take "name value", two words without a colon. */
static bool
read_field(struct str line, struct str *name, struct str *value)
{
	size_t end;
	bool has_colon;

	line = str_trim(str_part(line, 0, str_find(line, '#')));
	end = str_find(line, ':');
	has_colon = end < line.len;
	if (!has_colon)
		for (end = 0; end < line.len && line.p[end] != ' ' && line.p[end] != '\t';)
			end++;
	*name = str_trim(str_part(line, 0, end));
	*value = str_trim(str_part(line, end + 1, line.len));
	return name->len > 0 && (has_colon || (str_find(*value, ' ') == value->len && str_find(*value, '\t') == value->len));
}

/* A product token is letters, "-" and "_"; what follows it is a version or a remark. */
static bool
names_agent(struct str value, const char *agent)
{
	size_t len = 0;

	while (len < value.len && (((value.p[len] | 0x20) >= 'a' && (value.p[len] | 0x20) <= 'z') || value.p[len] == '-' || value.p[len] == '_'))
		len++;
	return len > 0 && str_is_nocase(str_part(value, 0, len), agent);
}

static bool
names_all(struct str value)
{
	return value.len > 0 && value.p[0] == '*' && (value.len == 1 || value.p[1] == ' ' || value.p[1] == '\t');
}

static void
weigh(struct scope *s, struct verdict *v, bool is_allow, struct str pattern, struct str target)
{
	int64_t *longest = is_allow ? &v->allow : &v->disallow;

	pattern = pattern_form(s, pattern);
	if (pattern.len > 0 && (int64_t)pattern.len > *longest && matches(pattern, target))
		*longest = (int64_t)pattern.len;
}

/* Octets outside ASCII as escapes, escapes in upper case: as requests are compared. */
static struct str
pattern_form(struct scope *s, struct str pattern)
{
	struct buf b;
	size_t i;
	int octet;

	buf_init(&b, s->arena);
	for (i = 0; i < pattern.len; i++) {
		if ((octet = percent_at(pattern, i)) >= 0) {
			percent_add(&b, (unsigned char)octet);
			i += 2;
		} else if ((unsigned char)pattern.p[i] >= 0x80)
			percent_add(&b, (unsigned char)pattern.p[i]);
		else
			buf_char(&b, pattern.p[i]);
	}
	return buf_as_str(&b);
}

/* "*" stands for any octets, "$" at the end for the end; without it the pattern is a beginning. */
static bool
matches(struct str pattern, struct str target)
{
	bool is_whole = str_ends(pattern, "$");
	size_t len = pattern.len - is_whole, at = 0, star = SIZE_MAX, from = 0, i = 0;

	for (;;) {
		if (at == len && (!is_whole || i == target.len))
			return true;
		if (at < len && pattern.p[at] == '*') {
			star = at++;
			from = i;
		} else if (at < len && i < target.len && pattern.p[at] == target.p[i]) {
			at++;
			i++;
		} else if (star != SIZE_MAX && from < target.len) {
			at = star + 1;
			i = ++from;
		} else
			return false;
	}
}
