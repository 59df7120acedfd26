/* SPDX-License-Identifier: MIT */
/* The prompt: line editing, history and keys by libedit; or plain lines from a file. */
#include <errno.h>
#include <histedit.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#include "cli.h"
#include "own_files.h"
#include "statement.h"

#define HISTORY_SIZE 1000
/*
 * Most bytes of a file that the prompt reads: no person, and not this program, writes a larger one.
 */
#define FD_NAME_SIZE 40

static const char *prompt_text(EditLine *el)
{
	const struct cli *cli = NULL;
	(void)el_get(el, EL_CLIENTDATA, &cli);
	return cli && cli->goes_on ? "     ...> " : "heapdump> ";
}

static int prompt_is_cancelled(void *arg)
{
	(void)arg;
	return hd_interrupted();
}

/* Open a file for writing, as the library does; returns the exit status. */
static int open_output(const char *path, bool append, int *ret)
{
	const struct hd_sink sink = { .struct_size = sizeof(sink),
				      .cancelled = prompt_is_cancelled };
	struct hd_error err;
	hd_interrupt_begin();
	enum hd_status status = hd_output_open(path, append, &sink, ret, &err);
	(void)hd_interrupt_end();
	if (status == HD_OK)
		return HD_EXIT_OK;
	cli_error(&err);
	return status == HD_ERR_CANCELLED ? HD_EXIT_INTERRUPTED : HD_EXIT_INPUT;
}

/* The same rules apply: root may have somebody else's home. */
static void save_history(History *lines, const char *path)
{
	const struct hd_sink sink = { .struct_size = sizeof(sink),
				      .cancelled = prompt_is_cancelled };
	HistEvent event;
	int fd;
	hd_interrupt_begin();
	enum hd_status status = hd_output_open(path, 0, &sink, &fd, NULL);
	(void)hd_interrupt_end();
	if (status != HD_OK)
		return;
	FILE *file = fdopen(fd, "w");
	if (!file) {
		(void)close(fd);
		return;
	}
	(void)history(lines, &event, H_SAVE_FP, file);
	(void)fclose(file);
}

/* The user's pager; it ends at once when the answer fits on the screen. */
#define PAGER                                                                         \
	"LESS=${LESS-RFX}; export LESS; if [ -n \"$PAGER\" ]; then eval \"$PAGER\"; " \
	"elif command -v less >/dev/null 2>&1; then less; else cat; fi"

/* Does a pager show the answer of a command that is typed at the prompt? */
static bool wants_pager(const struct cli *cli)
{
	char pager[HD_SETTING_SIZE];
	const char *term = getenv("TERM");
	return cli->is_prompt && isatty(STDOUT_FILENO) && term && strcmp(term, "dumb") != 0 &&
	       hd_session_get(cli->session, "pager", pager, sizeof(pager), NULL) == HD_OK &&
	       strcmp(pager, "on") == 0;
}

/*
 * The exit status of a command whose reader ended as @p how says.  Ctrl-C ends the pager, too: if it
 * was faster, the command did not see the signal, but a reader that has left.
 */
static int end_pager(const struct cli *cli, int how, int status)
{
	if (!cli->is_paged || status > HD_EXIT_FINDINGS || !WIFSIGNALED(how) ||
	    WTERMSIG(how) != SIGINT)
		return status;
	cli_say("interrupted");
	return HD_EXIT_INTERRUPTED;
}

/* Run a command with standard output going to the pager, a shell command or a file. */
static int run_redirected(struct cli *cli, const struct words *words)
{
	(void)fflush(stdout);
	int saved = dup(STDOUT_FILENO);
	FILE *pipe = NULL;
	int to = -1, status = HD_EXIT_OK;
	cli->is_paged = !words->pipe;
	if (cli->is_paged)
		cli->terminal = terminal_now();
	if (words->pipe == '|' || cli->is_paged) {
		/* the user's own command line, typed at the prompt */
		pipe = popen(cli->is_paged ? PAGER : words->rest, "w"); // NOLINT(cert-env33-c)
		to = pipe ? fileno(pipe) : -1;
	} else {
		status = open_output(words->rest, words->pipe == 'A', &to);
	}
	if (cli->is_paged && !pipe) {
		/* There is no shell, as in an empty container: the answer goes straight. */
		cli->is_paged = false;
		status = cli_run(cli, words->argc, words->argv);
	} else if (status == HD_EXIT_OK && saved >= 0 && to >= 0 && dup2(to, STDOUT_FILENO) >= 0) {
		/* A reader that stops early (head) ends the command, not the prompt. */
		struct sigaction ignore = { .sa_handler = SIG_IGN }, old;
		(void)sigaction(SIGPIPE, &ignore, &old);
		status = cli_run(cli, words->argc, words->argv);
		(void)sigaction(SIGPIPE, &old, NULL);
		(void)dup2(saved, STDOUT_FILENO);
	} else if (status == HD_EXIT_OK) {
		status = HD_EXIT_INPUT;
		cli_say("cannot write to %s: %s", words->rest, strerrordesc_np(errno));
	}
	if (pipe) {
		status = end_pager(cli, pclose(pipe), status);
	} else if (to >= 0) {
		(void)close(to);
	}
	if (saved >= 0)
		(void)close(saved);
	cli->is_paged = false;
	return status;
}

