/* probes.c - /healthz, /readyz and /metrics: for whoever watches the site. */
#include "base/clock.h"
#include "http/router.h"

enum status
handle_healthz(struct scope *s, struct exchange *ex)
{
	ex->response = (struct response){ .status = 200, .type = "text/plain; charset=utf-8", .body = STR("ok\n") };
	return OK;
}

/* Ready is who can read (a snapshot is open, and the settings are known) and whose database still keeps every promise of uniqueness. */
enum status
handle_readyz(struct scope *s, struct exchange *ex)
{
	bool can_read = db_in_transaction(ex->reader->db) && ex->reader->site != NULL;
	bool is_sound = metric_get(ex->reader->shared, METRIC_SCHEMA_GUARD) == 0;

	ex->response = (struct response){ .status = can_read && is_sound ? 200 : 503, .type = "text/plain; charset=utf-8" };
	ex->response.body = !can_read ? STR("the database cannot be read\n") :
	    !is_sound ? STR("a unique index is missing\n") : STR("ready\n");
	if (!can_read || !is_sound)
		response_header(&ex->response, "Retry-After", "1");
	return OK;
}

/* A metric's name without labels and, if it is a counter, without "_total". */
static struct str
family_of(enum metric m)
{
	struct str family = str_of(metric_name(m));

	family = str_part(family, 0, str_find(family, '{'));
	if (strcmp(metric_type(m), "counter") == 0 && str_ends(family, "_total"))
		family = str_part(family, 0, family.len - sizeof("_total") + 1);
	return family;
}

/* OpenMetrics 1.0. */
enum status
handle_metrics(struct scope *s, struct exchange *ex)
{
	struct shared *shared = ex->reader->shared;
	int64_t now = clock_monotonic();
	struct buf b;

	buf_init(&b, s->arena);
	for (enum metric m = 0; m < METRIC_COUNT; m++) {
		struct str family = family_of(m);

		if (m == 0 || !str_eq(family, family_of(m - 1)))
			buf_printf(&b, "# TYPE %.*s %s\n# HELP %.*s %s\n", STR_FMT(family), metric_type(m), STR_FMT(family), metric_help(m));
		buf_printf(&b, "%s %" PRId64 "\n", metric_name(m), metric_get(shared, m));
	}
	buf_text(&b, "# TYPE heartbeat_age_seconds gauge\n# HELP heartbeat_age_seconds Time since a process last showed that it lives.\n");
	for (int slot = 0; slot < SHARED_BEATS; slot++) {
		int64_t age = now - shared_beat_at(shared, slot);

		if (shared_beat_at(shared, slot) == 0)
			continue;
		buf_printf(&b, "heartbeat_age_seconds{process=\"%s%.*d\"} %" PRId64 ".%03d\n", slot == 0 ? "jobs" : "worker",
		    slot == 0 ? 0 : 1, slot, age / 1000, (int)(age % 1000));
	}
	buf_text(&b, "# EOF\n");
	ex->response = (struct response){
		.status = 200, .type = "application/openmetrics-text; version=1.0.0; charset=utf-8", .body = buf_as_str(&b),
	};
	return OK;
}
