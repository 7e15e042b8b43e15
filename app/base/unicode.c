/* unicode.c - ICU behind UTF-8: a way past it for ASCII, temporary UTF-16 in an arena of its own otherwise. */
#include "base/unicode.h"

#include <pthread.h>
#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/ustring.h>
#include <unicode/utrans.h>

#define INPUT_MAX	((size_t)64 << 20)
#define TITLE_MAX	((size_t)64 << 10)	/* transliteration costs 50 us and more for a line */

struct wide {
	UChar	*p;
	int32_t	 len;
};

typedef enum status change(struct scope *s, struct arena *tmp, struct wide *text);

static enum status	 through_utf16(struct scope *s, struct str *out, struct str in, change *f);
static enum status	 to_nfc(struct scope *s, struct arena *tmp, struct wide *text);
static enum status	 to_folded(struct scope *s, struct arena *tmp, struct wide *text);
static enum status	 to_lower(struct scope *s, struct arena *tmp, struct wide *text);
static enum status	 to_latin(struct scope *s, struct arena *tmp, struct wide *text);
static enum status	 normalise(struct scope *s, struct arena *tmp, struct wide *text, const UNormalizer2 *form);
static enum status	 failed(struct scope *s, UErrorCode e);
static bool		 is_ascii(struct str in);
static struct str	 ascii_lower(struct scope *s, struct str in);
static void		 open_rules(void);
static UTransliterator	*own_transliterator(void);

static pthread_once_t	 rules_once = PTHREAD_ONCE_INIT;
static pthread_key_t	 own_key;	/* each thread's clone: ICU promises nothing for a shared one */
static UTransliterator	*rules;		/* process; never closed */

void
unicode_warm_up(void)
{
	struct scope	*s = scope_new("warm-up");
	struct str	 out;

	/* The rules of a script are compiled at its first character: Han takes 67 ms. */
	if (unicode_to_ascii(s, &out, STR("\u4f60 \u042f \u0639 \u3042 \u30a2 \ud55c \u0e01 \u0939 \u0395 \u05e9 \u00c6")) != OK ||
	    unicode_fold(s, &out, STR("\u00df\u0130")) != OK || unicode_lower(s, &out, STR("\u03a3")) != OK)
		abort();
	scope_free(s);
}

enum status
unicode_nfc(struct scope *s, struct str *out, struct str in)
{
	if (is_ascii(in)) {
		*out = in;
		return OK;
	}
	return through_utf16(s, out, in, to_nfc);
}

enum status
unicode_fold(struct scope *s, struct str *out, struct str in)
{
	if (is_ascii(in)) {
		*out = ascii_lower(s, in);
		return OK;
	}
	return through_utf16(s, out, in, to_folded);
}

enum status
unicode_lower(struct scope *s, struct str *out, struct str in)
{
	if (is_ascii(in)) {
		*out = ascii_lower(s, in);
		return OK;
	}
	return through_utf16(s, out, in, to_lower);
}

enum status
unicode_to_ascii(struct scope *s, struct str *out, struct str in)
{
	if (is_ascii(in)) {
		*out = ascii_lower(s, in);
		return OK;
	}
	if (in.len > TITLE_MAX)
		return fail(s, ERR_TOO_LARGE, NULL, "more than %zu bytes to transliterate", TITLE_MAX);
	return through_utf16(s, out, in, to_latin);
}

bool
unicode_is_letter_or_digit(int32_t c)
{
	return c >= 0 && (U_GET_GC_MASK(c) & (U_GC_L_MASK | U_GC_N_MASK | U_GC_M_MASK)) != 0;
}

bool
unicode_is_space(int32_t c)
{
	return c >= 0 && u_isUWhiteSpace(c);
}

static enum status
through_utf16(struct scope *s, struct str *out, struct str in, change *f)
{
	struct arena	*tmp;
	struct wide	 text;
	UErrorCode	 e = U_ZERO_ERROR;
	enum status	 status;
	int32_t		 len;
	char		*utf8;

	if (in.len > INPUT_MAX)
		return fail(s, ERR_TOO_LARGE, NULL, "more than %zu bytes of text", INPUT_MAX);
	if (!utf8_valid(in))
		return fail(s, ERR_INVALID, NULL, "the text is not valid UTF-8");
	tmp = arena_new();
	/* UTF-16 never has more units than UTF-8 has bytes. */
	text.p = arena_alloc(tmp, (in.len + 1) * sizeof(UChar));
	u_strFromUTF8(text.p, (int32_t)in.len + 1, &text.len, in.p, (int32_t)in.len, &e);
	status = U_FAILURE(e) ? failed(s, e) : f(s, tmp, &text);
	if (status == OK) {
		utf8 = arena_alloc(s->arena, (size_t)text.len * 3 + 1);
		/* The rules of ICU take some characters beyond the BMP apart and leave half of one. */
		u_strToUTF8WithSub(utf8, text.len * 3 + 1, &len, text.p, text.len, 0xfffd, NULL, &e);
		*out = (struct str){ utf8, (size_t)len };
		if (U_FAILURE(e))
			status = failed(s, e);
	}
	arena_free(tmp);
	return status;
}

