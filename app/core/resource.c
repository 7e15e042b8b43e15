/* resource.c - names, states and their moves. */
#include "core/resource.h"

struct step {
	enum state	 from;
	enum move	 move;
	enum state	 never_public, was_public;	/* where it leads */
};

static const struct step steps[] = {
	{ STATE_DRAFT, MOVE_PUBLISH, STATE_PUBLISHED, STATE_PUBLISHED },
	{ STATE_SCHEDULED, MOVE_PUBLISH, STATE_PUBLISHED, STATE_PUBLISHED },
	{ STATE_WITHDRAWN, MOVE_PUBLISH, STATE_PUBLISHED, STATE_PUBLISHED },
	{ STATE_PUBLISHED, MOVE_PUBLISH, STATE_PUBLISHED, STATE_PUBLISHED },
	{ STATE_DRAFT, MOVE_SCHEDULE, STATE_SCHEDULED, STATE_SCHEDULED },
	{ STATE_WITHDRAWN, MOVE_SCHEDULE, STATE_SCHEDULED, STATE_SCHEDULED },
	{ STATE_SCHEDULED, MOVE_CANCEL, STATE_DRAFT, STATE_WITHDRAWN },
	{ STATE_PUBLISHED, MOVE_WITHDRAW, STATE_WITHDRAWN, STATE_WITHDRAWN },
	{ STATE_DRAFT, MOVE_DELETE, STATE_GONE, STATE_GONE },
	{ STATE_SCHEDULED, MOVE_DELETE, STATE_GONE, STATE_GONE },
	{ STATE_PUBLISHED, MOVE_DELETE, STATE_GONE, STATE_GONE },
	{ STATE_WITHDRAWN, MOVE_DELETE, STATE_GONE, STATE_GONE },
	{ STATE_GONE, MOVE_RESTORE, STATE_WITHDRAWN, STATE_WITHDRAWN },
};

static const char *const kind_names[KIND_COUNT] = { "article", "page", "tag", "author" };
static const char *const kind_plurals[KIND_COUNT] = { "articles", "pages", "tags", "authors" };
static const char *const state_names[STATE_COUNT] = { "draft", "scheduled", "published", "withdrawn", "gone" };
static const char *const move_names[MOVE_COUNT] = { "publish", "schedule", "cancel", "withdraw", "delete",
    "restore" };

static int	name_index(const char *const *names, size_t count, struct str);

const char *
kind_name(enum kind kind)
{
	assert((unsigned)kind < KIND_COUNT);
	return kind_names[kind];
}

const char *
kind_plural(enum kind kind)
{
	assert((unsigned)kind < KIND_COUNT);
	return kind_plurals[kind];
}

bool
kind_parse(struct str text, enum kind *out)
{
	int	i = name_index(kind_names, KIND_COUNT, text);

	if (i < 0)
		return false;
	*out = (enum kind)i;
	return true;
}

const char *
state_name(enum state state)
{
	assert((unsigned)state < STATE_COUNT);
	return state_names[state];
}

bool
state_parse(struct str text, enum state *out)
{
	int	i = name_index(state_names, STATE_COUNT, text);

	if (i < 0)
		return false;
	*out = (enum state)i;
	return true;
}

const char *
move_name(enum move move)
{
	assert((unsigned)move < MOVE_COUNT);
	return move_names[move];
}

const char *
format_name(enum format format)
{
	return format == FORMAT_HTML ? "html" : "markdown";
}

bool
state_after(enum state from, enum move move, bool was_public, enum state *to)
{
	size_t	i;

	for (i = 0; i < COUNT(steps); i++) {
		if (steps[i].from == from && steps[i].move == move) {
			*to = was_public ? steps[i].was_public : steps[i].never_public;
			return true;
		}
	}
	return false;
}

static int
name_index(const char *const *names, size_t count, struct str text)
{
	size_t	i;

	for (i = 0; i < count; i++) {
		if (str_is(text, names[i]))
			return (int)i;
	}
	return -1;
}
