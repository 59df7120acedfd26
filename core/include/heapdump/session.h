/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SESSION_H
#define HEAPDUMP_SESSION_H

#include <heapdump/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Structures: one whose first member is struct_size may get more members at its end in later
 * releases.  The caller sets struct_size to the size that it was compiled with.  A member that only
 * the library knows counts as 0.  A member that only the caller knows must be 0; otherwise, or if no
 * release has had such a struct_size, the call fails with HD_ERR_ARGUMENT.  doc/abi.md has the rules.
 *
 * Pointers: unless a comment says that NULL is allowed, a function that gets NULL does nothing and
 * returns HD_ERR_ARGUMENT, or, if it returns no status, its value for nothing (0, NULL, -1,
 * HD_NONE).  Every hd_error may be NULL.  A pointer that is not NULL must point to what its type
 * says.
 */

/**
 * One open target (a heap dump file, a core or a process), the settings of one front end, and what
 * queries keep for later ones.
 *
 * Only one thread may use a session at a time; different sessions are independent.
 */
struct hd_session;

/**
 * Where the text of a command goes, and how the front end takes part while it runs.
 *
 * Every callback is called on the thread that called into the library, with @c arg (borrowed).  @c
 * write is required where an answer is written.  A sink without a required write gives HD_ERR_ARGUMENT
 * (HD_EXIT_USAGE), and so does one of another version: see "Structures" above.
 */
struct hd_sink {
	size_t struct_size; /**< sizeof(struct hd_sink) at the caller's build */
	void *arg;
	/**
	 * Take @p size bytes of the answer (UTF-8, not NUL-terminated; pieces end anywhere).  After
	 * a command that wrote a file, it is called once with @p size 0: pass on the parts of the
	 * answer that you still hold back.
	 *
	 * @return 0, or non-zero to end the command (for example because a pipe was closed): it
	 * then returns 130.
	 */
	int (*write)(void *arg, const char *text, size_t size);
	/** Take one line of warning, without newline.  NULL: warnings are dropped. */
	void (*warn)(void *arg, const char *line);
	/**
	 * @return non-zero to stop the work; called several times a second.  NULL: it is never
	 * stopped.
	 */
	int (*cancelled)(void *arg);
	/**
	 * Show progress: @p done of @p total units of @p what; @p total may be 0 (unknown).  Called
	 * at most 5 times a second.  If it was called at all, it is called once more with @p what
	 * NULL when the work has ended.  NULL: no progress is shown.
	 */
	void (*progress)(void *arg, const char *what, uint64_t done, uint64_t total);
	uint32_t color; /**< non-zero: the sink understands ANSI colours (setting "color" = auto) */
	uint32_t
		width; /**< columns of the terminal that the text goes to, from 20 on; 0: any (setting "width" = auto) */
	uint32_t binary; /**< non-zero: @c write takes any bytes, as a file or a pipe does */
	/**
	 * Take one line about what is going on, without newline.  NULL: the line goes to @c warn.
	 */
	void (*note)(void *arg, const char *line);
};

/**
 * Make a session with nothing open and default settings.
 *
 * @param[out] ret The session, to be given to hd_session_destroy().  Untouched on failure.
 * @param[out] err Filled on failure; may be NULL.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_ARGUMENT @p ret is NULL
 */
HD_API HD_NODISCARD enum hd_status hd_session_create(struct hd_session **ret, struct hd_error *err);

/** Close what is open and free @p session.  NULL is allowed. */
HD_API void hd_session_destroy(struct hd_session *session);

/**
 * Change a setting.
 *
 * @param[in] name,value One of:
 * - "max-mem": bytes, with K, M, G; 0 = the default: a quarter of the machine's memory, or 3/4 of
 *   what a cgroup has left
 * - "max-stop": for how many seconds a process may be stopped at a time while it is copied, 1 to 3600 (10)
 * - "workers": threads for long work, 1 to 64; 0 = the default, the processors online
 * - "width": columns after which lines of text are cut; 0 = lines are not cut (the default)
 * - "color": "auto" (the default), "on" or "off"
 * - "raw-csv": "off" (the default), or "on": no apostrophe in CSV in front of a text that a
 *   spreadsheet would take for a formula
 * - "sysroot": a folder in which the files that a core names are looked up; "" = none
 * - "symbols": a folder in which portable PDBs are looked up, for lines of source code, and symbol
 *   files of native libraries, for names of functions; "" = none
 * - "runtime": the file name (or the path) of the module whose .NET runtime is meant, where a target has
 *   several; "" = the first that is found
 * - "files": "on" (the default), or "off": read no module files
 * - "copy-all": "off" (the default), or "on": copy all memory of a process, even what no answer
 *   needs
 * - "trust-files": "off" (the default), or "on": also use module files that are not proven to be
 *   the ones that the process had; this way a hostile core can read any file that the user may read
 * - "code": "on" (the default), or "off": the plug-ins do not let their debugger know the managed code
 *   of what it debugs
 * - "backend": "auto" (the default), "file", "process", "debugger": see hd_session_debugger()
 * @retval HD_OK
 * @retval HD_ERR_ARGUMENT no such setting, a value out of range, or a NULL pointer; nothing is
 * changed
 */
