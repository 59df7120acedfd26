/* SPDX-License-Identifier: MIT */
#pragma once

#include <dirent.h>
#include <stdbool.h>

#include <heapdump/broker.h>

/** The standard input of this process, or of the broker: the only pipe that HD_OPEN_INPUT opens. */
#define STANDARD_INPUT "/dev/stdin"

/**
 * Open something with a name.  This is the only way to do so, except for files that are written
 * (output_file.h) and processes.  Uses the broker, if this process has one.
 *
 * @param as Not HD_OPEN_MODULE or HD_OPEN_PDB: see named_file_open().
 * @return A descriptor with O_CLOEXEC; or -1 and errno: for HD_OPEN_INPUT, EISDIR and EINVAL say
 * that it is a folder, or something else that is not a regular file.  Such things are not opened: a
 * FIFO would wait, and opening a device might do something.
 */
int open_as(enum hd_open_as as, const char *path);

/** Why open_as() has failed, for a message; @p error is its errno. */
const char *open_reason(int error);

/** Open a folder below /proc or /sys/fs/cgroup, for readdir(); NULL and errno on failure. */
DIR *open_system_folder(const char *path);

/** Remove the socket that HD_OPEN_LISTEN has made; a broker does that by itself at the end of a command. */
void close_listener(const char *path);

/**
 * Find the name of a user: one line with less than @p size bytes, without the NUL; false: the user
 * has no name.
 */
bool user_name(uint32_t uid, char *buf, size_t size);

/** The same, but never through the broker. */
bool user_name_directly(uint32_t uid, char *buf, size_t size);

/** The same as open_as(), but never through the broker. */
int open_directly(enum hd_open_as as, const char *path);