static enum status
to_nfc(struct scope *s, struct arena *tmp, struct wide *text)
{
	UErrorCode		 e = U_ZERO_ERROR;
	const UNormalizer2	*nfc = unorm2_getNFCInstance(&e);

	return U_FAILURE(e) ? failed(s, e) : normalise(s, tmp, text, nfc);
}

/* Unicode 3.13, D145: fold after taking apart, or canonically equal spellings could fold differently. */
static enum status
to_folded(struct scope *s, struct arena *tmp, struct wide *text)
{
	UErrorCode		 e = U_ZERO_ERROR;
	const UNormalizer2	*nfd = unorm2_getNFDInstance(&e);
	struct wide		 folded;
	int32_t			 cap;

	if (U_FAILURE(e))
		return failed(s, e);
	TRY(normalise(s, tmp, text, nfd));
	cap = text->len * 3 + 1;
	folded.p = arena_alloc(tmp, (size_t)cap * sizeof(UChar));
	folded.len = u_strFoldCase(folded.p, cap, text->p, text->len, U_FOLD_CASE_DEFAULT, &e);
	if (U_FAILURE(e))
		return failed(s, e);
	*text = folded;
	return to_nfc(s, tmp, text);
}

static enum status
to_lower(struct scope *s, struct arena *tmp, struct wide *text)
{
	UErrorCode	 e = U_ZERO_ERROR;
	int32_t		 cap = text->len * 3 + 1;
	struct wide	 lower;

	lower.p = arena_alloc(tmp, (size_t)cap * sizeof(UChar));
	lower.len = u_strToLower(lower.p, cap, text->p, text->len, "", &e);
	if (U_FAILURE(e))
		return failed(s, e);
	*text = lower;
	return to_nfc(s, tmp, text);
}

static enum status
to_latin(struct scope *s, struct arena *tmp, struct wide *text)
{
	struct wide	 latin;
	UErrorCode	 e;

	/* ICU writes over its input, so a try that found too little room starts again from the text. */
	for (int32_t cap = text->len * 8 + 64;; cap *= 2) {
		int32_t	 limit = text->len;

		e = U_ZERO_ERROR;
		latin.len = text->len;
		latin.p = arena_alloc(tmp, (size_t)cap * sizeof(UChar));
		memcpy(latin.p, text->p, (size_t)text->len * sizeof(UChar));
		utrans_transUChars(own_transliterator(), latin.p, &latin.len, cap, 0, &limit, &e);
		if (e != U_BUFFER_OVERFLOW_ERROR)
			break;
	}
	if (U_FAILURE(e))
		return failed(s, e);
	*text = latin;
	return to_nfc(s, tmp, text);
}

static enum status
normalise(struct scope *s, struct arena *tmp, struct wide *text, const UNormalizer2 *form)
{
	UErrorCode	 e = U_ZERO_ERROR;
	struct wide	 done;
	int32_t		 cap = text->len * 4 + 16;	/* NFC grows to 3, NFD to 4 units for one (UAX 15 15.1) */

	if (unorm2_quickCheck(form, text->p, text->len, &e) == UNORM_YES)
		return OK;
	done.p = arena_alloc(tmp, (size_t)cap * sizeof(UChar));
	done.len = unorm2_normalize(form, text->p, text->len, done.p, cap, &e);
	if (U_FAILURE(e))
		return failed(s, e);
	*text = done;
	return OK;
}

static enum status
failed(struct scope *s, UErrorCode e)
{
	return fail(s, ERR_INTERNAL, NULL, "ICU: %s", u_errorName(e));
}

static bool
is_ascii(struct str in)
{
	return utf8_ascii_prefix(in) == in.len;
}

static struct str
ascii_lower(struct scope *s, struct str in)
{
	size_t	 i = 0;
	char	*copy;

	while (i < in.len && !(in.p[i] >= 'A' && in.p[i] <= 'Z'))
		i++;
	if (i == in.len)
		return in;
	copy = str_dup(s->arena, in);
	for (; i < in.len; i++)
		if (copy[i] >= 'A' && copy[i] <= 'Z')
			copy[i] |= 0x20;
	return (struct str){ copy, in.len };
}

static void
close_clone(void *clone)
{
	utrans_close(clone);
}

static void
open_rules(void)
{
	/* BGN knows how Cyrillic is read; what it leaves goes the general way. */
	static const char	 id[] = "Russian-Latin/BGN; Any-Latin; Latin-ASCII; Lower()";
	UChar			 wide_id[sizeof(id)];
	UErrorCode		 e = U_ZERO_ERROR;

	u_uastrcpy(wide_id, id);
	rules = utrans_openU(wide_id, -1, UTRANS_FORWARD, NULL, 0, NULL, &e);
	if (U_FAILURE(e) || pthread_key_create(&own_key, close_clone) != 0)
		abort();
}

static UTransliterator *
own_transliterator(void)
{
	UTransliterator	*own;
	UErrorCode	 e = U_ZERO_ERROR;

	pthread_once(&rules_once, open_rules);
	own = pthread_getspecific(own_key);
	if (own == NULL) {
		own = utrans_clone(rules, &e);
		if (U_FAILURE(e) || pthread_setspecific(own_key, own) != 0)
			abort();
	}
	return own;
}
