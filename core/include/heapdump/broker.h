/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_BROKER_H
#define HEAPDUMP_BROKER_H

#include <heapdump/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What something is opened as; who opens it for another process decides by this. */
enum hd_open_as {
	HD_OPEN_INPUT = 1, /**< a file that the user named, to be read: a dump file or a core */
	HD_OPEN_MODULE, /**< a regular file that the target names, to be read: an ELF or PE image */
	HD_OPEN_ANY_MODULE, /**< the same, whatever it holds: only if the user trusts such files */
	HD_OPEN_FOLDER,    /**< a folder that the user named: only to see that it is one (O_PATH) */
	HD_OPEN_SYSTEM,    /**< a file or folder below /proc or /sys/fs/cgroup, to be read */
	HD_OPEN_PLACE,     /**< what is there, whatever it is: only to ask fstat() (O_PATH) */
	HD_OPEN_TEMPORARY, /**< a new file without a name in the folder @c path, read and written */
	HD_OPEN_CONNECT, /**< a connection to the diagnostics socket of that name; "@NAME": an abstract one */
	HD_OPEN_LISTEN, /**< a Unix socket of that name that listens */
};

/** Descriptors by which a process is stopped and read: see hd_broker.attach. */
#define HD_ATTACH_FDS 11

/**
 * How the library gets at what has a name: files, sockets and processes.  Without a broker it opens them
 * itself.  A process that has given up that right (a sandbox) sets one, which asks another process.
 *
 * Calls come from any thread, also several at a time.
 */
struct hd_broker {
	size_t struct_size; /**< sizeof(struct hd_broker) at the caller's build */
	void *arg;
	/**
	 * Open something.
	 *
	 * @param as An enum hd_open_as.
	 * @param below A folder that a module is looked up below, and that is not left by ".." or by a link; NULL: /.
	 * @return A descriptor, the caller's; or -1 and errno.  EACCES: it may not be opened; EINVAL: it is not a
	 * regular file, ENOEXEC: nor an image, where it has to be one; EREMCHG: it is not the process of the socket's
	 * name that listens there.
	 */
	int (*open)(void *arg, int as, const char *path, const char *below);
	/**
	 * Begin a file that takes the name @p path once it is committed.  What exists and is not a regular file
	 * is written straight; of a FIFO a reader is waited for.
	 *
	 * @param cancelled Polled with @p cancelled_arg while it waits; non-zero stops it.
	 * @param[out] ret_id To be given to commit or abandon; 0: it is written straight.
	 * @return A descriptor to write to, the caller's; or -1, with @p err filled.
	 */
	int (*create)(void *arg, const char *path, int (*cancelled)(void *arg), void *cancelled_arg,
		      uint64_t *ret_id, struct hd_error *err);
	/** Would create do it, but for waiting?  Nothing is left of the trial. */
	enum hd_status (*check)(void *arg, const char *path, int *ret_straight,
				struct hd_error *err);
	/** Give the file its name; @return errno, or 0.  On failure nothing of it is left. */
	int (*commit)(void *arg, uint64_t id);
	/** Give it up: nothing of it is left. */
	void (*abandon)(void *arg, uint64_t id);
	/** Find the name of a user, which may be in a database; @return 0, or -1: it has none. */
	int (*user_name)(void *arg, uint32_t uid, char *buf, size_t size);
	/**
	 * Make a process that stops process @p pid and reads its memory, as it is told; it ends, and lets the
	 * process go on, once the descriptors are closed.
	 *
	 * @param[out] ret_fds HD_ATTACH_FDS descriptors that lead to it, the caller's.
	 * @return 0, or -1 and errno.
	 */
	int (*attach)(void *arg, int pid, int *ret_fds);
};

/** Use @p broker, which is copied, in this process from now on; NULL: none.  No call may be running. */
HD_API void hd_broker_set(const struct hd_broker *broker);

/** What the library does without a broker: for the process that serves another one's. */
HD_API const struct hd_broker *hd_broker_direct(void);

#ifdef __cplusplus
}
#endif
#endif
