/* fuzz_message.c - any bytes a client may send: refused, or one request whose parts lie inside them and that ends where it says. */
#include "http/message.h"
#include "http/router.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
claim(bool holds)
{
	if (!holds)
		abort();
}

static void
is_clean(struct str s, bool may_have_tab)
{
	for (size_t i = 0; i < s.len; i++)
		claim(((unsigned char)s.p[i] >= ' ' && s.p[i] != 0x7f) || (may_have_tab && s.p[i] == '\t'));
}

static void
is_sound(const struct message *m)
{
	int hosts = 0, lengths = 0;

	claim(m->method < METHOD_COUNT && m->length >= 0 && m->header_count <= MESSAGE_LINES_MAX && m->target.len <= MESSAGE_TARGET_MAX);
	claim(str_is(m->target, "*") || str_starts(m->target, "/"));
	claim(m->path.len + m->query.len <= m->target.len && memchr(m->path.p, '?', m->path.len) == NULL);
	is_clean(m->target, false);
	is_clean(m->host, false);
	claim(m->host.len > 0);
	for (size_t i = 0; i < m->header_count; i++) {
		is_clean(m->headers[i].name, false);
		is_clean(m->headers[i].value, true);
		claim(m->headers[i].name.len > 0 && memchr(m->headers[i].name.p, ':', m->headers[i].name.len) == NULL);
		hosts += str_is_nocase(m->headers[i].name, "host");
		lengths += str_is_nocase(m->headers[i].name, "content-length");
		claim(!str_is_nocase(m->headers[i].name, "transfer-encoding"));
	}
	claim(hosts == 1 && lengths <= 1 && (lengths == 1 || m->length == 0));
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct message m;
	struct str bytes = { (const char *)data, size }, params[4];
	const struct route *route;
	struct scope *s = scope_new("fuzz");
	char *exact;
	size_t end, shorter;

	if (message_end(bytes, &end) == OK && end > 0) {
		claim(end <= size && end <= MESSAGE_BYTES_MAX);
		for (size_t n = end; n > 0 && n + 3 > end; n--) {
			claim(message_end(str_part(bytes, 0, n - 1), &shorter) == OK);
			claim(shorter == 0);
		}
		/* A piece of its own, so that reading past its end is seen. */
		exact = malloc(end);
		memcpy(exact, bytes.p, end);
		if (message_parse(&m, (struct str){ exact, end }) == OK) {
			is_sound(&m);
			if (router_find(&route, m.method, m.path, params) == OK)
				claim(route->handler != NULL);
			claim(router_allow(s, m.path) != NULL);
		}
		free(exact);
	}
	scope_free(s);
	return 0;
}
