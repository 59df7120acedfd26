/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

#include <heapdump/session.h>

#include "answer/answer_format.h"
#include "graph/dominators.h"
#include "graph/reach.h"

struct async_graph;
struct runtime;
struct format;
struct heap;
struct kept_async;
struct root_set;
struct target;
struct target_options;

enum color_setting {
	COLOR_AUTO,
	COLOR_ON,
	COLOR_OFF
};

/** Names of the setting "backend": see hd_session_debugger(). */
enum backend_setting {
	BACKEND_AUTO,
	BACKEND_FILE,
	BACKEND_PROCESS,
	BACKEND_DEBUGGER
};

/** The setting "width" as auto: see struct hd_sink. */
#define WIDTH_AUTO UINT32_MAX

/** Numbers that are used instead of 0; these are not the user's settings. */
struct default_settings {
	uint64_t max_mem;
	unsigned int workers;
};

/** Settings that only front ends ask for. */
struct front_settings {
	bool no_pager; /**< of the shell's prompt */
	bool no_code;  /**< a debugger is not to know managed code */
};

/** The command asks for this of a process, beside its settings. */
struct asked_settings {
	bool account;   /**< copy all of its memory */
	bool residency; /**< find out what of it is in memory */
};

/** Settings of a front end, which one command may override. */
struct settings {
	uint64_t max_mem; /**< bytes; 0 = a quarter of the machine's memory, less in a cgroup */
	unsigned int max_stop; /**< seconds; 0 = PROCESS_STOP_SECONDS */
	unsigned int workers;  /**< 0 = the processors online */
	uint32_t width;        /**< 0 = any; WIDTH_AUTO = the terminal's */
	enum color_setting color;
	enum answer_format format;
	bool raw_csv; /**< cells of CSV as they are, also what a spreadsheet takes for a formula */
	const char *sysroot; /**< borrowed; NULL: files are where the target says */
	const char *symbols; /**< borrowed: a folder of PDBs, or NULL */
	const char *runtime; /**< borrowed: see struct target_options; or NULL */
	bool no_files;       /**< read no module files */
	bool trust_files;    /**< also use module files that are not proven to be the right ones */
	bool copy_all;       /**< copy all memory of a process */
	struct asked_settings asked;
	enum backend_setting backend;
	bool lenient;
	struct front_settings front;
	bool exact;        /**< see struct format_options */
	uint32_t snapshot; /**< likewise */
	struct default_settings defaults;
};

/** Storage of the settings that are texts; NULL: there is none. */
struct setting_texts {
	char *sysroot, *symbols, *runtime;
};

/** See <heapdump/session.h>. */
struct hd_session {
	struct settings settings;
	char *path;     /**< NULL: nothing is open */
	char *label;    /**< see hd_session_label(); or NULL */
	char *deferred; /**< to be opened when a command needs it; or NULL */
	struct setting_texts texts;
	/* for a dump file: both; for a target: its snapshot, when a command has needed it */
	const struct format *format;
	struct hd_graph *graph;
	bool is_exact;         /**< how a .nettrace was read: see struct format_options */
	uint32_t snapshot;     /**< likewise */
	bool is_told_of_names; /**< see session_warn_names() */
	/* for a core or a process; the last two are set by the first command that needs them */
	struct target *target;
	struct runtime *runtime;
	struct heap *heap;
	struct root_set *roots; /**< NULL until a command needs them */
	char sandbox[96];       /**< see hd_session_sandbox(); "": nothing is shown */
	int32_t selected;       /**< the debugger's selected thread: see hd_session_thread(); 0:
				 * none */
	/* caches, made by the first command that needs them */
	struct reach live;            /**< bitmap is NULL until then */
	struct dominators dominators; /**< idom is NULL until then */
	struct kept_async *async;     /**< NULL until then */
};

/**
 * hd_session_create() with the machine's defaults from @p other, which has already determined them.
 */
HD_NODISCARD enum hd_status session_create_like(const struct hd_session *other,
						struct hd_session **ret, struct hd_error *err);

/**
 * The values of a setting; NULL ends the list.  Returns NULL if it takes any text, or if there is
 * no such setting.
 */
const char *const *settings_choices(const char *name);

/** Set one setting by name: see hd_session_set(). */
HD_NODISCARD enum hd_status settings_set(struct settings *settings, const char *name,
					 const char *value, struct hd_error *err);

