/* near.h - near duplicates: told, never acted on.
 *
 * A word that was changed among a thousand leaves a text near; among a hundred it does not.
 * `stele jobs` keeps one row per live text of 200 characters or more, made after the commit. A report therefore knows what changed some seconds ago, on a
 * site of a million texts some minutes ago. */
#ifndef ACTIONS_NEAR_H
#define ACTIONS_NEAR_H
#include "actions/reports.h"
#include "db/shared.h"

/* A piece of keeping the rows: *at, an id, moves on, and begins again at 0 after the last; *more while there is work at hand. */
enum status	 near_keep(struct scope *, struct db *write, struct db *read, struct shared *, int64_t *at, bool *more) MUST_USE;

/* { items: [{ distance, first: { id, kind, title, url }, second: {...} }], next }: live texts of one locale whose hashes differ in at most three bits, by the
 * older. Equal texts are not here but in the report of duplicates. Looks through 500 texts an answer; of more than 100 that share a quarter of their
 * hash with one text, the first 100 are compared with it. For whoever may read reports. */
enum status	 report_near(struct scope *, struct db *, const struct site *, const struct principal *, const struct report_filter *, struct str *json,
		    const char **next_cursor) MUST_USE;
#endif
