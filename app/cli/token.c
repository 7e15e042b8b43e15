/* token.c - `stele token add`: credentials for the API. */
#include "cli/cli.h"
#include "actions/users.h"
#include "db/writer.h"

#define DAY_MS (24 * 3600 * INT64_C(1000))
#define DAYS_MAX 36500

static enum status	run_token_add(struct scope *, struct args *);

static const struct option add_options[] = {
	{ "user", "NAME", "whose token it is", true },
	{ "scopes", "LIST", "read,write,publish,admin or a part of it (default: all that the role allows)", false },
	{ "days", "N", "the token ends after N days (default: never)", false },
	{ 0 },
};

const struct command command_token_add = {
	.name = "token add",
	.summary = "make an API token for a person and print it",
	.more = "The token is printed alone on one line, and only this once: Stele keeps no copy.",
	.options = add_options,
	.run = run_token_add,
};

static enum status
run_token_add(struct scope *s, struct args *a)
{
	struct token_new token = { .user = args_option(a, "user"), .scopes = TOKEN_SCOPE_ALL };
	const char *scopes = args_option(a, "scopes"), *days_text = args_option(a, "days");
	struct opened o;
	enum status status;
	int64_t days;

	if (scopes != NULL && !scopes_parse(str_of(scopes), &token.scopes))
		return misuse(s, a, "--scopes: expected names of read, write, publish and admin joined by commas, or all, not \"%s\"",
		    scopes);
	if (days_text != NULL) {
		if (!parse_int64(str_of(days_text), &days) || days < 1 || days > DAYS_MAX)
			return misuse(s, a, "--days: expected a number from 1 to %d, not \"%s\"", DAYS_MAX, days_text);
		token.expires_at = s->now + days * DAY_MS;
	}
	TRY(data_open(s, a, &o));
	status = writer_run(s, o.db, o.shared, token_add, &token);
	data_close(&o);
	TRY(status);
	puts(token.token);
	return OK;
}