/** Set up @p job with @p settings, so that it asks @p sink (may be NULL) whether to stop. */
void session_job(const struct settings *settings, const struct hd_sink *sink, struct job *job);

/**
 * Open @p path, a dump file, a core or the id of a process, instead of what is open, which stays
 * open on failure.
 */
HD_NODISCARD enum hd_status session_open(struct hd_session *session, const char *path,
					 const struct settings *settings, struct job *job,
					 struct hd_error *err);

/**
 * Stop and copy process @p pid for struct target, and find its runtime.  If a GC was moving
 * objects, the process runs on for some milliseconds and is stopped again, several times at most;
 * the last stop is used.
 *
 * @param[out] ret_clr NULL when no runtime can be read
 * @retval HD_OK
 * @retval others as target_open_process()
 */
HD_NODISCARD enum hd_status session_attach(int pid, const struct target_options *options,
					   struct job *job, struct target **ret,
					   struct runtime **ret_clr, struct hd_error *err);

/**
 * Warn why answers about the open target may be incomplete, if there are findings.  Each finding of
 * a target is told once, because findings come while commands read it.
 *
 * @param is_about_heap false: the answer is about something else; findings that only matter to answers about the heap are
 * left to a later call.
 */
void session_warn(struct hd_session *session, const struct hd_sink *sink, bool is_about_heap);
/** Warn, once, why names in a dump file's graph are short (graph/short_names.h), if some are. */
void session_warn_names(struct hd_session *session, const struct hd_sink *sink);
/** Note that the present findings of a target were already told in another way. */
void session_warned(struct hd_session *session);

/** Is something open? */
bool session_is_open(const struct hd_session *session);

/**
 * The heap of the open target; finds the runtime the first time.
 *
 * @retval HD_OK
 * @retval others as runtime_open() and heap_open()
 */
HD_NODISCARD enum hd_status session_heap(struct hd_session *session, struct job *job,
					 struct heap **ret, struct hd_error *err);

/**
 * The roots of the open target, read the first time; if the mode (@p conservative) is not that of
 * the last time, they are read again, and what was made with them is dropped.
 */
HD_NODISCARD enum hd_status session_roots(struct hd_session *session, bool conservative,
					  struct job *job, const struct root_set **ret,
					  struct hd_error *err);

/**
 * The graph of what is open; for a target, its snapshot with its roots, which the first call makes.
 *
 * @param conservative Roots as in session_roots(); not used for dump files.
 */
HD_NODISCARD enum hd_status session_graph(struct hd_session *session, bool conservative,
					  struct job *job, struct hd_graph **ret,
					  struct hd_error *err);

/**
 * The same for questions about what leads to an object.  The graph may not have references and
 * types yet; graph_forward() and graph_reverse() make them.  Only reverse references take a third
 * less memory than both; sizes are then read from the heap one by one.
 */
HD_NODISCARD enum hd_status session_paths(struct hd_session *session, bool conservative,
					  struct job *job, struct hd_graph **ret,
					  struct hd_error *err);

/** The objects that are alive; borrowed from the session. */
HD_NODISCARD enum hd_status session_live(struct hd_session *session, struct job *job,
					 const struct reach **ret, struct hd_error *err);

/** The dominator tree; borrowed from the session. */
HD_NODISCARD enum hd_status session_dominators(struct hd_session *session, struct job *job,
					       const struct dominators **ret, struct hd_error *err);

/** The async methods that are not done, of a target; borrowed from the session. */
HD_NODISCARD enum hd_status session_async(struct hd_session *session, struct job *job,
					  struct async_graph **ret, struct hd_error *err);

/**
 * The dominator tree, and something else while it is made: it is made of the graph alone, so what only reads memory need not
 * wait for it.
 *
 * @param meanwhile Is called once, on this thread, whether the tree is there already or not.  It must not ask for roots or the
 * graph.
 * @param err Of the tree; @p meanwhile has its own.
 */
HD_NODISCARD enum hd_status session_dominators_while(struct hd_session *session, struct job *job,
						     enum hd_status (*meanwhile)(void *arg),
						     void *arg, const struct dominators **ret,
						     struct hd_error *err);

/** Free the async methods that the session has. */
void session_async_drop(struct hd_session *session);
