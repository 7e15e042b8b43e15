/* log_file.h - how SQLite's log is written: few large writes instead of two small ones for every page.
 *
 * SQLite writes a page of its log as a header of 24 bytes and 4 kB of data, one system call each, and a commit of many articles makes hundreds of
 * them. The VFS here is SQLite's own but for the log: what follows on without a gap is held back until the buffer is full or
 * somebody could miss it - a sync, a read, a question for the size, a write elsewhere.
 *
 * Commits must sync the log (synchronous=FULL, which db_open sets): SQLite tells other connections of new pages after that sync, and
 * nothing is held back any more by then. */
#ifndef DB_LOG_FILE_H
#define DB_LOG_FILE_H
#include "base/base.h"

#define LOG_FILE_VFS "stele"
#define LOG_FILE_BYTES 131072		/* held back at most, for each connection that has written */

/* Makes LOG_FILE_VFS known to SQLite; once in a process. False: SQLite refused. */
bool	 log_file_register(void);
#endif
