/* SPDX-License-Identifier: MIT */
#pragma once

#include "targets/process/cgroup_memory.h"
#include "targets/process/proc.h"
#include "targets/process/process_server.h"

/** A mapping, and what of it is in memory, in bytes (/proc/PID/smaps). */
struct residency_row {
	struct proc_map map; /**< its path is owned */
	uint64_t rss;        /**< in memory, those shared with others in full */
	uint64_t pss;        /**< the same, those shared divided by the number of sharers */
	uint64_t swap;       /**< in the swap space */
	uint64_t dirty;      /**< in memory and this process's own (Private_Dirty) */
};

/** The part of a process that was in memory at one moment (doc/memory.md 1.3). */
struct process_residency {
	struct residency_row *rows; /**< ascending */
	size_t rows_count, rows_capacity;
	struct server_pages *pages; /**< ascending; categories PAGES_PRESENT, PAGES_SWAPPED */
	size_t pages_count, pages_capacity;
	bool has_pages; /**< the kernel told which pages are there */
	bool has_group;
	struct cgroup_memory group; /**< its cgroup, without the copy that is made afterwards */
};

/** Parse the text of a smaps file into ret->rows; false when memory is exhausted. */
bool process_residency_parse(const char *text, size_t size, struct process_residency *ret);

/**
 * Ask the kernel; the process should be stopped.
 *
 * @param[out] ret To be given to process_residency_destroy(); untouched on failure.
 * @retval HD_ERR_OS the kernel does not tell
 */
HD_NODISCARD enum hd_status process_residency_read(struct process_server *server,
						   struct process_residency **ret,
						   struct hd_error *err);

/** NULL is allowed. */
void process_residency_destroy(struct process_residency *residency);
