/* csv.h - rows of a CSV file as people save them: RFC 4180 quoting, `,` `;` or tab, any line end, a byte order mark, Excel's habits. */
#ifndef RENDER_CSV_H
#define RENDER_CSV_H
#include "base/base.h"

#define CSV_FIELDS 16		/* kept of a row; further ones are dropped */
#define CSV_FIELD_MAX 8192	/* bytes */

struct csv;			/* one open file; memory is bounded whatever its size */

struct csv_row {
	int64_t		 line;		/* where it begins, from 1 */
	size_t		 count;
	struct str	 fields[CSV_FIELDS];	/* in the scope; blanks around unquoted ones are gone, and ="x" is x */
	const char	*mistake;	/* why the row cannot be used; NULL = it can */
};

/* Finds out the delimiter: what a line `sep=X` says, else the most frequent in the first line. ERR_NOT_FOUND; ERR_INVALID for UTF-16. */
enum status	 csv_open(struct scope *, struct csv **, const char *path) MUST_USE;
void		 csv_close(struct csv *);	/* NULL is fine */
/* The next row that is not empty. *more false: the end. `s` takes the fields. ERR_STORAGE when the file cannot be read on. */
enum status	 csv_next(struct scope *s, struct csv *, struct csv_row *, bool *more) MUST_USE;
int64_t		 csv_read_bytes(const struct csv *);	/* how far */

/* A field, quoted where it must be to come back as it is. */
void		 csv_put(struct buf *, const char *text);	/* NULL = empty */
#endif
