/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_UTIL_WRITE_BEHIND_H
#define HEAPDUMP_SRC_UTIL_WRITE_BEHIND_H

#include <stdbool.h>
#include <stddef.h>

/** A thread that writes to a file what another one makes meanwhile. */
struct write_behind;

/** Begin to write to @p fd, which stays the caller's; NULL: there is no memory, or no thread. */
struct write_behind *write_behind_begin(int fd);

/** Take a copy of the bytes; false: a write failed before. */
bool write_behind_add(struct write_behind *behind, const char *bytes, size_t size);

/** Wait for what is left to be written, and free @p behind: errno of the write that failed, or 0. */
int write_behind_end(struct write_behind *behind);

#endif
