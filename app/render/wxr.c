/* wxr.c - a push parser over the export: libxml2 gets small pieces, finished things wait in a short queue. */
#include "render/wxr.h"

#include <libxml/SAX2.h>
#include <libxml/parser.h>

#include "render/wxr_input.h"
#include "render/wxr_members.h"

#define DEPTH_MAX 64
#define CHANNEL_MAX ((size_t)1024 * 1024)	/* bytes of texts before the first thing; what stands between things is of no use */

/* Where in the document the parser is. */
enum place { PLACE_OUT, PLACE_RSS, PLACE_CHANNEL, PLACE_AUTHOR, PLACE_TERM, PLACE_ITEM, PLACE_META, PLACE_COMMENT };

/* One finished thing with the memory its texts live in. */
struct event {
	struct event	*next;
	struct arena	*arena;
	enum wxr_event	 kind;
	struct wxr_author author;
	struct wxr_term	 term;
	struct wxr_item	 item;
	struct wxr_term	*terms;
	struct wxr_meta	*meta;
	size_t		 term_cap, meta_cap;
	bool		 is_meta_kept;	/* the postmeta at hand is among those in `meta` */
};

struct wxr {
	struct arena	*arena;		/* of the whole reading */
	struct wxr_input *input;
	xmlParserCtxtPtr parser;
	struct wxr_channel channel;
	struct event	*head, **tail, *current, *given;
	enum place	 places[DEPTH_MAX];
	int		 depth, skipped;	/* skipped: elements deeper than we look */
	char		 name[128];	/* what full_name answers */
	struct buf	 text;
	bool		 text_is_cut, channel_is_given, at_end, saw_rss, saw_channel;
	const char	*refusal;	/* DOCTYPE and entities */
	enum status	 failed;	/* told once what came before it has been given out */
	const char	*failure;
	int64_t		 dropped_at_item;
};

/* The name that wxr.c compares: "wp:x" for WordPress's own, "content:encoded", "dc:creator", "excerpt:encoded", else the bare local
 * name; "" for what belongs to others. Valid until the next call. */
static const char *
full_name(struct wxr *w, const xmlChar *local, const xmlChar *prefix, const xmlChar *uri)
{
	const char *vocabulary = "";
	struct str u = str_of((const char *)uri);

	if (prefix == NULL && uri == NULL)
		return (const char *)local;
	if (uri == NULL)		/* undeclared, as in exports that people cut by hand */
		vocabulary = (const char *)prefix;
	else if (str_find_str(u, STR("wordpress.org/export/")) < u.len)
		vocabulary = str_find_str(u, STR("/excerpt/")) < u.len ? "excerpt" : "wp";
	else if (str_is(u, "http://purl.org/rss/1.0/modules/content/"))
		vocabulary = "content";
	else if (str_is(u, "http://purl.org/dc/elements/1.1/"))
		vocabulary = "dc";
	if (vocabulary[0] == '\0' || (size_t)snprintf(w->name, sizeof w->name, "%s:%s", vocabulary, (const char *)local) >= sizeof w->name)
		return "";
	return w->name;
}

static struct event *
event_new(enum wxr_event kind)
{
	struct arena *arena = arena_new();
	struct event *e = arena_alloc(arena, sizeof *e);

	e->arena = arena;
	e->kind = kind;
	return e;
}

static void
event_queue(struct wxr *w, struct event *e)
{
	*w->tail = e;
	w->tail = &e->next;
}

/* The channel's own members are known once the first author, term or item begins. */
static void
channel_give(struct wxr *w)
{
	if (w->channel_is_given)
		return;
	w->channel_is_given = true;
	event_queue(w, event_new(WXR_CHANNEL));
}

