/* html.c - HTML as people and programs write it: gumbo's tree, walked into the allow-list writer. */
#include <gumbo.h>
#include <setjmp.h>
#include "render/sanitize.h"

#define PARSE_BYTES_MAX (96 * 1024 * 1024)	/* gumbo takes about 27 times the input */
/* Of this thread's own time, so that a busy machine refuses no more than an idle one. */
#define PARSE_MS_MAX 500
#define LOOK_EVERY 64	/* allocations between two looks at the clock */

/* gumbo neither bounds its memory nor its time (both can be quadratic), and frees its tree recursively. So it allocates from
 * an arena of ours that leaves with longjmp when it has had enough, and the arena is dropped whole. */
struct bounds {
	struct arena	*arena;
	jmp_buf		 leave;
	int64_t		 deadline;
	unsigned	 calls;
};

struct visit {
	const GumboVector *children;
	unsigned	 next;
	uint32_t	 number;	/* of the element they stand in, for writer_close */
};

static enum status	 walk(struct scope *, struct writer *, const GumboNode *root);
static bool		 enter(struct writer *, const GumboNode *, uint32_t *number);

static int64_t
thread_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static void *
bounded_alloc(void *arg, size_t n)
{
	struct bounds *b = arg;

	if (arena_used(b->arena) + n > PARSE_BYTES_MAX ||
	    (b->calls++ % LOOK_EVERY == 0 && thread_ms() > b->deadline))
		longjmp(b->leave, 1);
	return arena_alloc(b->arena, n);
}

static void
bounded_free(void *arg, void *p)
{
}

enum status
html_walk(struct scope *s, struct writer *w, struct str html)
{
	struct bounds bounds = { .arena = arena_new(), .deadline = thread_ms() + PARSE_MS_MAX };
	GumboOptions options = kGumboDefaultOptions;
	enum status status;

	options.allocator = bounded_alloc;
	options.deallocator = bounded_free;
	options.userdata = &bounds;
	options.max_errors = 0;
	options.fragment_context = GUMBO_TAG_DIV;
	if (setjmp(bounds.leave) == 0)
		status = walk(s, w, gumbo_parse_with_options(&options, html.p != NULL ? html.p : "", html.len)->root);
	else
		status = fail(s, ERR_INVALID, "content", "the markup is too tangled to be read in bounds");
	arena_free(bounds.arena);
	return status;
}

static enum status
walk(struct scope *s, struct writer *w, const GumboNode *root)
{
	struct visit *stack = scope_alloc(s, CONTENT_DEPTH_MAX * sizeof(*stack));
	size_t depth = 0;

	stack[depth++] = (struct visit){ .children = &root->v.element.children };
	while (depth > 0 && writer_status(w) == OK) {
		struct visit *v = &stack[depth - 1];
		uint32_t number;
		if (v->next == v->children->length) {
			writer_close(w, v->number);
			depth--;
			continue;
		}
		const GumboNode *node = v->children->data[v->next++];
		if (!enter(w, node, &number))
			continue;
		if (depth == CONTENT_DEPTH_MAX)
			return fail(s, ERR_INVALID, "content", "elements nest deeper than %d", CONTENT_DEPTH_MAX);
		stack[depth++] = (struct visit){ .children = &node->v.element.children, .number = number };
	}
	return writer_status(w);
}

/* What becomes of an element; 0 for those that are only unwrapped. */
enum { DROPPED = ELEMENT_COUNT, FRAME, CHECKBOX, CHOICE };
static const unsigned char fates[GUMBO_TAG_LAST] = {
	[GUMBO_TAG_SCRIPT] = DROPPED, [GUMBO_TAG_STYLE] = DROPPED, [GUMBO_TAG_TEMPLATE] = DROPPED, [GUMBO_TAG_NOSCRIPT] = DROPPED,
	[GUMBO_TAG_NOEMBED] = DROPPED, [GUMBO_TAG_NOFRAMES] = DROPPED, [GUMBO_TAG_TITLE] = DROPPED, [GUMBO_TAG_HEAD] = DROPPED,
	[GUMBO_TAG_IFRAME] = FRAME, [GUMBO_TAG_EMBED] = FRAME, [GUMBO_TAG_OBJECT] = FRAME, [GUMBO_TAG_INPUT] = CHECKBOX,
	[GUMBO_TAG_OPTION] = CHOICE,
#define SAME(name) [GUMBO_TAG_##name] = ELEMENT_##name
	SAME(P), SAME(A), SAME(EM), SAME(STRONG), SAME(CODE), SAME(H2), SAME(H3), SAME(H4), SAME(H5), SAME(H6), SAME(BR), SAME(IMG),
	SAME(UL), SAME(OL), SAME(LI), SAME(BLOCKQUOTE), SAME(PRE), SAME(HR), SAME(DIV), SAME(DEL), SAME(INS), SAME(DL), SAME(DT),
	SAME(DD), SAME(TABLE), SAME(CAPTION), SAME(THEAD), SAME(TBODY), SAME(TFOOT), SAME(TR), SAME(TH), SAME(TD), SAME(FIGURE),
	SAME(FIGCAPTION), SAME(DETAILS), SAME(SUMMARY), SAME(ABBR), SAME(B), SAME(BDI), SAME(BDO), SAME(CITE), SAME(DFN), SAME(I),
	SAME(KBD), SAME(MARK), SAME(Q), SAME(RUBY), SAME(RT), SAME(RP), SAME(S), SAME(SAMP), SAME(SMALL), SAME(SPAN), SAME(SUB),
	SAME(SUP), SAME(TIME), SAME(U), SAME(VAR), SAME(WBR), SAME(VIDEO), SAME(AUDIO), SAME(SOURCE), SAME(TRACK),
#undef SAME
	/* The page around the content has the one h1. */
	[GUMBO_TAG_H1] = ELEMENT_H2,
	[GUMBO_TAG_SECTION] = ELEMENT_DIV, [GUMBO_TAG_ARTICLE] = ELEMENT_DIV, [GUMBO_TAG_HEADER] = ELEMENT_DIV,
	[GUMBO_TAG_FOOTER] = ELEMENT_DIV, [GUMBO_TAG_MAIN] = ELEMENT_DIV, [GUMBO_TAG_NAV] = ELEMENT_DIV, [GUMBO_TAG_ASIDE] = ELEMENT_DIV,
	[GUMBO_TAG_ADDRESS] = ELEMENT_DIV, [GUMBO_TAG_HGROUP] = ELEMENT_DIV, [GUMBO_TAG_CENTER] = ELEMENT_DIV,
	[GUMBO_TAG_FORM] = ELEMENT_DIV, [GUMBO_TAG_FIELDSET] = ELEMENT_DIV, [GUMBO_TAG_LEGEND] = ELEMENT_DIV,
	[GUMBO_TAG_MENU] = ELEMENT_UL, [GUMBO_TAG_DIR] = ELEMENT_UL, [GUMBO_TAG_LISTING] = ELEMENT_PRE, [GUMBO_TAG_XMP] = ELEMENT_PRE,
	[GUMBO_TAG_PLAINTEXT] = ELEMENT_PRE, [GUMBO_TAG_STRIKE] = ELEMENT_S, [GUMBO_TAG_TT] = ELEMENT_CODE,
	[GUMBO_TAG_ACRONYM] = ELEMENT_ABBR,
};

