/* page.c - puts the site, the theme and the head into a page's view and renders its template. */
#include "render/page.h"
#include "base/clock.h"

/* How a language writes a date. */
struct date_style {
	const char	*language;
	const char	*pattern;	/* d day, m month, y year; everything else as it stands */
	const char	*months[12];	/* NULL: the number */
};

static const struct date_style date_styles[] = {
	{ "en-us", "m d, y", { "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
	    "November", "December" } },
	{ "en", "d m y", { "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
	    "November", "December" } },
	{ "de", "d. m y", { "Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober",
	    "November", "Dezember" } },
	{ "fr", "d m y", { "janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre",
	    "novembre", "décembre" } },
	{ "es", "d \\de m \\de y", { "enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre",
	    "octubre", "noviembre", "diciembre" } },
	{ "pt", "d \\de m \\de y", { "janeiro", "fevereiro", "março", "abril", "maio", "junho", "julho", "agosto", "setembro",
	    "outubro", "novembro", "dezembro" } },
	{ "it", "d m y", { "gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno", "luglio", "agosto", "settembre",
	    "ottobre", "novembre", "dicembre" } },
	{ "nl", "d m y", { "januari", "februari", "maart", "april", "mei", "juni", "juli", "augustus", "september", "oktober",
	    "november", "december" } },
	{ "ru", "d m y г.", { "января", "февраля", "марта", "апреля", "мая", "июня", "июля", "августа", "сентября", "октября",
	    "ноября", "декабря" } },
	{ "zh", "y年m月d日", { NULL } },
	{ "ja", "y年m月d日", { NULL } },
	{ "ko", "y년 m월 d일", { NULL } },
};

/* "en-us" is for "en-US" alone, "en" for every other "en-...". */
static bool
speaks(const char *locale, const char *language)
{
	size_t len = strlen(language);

	return strncasecmp(locale, language, len) == 0 &&
	    (locale[len] == '\0' || locale[len] == '-' || locale[len] == '_');
}

const char *
date_text(struct scope *s, int64_t ms, const char *locale)
{
	struct clock_date d = clock_split(ms);
	const struct date_style *style = NULL;
	struct buf out;

	for (size_t i = 0; i < COUNT(date_styles) && style == NULL; i++)
		if (locale != NULL && speaks(locale, date_styles[i].language))
			style = &date_styles[i];
	if (style == NULL)
		return scope_printf(s, "%04d-%02d-%02d", d.year, d.month, d.day);
	buf_init(&out, s->arena);
	for (const char *p = style->pattern; *p != '\0'; p++) {
		if (*p == 'd')
			buf_printf(&out, "%d", d.day);
		else if (*p == 'y')
			buf_printf(&out, "%d", d.year);
		else if (*p == 'm' && style->months[0] != NULL)
			buf_text(&out, style->months[d.month - 1]);
		else if (*p == 'm')
			buf_printf(&out, "%d", d.month);
		else
			buf_char(&out, *p == '\\' ? *++p : *p);
	}
	return out.p;
}

static const char *
direction(const char *locale)
{
	static const char *const right_to_left[] = { "ar", "he", "fa", "ur", "yi", "ps", "sd", "ug", "dv", "ckb" };

	for (size_t i = 0; i < COUNT(right_to_left); i++)
		if (speaks(locale, right_to_left[i]))
			return "rtl";
	return "ltr";
}

static void
set_text(json_t *object, const char *name, const char *value)
{
	json_object_set_new(object, name, json_string(value != NULL ? value : ""));
}

enum status
page_render(struct scope *s, const struct templates *templates, const struct site *site, const char *name,
    const struct head *head, json_t *view, struct str *out)
{
	const char *locale = head->locale != NULL ? head->locale : site->locale;
	json_t *crumbs = json_object_get(view, "breadcrumbs"), *whole = json_copy(view), *about = json_object(), *theme = json_object();
	enum status status;

	set_text(about, "title", site->title);
	set_text(about, "description", site->description);
	set_text(about, "home_url", site_url(s, site, "/"));
	set_text(about, "articles_url", site_url(s, site, "/articles"));
	set_text(about, "tags_url", site_url(s, site, "/tags"));
	set_text(about, "authors_url", site_url(s, site, "/authors"));
	set_text(about, "locale", locale);
	set_text(about, "dir", direction(locale));
	set_text(theme, "css_url", scope_printf(s, "/assets/theme-%s.css", templates_hash(templates)));
	json_object_set_new(whole, "site", about);
	json_object_set_new(whole, "theme", theme);
	set_text(whole, "head_html", head_html(s, head));
	json_object_set_new(whole, "has_breadcrumbs", json_boolean(json_array_size(crumbs) > 0));
	json_object_set_new(whole, "year", json_integer(clock_split(s->now).year));
	status = template_render(s, templates, name, whole, out);
	json_decref(whole);
	return status;
}
