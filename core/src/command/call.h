/* SPDX-License-Identifier: MIT */
#pragma once

#include <heapdump/command.h>

#include "answer/answering.h"
#include "output/json.h"
#include "session/session_state.h"
#include "util/job.h"

#define OPTIONS_MAX 20u
#define WORDS_MAX   3u

/**
 * The kind of value that an option or a word takes: decides how it is parsed, completed and, in
 * debuggers, evaluated.
 */
enum value_kind {
	VALUE_NONE = 0,
	VALUE_CONSERVATIVE, /**< none either: all words on stacks are references; of targets only */
	VALUE_TEXT,         /**< any; choices, if there are, are what is offered */
	VALUE_NUMBER,       /**< decimal, 0x, K M G */
	VALUE_THREAD,       /**< the managed id of one: a number; of targets only */
	VALUE_PROCESS,      /**< the id of one: a number; .NET processes are what is offered */
	VALUE_ADDRESS,      /**< hexadecimal; debuggers evaluate other expressions first */
	VALUE_TYPE_ID,      /**< the same of a type, or its full name: see call_find_types() */
	VALUE_OBJECT, /**< the same of an object; or the full name of a type: all objects of it */
	VALUE_TYPE,   /**< part of a type name */
	VALUE_RULE,   /**< TYPE=LIMIT; may be given again: all are in call->joined */
	VALUE_CHOICE,
	VALUE_FILE,   /**< one that is read; or the id of a process */
	VALUE_STREAM, /**< one that is read once; where it is - or not given: STANDARD_INPUT */
	VALUE_OUTPUT, /**< a file that is written */
	VALUE_FOLDER, /**< below which module files are looked up */
	VALUE_SOCKET, /**< where is listened */
	VALUE_COMMAND,
	VALUE_SETTING,
	VALUE_OF_SETTING, /**< of the one that the word before names */
};

/** An option, written with one dash or two, case ignored. */
struct option {
	const char *name; /**< NULL ends a list */
	enum value_kind kind;
	const char *value; /**< its value in help, such as "N"; NULL: it takes none */
	const char *help;
	const char *const *choices; /**< for VALUE_CHOICE, case ignored; NULL ends */
};

/**
 * The options of a command and their numbers, written once as the columns of a table are: defines an
 * enum of the constants, and the array NAME_options, which ends as lists of options do.
 */
#define OPTIONS(name, LIST)                                                                     \
	enum {                                                                                  \
		LIST(LIST_CONSTANT)                                                             \
	};                                                                                      \
	static const struct option name##_options[] = { LIST(LIST_ROW){ NULL, VALUE_NONE, NULL, \
									NULL, NULL } }

/** Options of SOS's command that users know and this one does not have. */
struct sos_option {
	const char *names;   /**< " a p ": each between blanks; NULL ends a list */
	const char *instead; /**< what to do in their place */
};

/** A word that is not an option. */
struct word {
	const char *name; /**< in help; NULL ends a list */
	enum value_kind kind;
	bool optional;
};

struct call;

/** The thing that a command is about. */
enum needs {
	NEEDS_NOTHING,
	NEEDS_OPEN,    /**< whatever is open */
	NEEDS_OUTLINE, /**< the same; if a process is opened for it, also what of it is in memory */
	NEEDS_ACCOUNT, /**< the same; of a process all memory, and what of it is in memory */
	NEEDS_PATHS, /**< call->graph, whose references may still be to come: see session_paths() */
	NEEDS_GRAPH, /**< call->graph; of a target's heap it is made, and call->heap is set */
	NEEDS_REPORT,     /**< the same, and what NEEDS_OUTLINE has */
	NEEDS_HEAP,       /**< call->heap: only a core or a process has one */
	NEEDS_RUNTIME,    /**< call->heap, though no segment of it may be readable */
	NEEDS_EITHER,     /**< call->heap of a target, call->graph of a dump file */
	NEEDS_KIND = 0xf, /**< the bits of all these; then those of what a runtime may not have */
	NEEDS_METADATA = 1 << 4, /**< RUNTIME_METADATA */
	NEEDS_MODULES = 1 << 5,  /**< RUNTIME_MODULES */
	NEEDS_LOADER = 1 << 6,   /**< RUNTIME_LOADER */
	NEEDS_FIELDS = 1 << 7,   /**< RUNTIME_FIELDS */
	NEEDS_THREADS = 1 << 8,  /**< RUNTIME_THREADS */
	NEEDS_SEGMENTS =
		1
		<< 9, /**< the heap's, as far as they can be read: warnings tell what is missing of it */
};

