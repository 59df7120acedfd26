/* SPDX-License-Identifier: MIT */
#pragma once

#include <stddef.h>

#include "util/job.h"

/**
 * Write all bytes; if @p fd is non-blocking, wait for its reader as long as the job goes on.  A
 * limit on the size of files, or a reader that has left, gives an errno (EFBIG, EPIPE) and not a
 * signal.
 *
 * @param job A job of this thread, or NULL.
 * @return errno, ECANCELED when the job was stopped, or 0.
 */
int write_all(int fd, const char *bytes, size_t size, struct job *job);
