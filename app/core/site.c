/* site.c - the settings that live in the database: their names, their limits and their defaults. */
#include "core/site.h"
#include "core/url.h"

#define TITLE_MAX 200
#define DESCRIPTION_MAX 1000
#define ROBOTS_MAX 20000
#define HOUR INT64_C(3600000)
#define DAY (24 * HOUR)

static enum status	text_set(struct scope *, const char **out, const char *key, const char *value,
    size_t max, bool lines);
static enum status	choice_set(struct scope *, bool *out, const char *key, const char *value,
    const char *no, const char *yes);
static enum status	count_set(struct scope *, int *out, const char *key, const char *value);
static enum status	url_set(struct scope *, const char **out, const char *key, const char *value);
static enum status	origin_set(struct scope *, const char **out, const char *key, const char *value);
static enum status	contact_set(struct scope *, const char **out, const char *key, const char *value);
static enum status	locale_check(struct scope *, const char *key, const char *value);
static enum status	pattern_set(struct scope *, struct site *, const char *key, const char *value);
static enum status	retention_set(struct scope *, struct site *, const char *key, const char *value);
static bool		duration_parse(struct str, int64_t *ms);

void
site_defaults(struct site *site)
{
	*site = (struct site){
		.title = "Stele",
		.description = "",
		.locale = "en",
		.slug_style = SLUG_UNICODE,
		.pattern = { [KIND_ARTICLE] = "/articles/{slug}", [KIND_PAGE] = "/{parent}/{slug}",
		    [KIND_TAG] = "/tags/{slug}",
		    [KIND_AUTHOR] = "/authors/{slug}" },
		.per_page = 10,
		.feed_items = 20,
		.feed_is_full = true,
		.websub_hub = "",
		.cors_origin = "",
		.security_contact = "",
		.robots = "",
		.retention_form = DAY,
		.retention_write = 7 * DAY,
		.retention_state = 30 * DAY,
		.retention_operation = 30 * DAY,
		.retention_message = 35 * DAY,
	};
}

enum status
site_set(struct scope *s, struct site *site, const char *key, const char *value)
{
	bool	flag = false;

	if (strcmp(key, "title") == 0) {
		if (str_trim(str_of(value)).len == 0)
			return fail(s, ERR_INVALID, key, "is empty");
		return text_set(s, &site->title, key, value, TITLE_MAX, false);
	}
	if (strcmp(key, "description") == 0)
		return text_set(s, &site->description, key, value, DESCRIPTION_MAX, false);
	if (strcmp(key, "robots") == 0)
		return text_set(s, &site->robots, key, value, ROBOTS_MAX, true);
	if (strcmp(key, "locale") == 0) {
		TRY(locale_check(s, key, value));
		site->locale = value;
		return OK;
	}
	if (strcmp(key, "slug_style") == 0) {
		TRY(choice_set(s, &flag, key, value, "unicode", "ascii"));
		site->slug_style = flag ? SLUG_ASCII : SLUG_UNICODE;
		return OK;
	}
	if (strcmp(key, "trailing_slash") == 0)
		return choice_set(s, &site->always_slash, key, value, "never", "always");
	if (strcmp(key, "noindex") == 0)
		return choice_set(s, &site->noindex, key, value, "false", "true");
	if (strcmp(key, "per_page") == 0)
		return count_set(s, &site->per_page, key, value);
	if (strcmp(key, "security_contact") == 0)
		return contact_set(s, &site->security_contact, key, value);
	if (strcmp(key, "cors_origin") == 0)
		return origin_set(s, &site->cors_origin, key, value);
	if (strcmp(key, "feed_items") == 0)
		return count_set(s, &site->feed_items, key, value);
	if (strcmp(key, "feed_content") == 0)
		return choice_set(s, &site->feed_is_full, key, value, "summary", "full");
	if (strcmp(key, "websub_hub") == 0)
		return url_set(s, &site->websub_hub, key, value);
	if (strncmp(key, "pattern_", 8) == 0)
		return pattern_set(s, site, key, value);
	if (strncmp(key, "retention_", 10) == 0)
		return retention_set(s, site, key, value);
	return fail(s, ERR_INVALID, key, "there is no such setting");
}

int64_t
site_retention(const struct site *site, enum retention retention)
{
	switch (retention) {
	case RETENTION_FORM:
		return site->retention_form;
	case RETENTION_STATE:
		return site->retention_state;
	case RETENTION_WRITE:
		break;
	}
	return site->retention_write;
}

const char *
site_url(struct scope *s, const struct site *site, const char *path)
{
	return url_public(s, site->public_origin, path, site->always_slash, (struct str){ NULL, 0 });
}

const char *
site_canonical(struct scope *s, const struct site *site, const char *override, const char *original_path, const char *path)
{
	return override != NULL ? override : site_url(s, site, original_path != NULL ? original_path : path);
}

static enum status
text_set(struct scope *s, const char **out, const char *key, const char *value, size_t max, bool lines)
{
	struct str	text = str_of(value);

	if (!utf8_valid(text) || text_has_control(text, lines))
		return fail(s, ERR_INVALID, key, "is not plain text");
	if (text.len > max)
		return fail(s, ERR_INVALID, key, "is longer than %zu bytes", max);
	*out = value;
	return OK;
}