HD_API HD_NODISCARD enum hd_status hd_session_set(struct hd_session *session, const char *name,
						  const char *value, struct hd_error *err);

/** Bytes that are enough for the text of any setting: a path and its NUL. */
#define HD_SETTING_SIZE 4096

/**
 * Read a setting back as text that hd_session_set() accepts.
 *
 * @param[out] buf HD_SETTING_SIZE bytes are enough for every value.
 * @retval HD_OK
 * @retval HD_ERR_ARGUMENT no such setting, @p size is too small, or a pointer is NULL
 */
HD_API HD_NODISCARD enum hd_status hd_session_get(const struct hd_session *session,
						  const char *name, char *buf, size_t size,
						  struct hd_error *err);

/**
 * Name of setting number @p index, or NULL after the last; @p ret_help (may be NULL) gets one line
 * of help.
 */
HD_API const char *hd_setting_name(size_t index, const char **ret_help);

/**
 * Open a heap dump file, a core file or a process, instead of what is open.
 *
 * @param[in] path Borrowed for the call.  The kind of a file is found by its content.  If @p path
 * has only digits and no file has that name, it is the id of a process, which is stopped while it
 * is copied.
 * @param[in] lenient Non-zero: records that break the format are counted and skipped.
 * @param[in] sink For progress, cancellation and warnings; may be NULL, and its write may be NULL.
 * @retval HD_OK
 * @retval HD_ERR_OS the file cannot be opened or read
 * @retval HD_ERR_FORMAT a record is malformed; err->address is the line
 * @retval HD_ERR_UNSUPPORTED not a kind of file that this library reads
 * @retval HD_ERR_NOMEM
 * @retval HD_ERR_CANCELLED
 * @retval HD_ERR_ARGUMENT @p session or @p path is NULL, or the sink is of another version
 *
 * On failure what was open before stays open.  Cost: linear in the file's size.
 */
HD_API HD_NODISCARD enum hd_status hd_session_open(struct hd_session *session, const char *path,
						   int lenient, const struct hd_sink *sink,
						   struct hd_error *err);

/**
 * Close what is open now; open @p path later, when the first command needs it, with the options of
 * that command.  The answer of that command then says what went wrong.
 *
 * @retval HD_OK
 * @retval HD_ERR_ARGUMENT NULL for @p session or @p path
 * @retval HD_ERR_NOMEM nothing is changed
 */
HD_API HD_NODISCARD enum hd_status hd_session_defer(struct hd_session *session, const char *path,
						    struct hd_error *err);

/** Close what is open, if anything is; settings stay.  NULL is allowed. */
HD_API void hd_session_close(struct hd_session *session);

/**
 * Tell what restricts this process while it reads a target (a sandbox); the command info shows it.
 *
 * @param[in] state One line such as "on (seccomp, Landlock)", copied and cut at 95 bytes; NULL:
 * info says nothing, as before the first call.  A NULL session is allowed.
 */
HD_API void hd_session_sandbox(struct hd_session *session, const char *state);

/**
 * Tell what another session of this front end has open: JSON answers have it as "target" while
 * nothing is open here.
 *
 * @param[in] path Copied; NULL: nothing.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM nothing is changed
 * @retval HD_ERR_ARGUMENT @p session is NULL
 */
HD_API HD_NODISCARD enum hd_status hd_session_label(struct hd_session *session, const char *path,
						    struct hd_error *err);

/** Path of what is open, or NULL.  Borrowed until the next open or close. */
HD_API const char *hd_session_path(const struct hd_session *session);

struct hd_graph;

/**
 * Graph of the open dump file, or of the open core or process when a command has made it; else
 * NULL.  Borrowed until the next open or close.
 */
HD_API const struct hd_graph *hd_session_graph(const struct hd_session *session);

#ifdef __cplusplus
}
#endif
#endif
