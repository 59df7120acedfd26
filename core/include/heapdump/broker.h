/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_BROKER_H
#define HEAPDUMP_BROKER_H

#include <heapdump/error.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The purpose for which something is opened.  A process that opens it for another process decides
 * by this.
 */
enum hd_open_as {
	HD_OPEN_INPUT = 1, /**< a file that the user named, to be read: a dump file or a core */
	HD_OPEN_MODULE, /**< a regular file that the target names, to be read: an ELF or PE image */
	HD_OPEN_ANY_MODULE, /**< the same, but its content is not checked: only if the user trusts
			     * such files */
	HD_OPEN_FOLDER,     /**< a folder that the user named: only to check that it is a folder
			    * (O_PATH) */
	HD_OPEN_SYSTEM,     /**< a file or folder below /proc or /sys/fs/cgroup, to be read */
	HD_OPEN_PLACE,      /**< anything, of any file type: only to call fstat() (O_PATH) */
	HD_OPEN_TEMPORARY,  /**< a new file without a name in the folder @c path, to be read and
			    * written */
	HD_OPEN_CONNECT,    /**< a connection to the diagnostics socket with that name; "@NAME": an
			  * abstract socket */
	HD_OPEN_LISTEN,     /**< a new Unix socket with that name, which listens */
	HD_OPEN_PDB,        /**< a regular file with a portable PDB, to be read */
};

/** Descriptors by which a process is stopped and read: see hd_broker.attach. */
#define HD_ATTACH_FDS 11

/**
 * How the library reaches things that have a name: files, sockets and processes.  Without a broker
 * it opens them itself.  A process that has given up that right (a sandbox) sets a broker, which
 * asks another process.
 *
 * The functions are called from any thread, and several calls may run at the same time.
 */
struct hd_broker {
	size_t struct_size; /**< sizeof(struct hd_broker) at the caller's build */
	void *arg;
	/**
	 * Open something.
	 *
	 * @param as An enum hd_open_as.
	 * @param below The folder in which a module or PDB is looked up; neither ".." nor a link leads out
	 * of it.  NULL: /.
	 * @return A descriptor that the caller closes; or -1 and errno.  EACCES: it may not be
	 * opened; EINVAL: it has to be a regular file and is not; ENOEXEC: it has to be an ELF or
	 * PE image, or a PDB, and is not; EREMCHG: the process that listens at the socket is not the one in
	 * the socket's name.
	 */
	int (*open)(void *arg, int as, const char *path, const char *below);
	/**
	 * Begin a file that takes the name @p path once it is committed.  If @p path exists and is
	 * not a regular file, it is written directly; for a FIFO, the call waits for a reader.
	 * A @p path that ends with a slash is a folder, whose descriptor is only to be closed:
	 * until it is committed, or given up with all in it, paths of files in it lead there.
	 *
	 * @param cancelled Polled with @p cancelled_arg while it waits; non-zero stops it.
	 * @param[out] ret_id To be given to commit or abandon; 0: it is written directly.
	 * @return A descriptor to write to, which the caller closes; or -1, with @p err filled.
	 */
	int (*create)(void *arg, const char *path, int (*cancelled)(void *arg), void *cancelled_arg,
		      uint64_t *ret_id, struct hd_error *err);
	/** Would create succeed, apart from waiting?  The trial leaves nothing behind. */
	enum hd_status (*check)(void *arg, const char *path, int *ret_straight,
				struct hd_error *err);
	/** Give the file its name; @return errno, or 0.  On failure the file is deleted. */
	int (*commit)(void *arg, uint64_t id);
	/** Give the file up: it is deleted. */
	void (*abandon)(void *arg, uint64_t id);
	/**
	 * Find the name of a user, which may be in a database; @return 0, or -1 if the user has no
	 * name.
	 */
	int (*user_name)(void *arg, uint32_t uid, char *buf, size_t size);
	/**
	 * Start a helper process that stops process @p pid and reads its memory on request.  When
	 * the descriptors are closed, the helper lets the process go on and ends.
	 *
	 * @param[out] ret_fds HD_ATTACH_FDS descriptors that lead to the helper; the caller closes
	 * them.
	 * @return 0, or -1 and errno.
	 */
	int (*attach)(void *arg, int pid, int *ret_fds);
};

/**
 * Use @p broker, which is copied, in this process from now on; NULL, or one of another version (see
 * "Structures" in session.h): use none.  No call into the library may be running.
 */
HD_API void hd_broker_set(const struct hd_broker *broker);

/**
 * The library's own way to open things, which it uses without a broker: for the process that
 * answers another process's broker.
 */
HD_API const struct hd_broker *hd_broker_direct(void);

#ifdef __cplusplus
}
#endif
#endif
