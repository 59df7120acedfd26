/* SPDX-License-Identifier: MIT */
/* Looks at the events of a stream: is the heap snapshot there, and was a part of it lost? */
#include "collect/scan_snapshot.h"

#include <string.h>

#include "util/alloc.h"

#define THREAD_BUFFER_MAX ((uint64_t)1 << 20) /* bytes of a thread's events (ep-buffer-manager.c) */
#define METADATA_ID_MAX   ((uint32_t)1 << 16)

static uint32_t payload_u32(const uint8_t *bytes)
{
	uint32_t value;
	memcpy(&value, bytes, sizeof(value));
	return value;
}

static uint8_t event_of(uint32_t id)
{
	switch (id) {
	case 1:
		return SCAN_GC_START;
	case 2:
		return SCAN_GC_END;
	case 18:
		return SCAN_NODES;
	case 19:
		return SCAN_EDGES;
	default:
		return SCAN_OTHER;
	}
}

static bool set_event(struct scan_snapshot *snapshot, uint32_t id, uint8_t event)
{
	if (id >= METADATA_ID_MAX || (event == SCAN_OTHER && id >= snapshot->kinds_capacity))
		return true;
	if (id >= snapshot->kinds_capacity) {
		size_t capacity = (size_t)id + 64;
		uint8_t *events =
			pages_resize(snapshot->kinds, snapshot->kinds_capacity, capacity, 1);
		if (!events)
			return false;
		snapshot->kinds = events;
		snapshot->kinds_capacity = capacity;
	}
	snapshot->kinds[id] = event;
	return true;
}

/* i32 id, provider as UTF-16 that ends with 0, i32 event id, ... */
bool scan_snapshot_metadata(struct scan_snapshot *snapshot, const uint8_t *payload, size_t size)
{
	static const char provider[] = "Microsoft-Windows-DotNETRuntime";
	if (size < 4 + 2 * sizeof(provider) + 4)
		return true;
	for (size_t i = 0; i < sizeof(provider); i++) {
		if (payload[4 + 2 * i] != (uint8_t)provider[i] || payload[5 + 2 * i])
			return true;
	}
	return set_event(snapshot, payload_u32(payload),
			 event_of(payload_u32(payload + 4 + 2 * sizeof(provider))));
}

/* The thread with that id; NULL when there are too many, or memory is exhausted (*@p ret_nomem). */
static struct scan_thread *find_thread(struct scan_threads *threads, uint64_t id, bool *ret_nomem)
{
	if (threads->last < threads->rows_count && threads->rows[threads->last].id == id)
		return &threads->rows[threads->last];
	for (size_t i = 0; i < threads->rows_count; i++) {
		if (threads->rows[i].id == id) {
			threads->last = i;
			return &threads->rows[i];
		}
	}
	if (threads->rows_count >= SCAN_THREADS_MAX)
		return NULL;
	if (!PAGES_RESERVE(threads, rows)) {
		*ret_nomem = true;
		return NULL;
	}
	threads->last = threads->rows_count;
	threads->rows[threads->rows_count] = (struct scan_thread){ .id = id };
	return &threads->rows[threads->rows_count++];
}

/*
 * Note that thread @p id has reached the number @p sequence, with this event or before a sequence
 * point.
 */
static bool follow_thread(struct scan_snapshot *snapshot, uint64_t id, uint32_t sequence,
			  bool is_event)
{
	bool nomem = false;
	struct scan_thread *thread = find_thread(&snapshot->threads, id, &nomem);
	if (!thread)
		return !nomem;
	uint32_t missing = sequence - thread->last - (is_event ? 1 : 0);
	if (missing > INT32_MAX) { /* an SPBlock may have a smaller number, or a new thread has the
				    * old id */
		if (is_event)
			thread->last = sequence;
		return true;
	}
	thread->last = sequence;
	/*
	 * A buffer counts its events from the number of its first one (ep-buffer-manager.c), and
	 * small events still fit into it after large ones were dropped.  So events that the walk
	 * has lost may only be noticed after its GCEnd, where the thread's next buffer begins.
	 * Events lost after that belong to the next collection.
	 */
	if (!missing || (snapshot->is_done &&
			 (id != snapshot->walk_thread || snapshot->behind >= THREAD_BUFFER_MAX)))
		return true;
	/* Before the first node, any thread may be the one that will walk the heap. */
	bool is_walk = !snapshot->has_nodes || id == snapshot->walk_thread;
	snapshot->lost_events += missing;
	if (is_walk) {
		snapshot->is_lost = true;
	} else {
		snapshot->is_lost_elsewhere = true;
	}
	return true;
}

/* GCBulkNode and GCBulkEdge: u32 number of the event, u32 how many it has. */
static void take_bulk(struct scan_snapshot *snapshot, uint64_t thread, const uint8_t *payload,
		      bool is_nodes)
{
	uint32_t index = payload_u32(payload), count = payload_u32(payload + 4);
	uint32_t *next = is_nodes ? &snapshot->next_node : &snapshot->next_edge;
	if (!snapshot->has_nodes)
		snapshot->walk_thread = thread;
	snapshot->has_nodes = true;
	if (index != *next)
		snapshot->is_lost = true;
	*next = index + 1;
	*(is_nodes ? &snapshot->coming_objects : &snapshot->coming_references) = count;
}

bool scan_snapshot_event(struct scan_snapshot *snapshot, const struct scan_blob *blob,
			 const uint8_t *payload, size_t size)
{
	snapshot->event_count++;
	if (!follow_thread(snapshot, blob->thread, blob->sequence, true))
		return false;
	uint8_t kind = blob->metadata_id < snapshot->kinds_capacity
			       ? snapshot->kinds[blob->metadata_id]
			       : (uint8_t)SCAN_OTHER;
	if (snapshot->is_done && blob->thread == snapshot->walk_thread)
		snapshot->behind += blob->payload_size;
	if (kind == SCAN_OTHER || snapshot->is_done)
		return true;
	if ((kind == SCAN_NODES || kind == SCAN_EDGES) && size >= 8)
		take_bulk(snapshot, blob->thread, payload, kind == SCAN_NODES);
	if (kind == SCAN_GC_END)
		snapshot->is_done = snapshot->has_nodes;
	return true;
}

bool scan_snapshot_point(struct scan_snapshot *snapshot, uint64_t thread, uint32_t sequence)
{
	return follow_thread(snapshot, thread, sequence, false);
}

void scan_snapshot_step(struct scan_snapshot *snapshot)
{
	snapshot->objects += snapshot->coming_objects;
	snapshot->references += snapshot->coming_references;
	snapshot->coming_objects = snapshot->coming_references = 0;
}

void scan_snapshot_deinit(struct scan_snapshot *snapshot)
{
	pages_free(snapshot->kinds, snapshot->kinds_capacity, 1);
	pages_free(snapshot->threads.rows, snapshot->threads.rows_capacity,
		   sizeof(*snapshot->threads.rows));
}