static enum place
place_below(struct wxr *w, const char *name)
{
	static const struct { enum place from; const char *name; enum place to; } steps[] = {
		{ PLACE_OUT, "rss", PLACE_RSS },
		{ PLACE_RSS, "channel", PLACE_CHANNEL },
		{ PLACE_CHANNEL, "wp:author", PLACE_AUTHOR },
		{ PLACE_CHANNEL, "wp:category", PLACE_TERM },
		{ PLACE_CHANNEL, "wp:tag", PLACE_TERM },
		{ PLACE_CHANNEL, "wp:term", PLACE_TERM },
		{ PLACE_CHANNEL, "item", PLACE_ITEM },
		{ PLACE_ITEM, "wp:postmeta", PLACE_META },
		{ PLACE_ITEM, "wp:comment", PLACE_COMMENT },
	};
	enum place from = w->depth == 0 ? PLACE_OUT : w->places[w->depth - 1];
	size_t i;

	for (i = 0; i < COUNT(steps); i++)
		if (steps[i].from == from && strcmp(steps[i].name, name) == 0)
			return steps[i].to;
	return from;
}

/* Is there room for `n` more bytes of the thing at hand? Marks it as cut otherwise. */
static bool
has_room(struct event *e, size_t n)
{
	bool has = n <= WXR_THING_MAX && arena_used(e->arena) <= WXR_THING_MAX - n;

	e->item.is_cut = e->item.is_cut || !has;
	return has;
}

static void
term_add(struct event *e, const struct wxr_term *term)
{
	struct wxr_term *grown;

	if (e->item.term_count == e->term_cap) {
		e->term_cap = e->term_cap == 0 ? 8 : e->term_cap * 2;
		grown = arena_alloc(e->arena, e->term_cap * sizeof *grown);
		if (e->item.term_count > 0)
			memcpy(grown, e->terms, e->item.term_count * sizeof *grown);
		e->terms = grown;
	}
	e->terms[e->item.term_count++] = *term;
	e->item.terms = e->terms;
}

static void
meta_begin(struct event *e)
{
	struct wxr_meta *grown;

	e->is_meta_kept = e->item.meta_count < WXR_META_MAX;
	if (!e->is_meta_kept)
		return;
	if (e->item.meta_count == e->meta_cap) {
		e->meta_cap = e->meta_cap == 0 ? 8 : e->meta_cap * 2;
		grown = arena_alloc(e->arena, e->meta_cap * sizeof *grown);
		if (e->item.meta_count > 0)
			memcpy(grown, e->meta, e->item.meta_count * sizeof *grown);
		e->meta = grown;
	}
	e->meta[e->item.meta_count++] = (struct wxr_meta){ "", "" };
	e->item.meta = e->meta;
}

/* An item's <category domain="..." nicename="...">name</category>; the name comes with the text. */
static void
item_category(struct wxr *w, int count, const xmlChar **attributes)
{
	struct wxr_term term = { .kind = WXR_CATEGORY, .slug = "", .name = "", .parent = "", .description = "", .domain = "category" };
	int i;

	if (w->current->item.term_count >= WXR_META_MAX)
		return;
	for (i = 0; i < count; i++, attributes += 5) {
		struct str value = { (const char *)attributes[3], (size_t)(attributes[4] - attributes[3]) };

		if (!has_room(w->current, value.len))
			return;
		if (strcmp((const char *)attributes[0], "domain") == 0)
			term.domain = str_dup(w->current->arena, value);
		else if (strcmp((const char *)attributes[0], "nicename") == 0)
			term.slug = str_dup(w->current->arena, value);
	}
	if (strcmp(term.domain, "post_tag") == 0 || strcmp(term.domain, "tag") == 0)
		term.kind = WXR_TAG;
	else if (strcmp(term.domain, "category") != 0)
		term.kind = WXR_OTHER_TERM;
	term.line = xmlSAX2GetLineNumber(w->parser);
	term_add(w->current, &term);
}

