/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_MEM_NAMED_FILE_H
#define HEAPDUMP_SRC_MEM_NAMED_FILE_H

#include <stdbool.h>

/** What became of a name that a core or a dump gave. */
enum named_file_result {
	NAMED_FILE_OPENED,
	NAMED_FILE_FAILED,      /**< errno says why */
	NAMED_FILE_NOT_REGULAR, /**< a folder, FIFO, device, socket, or a file that a kernel makes up */
	NAMED_FILE_NO_IMAGE, /**< it begins neither as ELF nor as PE; only with is_image_only */
};

/** Can it be the name of a file?  Not what the kernel calls mappings, devices, or deleted files. */
bool named_file_is(const char *path);

/**
 * Open the regular file that a core or a dump names, to read it.  Whoever wrote the name is not trusted:
 *
 * - Each part of the path is looked up by itself, in the folder that was opened before; symbolic links are
 *   read and followed here, at most 40.  So neither ".." nor a link leads out of @p sysroot, whatever the
 *   kernel offers, and a link of /proc is no more than its text.
 * - Nothing is opened below /proc, /sys and /dev, however it is named, nor of a file system that the kernel
 *   makes up, nor, without a sysroot, of a FUSE mount that is not the root of all files.
 * - What is no regular file is not opened at all: a FIFO would wait, and a device might do something.
 *
 * It parses nothing but the first four bytes.
 *
 * @param sysroot The folder to look below; NULL: /.
 * @param is_image_only Open a file only if it begins as an ELF or PE image.
 * @param[out] ret_result Why it is not open.
 * @return A descriptor, close-on-exec, or -1 with errno.
 */
int named_file_open(const char *sysroot, const char *path, bool is_image_only,
		    enum named_file_result *ret_result);

/** The same, never by the broker (hd_broker_set()), which the other asks if there is one. */
int named_file_open_directly(const char *sysroot, const char *path, bool is_image_only,
			     enum named_file_result *ret_result);

#endif
