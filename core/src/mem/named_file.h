/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_MEM_NAMED_FILE_H
#define HEAPDUMP_SRC_MEM_NAMED_FILE_H

#include <stdbool.h>

/** Can it be the name of a file?  Not what the kernel calls mappings, devices, or deleted files. */
bool named_file_is(const char *path);

/**
 * Open a regular file that a core or a dump names, to read it.  Nothing else is opened: a FIFO would wait,
 * and a device might do something.
 *
 * @param sysroot The folder to look below, out of which neither ".." nor a symbolic link leads; NULL: /.
 * @param[out] ret_is_other There is something of that name that is no regular file.
 * @return A descriptor, or -1 with errno.
 */
int named_file_open(const char *sysroot, const char *path, bool *ret_is_other);

#endif
