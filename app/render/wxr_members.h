/* wxr_members.h - which element of an export says what. For wxr.c. */
#ifndef RENDER_WXR_MEMBERS_H
#define RENDER_WXR_MEMBERS_H
#include "render/wxr.h"

/* `name` as wxr.c gives it ("wp:post_id"), `text` is kept by reference; names of no use are passed over. `term` is the item's latest, or NULL. */
void		 wxr_author_member(struct wxr_author *, const char *name, const char *text);
void		 wxr_term_member(struct wxr_term *, const char *name, const char *text);
void		 wxr_item_member(struct wxr_item *, struct wxr_term *term, const char *name, const char *text);
void		 wxr_meta_member(struct wxr_meta *, const char *name, const char *text);
#endif
