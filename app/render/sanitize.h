/* sanitize.h - the allow-list writer: the only place from which content markup comes. */
#ifndef RENDER_SANITIZE_H
#define RENDER_SANITIZE_H
#include "base/base.h"
#include "core/resource.h"

enum element {
	ELEMENT_NONE,
#define ELEMENT(name, ...) ELEMENT_##name,
#include "render/elements.def"
#undef ELEMENT
	ELEMENT_COUNT
};

enum attribute {
#define ATTRIBUTE(name, ...) ATTRIBUTE_##name,
#include "render/attributes.def"
#undef ATTRIBUTE
	ATTRIBUTE_COUNT
};

/* What a source says about an element: decoded, unchecked. Values count only where their bit is in `given`. */
struct attributes {
	uint32_t	 given;
	struct str	 value[ATTRIBUTE_COUNT];
};
void		 attributes_give(struct attributes *, enum attribute, struct str value);

#define CONTENT_DEPTH_MAX 256
struct writer;
struct anchors;

/* Output is bounded by 8 times source_len + 64 kB. */
struct writer	*writer_new(struct scope *, size_t source_len);
/* Elements are opened and closed in document order. The number returned is for writer_close; 0 (nothing to close) when the
 * element is empty, may not stand here, or lacks what it needs: its content is then written without it. Whatever must end or begin
 * so that parsing the output again gives the same tree ends or begins by itself. */
uint32_t	 writer_open(struct writer *, enum element, const struct attributes *);
void		 writer_close(struct writer *, uint32_t number);
/* UTF-8. */
void		 writer_text(struct writer *, struct str);
/* ERR_INVALID, field "content", once a bound was passed: sources stop then. */
enum status	 writer_status(const struct writer *);
enum status	 writer_end(struct writer *, struct rendered *out) MUST_USE;

/* The writer's own checks, also for those who read its output. */
struct element_info {
	const char	*tag;
	enum content { CONTENT_FLOW, CONTENT_TEXT, CONTENT_HOLDER, CONTENT_INLINE, CONTENT_CLEAR, CONTENT_MEDIA, CONTENT_VOID, CONTENT_RULE }
			 content;
	enum element	 part;		/* CONTENT_HOLDER: what wraps stray content */
	bool		 breaks;	/* its edges separate words of the visible text */
	uint32_t	 attributes;	/* bits of enum attribute */
};
extern const struct element_info element_infos[ELEMENT_COUNT];

/* The checked value of one attribute into *out (emptied first); false drops the attribute. */
bool		 attribute_check(struct buf *out, enum element, enum attribute, struct str value);
const char	*attribute_name(enum attribute);
bool		 attribute_find(const char *name, enum attribute *);
/* A URL as it will be printed: blanks at its ends and controls dropped, the rest percent-encoded; false for other schemes than http https
 * mailto tel (`is_link`) or http https (files). */
bool		 content_url(struct buf *out, struct str raw, bool is_link);
void		 markup_escape(struct buf *out, struct str text);	/* & < > and " */

/* Characters that neither XML nor HTML may hold: controls and noncharacters. Dropped everywhere. */
bool		 text_forbids(int32_t codepoint);
/* `text` without those, a CR as a line end and a form feed as a space. */
bool		 text_needs_cleaning(struct str);
void		 text_clean(struct buf *out, struct str text);
/* Visible text with runs of blanks as one space, added to `text`; *gap is a blank owed. */
void		 visible_add(struct buf *text, bool *gap, struct str);
const char	*excerpt_of(struct scope *, struct str text);

/* Ids of one document, each once. */
struct anchors	*anchors_new(struct scope *);
bool		 anchors_claim(struct anchors *, struct str id);	/* false when taken */
const char	*anchors_make(struct anchors *, struct str text);	/* a free id from a heading's text, claimed */

/* HTML as somebody wrote it, through gumbo, into the writer. */
enum status	 html_walk(struct scope *, struct writer *, struct str html) MUST_USE;
#endif
