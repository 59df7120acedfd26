/* SPDX-License-Identifier: MIT */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "mem/mapped_file.h"
#include "targets/process/page_list.h"
#include "targets/process/process_memory.h"

/** Where the bytes of an extent are. */
enum {
	SOURCE_ZERO, /**< nowhere: never used, so they are zero */
	SOURCE_LEFT, /**< nowhere: left out, so they are not available */
	SOURCE_COPY, /**< in the buffer */
	SOURCE_FILE, /**< in a mapped file: this plus its index */
};

/** A range of the address space whose bytes come from one place. */
struct copy_extent {
	uint64_t start, end;
	uint64_t offset; /**< offset of start in the buffer or the file */
	size_t source;
};

/** An extent to copy. */
struct copy_piece {
	uint64_t address, size;
	uint64_t offset;       /**< in the buffer */
	size_t extent;         /**< index of the extent */
	bool is_file;          /**< it is part of a file's mapping, whose end may not be readable */
	bool is_native;        /**< see process_copy_leave_out() */
	_Atomic uint64_t good; /**< number of bytes before the first unreadable one */
};

/** A file that the process has mapped. */
struct copy_file {
	uint64_t inode;
	uint32_t dev_major, dev_minor;
	bool is_usable; /**< if not, it is gone, or is another file, or may not answer */
	struct mapped_file file;
};

/** The plan of a copy, and the memory that is made from it. */
struct process_copy {
	struct memory memory;
	struct process_server *server; /**< borrowed until the copy is made */
	struct copy_extent *extents;   /**< ascending */
	size_t extents_count, extents_capacity;
	struct copy_piece *pieces; /**< ascending; only until the copy is made */
	size_t pieces_count, pieces_capacity;
	struct copy_file *files;
	size_t files_count, files_capacity;
	uint8_t *bytes;          /**< the buffer */
	uint64_t size;           /**< of the buffer */
	uint64_t left;           /**< bytes of SOURCE_LEFT */
	pthread_mutex_t lock;    /**< of missed */
	struct page_list missed; /**< pages of SOURCE_LEFT that were needed later */
};