/* Run one line; *@p quit is set by quit and exit. */
static int run_line(struct cli *cli, const char *line, bool *quit)
{
	struct words words;
	if (!words_init(&words, line)) {
		cli_say("out of memory");
		return HD_EXIT_INPUT;
	}
	int status = HD_EXIT_OK;
	if (words.open_quote) {
		cli_say("a quote is not closed");
		status = HD_EXIT_USAGE;
	} else if (words.surplus) {
		cli_say("one file follows >; put a name with spaces in quotes");
		status = HD_EXIT_USAGE;
	} else if (words.pipe && (!*words.rest || !words.argc)) {
		cli_say("write a command before | or >, and a command or a file after it");
		status = HD_EXIT_USAGE;
	} else if (words.argc && !words.is_comment) {
		*quit = strcasecmp(words.argv[0], "quit") == 0 ||
			strcasecmp(words.argv[0], "exit") == 0 ||
			strcasecmp(words.argv[0], "q") == 0;
		if (!*quit) {
			status = words.pipe || wants_pager(cli)
					 ? run_redirected(cli, &words)
					 : cli_run(cli, words.argc, words.argv);
		}
	}
	words_deinit(&words);
	return status;
}

/*
 * Add a line to those of a command; run the command when it is complete, or when there are no more
 * lines (@p line is NULL).
 */
static int take_line(struct cli *cli, struct statement *statement, const char *line, bool *quit)
{
	if (line && !statement_add(statement, line)) {
		cli_say("out of memory");
		statement_clear(statement);
		cli->goes_on = false;
		return HD_EXIT_INPUT;
	}
	cli->goes_on = line && statement->goes_on;
	if (cli->goes_on || !statement->size)
		return HD_EXIT_OK;
	int status = run_line(cli, statement->line, quit);
	statement_clear(statement);
	return status;
}

static int max_status(int a, int b)
{
	return a > b ? a : b;
}

/* Run all lines of standard input, for scripts; returns the highest status. */
static int run_batch(struct cli *cli)
{
	char *line = NULL;
	size_t capacity = 0;
	int status = HD_EXIT_OK;
	bool quit = false;
	struct statement statement = { 0 };
	while (!quit && getline(&line, &capacity, stdin) >= 0)
		status = max_status(status, take_line(cli, &statement, line, &quit));
	if (!quit && feof(stdin))
		status = max_status(status, take_line(cli, &statement, NULL, &quit));
	if (!quit && !feof(stdin)) {
		(void)fprintf(stderr, "heapdump: cannot read commands: %s\n",
			      strerrordesc_np(errno));
		status = HD_EXIT_INPUT;
	}
	statement_deinit(&statement);
	free(line);
	return status;
}

int cli_run_lines(struct cli *cli)
{
	int status = HD_EXIT_OK;
	bool quit = false;
	struct statement statement = { 0 };
	for (size_t i = 0; i < cli->line_count && !quit; i++) {
		status = max_status(status, take_line(cli, &statement, cli->lines[i], &quit));
		if (!quit)
			status = max_status(status, take_line(cli, &statement, NULL, &quit));
	}
	statement_deinit(&statement);
	return status;
}

/* Libedit opens files by name: with this name, it opens the file that was checked. */
static void name_fd(int fd, char buf[FD_NAME_SIZE])
{
	(void)snprintf(buf, FD_NAME_SIZE, "/proc/self/fd/%d", fd);
}

static void load_history(History *lines, const char *path)
{
	char name[FD_NAME_SIZE];
	HistEvent event;
	int fd = own_file_open(path);
	if (fd < 0)
		return;
	name_fd(fd, name);
	(void)history(lines, &event, H_LOAD, name);
	(void)close(fd);
}

