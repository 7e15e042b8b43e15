/* audit.c - `stele audit`: are the promises kept? */
#include "cli/cli.h"
#include "actions/audit.h"
#include "actions/json.h"
#include "actions/settings.h"
#include "base/clock.h"
#include "cli/http_get.h"
#include "db/migrate.h"

#define TELL_MS 500

static enum status	run_audit(struct scope *, struct args *);
static enum status	walk(struct scope *, struct args *, struct opened *, struct db *read);
static enum status	make_fresh(struct scope *, const struct opened *, char **dir, const char **path);
static void		remove_fresh(struct scope *, const char *dir, const char *path);
static void		print_fault(void *, const struct audit_fault *);
static void		print_progress(void *, const char *what, int64_t done);
static enum status	ask(struct scope *, void *, const char *target, struct audit_reply *);
static const char	*host_of(struct scope *, const char *origin);

static const struct option options[] = {
	{ "via", "ADDR:PORT", "ask the site that answers there too, for every address and the sitemap", false },
	{ "fix", NULL, "mend what can be made again from the truth: tag lists, duplicates, sitemap parts", false },
	{ "json", NULL, "one JSON object for each fault", false },
	{ NULL, NULL, NULL, false },
};
const struct command command_audit = {
	.name = "audit",
	.summary = "walk every row and every address and tell what is not as promised",
	.more = "Prints one line for each fault: what, where, what to do. Exits 1 when something is wrong and was not mended, 0 otherwise.\n"
	    "The site may go on meanwhile.",
	.options = options,
	.run = run_audit,
};

struct printing {
	struct http_get	 http;
	bool		 is_json;
	bool		 tells;		/* progress, for people */
	int64_t		 told_at;
};

static enum status
run_audit(struct scope *s, struct args *a)
{
	struct opened o;
	struct db *read = NULL;
	enum status status;

	TRY(data_open(s, a, &o));
	status = db_open(s, &read, config_path(s, o.config, "stele.db"), DB_READ);
	if (status == OK)
		status = walk(s, a, &o, read);
	db_close(read);
	data_close(&o);
	return status;
}

static enum status
walk(struct scope *s, struct args *args, struct opened *o, struct db *read)
{
	struct printing p = { .is_json = args_option(args, "json") != NULL, .tells = isatty(STDERR_FILENO) == 1 };
	struct audit a = { .read = read, .write = o->db, .shared = o->shared, .fixes = args_option(args, "fix") != NULL, .arg = &p,
		.found = print_fault, .progress = print_progress };
	struct site site;
	enum status status;
	char *dir;

	TRY(settings_site(s, read, o->config, &site));
	a.site = &site;
	p.http = (struct http_get){ args_option(args, "via"), host_of(s, site.public_origin), -1 };
	a.ask = p.http.address == NULL ? NULL : ask;
	status = make_fresh(s, o, &dir, &a.fresh_db);
	if (status == OK)
		status = audit_rows(s, &a);
	if (status == OK)
		status = audit_addresses(s, &a);
	if (status == OK && a.ask != NULL && !site.noindex)
		status = audit_sitemap(s, &a);
	http_get_close(&p.http);
	remove_fresh(s, dir, a.fresh_db);
	TRY(status);
	fprintf(p.is_json ? stderr : stdout, "audit: %" PRId64 " resources, %" PRId64 " addresses, %" PRId64 " pages read; %" PRId64 " faults, %" PRId64
	    " mended\n", a.rows, a.addresses, a.pages, a.faults, a.mended);
	return a.faults == a.mended ? OK : fail(s, ERR_CONFLICT, NULL, "%" PRId64 " promises are not kept", a.faults - a.mended);
}

/* What the schema should be, from the same files. */
static enum status
make_fresh(struct scope *s, const struct opened *o, char **dir, const char **path)
{
	struct migration_report report;

	*dir = arena_strdup(s->arena, config_path(s, o->config, "run/audit-XXXXXX"));
	*path = "";
	if (mkdtemp(*dir) == NULL)
		return fail(s, ERR_STORAGE, NULL, "%s cannot be made: %s", *dir, strerror(errno));
	*path = scope_printf(s, "%s/stele.db", *dir);
	return migrate(s, *path, migrations_dir(s, o->config), false, &report);
}

static void
remove_fresh(struct scope *s, const char *dir, const char *path)
{
	unlink(path);
	unlink(scope_printf(s, "%s-wal", path));
	unlink(scope_printf(s, "%s-shm", path));
	rmdir(dir);
}

static void
print_fault(void *arg, const struct audit_fault *f)
{
	const struct printing *p = arg;
	struct arena *arena;
	struct buf b;

	if (!p->is_json) {
		printf("%s %s: %s %s: %s\n", f->is_mended ? "mended" : "WRONG ", f->check, f->subject, f->detail, f->is_mended ? "mended" : f->advice);
		return;
	}
	arena = arena_new();
	buf_init(&b, arena);
	buf_char(&b, '{');
	json_put_name(&b, "check");
	json_put_text(&b, f->check);
	json_put_name(&b, "subject");
	json_put_text(&b, f->subject);
	json_put_name(&b, "detail");
	json_put_text(&b, f->detail);
	json_put_name(&b, "advice");
	json_put_text(&b, f->advice);
	json_put_name(&b, "mended");
	buf_text(&b, f->is_mended ? "true}" : "false}");
	puts(b.p);
	arena_free(arena);
}

static void
print_progress(void *arg, const char *what, int64_t done)
{
	struct printing *p = arg;
	int64_t now = clock_monotonic();

	if (!p->tells || now - p->told_at < TELL_MS)
		return;
	p->told_at = now;
	fprintf(stderr, "\r%" PRId64 " %s \033[K", done, what);
}

static enum status
ask(struct scope *s, void *arg, const char *target, struct audit_reply *out)
{
	struct printing *p = arg;
	struct http_answer answer;

	TRY(http_get(s, &p->http, target, &answer));
	*out = (struct audit_reply){ answer.status, answer.location, answer.link, answer.body };
	return OK;
}

static const char *
host_of(struct scope *s, const char *origin)
{
	const char *host = strstr(origin, "://");

	return arena_strdup(s->arena, host == NULL ? origin : host + 3);
}
