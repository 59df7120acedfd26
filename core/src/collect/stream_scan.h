/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Looks at the events of a stream in the order in which they arrive: is the heap snapshot there,
 * and was a part of it lost?  Looks at the sequence numbers of threads and the first words of a few
 * payloads.
 */

/** Most threads whose sequence numbers are checked; those of further threads are not. */
#define SCAN_THREADS_MAX ((size_t)4096)

/** Events that matter, of the provider Microsoft-Windows-DotNETRuntime. */
enum scan_event {
	SCAN_OTHER,
	SCAN_GC_START,
	SCAN_GC_END,
	SCAN_NODES,
	SCAN_EDGES
};

/** The values in the header of an event. */
struct scan_blob {
	uint32_t metadata_id, sequence, payload_size;
	uint64_t thread;
};

struct scan_thread {
	uint64_t id;
	uint32_t last; /**< sequence number of its last event */
};

struct scan_threads {
	struct scan_thread *rows; /**< pages */
	size_t rows_count, rows_capacity;
	size_t last; /**< index of the thread of the last event */
};

/** Zero-initialised; to be given to scan_snapshot_deinit(). */
struct scan_snapshot {
	uint8_t *kinds; /**< pages: enum scan_event by metadata id */
	size_t kinds_capacity;
	struct scan_threads threads;
	uint64_t event_count;                       /**< blobs that are not metadata */
	bool has_nodes;                             /**< an event with nodes was seen */
	uint64_t walk_thread;                       /**< the thread that sends these events */
	uint64_t objects, references;               /**< as counted by its events */
	uint64_t coming_objects, coming_references; /**< those of an event whose rest has not
						     * arrived yet */
	uint32_t next_node, next_edge;              /**< numbers of the next events */
	bool is_done;                               /**< the GCEnd after it was seen */
	bool is_lost; /**< some of its events are missing; this is only known at the end of the
		       * stream */
	bool is_lost_elsewhere; /**< events of other threads are missing */
	uint64_t lost_events;
	uint64_t behind; /**< bytes of events that its thread sent after it */
};

/*
 * Reads a NetTrace stream (version 4) as it arrives, in pieces that may be cut anywhere: decodes
 * blocks and blob headers, and hands their contents to the snapshot.
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
