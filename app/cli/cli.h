/* cli.h - the commands of `stele`: what each is called, takes and does. */
#ifndef CLI_CLI_H
#define CLI_CLI_H
#include "base/base.h"
#include "base/config.h"
#include "db/db.h"
#include "db/shared.h"

#define OPTIONS_MAX 12
#define WORDS_MAX 4

/* `--name VALUE`, or a plain `--name` where `value` is NULL. Every command also has --data and --help. */
struct option {
	const char	*name, *value, *help;
	bool		 is_required;
};

struct args;
struct command {
	const char	*name;		/* "serve", "user add" */
	const char	*words;		/* "NAME", "KEY VALUE", "[FILE]": each must be given unless in brackets; NULL = none */
	const char	*summary;
	const char	*more;		/* further lines of --help, or NULL */
	const struct option *options;	/* ended by a NULL name; NULL = none */
	bool		 makes_data;	/* DATA may be absent: it is made, 0700 */
	enum status	(*run)(struct scope *, struct args *);
};

/* What stood on the command line, already checked against the command. */
struct args {
	const struct command *command;
	const char	*data;			/* absolute */
	const char	*given[OPTIONS_MAX];	/* by position in command->options; NULL = absent */
	const char	*words[WORDS_MAX];
	int		 word_count;
	bool		 is_misused;		/* the failure was a wrong command line: exit 2 */
};
/* The value of `--name`, "" for a plain option that was given, NULL when absent. The command must have that option. */
const char	*args_option(const struct args *, const char *name);
/* Refuse the command line; the text says what was expected. Returns a status to leave with. */
enum status	 misuse(struct scope *, struct args *, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* The one table stands in main.c. */
extern const struct command command_serve, command_jobs, command_migrate, command_user_add, command_user_count, command_token_add,
    command_setting_set, command_setting_get, command_setting_list, command_flush, command_audit,
    command_import_wxr, command_import_redirects, command_export_redirects;

/* Make DATA absolute, and make it where `create` says so. When root runs a command on a directory that belongs to somebody else, the
 * process becomes that user, so that no file in DATA ever belongs to the wrong one. */
enum status	 data_enter(struct scope *, const char **absolute, const char *data, bool create) MUST_USE;

/* What most commands work with: settings, a writing handle on a database of the right version, and the shared page. */
struct opened {
	struct config	*config;
	struct db	*db;
	struct shared	*shared;
};
enum status	 data_open(struct scope *, const struct args *, struct opened *) MUST_USE;
void		 data_close(struct opened *);
/* ERR_CONFLICT, naming the command to run, unless there is a database; unless it has the version of this program. */
enum status	 data_check_exists(struct scope *, const struct config *) MUST_USE;
enum status	 data_check_schema(struct scope *, const struct config *, struct db *) MUST_USE;
const char	*migrations_dir(struct scope *, const struct config *);

/* DATA/run/lock: held by `serve` and its children as long as any of them lives. *fd is -1 when somebody else holds it; then *holder is the
 * pid that `serve` wrote there, 0 if none. Makes DATA/run (0700). */
enum status	 lock_take(struct scope *, const struct config *, int *fd, int64_t *holder) MUST_USE;
#endif
