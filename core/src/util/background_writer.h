/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/** A thread that writes to a file while another one makes the next bytes. */
struct background_writer;

/**
 * Begin to write to @p fd, which the caller keeps; NULL: memory is exhausted, or no thread can be
 * started.
 */
struct background_writer *background_writer_begin(int fd);

/** Take a copy of the bytes; false: an earlier write failed. */
bool background_writer_add(struct background_writer *writer, const char *bytes, size_t size);

/**
 * Wait until everything is written, and free @p writer.  Returns the errno of a failed write, or 0.
 */
int background_writer_end(struct background_writer *writer);
