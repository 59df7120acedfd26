/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/** Who wrote a core, as far as its notes tell. */
enum core_producer {
	PRODUCER_UNKNOWN,
	PRODUCER_CREATEDUMP,
	PRODUCER_GCORE,
	PRODUCER_KERNEL,
};

/** How much a core contains, judging by its segments: core_notes.h has the rules. */
enum core_content {
	CONTENT_UNKNOWN,
	CONTENT_FULL, /**< also the pages of its files: no module files are needed */
	CONTENT_HEAP, /**< the writable memory, but not the unchanged pages of its files */
	CONTENT_MINI, /**< little more than stacks: no managed heap can be expected */
};

/** The facts about a core file as a whole. */
struct core_about {
	enum core_producer producer;
	enum core_content content;
	bool is_truncated;      /**< the file ends before its last segment does */
	bool is_compressed;     /**< it was unpacked (.zst) */
	uint64_t file_size;     /**< bytes on disk */
	uint64_t unpacked_size; /**< bytes of the core itself; is file_size unless is_compressed */
	uint64_t missing_bytes; /**< bytes of segments that are beyond the end of the file */
	int signal;             /**< the signal that ended the process, from the first NT_PRSTATUS;
				 * 0 = none */
};
