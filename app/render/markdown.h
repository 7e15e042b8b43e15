/* markdown.h - what an editor wrote -> sanitised HTML, text, excerpt, headings, links, images. */
#ifndef RENDER_MARKDOWN_H
#define RENDER_MARKDOWN_H
#include "base/base.h"
#include "core/resource.h"

/* Raised whenever the same source would give other bytes; stored with each rendering. */
#define RENDERER_VERSION 1
#define SOURCE_MAX (1024 * 1024)	/* bytes of source */

/* Markdown (md4c: tables, strikethrough, autolinks, task lists; raw HTML allowed and sanitised) or HTML, through the one allow-list writer.
 * Markdown without raw HTML is written straight from md4c's events by that writer; anything with raw HTML goes through gumbo. Output
 * is bounded (8 times the input + 64 kB, depth 256), gumbo by an arena cap and a deadline: ERR_INVALID field "content" when exceeded.
 * Headings get ids (slug of their text, unique in the document); h1 in a body becomes h2. Any thread. */
enum status	 render_content(struct scope *, struct rendered *out, enum format, struct str source) MUST_USE;
/* The visible text alone, blanks folded, from trusted HTML that render_content made. */
const char	*render_text(struct scope *, struct str html);
/* Replace addresses when the page is built: `current` maps one as written to the one to print, or returns NULL to keep it. render_links
 * asks for link targets, render_addresses for the sources of pictures, sound and video too. `html` is render_content's. */
typedef const char *address_fn(struct scope *, void *arg, struct str url);
struct str	 render_links(struct scope *, struct str html, address_fn *current, void *arg);
struct str	 render_addresses(struct scope *, struct str html, address_fn *current, void *arg);
#endif
