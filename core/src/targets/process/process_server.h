/* SPDX-License-Identifier: MIT */
#pragma once

#include "targets/process/server_protocol.h"
#include "util/text.h"

/**
 * All access to one process of this machine: forked processes stop it, read its memory and open its
 * files (server_main.c, server_reader.c), so that what never answers (userfaultfd, FUSE, a network
 * mount) blocks them and not us.  If something does not answer in time, the server ends: the
 * process runs on, and every later call fails at once in the same way.  If we die, the process runs
 * on, too.
 *
 * Only one thread may use a server, except for process_server_read_ranges(): there, one thread for
 * each reader.
 */

/**
 * Fork the helpers for @p pid, with one reader.
 *
 * @param[out] ret To be given to process_server_release(); untouched on failure.
 * @retval HD_ERR_OS
 * @retval HD_ERR_NOMEM
 */
HD_NODISCARD enum hd_status process_server_create(int pid, struct process_server **ret,
						  struct hd_error *err);

/** Add an owner; @return @p server. */
struct process_server *process_server_share(struct process_server *server);

/**
 * Remove an owner: after the last one, the process is let go and the helpers end.  NULL is allowed.
 */
void process_server_release(struct process_server *server);

/** The id of its process. */
int process_server_pid(const struct process_server *server);

/** The job that can cancel all later requests; NULL: none. */
void process_server_set_job(struct process_server *server, struct job *job);

/** How long an answer may take, milliseconds: for tests. */
void process_server_set_patience(struct process_server *server, unsigned int ms);

/**
 * For how many seconds the process may be stopped, if not 0: then the server lets it go and ends, whatever we do
 * meanwhile, and later calls fail.  An answer may take half of it while the process is stopped.
 */
void process_server_set_limit(struct process_server *server, unsigned int seconds);

/** The failure that ended the server, or HD_OK. */
HD_NODISCARD enum hd_status process_server_check(const struct process_server *server,
						 struct hd_error *err);

/**
 * Stop all threads of the process.
 *
 * @param[out] ret_threads with registers; owned by the server, valid until the next stop
 */
HD_NODISCARD enum hd_status process_server_stop(struct process_server *server,
						const struct target_thread **ret_threads,
						size_t *ret_count, struct hd_error *err);

/** It stays stopped for longer than the limit, until it is let go. */
HD_NODISCARD enum hd_status process_server_hold(struct process_server *server,
						struct hd_error *err);

/**
 * Let the process go on as before.  Only if this succeeds it was stopped until now.
 *
 * @param[out] ret for how many seconds it was stopped; may be NULL
 */
enum hd_status process_server_resume(struct process_server *server, double *ret,
				     struct hd_error *err);

/**
 * Append a file of /proc/PID to @p ret.
 *
 * @retval HD_ERR_OS err->os_errno: ESRCH if the file is empty, as it is for a process that has
 * ended
 */
HD_NODISCARD enum hd_status process_server_file(struct process_server *server,
						enum server_file file, struct text *ret,
						struct hd_error *err);

/** The mappings may have changed: the readers read the list of them again before they read memory. */
void process_server_forget_maps(struct process_server *server);

/**
 * Copy the longest readable prefix; pages that are not in the page table are left so. @return its size. errno is ESRCH when the process has ended.
 */
size_t process_server_read(struct process_server *server, uint64_t address, void *buf, size_t size);

/** Start readers until there are @p count (at most SERVER_READERS_MAX), or as many as possible. */
void process_server_add_readers(struct process_server *server, unsigned int count);

/** How many there are, at least 1. */
unsigned int process_server_readers(const struct process_server *server);

/**
 * Ask reader @p reader to read @p count ranges (at most SERVER_RANGES, SERVER_BYTES in all) into
 * half @p half of its window; process_server_await_ranges() gets the answer.  Both halves may be
 * requested at the same time.
 */
HD_NODISCARD enum hd_status process_server_ask_ranges(struct process_server *server,
						      unsigned int reader, unsigned int half,
						      const struct server_range *ranges,
						      uint32_t count, struct hd_error *err);

/** The content of one half of a reader's window. */
struct server_answer {
	const struct server_range *ranges; /**< the sizes say how much of each was read */
	const uint8_t *bytes; /**< of the first range; the bytes of the others follow in order */
	bool is_dead;         /**< the process has ended */
};

/** Wait for the oldest request.  The result is valid until the same half is requested again. */
HD_NODISCARD enum hd_status process_server_await_ranges(struct process_server *server,
							unsigned int reader,
							struct server_answer *ret,
							struct hd_error *err);

/** An answer about pages. */
struct server_pages_found {
	const struct server_pages *rows; /**< ascending; valid until the next request */
	size_t count;
	uint64_t end; /**< the end of the part for which they are known, above its start */
};

/**
 * Find the pages of [@p start, @p end) of one kind.
 *
 * @return HD_OK; HD_ERR_NOTFOUND without a message: the kernel does not tell
 */
HD_NODISCARD enum hd_status process_server_pages(struct process_server *server,
						 enum server_pages_kind kind, uint64_t start,
						 uint64_t end, struct server_pages_found *ret,
						 struct hd_error *err);

/**
 * Open the file whose mapping begins at @p start.
 *
 * @param[out] ret a descriptor, which the caller closes; -1: the file is gone, is another one, or
 * is not regular @return HD_OK; HD_ERR_NOTFOUND without a message: it does not answer, do not
 * request more files
 */
HD_NODISCARD enum hd_status process_server_open(struct process_server *server, uint64_t start,
						int *ret, struct hd_error *err);
