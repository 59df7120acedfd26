/* SPDX-License-Identifier: MIT */
#pragma once

#include "runtime/runtime.h"

/** The content of a word of a TransitionBlock (gcrefmap.h). */
enum ref_map_kind {
	REF_MAP_SKIP,
	REF_MAP_REFERENCE,
	REF_MAP_INTERIOR,
	REF_MAP_METHOD_PARAM,
	REF_MAP_TYPE_PARAM,
	REF_MAP_VA_COOKIE,
};

struct ref_map_token {
	uint32_t position; /**< words from the start of the TransitionBlock */
	uint32_t kind;     /**< enum ref_map_kind */
};

/** A cursor over a GCRefMap. */
struct ref_map {
	struct memory *memory;
	uint64_t next;
	uint32_t pending; /**< bits that were read; bit 7: the next byte has to be read; 0: the
			   * end */
	uint32_t position;
	unsigned int bytes; /**< read so far */
	bool failed;        /**< it cannot be read further, or is longer than any map can be */
};

/**
 * Open the map of a call by an indirection cell of a ReadyToRun image.
 *
 * @param words Three words of the Frame: Module (or 0), address of the cell, address of the map (or
 * 0).
 * @return false when there is none
 */
bool ref_map_open(const struct runtime *runtime, const uint64_t words[3], struct ref_map *ret);

/** The next token, or false at the end. */
bool ref_map_next(struct ref_map *map, struct ref_map_token *ret);
