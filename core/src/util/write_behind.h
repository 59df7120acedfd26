/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_UTIL_WRITE_BEHIND_H
#define HEAPDUMP_SRC_UTIL_WRITE_BEHIND_H

#include <stdbool.h>
#include <stddef.h>

/** A thread that writes to a file while another one makes the next bytes. */
struct write_behind;

/**
 * Begin to write to @p fd, which the caller keeps; NULL: memory is exhausted, or no thread can be
 * started.
 */
struct write_behind *write_behind_begin(int fd);

/** Take a copy of the bytes; false: an earlier write failed. */
bool write_behind_add(struct write_behind *behind, const char *bytes, size_t size);

/**
 * Wait until everything is written, and free @p behind.  Returns the errno of a failed write, or 0.
 */
int write_behind_end(struct write_behind *behind);

#endif
