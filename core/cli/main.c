/* SPDX-License-Identifier: MIT */
/* The shell program: heapdump [options] TARGET [COMMAND [ARG...]]. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "installed.h"
#include "misbehave.h"
#include "nothing.h"
#include "own_files.h"
#include "python.h"
#include "serve.h"
#include "serve_rows.h"
#include "shell_words.h"
#include "signals.h"
#include "target_words.h"
#include "worker.h"

/* Bytes of a message: a path fits in it. */
#define LINE_SIZE (PATH_MAX + 256)

/* @p arg: an int for the errno of the first write that failed. */
static int write_stdout(void *arg, const char *text, size_t size)
{
	int *error = arg;
	if (size ? fwrite(text, 1, size, stdout) == size : fflush(stdout) == 0)
		return 0;
	if (!*error)
		*error = errno;
	return 1;
}

/* Write out what is buffered; returns the errno of a failed write, now or before, or 0. */
static int flush_stdout(int error)
{
	if (fflush(stdout) != 0 && !error)
		error = errno;
	if (error) {
		/* The rest must not go to the next target of standard output. */
		__fpurge(stdout);
		clearerr(stdout);
	}
	return error;
}

/* It is not a failure if the reader has left (head). */
static int write_failure(int error)
{
	if (error == EPIPE)
		return HD_EXIT_OK;
	cli_say("cannot write to standard output: %s", strerrordesc_np(error));
	return HD_EXIT_INPUT;
}

static void warn_stderr(void *arg, const char *line)
{
	(void)arg;
	(void)fprintf(stderr, "heapdump: warning: %s\n", line);
}

static void note_stderr(void *arg, const char *line)
{
	(void)arg;
	(void)fprintf(stderr, "heapdump: %s\n", line);
}

static int shell_is_cancelled(void *arg)
{
	(void)arg;
	return hd_interrupted() || signals_came(NULL);
}

static void show_progress(void *arg, const char *what, uint64_t done, uint64_t total)
{
	(void)arg;
	if (!what) {
		(void)fputs("\r\033[K", stderr);
	} else if (total) {
		(void)fprintf(stderr, "\r%s... %d%%\033[K", what,
			      (int)(100.0 * (double)(done < total ? done : total) / (double)total));
	} else {
		(void)fprintf(stderr, "\r%s...\033[K", what);
	}
	(void)fflush(stderr);
}

/* @p write_error: as write_stdout() takes it. */
static struct hd_sink make_sink(const struct cli *cli, void *write_error)
{
	struct hd_sink sink = { .struct_size = sizeof(sink),
				.arg = write_error,
				.write = write_stdout,
				.warn = warn_stderr,
				.cancelled = shell_is_cancelled,
				.note = note_stderr };
	if (isatty(STDERR_FILENO))
		sink.progress = show_progress;
	sink.color = cli->terminal.takes_color;
	sink.width = cli->terminal.columns;
	sink.binary = !cli->terminal.is_there;
	return sink;
}

/* The least that the setting "width" takes: in fewer columns nothing would be left of a name. */
#define COLUMNS_MIN 20

struct terminal terminal_now(void)
{
	struct terminal terminal = { .is_there = isatty(STDOUT_FILENO) };
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	struct winsize size;
	if (!terminal.is_there)
		return terminal;
	terminal.takes_color = !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= COLUMNS_MIN)
		terminal.columns = size.ws_col;
	return terminal;
}

void cli_say(const char *format, ...)
{
	char line[LINE_SIZE], shown[LINE_SIZE];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	(void)hd_escape(line, sizeof(line), shown, sizeof(shown));
	(void)fprintf(stderr, "heapdump: %s\n", shown);
}

void cli_error(const struct hd_error *err)
{
	cli_say("%s", err->message);
}

