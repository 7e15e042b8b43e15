/* redirect_chain.c - where lines of a file lead that lead to one another: each is followed once, however long the chain. */
#include "actions/redirect_import.h"

#include "base/hash.h"

#define SLOTS 131072		/* a power of two */
#define CHAIN_MAX (SLOTS / 4)	/* lines of one chain; as many may be known from others before */

struct known {
	const char	*source;	/* NULL = free */
	const char	*end;		/* NULL while its chain is walked, and for good when that led nowhere */
	const char	*why;		/* then */
};

/* What one chain has met, to be told its end. */
struct walk { struct known **met; size_t count, room; };

struct chains {
	struct arena	*arena;
	size_t		 count;
	struct known	 slots[SLOTS];
};

static enum status	walk_on(struct scope *, struct redirect_import *, struct staged next, struct walk *, const char **end);
static void		step(struct scope *, struct walk *, struct known *);
static void		forget(struct chains *);
static struct known	*place(struct chains *, const char *source);

enum status
redirect_chain_end(struct scope *s, struct redirect_import *im, const struct staged *row, const char **target)
{
	struct walk walk = { 0 };
	struct staged next;
	enum status status;
	bool found;

	*target = row->target;
	/* Most lines lead to what is no line's source. */
	if (row->target == NULL || row->target[0] != '/')
		return OK;
	TRY(store_stage_find(s, im->read, im->run, row->target, &next, &found));
	if (!found)
		return OK;
	if (im->chains == NULL && (im->chains = calloc(1, sizeof(*im->chains))) == NULL)
		abort();
	forget(im->chains);
	status = walk_on(s, im, *row, &walk, target);
	for (size_t i = 0; i < walk.count; i++) {
		if (status == OK)
			walk.met[i]->end = arena_strdup(im->chains->arena, *target);
		else
			walk.met[i]->why = arena_strdup(im->chains->arena, s->error->detail);
	}
	return status;
}

void
redirect_chains_free(struct chains *c)
{
	if (c != NULL)
		arena_free(c->arena);
	free(c);
}

static enum status
walk_on(struct scope *s, struct redirect_import *im, struct staged next, struct walk *walk, const char **end)
{
	bool found;

	for (;;) {
		struct known *k = place(im->chains, next.source);

		if (k->source != NULL && k->end != NULL) {
			*end = k->end;
			return OK;
		}
		if (k->source != NULL)
			return fail(s, ERR_INVALID, "target", "%s", k->why != NULL ? k->why : "leads in a circle");
		if (walk->count == CHAIN_MAX)
			return fail(s, ERR_INVALID, "target", "leads through more than %d lines", CHAIN_MAX);
		*k = (struct known){ .source = arena_strdup(im->chains->arena, next.source) };
		im->chains->count++;
		step(s, walk, k);
		if (next.target == NULL)
			return fail(s, ERR_INVALID, "target", "leads to %.300s, which line %" PRId64 " marks as gone", next.source, next.line);
		*end = next.target;
		if (next.target[0] != '/')
			return OK;
		TRY(store_stage_find(s, im->read, im->run, next.target, &next, &found));
		if (!found)
			return OK;
	}
}

static void
step(struct scope *s, struct walk *w, struct known *k)
{
	if (w->count == w->room) {
		struct known **more = scope_alloc(s, (w->room = w->room * 2 + 16) * sizeof(struct known *));

		if (w->count > 0)
			memcpy(more, w->met, w->count * sizeof(struct known *));
		w->met = more;
	}
	w->met[w->count++] = k;
}

/* When it is full enough. */
static void
forget(struct chains *c)
{
	if (c->arena != NULL && c->count < CHAIN_MAX)
		return;
	arena_free(c->arena);
	memset(c->slots, 0, sizeof(c->slots));
	c->arena = arena_new();
	c->count = 0;
}

static struct known *
place(struct chains *c, const char *source)
{
	size_t i = hash_fast(str_of(source)) & (SLOTS - 1);

	while (c->slots[i].source != NULL && strcmp(c->slots[i].source, source) != 0)
		i = (i + 1) & (SLOTS - 1);
	return &c->slots[i];
}