static void
thing_begin(struct wxr *w, enum place place, const char *name)
{
	int line = xmlSAX2GetLineNumber(w->parser);

	channel_give(w);
	w->current = event_new(place == PLACE_ITEM ? WXR_ITEM : place == PLACE_AUTHOR ? WXR_AUTHOR : WXR_TERM);
	w->current->author = (struct wxr_author){ 0, "", "", "", line };
	w->current->term = (struct wxr_term){ .slug = "", .name = "", .parent = "", .description = "", .domain = "", .line = line };
	w->current->item = (struct wxr_item){ .line = line, .title = "", .link = "", .guid = "", .creator = "", .content = "",
		.excerpt = "", .type = "", .status = "", .slug = "", .password = "", .attachment_url = "", .format = "" };
	if (strcmp(name, "wp:category") == 0) {
		w->current->term.kind = WXR_CATEGORY;
		w->current->term.domain = "category";
	} else if (strcmp(name, "wp:tag") == 0) {
		w->current->term.kind = WXR_TAG;
		w->current->term.domain = "post_tag";
	} else
		w->current->term.kind = WXR_OTHER_TERM;
	w->dropped_at_item = wxr_input_dropped(w->input);
}

static void
on_start(void *arg, const xmlChar *local, const xmlChar *prefix, const xmlChar *uri, int namespaces, const xmlChar **declared,
    int attribute_count, int defaulted, const xmlChar **attributes)
{
	struct wxr *w = arg;
	const char *name;
	enum place place, from;

	(void)namespaces;
	(void)declared;
	(void)defaulted;
	if (w->depth == DEPTH_MAX) {
		w->skipped++;
		return;
	}
	name = full_name(w, local, prefix, uri);
	from = w->depth == 0 ? PLACE_OUT : w->places[w->depth - 1];
	place = place_below(w, name);
	if (place == PLACE_RSS)
		w->saw_rss = true;
	if (place == PLACE_CHANNEL)
		w->saw_channel = true;
	if (place != from && (place == PLACE_AUTHOR || place == PLACE_TERM || place == PLACE_ITEM))
		thing_begin(w, place, name);
	if (place != from && place == PLACE_META)
		meta_begin(w->current);
	if (place != from && place == PLACE_COMMENT)
		w->current->item.comment_count++;
	if (place == PLACE_ITEM && from == PLACE_ITEM && strcmp(name, "category") == 0)
		item_category(w, attribute_count, attributes);
	w->places[w->depth++] = place;
	buf_init(&w->text, w->current != NULL ? w->current->arena : w->arena);
	w->text_is_cut = false;
}

static void
on_text(void *arg, const xmlChar *text, int len)
{
	struct wxr *w = arg;
	size_t n = (size_t)len;

	if (w->depth == 0 || w->places[w->depth - 1] == PLACE_COMMENT)
		return;
	if (w->current == NULL ? w->channel_is_given || arena_used(w->arena) + n > CHANNEL_MAX : !has_room(w->current, n))
		return;
	if (w->text.arena == NULL)
		buf_init(&w->text, w->current != NULL ? w->current->arena : w->arena);
	if (w->text.len + n > WXR_FIELD_MAX) {
		n = WXR_FIELD_MAX - w->text.len;
		w->text_is_cut = true;
		if (w->current != NULL)
			w->current->item.is_cut = true;
	}
	buf_add(&w->text, text, n);
}

static void
channel_member(struct wxr *w, const char *name, const char *text)
{
	if (strcmp(name, "title") == 0)
		w->channel.title = text;
	else if (strcmp(name, "description") == 0)
		w->channel.description = text;
	else if (strcmp(name, "language") == 0)
		w->channel.language = text;
	else if (strcmp(name, "wp:base_site_url") == 0)
		w->channel.site_url = text;
	else if (strcmp(name, "wp:base_blog_url") == 0 || (strcmp(name, "link") == 0 && w->channel.blog_url == NULL))
		w->channel.blog_url = text;
}

