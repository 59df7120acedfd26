/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "util/fail.h"

/**
 * A whole file mapped read-only.  If the file shrinks while it is open, reading the lost part gives
 * zeros instead of SIGBUS, provided that mapped_files_guard_begin() was called before.
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
 * @retval HD_ERR_OS it cannot be opened, is not a regular file, or cannot be mapped
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

/** The same for a file that stays open as @p fd, which the caller keeps. */
HD_NODISCARD enum hd_status mapped_file_of(int fd, const char *path, struct mapped_file *ret,
					   struct hd_error *err);

/**
 * Close the descriptor and keep the mapping: for when there are many files.  That such a file has
 * shrunk is only noticed when reading it raises SIGBUS.
 */
void mapped_file_close_fd(struct mapped_file *file);

/**
 * Notice when somebody writes to @p file from now on: mapped_files_written() tells.  This is for
 * files that must not change while they are read, such as a core; not for what a running process
 * has mapped, which may change at any time.
 *
 * @param as_of What fstat() said about it before its first byte was read.
 */
void mapped_file_watch(const struct mapped_file *file, const struct stat *as_of);

/**
 * Was the file that is open as @p fd written to since fstat() gave @p as_of?  The time of the last
 * status change (ctime) is also compared, because a writer can set back the time of the last write.
 */
bool file_was_written(int fd, const struct stat *as_of);

/** A zeroed struct with fd -1 is allowed. */
void mapped_file_close(struct mapped_file *file);

/**
 * While a command runs: a SIGBUS inside a mapped file maps zero pages over the rest of the file and
 * is remembered; any other SIGBUS goes to the handler that was set before.  Calls nest; applies to
 * the whole process.
 */
void mapped_files_guard_begin(void);
void mapped_files_guard_end(void);
/**
 * Has a mapped file shrunk since it was opened, or did one since the outermost
 * mapped_files_guard_begin()?
 */
bool mapped_files_shrunk(void);
/**
 * Was a watched file written to since it is watched, according to its times?  A write very shortly
 * after mapped_file_watch() may be missed, depending on the resolution of the file system's clock.
 */
bool mapped_files_written(void);
