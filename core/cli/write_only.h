/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_CLI_WRITE_ONLY_H
#define HEAPDUMP_CLI_WRITE_ONLY_H

#include <stdbool.h>

/**
 * Open once more, to be written to and not read, what a standard stream leads to.  A terminal is mostly open for
 * both by all three of them: who has the one that is written to can read what is typed.
 *
 * @param[out] ret A descriptor, close-on-exec, to be closed; -1: @p fd is fine as it is.
 * @return false: @p fd can be read, and nothing can be done about it
 */
bool write_only(int fd, int *ret);

#endif
