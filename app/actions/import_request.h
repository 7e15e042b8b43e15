/* import_request.h - imports that are sent to the API: what they may say, and the operations they become. */
#ifndef ACTIONS_IMPORT_REQUEST_H
#define ACTIONS_IMPORT_REQUEST_H
#include <jansson.h>
#include "actions/unit.h"
#include "base/config.h"

#define IMPORT_ITEMS_MAX 1000
#define IMPORT_ITEMS_BYTES ((size_t)8 << 20)	/* of a body with items; exports may be larger */
#define IMPORT_ITEM_BYTES ((size_t)2 << 20)	/* of one item, as for the creation of one article */

/* { "items": [ { "key"?, "article": {...} }, ... ] }: the list is checked here, each item when its turn comes. `body` is borrowed. */
enum status	 import_items_prepare(struct scope *, const struct config *, struct unit *, json_t *body, bool is_dry_run) MUST_USE;

/* A WordPress export that was sent. */
enum status	 import_upload_prepare(struct scope *, const struct config *, struct unit *, struct str bytes, bool keep_permalinks,
		    bool is_dry_run) MUST_USE;
/* { "path", "uploads"?, "keep_permalinks"? }: one that lies in the folder of the setting import_dir, and a folder there that holds the files of
 * wp-content/uploads. ERR_INVALID when nothing may be read or nothing of that name is below it, symbolic links resolved. */
enum status	 import_path_prepare(struct scope *, const struct config *, struct unit *, json_t *body, bool is_dry_run) MUST_USE;
#endif
