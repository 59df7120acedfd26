/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_TARGETS_TARGET_OPTIONS_H
#define HEAPDUMP_SRC_TARGETS_TARGET_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "util/fail.h"

struct memory;
struct page_list;
struct process_server;

/**
 * Find the GC's heap in a process that stands still.
 *
 * @param memory of the process
 * @param[out] ret Gets the pages that hold it.
 * @retval HD_OK
 * @retval HD_ERR_NOTFOUND without a message: it is not known where the heap is
 */
typedef enum hd_status target_find_heap(void *arg, struct memory *memory, struct page_list *ret,
					struct hd_error *err);

/** What to open, and where missing bytes may come from. */
struct target_options {
	const char *sysroot; /**< folder below which module files are looked up, or NULL */
	bool no_files;       /**< take no byte from module files */
	bool trust_files;    /**< use module files too that nothing proves to be the ones */
	uint64_t max_mem;    /**< bytes that an unpacked or copied target may take, and the lists
				that are made of a core's headers and notes; 0 = no limit */
	/** A process: the address of a 32-bit word, 0 = none; while it is not 0 it is let go
	 * uncopied (see is_busy). */
	uint64_t busy_at;
	bool no_stop; /**< a process: read it as it runs, which is good for what does not change */
	/**
	 * A process: copy of its native memory only these pages, what find_heap finds, and stacks.  Borrowed
	 * until it is open, with no_stop as long as it is: then it gets the pages that are read.  NULL: copy all.
	 */
	struct page_list *kept;
	uint64_t type_at; /**< with kept: where one of the types that stay lies; 0: not known */
	target_find_heap *find_heap;
	void *find_heap_arg;
	bool copy_all; /**< a process, for who fills kept: leave it NULL */
	struct process_server
		*server; /**< by which to look at a process, borrowed; NULL: its own */
	const char *
		backend; /**< "file", "process", "debugger": a debugger's memory that way only; or NULL */
};

#endif
