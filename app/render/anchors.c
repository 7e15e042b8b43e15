/* anchors.c - ids of one document: each once, headings' ids made from their text. */
#include "base/hash.h"
#include "core/slug.h"
#include "render/sanitize.h"

/* Open addressing; `next` is the number to try first when the id is wanted again, so that ten thousand equal headings
 * do not cost ten thousand squared. */
struct slot {
	struct str	 id;
	int		 next;
};

struct anchors {
	struct scope	*s;
	struct slot	*slots;
	size_t		 count, cap;	/* cap: 0 or a power of two */
};

struct anchors *
anchors_new(struct scope *s)
{
	struct anchors *a = scope_alloc(s, sizeof(*a));

	a->s = s;
	return a;
}

static struct slot *
find(const struct anchors *a, struct str id)
{
	size_t i = hash_fast(id) & (a->cap - 1);

	while (a->slots[i].id.p != NULL && !str_eq(a->slots[i].id, id))
		i = (i + 1) & (a->cap - 1);
	return &a->slots[i];
}

static void
grow(struct anchors *a)
{
	struct anchors old = *a;

	a->cap = old.cap > 0 ? old.cap * 2 : 32;
	a->slots = scope_alloc(a->s, a->cap * sizeof(*a->slots));
	for (size_t i = 0; i < old.cap; i++)
		if (old.slots[i].id.p != NULL)
			*find(a, old.slots[i].id) = old.slots[i];
	/* The theme's own anchor, the target of its skip link. */
	if (old.cap == 0)
		anchors_claim(a, STR("stele-main"));
}

bool
anchors_claim(struct anchors *a, struct str id)
{
	if ((a->count + 1) * 2 > a->cap)
		grow(a);
	struct slot *slot = find(a, id);
	if (slot->id.p != NULL)
		return false;
	*slot = (struct slot){ { str_dup(a->s->arena, id), id.len }, 2 };
	a->count++;
	return true;
}

const char *
anchors_make(struct anchors *a, struct str text)
{
	const char *slug, *id;

	/* A heading as long as a chapter needs no id as long. */
	if (slug_from_title(a->s, &slug, utf8_cut(text, 400), SLUG_UNICODE) != OK || *slug == '\0')
		slug = "section";
	for (id = slug; !anchors_claim(a, str_of(id));)
		id = slug_numbered(a->s, slug, find(a, str_of(slug))->next++);
	return id;
}
