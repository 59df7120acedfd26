/* SPDX-License-Identifier: MIT */
/* The prompt: line editing, history and completion by libedit; or plain lines from a file. */
#include <errno.h>
#include <fcntl.h>
#include <histedit.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wchar.h>

#include "cli.h"

#define HISTORY_SIZE 1000

static const char *prompt_text(EditLine *el)
{
	(void)el;
	return "heapdump> ";
}

/* Run a command with standard output going to a shell command or a file. */
static int run_redirected(struct cli *cli, const struct words *words)
{
	(void)fflush(stdout);
	int saved = dup(STDOUT_FILENO);
	FILE *pipe = NULL;
	int to = -1;
	if (words->pipe == '|') {
		/* the user's own command line, typed at the prompt */
		pipe = popen(words->rest, "w"); // NOLINT(cert-env33-c)
		to = pipe ? fileno(pipe) : -1;
	} else {
		int flags = O_WRONLY | O_CREAT | O_CLOEXEC;
		flags |= words->pipe == 'A' ? O_APPEND : O_TRUNC;
		to = open(words->rest, flags, 0666);
	}
	int status = HD_EXIT_INPUT;
	if (saved >= 0 && to >= 0 && dup2(to, STDOUT_FILENO) >= 0) {
		/* A reader that stops early (head) ends the command, not the prompt. */
		struct sigaction ignore = { .sa_handler = SIG_IGN }, old;
		(void)sigaction(SIGPIPE, &ignore, &old);
		status = cli_run(cli, words->argc, words->argv);
		(void)sigaction(SIGPIPE, &old, NULL);
		(void)dup2(saved, STDOUT_FILENO);
	} else {
		(void)fprintf(stderr, "heapdump: cannot write to %s: %s\n", words->rest,
			      strerrordesc_np(errno));
	}
	if (pipe) {
		(void)pclose(pipe);
	} else if (to >= 0) {
		(void)close(to);
	}
	if (saved >= 0)
		(void)close(saved);
	return status;
}

/* Run one line; *@p quit is set by quit and exit. */
static int run_line(struct cli *cli, const char *line, bool *quit)
{
	struct words words;
	if (!words_init(&words, line)) {
		(void)fputs("heapdump: out of memory\n", stderr);
		return HD_EXIT_INPUT;
	}
	int status = HD_EXIT_OK;
	bool comment = words.argc && words.argv[0][0] == '#';
	if (words.open_quote) {
		(void)fputs("heapdump: a quote is not closed\n", stderr);
		status = HD_EXIT_USAGE;
	} else if (words.surplus) {
		(void)fputs("heapdump: one file stands behind >; quote a name with blanks\n",
			    stderr);
		status = HD_EXIT_USAGE;
	} else if (words.pipe && (!*words.rest || !words.argc)) {
		(void)fputs("heapdump: a command stands before | or >, and one or a file behind\n",
			    stderr);
		status = HD_EXIT_USAGE;
	} else if (words.argc && !comment) {
		*quit = strcmp(words.argv[0], "quit") == 0 || strcmp(words.argv[0], "exit") == 0 ||
			strcmp(words.argv[0], "q") == 0;
		if (!*quit) {
			status = words.pipe ? run_redirected(cli, &words)
					    : cli_run(cli, words.argc, words.argv);
		}
	}
	words_deinit(&words);
	return status;
}

static int max_status(int a, int b)
{
	return a > b ? a : b;
}

/* Lines of standard input, for scripts: all are run, the highest status is the answer. */
static int run_batch(struct cli *cli)
{
	char *line = NULL;
	size_t capacity = 0;
	int status = HD_EXIT_OK;
	bool quit = false;
	while (!quit && getline(&line, &capacity, stdin) >= 0)
		status = max_status(status, run_line(cli, line, &quit));
	free(line);
	return status;
}

/* What completion has found so far. */
struct candidates {
	char **names;
	size_t count;
};

static void add_candidate(void *arg, const char *candidate)
{
	struct candidates *found = arg;
	char **names = realloc(found->names, (found->count + 1) * sizeof(*names));
	if (!names)
		return;
	found->names = names;
	found->names[found->count] = strdup(candidate);
	if (found->names[found->count])
		found->count++;
}

static void free_candidates(struct candidates *found)
{
	for (size_t i = 0; i < found->count; i++)
		free(found->names[i]);
	free(found->names);
}

static size_t common_length(const struct candidates *found)
{
	size_t length = strlen(found->names[0]);
	for (size_t i = 1; i < found->count; i++) {
		size_t same = 0;
		while (same < length && found->names[0][same] == found->names[i][same])
			same++;
		length = same;
	}
	return length;
}

static void list_candidates(const struct candidates *found)
{
	(void)putchar('\n');
	for (size_t i = 0; i < found->count; i++)
		(void)printf("%s\n", found->names[i]);
	(void)fflush(stdout);
}

/*
 * Insert what all candidates share behind the @p have bytes that are typed; in quotes when it needs
 * to be.  @p quote is the one that is open already, or 0.
 */
