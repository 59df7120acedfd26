/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_TARGETS_TARGET_MAP_H
#define HEAPDUMP_SRC_TARGETS_TARGET_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/fail.h"

struct target;

/** A file mapped into the target (NT_FILE; /proc/PID/maps). */
struct target_mapping {
	uint64_t start, end;
	uint64_t offset; /**< of start in the file, bytes */
	char *path;
	bool is_cut; /**< a core that is cut has lost bytes of that file */
};

/** A stretch of memory that is in the core (PT_LOAD), or a mapping of a process. */
struct target_range {
	uint64_t start, end; /**< of the address space */
	uint64_t captured;   /**< bytes from start on that the core holds */
	uint32_t flags;      /**< PF_R, PF_W, PF_X */
	bool is_cut;         /**< more is not captured as the core's file ends too early */
};

/** Where things lie in the address space. */
struct target_map {
	struct target_mapping *mappings; /**< ascending */
	size_t mapping_count;
	struct target_range *ranges; /**< ascending, not overlapping */
	size_t range_count;
};

/**
 * What the user can do about bytes that the target lacks: @p usual (to give the files that they
 * are from, mostly), but for a core that is cut where they are, or one opened without files.
 *
 * @param address Where they are, or the image that they are of; 0: not known.
 */
const char *target_advice(const struct target *target, uint64_t address, const char *usual);
/** Set is_cut of the mappings, once they and the ranges are known.  Called for cores. */
HD_NODISCARD enum hd_status target_mark_cut(struct target *target, struct hd_error *err);
/** Has the core lost bytes of the file mapped at @p address, or of the range there, to a cut? */
bool target_is_cut(const struct target *target, uint64_t address);

/** The mapping that holds @p address, or NULL. */
const struct target_mapping *target_mapping_at(const struct target_map *map, uint64_t address);

#endif