static const GumboAttribute *
attribute_of(const GumboElement *e, const char *name)
{
	const GumboAttribute *a = gumbo_get_attribute(&e->attributes, name);

	return a != NULL && a->attr_namespace == GUMBO_ATTR_NAMESPACE_NONE ? a : NULL;
}

static void
read_attributes(struct attributes *out, const GumboElement *e, enum element el)
{
	for (unsigned i = 0; i < e->attributes.length; i++) {
		const GumboAttribute *a = e->attributes.data[i];
		enum attribute at;
		/* xlink:href arrives as "href" with a name space. */
		if (a->attr_namespace != GUMBO_ATTR_NAMESPACE_NONE)
			continue;
		if (attribute_find(a->name, &at))
			attributes_give(out, at, str_of(a->value));
	}
	const GumboAttribute *name = el == ELEMENT_A ? attribute_of(e, "name") : NULL;
	if (name != NULL && (out->given & (UINT32_C(1) << ATTRIBUTE_ID)) == 0)
		attributes_give(out, ATTRIBUTE_ID, str_of(name->value));
	const GumboAttribute *align = el == ELEMENT_TD || el == ELEMENT_TH ? attribute_of(e, "align") : NULL;
	for (size_t i = 0; align != NULL && i < 3; i++) {
		static const char *const sides[] = { "align-left", "align-center", "align-right" };
		if (strcasecmp(align->value, sides[i] + 6) == 0)
			attributes_give(out, ATTRIBUTE_CLASS, str_of(sides[i]));
	}
}

/* A foreign page inside ours is not shown, but its address stays as a link, so that nothing is lost. */
static void
add_frame_link(struct writer *w, const GumboElement *e)
{
	const GumboAttribute *src = attribute_of(e, e->tag == GUMBO_TAG_OBJECT ? "data" : "src");
	struct attributes a = { 0 };

	if (src == NULL || *src->value == '\0')
		return;
	attributes_give(&a, ATTRIBUTE_HREF, str_of(src->value));
	uint32_t number = writer_open(w, ELEMENT_A, &a);
	if (number != 0)
		writer_text(w, str_of(src->value));
	writer_close(w, number);
}

static void
add_checkbox(struct writer *w, const GumboElement *e)
{
	const GumboAttribute *type = attribute_of(e, "type");

	if (type != NULL && strcasecmp(type->value, "checkbox") == 0)
		writer_text(w, attribute_of(e, "checked") != NULL ? STR("☑ ") : STR("☐ "));
}

/* True if the node's children are to be visited. */
static bool
enter(struct writer *w, const GumboNode *node, uint32_t *number)
{
	const GumboElement *e = &node->v.element;

	*number = 0;
	switch (node->type) {
	case GUMBO_NODE_TEXT:
	case GUMBO_NODE_CDATA:
	case GUMBO_NODE_WHITESPACE:
		writer_text(w, str_of(node->v.text.text));
		return false;
	case GUMBO_NODE_COMMENT:
	case GUMBO_NODE_TEMPLATE:
	case GUMBO_NODE_DOCUMENT:
		return false;
	case GUMBO_NODE_ELEMENT:
		break;
	}
	unsigned fate = fates[e->tag];
	if (fate == DROPPED)
		return false;
	if (e->tag_namespace != GUMBO_NAMESPACE_HTML || fate == ELEMENT_NONE)
		return true;
	if (fate == FRAME)
		add_frame_link(w, e);
	else if (fate == CHECKBOX)
		add_checkbox(w, e);
	else if (fate == CHOICE)
		writer_text(w, STR(" "));
	if (fate >= ELEMENT_COUNT)
		return fate == CHOICE || e->tag == GUMBO_TAG_OBJECT;

	struct attributes a;
	a.given = 0;
	read_attributes(&a, e, (enum element)fate);
	*number = writer_open(w, (enum element)fate, &a);
	return true;
}
