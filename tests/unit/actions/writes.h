/* writes.h - requests to write as the API makes them, without HTTP: prepared on a reader, applied by the writer. */
#ifndef TEST_WRITES_H
#define TEST_WRITES_H
#include "db/fixture.h"
#include <jansson.h>
#include "actions/resources.h"
#include "actions/unit.h"
#include "actions/users.h"
#include "base/hash.h"
#include "core/site.h"

#define BASE "https://ex.test"
#define CREATE write_rule(WRITE_ARTICLE_CREATE)

struct world {
	struct fixture	 f;		/* first: the helpers of fixture.h take it */
	struct db	*read;
	struct site	 site;
	struct principal alice, bob, viewer;
	int		 keys;
};

static inline struct principal
world_user(struct world *w, const char *name, enum role role)
{
	struct user_new u = { .name = name, .role = role };
	struct principal who;

	assert_ok(w->f.s, writer_run(w->f.s, w->f.db, w->f.shared, user_add, &u));
	assert_ok(w->f.s, user_by_name(w->f.s, w->f.db, name, &who));
	return who;
}

static inline int
world_setup(void **state)
{
	struct world *w;
	struct fixture *f;

	database_setup(state);
	f = *state;
	w = scope_alloc(f->s, sizeof(*w));
	w->f = *f;
	assert_ok(f->s, db_open(f->s, &w->read, f->path, DB_READ));
	site_defaults(&w->site);
	w->site.public_origin = w->site.admin_origin = BASE;
	w->alice = world_user(w, "alice", ROLE_AUTHOR);
	w->bob = world_user(w, "bob", ROLE_EDITOR);
	w->viewer = world_user(w, "vera", ROLE_VIEWER);
	*state = w;
	return 0;
}

static inline int
world_teardown(void **state)
{
	struct world *w = *state;

	db_close(w->read);
	return teardown(state);
}

/* A fresh unit; key NULL makes a fresh one. The hash is that of `content`, as the API's is of the body. */
static inline struct unit *
world_unit(struct world *w, const struct principal *who, const struct write_rule *rule, const char *key, const char *content)
{
	struct unit *u = scope_alloc(w->f.s, sizeof(*u));
	char *hash = scope_alloc(w->f.s, SHA256_HEX);

	sha256_hex_of(str_of(content), hash);
	u->rule = rule;
	u->who = *who;
	u->site = &w->site;
	u->key = key != NULL ? key : scope_printf(w->f.s, "test-key-%010d", ++w->keys);
	u->hash = hash;
	return u;
}

/* Found, or prepared and applied: what the API does. */
static inline enum status
world_run(struct world *w, struct unit *u, enum status (*prepare)(struct world *, struct unit *, void *), void *arg)
{
	struct scope *s = w->f.s;
	enum status status;
	bool found;

	s->error = NULL;
	assert_ok(s, db_begin(s, w->read));
	status = unit_find(s, w->read, u, &found);
	if (status == OK && !found)
		status = prepare(w, u, arg);
	db_rollback(w->read);
	if (status != OK || (found && u->answer.status != 0))
		return status;
	return writer_run(s, w->f.db, w->f.shared, unit_apply, u);
}

struct creation { enum kind kind; json_t *body; };

static inline enum status
world_prepare_creation(struct world *w, struct unit *u, void *arg)
{
	struct creation *c = arg;

	return resource_create_prepare(w->f.s, w->read, u, c->kind, c->body);
}

static inline enum status
world_create(struct world *w, const struct principal *who, enum kind kind, const char *body, const char *key, struct unit **out)
{
	struct creation c = { kind, json_loads(body, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL) };
	struct unit *u = world_unit(w, who, CREATE, key, body);
	enum status status;

	assert_non_null(c.body);
	*out = u;
	status = world_run(w, u, world_prepare_creation, &c);
	json_decref(c.body);
	return status;
}

