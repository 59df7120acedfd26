/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Large arrays in a file instead of in memory, for a process that may not have more: the kernel writes their pages out
 * when memory is short, and reads them when they are needed.  It is for the arrays of "pages" (util/alloc.h) that come
 * when others take as much memory as they may; there is one such file at a time in the process.
 */

/**
 * Does a file system of this type (statfs) suit?  Its files are not in memory, and a page whose room is reserved can be
 * written whatever happens: what cannot be written or read ends the process by SIGBUS.  That leaves out what is reached
 * through a network or another process, and what writes each change to another place, which a full disk does not have.
 */
bool page_file_suits(uint64_t type);

/**
 * From now on the arrays take @p memory bytes of memory; those that come then are in the file.
 *
 * @param fd An empty file without a name, on a disk of this machine (ext4, XFS, or an overlay, which does not tell what
 * it lies on: see doc/profiler.md 6); borrowed until page_file_end().
 * @return false: there is one already, or the file system does not suit or cannot reserve room; all stays as it is
 */
bool page_file_begin(int fd, uint64_t memory);

/** The end: arrays come in memory again.  None may be left in the file. */
void page_file_end(void);

/** Must an array of @p bytes go to the file?  If not, it counts as one in memory. */
bool page_file_wants(size_t bytes);

/** An array that counts as one in memory is given back. */
void page_file_forget(size_t bytes);

/** Is it in the file? */
bool page_file_has(const void *ptr);

/** A zeroed array of @p bytes, a multiple of 2 MB; NULL: the disk is full. */
void *page_file_map(size_t bytes);

/** Give it, or the end of one, back. */
void page_file_unmap(void *ptr, size_t bytes);