int cli_run_here(struct cli *cli, int argc, const char *const *argv)
{
	const char **words = calloc((size_t)argc + 1, sizeof(*words));
	if (!words) {
		cli_say("out of memory");
		return HD_EXIT_INPUT;
	}
	/*
	 * Options given before the target are put directly after the name, so that a "--" does not
	 * hide them.
	 */
	int count = 0;
	words[count++] = argv[0];
	if (cli->lenient)
		words[count++] = "--lenient";
	for (int i = 1; i < argc; i++)
		words[count++] = argv[i];
	int write_error = 0;
	const struct hd_sink sink = make_sink(cli, &write_error);
	struct hd_error err;
	struct taken_signals old;
	signals_take(&old, 0);
	hd_interrupt_begin();
	int status = cli->serves ? serve_rows(cli->session, count, words, &sink, &err)
				 : hd_command_run(cli->session, count, words, &sink, &err);
	(void)hd_interrupt_end();
	signals_give_back(&old);
	free(words);
	write_error = flush_stdout(write_error);
	if (write_error)
		return write_failure(write_error);
	if (status > HD_EXIT_FINDINGS && !err.is_told)
		cli_error(&err);
	return status;
}

int cli_open_quietly(struct cli *cli, const char *target)
{
	const char *const open[] = { "open", "--", target };
	int write_error = 0; /* nothing is written */
	const struct hd_sink sink = make_sink(cli, &write_error);
	struct hd_error err;
	hd_interrupt_begin();
	enum hd_status status = hd_session_open(cli->session, target, cli->lenient, &sink, &err);
	(void)hd_interrupt_end();
	if (status == HD_ERR_CANCELLED)
		return HD_EXIT_INTERRUPTED;
	return status == HD_OK ? HD_EXIT_OK : cli_run_here(cli, 3, open);
}

static bool start(struct cli *cli, struct worker *worker)
{
	if (worker_start(cli, worker))
		return true;
	cli_say("cannot start a process: %s", strerrordesc_np(errno));
	return false;
}

/* A command about the machine, while nothing is open: with a worker of its own. */
static int run_alone(struct cli *cli, int argc, const char *const *argv)
{
	struct worker worker = { 0 };
	if (!start(cli, &worker))
		return HD_EXIT_INPUT;
	int status = worker_run(cli, &worker, argc, argv, false);
	worker_end(&worker);
	return status;
}

/* Open something in a new worker; what was open stays open if that fails. */
static int open_in_fresh_worker(struct cli *cli, int argc, const char *const *argv)
{
	struct worker fresh = { 0 };
	if (!start(cli, &fresh))
		return HD_EXIT_INPUT;
	int status = worker_run(cli, &fresh, argc, argv, false);
	if (status > HD_EXIT_FINDINGS) {
		worker_end(&fresh);
		return status;
	}
	worker_end(cli->worker);
	*cli->worker = fresh;
	return status;
}

int cli_run(struct cli *cli, int argc, const char *const *argv)
{
	struct hd_command_info info = { .role = HD_ROLE_OWN };
	struct worker *worker = cli->worker;
	if (!cli->is_paged)
		cli->terminal = terminal_now();
	/* This process itself says that something is not a command. */
	bool is_known = hd_command_find(argv[0], &info) == 0;
	if (misbehave_is(argv[0])) {
		return worker ? worker_run(cli, worker, argc, argv, false)
			      : !misbehave(hd_broker_direct(), argc, argv);
	}
	if (!worker || !is_known || info.role == HD_ROLE_OWN)
		return cli_run_here(cli, argc, argv);
	if (info.role == HD_ROLE_OPEN)
		return open_in_fresh_worker(cli, argc, argv);
	if (worker->pid) {
		int status = worker_run(cli, worker, argc, argv, false);
		if (info.role != HD_ROLE_CLOSE)
			return status;
		worker_end(worker);
		enum hd_status ignored = hd_session_label(cli->session, NULL, NULL);
		(void)ignored;
		return status;
	}
	return info.role == HD_ROLE_SYSTEM ? run_alone(cli, argc, argv)
					   : cli_run_here(cli, argc, argv);
}

int cli_complete(struct cli *cli, int argc, const char *const *argv,
		 void (*add)(void *arg, const char *candidate), void *arg)
{
	/* Only the worker knows the types. */
	struct worker *worker = cli->worker;
	struct hd_command_info info;
	bool is_ours = !worker || !worker->pid || argc < 2 ||
		       hd_command_find(argv[0], &info) != 0 || !info.needs_open;
	return is_ours ? hd_command_complete(cli->session, argc, argv, add, arg)
		       : worker_complete(cli, argc, argv, add, arg);
}

