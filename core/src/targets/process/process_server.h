/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_TARGET_PROCESS_SERVER_H
#define HEAPDUMP_SRC_TARGET_PROCESS_SERVER_H

#include "targets/process/server_protocol.h"
#include "util/text.h"

/**
 * Everything that is asked of the kernel about one process of this machine: forked processes stop
 * it, read its memory and open its files (server_main.c, server_reader.c), so that what never
 * answers (userfaultfd, FUSE, a network mount) blocks them and not us.  What does not answer in time
 * ends the server: the process runs on, and every later call fails in the same way at once.  When we
 * die, the process runs on as well.
 *
 * One thread uses a server, but for process_server_read_ranges(): there one for each reader.
 */
struct process_server;

/**
 * Fork the helpers for @p pid, with one reader.
 *
 * @param[out] ret To be given to process_server_release(); untouched on failure.
 * @retval HD_ERR_OS
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status process_server_create(int pid, struct process_server **ret,
						  struct hd_error *err);

/** One more owner; @return @p server. */
struct process_server *process_server_share(struct process_server *server);

/** One owner less: without any the process is let go and the helpers end.  NULL is allowed. */
void process_server_release(struct process_server *server);

/** The process that it is for. */
int process_server_pid(const struct process_server *server);

/** What can cancel all that is asked from now on; NULL: nothing can. */
void process_server_set_job(struct process_server *server, struct job *job);

/** How long an answer may take, milliseconds: for tests. */
void process_server_set_patience(struct process_server *server, unsigned int ms);

/** The failure that ended the server, or HD_OK. */
HD_NODISCARD enum hd_status process_server_check(const struct process_server *server,
						 struct hd_error *err);

/**
 * Stop all threads of the process.
 *
 * @param[out] ret_threads with registers; of the server, good until the next stop
 */
HD_NODISCARD enum hd_status process_server_stop(struct process_server *server,
						const struct target_thread **ret_threads,
						size_t *ret_count, struct hd_error *err);

/** Let it go on as it was; @return for how many seconds it stood still. */
double process_server_resume(struct process_server *server);

/**
 * Append a file of /proc/PID to @p ret.
 *
 * @retval HD_ERR_OS err->os_errno: ESRCH for one that is empty, as those of a process that has ended
 * are
 */
HD_NODISCARD enum hd_status process_server_file(struct process_server *server,
						enum server_file file, struct text *ret,
						struct hd_error *err);

/** Copy the longest readable prefix; @return its bytes.  errno is ESRCH once there is no process. */
size_t process_server_read(struct process_server *server, uint64_t address, void *buf, size_t size);

/** Start readers until there are @p count (at most SERVER_READERS_MAX), or as many as can be. */
void process_server_add_readers(struct process_server *server, unsigned int count);

/** How many there are, at least 1. */
unsigned int process_server_readers(const struct process_server *server);

/**
 * Ask reader @p reader to read @p count ranges (at most SERVER_RANGES, SERVER_BYTES in all) into half
 * @p half of its window; process_server_await_ranges() has the answer.  Both halves may be asked for.
 */
HD_NODISCARD enum hd_status process_server_ask_ranges(struct process_server *server,
						      unsigned int reader, unsigned int half,
						      const struct server_range *ranges,
						      uint32_t count, struct hd_error *err);

/** What one half of a reader's window holds. */
struct server_answer {
	const struct server_range *ranges; /**< sizes: how much of each was read */
	const uint8_t *bytes; /**< of the first; of each next, where all before it is */
	bool is_dead;         /**< there is no process any more */
};

/** Wait for what was asked for first.  Good until the half is asked for again. */
HD_NODISCARD enum hd_status process_server_await_ranges(struct process_server *server,
							unsigned int reader,
							struct server_answer *ret,
							struct hd_error *err);

/**
 * Find the pages of [@p start, @p end) that a private mapping was written to.
 *
 * @param[out] ret ascending; of the server, good until it is asked for something else
 * @param[out] ret_end up to where that is known, above @p start
 * @return HD_OK; HD_ERR_NOTFOUND without a message: the kernel does not tell
 */
HD_NODISCARD enum hd_status process_server_pages(struct process_server *server, uint64_t start,
						 uint64_t end, const struct server_pages **ret,
						 size_t *ret_count, uint64_t *ret_end,
						 struct hd_error *err);

/**
 * Open the file whose mapping begins at @p start.
 *
 * @param[out] ret a descriptor, the caller's; -1: it is gone, another one, or no regular file
 * @return HD_OK; HD_ERR_NOTFOUND without a message: it does not answer, do not ask for more
 */
HD_NODISCARD enum hd_status process_server_open(struct process_server *server, uint64_t start,
						int *ret, struct hd_error *err);

#endif