/** Whether debuggers offer a command by its own name, without a prefix, where that name is free. */
enum top_level {
	TOP_LEVEL_QUERIES, /**< yes for a query of what is open that writes no file */
	TOP_LEVEL_ALWAYS, /**< yes: SOS has the name, or it is a query that only writes a file if asked to */
	TOP_LEVEL_NEVER /**< no: a common word, which means something else there */
};

/** One command: its entry is at the end of its file, and table.c lists all of them. */
struct command {
	const char *name, *alias;
	const char *summary;
	const char *description; /**< lines of at most 76 columns; NULL: the summary is enough */
	const char *example;     /**< one command line; NULL: its name */
	enum top_level top_level;
	bool writes;   /**< the file that a word, or an option, names */
	bool has_rows; /**< it answers with a table, which CSV and NDJSON show */
	bool is_raw;   /**< its words but for options are one, as it is written: SQL */
	bool follows;  /**< see hd_command_info */
	bool tells_findings; /**< it says itself what is missing: no warning is shown next to its answer */
	enum hd_command_role role;
	uint32_t needs;                       /**< one of enum needs, and bits of it */
	const struct option *options;         /**< may be NULL */
	const struct sos_option *sos_options; /**< likewise */
	struct word words[WORDS_MAX + 1];
	const char *const *choices; /**< of the word that is a VALUE_CHOICE */
	/** Append the rest of the help, after the description, in whole lines; may be NULL. */
	void (*append_help)(struct text *text);
	/** Do its words and options go together?  Asked before anything is read; may be NULL. */
	enum hd_status (*check)(struct call *call);
	enum hd_status (*run)(struct call *call);
};

/** Define NAME_command, which run_NAME() runs; what else there is to say are initialisers. */
#define COMMAND(NAME, ...) \
	const struct command NAME##_command = { .name = #NAME, .run = run_##NAME, __VA_ARGS__ }

/** The value of an option or word that was given. */
struct value {
	bool given;
	bool is_type; /**< text is the name of a type: number is its id once the command runs */
	const char *text;
	uint64_t number; /**< of numbers, addresses and ids */
};

/** One run of a command: what it was given, and where its answer goes. */
struct call {
	struct hd_session *session;
	struct hd_graph *graph; /**< of the session, as the command needs it; or NULL */
	struct heap *heap;      /**< likewise; of dump files NULL */
	const struct command *command;
	const struct hd_sink *sink;
	struct settings settings;
	bool as_json;        /**< settings.format is FORMAT_JSON */
	bool findings;       /**< set by the command: exit status 1 */
	bool is_inner;       /**< another command runs it for its rows: see command_rows() */
	bool is_absent_told; /**< call_tell_absent() has been called */
	bool needs_no_heap; /**< set by a check: of a target the runtime is enough, as for NEEDS_RUNTIME */
	bool is_written; /**< likewise: the file is complete, so nothing may fail any more */
	struct job job;
	struct out out;
	struct json json;
	struct answer answer;
	struct value options[OPTIONS_MAX]; /**< by index in command->options */
	struct value words[WORDS_MAX];
	/**
	 * The words of a command that is_raw, with blanks between; of options that are a VALUE_RULE, a line each:
	 * the option's name, a blank, its value.
	 */
	struct text joined;
	struct hd_error *err;
};

struct hd_rows;
struct visit;

/**
 * Run another command for this one, with the same settings, and keep its answer; its warnings are this
 * one's.
 *
 * @param[out] ret To be given to hd_rows_free(); untouched on failure, whose message call->err has.
 */
HD_NODISCARD enum hd_status command_rows(struct call *call, int argc, const char *const *argv,
					 struct hd_rows **ret);

/**
 * Run a command as hd_command_run() does.
 *
 * @param visit NULL: its answer is written; else it goes there, in no format, and the sink may lack write.
 */
