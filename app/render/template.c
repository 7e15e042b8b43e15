/* template.c - loads a theme's templates and renders them over jansson values. */
#include "render/template.h"
#include <dirent.h>
#include <sys/stat.h>
#include "base/hash.h"
#include "render/template_ops.h"

#define TEMPLATE_FILE_MAX (1024 * 1024)
#define TEMPLATES_MAX 256
#define OUTPUT_MAX (8 * 1024 * 1024)
#define PARTIALS_MAX 16
#define FRAMES_MAX (TEMPLATE_SECTIONS_MAX * (PARTIALS_MAX + 1) + 1)
#define STEPS_MAX (4 * 1024 * 1024)	/* loops in loops that print nothing end too */

struct templates {
	struct arena	*arena;
	struct template	*list;		/* sorted by name */
	size_t		 count;
	char		 hash[17];
	int64_t		 loaded_at;
};

/* A value that names are looked up in; `list` is what a loop goes through. */
struct frame {
	json_t	*value;
	json_t	*list;
	size_t	 index;
};

struct rendering {
	struct scope	*s;
	struct buf	 out;
	struct frame	*frames;
	size_t		 depth;
	size_t		 steps;
};

static enum status	 load_folder(struct scope *, struct templates *, const char *dir);
static void		 hash_folder(struct scope *, struct sha256 *, const char *dir, const char *ending);
static const struct template *find_template(const struct templates *, const char *name);
static enum status	 run(struct rendering *, const struct template *, struct str indent, int partials);

enum status
templates_load(struct scope *s, struct templates **out, const char *dir)
{
	struct arena *arena = arena_new();
	struct templates *t = arena_alloc(arena, sizeof(*t));
	char hex[SHA256_HEX];
	enum status status;

	t->arena = arena;
	if ((status = load_folder(s, t, dir)) != OK) {
		arena_free(arena);
		return status;
	}
	for (size_t i = 0; i < t->count; i++)
		for (size_t j = 0; j < t->list[i].count; j++)
			if (t->list[i].ops[j].kind == OP_PARTIAL)
				t->list[i].ops[j].partial = find_template(t, t->list[i].ops[j].name);
	struct sha256 *digest = sha256_new(s);
	hash_folder(s, digest, dir, ".mustache");
	hash_folder(s, digest, scope_printf(s, "%s/../assets", dir), "");
	sha256_hex(digest, hex);
	snprintf(t->hash, sizeof(t->hash), "%.16s", hex);
	t->loaded_at = s->now;
	*out = t;
	return OK;
}

void
templates_free(struct templates *t)
{
	if (t != NULL)
		arena_free(t->arena);
}

const char *
templates_hash(const struct templates *t)
{
	return t->hash;
}

int64_t
templates_loaded_at(const struct templates *t)
{
	return t->loaded_at;
}

enum status
template_render(struct scope *s, const struct templates *templates, const char *name, json_t *view, struct str *out)
{
	const struct template *t = find_template(templates, name);
	struct rendering r = { .s = s };

	if (t == NULL)
		return fail(s, ERR_INTERNAL, NULL, "the theme has no template %s.mustache", name);
	buf_init(&r.out, s->arena);
	r.frames = scope_alloc(s, FRAMES_MAX * sizeof(*r.frames));
	r.frames[r.depth++] = (struct frame){ .value = view };
	TRY(run(&r, t, (struct str){ 0 }, 0));
	*out = buf_as_str(&r.out);
	return OK;
}

/* The names of the plain files in `dir` that end in `ending`, sorted, so that loading and hash do not hang on directory order. */
static size_t
list_files(struct scope *s, const char *dir, const char *ending, const char ***names)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	size_t count = 0;

	*names = scope_alloc(s, TEMPLATES_MAX * sizeof(**names));
	while (d != NULL && count < TEMPLATES_MAX && (e = readdir(d)) != NULL) {
		struct stat st;
		if (e->d_name[0] == '.' || !str_ends(str_of(e->d_name), ending) ||
		    stat(scope_printf(s, "%s/%s", dir, e->d_name), &st) != 0 || !S_ISREG(st.st_mode))
			continue;
		const char *name = arena_strdup(s->arena, e->d_name);
		size_t i = count++;
		for (; i > 0 && strcmp((*names)[i - 1], name) > 0; i--)
			(*names)[i] = (*names)[i - 1];
		(*names)[i] = name;
	}
	if (d != NULL)
		closedir(d);
	return count;
}

