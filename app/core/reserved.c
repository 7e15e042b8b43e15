/* reserved.c - which first segments content may not take. */
#include "core/reserved.h"
#include "core/url.h"

enum extent { SEGMENT, PREFIX, EXACT };

static const struct { const char *name; enum extent extent; const char *why; } reserved[] = {
#define RESERVED(name, extent, why) { name, extent, why },
#include "core/reserved.def"
#undef RESERVED
};

/* ISO 639-1 in alphabetical order, with the withdrawn bh and sh, which are still in use. */
static const char languages[] =
    "aaabaeafakamanarasavayazbabebgbhbibmbnbobrbscacechcocrcscucvcydadedvdzeeeleneoeseteufafffifjfofrfygagdglgngugv"
    "hahehihohrhthuhyhziaidieigiiikioisitiujajvkakgkikjkkklkmknkokrkskukvkwkylalblglilnloltlulvmgmhmimkmlmnmrmsmtmy"
    "nanbndnengnlnnnonrnvnyocojomorospapiplpsptqurmrnrorurwsascsdsesgshsiskslsmsnsosqsrssstsusvswtatetgthtitktltntotrts"
    "tttwtyugukuruzvevivowawoxhyiyozazhzu";

static const char	*reason_of(struct str path);
static bool		is_language(struct str segment);

bool
path_is_reserved(struct scope *s, const char *path, const char **why)
{
	struct url_form	form;
	const char	*reason;

	if (url_form(s, &form, str_of(path)) != OK)
		reason = "no path of this site";
	else if (strcmp(form.path, "/") == 0)
		reason = "the home page";
	else
		reason = reason_of(str_of(form.fold + 1));
	if (why != NULL)
		*why = reason;
	return reason != NULL;
}

static const char *
reason_of(struct str path)
{
	struct str	first = str_part(path, 0, str_find(path, '/'));
	size_t		i;
	bool		hit = false;

	for (i = 0; i < COUNT(reserved); i++) {
		switch (reserved[i].extent) {
		case SEGMENT:
			hit = str_is(first, reserved[i].name);
			break;
		case PREFIX:
			hit = str_starts(first, reserved[i].name);
			break;
		case EXACT:
			hit = str_is(path, reserved[i].name);
			break;
		}
		if (hit)
			return reserved[i].why;
	}
	return is_language(first) ? "a language code" : NULL;
}

/* "en", "zh-cn", "es-419". */
static bool
is_language(struct str segment)
{
	size_t	i;
	char	c;

	if (segment.len != 2 && segment.len != 5 && segment.len != 6)
		return false;
	for (i = 0; i < segment.len; i++) {
		c = segment.p[i];
		if (i == 2 ? c != '-' : segment.len == 6 && i > 2 ? c < '0' || c > '9' : c < 'a' || c > 'z')
			return false;
	}
	for (i = 0; i + 1 < sizeof(languages); i += 2) {
		if (memcmp(languages + i, segment.p, 2) == 0)
			return true;
	}
	return false;
}
