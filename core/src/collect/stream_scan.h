/* SPDX-License-Identifier: MIT */
#ifndef HEAPDUMP_SRC_COLLECT_STREAM_SCAN_H
#define HEAPDUMP_SRC_COLLECT_STREAM_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Watches a NetTrace stream (version 4) as it arrives: is the heap snapshot there, was anything of
 * it lost?  Looks at block framing, blob headers and the first words of a few payloads; whatever
 * has to be understood may be cut anywhere.
 */

/** The longest thing that is looked at in one piece. */
#define SCAN_ITEM_MAX ((size_t)256)

/** Threads whose sequence is followed; those of others are not checked. */
#define SCAN_THREADS_MAX ((size_t)4096)

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

/** Events that matter, of the provider Microsoft-Windows-DotNETRuntime. */
enum scan_event {
	SCAN_OTHER,
	SCAN_GC_START,
	SCAN_GC_END,
	SCAN_NODES,
	SCAN_EDGES
};

struct scan_thread {
	uint64_t id;
	uint32_t last; /**< sequence number of its last event */
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
	/* state of compressed blob headers */
	uint32_t metadata_id, sequence, payload_size;
	uint64_t thread;
	/* what is known of the trace */
	uint8_t *events; /**< pages: enum scan_event by metadata id */
	size_t events_capacity;
	struct scan_thread *threads; /**< pages */
	size_t threads_count, threads_capacity;
	size_t thread_at;     /**< the one that was met last */
	uint64_t event_count; /**< blobs that are no metadata */
	/* the snapshot */
	bool has_nodes;
	uint64_t walk_thread;                       /**< whose events they are */
	uint64_t objects, references;               /**< as counted by its events */
	uint64_t coming_objects, coming_references; /**< of the event whose rest is to come */
	uint32_t next_node, next_edge;              /**< numbers of the events to come */
	bool is_done;                               /**< the GCEnd behind it was met */
	bool is_lost; /**< events of it are missing: known at the end of the stream alone */
	bool is_lost_elsewhere; /**< events of other threads are missing */
	uint64_t lost_events;
	uint64_t behind;     /**< bytes of events of its thread behind it */
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
