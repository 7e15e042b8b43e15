/* xml_out.h - one XML document through libxml2's writer: elements, attributes, text; escaped, and without what XML cannot hold. */
#ifndef RENDER_XML_OUT_H
#define RENDER_XML_OUT_H
#include "base/base.h"

/* A document lives until xml_end, which must be called; a failure in between is told there. Names are literals of the program, with their prefix.
 * Texts are UTF-8; characters that XML 1.0 section 2.2 forbids are left out. NULL as the text of an attribute or a leaf: nothing is written. */
struct xml_out	*xml_begin(struct scope *);
void		 xml_open(struct xml_out *, const char *name);
void		 xml_attribute(struct xml_out *, const char *name, const char *text);
void		 xml_text(struct xml_out *, const char *text);
void		 xml_close(struct xml_out *);
void		 xml_leaf(struct xml_out *, const char *name, const char *text);	/* <name>text</name> */
void		 xml_line(struct xml_out *);						/* a line break */
enum status	 xml_end(struct scope *, struct xml_out *, struct str *out) MUST_USE;
#endif
