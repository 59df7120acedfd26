/* SPDX-License-Identifier: MIT */
#pragma once

#include "mem/mapped_file.h"
#include "mem/memory.h"
#include "targets/target.h"

/** A range in the address space whose bytes are together in the core file. */
struct core_run {
	uint64_t start, end; /**< in the address space */
	uint64_t offset;     /**< offset of start in the file; the whole run is there */
};

/**
 * Make the memory of a core.  Parallel; everything is mapped.
 *
 * @param file Owned by the memory, also when this fails.
 * @param runs Ascending, not overlapping; owned as well (mem_free).
 * @return NULL when memory is exhausted.
 */
struct memory *core_memory_create(struct mapped_file *file, struct core_run *runs, size_t count);

/** One PT_LOAD. */
struct core_load {
	uint64_t start, end; /**< in the address space */
	uint64_t captured;   /**< how many bytes, from start, are in the file */
	uint64_t promised;   /**< how many bytes would be there if the file were complete */
	uint64_t offset;     /**< offset of start in the file */
	uint32_t flags;      /**< PF_R, PF_W, PF_X */
};

/** One PT_NOTE, as far as it is in the file. */
struct core_note_segment {
	uint64_t offset, size;
	bool is_cut; /**< the file ends within it */
};

/**
 * How often, on average, a byte of the file may be used as memory: once in a sound core.  Without
 * this limit a small file could claim to be a large heap.
 */
#define GIVEN_MAX 2u

/** The ELF header and program headers of a core, limited to what the file contains. */
struct core_headers {
	struct core_load *loads; /**< in the order of the file */
	size_t load_count;
	struct core_note_segment *notes;
	size_t note_count;
	uint64_t segment_bytes; /**< bytes of segments according to the headers */
	uint64_t missing_bytes; /**< those of them that are beyond the end of the file */
	uint64_t given_bytes;   /**< bytes that the file gives as memory: at most GIVEN_MAX times
				 * its size */
	uint64_t shared_count;  /**< loads that would exceed that limit, and count as not
				 * captured */
	uint64_t first_shared;  /**< the address of the first of them */
	bool notes_cut;
	bool is_unaligned; /**< the offset of a captured load is not a multiple of the page size */
};

/**
 * Read the headers of the core at @p file.  Time and memory are linear in the number of headers.
 *
 * @param target Gets findings; the memory of its lists counts against its options.max_mem.
 * @param[out] ret To be given to core_headers_deinit(), also on failure.
 * @retval HD_OK
 * @retval HD_ERR_FORMAT
 * @retval HD_ERR_UNSUPPORTED not a core, or a core of another kind of machine
 * @retval HD_ERR_NOMEM also when it would exceed options.max_mem
 */
HD_NODISCARD enum hd_status core_headers_read(struct target *target, const struct mapped_file *file,
					      const char *path, struct core_headers *ret,
					      struct hd_error *err);
void core_headers_deinit(struct core_headers *headers);

/**
 * Fill target->ranges (ascending, not overlapping: an address that two loads have belongs to the
 * one that is first in the file, with a finding), and make the runs for core_memory_create().
 */
HD_NODISCARD enum hd_status core_ranges_make(struct target *target,
					     const struct core_headers *headers,
					     struct core_run **ret_runs, size_t *ret_count,
					     struct hd_error *err);
