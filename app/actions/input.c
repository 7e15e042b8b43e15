/* input.c - members of a JSON body, checked one by one. */
#include "actions/input.h"

#include "base/clock.h"

static json_t		*member(const struct input *, const char *name);
static const char	*checked_text(struct input *, const char *name, json_t *, size_t max, bool lines);
static bool		 holds_nul(json_t *);

struct input
input_of(struct scope *s, json_t *body, const char *prefix)
{
	struct input in = { s, body, prefix, OK };

	if (body != NULL && !json_is_object(body)) {
		in.object = NULL;
		in.status = fail_more(s, ERR_INVALID, prefix[0] == '\0' ? NULL : prefix, "must be a JSON object");
	}
	return in;
}

void
input_bad(struct input *in, enum status status, const char *name, const char *fmt, ...)
{
	va_list ap;
	const char *text;

	va_start(ap, fmt);
	text = arena_vprintf(in->s->arena, fmt, ap);
	va_end(ap);
	in->status = fail_more(in->s, status, scope_printf(in->s, "%s%s", in->prefix, name), "%s", text);
}

void
input_known(struct input *in, const char *const *names)
{
	const char *name;
	json_t *value;
	size_t i;

	json_object_foreach(in->object, name, value) {
		for (i = 0; names[i] != NULL && strcmp(names[i], name) != 0; i++)
			continue;
		if (names[i] == NULL)
			input_bad(in, ERR_UNKNOWN_FIELD, str_dup(in->s->arena, utf8_cut(str_of(name), 100)),
			    "this route does not know this member");
	}
}

bool
input_has(const struct input *in, const char *name)
{
	return member(in, name) != NULL;
}

const char *
input_text(struct input *in, const char *name, size_t max, bool lines)
{
	json_t *value = member(in, name);

	return value == NULL ? NULL : checked_text(in, name, value, max, lines);
}

const char *
input_required(struct input *in, const char *name, size_t max)
{
	enum status before = in->status;
	const char *text = input_text(in, name, max, false);

	if (text == NULL && before == in->status && !input_has(in, name))
		input_bad(in, ERR_INVALID, name, "must be given");
	else if (text != NULL && str_trim(str_of(text)).len == 0)
		input_bad(in, ERR_INVALID, name, "must not be blank");
	return text;
}

bool
input_bool(struct input *in, const char *name)
{
	json_t *value = member(in, name);

	if (value != NULL && !json_is_boolean(value))
		input_bad(in, ERR_INVALID, name, "must be true or false");
	return json_is_true(value);
}

int64_t
input_time(struct input *in, const char *name)
{
	const char *text = input_text(in, name, 64, false);
	int64_t ms = 0;

	if (text != NULL && !clock_parse_rfc3339(str_of(text), &ms))
		input_bad(in, ERR_INVALID, name, "must be an RFC 3339 time with an offset, like 2026-11-30T19:50:17Z");
	return ms;
}

const char *
input_object(struct input *in, const char *name, size_t max)
{
	json_t *value = member(in, name);
	const char *text;

	if (value == NULL)
		return "{}";
	if (!json_is_object(value)) {
		input_bad(in, ERR_INVALID, name, "must be an object");
		return "{}";
	}
	text = input_dump(in->s, value);
	if (holds_nul(value))
		input_bad(in, ERR_INVALID, name, "holds a NUL");
	else if (strlen(text) > max)
		input_bad(in, ERR_INVALID, name, "has %zu bytes as JSON, the limit is %zu", strlen(text), max);
	return text;
}

const char **
input_texts(struct input *in, const char *name, size_t max, size_t max_text)
{
	json_t *value = member(in, name), *item;
	const char **out;
	size_t i, count = 0;

	if (value == NULL)
		return NULL;
	if (!json_is_array(value)) {
		input_bad(in, ERR_INVALID, name, "must be an array of texts");
		return NULL;
	}
	if (json_array_size(value) > max) {
		input_bad(in, ERR_INVALID, name, "has %zu entries, the limit is %zu", json_array_size(value), max);
		return NULL;
	}
	out = scope_alloc(in->s, (json_array_size(value) + 1) * sizeof(*out));
	json_array_foreach(value, i, item) {
		const char *text = checked_text(in, name, item, max_text, false);

		if (text != NULL && str_trim(str_of(text)).len == 0)
			input_bad(in, ERR_INVALID, name, "entry %zu is blank", i);
		else if (text != NULL)
			out[count++] = text;
	}
	return out;
}

const char *
input_dump(struct scope *s, const json_t *value)
{
	char *text = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);
	const char *copy;

	if (text == NULL)
		abort();
	copy = arena_strdup(s->arena, text);
	free(text);
	return copy;
}

json_t *
input_merge(const json_t *target, const json_t *patch)
{
	json_t *out, *value;
	const char *name;

	if (!json_is_object(patch))
		return json_deep_copy(patch);
	out = json_is_object(target) ? json_copy((json_t *)(uintptr_t)target) : json_object();
	json_object_foreach((json_t *)(uintptr_t)patch, name, value) {
		if (json_is_null(value))
			json_object_del(out, name);
		else
			json_object_set_new(out, name, input_merge(json_object_get(out, name), value));
	}
	return out;
}

static json_t *
member(const struct input *in, const char *name)
{
	json_t *value = json_object_get(in->object, name);

	return json_is_null(value) ? NULL : value;
}

static const char *
checked_text(struct input *in, const char *name, json_t *value, size_t max, bool lines)
{
	struct str text;

	if (!json_is_string(value)) {
		input_bad(in, ERR_INVALID, name, "must be a text");
		return NULL;
	}
	text = (struct str){ json_string_value(value), json_string_length(value) };
	if (memchr(text.p, '\0', text.len) != NULL || text_has_control(text, lines))
		input_bad(in, ERR_INVALID, name, "holds a control character");
	else if (text.len > max && utf8_count(text) > max)
		input_bad(in, ERR_INVALID, name, "has %zu characters, the limit is %zu", utf8_count(text), max);
	else
		return str_dup(in->s->arena, text);
	return NULL;
}

/* jansson would write it, but not read it back. Depth is bounded by json_read. */
static bool
holds_nul(json_t *value)
{
	const char *name;
	json_t *part;
	size_t i;

	if (json_is_string(value))
		return memchr(json_string_value(value), '\0', json_string_length(value)) != NULL;
	json_object_foreach(value, name, part)
		if (holds_nul(part))
			return true;
	json_array_foreach(value, i, part)
		if (holds_nul(part))
			return true;
	return false;
}