static void print_usage(FILE *to)
{
	(void)fputs(
		"usage: heapdump [OPTION...] TARGET [OPTION...] [COMMAND [ARG...] | -c LINE...]\n"
		"       heapdump [OPTION...] COMMAND TARGET [ARG...]\n"
		"       heapdump [OPTION...] collect|ps|help [ARG...]\n"
		"       heapdump [OPTION...] python TARGET [SCRIPT | -c CODE | - [ARG...]]\n"
		"       heapdump --print-gdbinit | --print-lldbinit | --print-profiler\n"
		"       heapdump --version | --help\n",
		to);
}

static int help(struct cli *cli)
{
	print_usage(stdout);
	(void)puts(
		"\nTARGET is a heap dump file, a core file or the id of a process.\n"
		"Without COMMAND: a prompt on a terminal, else commands from standard input.\n"
		"\nOptions, before or after TARGET and, but for -c, after COMMAND:\n"
		"  -c LINE         run a command line as at the prompt; may be given again\n"
		"  --json          answer with one JSON document\n"
		"  --format FORMAT text, json, ndjson or csv (the rows of the main table)\n"
		"  --raw-csv       csv without the apostrophe that keeps a spreadsheet from\n"
		"                  running a text\n"
		"  --lenient       count and skip malformed records of a dump file\n"
		"  --sysroot DIR   look up the module files of a core below DIR\n"
		"  --symbols DIR   look up PDBs and symbol files, for lines and names, in DIR\n"
		"  --runtime NAME  of several .NET runtimes, the one in the module of that name\n"
		"  --no-files      read no module files next to a core\n"
		"  --trust-files   use module files that nothing proves to be right\n"
		"  --no-sandbox    read the target in this process, which may do anything\n"
		"  --serve         take commands from a program: see doc/python.md\n"
		"  --exact         read a .nettrace as dotnet-gcdump does, to the byte\n"
		"  --copy-all      copy all memory of a process, also what no answer needs\n"
		"  --snapshot N    which heap snapshot of a .nettrace to read\n"
		"  --workers N     threads for long work\n"
		"  --max-mem SIZE  memory that opening may take (512M, 2G)\n"
		"  --max-stop SECONDS  how long a process may be stopped while it is copied (10)\n"
		"  --width N       shorten names to fit N columns (auto: terminal's; 0: never)\n"
		"  --full          shorten no names and no values, however narrow the terminal is\n"
		"  --color WHEN    colours: auto, on or off\n"
		"A file may keep them: heapdump help config.\n");
	const char *argv[] = { "help" };
	int write_error = 0;
	const struct hd_sink sink = make_sink(cli, &write_error);
	int status = hd_command_run(cli->session, 1, argv, &sink, NULL);
	write_error = flush_stdout(write_error);
	return write_error ? write_failure(write_error) : status;
}

/* Handle an option that ends the program; -1 when @p arg is not one. */
static int run_special(struct cli *cli, const char *arg)
{
	if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0)
		return help(cli);
	if (strcmp(arg, "--version") == 0 || strcmp(arg, "-V") == 0) {
		(void)printf("heapdump %s\n", hd_version());
		return HD_EXIT_OK;
	}
	return print_installed(arg);
}

int cli_usage_error(const char *what, const char *word)
{
	cli_say("%s%.400s (heapdump --help lists the options)", what, word);
	return HD_EXIT_USAGE;
}

/* Set what an option stands for; returns the status to end with, or -1. */
static int take_setting(struct cli *cli, const char *name, const char *value)
{
	return hd_session_set(cli->session, name, value, NULL) == HD_OK ? -1 : HD_EXIT_USAGE;
}