/* The name as el_source() finds it: $EDITRC, or ~/.editrc. */
static void load_keys(EditLine *el)
{
	const char *path = getenv("EDITRC"), *home = getenv("HOME");
	char *own = NULL, name[FD_NAME_SIZE];
	if (!path && home && asprintf(&own, "%s/.editrc", home) < 0)
		return;
	int fd = path || own ? own_file_open(path ? path : own) : -1;
	free(own);
	if (fd < 0)
		return;
	name_fd(fd, name);
	(void)el_source(el, name);
	(void)close(fd);
}

static volatile sig_atomic_t interrupted;

static void on_prompt_interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

/*
 * Wait for input; false when Ctrl-C came, even directly before: only ppoll() lets the signal in,
 * while it waits.
 */
static bool wait_for_input(void)
{
	sigset_t block, before;
	(void)sigemptyset(&block);
	(void)sigaddset(&block, SIGINT);
	(void)sigprocmask(SIG_BLOCK, &block, &before);
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	while (!interrupted && ppoll(&input, 1, NULL, &before) < 0 && errno == EINTR)
		continue;
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	return !interrupted;
}

/* Replaces libedit's function that reads a character, because of Ctrl-C. */
static int read_char(EditLine *el, wchar_t *ret)
{
	(void)el;
	mbstate_t state = { 0 };
	for (;;) {
		if (!wait_for_input()) {
			errno = EINTR;
			return -1;
		}
		char byte;
		ssize_t got = read(STDIN_FILENO, &byte, 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return (int)got;
		size_t length = mbrtowc(ret, &byte, 1, &state);
		if (length == (size_t)-1) {
			state = (mbstate_t){ 0 }; /* not text: the byte is dropped */
		} else if (length != (size_t)-2) {
			return 1;
		}
	}
}

/* Read lines until the end of input or quit; Ctrl-C drops the lines that are being typed. */
static void read_typed_lines(struct cli *cli, EditLine *el, History *lines)
{
	bool quit = false;
	struct statement statement = { 0 };
	while (!quit) {
		int length = 0;
		interrupted = 0;
		const char *line = el_gets(el, &length);
		if (!line || length <= 0) {
			(void)putchar('\n');
			if (!interrupted)
				break;
			el_reset(el);
			statement_clear(&statement);
			cli->goes_on = false;
			continue;
		}
		HistEvent event;
		if (length > 1)
			(void)history(lines, &event, H_ENTER, line);
		/* A person has seen what went wrong. */
		(void)take_line(cli, &statement, line, &quit);
	}
	statement_deinit(&statement);
}

/*
 * Show what is wrong with what was opened, to a person only.  Ctrl-C ends that: it is called when the prompt already
 * handles the signal.
 */
static void take_first_look(struct cli *cli)
{
	char format[HD_SETTING_SIZE];
	if (cli->begins && terminal_now().is_there &&
	    hd_session_get(cli->session, "format", format, sizeof(format), NULL) == HD_OK &&
	    strcmp(format, "text") == 0)
		(void)cli_run(cli, 1, (const char *const[]){ "triage" });
}

static int run_prompt(struct cli *cli)
{
	(void)setlocale(LC_CTYPE, ""); /* libedit reads the terminal's characters according to it */
	EditLine *el = el_init("heapdump", stdin, stdout, stderr);
	History *lines = history_init();
	if (!el || !lines) {
		cli_say("cannot set up the prompt");
		return HD_EXIT_INPUT;
	}
	HistEvent event;
	char *path = own_history_path();
	(void)history(lines, &event, H_SETSIZE, HISTORY_SIZE);
	(void)history(lines, &event, H_SETUNIQUE, 1);
	if (path)
		load_history(lines, path);
	(void)el_set(el, EL_CLIENTDATA, cli);
	(void)el_set(el, EL_PROMPT, prompt_text);
	(void)el_set(el, EL_EDITOR, "emacs");
	(void)el_set(el, EL_HIST, history, lines);
	(void)el_set(el, EL_ADDFN, "hd-complete", "Complete a word", complete_word);
	(void)el_set(el, EL_BIND, "^I", "hd-complete", NULL);
	load_keys(el);
	(void)el_set(el, EL_GETCFN, read_char);
	/* Ctrl-C must not end the program, even between commands. */
	struct sigaction action = { .sa_handler = on_prompt_interrupt }, old;
	(void)sigaction(SIGINT, &action, &old);
	take_first_look(cli);
	cli->is_prompt = true;
	read_typed_lines(cli, el, lines);
	(void)sigaction(SIGINT, &old, NULL);
	if (path) {
		own_folders_make(path);
		save_history(lines, path);
	}
	free(path);
	history_end(lines);
	el_end(el);
	return HD_EXIT_OK;
}

int cli_repl(struct cli *cli)
{
	return isatty(STDIN_FILENO) ? run_prompt(cli) : run_batch(cli);
}
