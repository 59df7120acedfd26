/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/types.h>

/**
 * Read @p size bytes of a file at @p offset, in as many steps as needed: a short or interrupted
 * read() is not the end.
 *
 * @return bytes read, fewer than @p size only at the end of the file; -1 and errno when it cannot
 * be read
 */
ssize_t read_at(int fd, void *buf, size_t size, off_t offset);
