/* SPDX-License-Identifier: MIT */
#pragma once

#include "mem/memory.h"

/*
 * A GC in its plan phase writes this in front of each plug: struct plug_and_gap, the same in 8, 9
 * and 10 (gc/gcpriv.h; doc/collections.md).  Its last word is the header of the plug's first
 * object.
 */
#define PLUG_NODE_SIZE 32u

/** A node. */
struct plug_and_gap {
	uint64_t gap;        /**< bytes before the plug that are free */
	int64_t distance;    /**< how far the plug will move */
	int16_t left, right; /**< children in the brick's tree, relative to the plug */
};

/** The plugs of one tree are in one brick of this many bytes. */
#define PLUG_BRICK_SIZE 4096

/** Decode a node; its @p bytes begin PLUG_NODE_SIZE before the plug. */
static inline struct plug_and_gap plug_and_gap_from(const uint8_t bytes[PLUG_NODE_SIZE])
{
	uint32_t children = load_u32(bytes + 16);
	return (struct plug_and_gap){
		.gap = load_u64(bytes),
		/* The low bits are flags (node_realigned, node_left_p). */
		.distance = (int64_t)(load_u64(bytes + 8) & ~(uint64_t)3),
		.left = (int16_t)children,
		.right = (int16_t)(children >> 16),
	};
}