static enum status
choice_set(struct scope *s, bool *out, const char *key, const char *value, const char *no, const char *yes)
{
	if (strcmp(value, no) != 0 && strcmp(value, yes) != 0)
		return fail(s, ERR_INVALID, key, "is neither '%s' nor '%s'", no, yes);
	*out = strcmp(value, yes) == 0;
	return OK;
}

static enum status
count_set(struct scope *s, int *out, const char *key, const char *value)
{
	int64_t	number;

	if (!parse_int64(str_of(value), &number) || number < 1 || number > 100)
		return fail(s, ERR_INVALID, key, "is no number from 1 to 100");
	*out = (int)number;
	return OK;
}

static enum status
url_set(struct scope *s, const char **out, const char *key, const char *value)
{
	*out = "";
	return value[0] == '\0' ? OK : url_absolute(s, out, str_of(value), key);
}

static enum status
origin_set(struct scope *s, const char **out, const char *key, const char *value)
{
	struct str rest;

	*out = value;
	if (value[0] == '\0' || strcmp(value, "*") == 0)
		return OK;
	TRY(url_absolute(s, out, str_of(value), key));
	/* The path "/" is what is left of an origin. */
	rest = str_part(str_of(*out), str_find(str_of(*out), ':') + 3, strlen(*out));
	if (str_find(rest, '/') + 1 != rest.len)
		return fail(s, ERR_INVALID, key, "is no origin: scheme, host and port alone");
	*out = str_dup(s->arena, str_part(str_of(*out), 0, strlen(*out) - 1));
	return OK;
}

/* RFC 9116 2.5.3: a URI, and no web address without TLS. */
static enum status
contact_set(struct scope *s, const char **out, const char *key, const char *value)
{
	struct str text = str_of(value);

	TRY(text_set(s, out, key, value, DESCRIPTION_MAX, false));
	if (text.len > 0 && (str_find(text, ' ') < text.len || !(str_starts(text, "mailto:") || str_starts(text, "https://") || str_starts(text, "tel:"))))
		return fail(s, ERR_INVALID, key, "is no mailto:, https: or tel: URL");
	return OK;
}

/* The shape of BCP 47: a language of two or three letters, then subtags. */
static enum status
locale_check(struct scope *s, const char *key, const char *value)
{
	struct str	rest = str_of(value), subtag;
	size_t		i, n = 0;
	bool		is_letter, is_digit, is_good = rest.len >= 2 && rest.len <= 35 && !str_ends(rest, "-");

	while (is_good && str_next(&rest, '-', &subtag)) {
		is_good = n == 0 ? subtag.len == 2 || subtag.len == 3 : subtag.len >= 1 && subtag.len <= 8;
		for (i = 0; i < subtag.len; i++) {
			is_letter = (subtag.p[i] >= 'a' && subtag.p[i] <= 'z') || (subtag.p[i] >= 'A' &&
			    subtag.p[i] <= 'Z');
			is_digit = subtag.p[i] >= '0' && subtag.p[i] <= '9';
			is_good = is_good && (is_letter || (n > 0 && is_digit));
		}
		n++;
	}
	return is_good ? OK : fail(s, ERR_INVALID, key, "is no language tag such as 'en' or 'pt-BR'");
}

static enum status
pattern_set(struct scope *s, struct site *site, const char *key, const char *value)
{
	enum kind	kind;

	if (!kind_parse(str_of(key + strlen("pattern_")), &kind))
		return fail(s, ERR_INVALID, key, "there is no such setting");
	if (kind != KIND_PAGE && strstr(value, "{parent}") != NULL)
		return fail(s, ERR_INVALID, key, "{parent} is for pages only");
	TRY(pattern_check(s, value, key));
	site->pattern[kind] = value;
	return OK;
}

/* Below the least a retry could come after its record is gone; above the most the table would grow without use. */
static enum status
retention_set(struct scope *s, struct site *site, const char *key, const char *value)
{
	const struct { const char *key; int64_t *out; int64_t least, most; } limits[] = {
		{ "retention_form", &site->retention_form, HOUR, 30 * DAY },
		{ "retention_write", &site->retention_write, DAY, 90 * DAY },
		{ "retention_state", &site->retention_state, DAY, 365 * DAY },
		{ "retention_operation", &site->retention_operation, DAY, 365 * DAY },
		{ "retention_message", &site->retention_message, DAY, 365 * DAY },
	};
	int64_t	ms;
	size_t	i;

	for (i = 0; i < COUNT(limits); i++) {
		if (strcmp(key, limits[i].key) != 0)
			continue;
		if (!duration_parse(str_of(value), &ms) || ms < limits[i].least || ms > limits[i].most)
			return fail(s, ERR_INVALID, key, "is no time such as '36h' or '7d' from %dh to %dd",
			    (int)(limits[i].least / HOUR), (int)(limits[i].most / DAY));
		*limits[i].out = ms;
		return OK;
	}
	return fail(s, ERR_INVALID, key, "there is no such setting");
}

/* "36h" or "7d". */
static bool
duration_parse(struct str text, int64_t *ms)
{
	int64_t	unit, number;

	if (str_ends(text, "h"))
		unit = HOUR;
	else if (str_ends(text, "d"))
		unit = DAY;
	else
		return false;
	if (!parse_int64(str_part(text, 0, text.len - 1), &number) || number < 1 || number > 10000)
		return false;
	*ms = number * unit;
	return true;
}
