/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_COMMAND_H
#define HEAPDUMP_COMMAND_H

#include <heapdump/session.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Exit statuses of hd_command_run(), the same in every front end. */
enum hd_exit {
	HD_EXIT_OK = 0,
	HD_EXIT_FINDINGS = 1,      /**< done, with findings: no root, differences, damage */
	HD_EXIT_USAGE = 2,         /**< wrong usage, or unknown id */
	HD_EXIT_INPUT = 3,         /**< input cannot be read, or output not written */
	HD_EXIT_INTERRUPTED = 130, /**< stopped by the sink */
};

/** What a front end must know of a command beyond its name. */
enum hd_command_role {
	HD_ROLE_QUERY = 0,  /**< it asks about what is open */
	HD_ROLE_OPEN = 1,   /**< it opens something in place of that */
	HD_ROLE_CLOSE = 2,  /**< it closes that */
	HD_ROLE_OWN = 3,    /**< it is about the front end itself: settings, help */
	HD_ROLE_SYSTEM = 4, /**< it is about processes of this machine, whatever is open */
};

/** One command of the table. */
struct hd_command_info {
	const char *name;    /**< "gcroot" */
	const char *alias;   /**< a second name, or NULL */
	const char *summary; /**< one line, no full stop */
	uint32_t
		is_top_level; /**< non-zero: debuggers offer name and alias by themselves where they are free */
	uint32_t needs_open; /**< non-zero: it is about what is open, so something must be */
	uint32_t role;       /**< an enum hd_command_role */
	uint32_t writes;     /**< non-zero: it writes the file that one of its words names */
	/** Non-zero: the rest of the line is one word, as it is written: quotes, blanks and what else stay. */
	uint32_t is_raw;
	/** Non-zero: it needs nothing open, but takes the process that is debugged when it is given none. */
	uint32_t follows;
};

/** Fill @p ret with command @p index; @return 0, or -1 past the last or when @p ret is NULL.  Static storage. */
HD_API int hd_command_at(size_t index, struct hd_command_info *ret);

/** The same for the command with this name or alias, case ignored; @return 0, or -1: there is none. */
HD_API int hd_command_find(const char *name, struct hd_command_info *ret);

/**
 * Write the help text of a command (usage, description, options, examples), or the list of all
 * commands when @p name is NULL, through sink->write.
 *
 * @retval HD_OK
 * @retval HD_ERR_NOTFOUND no such command
 * @retval HD_ERR_ARGUMENT @p sink is NULL, lacks write, or is of another version
 */
HD_API HD_NODISCARD enum hd_status hd_command_help(const char *name, const struct hd_sink *sink,
						   struct hd_error *err);

/**
 * Tell where in a command line the text begins that is one word as it is written, of a command whose
 * is_raw is set.  What is before it are options with their values, to be cut into words as elsewhere.
 *
 * @param[in] name The command's name.
 * @param[in] rest The line after it.
 * @param[out] ret Where in @p rest the text begins; untouched when there is none.
 * @return 1, or 0: the command is another one, or no text follows, or one that begins with a quote: a word
 * in quotes is a word as elsewhere
 */
HD_API int hd_command_raw(const char *name, const char *rest, size_t *ret);

/**
 * Run one command.
 *
 * @param[in] argc,argv The command's name and its words, borrowed; NULL after the last is not
 * needed.  No words at all (@p argc 0, @p argv NULL) are the command help.  Every command takes --json and the session's long options (--lenient, --workers N,
 * --max-mem SIZE, --width N, --color WHEN), which then hold for this command alone.
 * @param[out] err Filled when the result is HD_EXIT_USAGE, HD_EXIT_INPUT or HD_EXIT_INTERRUPTED;
 * with --json the answer holds the same error as a document, and err->is_told is 1 then: a
 * front end need not print it again.  May be NULL.
 * @return an enum hd_exit; HD_EXIT_USAGE also for a sink that is NULL, lacks write or is of another
 * struct_size, for a NULL session, for a word that is NULL and for a negative @p argc
 */
HD_API int hd_command_run(struct hd_session *session, int argc, const char *const *argv,
			  const struct hd_sink *sink, struct hd_error *err);

/**
 * Tell which words the command table marks as addresses and that are neither plain hexadecimal (with
 * or without 0x, joined by + or -) nor the name of a type where one may be: the words that a debugger
 * evaluates before it calls hd_command_run().
 *
 * @param[out] ret argc bytes: 1 for such a word, else 0.  Nothing is written when it is NULL, or a word.
 */