/* The answer's body of a creation that must succeed with `status`. The caller's json_t. */
static inline json_t *
world_made(struct world *w, const struct principal *who, enum kind kind, const char *body, int status)
{
	struct unit *u;
	json_t *answer;

	assert_ok(w->f.s, world_create(w, who, kind, body, NULL, &u));
	if (u->answer.status != status)
		print_error("%s: %.*s\n", body, STR_FMT(u->answer.body));
	assert_int_equal(u->answer.status, status);
	assert_true(u->answer.body.len <= 4096);
	answer = json_loadb(u->answer.body.p, u->answer.body.len, JSON_ALLOW_NUL, NULL);
	assert_non_null(answer);
	return answer;
}

struct change { enum kind kind; const char *id; json_t *body; enum move move; };

static inline enum status
world_prepare_update(struct world *w, struct unit *u, void *arg)
{
	struct change *c = arg;

	return resource_update_prepare(w->f.s, w->read, u, c->kind, c->id, c->body);
}

static inline enum status
world_prepare_move(struct world *w, struct unit *u, void *arg)
{
	struct change *c = arg;

	return resource_move_prepare(w->f.s, w->read, u, c->kind, c->id, c->move, NULL);
}

static inline enum status
world_update(struct world *w, const struct principal *who, enum kind kind, const char *id, const char *patch, const char *if_match,
    struct unit **out)
{
	struct change c = { .kind = kind, .id = id, .body = json_loads(patch, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL) };
	struct unit *u = world_unit(w, who, write_rule(WRITE_ARTICLE_UPDATE), NULL, scope_printf(w->f.s, "%s %s", id, patch));
	enum status status;

	assert_non_null(c.body);
	u->if_match = if_match;
	*out = u;
	status = world_run(w, u, world_prepare_update, &c);
	json_decref(c.body);
	return status;
}

static inline enum status
world_move(struct world *w, const struct principal *who, enum kind kind, const char *id, enum move move, struct unit **out)
{
	struct change c = { .kind = kind, .id = id, .move = move };
	enum write_id rule = move == MOVE_PUBLISH ? WRITE_ARTICLE_PUBLISH : WRITE_ARTICLE_WITHDRAW;

	*out = world_unit(w, who, write_rule(rule), NULL, id);
	return world_run(w, *out, world_prepare_move, &c);
}

/* The answer of a change that must succeed. The caller's json_t. */
static inline json_t *
world_answer(struct world *w, const struct unit *u, enum status status)
{
	json_t *answer;

	assert_ok(w->f.s, status);
	if (u->answer.status != 200)
		print_error("%.*s\n", STR_FMT(u->answer.body));
	assert_int_equal(u->answer.status, 200);
	answer = json_loadb(u->answer.body.p, u->answer.body.len, JSON_ALLOW_NUL, NULL);
	assert_non_null(answer);
	return answer;
}

static inline json_t *
world_updated(struct world *w, const struct principal *who, enum kind kind, const char *id, const char *patch, const char *if_match)
{
	struct unit *u;
	enum status status = world_update(w, who, kind, id, patch, if_match, &u);

	return world_answer(w, u, status);
}

static inline json_t *
world_moved(struct world *w, const struct principal *who, enum kind kind, const char *id, enum move move)
{
	struct unit *u;
	enum status status = world_move(w, who, kind, id, move, &u);

	return world_answer(w, u, status);
}

/* A text member, by "a.b"; "" when it is null or absent. */
static inline const char *
text_at(json_t *value, const char *name)
{
	const char *dot = strchr(name, '.');
	char first[64];

	if (dot == NULL)
		return json_is_string(json_object_get(value, name)) ? json_string_value(json_object_get(value, name)) : "";
	snprintf(first, sizeof(first), "%.*s", (int)(dot - name), name);
	return text_at(json_object_get(value, first), dot + 1);
}
#define assert_text(value, name, expected) assert_string_equal(text_at(value, name), expected)
#endif
