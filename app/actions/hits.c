/* hits.c - how often redirects are used and what was not found. */
#include "actions/hits.h"

#include <pthread.h>

#include "actions/cursor.h"
#include "actions/json.h"
#include "base/hash.h"
#include "core/permission.h"
#include "store/hits.h"
#include "store/redirects.h"

#define SLOTS 2048
#define PROBES 8
#define FLUSH_ROWS 100

struct slot {
	char		*key;		/* NULL = free; malloced */
	bool		 is_redirect;	/* else a path that was not found */
	int64_t		 hits, first_at, last_at;
};

static pthread_mutex_t	lock = PTHREAD_MUTEX_INITIALIZER;
static struct slot	slots[SLOTS];
static size_t		used;

static struct slot	*slot_for(const char *key, bool is_redirect);
static size_t		take(struct scope *, struct slot *out);
static enum status	write_one(struct scope *, struct db *, const struct slot *);

void
hits_count(const struct resolution *r, int64_t now)
{
	const char *key = r->redirect != NULL ? r->redirect : r->meaning == MEANING_NONE ? r->path : NULL;
	struct slot *slot;

	if (key == NULL || (r->redirect == NULL && strlen(key) > HITS_PATH_MAX))
		return;
	pthread_mutex_lock(&lock);
	if ((slot = slot_for(key, r->redirect != NULL)) != NULL) {
		slot->hits++;
		slot->first_at = slot->first_at == 0 ? now : slot->first_at;
		slot->last_at = now;
	}
	pthread_mutex_unlock(&lock);
}

bool
hits_pending(void)
{
	bool pending;

	pthread_mutex_lock(&lock);
	pending = used > 0;
	pthread_mutex_unlock(&lock);
	return pending;
}

enum status
hits_flush(struct scope *s, struct db *db, void *unused)
{
	struct slot *taken = scope_alloc(s, FLUSH_ROWS * sizeof(*taken));
	size_t count = take(s, taken);

	/* Counts of a batch that is rolled back are lost. */
	for (size_t i = 0; i < count; i++)
		TRY(write_one(s, db, &taken[i]));
	return OK;
}

enum status
not_found_list(struct scope *s, struct db *db, const struct principal *who, const char *limit_text, const char *cursor, struct str *json,
    const char **next_cursor)
{
	static const char list[] = "not-found";
	struct not_found rows[LIST_LIMIT_MAX + 1], after = { .path = "", .hits = INT64_MAX, .last_at = INT64_MAX };
	int64_t limit;
	struct str key, part;
	size_t count;
	struct buf b;

	TRY(permission_require(s, who, ACTION_MANAGE_REDIRECTS, 0));
	TRY(list_limit(s, &limit, limit_text));
	if (cursor != NULL) {
		TRY(cursor_key_parse(s, &key, list, cursor));
		if (!str_next(&key, ' ', &part) || !parse_int64(part, &after.hits) || !str_next(&key, ' ', &part) || !parse_int64(part, &after.last_at))
			return fail(s, ERR_CURSOR, "cursor", "this cursor leads nowhere");
		after.path = str_dup(s->arena, key);
	}
	TRY(store_not_found_list(s, db, &after, rows, (size_t)limit + 1, &count));
	buf_init(&b, s->arena);
	buf_text(&b, "{\"items\":[");
	for (size_t i = 0; i < count && i < (size_t)limit; i++) {
		buf_text(&b, i > 0 ? ",{" : "{");
		json_put_name(&b, "path");
		json_put_text(&b, rows[i].path);
		json_put_name(&b, "hits");
		buf_printf(&b, "%" PRId64, rows[i].hits);
		json_put_name(&b, "first_at");
		json_put_time(&b, rows[i].first_at);
		json_put_name(&b, "last_at");
		json_put_time(&b, rows[i].last_at);
		buf_char(&b, '}');
	}
	*next_cursor = NULL;
	if (count > (size_t)limit) {
		const struct not_found *last = &rows[limit - 1];

		*next_cursor = cursor_key_text(s, list, str_of(scope_printf(s, "%" PRId64 " %" PRId64 " %s", last->hits, last->last_at, last->path)));
	}
	buf_text(&b, "],\"next\":");
	json_put_text(&b, *next_cursor);
	buf_char(&b, '}');
	*json = buf_as_str(&b);
	return OK;
}

/* Its slot, taken if it had none, from one that was asked for once if need be; NULL when all around it are asked for more. */
static struct slot *
slot_for(const char *key, bool is_redirect)
{
	uint64_t start = hash_fast(str_of(key));
	struct slot *poor = NULL;

	for (size_t i = 0; i < PROBES; i++) {
		struct slot *slot = &slots[(start + i) % SLOTS];

		if (slot->key != NULL && slot->is_redirect == is_redirect && strcmp(slot->key, key) == 0)
			return slot;
		if (poor == NULL || (poor->key != NULL && (slot->key == NULL || slot->hits < poor->hits)))
			poor = slot;
	}
	if (poor->key != NULL && poor->hits > 1)
		return NULL;
	used += poor->key == NULL;
	free(poor->key);
	*poor = (struct slot){ .key = strdup(key), .is_redirect = is_redirect };
	if (poor->key == NULL)
		abort();
	return poor;
}

/* First what was asked for more than once, then the rest, as far as there is room. */
static size_t
take(struct scope *s, struct slot *out)
{
	size_t count = 0;

	pthread_mutex_lock(&lock);
	for (int64_t least = 2; least >= 1; least--)
		for (size_t i = 0; i < SLOTS && count < FLUSH_ROWS; i++) {
			if (slots[i].key == NULL || slots[i].hits < least)
				continue;
			out[count] = slots[i];
			out[count++].key = arena_strdup(s->arena, slots[i].key);
			free(slots[i].key);
			slots[i] = (struct slot){ 0 };
			used--;
		}
	pthread_mutex_unlock(&lock);
	return count;
}

static enum status
write_one(struct scope *s, struct db *db, const struct slot *slot)
{
	const struct not_found row = { slot->key, slot->hits, slot->first_at, slot->last_at };
	struct redirect r;

	if (!slot->is_redirect)
		return store_not_found_add(s, db, &row);
	return redirect_key_parse(s, str_of(slot->key), &r) ? store_redirect_hit(s, db, &r, slot->hits, slot->last_at) : OK;
}
