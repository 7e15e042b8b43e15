/* cursor.c - the signed place in a list. */
#include "actions/cursor.h"

#include <fcntl.h>
#include <pthread.h>

#include "base/hash.h"

#define KEY_LEN 32
#define KEY_TEXT_MAX 8000	/* a place is at most a path with its query, and a request line is shorter */
#define MAC_LEN 16		/* of the HMAC's bytes: enough against forgery, half the address */

static pthread_mutex_t	lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned char	key[KEY_LEN];
static bool		has_key;

static enum status	key_read(struct scope *, const char *path, bool *found);
static enum status	key_make(struct scope *, const char *path);
static void		sign(struct scope *, const char *list, const char *place, unsigned char out[SHA256_LEN]);

enum status
server_key_open(struct scope *s, const char *data_dir)
{
	const char *path = scope_printf(s, "%s/server.key", data_dir);
	enum status status = OK;
	bool found = true;

	pthread_mutex_lock(&lock);
	if (!has_key)
		status = key_read(s, path, &found);
	if (status == OK && !found) {
		status = key_make(s, path);
		if (status == OK)
			status = key_read(s, path, &found);
	}
	has_key = has_key || (status == OK && found);
	pthread_mutex_unlock(&lock);
	return status;
}

struct str
server_key(void)
{
	assert(has_key);
	return (struct str){ (const char *)key, KEY_LEN };
}

enum status
list_limit(struct scope *s, int64_t *out, const char *text)
{
	*out = 20;
	if (text != NULL && (!parse_int64(str_of(text), out) || *out < 1 || *out > LIST_LIMIT_MAX))
		return fail(s, ERR_INVALID, "limit", "must be a number from 1 to %d", LIST_LIMIT_MAX);
	return OK;
}

const char *
cursor_text(struct scope *s, const char *list, struct cursor c)
{
	const char *place = scope_printf(s, "%" PRId64 ".%" PRId64, c.at, c.id);
	unsigned char mac[SHA256_LEN];

	sign(s, list, place, mac);
	return scope_printf(s, "%s.%s", place, base64url(s, mac, MAC_LEN));
}

enum status
cursor_parse(struct scope *s, struct cursor *out, const char *list, const char *text)
{
	struct str rest = str_of(text), at, id, mac;
	unsigned char expected[SHA256_LEN];

	if (rest.len < 200 && str_next(&rest, '.', &at) && str_next(&rest, '.', &id) && parse_int64(at, &out->at) && parse_int64(id, &out->id) &&
	    base64url_decode(s, rest, &mac) && mac.len == MAC_LEN) {
		sign(s, list, scope_printf(s, "%" PRId64 ".%" PRId64, out->at, out->id), expected);
		if (bytes_equal(mac.p, expected, MAC_LEN))
			return OK;
	}
	return fail(s, ERR_CURSOR, "cursor", "this cursor was not made for this list with these filters and this sort");
}

const char *
cursor_key_text(struct scope *s, const char *list, struct str at)
{
	const char *place = base64url(s, at.p, at.len);
	unsigned char mac[SHA256_LEN];

	sign(s, list, place, mac);
	return scope_printf(s, "%s.%s", place, base64url(s, mac, MAC_LEN));
}

enum status
cursor_key_parse(struct scope *s, struct str *at, const char *list, const char *text)
{
	struct str rest = str_of(text), place, mac;
	unsigned char expected[SHA256_LEN];

	if (rest.len < KEY_TEXT_MAX && str_next(&rest, '.', &place) && base64url_decode(s, rest, &mac) && mac.len == MAC_LEN) {
		sign(s, list, str_dup(s->arena, place), expected);
		if (bytes_equal(mac.p, expected, MAC_LEN) && base64url_decode(s, place, at))
			return OK;
	}
	return fail(s, ERR_CURSOR, "cursor", "this cursor was not made for this list with these filters and this sort");
}

static void
sign(struct scope *s, const char *list, const char *place, unsigned char out[SHA256_LEN])
{
	hmac_sha256(server_key(), str_of(scope_printf(s, "cursor\n%s\n%s", list, place)), out);
}

static enum status
key_read(struct scope *s, const char *path, bool *found)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	*found = fd != -1;
	if (fd == -1)
		return errno == ENOENT ? OK : fail(s, ERR_STORAGE, NULL, "server.key cannot be opened: %s", strerror(errno));
	n = read(fd, key, KEY_LEN);
	close(fd);
	return n == KEY_LEN ? OK : fail(s, ERR_STORAGE, NULL, "server.key is damaged");
}

/* Written whole under another name, then linked: whoever comes second finds the first one's key. */
static enum status
key_make(struct scope *s, const char *path)
{
	unsigned char fresh[KEY_LEN];
	const char *temporary;
	enum status status = OK;
	int fd;

	random_bytes(fresh, sizeof(fresh));
	temporary = scope_printf(s, "%s.%s", path, base64url(s, fresh, 9));
	random_bytes(fresh, sizeof(fresh));
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd == -1)
		return fail(s, ERR_STORAGE, NULL, "server.key cannot be made: %s", strerror(errno));
	if (write(fd, fresh, sizeof(fresh)) != (ssize_t)sizeof(fresh) || fsync(fd) == -1)
		status = fail(s, ERR_STORAGE, NULL, "server.key cannot be written: %s", strerror(errno));
	close(fd);
	if (status == OK && link(temporary, path) == -1 && errno != EEXIST)
		status = fail(s, ERR_STORAGE, NULL, "server.key cannot be linked: %s", strerror(errno));
	unlink(temporary);
	return status;
}
