/* main.c - `stele`: finds the command, reads its arguments, runs it, and says what went wrong. */
#include "cli/cli.h"
#include "base/log.h"

static const struct command *const commands[] = {
	&command_serve,
	&command_migrate,
	&command_user_add,
	&command_user_count,
	&command_token_add,
	&command_setting_set,
	&command_setting_get,
	&command_setting_list,
	&command_import_wxr,
	&command_import_redirects,
	&command_export_redirects,
	&command_flush,
	&command_audit,
	&command_jobs,
};

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_MISUSED = 2 };

static void			 print_overview(FILE *);
static void			 print_help(const struct command *);
static void			 print_usage(FILE *, const struct command *);
static const struct command	*find_command(int argc, char **argv, int *used);
static int			 refuse_command(int argc, char **argv);
static enum status		 read_args(struct scope *, struct args *, const char **data, int argc, char **argv);
static enum status		 read_option(struct scope *, struct args *, const char **data, int *i, int argc, char **argv);
static enum status		 check_required(struct scope *, struct args *);
static int			 run_command(const struct command *, int argc, char **argv);
static bool			 asks_for_help(int argc, char **argv);

int
main(int argc, char **argv)
{
	const struct command *command;
	int used;

	if (argc < 2) {
		print_overview(stderr);
		return EXIT_MISUSED;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "version") == 0) {
		puts("stele " STELE_VERSION);
		return EXIT_OK;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		print_overview(stdout);
		return EXIT_OK;
	}
	if (strcmp(argv[1], "help") == 0) {
		argc--;
		argv++;
		if (argc < 2) {
			print_overview(stdout);
			return EXIT_OK;
		}
		command = find_command(argc, argv, &used);
		if (command == NULL)
			return refuse_command(argc, argv);
		print_help(command);
		return EXIT_OK;
	}
	command = find_command(argc, argv, &used);
	if (command == NULL)
		return refuse_command(argc, argv);
	if (asks_for_help(argc - used, argv + used)) {
		print_help(command);
		return EXIT_OK;
	}
	return run_command(command, argc - used, argv + used);
}

const char *
args_option(const struct args *a, const char *name)
{
	for (int i = 0; a->command->options[i].name != NULL; i++)
		if (strcmp(a->command->options[i].name, name) == 0)
			return a->given[i];
	assert(!"the command has this option");
	return NULL;
}

enum status
misuse(struct scope *s, struct args *a, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = arena_vprintf(s->arena, fmt, ap);
	va_end(ap);
	a->is_misused = true;
	return fail(s, ERR_INVALID, NULL, "%s", text);
}

static int
run_command(const struct command *command, int argc, char **argv)
{
	struct scope *s = scope_new(command->name);
	struct args args = { .command = command };
	const char *data = "data";
	enum status status;
	int code = EXIT_OK;

	status = read_args(s, &args, &data, argc, argv);
	if (status == OK)
		status = data_enter(s, &args.data, data, command->makes_data);
	if (status == OK)
		status = command->run(s, &args);
	if (fflush(stdout) != 0 && status == OK)
		status = fail(s, ERR_STORAGE, NULL, "standard output: %s", strerror(errno));
	if (status != OK) {
		code = args.is_misused ? EXIT_MISUSED : EXIT_FAILED;
		for (const struct error *e = s->error; e != NULL; e = e->next)
			fprintf(stderr, "stele %s: %s%s%s\n", command->name, e->field != NULL ? e->field : "",
			    e->field != NULL ? ": " : "", e->detail);
		if (s->error == NULL)
			fprintf(stderr, "stele %s: %s\n", command->name, status_info(status)->title);
		if (args.is_misused) {
			print_usage(stderr, command);
			fprintf(stderr, "Try `stele %s --help`.\n", command->name);
		}
	}
	scope_free(s);
	return code;
}

static enum status
read_args(struct scope *s, struct args *a, const char **data, int argc, char **argv)
{
	bool only_words = false;

	for (int i = 0; i < argc; i++) {
		if (!only_words && strcmp(argv[i], "--") == 0) {
			only_words = true;
		} else if (!only_words && strncmp(argv[i], "--", 2) == 0) {
			TRY(read_option(s, a, data, &i, argc, argv));
		} else {
			if (a->word_count == WORDS_MAX)
				return misuse(s, a, "too many words: \"%s\"", argv[i]);
			a->words[a->word_count++] = argv[i];
		}
	}
	return check_required(s, a);
}

