/* site.h - the settings that live in the database, as one immutable value. */
#ifndef CORE_SITE_H
#define CORE_SITE_H
#include "base/base.h"
#include "core/idempotency.h"
#include "core/resource.h"
#include "core/rule.h"
#include "core/slug.h"

struct site {
	const char	*title;			/* "Stele" until set */
	const char	*description;
	const char	*locale;		/* default locale, "en" */
	enum slug_style	 slug_style;
	bool		 always_slash;		/* setting trailing_slash = always */
	const char	*pattern[KIND_COUNT];	/* /articles/{slug}, /{parent}/{slug}, /tags/{slug}, /authors/{slug} */
	int		 per_page;		/* of public lists, 1..100, default 10 */
	int		 feed_items;		/* entries of a feed, 1..100, default 20 */
	bool		 feed_is_full;		/* setting feed_content: full (default) or summary */
	const char	*websub_hub;		/* absolute URL, "" */
	const char	*security_contact;	/* of security.txt: mailto: or https: URL, "" */
	const char	*cors_origin;		/* whom browsers let read public answers of the API: "", "*" or an origin */
	const char	*robots;		/* extra lines of robots.txt, "" */
	bool		 noindex;		/* staging: everything noindex */
	int64_t		 retention_form, retention_write, retention_state;	/* ms: 24 h, 7 d, 30 d */
	int64_t		 retention_operation, retention_message;		/* after its end: 30 d; 35 d */
	/* From the configuration, for whoever has the site at hand: */
	const char	*public_origin;
	const char	*admin_origin;
	const char *const *aliases;	/* other host names of ours; NULL-terminated, or NULL */
	const struct rule_set *rules;	/* NULL: whoever needs them reads them */
};

/* The values before any setting is stored. */
void		 site_defaults(struct site *);
/* Check one stored setting and put it in. ERR_INVALID names `key`. Texts are kept by reference. Keys:
 *   title description robots		text
 *   locale				language tag
 *   slug_style				unicode | ascii
 *   trailing_slash			never | always
 *   noindex				false | true
 *   feed_items				1..100
 *   feed_content			full | summary
 *   websub_hub				http(s) URL, or empty
 *   security_contact			mailto:, tel: or https: URL, or empty
 *   cors_origin				an origin, "*", or empty
 *   per_page				1..100
 *   pattern_article pattern_page pattern_tag pattern_author
 *   retention_form retention_write retention_state	"36h" or "7d"; 1h..30d, 1d..90d, 1d..365d
 *   retention_operation retention_message		1d..365d, 1d..365d */
enum status	 site_set(struct scope *, struct site *, const char *key, const char *value) MUST_USE;

/* How long a key is remembered, in ms. */
int64_t		 site_retention(const struct site *, enum retention);
/* The public address of a stored path. */
const char	*site_url(struct scope *, const struct site *, const char *path);
/* The one canonical address of a resource: its override, or the address of the original it is a copy of, or its own. NULL = it has none. */
const char	*site_canonical(struct scope *, const struct site *, const char *override, const char *original_path, const char *path);

#endif
