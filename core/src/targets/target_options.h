/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "util/fail.h"

struct memory;
struct page_list;
struct process_server;

/**
 * Find the GC's heap in a stopped process.
 *
 * @param memory of the process
 * @param[out] ret Gets the pages that hold it.
 * @retval HD_OK
 * @retval HD_ERR_NOTFOUND without a message: it is not known where the heap is
 */
typedef enum hd_status target_find_heap(void *arg, struct memory *memory, struct page_list *ret,
					struct hd_error *err);

/** For how many seconds a process is stopped at most, if not said otherwise. */
#define PROCESS_STOP_SECONDS 10u
/** And the most that can be said. */
#define PROCESS_STOP_SECONDS_MAX 3600u

/** How to open a target, and where missing bytes may come from. */
struct target_options {
	const char *sysroot; /**< folder in which module files are looked up, or NULL */
	const char *symbols; /**< folder in which PDBs and symbol files are looked up, or NULL */
	const char *runtime; /**< the file name of the module whose .NET runtime is meant; NULL: the
			      * first that is found */
	bool no_files;       /**< do not use bytes of module files */
	bool trust_files;    /**< also use module files that are not proven to be the right ones */
	uint64_t max_mem;    /**< bytes that an unpacked or copied target may take, and the lists
			      * made from a core's headers and notes; 0 = no limit */
	/**
	 * A process: the address of a 32-bit word, 0 = none; while it is not 0, the process is let
	 * go without copying (see is_busy).
	 */
	uint64_t busy_at;
	/** A process: for how long it may be stopped at a time; 0: PROCESS_STOP_SECONDS. */
	unsigned int stop_seconds;
	bool no_stop; /**< a process: read it while it runs, which is only right for what does not
		       * change */
	/**
	 * A process: of its native memory, copy only these pages, what find_heap finds, and stacks.
	 * Borrowed until the process is open.  With no_stop it is borrowed as long as the process
	 * is open, and gets the pages that are read.  NULL: copy all.
	 */
	struct page_list *kept;
	uint64_t type_at; /**< with kept: address of one of the types that must be copied; 0: not
			   * known */
	target_find_heap *find_heap;
	void *find_heap_arg;
	bool residency; /**< a process: find out what of it is in memory before it is copied */
	bool copy_all;  /**< a process; tells the code that fills kept to leave it NULL */
	struct process_server *server; /**< reads a process, borrowed; NULL: a new one is made */
	const char *backend; /**< "file", "process", "debugger": use only this way to a debugger's
			  * memory; or NULL */
};
