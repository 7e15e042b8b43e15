/* audit.h - rows that contradict the promises, and every address there is, in pieces. */
#ifndef STORE_AUDIT_H
#define STORE_AUDIT_H
#include "db/db.h"

/* Rows of one check: query, db_next, db_end. Columns: resource id (0 = none), subject, what is wrong. */
enum status	 store_audit_range(struct scope *, struct db *, struct db_rows **, enum sql check, int64_t after, int64_t last) MUST_USE;
enum status	 store_audit_whole(struct scope *, struct db *, struct db_rows **, enum sql check, int64_t now) MUST_USE;
enum status	 store_audit_last_resource(struct scope *, struct db *, int64_t *id) MUST_USE;

struct audit_address {
	const char	*path, *pairs;	/* pairs NULL: a plain path */
	bool		 is_canonical;
	int64_t		 resource_id;	/* 0 = none */
	const char	*fold;		/* NULL with pairs */
	const char	*target;	/* of a redirect that leads to no resource; NULL = none */
};
/* The addresses behind *after, at most `limit`; *after NULL begins. Those with queries come last. */
enum status	 store_audit_addresses(struct scope *, struct db *, const struct audit_address *after, struct audit_address *out, size_t limit,
		    size_t *count) MUST_USE;

struct audit_object { const char *name, *type, *sql; };
/* Tables, indexes, views and triggers, by name. */
enum status	 store_audit_schema(struct scope *, struct db *, struct audit_object **, size_t *count) MUST_USE;
#endif
