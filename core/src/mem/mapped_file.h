/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_MEM_MAPPED_FILE_H
#define HEAPDUMP_SRC_MEM_MAPPED_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "util/fail.h"

/**
 * A whole file mapped read-only.  Should it shrink while it is open, reading what is gone gives
 * zeros in place of SIGBUS, if mapped_files_guard_begin() was called before.
 */
struct mapped_file {
	const uint8_t *bytes; /**< NULL when size is 0 */
	uint64_t size;
	int fd; /**< stays open: its size tells whether it shrank; or -1 */
};

/**
 * Map @p path.
 *
 * @param[out] ret To be given to mapped_file_close(); untouched on failure.
 * @retval HD_OK
 * @retval HD_ERR_OS it cannot be opened, is no regular file, or cannot be mapped
 */
HD_NODISCARD enum hd_status mapped_file_open(const char *path, struct mapped_file *ret,
					     struct hd_error *err);

/**
 * Map the file that @p fd is open on; @p path is only its name in messages.
 *
 * @param fd Belongs to @p ret afterwards; closed on failure.
 */
HD_NODISCARD enum hd_status mapped_file_adopt(int fd, const char *path, struct mapped_file *ret,
					      struct hd_error *err);

/** The same of a file that stays open by @p fd, which is the caller's. */
HD_NODISCARD enum hd_status mapped_file_of(int fd, const char *path, struct mapped_file *ret,
					   struct hd_error *err);

/**
 * Close the descriptor and keep the mapping: for files of which there are many.  Of those only what
 * raises SIGBUS is seen to have shrunk.
 */
void mapped_file_close_fd(struct mapped_file *file);

/**
 * Notice when somebody writes to @p file from now on: mapped_files_written() tells.  For what is read as one
 * whole, such as a core; not for what a running process has mapped, which may change all the time.
 *
 * @param as_of What fstat() said of it before its first byte was read.
 */
void mapped_file_watch(const struct mapped_file *file, const struct stat *as_of);

/**
 * Was the file that @p fd is open on written to since fstat() said @p as_of of it?  The time of the last change
 * counts as well: whoever writes can set the other one back.
 */
bool file_was_written(int fd, const struct stat *as_of);

/** A zeroed struct with fd -1 is allowed. */
void mapped_file_close(struct mapped_file *file);

/**
 * For the length of a command: a SIGBUS inside a mapped file maps zero pages over the rest of it
 * and is remembered; any other goes to the handler that was there before.  Nests; process-wide.
 */
void mapped_files_guard_begin(void);
void mapped_files_guard_end(void);
/**
 * Has a file that is mapped shrunk since then, or did one since the outermost
 * mapped_files_guard_begin()?
 */
bool mapped_files_shrunk(void);
/**
 * Was a file that is watched written to since then, by its times?  A write that is closer to
 * mapped_file_watch() than the clock of the file system may be missed.
 */
bool mapped_files_written(void);

#endif
