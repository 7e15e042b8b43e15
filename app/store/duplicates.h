/* duplicates.h - who had a text first, and who has it besides. */
#ifndef STORE_DUPLICATES_H
#define STORE_DUPLICATES_H
#include "base/base.h"
#include "core/resource.h"
#include "db/db.h"

struct holder {
	int64_t		 id, since;
	bool		 may_lead;	/* indexable, without override */
	bool		 is_exempt;	/* has an override, or is different on purpose */
};
/* Live resources with this text that are nobody's copy, the longest first, at most `limit`. */
enum status	 store_duplicates_originals(struct scope *, struct db *, const char *locale, const char *hash, struct holder *out, size_t limit,
		    size_t *count) MUST_USE;
/* The next resource above `after` that has copies with this text; 0 = none. */
enum status	 store_duplicates_next_group(struct scope *, struct db *, const char *locale, const char *hash, int64_t after,
		    int64_t *original) MUST_USE;
/* The longest among its copies that may lead; out->id 0 = none. */
enum status	 store_duplicates_first_of(struct scope *, struct db *, const char *locale, const char *hash, int64_t original,
		    struct holder *out) MUST_USE;

/* original 0: none. */
enum status	 store_duplicates_set(struct scope *, struct db *, int64_t id, int64_t original) MUST_USE;
/* The copies of `from` become those of `to` (0: nobody's). Their event_version rises; the changed are listed. */
struct changed { int64_t id, event_version; };
enum status	 store_duplicates_regroup(struct scope *, struct db *, const char *locale, const char *hash, int64_t from, int64_t to,
		    struct changed **, size_t *count) MUST_USE;
/* What was merged into `from` is merged into `to`. */
enum status	 store_duplicates_merge_on(struct scope *, struct db *, int64_t from, int64_t to, struct changed **, size_t *count) MUST_USE;
/* r->distinct_reason (NULL = none), and nobody's copy for now; conditional on the version `r` was read with, whose versions are raised. */
enum status	 store_duplicates_decide(struct scope *, struct db *, struct resource *r, bool *changed) MUST_USE;

struct copy_side { int64_t id; const char *uid, *title, *path; enum kind kind; };
struct copy_row { struct copy_side copy, original; int64_t since; };
/* Those behind (original, copy), by original and copy, at most `limit`. */
enum status	 store_duplicates_list(struct scope *, struct db *, int64_t original, int64_t copy, struct copy_row *out, size_t limit,
		    size_t *count) MUST_USE;
enum status	 store_duplicates_count(struct scope *, struct db *, int64_t *out) MUST_USE;
#endif
