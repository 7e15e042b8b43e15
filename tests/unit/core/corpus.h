/* corpus.h - test data of others, where it is present: $STELE_CORPORA or ../shared/corpora. */
#ifndef TEST_CORE_CORPUS_H
#define TEST_CORE_CORPUS_H
#include <dirent.h>
#include <sys/stat.h>
#include <jansson.h>
#include "base/base.h"

static inline const char *
corpus_path(struct scope *s, const char *name)
{
	const char	*root = getenv("STELE_CORPORA");

	return scope_printf(s, "%s/%s", root != NULL ? root : "../shared/corpora", name);
}

/* cmocka's fail_msg is out of reach behind our fail(). */
#define claim_fails(...)                                                                                   \
	do {                                                                                               \
		print_error(__VA_ARGS__);                                                                  \
		print_error("\n");                                                                         \
		_fail(__FILE__, __LINE__);                                                                 \
	} while (0)

/* Leaves the test as skipped, and its scope freed, when the corpora are not there; a corpus without this one file is a failure. */
static inline void
corpus_require(struct scope *s)
{
	struct stat	st;

	if (stat(corpus_path(s, "."), &st) != 0) {
		print_message("corpora absent\n");
		scope_free(s);
		skip();
	}
}

static inline struct str
corpus_file(struct scope *s, const char *name)
{
	FILE		*f = fopen(corpus_path(s, name), "rb");
	struct buf	 text;
	char		 piece[4096];
	size_t		 n;

	if (f == NULL)
		claim_fails("%s is missing", corpus_path(s, name));
	buf_init(&text, s->arena);
	while ((n = fread(piece, 1, sizeof(piece), f)) > 0)
		buf_add(&text, piece, n);
	fclose(f);
	return buf_as_str(&text);
}

/* Read leniently, by the library alone. */
static inline json_t *
corpus_json(struct scope *s, const char *name)
{
	struct str	text = corpus_file(s, name);
	json_t		*root = json_loadb(text.p, text.len, JSON_ALLOW_NUL, NULL);

	if (root == NULL)
		claim_fails("%s is no JSON", name);
	return root;
}

static inline struct str
json_text(const json_t *value)
{
	return (struct str){ json_string_value(value), json_string_length(value) };
}

#endif
