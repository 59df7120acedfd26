/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/scan_snapshot.h"

/*
 * Reads a NetTrace stream (version 4) as it arrives, in pieces that may be cut anywhere: decodes
 * blocks and blob headers, and hands their contents to the snapshot (scan_snapshot.h).
 */

/** The longest part that is decoded in one piece. */
#define SCAN_ITEM_MAX ((size_t)256)

enum scan_state {
	SCAN_HEADER,
	SCAN_OBJECT, /**< tag of an object, or the end */
	SCAN_TRACE,
	SCAN_BLOCK_SIZE,
	SCAN_BLOCK_HEADER,
	SCAN_BLOB,
	SCAN_POINTS_HEADER, /**< header of an SPBlock */
	SCAN_POINT,
	SCAN_BLOCK_END, /**< tag 6 */
	SCAN_END,       /**< the stream is complete */
	SCAN_BAD        /**< it breaks the format: see problem */
};

/** Begins with all zeros; to be given to stream_scan_deinit(). */
struct stream_scan {
	enum scan_state state;
	uint64_t offset; /**< bytes of the stream that were consumed */
	uint64_t skip;   /**< bytes to skip */
	uint8_t held[SCAN_ITEM_MAX];
	size_t held_size;
	/* the block */
	uint8_t block_kind;  /**< 'E' 'M' 'P' (SPBlock), 'S' (others) */
	uint64_t block_left; /**< bytes of the block that were not consumed yet */
	uint32_t points_left;
	struct scan_blob blob; /**< header of the last blob; the next one is relative to it */
	struct scan_snapshot snapshot;
	const char *problem; /**< for SCAN_BAD; static */
};

/**
 * Take the next bytes.
 *
 * @return false when memory is exhausted
 */
bool stream_scan_feed(struct stream_scan *scan, const uint8_t *bytes, size_t size);

void stream_scan_deinit(struct stream_scan *scan);
