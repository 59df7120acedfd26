/* SPDX-License-Identifier: MIT */
#pragma once

#include <histedit.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <heapdump/heapdump.h>

struct worker;

/** The terminal that an answer goes to, through a pager or straight. */
struct terminal {
	bool is_there;
	bool takes_color;
	uint32_t columns; /**< 0: not known */
};

/** The shell program runs its commands with this. */
struct cli {
	struct hd_session *session; /**< the session of this process; when there is a worker,
				     * nothing is opened in it */
	struct worker *worker;      /**< NULL: commands run here, without a sandbox */
	bool lenient;   /**< --lenient was given before the target: it applies to every command */
	bool goes_on;   /**< the next typed line continues the command of the lines before
			 * (statement.h) */
	bool begins;    /**< the prompt begins with a first look at what was opened */
	bool is_prompt; /**< commands are typed at the prompt of a terminal */
	bool serves;    /**< --serve: another program sends the commands (serve.h) */
	bool is_paged;  /**< a pager reads the answer, and shows it on @c terminal */
	struct terminal terminal;
	FILE *requests;     /**< the commands of --serve; else NULL */
	const char **lines; /**< the lines of the options -c, in their order */
	size_t line_count;
};

/** The terminal that standard output leads to now. */
struct terminal terminal_now(void);

/**
 * Run one command: its answer goes to standard output, an error to standard error.  Returns the
 * exit status.
 */
int cli_run(struct cli *cli, int argc, const char *const *argv);

/**
 * Print a message on standard error: "heapdump: " and one line.  It may hold names of files and
 * words of a command line, so what a terminal would act on is written as escapes.
 */
void cli_say(const char *format, ...) HD_PRINTF(1, 2);
/** The same, always in this process. */
int cli_run_here(struct cli *cli, int argc, const char *const *argv);

/** Say that a command line is wrong; returns the exit status. */
int cli_usage_error(const char *what, const char *word);

/** Open @p target in this process, for a script: only a failure is an answer. */
int cli_open_quietly(struct cli *cli, const char *target);

/** hd_command_complete() for the next command. */
int cli_complete(struct cli *cli, int argc, const char *const *argv,
		 void (*add)(void *arg, const char *candidate), void *arg);

/** Print an error as the program does. */
void cli_error(const struct hd_error *err);

/** Run the lines of -c, each as at the prompt.  Returns the highest exit status. */
int cli_run_lines(struct cli *cli);

/**
 * Run the prompt (on a terminal) or the lines of standard input.  Returns the highest exit status.
 */
int cli_repl(struct cli *cli);

/** A command line cut into words: quotes, backslashes, and | or > with what follows. */
struct words {
	char *storage;
	const char **argv;
	int argc;
	char pipe; /**< '|', '>', 'A' for >>, or 0; in a text that is one word as typed, only after
		    * its ; */
	const char *rest; /**< what follows that sign: a line for the shell, or the name of a
			   * file */
	bool surplus;     /**< more than one word follows > */
	bool is_comment;  /**< the first word begins with a # that is not quoted */
	char open_quote;  /**< the quote that is open at the end: ', ", $ for $', or 0 */
	size_t last;      /**< where in the line its last word begins; the line's length if it ends
			   * with a space */
};

/**
 * Cut @p line; false when memory is exhausted.  To be given to words_deinit().
 *
 * Words are as in a shell: 'as it is', "with \" and \\", $'with \n, \t, \x1b, \' and \\', and a
 * backslash before one character.  If a command takes the rest of its line as it was typed, that
 * text is one word.
 */
bool words_init(struct words *words, const char *line);
void words_deinit(struct words *words);

/**
 * Write @p word (any bytes) so that words_init() reads it back as this one word: unchanged, or in
 * quotes.  The result holds no control character and nothing else that is not text in the locale.
 *
 * @param[in] open The quote to use if it can hold the word (', ", $ for $'), or 0: choose one.
 * @param[in] close Close the quote, or leave the word open for what is typed next.
 * @return To be given to free(); NULL when memory is exhausted.
 */
char *words_quote(const char *word, char open, bool close);

/** Offer the files whose names begin with @p word, in order; folders get a / at the end. */
void file_names_complete(const char *word, void (*add)(void *arg, const char *candidate),
			 void *arg);

/** The editor's command that completes the word before the cursor; its client data is the cli. */
unsigned char complete_word(EditLine *el, int character);
