#include "db/log_file.h"
#include <sqlite3.h>

/* SQLite allocates it, with room for the real file behind it. */
struct log_file {
	sqlite3_file	 base;
	sqlite3_file	*real;
	char		*bytes;		/* LOG_FILE_BYTES, or NULL as long as nothing was written */
	sqlite3_int64	 at;		/* where the first of the held bytes belongs */
	int		 held;
};

static int	open_file(sqlite3_vfs *, const char *, sqlite3_file *, int flags, int *opened);
static int	write_out(struct log_file *);
static int	file_close(sqlite3_file *);
static int	file_read(sqlite3_file *, void *, int, sqlite3_int64);
static int	file_write(sqlite3_file *, const void *, int, sqlite3_int64);
static int	file_truncate(sqlite3_file *, sqlite3_int64);
static int	file_sync(sqlite3_file *, int flags);
static int	file_size(sqlite3_file *, sqlite3_int64 *);
static int	file_lock(sqlite3_file *, int);
static int	file_unlock(sqlite3_file *, int);
static int	file_reserved(sqlite3_file *, int *);
static int	file_control(sqlite3_file *, int, void *);
static int	file_sector(sqlite3_file *);
static int	file_device(sqlite3_file *);

static sqlite3_vfs *real_vfs, our_vfs;
static const sqlite3_io_methods methods = {
	.iVersion = 1,
	.xClose = file_close, .xRead = file_read, .xWrite = file_write, .xTruncate = file_truncate, .xSync = file_sync,
	.xFileSize = file_size, .xLock = file_lock, .xUnlock = file_unlock, .xCheckReservedLock = file_reserved,
	.xFileControl = file_control, .xSectorSize = file_sector, .xDeviceCharacteristics = file_device,
};

bool
log_file_register(void)
{
	real_vfs = sqlite3_vfs_find(NULL);
	if (real_vfs == NULL)
		return false;
	our_vfs = *real_vfs;
	our_vfs.pNext = NULL;
	our_vfs.zName = LOG_FILE_VFS;
	our_vfs.szOsFile += (int)sizeof(struct log_file);
	our_vfs.xOpen = open_file;
	return sqlite3_vfs_register(&our_vfs, 0) == SQLITE_OK;
}

static int
open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *opened)
{
	struct log_file *f = (struct log_file *)file;
	int rc;

	(void)vfs;
	if ((flags & SQLITE_OPEN_WAL) == 0)
		return real_vfs->xOpen(real_vfs, name, file, flags, opened);
	memset(f, 0, sizeof(*f));
	f->real = (sqlite3_file *)(f + 1);
	rc = real_vfs->xOpen(real_vfs, name, f->real, flags, opened);
	/* SQLite closes what has methods, even when it could not be opened. */
	if (f->real->pMethods != NULL)
		f->base.pMethods = &methods;
	return rc;
}

/* Whatever the outcome, nothing is held afterwards: SQLite writes it all again if it still wants it. */
static int
write_out(struct log_file *f)
{
	int held = f->held;

	f->held = 0;
	return held == 0 ? SQLITE_OK : f->real->pMethods->xWrite(f->real, f->bytes, held, f->at);
}

static int
file_write(sqlite3_file *file, const void *bytes, int n, sqlite3_int64 at)
{
	struct log_file *f = (struct log_file *)file;
	int rc;

	if (at != f->at + f->held || n > LOG_FILE_BYTES - f->held)
		if ((rc = write_out(f)) != SQLITE_OK)
			return rc;
	if (n > LOG_FILE_BYTES)
		return f->real->pMethods->xWrite(f->real, bytes, n, at);
	if (f->bytes == NULL && (f->bytes = malloc(LOG_FILE_BYTES)) == NULL)
		return SQLITE_IOERR_NOMEM;
	if (f->held == 0)
		f->at = at;
	memcpy(f->bytes + f->held, bytes, (size_t)n);
	f->held += n;
	return SQLITE_OK;
}

static int
file_read(sqlite3_file *file, void *bytes, int n, sqlite3_int64 at)
{
	struct log_file *f = (struct log_file *)file;
	int rc = write_out(f);

	return rc != SQLITE_OK ? rc : f->real->pMethods->xRead(f->real, bytes, n, at);
}

static int
file_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	struct log_file *f = (struct log_file *)file;
	int rc = write_out(f);

	return rc != SQLITE_OK ? rc : f->real->pMethods->xTruncate(f->real, size);
}

static int
file_sync(sqlite3_file *file, int flags)
{
	struct log_file *f = (struct log_file *)file;
	int rc = write_out(f);

	return rc != SQLITE_OK ? rc : f->real->pMethods->xSync(f->real, flags);
}

static int
file_size(sqlite3_file *file, sqlite3_int64 *size)
{
	struct log_file *f = (struct log_file *)file;
	int rc = write_out(f);

	return rc != SQLITE_OK ? rc : f->real->pMethods->xFileSize(f->real, size);
}

/* What is still held belongs to no commit, or it would have been synced. */
static int
file_close(sqlite3_file *file)
{
	struct log_file *f = (struct log_file *)file;

	free(f->bytes);
	f->bytes = NULL;
	return f->real->pMethods->xClose(f->real);
}

static int
file_lock(sqlite3_file *file, int level)
{
	sqlite3_file *real = ((struct log_file *)file)->real;

	return real->pMethods->xLock(real, level);
}

static int
file_unlock(sqlite3_file *file, int level)
{
	sqlite3_file *real = ((struct log_file *)file)->real;

	return real->pMethods->xUnlock(real, level);
}

static int
file_reserved(sqlite3_file *file, int *is_held)
{
	sqlite3_file *real = ((struct log_file *)file)->real;

	return real->pMethods->xCheckReservedLock(real, is_held);
}

static int
file_control(sqlite3_file *file, int what, void *arg)
{
	sqlite3_file *real = ((struct log_file *)file)->real;

	return real->pMethods->xFileControl(real, what, arg);
}

static int
file_sector(sqlite3_file *file)
{
	sqlite3_file *real = ((struct log_file *)file)->real;

	return real->pMethods->xSectorSize(real);
}

static int
file_device(sqlite3_file *file)
{
	sqlite3_file *real = ((struct log_file *)file)->real;

	return real->pMethods->xDeviceCharacteristics(real);
}
