/* compress.h - gzip and brotli of whole buffers. */
#ifndef BASE_COMPRESS_H
#define BASE_COMPRESS_H
#include "base/base.h"

enum coding { CODING_IDENTITY, CODING_GZIP, CODING_BR, CODING_COUNT };
const char	*coding_name(enum coding);		/* "identity", "gzip", "br" */

/* Result in the scope. The same input gives the same bytes (gzip without time stamp). */
void		 compress_buf(struct scope *, enum coding, struct str in, struct str *out);
/* RFC 9110 12.5.3: the coding to send for an Accept-Encoding value; br before gzip at equal q; q=0 and * honoured.
 * Absent header ({NULL,0}) gives identity. */
enum coding	 coding_negotiate(struct str accept_encoding);

#endif
