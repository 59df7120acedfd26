/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_UTIL_WRITE_ALL_H
#define HEAPDUMP_SRC_UTIL_WRITE_ALL_H

#include <stddef.h>

#include "util/job.h"

/**
 * Write all bytes; where @p fd does not block, wait for its reader for as long as the job goes on.
 * A limit on the size of files or a reader that has left is an errno (EFBIG, EPIPE), no signal.
 *
 * @param job Or NULL; of this thread.
 * @return errno, ECANCELED when the job was stopped, or 0.
 */
int write_all(int fd, const char *bytes, size_t size, struct job *job);

#endif