static bool
read_file(struct arena *arena, const char *path, struct str *out)
{
	FILE *f = fopen(path, "re");
	struct buf b;
	char block[8192];
	size_t n;

	if (f == NULL)
		return false;
	buf_init(&b, arena);
	while (b.len <= TEMPLATE_FILE_MAX && (n = fread(block, 1, sizeof(block), f)) > 0)
		buf_add(&b, block, n);
	bool ok = !ferror(f) && b.len <= TEMPLATE_FILE_MAX;
	fclose(f);
	*out = buf_as_str(&b);
	return ok;
}

static enum status
load_folder(struct scope *s, struct templates *t, const char *dir)
{
	const char **names;
	size_t count = list_files(s, dir, ".mustache", &names);

	if (count == 0)
		return fail(s, ERR_INVALID, "template", "%s: no *.mustache files here", dir);
	t->list = arena_alloc(t->arena, count * sizeof(*t->list));
	for (size_t i = 0; i < count; i++) {
		struct template *one = &t->list[t->count];
		struct str source;
		if (!read_file(t->arena, scope_printf(s, "%s/%s", dir, names[i]), &source))
			return fail(s, ERR_INVALID, "template", "%s/%s: cannot be read, or over 1 MiB", dir, names[i]);
		if (!utf8_valid(source))
			return fail(s, ERR_INVALID, "template", "%s/%s:1: not UTF-8", dir, names[i]);
		one->name = arena_strndup(t->arena, names[i], strlen(names[i]) - strlen(".mustache"));
		TRY(template_parse(s, t->arena, one, names[i], source));
		t->count++;
	}
	return OK;
}

static void
hash_folder(struct scope *s, struct sha256 *digest, const char *dir, const char *ending)
{
	const char **names;
	size_t count = list_files(s, dir, ending, &names);

	for (size_t i = 0; i < count; i++) {
		struct str content = { NULL, 0 };
		if (!read_file(s->arena, scope_printf(s, "%s/%s", dir, names[i]), &content))
			continue;
		sha256_add(digest, names[i], strlen(names[i]) + 1);
		sha256_add(digest, content.p, content.len);
		sha256_add(digest, "", 1);
	}
}

static const struct template *
find_template(const struct templates *t, const char *name)
{
	for (size_t i = 0; i < t->count; i++)
		if (strcmp(t->list[i].name, name) == 0)
			return &t->list[i];
	return NULL;
}

/* Mustache's look-up: the first part in the innermost value that has it, the others as members of what was found. */
static json_t *
look_up(const struct rendering *r, const struct op *op)
{
	json_t *found = NULL;

	if (op->path_len == 0)
		return r->frames[r->depth - 1].value;
	for (size_t i = r->depth; i > 0 && found == NULL; i--)
		found = json_object_get(r->frames[i - 1].value, op->path[0]);
	for (size_t i = 1; i < op->path_len && found != NULL; i++)
		found = json_object_get(found, op->path[i]);
	return found;
}

static bool
is_truthy(const json_t *v)
{
	if (v == NULL)
		return false;
	switch (json_typeof(v)) {
	case JSON_NULL:
	case JSON_FALSE:
		return false;
	case JSON_STRING:
		return json_string_length(v) > 0;
	case JSON_ARRAY:
		return json_array_size(v) > 0;
	case JSON_TRUE:
	case JSON_INTEGER:
	case JSON_REAL:
	case JSON_OBJECT:
		break;
	}
	return true;
}

static void
print_escaped(struct buf *out, const char *p, size_t len)
{
	size_t done = 0;

	for (size_t i = 0; i < len; i++) {
		const char *escape;
		switch (p[i]) {
		case '&': escape = "&amp;"; break;
		case '<': escape = "&lt;"; break;
		case '>': escape = "&gt;"; break;
		case '"': escape = "&quot;"; break;
		case '\'': escape = "&#39;"; break;
		default: continue;
		}
		buf_add(out, p + done, i - done);
		buf_text(out, escape);
		done = i + 1;
	}
	buf_add(out, p + done, len - done);
}

