/* setting.c - `stele setting set | get | list`: the settings that live in the database. */
#include "cli/cli.h"
#include "actions/settings.h"
#include "db/writer.h"

static enum status	run_set(struct scope *, struct args *);
static enum status	run_get(struct scope *, struct args *);
static enum status	run_list(struct scope *, struct args *);
static enum status	warn_of_conflict(struct scope *, const struct opened *);
static enum status	read_all(struct scope *, struct args *, struct setting **, size_t *count);

const struct command command_setting_set = {
	.name = "setting set",
	.words = "KEY VALUE",
	.summary = "change a setting of the site; a running site follows at once",
	.more = "README.md lists the settings. Those of DATA/stele.conf are changed there.",
	.run = run_set,
};

const struct command command_setting_get = {
	.name = "setting get",
	.words = "KEY",
	.summary = "print the stored value of one setting",
	.run = run_get,
};

const struct command command_setting_list = {
	.name = "setting list",
	.summary = "print the stored settings; all others have their default",
	.run = run_list,
};

static enum status
run_set(struct scope *s, struct args *a)
{
	struct setting_change change = { .key = a->words[0], .value = a->words[1] };
	struct opened o;
	enum status status;

	TRY(data_open(s, a, &o));
	status = writer_run(s, o.db, o.shared, setting_change, &change);
	if (status == OK && strcmp(change.key, "robots") == 0)
		status = warn_of_conflict(s, &o);
	data_close(&o);
	return status;
}

static enum status
warn_of_conflict(struct scope *s, const struct opened *o)
{
	const char *url;

	TRY(settings_robots_conflict(s, o->db, o->config, &url));
	if (url != NULL)
		fprintf(stderr, "stele setting set: warning: robots.txt now keeps crawlers from %s, which the sitemap lists\n", url);
	return OK;
}

static enum status
run_get(struct scope *s, struct args *a)
{
	struct setting *list;
	size_t count;

	TRY(read_all(s, a, &list, &count));
	for (size_t i = 0; i < count; i++) {
		if (strcmp(list[i].key, a->words[0]) == 0) {
			puts(list[i].value);
			return OK;
		}
	}
	return fail(s, ERR_NOT_FOUND, a->words[0], "not stored, so its default applies; README.md lists the settings");
}

static enum status
run_list(struct scope *s, struct args *a)
{
	struct setting *list;
	size_t count;

	TRY(read_all(s, a, &list, &count));
	for (size_t i = 0; i < count; i++)
		printf("%s = %s\n", list[i].key, list[i].value);
	return OK;
}

static enum status
read_all(struct scope *s, struct args *a, struct setting **list, size_t *count)
{
	struct opened o;
	enum status status;

	TRY(data_open(s, a, &o));
	status = settings_read(s, o.db, list, count);
	data_close(&o);
	return status;
}