/* Handle one option of the program, at argv[*index]; returns the status to end with, or -1. */
static int take_option(struct cli *cli, int argc, char **argv, int *index)
{
	const char *arg = argv[*index];
	if (strcmp(arg, "-c") == 0) {
		if (++*index >= argc)
			return cli_usage_error("a command is missing after ", arg);
		cli->lines[cli->line_count++] = argv[*index];
		return -1;
	}
	int special = run_special(cli, arg);
	if (special >= 0)
		return special;
	if (strcmp(arg, "--json") == 0)
		return take_setting(cli, "format", "json");
	if (strcmp(arg, "--full") == 0)
		return take_setting(cli, "width", "0");
	if (strcmp(arg, "--lenient") == 0) {
		cli->lenient = true;
		return -1;
	}
	if (strcmp(arg, "--serve") == 0) {
		cli->serves = true;
		return -1;
	}
	if (strcmp(arg, "--no-sandbox") == 0) {
		cli->worker = NULL;
		hd_session_sandbox(cli->session, "off (--no-sandbox)");
		return -1;
	}
	if (strcmp(arg, "--no-files") == 0) {
		return hd_session_set(cli->session, "files", "off", NULL) == HD_OK ? -1
										   : HD_EXIT_USAGE;
	}
	if (strcmp(arg, "--trust-files") == 0 || strcmp(arg, "--exact") == 0 ||
	    strcmp(arg, "--copy-all") == 0 || strcmp(arg, "--raw-csv") == 0) {
		return hd_session_set(cli->session, arg + 2, "on", NULL) == HD_OK ? -1
										  : HD_EXIT_USAGE;
	}
	char name[32];
	const char *equals = strchr(arg, '=');
	size_t size = equals ? (size_t)(equals - arg) : strlen(arg);
	if (strncmp(arg, "--", 2) != 0 || size - 2 >= sizeof(name))
		return cli_usage_error("unknown option ", arg);
	memcpy(name, arg + 2, size - 2);
	name[size - 2] = '\0';
	char value_now[HD_SETTING_SIZE];
	if (hd_session_get(cli->session, name, value_now, sizeof(value_now), NULL) != HD_OK)
		return cli_usage_error("unknown option ", arg);
	const char *value = equals ? equals + 1 : argv[*index + 1];
	if (!equals && ++*index >= argc)
		return cli_usage_error("a value is missing after ", arg);
	struct hd_error err;
	if (hd_session_set(cli->session, name, value, &err) == HD_OK)
		return -1;
	cli_error(&err);
	return HD_EXIT_USAGE;
}

/*
 * Handle all options that begin at argv[*index], up to the first word that is not one; returns the
 * status to end with, or -1.
 */
static int take_options(struct cli *cli, int argc, char **argv, int *index)
{
	int status = -1;
	for (; status < 0 && *index < argc && argv[*index][0] == '-' && argv[*index][1]; ++*index) {
		if (strcmp(argv[*index], "--") == 0) {
			++*index;
			break;
		}
		status = take_option(cli, argc, argv, index);
	}
	return status;
}

