/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_COLLECT_STREAM_SCAN_H
#define HEAPDUMP_SRC_COLLECT_STREAM_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/scan_snapshot.h"

/*
 * Watches a NetTrace stream (version 4) as it arrives: takes blocks and blob headers apart, which
 * may be cut anywhere, and hands what they hold to the snapshot (scan_snapshot.h).
 */

/** The longest thing that is looked at in one piece. */
#define SCAN_ITEM_MAX ((size_t)256)

enum scan_state {
	SCAN_HEADER,
	SCAN_OBJECT, /**< tag of an object, or the end */
	SCAN_TRACE,
	SCAN_BLOCK_SIZE,
	SCAN_BLOCK_HEADER,
	SCAN_BLOB,
	SCAN_POINTS_HEADER, /**< of an SPBlock */
	SCAN_POINT,
	SCAN_BLOCK_END, /**< tag 6 */
	SCAN_END,       /**< the stream is whole */
	SCAN_BAD        /**< it breaks the format: see problem */
};

/** Zero-initialised but for nothing; to be given to stream_scan_deinit(). */
struct stream_scan {
	enum scan_state state;
	uint64_t offset; /**< of the stream: what has been consumed */
	uint64_t skip;   /**< bytes to pass over unseen */
	uint8_t held[SCAN_ITEM_MAX];
	size_t held_size;
	/* the block */
	uint8_t block_kind;  /**< 'E' 'M' 'P' (SPBlock), 'S' (others) */
	uint64_t block_left; /**< bytes of it that were not consumed */
	uint32_t points_left;
	struct scan_blob blob; /**< the last one's header, which the next continues */
	struct scan_snapshot snapshot;
	const char *problem; /**< static, of SCAN_BAD */
};

/**
 * Take the next bytes.
 *
 * @return false when memory is exhausted
 */
bool stream_scan_feed(struct stream_scan *scan, const uint8_t *bytes, size_t size);

void stream_scan_deinit(struct stream_scan *scan);

#endif
