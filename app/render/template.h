/* template.h - logic-less templates (Mustache) over jansson values. */
#ifndef RENDER_TEMPLATE_H
#define RENDER_TEMPLATE_H
#include <jansson.h>
#include "base/base.h"

struct templates;	/* every template of a theme, parsed; immutable, shared by threads, lives as long as the worker */

/* Parse all DIR/ *.mustache (names without the ending). The first mistake is ERR_INVALID with "file:line: what". Variables, sections,
 * inverted sections, partials, comments, delimiters as in the Mustache spec 1.x. {{x}} escapes; {{{x}}} and {{&x}} are an error unless
 * the name ends in _html. Tags inside <script>, <style> or unquoted attributes are an error. */
enum status	 templates_load(struct scope *, struct templates **, const char *dir) MUST_USE;
void		 templates_free(struct templates *);
/* Depth of partials is at most 16, output at most 8 MiB: ERR_INTERNAL beyond. A missing name prints nothing. */
enum status	 template_render(struct scope *, const struct templates *, const char *name, json_t *view, struct str *out) MUST_USE;
const char	*templates_hash(const struct templates *);	/* 16 hex: part of the theme's dependency and of asset addresses */
int64_t		 templates_loaded_at(const struct templates *);	/* Unix ms: no page is older than its theme */
#endif
