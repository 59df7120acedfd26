/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_TARGET_CORE_HEADERS_H
#define HEAPDUMP_SRC_TARGET_CORE_HEADERS_H

#include "mem/mapped_file.h"
#include "targets/core/core_memory.h"
#include "targets/target.h"

/** One PT_LOAD. */
struct core_load {
	uint64_t start, end; /**< of the address space */
	uint64_t captured;   /**< bytes from start on that are in the file */
	uint64_t promised;   /**< that would be, were it not cut */
	uint64_t offset;     /**< of start in the file */
	uint32_t flags;      /**< PF_R, PF_W, PF_X */
};

/** One PT_NOTE, as much as is there. */
struct core_note_segment {
	uint64_t offset, size;
	bool is_cut; /**< the file ends within it */
};

/**
 * How often, on average, a byte of the file may be given as memory: once in a core that is sound.
 * Without an end a small file could say that it is a large heap.
 */
#define GIVEN_MAX 2u

/** What the ELF and program headers of a core say, clamped to the file. */
struct core_headers {
	struct core_load *loads; /**< in the order of the file */
	size_t load_count, load_capacity;
	struct core_note_segment *notes;
	size_t note_count, note_capacity;
	uint64_t segment_bytes; /**< that the headers promise */
	uint64_t missing_bytes; /**< of these, beyond the end of the file */
	uint64_t given_bytes;   /**< of the file, as memory: at most GIVEN_MAX times its size */
	uint64_t shared_count;  /**< loads that would pass that, and are taken as not captured */
	uint64_t first_shared;  /**< the address of the first of them */
	bool notes_cut;
	bool is_unaligned; /**< a captured load's offset is no multiple of a page */
};

/**
 * Read the headers of the core at @p file.  Time and memory are linear in the number of headers.
 *
 * @param target Gets findings; what its lists take counts against its options.max_mem.
 * @param[out] ret To be given to core_headers_deinit(), also on failure.
 * @retval HD_OK
 * @retval HD_ERR_FORMAT
 * @retval HD_ERR_UNSUPPORTED no core, or of another kind of machine
 * @retval HD_ERR_NOMEM also when it would pass options.max_mem
 */
HD_NODISCARD enum hd_status core_headers_read(struct target *target, const struct mapped_file *file,
					      const char *path, struct core_headers *ret,
					      struct hd_error *err);
void core_headers_deinit(struct core_headers *headers);

/**
 * Fill target->ranges (ascending, not overlapping: of two loads with the same address the first of
 * the file has it; a finding) and make the runs for core_memory_create().
 */
HD_NODISCARD enum hd_status core_ranges_make(struct target *target,
					     const struct core_headers *headers,
					     struct core_run **ret_runs, size_t *ret_count,
					     struct hd_error *err);

#endif
