/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_CLI_CLI_H
#define HEAPDUMP_CLI_CLI_H

#include <stdbool.h>

#include <heapdump/heapdump.h>

/** What the shell program runs its commands with. */
struct cli {
	struct hd_session *session;
	bool json;    /**< --json stood before the target: holds for every command */
	bool lenient; /**< likewise */
};

/** Run one command: answer on standard output, error on standard error; the exit status. */
int cli_run(struct cli *cli, int argc, const char *const *argv);

/** Print an error as the program does. */
void cli_error(const struct hd_error *err);

/** The prompt (on a terminal) or the lines of standard input; the highest exit status. */
int cli_repl(struct cli *cli);

/** A command line cut into words: quotes, backslashes, and | or > with what follows. */
struct words {
	char *storage;
	const char **argv;
	int argc;
	char pipe;        /**< '|', '>', 'A' for >>, or 0 */
	const char *rest; /**< what follows it: a line for the shell, or the name of a file */
	bool surplus;     /**< more than one word follows > */
	bool open_quote;
};

/** Cut @p line; false when memory is exhausted.  To be given to words_deinit(). */
bool words_init(struct words *words, const char *line);
void words_deinit(struct words *words);

#endif
