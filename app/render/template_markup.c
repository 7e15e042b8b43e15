/* template_markup.c - follows the markup around a template's tags, to refuse values where escaping cannot make them safe. */
#include "render/template_ops.h"

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f';
}

static bool
name_is(const struct markup *m, const char *name)
{
	return m->name_len == strlen(name) && strncasecmp(m->name, name, m->name_len) == 0;
}

/* A '>' outside quotes: after <script> and <style> follows text that is not markup. */
static void
end_tag(struct markup *m)
{
	m->in_name = false;
	m->place = name_is(m, "script") || name_is(m, "style") ? PLACE_RAW : PLACE_DATA;
}

static void
begin_tag(struct markup *m, char c)
{
	if (c == '!') {
		m->place = PLACE_COMMENT;
	} else if (is_letter(c) || c == '/') {
		m->place = PLACE_TAG;
		m->in_name = true;
		m->name_len = 0;
		m->name[m->name_len++] = c;	/* with its slash: "/script" begins no script */
	} else {
		m->place = c == '<' ? PLACE_OPEN : PLACE_DATA;
	}
}

static void
within_tag(struct markup *m, char c)
{
	if (c == '>') {
		end_tag(m);
	} else if (m->place == PLACE_UNQUOTED && !is_blank(c)) {
		return;
	} else if (is_blank(c) || c == '/') {
		m->in_name = false;
		if (m->place != PLACE_EQUALS)
			m->place = PLACE_TAG;
	} else if (m->place == PLACE_EQUALS) {
		m->place = c == '"' ? PLACE_DOUBLE : c == '\'' ? PLACE_SINGLE : PLACE_UNQUOTED;
	} else if (c == '=' && m->place == PLACE_TAG) {
		m->in_name = false;
		m->place = PLACE_EQUALS;
	} else if (m->in_name && m->name_len < sizeof(m->name)) {
		m->name[m->name_len++] = c;
	}
}

void
markup_feed(struct markup *m, struct str text)
{
	for (size_t i = 0; i < text.len; i++) {
		char c = text.p[i];
		struct str rest = { text.p + i, text.len - i };

		switch (m->place) {
		case PLACE_DATA:
			if (c == '<')
				m->place = PLACE_OPEN;
			break;
		case PLACE_OPEN:
			begin_tag(m, c);
			break;
		case PLACE_TAG:
		case PLACE_EQUALS:
		case PLACE_UNQUOTED:
			within_tag(m, c);
			break;
		case PLACE_DOUBLE:
		case PLACE_SINGLE:
			if (c == (m->place == PLACE_DOUBLE ? '"' : '\''))
				m->place = PLACE_TAG;
			break;
		case PLACE_RAW:
			if (c == '<' && rest.len > m->name_len + 1 && rest.p[1] == '/' &&
			    strncasecmp(rest.p + 2, m->name, m->name_len) == 0)
				m->place = PLACE_OPEN;
			break;
		case PLACE_COMMENT:
			/* A declaration (<!doctype html>) ends at its '>' as well; a '>' inside a comment only ends our
			 * watch early, on text. */
			if (c == '>')
				m->place = PLACE_DATA;
			break;
		}
	}
}

const char *
markup_refuses(const struct markup *m, enum op_kind kind)
{
	if (m->place == PLACE_RAW)
		return "no tags inside <script> or <style>: hand data over in a data- attribute";
	if (m->place == PLACE_UNQUOTED || m->place == PLACE_EQUALS)
		return "no tags in an attribute without quotes";
	if (kind == OP_VALUE && (m->place == PLACE_TAG || m->place == PLACE_OPEN))
		return "no values as names of elements or attributes";
	if (kind == OP_RAW && m->place != PLACE_DATA)
		return "markup can only stand between elements, not inside a tag, an attribute or a comment";
	if (kind == OP_PARTIAL && m->place != PLACE_DATA && m->place != PLACE_OPEN)
		return "a partial can only stand between elements";
	return NULL;
}

bool
markup_same(const struct markup *a, const struct markup *b)
{
	return a->place == b->place;
}
