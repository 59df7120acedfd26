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

/** The role of a command: a front end treats some roles in its own way. */
enum hd_command_role {
	HD_ROLE_QUERY = 0,  /**< it asks about the open target */
	HD_ROLE_OPEN = 1,   /**< it opens another target instead */
	HD_ROLE_CLOSE = 2,  /**< it closes the target */
	HD_ROLE_OWN = 3,    /**< it is about the front end itself: settings, help */
	HD_ROLE_SYSTEM = 4, /**< it is about processes of this machine, not about the target */
};

/** One command of the table. */
struct hd_command_info {
	const char *name;      /**< "gcroot" */
	const char *alias;     /**< a second name, or NULL */
	const char *summary;   /**< one line, no full stop */
	uint32_t is_top_level; /**< non-zero: debuggers also offer name and alias without a prefix,
				* where they are free */
	uint32_t needs_open;   /**< non-zero: it needs an open target */
	uint32_t role;         /**< an enum hd_command_role */
	uint32_t writes;       /**< non-zero: it writes the file that one of its words names */
	/**
	 * Non-zero: the rest of the line is one word, exactly as it was typed, with quotes and
	 * spaces.
	 */
	uint32_t is_raw;
	/**
	 * Non-zero: it needs no open target, but uses the debugged process when no process is
	 * named.
	 */
	uint32_t follows;
};

/**
 * Fill @p ret with command number @p index; @return 0, or -1 after the last or when @p ret is NULL.
 * Static storage.
 */
HD_API int hd_command_at(size_t index, struct hd_command_info *ret);

/**
 * The same for the command with this name or alias, ignoring case; @return 0, or -1 if there is
 * none.
 */
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
 * For a command whose is_raw is set: tell where in its line the text begins that is one word,
 * exactly as it was typed.  The part in front of it is options with their values, which are cut
 * into words as usual.
 *
 * @param[in] name The command's name.
 * @param[in] rest The line after the name.
 * @param[out] ret Where in @p rest the text begins; untouched when there is none.
 * @return 1; or 0 if the command does not have is_raw, or no text follows, or the text begins with
 * a quote: a word in quotes is an ordinary word
 */
HD_API int hd_command_raw(const char *name, const char *rest, size_t *ret);

/**
 * Run one command.
 *
 * @param[in] argc,argv The command's name and its words, borrowed; NULL after the last is not
 * needed.  No words at all (@p argc 0, @p argv NULL) mean the command help.  Every command takes
 * --json and the session's long options (--lenient, --workers N, --max-mem SIZE, --width N, --color
 * WHEN), which then apply to this command only.
 * @param[out] err Filled when the result is HD_EXIT_USAGE, HD_EXIT_INPUT or HD_EXIT_INTERRUPTED;
 * with --json the answer is a document that holds the same error, and err->is_told is 1: then a
 * front end does not have to print it again.  May be NULL.
 * @return an enum hd_exit; HD_EXIT_USAGE also for a sink that is NULL, has no write or is of another
 * version, for a NULL session, for a word that is NULL and for a negative @p argc
 */
HD_API int hd_command_run(struct hd_session *session, int argc, const char *const *argv,
			  const struct hd_sink *sink, struct hd_error *err);

/**
 * Tell which words a debugger has to evaluate before it calls hd_command_run(): those that the
 * command table marks as addresses and that are neither plain hexadecimal (with or without 0x,
 * joined by + or -) nor the name of a type where a name is allowed.
 *
 * @param[out] ret argc bytes: 1 for such a word, else 0.  Nothing is written when @p ret or any
 * word is NULL.
 */
HD_API void hd_command_expressions(int argc, const char *const *argv, uint8_t *ret);

/**
 * The things that the words of a command line name.  A front end that opens files for the library
 * may open exactly these.
 */
struct hd_command_names {
	const char *input;   /**< a file to be read, or the id of a process; NULL: none (also in the
			      * members below) */
	const char *output;  /**< a file to be written */
	const char *socket;  /**< the socket where it waits for a runtime to connect */
	const char *sysroot; /**< the folder in which module files are looked up */
	const char *symbols; /**< the folder in which PDBs are looked up */
	const char *max_mem; /**< how much memory opening may take */
	uint32_t no_files;   /**< non-zero: no module files are read */
	uint32_t trust_files; /**< non-zero: module files need no proof */
};