HD_API void hd_command_expressions(int argc, const char *const *argv, uint8_t *ret);

/** What the words of a command line name: what a front end that opens it for the library may open. */
struct hd_command_names {
	const char *input;   /**< a file to be read, or the id of a process; NULL: none, as below */
	const char *output;  /**< a file to be written */
	const char *socket;  /**< where it waits for a runtime to connect */
	const char *sysroot; /**< the folder that module files are looked up below */
	const char *max_mem; /**< the memory that opening may take */
	uint32_t no_files;   /**< non-zero: no module files are read */
	uint32_t trust_files; /**< non-zero: module files need no proof */
};

/**
 * Tell what the words of a command line name, as the command itself takes them: of a word that comes
 * again the last one counts.
 *
 * @param[out] ret Its strings are parts of @p argv.  All zeros for a line that is no command.
 */
HD_API void hd_command_name(int argc, const char *const *argv, struct hd_command_names *ret);

/**
 * Complete the last of @p argc words (it may be "").
 *
 * @param[in] session For type names; may be NULL.
 * @param[in] add Called with each whole candidate for the last word (a path: see below).  Names of types
 * are as commands print them: they hold no control characters, but whatever else a command line takes
 * for its own (quotes, blanks, |, >), so the front end has to quote them.  NULL: nothing is added.
 * @return 1 when the word is the name of a file, which front ends complete by themselves (nothing
 * is added); else 0.
 */
HD_API int hd_command_complete(struct hd_session *session, int argc, const char *const *argv,
			       void (*add)(void *arg, const char *candidate), void *arg);

/** Text kept by hd_text_run(): in memory, beyond 32 MiB in a file of $TMPDIR that has no name. */
struct hd_text;

/**
 * Run a command and keep its answer, for front ends that must not be called back while it is made
 * (Python in GDB).  Arguments as hd_command_run(); @p sink may lack write and warn: warnings are
 * kept, one per line, for hd_text_warnings().
 *
 * @param[out] ret The text, to be given to hd_text_free(); NULL when memory is exhausted or @p sink is
 * refused.
 */
HD_API int hd_text_run(struct hd_session *session, int argc, const char *const *argv,
		       const struct hd_sink *sink, struct hd_text **ret, struct hd_error *err);

/**
 * Copy the next bytes of the answer; @return how many, 0 at its end, for NULL, or where hd_text_check()
 * fails.
 */
HD_API size_t hd_text_read(struct hd_text *text, char *buf, size_t size);

/**
 * Was everything kept and read back so far?
 *
 * @retval HD_OK
 * @retval HD_ERR_OS the temporary file could not be written or read: the answer is not whole
 * @retval HD_ERR_ARGUMENT @p text is NULL
 */
HD_API HD_NODISCARD enum hd_status hd_text_check(const struct hd_text *text, struct hd_error *err);

/** Warnings, one per line, or "", also of NULL.  Borrowed from @p text. */
HD_API const char *hd_text_warnings(const struct hd_text *text);

/** NULL is allowed. */
HD_API void hd_text_free(struct hd_text *text);

/**
 * Open a file for the answers of commands, as "> FILE" of a shell does, by the rules that export has: a
 * new file is its owner's only (mode 0600), and neither a link nor a file that somebody else may have
 * put there is written into.
 *
 * @param append Non-zero: what is there stays; else the file is cut to nothing.
 * @param[in] sink Its "cancelled" stops the wait for a reader of a FIFO; NULL is allowed.
 * @param[out] ret A descriptor, close-on-exec, to be closed; untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_OS
 * @retval HD_ERR_CANCELLED
 * @retval HD_ERR_ARGUMENT no path, no @p ret, or a sink of another struct_size
 */
HD_API HD_NODISCARD enum hd_status hd_output_open(const char *path, int append,
						  const struct hd_sink *sink, int *ret,
						  struct hd_error *err);

/**
 * Take SIGINT for the length of a command: a debugger's own handler would run in the middle of it.
 * Calls nest, also on several threads; each begin needs its end.  Process-wide.
 */
HD_API void hd_interrupt_begin(void);

/**
 * Give SIGINT back to its former handler; @return how often it came.  Without a begin before it
 * does nothing.
 */
HD_API int hd_interrupt_end(void);

/** @return non-zero once SIGINT came since hd_interrupt_begin(): for hd_sink.cancelled. */
HD_API int hd_interrupted(void);

#ifdef __cplusplus
}
#endif
#endif