/* "heapdump gcroot --help": the help of a command, which needs no target. */
static bool is_help_of_command(int argc, char **argv)
{
	struct hd_command_info info;
	return argc == 2 && hd_command_find(argv[0], &info) == 0 && access(argv[0], F_OK) != 0 &&
	       (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
}

/* One word that is a line: heapdump core "dumpheap -stat". */
static bool is_line(const char *word)
{
	struct hd_command_info info;
	return strpbrk(word, " \t\n") && hd_command_find(word, &info) != 0;
}

/* Is it a command that needs no target, and no file? */
static bool needs_no_target(const char *word)
{
	struct hd_command_info info;
	return hd_command_find(word, &info) == 0 && strcmp(info.name, word) == 0 &&
	       !info.needs_open && access(word, F_OK) != 0;
}

/* Set what the next command opens. */
static int defer_target(struct cli *cli, const char *target)
{
	struct hd_error err = { .message = "cannot start a process" };
	if (!cli->worker) {
		if (hd_session_defer(cli->session, target, &err) == HD_OK)
			return HD_EXIT_OK;
	} else if (hd_session_label(cli->session, target, &err) == HD_OK &&
		   worker_start(cli, cli->worker) && worker_defer(cli->worker, target)) {
		return HD_EXIT_OK;
	}
	cli_error(&err);
	return HD_EXIT_INPUT;
}

static int open_at_once(struct cli *cli, const char *target, bool is_prompt)
{
	const char *open[] = { "open", "--", target };
	if (is_prompt) {
		int status = cli_run(cli, 3, open);
		/* Ctrl-C may have come too late to stop it, and is not for what follows. */
		if (status <= HD_EXIT_FINDINGS && signals_came(NULL)) {
			cli_say("interrupted");
			return HD_EXIT_INTERRUPTED;
		}
		cli->begins = true;
		return status;
	}
	return cli->worker ? worker_run(cli, cli->worker, 3, open, true)
			   : cli_open_quietly(cli, target);
}

/*
 * In a script these may be somebody else's words: no part of them goes to a shell, and no file is
 * written.
 */
static int run_one_word(struct cli *cli, const char *line)
{
	struct words words;
	if (!words_init(&words, line)) {
		cli_say("out of memory");
		return HD_EXIT_INPUT;
	}
	int status =
		words.open_quote || words.pipe || !words.argc
			? cli_usage_error("give a line with a pipe or a redirection to -c: ", line)
			: cli_run(cli, words.argc, words.argv);
	words_deinit(&words);
	return status;
}

static int run_target(struct cli *cli, int argc, char **argv)
{
	if (is_python(argv[0]))
		return cli_python(cli, argc, argv);
	if (is_help_of_command(argc, argv))
		return cli_run_here(cli, 2, (const char *const[]){ "help", argv[0] });
	if (needs_no_target(argv[0]))
		return cli_run(cli, argc, (const char *const *)argv);
	target_words_order(argc, argv);
	int index = 1, status = target_word_refuse(cli, argc, argv);
	if (status < 0)
		status = take_options(cli, argc, argv, &index);
	if (status >= 0)
		return status;
	int left = argc - index;
	char **command = argv + index;
	if (left && (cli->line_count || cli->serves)) {
		return cli_usage_error(
			"with -c or --serve there is no other command; this word is too many: ",
			command[0]);
	}
	if (cli->serves && !cli_serve_begin(cli))
		return HD_EXIT_INPUT;
	status = HD_EXIT_OK;
	bool is_prompt = !left && !cli->line_count && !cli->serves && isatty(STDIN_FILENO);
	if (!is_prompt)
		status = defer_target(cli, argv[0]);
	if (status != HD_EXIT_OK)
		return status;
	if (cli->line_count)
		return cli_run_lines(cli);
	if (left == 1 && is_line(command[0]))
		return run_one_word(cli, command[0]);
	if (left)
		return cli_run(cli, left, (const char *const *)command);
	/* Without a command the file is opened at once: a script must not succeed if that fails. */
	status = open_at_once(cli, argv[0], is_prompt);
	if (cli->serves)
		return cli_serve(cli, status);
	return status > HD_EXIT_FINDINGS ? status : cli_repl(cli);
}

/* A file that is opened later must not become a standard stream that was closed. */
static void hold_streams(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		/* The other way round: using it fails as before. */
		if (fcntl(fd, F_GETFD) < 0)
			(void)lead_to_nothing(fd, fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
	}
}

/* For signals that must only be caught: unlike SIG_IGN, a handler is not inherited by programs. */
static void take_signal(int signal)
{
	(void)signal;
}

int main(int argc, char **argv)
{
	struct worker worker = { 0 };
	struct cli cli = { .worker = &worker };
	struct hd_error err;
	hold_streams();
	/* A limit on the size of files is an error of the write. */
	const struct sigaction action = { .sa_handler = take_signal, .sa_flags = SA_RESTART };
	(void)sigaction(SIGXFSZ, &action, NULL);
	if (hd_session_create(&cli.session, &err) != HD_OK) {
		cli_error(&err);
		return HD_EXIT_INPUT;
	}
	cli.lines = calloc((size_t)argc + 1, sizeof(*cli.lines));
	if (!cli.lines) {
		cli_say("out of memory");
		return HD_EXIT_INPUT;
	}
	own_settings_take(&cli);
	int index = 1, status = -1;
	if (argc > 1 && strcmp(argv[1], "--complete") == 0) {
		status = shell_words_complete(&cli, argc - 2, (const char *const *)argv + 2);
	} else {
		status = take_options(&cli, argc, argv, &index);
	}
	if (status < 0 && index >= argc) {
		print_usage(stderr);
		status = HD_EXIT_USAGE;
	}
	if (status < 0)
		status = run_target(&cli, argc - index, argv + index);
	worker_end(&worker);
	hd_session_destroy(cli.session);
	free(cli.lines);
	int write_error = flush_stdout(0);
	if (write_error)
		status = write_failure(write_error);
	return status;
}
