/* wxr_input.h - the bytes of an export, cleaned on the way: what XML forbids is dropped and counted. */
#ifndef RENDER_WXR_INPUT_H
#define RENDER_WXR_INPUT_H
#include "base/base.h"

struct wxr_input;
/* Looks at the first bytes: ERR_INVALID says what was found when it cannot be an export (empty, zip, gzip, HTML, JSON, PDF, UTF-16);
 * ERR_NOT_FOUND when it cannot be read. The handle lives in the scope; wxr_input_close closes the file. */
enum status	 wxr_input_open(struct scope *, struct wxr_input **, const char *file) MUST_USE;
/* The next clean piece (at most 8 kB, borrowed until the next call). A piece ends where a character was dropped, so that what is counted
 * belongs to what is being parsed. In UTF-8 files bytes that are no UTF-8 are dropped too. */
enum status	 wxr_input_piece(struct scope *, struct wxr_input *, struct str *piece, bool *at_end) MUST_USE;
void		 wxr_input_position(const struct wxr_input *, int64_t *bytes, int64_t *total);
int64_t		 wxr_input_dropped(const struct wxr_input *);
void		 wxr_input_close(struct wxr_input *);
#endif
