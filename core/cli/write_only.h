/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/**
 * Open the file or terminal of a standard stream once more, for writing only.  All three standard
 * streams of a terminal are usually open for reading and writing, so a process that has standard
 * output could read what is typed.
 *
 * @param[out] ret A descriptor, close-on-exec, to be closed; -1: @p fd can stay as it is.
 * @return false: @p fd can be read, and this could not be changed
 */
bool write_only(int fd, int *ret);
