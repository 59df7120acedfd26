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

/**
 * Take a metadata blob.
 *
 * @param size Bytes of the payload that are given: 72, or all of them.
 * @return false when memory is exhausted
 */
bool scan_snapshot_metadata(struct scan_snapshot *snapshot, const uint8_t *payload, size_t size);
/**
 * Take an event with the first 16 bytes of its payload, or all; returns as
 * scan_snapshot_metadata().
 */
bool scan_snapshot_event(struct scan_snapshot *snapshot, const struct scan_blob *blob,
			 const uint8_t *payload, size_t size);
/** Take what a sequence point says about a thread; returns as scan_snapshot_metadata(). */
bool scan_snapshot_point(struct scan_snapshot *snapshot, uint64_t thread, uint32_t sequence);
/** The rest of the event that was taken last has arrived: count its objects and references. */
void scan_snapshot_step(struct scan_snapshot *snapshot);

void scan_snapshot_deinit(struct scan_snapshot *snapshot);
