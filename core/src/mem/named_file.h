/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>

/** The result of opening a file whose name came from a core or a dump. */
enum named_file_result {
	NAMED_FILE_OPENED,
	NAMED_FILE_FAILED,      /**< see errno */
	NAMED_FILE_NOT_REGULAR, /**< a folder, FIFO, device, socket, or a file that a kernel makes up */
	NAMED_FILE_NO_IMAGE, /**< it is not of the kind that was asked for */
};

/** The kind of file that may be opened, by its first bytes. */
enum named_file_kind {
	NAMED_FILE_ANY,
	NAMED_FILE_IMAGE, /**< an ELF program or library, or a PE image */
	NAMED_FILE_PDB,   /**< a portable PDB, or other metadata by itself */
};

/**
 * Can it be the name of a file?  The kernel's names for mappings, devices and deleted files are
 * not.
 */
bool named_file_is(const char *path);

/**
 * Open the regular file that a core or a dump names, to read it.  The name may come from an
 * attacker:
 *
 * - Each part of the path is looked up by itself, in the folder that was opened before; symbolic
 *   links are read and followed here, at most 40.  So neither ".." nor a link leads out of
 *   @p sysroot, with any kernel, and a link in /proc is only its text.
 * - Nothing is opened in /proc, /sys and /dev under any name, nor in other file systems that the
 *   kernel generates, nor, without a sysroot, in a FUSE mount other than the root.
 * - Anything that is not a regular file is never opened: a FIFO would wait, and opening a device
 *   might do something.
 *
 * It parses only the first bytes.
 *
 * @param sysroot The folder to look in; NULL: /.
 * @param kind Open a file only if it is of this kind.
 * @param[out] ret_result Why it is not open.
 * @return A descriptor, close-on-exec, or -1 with errno.
 */
int named_file_open(const char *sysroot, const char *path, enum named_file_kind kind,
		    enum named_file_result *ret_result);

/**
 * The same, but never through the broker (hd_broker_set()), which the function above uses if there
 * is one.
 */
int named_file_open_directly(const char *sysroot, const char *path, enum named_file_kind kind,
			     enum named_file_result *ret_result);
