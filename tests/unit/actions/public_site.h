/* public_site.h - rows of a small site, written straight into the tables, for tests of what the public sees. */
#ifndef TEST_PUBLIC_SITE_H
#define TEST_PUBLIC_SITE_H
#include "db/fixture.h"
#include "core/site.h"
#include "core/url.h"

#define ORIGIN "https://ex.test"
#define NO_QUERY ((struct str){ NULL, 0 })

static inline void
exec(struct fixture *f, const char *fmt, ...)
{
	va_list ap;
	const char *sql;

	va_start(ap, fmt);
	sql = arena_vprintf(f->s->arena, fmt, ap);
	va_end(ap);
	assert_ok(f->s, db_exec(f->s, f->db, sql));
}

static inline const char *
fold_of_path(struct fixture *f, const char *path)
{
	struct url_form form;

	assert_ok(f->s, url_form(f->s, &form, str_of(path)));
	assert_string_equal(form.path, path);	/* a test must store what Stele would */
	return form.fold;
}

static inline void
add_alias(struct fixture *f, const char *path, int id, int status, bool was_canonical)
{
	exec(f, "INSERT INTO path (path, fold, role, resource_id, status, was_public, was_canonical, created_at) "
	    "VALUES ('%s', '%s', 'alias', %d, %d, 1, %d, 1)", path, fold_of_path(f, path), id, status, was_canonical);
}

static inline void
add_external(struct fixture *f, const char *path, const char *target, int status)
{
	exec(f, "INSERT INTO path (path, fold, role, target, status, created_at) VALUES ('%s', '%s', 'external', '%s', %d, 1)",
	    path, fold_of_path(f, path), target, status);
}

static inline void
add_gone(struct fixture *f, const char *path, int status)
{
	exec(f, "INSERT INTO path (path, fold, role, status, created_at) VALUES ('%s', '%s', 'gone', %d, 1)", path,
	    fold_of_path(f, path), status);
}

static inline void
add_query(struct fixture *f, const char *path, const char *pairs, int id, const char *target)
{
	exec(f, "INSERT INTO path_query (path, pairs, resource_id, target, created_at) VALUES ('%s', '%s', nullif(%d, 0), %s%s%s, 1)", path,
	    pairs, id, target ? "'" : "", target ? target : "NULL", target ? "'" : "");
}

static inline void
add_rule(struct fixture *f, const char *pattern, const char *target, int status)
{
	exec(f, "INSERT INTO path_rule (pattern, target, status, created_at) VALUES ('%s', '%s', %d, 1)", pattern, target, status);
}

/* A resource with one revision, which is live in every state but draft. It was published `id` seconds after the epoch. */
static inline void
add_resource(struct fixture *f, int id, const char *kind, const char *state, const char *path, const char *html)
{
	bool was_live = strcmp(state, "draft") != 0;

	exec(f, "INSERT INTO resource (id, uid, kind, locale, state, slug, head_revision, live_revision, scheduled_revision, publish_at, "
	    "first_published_at, live_changed_at, live_title, created_at, changed_at) VALUES (%d, printf('%%036d', %d), '%s', 'en', '%s', "
	    "'s%d', 1, %s, %s, %s, %d, %d, 'Title %d', %d, %d)", id, id, kind, state, id, was_live ? "1" : "NULL",
	    strcmp(state, "scheduled") == 0 ? "1" : "NULL", strcmp(state, "scheduled") == 0 ? "99999999999999" : "NULL", id * 1000, id * 1000,
	    id, id * 1000, id * 1000);
	exec(f, "INSERT INTO revision (resource_id, number, title, format, source, created_at) VALUES (%d, 1, 'Title %d', 'html', '', 1)", id, id);
	exec(f, "INSERT INTO rendered (resource_id, number, renderer_version, html, excerpt, links, images) "
	    "VALUES (%d, 1, 1, '%s', 'Excerpt %d', '[]', '[]')", id, html, id);
	exec(f, "INSERT INTO path (path, fold, role, resource_id, was_public, was_canonical, created_at) "
	    "VALUES ('%s', '%s', 'canonical', %d, %d, 1, 1)", path, fold_of_path(f, path), id, was_live);
}

static inline void
tag_resource(struct fixture *f, int tag, int id)
{
	exec(f, "INSERT INTO live_tag (tag_id, published_at, resource_id, position) VALUES (%d, %d, %d, %d)", tag, id * 1000, id, tag);
}

/* `count` live articles /articles/nID from id `first` on, by one statement per table. */
static inline void
add_many(struct fixture *f, int first, int count)
{
	const char *from = scope_printf(f->s, "WITH RECURSIVE n(i) AS (SELECT %d UNION ALL SELECT i + 1 FROM n WHERE i < %d)", first,
	    first + count - 1);

	exec(f, "BEGIN; %s INSERT INTO resource (id, uid, kind, locale, state, slug, head_revision, live_revision, first_published_at, "
	    "live_changed_at, live_title, created_at, changed_at) SELECT i, printf('%%036d', i), 'article', 'en', 'published', 'n' || i, 1, 1, "
	    "i * 1000, i * 1000, 'Title ' || i, 1, i * 1000 FROM n;"
	    "%s INSERT INTO revision (resource_id, number, title, format, source, created_at) SELECT i, 1, 'T', 'html', '', 1 FROM n;"
	    "%s INSERT INTO rendered (resource_id, number, renderer_version, html, excerpt, links, images) "
	    "SELECT i, 1, 1, '<p>x</p>', 'x', '[]', '[]' FROM n;"
	    "%s INSERT INTO path (path, fold, role, resource_id, was_public, was_canonical, created_at) "
	    "SELECT '/articles/n' || i, '/articles/n' || i, 'canonical', i, 1, 1, 1 FROM n; COMMIT", from, from, from, from);
}

static inline struct site
test_site(void)
{
	struct site site;

	site_defaults(&site);
	site.public_origin = site.admin_origin = ORIGIN;
	return site;
}
#endif