/* `--name VALUE`, `--name=VALUE` or a plain `--name`, at argv[*i]. */
static enum status
read_option(struct scope *s, struct args *a, const char **data, int *i, int argc, char **argv)
{
	static const struct option data_option = { .name = "data", .value = "DIR" };
	const struct option *o = NULL;
	const char *text = argv[*i] + 2, **slot = NULL;
	struct str name = str_part(str_of(text), 0, str_find(str_of(text), '='));
	const char *value = text[name.len] == '=' ? text + name.len + 1 : NULL;

	if (str_is(name, data_option.name)) {
		o = &data_option;
		slot = data;
	}
	for (int n = 0; o == NULL && a->command->options != NULL && a->command->options[n].name != NULL; n++) {
		if (str_is(name, a->command->options[n].name)) {
			o = &a->command->options[n];
			slot = &a->given[n];
		}
	}
	if (o == NULL)
		return misuse(s, a, "there is no option --%.*s", STR_FMT(name));
	if (o->value == NULL && value != NULL)
		return misuse(s, a, "--%s takes no value", o->name);
	if (o->value != NULL && value == NULL) {
		if (*i + 1 == argc)
			return misuse(s, a, "--%s expects %s", o->name, o->value);
		value = argv[++*i];
	}
	*slot = value != NULL ? value : "";
	return OK;
}

static enum status
check_required(struct scope *s, struct args *a)
{
	struct str rest = str_of(a->command->words), word;
	int max = 0, min = 0;

	while (str_next(&rest, ' ', &word)) {
		max++;
		if (!str_starts(word, "["))
			min++;
		if (a->word_count < min)
			return misuse(s, a, "expected %.*s", STR_FMT(word));
	}
	if (a->word_count > max)
		return misuse(s, a, "unexpected \"%s\"", a->words[max]);
	for (int i = 0; a->command->options != NULL && a->command->options[i].name != NULL; i++)
		if (a->command->options[i].is_required && a->given[i] == NULL)
			return misuse(s, a, "expected --%s %s", a->command->options[i].name, a->command->options[i].value);
	return OK;
}

static bool
asks_for_help(int argc, char **argv)
{
	for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
		if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
			return true;
	return false;
}

/* The command whose name argv begins with; *used counts argv[0] and the words of the name. */
static const struct command *
find_command(int argc, char **argv, int *used)
{
	for (size_t n = 0; n < COUNT(commands); n++) {
		struct str rest = str_of(commands[n]->name), word;
		int i = 1;
		bool same = true;

		while (same && str_next(&rest, ' ', &word)) {
			same = i < argc && str_is(word, argv[i]);
			i++;
		}
		if (same) {
			*used = i;
			return commands[n];
		}
	}
	return NULL;
}

static int
refuse_command(int argc, char **argv)
{
	bool is_group = false;

	for (size_t n = 0; n < COUNT(commands); n++) {
		const char *name = commands[n]->name;
		size_t len = strlen(argv[1]);

		if (strncmp(name, argv[1], len) == 0 && name[len] == ' ') {
			if (!is_group)
				fprintf(stderr, "stele %s: expected one of:\n", argv[1]);
			is_group = true;
			fprintf(stderr, "  stele %s\n", name);
		}
	}
	if (is_group && argc == 3 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0))
		return EXIT_OK;
	if (!is_group)
		fprintf(stderr, "stele: there is no command \"%s\"; `stele --help` lists them\n", argv[1]);
	return EXIT_MISUSED;
}

static void
print_overview(FILE *out)
{
	fputs("Usage: stele COMMAND [--data DIR] ...\n\nCommands:\n", out);
	for (size_t n = 0; n < COUNT(commands); n++)
		fprintf(out, "  %-14s %s\n", commands[n]->name, commands[n]->summary);
	fputs("\n`stele COMMAND --help` explains one. DIR holds the database and all files of a site (default: ./data).\n"
	      "Exit status: 0 done, 1 failed, 2 wrong command line.\n", out);
}

static void
print_usage(FILE *out, const struct command *c)
{
	fprintf(out, "Usage: stele %s%s%s [--data DIR]", c->name, c->words != NULL ? " " : "", c->words != NULL ? c->words : "");
	for (const struct option *o = c->options; o != NULL && o->name != NULL; o++)
		fprintf(out, o->is_required ? " --%s%s%s" : " [--%s%s%s]", o->name, o->value != NULL ? " " : "",
		    o->value != NULL ? o->value : "");
	fputc('\n', out);
}

static void
print_help(const struct command *c)
{
	char name[64];

	print_usage(stdout, c);
	printf("\n%s\n", c->summary);
	if (c->more != NULL)
		printf("\n%s\n", c->more);
	puts("\nOptions:");
	for (const struct option *o = c->options; o != NULL && o->name != NULL; o++) {
		snprintf(name, sizeof(name), "--%s%s%s", o->name, o->value != NULL ? " " : "", o->value != NULL ? o->value : "");
		printf("  %-22s %s\n", name, o->help);
	}
	printf("  %-22s %s\n", "--data DIR", "directory of the site (default: ./data)");
	printf("  %-22s %s\n", "--help", "this text");
}