static void
print_value(struct rendering *r, const struct op *op)
{
	const json_t *v = look_up(r, op);
	char text[32];

	if (v == NULL)
		return;
	switch (json_typeof(v)) {
	case JSON_STRING:
		if (op->kind == OP_RAW)
			buf_add(&r->out, json_string_value(v), json_string_length(v));
		else
			print_escaped(&r->out, json_string_value(v), json_string_length(v));
		break;
	case JSON_INTEGER:
		buf_printf(&r->out, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
		break;
	case JSON_REAL:
		/* The shortest of the two forms that reads back as the same number. */
		snprintf(text, sizeof(text), "%.15g", json_real_value(v));
		if (strtod(text, NULL) != json_real_value(v))
			snprintf(text, sizeof(text), "%.17g", json_real_value(v));
		buf_text(&r->out, text);
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		buf_text(&r->out, json_is_true(v) ? "true" : "false");
		break;
	case JSON_NULL:
	case JSON_OBJECT:
	case JSON_ARRAY:
		break;
	}
}

static void
print_text(struct rendering *r, struct str text, struct str indent)
{
	struct str rest = text;

	if (indent.len == 0) {
		buf_str(&r->out, text);
		return;
	}
	for (bool first = true; rest.len > 0; first = false) {
		size_t line = str_find(rest, '\n');
		line += line < rest.len;
		if (!first && rest.p[0] != '\n')
			buf_str(&r->out, indent);
		buf_add(&r->out, rest.p, line);
		rest = str_part(rest, line, rest.len);
	}
}

/* Enter the section at `op`, or say where to go on. */
static size_t
enter_section(struct rendering *r, const struct op *op, size_t at)
{
	json_t *v = look_up(r, op);

	if (is_truthy(v) == (op->kind == OP_INVERTED))
		return op->jump;
	if (op->kind == OP_SECTION) {
		struct frame *f = &r->frames[r->depth++];
		*f = (struct frame){ .value = v };
		if (json_is_array(v))
			*f = (struct frame){ .value = json_array_get(v, 0), .list = v };
	}
	return at + 1;
}

/* At the end of a section: the next turn of its loop, or the op behind it. */
static size_t
leave_section(struct rendering *r, const struct template *t, size_t at)
{
	size_t start = t->ops[at].jump;
	struct frame *f = &r->frames[r->depth - 1];

	if (t->ops[start].kind == OP_INVERTED)
		return at + 1;
	if (f->list != NULL && f->index + 1 < json_array_size(f->list)) {
		f->value = json_array_get(f->list, ++f->index);
		return start + 1;
	}
	r->depth--;
	return at + 1;
}

static enum status
run_partial(struct rendering *r, const struct op *op, struct str indent, int partials)
{
	struct str inner = { NULL, 0 };

	if (op->partial == NULL)
		return OK;
	if (partials == PARTIALS_MAX)
		return fail(r->s, ERR_INTERNAL, NULL, "template %s: partials nest deeper than %d", op->name, PARTIALS_MAX);
	if (op->is_alone)
		inner = str_of(scope_printf(r->s, "%.*s%.*s", STR_FMT(indent), STR_FMT(op->text)));
	return run(r, op->partial, inner, partials + 1);
}

static enum status
run(struct rendering *r, const struct template *t, struct str indent, int partials)
{
	for (size_t at = 0; at < t->count;) {
		const struct op *op = &t->ops[at];
		if (++r->steps > STEPS_MAX || r->out.len > OUTPUT_MAX)
			return fail(r->s, ERR_INTERNAL, NULL, "template %s: output over %d bytes or too many steps", t->name,
			    OUTPUT_MAX);
		if (op->begins_line && indent.len > 0 && !(op->kind == OP_TEXT && op->text.p[0] == '\n'))
			buf_str(&r->out, indent);
		switch (op->kind) {
		case OP_TEXT:
			print_text(r, op->text, indent);
			at++;
			break;
		case OP_VALUE:
		case OP_RAW:
			print_value(r, op);
			at++;
			break;
		case OP_SECTION:
		case OP_INVERTED:
			at = enter_section(r, op, at);
			break;
		case OP_END:
			at = leave_section(r, t, at);
			break;
		case OP_PARTIAL:
			TRY(run_partial(r, op, indent, partials));
			at++;
			break;
		}
	}
	if (r->out.len > OUTPUT_MAX)
		return fail(r->s, ERR_INTERNAL, NULL, "template %s: output over %d bytes", t->name, OUTPUT_MAX);
	return OK;
}
