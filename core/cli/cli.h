/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_CLI_CLI_H
#define HEAPDUMP_CLI_CLI_H

#include <histedit.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <heapdump/heapdump.h>

struct worker;

/** The terminal that an answer goes to, through a pager or straight. */
struct terminal {
	bool is_there;
	bool takes_color;
	uint32_t columns; /**< 0: not known */
};

/** What the shell program runs its commands with. */
struct cli {
	struct hd_session *session; /**< of this process; with a worker, it opens nothing */
	struct worker *worker;      /**< NULL: commands run here, without a sandbox */
	bool lenient;   /**< --lenient was given before the target: holds for every command */
	bool goes_on;   /**< what is typed belongs to the lines before (statement.h) */
	bool is_prompt; /**< commands are typed at the prompt of a terminal */
	bool is_paged;  /**< a pager reads the answer, and shows it on @c terminal */
	struct terminal terminal;
	const char **lines; /**< of the options -c, in their order */
	size_t line_count;
};

/** What standard output leads to now. */
struct terminal terminal_now(void);

/** Run one command: answer on standard output, error on standard error; the exit status. */
int cli_run(struct cli *cli, int argc, const char *const *argv);

/**
 * Print a message on standard error: "heapdump: " and one line, with what a terminal would act on as
 * escapes, for it may hold names of files and words of a command line.
 */
void cli_say(const char *format, ...) HD_PRINTF(1, 2);
/** The same, always in this process. */
int cli_run_here(struct cli *cli, int argc, const char *const *argv);

/** Open @p target in this process, for a script: only a failure is an answer. */
int cli_open_quietly(struct cli *cli, const char *target);

/** hd_command_complete() for the next command. */
int cli_complete(struct cli *cli, int argc, const char *const *argv,
		 void (*add)(void *arg, const char *candidate), void *arg);

/** Print an error as the program does. */
void cli_error(const struct hd_error *err);

/** Run the lines of -c, each as at the prompt; the highest exit status. */
int cli_run_lines(struct cli *cli);

/** The prompt (on a terminal) or the lines of standard input; the highest exit status. */
int cli_repl(struct cli *cli);

/** A command line cut into words: quotes, backslashes, and | or > with what follows. */
struct words {
	char *storage;
	const char **argv;
	int argc;
	char pipe; /**< '|', '>', 'A' for >>, or 0; of a text as it is written only after its ; */
	const char *rest; /**< what follows it: a line for the shell, or the name of a file */
	bool surplus;     /**< more than one word follows > */
	bool is_comment;  /**< the first word begins with a # that is not quoted */
	char open_quote;  /**< the quote that is open at the end: ', ", $ for $', or 0 */
	size_t last;      /**< where in the line its last word begins; its length: after a blank */
};

/**
 * Cut @p line; false when memory is exhausted.  To be given to words_deinit().
 *
 * Words are as in a shell: 'as it is', "with \" and \\", $'with \n, \t, \x1b, \' and \\', and a
 * backslash before one character.  The text of a command that takes one as it is written is one word.
 */
bool words_init(struct words *words, const char *line);
void words_deinit(struct words *words);

/**
 * Write @p word (any bytes) so that words_init() reads it as that one word: as it is, or in
 * quotes.  The text holds no control character, nor anything else that is no text in the locale.
 *
 * @param[in] open The quote to keep if it can hold the word (', ", $ for $'), or 0: what fits.
 * @param[in] close Close the quote, or leave the word open for what is typed next.
 * @return To be given to free(); NULL when memory is exhausted.
 */
char *words_quote(const char *word, char open, bool close);

/** Offer the files that @p word may become the name of, folders with a / at the end, in order. */
void file_names_complete(const char *word, void (*add)(void *arg, const char *candidate),
			 void *arg);

/** The editor's command that completes the word before the cursor; its client data is the cli. */
unsigned char complete_word(EditLine *el, int character);

#endif
