/* SPDX-License-Identifier: MIT */
#pragma once

#include "targets/core/core_headers.h"

/** See core_guess_content(): createdump's small dumps have runs of at most 64 KB. */
#define HEAP_RUN ((uint64_t)256 << 10)

/** Which notes a core has: they show which program wrote it. */
struct core_notes {
	size_t count;
	bool prpsinfo_first;
	bool has_siginfo, has_xstate, has_gdb_description;
	bool has_arguments; /**< NT_PRPSINFO with a command line */
	size_t thread_capacity, mapping_capacity;
};

/**
 * Fill what the notes tell: threads, mappings (ascending), auxv_*, pid, name, signal.  Impossible
 * notes become findings.  Each byte of the file is read once, even if many segments contain it:
 * time and memory are linear in the bytes.
 *
 * @param headers Their notes are sorted, and those that share bytes are merged.
 * @retval HD_OK
 * @retval HD_ERR_NOMEM also when the lists would pass options.max_mem
 * @retval HD_ERR_CANCELLED
 */
HD_NODISCARD enum hd_status core_notes_read(struct target *target, const struct mapped_file *file,
					    struct core_headers *headers, struct core_notes *ret,
					    struct job *job, struct hd_error *err);

/** Which program wrote the core. */
enum core_producer core_guess_producer(const struct core_notes *notes,
				       const struct core_headers *headers);

/**
 * Set target->content, what it holds, from target->ranges, mappings and threads:
 * - full: at least nine tenths of the bytes mapped from files are captured;
 * - heap: less, but somewhere HEAP_RUN writable bytes in a row that do not belong to a file or a
 *   stack;
 * - mini: not even that (createdump takes single pages then);
 * - unknown: the core is truncated, or its notes do not list mapped files.
 */
HD_NODISCARD enum hd_status core_guess_content(struct target *target, struct hd_error *err);