/**
 * Tell what the words of a command line name, as the command itself reads them: if an option is
 * repeated, the last one counts.
 *
 * @param[out] ret Its strings are parts of @p argv.  All zeros when the line is not a command.
 */
HD_API void hd_command_name(int argc, const char *const *argv, struct hd_command_names *ret);

/**
 * Complete the last of @p argc words (it may be "").
 *
 * @param[in] session For type names; may be NULL.
 * @param[in] add Called with each whole candidate for the last word (a path: see below).  Names of
 * types are as commands print them: without control characters, but they may hold characters that
 * mean something in a command line (quotes, spaces, |, >), so the front end has to quote them.
 * NULL: nothing is added.
 * @return 1 when the word is the name of a file, which front ends complete themselves (nothing is
 * added); else 0.
 */
HD_API int hd_command_complete(struct hd_session *session, int argc, const char *const *argv,
			       void (*add)(void *arg, const char *candidate), void *arg);

/** Text kept by hd_text_run(): up to 32 MiB in memory, more in a file without a name in $TMPDIR. */
struct hd_text;

/**
 * Run a command and keep its answer, for front ends that must not be called back while the command
 * runs (Python in GDB).  Arguments as hd_command_run(); write and warn of @p sink may be NULL:
 * warnings are kept, one per line, for hd_text_warnings().
 *
 * @param[out] ret The text, to be given to hd_text_free(); NULL when memory is exhausted or @p sink is
 * refused.
 */
HD_API int hd_text_run(struct hd_session *session, int argc, const char *const *argv,
		       const struct hd_sink *sink, struct hd_text **ret, struct hd_error *err);

/**
 * Copy the next bytes of the answer; @return how many; 0 at its end, when @p text is NULL, or when
 * hd_text_check() fails.
 */
HD_API size_t hd_text_read(struct hd_text *text, char *buf, size_t size);

/**
 * Was everything kept and read back so far?
 *
 * @retval HD_OK
 * @retval HD_ERR_OS the temporary file could not be written or read: the answer is not complete
 * @retval HD_ERR_ARGUMENT @p text is NULL
 */
HD_API HD_NODISCARD enum hd_status hd_text_check(const struct hd_text *text, struct hd_error *err);

/**
 * The warnings, one per line; "" if there are none, or if @p text is NULL.  Borrowed from @p text.
 */
HD_API const char *hd_text_warnings(const struct hd_text *text);

/** NULL is allowed. */
HD_API void hd_text_free(struct hd_text *text);

/**
 * Open a file for the answers of commands, as "> FILE" does in a shell, with the same rules as the
 * command export: only its owner may read a new file (mode 0600), and nothing is written through a
 * link or into a file that somebody else may have put there.
 *
 * @param append Non-zero: what is in the file stays; zero: the file is emptied first.
 * @param[in] sink Its "cancelled" stops the wait for a FIFO's reader; NULL is allowed.
 * @param[out] ret A descriptor, close-on-exec, to be closed; untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_OS
 * @retval HD_ERR_CANCELLED
 * @retval HD_ERR_ARGUMENT @p path or @p ret is NULL, or the sink is of another version
 */
HD_API HD_NODISCARD enum hd_status hd_output_open(const char *path, int append,
						  const struct hd_sink *sink, int *ret,
						  struct hd_error *err);

/**
 * Handle SIGINT here while a command runs: the debugger's own handler would interrupt the command
 * in the middle.  Calls nest, also on several threads; each begin needs its end.  Applies to the
 * whole process.
 */
HD_API void hd_interrupt_begin(void);

/**
 * Give SIGINT back to its former handler; @return how often it came.  Does nothing without a begin
 * before it.
 */
HD_API int hd_interrupt_end(void);

/** @return non-zero once SIGINT came since hd_interrupt_begin(): for hd_sink.cancelled. */
HD_API int hd_interrupted(void);

#ifdef __cplusplus
}
#endif
#endif
