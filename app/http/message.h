/* message.h - the header block of one HTTP/1.x request: bytes -> parts, or the refusal it earns. Pure. */
#ifndef HTTP_MESSAGE_H
#define HTTP_MESSAGE_H
#include "base/base.h"
#include "http/exchange.h"

#define MESSAGE_BYTES_MAX 16384		/* of a header block */
#define MESSAGE_LINES_MAX 100
#define MESSAGE_TARGET_MAX 2000

/* Borrows from the bytes it was parsed from. */
struct message {
	enum method	 method;
	struct str	 target;	/* origin form; "*" only with OPTIONS */
	struct str	 path, query;	/* raw halves of target; query without '?' */
	struct str	 host;		/* of the Host field, or of an absolute-form target */
	struct header	 headers[MESSAGE_LINES_MAX];
	size_t		 header_count;
	int64_t		 length;	/* Content-Length; 0 when absent */
	bool		 is_http10;
	bool		 wants_close;	/* HTTP/1.0, or Connection: close */
	bool		 wants_continue;	/* Expect: 100-continue */
};

/* Where the header block that begins `bytes` ends (behind its empty line). OK with *end = 0: not all here yet. ERR_HEADERS: too long;
 * ERR_MALFORMED_REQUEST: a line end that is not CR LF. Empty lines in front of the request line belong to the block. */
enum status	 message_end(struct str bytes, size_t *end) MUST_USE;
/* Parse a whole block, at most MESSAGE_BYTES_MAX bytes. Anything two parsers could read differently is refused: ERR_MALFORMED_REQUEST, and
 * ERR_LENGTH_REQUIRED for any Transfer-Encoding and for PUT and PATCH without Content-Length. Also ERR_URI_TOO_LONG, ERR_HEADERS and
 * ERR_NOT_IMPLEMENTED (methods outside enum method). */
enum status	 message_parse(struct message *, struct str block) MUST_USE;
/* First field of that name (without case); {NULL, 0} when absent. */
struct str	 message_header(const struct message *, const char *name);

#endif
