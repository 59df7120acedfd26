/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/fail.h"

struct target;

/** A file mapped into the target (NT_FILE; /proc/PID/maps). */
struct target_mapping {
	uint64_t start, end;
	uint64_t offset; /**< offset of start in the file, in bytes */
	char *path;
	bool is_cut; /**< the core is cut and has lost bytes of that file */
};

/** A range of memory in a core (PT_LOAD), or a mapping of a process. */
struct target_range {
	uint64_t start, end; /**< in the address space */
	uint64_t captured;   /**< how many bytes, from start, the core has */
	uint32_t flags;      /**< PF_R, PF_W, PF_X */
	bool is_cut;         /**< bytes are missing because the core's file ends too early */
};

/** Where things lie in the address space. */
struct target_map {
	struct target_mapping *mappings; /**< ascending */
	size_t mapping_count;
	struct target_range *ranges; /**< ascending, not overlapping */
	size_t range_count;
};

/**
 * Advice about bytes that the target lacks: mostly @p usual (to provide the files that contain
 * them), but something else if the core is cut there, has nothing that the process wrote, or was opened without files.
 *
 * @param address Their address, or that of their image; 0: not known.
 */
const char *target_advice(const struct target *target, uint64_t address, const char *usual);
/** The same about bytes that the process has written, so that no file has them. */
const char *target_advice_written(const struct target *target, uint64_t address);
/** Set is_cut of the mappings, when they and the ranges are known.  Called for cores. */
HD_NODISCARD enum hd_status target_mark_cut(struct target *target, struct hd_error *err);
/**
 * Has the core, because it is cut, lost bytes of the file mapped at @p address, or of the range
 * there?
 */
bool target_is_cut(const struct target *target, uint64_t address);

/** The mapping that holds @p address, or NULL. */
const struct target_mapping *target_mapping_at(const struct target_map *map, uint64_t address);

/** The range that holds @p address, or NULL. */
const struct target_range *target_range_at(const struct target_map *map, uint64_t address);

/** How many bytes of [@p start, @p end) can be read by the program, and are there to be read. */
uint64_t target_readable_bytes(const struct target_map *map, uint64_t start, uint64_t end);