int command_visit(struct hd_session *session, int argc, const char *const *argv,
		  const struct hd_sink *sink, struct visit *visit, struct hd_error *err);

/** Command @p index, or NULL past the last. */
const struct command *command_at(size_t index);
/** By name or alias, case ignored; NULL when there is none. */
const struct command *command_find(const char *name);

/** The long options that every command takes: json, lenient, no-files, trust-files,
 * sysroot, symbols, runtime, workers, max-mem, width, color. */
extern const struct option common_options[];

/**
 * Parse @p argv (the command's name and its words) into call->options, words, settings, as_json.
 *
 * @retval HD_OK
 * @retval HD_ERR_ARGUMENT with a message that names what would be right
 */
HD_NODISCARD enum hd_status arguments_parse(struct call *call, int argc, const char *const *argv);

/** Are all @p argc words there, and @p argc not negative? */
bool arguments_are_there(int argc, const char *const *argv);

/** Was --json given?  Looks without parsing: also for commands that fail to parse. */
bool arguments_want_json(int argc, const char *const *argv);
/** Was --help given?  Takes the same arguments. */
bool arguments_want_help(int argc, const char *const *argv);

/** Option of @p command, or a common one, that @p word (with its dashes) names; NULL if none. */
const struct option *arguments_option(const struct command *command, const char *word);

/** hd_command_raw() for a command that is_raw. */
bool command_raw(const struct command *command, const char *rest, size_t *ret);

/** Append "usage: ..." of @p command. */
void help_usage(struct text *text, const struct command *command);

/**
 * Append @p size bytes of words of help, in lines that begin with @p indent blanks.
 *
 * @param[in,out] column Where the text is; beyond the indent, a blank or a new line comes first.
 */
void help_wrap(struct text *text, const char *words, size_t size, size_t indent, size_t *column);
/** Append a line of a list of help: two blanks, @p left in @p width columns, and the summary, which may take several lines. */
void help_row(struct text *text, const char *left, int width, const char *summary);

/** HD_ERR_ARGUMENT: "PROBLEM; usage: ..." of the command. */
HD_NODISCARD enum hd_status call_usage(const struct call *call, const char *problem);

/** Fail with @p status: there is no such command; what comes nearest, if it is one of SOS. */
HD_NODISCARD enum hd_status help_unknown(enum hd_status status, const char *name,
					 struct hd_error *err);

/** Node of the object that word @p index names; HD_ERR_NOTFOUND names the nearest ones. */
HD_NODISCARD enum hd_status call_object(struct call *call, size_t index, uint32_t *ret);

/**
 * Fail: a heap dump file is open, and the command needs a core or a process.  The message has the command line
 * that answers the same about a file, if there is one.
 */
HD_NODISCARD enum hd_status call_refuse_file(const struct call *call);

/** Begin the JSON document of a command in call->json: what is around its answer. */
void call_begin_document(struct call *call);
/** End that document, with the error in it if there is one. */
void call_end_document(struct call *call, enum hd_status status);

/** HD_ERR_CANCELLED once the sink is closed or the user asked to stop; call it per row. */
HD_NODISCARD enum hd_status call_check(struct call *call);

/** If @p session has just copied a process: warn for how long that was stopped. */
void call_tell_stop(const struct call *call, const struct hd_session *session);

/** Was the option -conservative given? false for commands without it. */
bool call_is_conservative(const struct call *call);

/** Value of a -limit option: UINT64_MAX when 0, @p fallback when it was not given. */
uint64_t call_limit(const struct call *call, size_t option, uint64_t fallback);
/** The limit for rows of statistics when these are all that is asked for, by -stat; 0: all. */
uint64_t call_statistics_limit(const struct call *call, size_t stat, size_t limit);

/** A check of several commands: of START and END, the first words: HD_ERR_ARGUMENT unless they are in order. */
enum hd_status check_range(struct call *call);

/**
 * Say which types and fields the command looked for and this framework does not have: the
 * member "absent_fields", a line of text each, and status 1.  command/run.c does so after each
 * command; one that shows the list also when it is empty calls it itself.
 */
void call_tell_absent(struct call *call);
/** command/run.c calls these before and after a command: the second one tells what was not told. */
void call_begin_facts(struct call *call);
void call_end_facts(struct call *call);
