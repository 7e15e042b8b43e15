/* user.c - `stele user add`, `stele user count`: the people of a site. */
#include "cli/cli.h"
#include "actions/users.h"
#include "base/hash.h"
#include "db/writer.h"

#define PASSWORD_MIN 8
#define PASSWORD_MAX 1024

static enum status	run_user_add(struct scope *, struct args *);
static enum status	run_user_count(struct scope *, struct args *);
static enum status	read_password(struct scope *, struct str *out);

static const struct option add_options[] = {
	{ "role", "ROLE", "admin, editor, author or viewer", true },
	{ "password-stdin", NULL, "read the password from the first line of standard input", false },
	{ 0 },
};

const struct command command_user_add = {
	.name = "user add",
	.words = "NAME",
	.summary = "add a person",
	.more = "Without a password the person works by tokens only (`stele token add`).",
	.options = add_options,
	.run = run_user_add,
};

const struct command command_user_count = {
	.name = "user count",
	.summary = "print how many people there are",
	.run = run_user_count,
};

static enum status
run_user_add(struct scope *s, struct args *a)
{
	struct user_new user = { .name = a->words[0] };
	struct opened o;
	struct str password;
	enum status status;

	if (!role_parse(str_of(args_option(a, "role")), &user.role))
		return misuse(s, a, "--role: expected admin, editor, author or viewer, not \"%s\"", args_option(a, "role"));
	if (args_option(a, "password-stdin") != NULL) {
		TRY(read_password(s, &password));
		TRY(password_hash(s, &user.password_phc, password));
	}
	TRY(data_open(s, a, &o));
	status = writer_run(s, o.db, o.shared, user_add, &user);
	data_close(&o);
	TRY(status);
	printf("user %s added, role %s\n", user.name, role_name(user.role));
	return OK;
}

static enum status
run_user_count(struct scope *s, struct args *a)
{
	struct opened o;
	enum status status;
	int64_t count;

	TRY(data_open(s, a, &o));
	status = users_count(s, o.db, &count);
	data_close(&o);
	TRY(status);
	printf("%" PRId64 "\n", count);
	return OK;
}

/* The first line, without its line end. */
static enum status
read_password(struct scope *s, struct str *out)
{
	char *line = scope_alloc(s, PASSWORD_MAX + 3);

	if (fgets(line, PASSWORD_MAX + 3, stdin) == NULL)
		return fail(s, ERR_INVALID, "--password-stdin", "expected the password on the first line of standard input");
	*out = str_of(line);
	if (str_ends(*out, "\n"))
		out->len--;
	if (str_ends(*out, "\r"))
		out->len--;
	if (out->len < PASSWORD_MIN || out->len > PASSWORD_MAX)
		return fail(s, ERR_INVALID, "--password-stdin", "a password has %d to %d bytes", PASSWORD_MIN, PASSWORD_MAX);
	return OK;
}
