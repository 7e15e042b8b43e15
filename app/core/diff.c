#include "core/diff.h"

/* The texts between their equal ends. */
struct middle { const struct str *a, *b; size_t from, a_count, b_count; };

static struct str	*split(struct scope *, struct str text, size_t *count);
static bool		 same(struct str, struct str);
static int		 search(struct scope *, const struct middle *, int32_t **trace);
static void		 walk_back(struct scope *, struct diff *, const struct middle *, int32_t **trace, int distance);
static void		 add_run(struct diff *, enum diff_op, size_t from, size_t count);
static size_t		 slide(const struct middle *, size_t x, size_t y);

void
diff_lines(struct scope *s, struct diff *d, struct str old, struct str new)
{
	int32_t *trace[DIFF_DISTANCE_MAX + 1];
	size_t tail = 0, least;
	struct middle m = { 0 };
	int distance;

	*d = (struct diff){ .is_whole = true };
	d->old_lines = split(s, old, &d->old_count);
	d->new_lines = split(s, new, &d->new_count);
	least = d->old_count < d->new_count ? d->old_count : d->new_count;
	while (m.from < least && same(d->old_lines[m.from], d->new_lines[m.from]))
		m.from++;
	while (tail < least - m.from && same(d->old_lines[d->old_count - 1 - tail], d->new_lines[d->new_count - 1 - tail]))
		tail++;
	m.a = d->old_lines + m.from;
	m.b = d->new_lines + m.from;
	m.a_count = d->old_count - m.from - tail;
	m.b_count = d->new_count - m.from - tail;
	/* Two runs for each step, and the equal ends. */
	d->runs = scope_alloc(s, (2 * DIFF_DISTANCE_MAX + 4) * sizeof(*d->runs));
	add_run(d, DIFF_SAME, 0, m.from);
	distance = search(s, &m, trace);
	if (distance >= 0)
		walk_back(s, d, &m, trace, distance);
	else {
		d->is_whole = false;
		add_run(d, DIFF_REMOVED, m.from, m.a_count);
		add_run(d, DIFF_ADDED, m.from, m.b_count);
	}
	add_run(d, DIFF_SAME, d->old_count - tail, tail);
}

static struct str *
split(struct scope *s, struct str text, size_t *count)
{
	struct str *lines, line;
	size_t room = 1;

	for (size_t i = 0; i < text.len; i++)
		room += text.p[i] == '\n';
	lines = scope_alloc(s, room * sizeof(*lines));
	*count = 0;
	while (str_next(&text, '\n', &line))
		lines[(*count)++] = line;
	return lines;
}

static bool
same(struct str a, struct str b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

/* How many lines are removed and added at least; trace[d] holds, for d steps, how far each diagonal came (not of the last). -1: too many. */
static int
search(struct scope *s, const struct middle *m, int32_t **trace)
{
	int32_t reach[2 * DIFF_DISTANCE_MAX + 3] = { 0 }, *at = reach + DIFF_DISTANCE_MAX + 1;

	for (int d = 0; d <= DIFF_DISTANCE_MAX; d++) {
		for (int k = -d; k <= d; k += 2) {
			bool is_down = k == -d || (k != d && at[k - 1] < at[k + 1]);
			size_t x = (size_t)(is_down ? at[k + 1] : at[k - 1] + 1), y = x - (size_t)k;

			/* Outside of either text there is nothing to find. */
			if (x <= m->a_count && y <= m->b_count)
				x = slide(m, x, y);
			at[k] = (int32_t)x;
			if (x == m->a_count && x - (size_t)k == m->b_count)
				return d;
		}
		trace[d] = scope_alloc(s, (size_t)(2 * d + 1) * sizeof(int32_t));
		memcpy(trace[d], at - d, (size_t)(2 * d + 1) * sizeof(int32_t));
	}
	return -1;
}

static size_t
slide(const struct middle *m, size_t x, size_t y)
{
	while (x < m->a_count && y < m->b_count && same(m->a[x], m->b[y])) {
		x++;
		y++;
	}
	return x;
}

/* From the end to the beginning, then turned round. */
static void
walk_back(struct scope *s, struct diff *d, const struct middle *m, int32_t **trace, int distance)
{
	struct diff_run *steps = scope_alloc(s, ((size_t)distance * 2 + 2) * sizeof(*steps));
	size_t x = m->a_count, y = m->b_count, count = 0;

	for (int step = distance; step > 0; step--) {
		const int32_t *before = trace[step - 1] + (step - 1);
		int k = (int)x - (int)y;
		bool is_down = k == -step || (k != step && before[k - 1] < before[k + 1]);
		size_t from_x = (size_t)before[is_down ? k + 1 : k - 1], from_y = from_x - (size_t)(is_down ? k + 1 : k - 1);
		size_t after_x = is_down ? from_x : from_x + 1;

		if (x > after_x)
			steps[count++] = (struct diff_run){ DIFF_SAME, m->from + after_x, x - after_x };
		steps[count++] = is_down ? (struct diff_run){ DIFF_ADDED, m->from + from_y, 1 } : (struct diff_run){ DIFF_REMOVED, m->from + from_x, 1 };
		x = from_x;
		y = from_y;
	}
	if (x > 0)
		steps[count++] = (struct diff_run){ DIFF_SAME, m->from, x };
	while (count-- > 0)
		add_run(d, steps[count].op, steps[count].from, steps[count].count);
}

/* Joined with what came before; a removal after an addition at the same place goes before it. */
static void
add_run(struct diff *d, enum diff_op op, size_t from, size_t count)
{
	struct diff_run *last = d->run_count > 0 ? &d->runs[d->run_count - 1] : NULL;

	if (count == 0)
		return;
	if (last != NULL && last->op == op) {
		last->count += count;
	} else if (last != NULL && last->op == DIFF_ADDED && op == DIFF_REMOVED) {
		if (d->run_count > 1 && last[-1].op == DIFF_REMOVED) {
			last[-1].count += count;
			return;
		}
		last[1] = *last;
		*last = (struct diff_run){ op, from, count };
		d->run_count++;
	} else {
		d->runs[d->run_count++] = (struct diff_run){ op, from, count };
	}
}
