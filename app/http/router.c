#include "http/router.h"

static bool	matches(const char *pattern, struct str path, struct str params[4]);
static bool	is_api(struct str path);

static const struct route routes[] = {
#define ROUTE(method, pattern, handler, limit, kind) { METHOD_##method, pattern, handler, limit, ROUTE_##kind },
#include "http/routes.def"
#undef ROUTE
};

enum status
router_find(const struct route **out, enum method method, struct str path, struct str params[4])
{
	enum method wanted = method == METHOD_HEAD ? METHOD_GET : method;
	bool other = false;

	*out = NULL;
	for (size_t i = 0; i < COUNT(routes); i++) {
		const struct route *r = &routes[i];

		/* "*" takes what nobody claims: not an address that has a route of its own, and nothing below /api. */
		if (strcmp(r->pattern, "*") == 0 ? other || is_api(path) : !matches(r->pattern, path, params))
			continue;
		if (r->method == wanted) {
			*out = r;
			return OK;
		}
		other = true;
	}
	return other ? ERR_METHOD : ERR_NOT_FOUND;
}

const char *
router_allow(struct scope *s, struct str path)
{
	struct buf b;
	const struct route *r;

	buf_init(&b, s->arena);
	for (enum method m = METHOD_GET; m < METHOD_OPTIONS; m++)
		if (router_find(&r, m, path, NULL) == OK)
			buf_printf(&b, "%s, ", method_name(m));
	buf_text(&b, method_name(METHOD_OPTIONS));
	return b.p;
}

enum route_kind
router_kind(struct str path)
{
	for (size_t i = 0; i < COUNT(routes); i++)
		if (matches(routes[i].pattern, path, NULL))
			return routes[i].kind;
	return is_api(path) ? ROUTE_API : ROUTE_PUBLIC;
}

static bool
is_api(struct str path)
{
	return str_is(path, "/api") || str_starts(path, "/api/");
}

/* {name} takes one or more bytes up to the next '/', or up to the literal text behind it. */
static bool
matches(const char *pattern, struct str path, struct str params[4])
{
	size_t i = 0, n = 0;

	if (strcmp(pattern, "*") == 0)
		return false;
	while (*pattern != '\0') {
		size_t from = i, tail;
		const char *end;

		if (*pattern != '{') {
			if (i == path.len || path.p[i++] != *pattern++)
				return false;
			continue;
		}
		end = strchr(pattern, '}') + 1;
		while (i < path.len && path.p[i] != '/')
			i++;
		tail = strcspn(end, "/");
		if (i - from <= tail || memcmp(path.p + i - tail, end, tail) != 0)
			return false;
		i -= tail;
		assert(n < 4);
		if (params != NULL)
			params[n++] = str_part(path, from, i);
		pattern = end;
	}
	return i == path.len;
}