static void
thing_end(struct wxr *w)
{
	w->current->item.dropped_characters = wxr_input_dropped(w->input) - w->dropped_at_item;
	event_queue(w, w->current);
	w->current = NULL;
}

static void
member_end(struct wxr *w, enum place place, const char *name, const char *text)
{
	struct event *e = w->current;

	if (place == PLACE_CHANNEL && e == NULL)
		channel_member(w, name, text);
	else if (place == PLACE_AUTHOR)
		wxr_author_member(&e->author, name, text);
	else if (place == PLACE_TERM)
		wxr_term_member(&e->term, name, text);
	else if (place == PLACE_ITEM)
		wxr_item_member(&e->item, e->item.term_count > 0 ? &e->terms[e->item.term_count - 1] : NULL, name, text);
	else if (place == PLACE_META && e->is_meta_kept)
		wxr_meta_member(&e->meta[e->item.meta_count - 1], name, text);
}

static void
on_end(void *arg, const xmlChar *local, const xmlChar *prefix, const xmlChar *uri)
{
	struct wxr *w = arg;
	enum place place, above;
	const char *name, *text;
	bool is_member;

	if (w->skipped > 0) {
		w->skipped--;
		return;
	}
	place = w->places[--w->depth];
	above = w->depth == 0 ? PLACE_OUT : w->places[w->depth - 1];
	/* What stands deeper says something of others: the title in <image> is not that of the channel. */
	is_member = w->depth < 2 || w->places[w->depth - 2] != place;
	name = full_name(w, local, prefix, uri);
	text = w->text.p != NULL ? w->text.p : "";
	if (place != above) {		/* the element that opened the place itself */
		if (place == PLACE_AUTHOR || place == PLACE_TERM || place == PLACE_ITEM)
			thing_end(w);
	} else if (is_member)
		member_end(w, place, name, text);
	w->text = (struct buf){ 0 };
}

/* An export has no DOCTYPE of use; one with entities is an attack or a mistake. */
static void
on_doctype(void *arg, const xmlChar *name, const xmlChar *external, const xmlChar *system)
{
	struct wxr *w = arg;

	(void)name;
	if (external != NULL || system != NULL) {
		w->refusal = "an external DTD";
		xmlStopParser(w->parser);
	}
}

static void
on_entity(void *arg, const xmlChar *name, int type, const xmlChar *public_id, const xmlChar *system_id, xmlChar *content)
{
	struct wxr *w = arg;

	(void)name;
	(void)type;
	(void)public_id;
	(void)system_id;
	(void)content;
	w->refusal = "an entity declaration";
	xmlStopParser(w->parser);
}

static void
on_error(void *arg, xmlErrorPtr error)
{
	(void)arg;
	(void)error;		/* asked for by xmlCtxtGetLastError when the piece is done */
}

static enum status
parser_make(struct scope *s, struct wxr *w)
{
	xmlSAXHandler sax = { .initialized = XML_SAX2_MAGIC, .startElementNs = on_start, .endElementNs = on_end, .characters = on_text,
		.cdataBlock = on_text, .ignorableWhitespace = on_text, .internalSubset = on_doctype, .entityDecl = on_entity,
		.serror = on_error };

	w->parser = xmlCreatePushParserCtxt(&sax, w, NULL, 0, NULL);
	if (w->parser == NULL)
		return fail(s, ERR_INTERNAL, NULL, "the XML parser cannot be made");
	xmlCtxtUseOptions(w->parser, XML_PARSE_NONET);
	return OK;
}

enum status
wxr_open(struct scope *s, struct wxr **out, const char *file)
{
	struct wxr *w = scope_alloc(s, sizeof *w);
	enum status status;

	w->arena = arena_new();
	w->tail = &w->head;
	if ((status = wxr_input_open(s, &w->input, file)) != OK || (status = parser_make(s, w)) != OK) {
		wxr_close(w);
		return status;
	}
	*out = w;
	return OK;
}