static unsigned char insert_common(EditLine *el, const struct candidates *found, size_t have,
				   char quote)
{
	size_t length = common_length(found);
	char *whole = strndup(found->names[0], length);
	if (!whole || length < have) {
		free(whole);
		return CC_ERROR;
	}
	bool inserted = length > have;
	if (inserted && !quote && strpbrk(whole, " \t\\'\"|>") && !strchr(whole, '\'')) {
		/* The word is typed again, in quotes. */
		el_deletestr(el, (int)have);
		(void)el_insertstr(el, "'");
		(void)el_insertstr(el, whole);
		quote = '\'';
	} else if (inserted) {
		(void)el_insertstr(el, whole + have);
	}
	free(whole);
	if (found->count == 1) {
		const char end[] = { quote, ' ', '\0' };
		(void)el_insertstr(el, quote ? end : " ");
	}
	if (found->count > 1 && !inserted) {
		list_candidates(found);
		return CC_REDISPLAY;
	}
	return CC_REFRESH;
}

static unsigned char complete(EditLine *el, int character)
{
	struct cli *cli = NULL;
	(void)el_get(el, EL_CLIENTDATA, &cli);
	const LineInfo *info = el_line(el);
	char *line = strndup(info->buffer, (size_t)(info->cursor - info->buffer));
	struct words words;
	if (!line || !words_init(&words, line)) {
		free(line);
		return CC_ERROR;
	}
	size_t size = strlen(line);
	bool fresh =
		!size || (!words.open_quote && (line[size - 1] == ' ' || line[size - 1] == '\t'));
	if (fresh)
		words.argv[words.argc++] = "";
	struct candidates found = { 0 };
	unsigned char result = CC_ERROR;
	bool is_file = hd_command_complete(cli->session, words.argc, words.argv, add_candidate,
					   &found) != 0;
	if (is_file) {
		result = _el_fn_complete(el, character);
	} else if (found.count) {
		size_t have = strlen(words.argv[words.argc - 1]);
		char quote = '\0';
		if (words.open_quote && size > have)
			quote = line[size - have - 1];
		result = insert_common(el, &found, have, quote);
	}
	free_candidates(&found);
	words_deinit(&words);
	free(line);
	return result;
}

/* Where history is kept: $XDG_STATE_HOME or ~/.local/state; NULL: nowhere. */
static char *history_path(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *path = NULL;
	if (state && *state) {
		if (asprintf(&path, "%s/heapdump_history", state) < 0)
			return NULL;
	} else if (home && *home) {
		if (asprintf(&path, "%s/.heapdump_history", home) < 0)
			return NULL;
	}
	return path;
}

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
	(void)signal;
	interrupted = 1;
}

/* Wait for input; false when Ctrl-C came, also just before: ppoll() lets it in only while it waits. */
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

/* libedit's reader of a character, but for Ctrl-C. */
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

/* Read lines until the end of input or quit; Ctrl-C drops the line that is being typed. */
static void read_lines(struct cli *cli, EditLine *el, History *lines)
{
	bool quit = false;
	while (!quit) {
		int length = 0;
		interrupted = 0;
		const char *line = el_gets(el, &length);
		if (!line || length <= 0) {
			(void)putchar('\n');
			if (!interrupted)
				break;
			el_reset(el);
			continue;
		}
		HistEvent event;
		if (length > 1)
			(void)history(lines, &event, H_ENTER, line);
		(void)run_line(cli, line, &quit); /* a person has seen what went wrong */
	}
}

static int run_prompt(struct cli *cli)
{
	(void)setlocale(LC_CTYPE, ""); /* libedit reads the terminal's characters by it */
	EditLine *el = el_init("heapdump", stdin, stdout, stderr);
	History *lines = history_init();
	if (!el || !lines) {
		(void)fputs("heapdump: cannot set up the prompt\n", stderr);
		return HD_EXIT_INPUT;
	}
	HistEvent event;
	char *path = history_path();
	(void)history(lines, &event, H_SETSIZE, HISTORY_SIZE);
	(void)history(lines, &event, H_SETUNIQUE, 1);
	if (path)
		(void)history(lines, &event, H_LOAD, path);
	(void)el_set(el, EL_CLIENTDATA, cli);
	(void)el_set(el, EL_PROMPT, prompt_text);
	(void)el_set(el, EL_EDITOR, "emacs");
	(void)el_set(el, EL_HIST, history, lines);
	(void)el_set(el, EL_ADDFN, "hd-complete", "Complete a word", complete);
	(void)el_set(el, EL_BIND, "^I", "hd-complete", NULL);
	(void)el_source(el, NULL);
	(void)el_set(el, EL_GETCFN, read_char);
	/* Between commands, too, Ctrl-C must not end the program. */
	struct sigaction action = { .sa_handler = on_interrupt }, old;
	(void)sigaction(SIGINT, &action, &old);
	read_lines(cli, el, lines);
	(void)sigaction(SIGINT, &old, NULL);
	if (path)
		(void)history(lines, &event, H_SAVE, path);
	free(path);
	history_end(lines);
	el_end(el);
	return HD_EXIT_OK;
}

int cli_repl(struct cli *cli)
{
	return isatty(STDIN_FILENO) ? run_prompt(cli) : run_batch(cli);
}
