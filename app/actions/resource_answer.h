/* resource_answer.h - the answer of a write on one resource, and the checks that all such writes share. */
#ifndef ACTIONS_RESOURCE_ANSWER_H
#define ACTIONS_RESOURCE_ANSWER_H
#include "actions/facts.h"
#include "actions/unit.h"

/* 201 names the Location of what was made. */
void		 resource_answer(struct scope *, struct unit *, int status, const struct facts *);
/* The same from what is stored, after an update or a move. */
enum status	 resource_answer_stored(struct scope *, struct db *, struct unit *, const struct resource *) MUST_USE;

/* Find what a request is about and may touch: ERR_NOT_FOUND for what the caller may not see, ERR_DENIED, ERR_GONE. */
enum status	 resource_for(struct scope *, struct db *, const struct principal *, enum action, enum kind, const char *id,
		    struct resource *out) MUST_USE;
/* The same, and with `takes_gone` what was deleted is found too. */
enum status	 resource_for_step(struct scope *, struct db *, const struct principal *, enum action, enum kind, const char *id, bool takes_gone,
		    struct resource *out) MUST_USE;
/* If-Match against a version, by strong comparison (RFC 9110 13.1.1): ERR_VERSION names the current one. NULL matches. */
enum status	 version_require(struct scope *, const char *if_match, int64_t version) MUST_USE;
/* The refusal of a request that names no version (ERR_PRECONDITION) or another one (ERR_VERSION): it tells the present one, as an ETag too. */
enum status	 version_refuse(struct scope *, enum status, int64_t version) MUST_USE;
#endif