/* What went wrong with the XML, as people need to hear it. */
static enum status
parse_failed(struct scope *s, struct wxr *w)
{
	const xmlError *error = xmlCtxtGetLastError(w->parser);
	int line = error != NULL && error->line > 0 ? error->line : xmlSAX2GetLineNumber(w->parser);
	const char *what = error != NULL && error->message != NULL ? str_dup(s->arena, str_trim(str_of(error->message))) : "not well formed";

	if (w->refusal != NULL)
		return fail(s, ERR_INVALID, "file", "line %d: the file has %s (entity); exports have none, so it is refused", line, w->refusal);
	return fail(s, ERR_INVALID, "file", "line %d: the XML is not well formed (%s). Export the site again, or repair the file at that line",
	    line, what);
}

static enum status
feed(struct scope *s, struct wxr *w)
{
	struct str piece;
	bool at_end;

	TRY(wxr_input_piece(s, w->input, &piece, &at_end));
	/* The end is told apart from the last bytes: told with them, libxml2 gives up before it has delivered what is whole. */
	(void)xmlParseChunk(w->parser, piece.p, (int)piece.len, 0);
	if (at_end && w->parser->wellFormed && w->refusal == NULL)
		(void)xmlParseChunk(w->parser, NULL, 0, 1);
	if (!w->parser->wellFormed || w->refusal != NULL)
		return parse_failed(s, w);
	if (!at_end)
		return OK;
	w->at_end = true;
	if (!w->saw_rss || !w->saw_channel)
		return fail(s, ERR_INVALID, "file", "this is XML, but not a WordPress export: no <rss> with a <channel>");
	channel_give(w);
	return OK;
}

enum status
wxr_next(struct scope *s, struct wxr *w, enum wxr_event *kind)
{
	if (w->given != NULL) {
		arena_free(w->given->arena);
		w->given = NULL;
	}
	while (w->head == NULL && !w->at_end && w->failed == OK)
		if ((w->failed = feed(s, w)) != OK)
			w->failure = arena_strdup(w->arena, s->error->detail);
	if (w->head == NULL && w->failed != OK)
		return fail(s, w->failed, "file", "%s", w->failure);
	if (w->head == NULL) {
		*kind = WXR_END;
		return OK;
	}
	w->given = w->head;
	w->head = w->given->next;
	if (w->head == NULL)
		w->tail = &w->head;
	*kind = w->given->kind;
	return OK;
}

const struct wxr_channel *
wxr_channel(const struct wxr *w)
{
	return &w->channel;
}

const struct wxr_author *
wxr_author(const struct wxr *w)
{
	return &w->given->author;
}

const struct wxr_term *
wxr_term(const struct wxr *w)
{
	return &w->given->term;
}

const struct wxr_item *
wxr_item(const struct wxr *w)
{
	return &w->given->item;
}

void
wxr_position(const struct wxr *w, int64_t *bytes, int64_t *total)
{
	wxr_input_position(w->input, bytes, total);
}

int64_t
wxr_dropped(const struct wxr *w)
{
	return wxr_input_dropped(w->input);
}

void
wxr_close(struct wxr *w)
{
	struct event *e;

	if (w == NULL)
		return;
	if (w->parser != NULL) {
		/* libxml2's own handlers keep a document type declaration in a document that nobody else frees. */
		if (w->parser->myDoc != NULL)
			xmlFreeDoc(w->parser->myDoc);
		xmlFreeParserCtxt(w->parser);
	}
	if (w->input != NULL)
		wxr_input_close(w->input);
	while ((e = w->head) != NULL) {
		w->head = e->next;
		arena_free(e->arena);
	}
	if (w->current != NULL)
		arena_free(w->current->arena);
	if (w->given != NULL)
		arena_free(w->given->arena);
	arena_free(w->arena);
	w->arena = NULL;
}
