/* config.h - the settings that live outside the database: file and flags, made once, never changed. */
#ifndef BASE_CONFIG_H
#define BASE_CONFIG_H
#include "base/base.h"

/* Precedence: flag, then environment (none today), then DATA/stele.conf, then default. See settings table in README.md. */
struct config {
	const char	*data_dir;		/* absolute */
	const char	*share_dir;		/* templates/, assets/, migrations/; absolute */
	const char	*listen;		/* "ADDR:PORT", default 127.0.0.1:8080 */
	const char	*public_origin;		/* scheme://host[:port], no path, lower-case, default port dropped */
	const char	*admin_origin;		/* default: public_origin */
	const char	**aliases;		/* host names that answer one 301 to public_origin; NULL-terminated */
	const char	**trusted_proxies;	/* peer addresses whose X-Forwarded-* are believed; NULL-terminated */
	int		 workers;		/* 1..16, default 2 */
	int64_t		 cache_bytes;		/* response cache of one worker, default 16 MiB */
	int		 max_queue;		/* waiting writes per worker, default 1024 */
	const char	*import_dir;		/* whose files an import may name; NULL = none */
	bool		 public_given, admin_given;	/* else the origin follows from the setting above it */
};

/* Read DATA/stele.conf if it is there (`key = value`; # begins a comment at the start of a line or after a blank; 64 kB at most;
 * unknown key: error naming file:line), apply defaults. public_origin follows from listen (http://localhost:PORT for loopback and
 * wildcard addresses), share_dir from where the program lies. */
enum status	 config_load(struct scope *, struct config **, const char *data_dir) MUST_USE;
/* The same from another file, which must be there: what config_text wrote. */
enum status	 config_load_file(struct scope *, struct config **, const char *data_dir, const char *path) MUST_USE;
/* Check and normalise an origin; ERR_INVALID for a path, query, user or other scheme than http and https. */
enum status	 config_origin(struct scope *, const char **out, const char *value) MUST_USE;
/* One `key = value` as from the file; used for flags too. `where` names the place in errors. Later values replace earlier ones; lists
 * are separated by spaces. */
enum status	 config_set(struct scope *, struct config *, const char *key, const char *value, const char *where) MUST_USE;
/* The same settings as a file that config_load reads back: how `serve` hands its flags to its children. */
const char	*config_text(struct scope *, const struct config *);
const char	*config_path(struct scope *, const struct config *, const char *name);	/* DATA/name */

#endif
