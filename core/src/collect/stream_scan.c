/* SPDX-License-Identifier: MIT */
#include "collect/stream_scan.h"

#include <string.h>

#include "util/alloc.h"

/* Looks at the events of a stream: is the heap snapshot there, and was a part of it lost? */

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
static bool scan_snapshot_metadata(struct scan_snapshot *snapshot, const uint8_t *payload,
				   size_t size)
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

/*
 * Take an event with the first 16 bytes of its payload, or all; returns as
 * scan_snapshot_metadata().
 */
static bool scan_snapshot_event(struct scan_snapshot *snapshot, const struct scan_blob *blob,
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

/* Take what a sequence point says about a thread; returns as scan_snapshot_metadata(). */
static bool scan_snapshot_point(struct scan_snapshot *snapshot, uint64_t thread, uint32_t sequence)
{
	return follow_thread(snapshot, thread, sequence, false);
}

/* The rest of the event that was taken last has arrived: count its objects and references. */
static void scan_snapshot_step(struct scan_snapshot *snapshot)
{
	snapshot->objects += snapshot->coming_objects;
	snapshot->references += snapshot->coming_references;
	snapshot->coming_objects = snapshot->coming_references = 0;
}

static void scan_snapshot_deinit(struct scan_snapshot *snapshot)
{
	pages_free(snapshot->kinds, snapshot->kinds_capacity, 1);
	pages_free(snapshot->threads.rows, snapshot->threads.rows_capacity,
		   sizeof(*snapshot->threads.rows));
}

/*
 * NetTraceFormat.md (perfview) and ep-block.c, ep-stream.c (dotnet/runtime): the containers and
 * blob headers that the runtime writes.
 */

#define STREAM_HEADER_SIZE ((size_t)32)
#define TRACE_SIZE         ((size_t)48)
#define NAME_MAX_SIZE      ((size_t)32)
#define BLOCK_MAX          ((uint64_t)1 << 30)
#define EVENT_HEAD         ((size_t)16) /* bytes of an event's payload: everything that is used */
#define METADATA_HEAD      ((size_t)72) /* id, provider, event id */

/* Why an item cannot be taken: its bytes are not complete yet, or never will be. */
#define MORE ((size_t)0)

/* The available bytes. */
struct view {
	const uint8_t *bytes;
	size_t size, at;
	bool is_short, is_bad;
};

static uint32_t u32_at(const uint8_t *bytes)
{
	uint32_t value;
	memcpy(&value, bytes, sizeof(value));
	return value;
}

static uint64_t u64_at(const uint8_t *bytes)
{
	uint64_t value;
	memcpy(&value, bytes, sizeof(value));
	return value;
}

static size_t bad(struct stream_scan *scan, const char *problem)
{
	scan->state = SCAN_BAD;
	scan->problem = problem;
	return MORE;
}

static size_t take_header(struct stream_scan *scan, const struct view *view)
{
	static const char magic[] = "Nettrace\x14\0\0\0!FastSerialization.1";
	size_t have = view->size < STREAM_HEADER_SIZE ? view->size : STREAM_HEADER_SIZE;
	if (memcmp(view->bytes, magic, have) != 0)
		return bad(scan, "it does not begin like a NetTrace stream");
	if (have < STREAM_HEADER_SIZE)
		return MORE;
	scan->state = SCAN_OBJECT;
	return STREAM_HEADER_SIZE;
}

static bool name_is(const uint8_t *bytes, uint32_t size, const char *name)
{
	return strlen(name) == size && memcmp(bytes, name, size) == 0;
}

/* Tags 5 5 1, version, reader's version, name, tag 6; or tag 1: the end. */
static size_t take_object(struct stream_scan *scan, const struct view *view)
{
	static const uint8_t tags[] = { 5, 5, 1 };
	if (view->bytes[0] == 1) {
		scan->state = SCAN_END;
		return 1;
	}
	size_t have = view->size < sizeof(tags) ? view->size : sizeof(tags);
	if (memcmp(view->bytes, tags, have) != 0)
		return bad(scan, "a block does not begin with an object tag");
	if (view->size < 15)
		return MORE;
	uint32_t size = u32_at(view->bytes + 11);
	if (size > NAME_MAX_SIZE)
		return bad(scan, "the name of a block is too long");
	if (view->size < 16 + (size_t)size)
		return MORE;
	const uint8_t *name = view->bytes + 15;
	if (name[size] != 6)
		return bad(scan, "the type of a block does not end");
	scan->state = name_is(name, size, "Trace") ? SCAN_TRACE : SCAN_BLOCK_SIZE;
	scan->block_kind = name_is(name, size, "EventBlock")      ? 'E'
			   : name_is(name, size, "MetadataBlock") ? 'M'
			   : name_is(name, size, "SPBlock")       ? 'P'
								  : 'S';
	return 16 + (size_t)size;
}

static size_t take_trace(struct stream_scan *scan)
{
	scan->skip = TRACE_SIZE;
	scan->state = SCAN_BLOCK_END;
	scan->block_left = 0;
	return MORE;
}

static size_t take_block_size(struct stream_scan *scan, const struct view *view)
{
	if (view->size < 4)
		return MORE;
	uint32_t size = u32_at(view->bytes);
	if (size > BLOCK_MAX)
		return bad(scan, "the size of a block is not valid");
	scan->block_left = size;
	scan->skip = (4 - (scan->offset + 4) % 4) % 4;
	scan->state = scan->block_kind == 'P'   ? SCAN_POINTS_HEADER
		      : scan->block_kind == 'S' ? SCAN_BLOCK_END
						: SCAN_BLOCK_HEADER;
	if (scan->block_kind == 'S')
		scan->skip += size;
	return 4;
}

static size_t take_block_header(struct stream_scan *scan, const struct view *view)
{
	if (scan->block_left < 4)
		return bad(scan, "a block is shorter than its header");
	if (view->size < 4)
		return MORE;
	uint32_t word = u32_at(view->bytes);
	uint32_t size = word & 0xffff;
	if (size < 4 || size > scan->block_left)
		return bad(scan, "a block is shorter than its header");
	if (!(word >> 16 & 1))
		return bad(scan, "its events have headers that no runtime writes");
	scan->block_left -= size;
	scan->skip = size - 4;
	scan->blob = (struct scan_blob){ 0 };
	scan->state = scan->block_left ? SCAN_BLOB : SCAN_BLOCK_END;
	return 4;
}

static uint64_t take_var(struct view *view)
{
	uint64_t value = 0;
	for (unsigned int shift = 0; shift < 64; shift += 7) {
		if (view->at >= view->size) {
			view->is_short = true;
			return 0;
		}
		uint8_t byte = view->bytes[view->at++];
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	view->is_bad = true;
	return 0;
}

/* Go from the header of one blob to that of the next. */
static void take_blob_header(struct view *view, struct scan_blob *blob)
{
	if (!view->size) {
		view->is_short = true;
		return;
	}
	uint8_t flags = view->bytes[view->at++];
	if (flags & 1)
		blob->metadata_id = (uint32_t)take_var(view);
	if (flags & 2) {
		blob->sequence += (uint32_t)take_var(view);
		blob->thread = take_var(view);
		(void)take_var(view);
	}
	if (blob->metadata_id)
		blob->sequence++;
	if (flags & 4)
		(void)take_var(view);
	if (flags & 8)
		(void)take_var(view);
	(void)take_var(view);
	view->at += (flags & 16 ? 16u : 0u) + (flags & 32 ? 16u : 0u);
	if (flags & 128)
		blob->payload_size = (uint32_t)take_var(view);
	if (view->at > view->size)
		view->is_short = true;
}

/* A header and as much of the payload as matters; the rest is skipped. */
static size_t take_blob(struct stream_scan *scan, struct view *view, bool *ret_nomem)
{
	/* Kept only when its head is complete. */
	struct scan_blob blob = scan->blob;
	take_blob_header(view, &blob);
	if (view->is_short && !view->is_bad && view->size < scan->block_left)
		return MORE;
	if (view->is_short || view->is_bad || view->at > scan->block_left ||
	    blob.payload_size > scan->block_left - view->at)
		return bad(scan, "an event runs past its block");
	bool is_metadata = scan->block_kind == 'M' || !blob.metadata_id;
	size_t head = is_metadata ? METADATA_HEAD : EVENT_HEAD;
	if (head > blob.payload_size)
		head = blob.payload_size;
	if (view->size - view->at < head)
		return MORE;
	scan->blob = blob;
	const uint8_t *payload = view->bytes + view->at;
	*ret_nomem = is_metadata ? !scan_snapshot_metadata(&scan->snapshot, payload, head)
				 : !scan_snapshot_event(&scan->snapshot, &blob, payload, head);
	scan->skip = blob.payload_size - head;
	scan->block_left -= view->at + blob.payload_size;
	if (!scan->block_left)
		scan->state = SCAN_BLOCK_END;
	return view->at + head;
}

/* i64 time, i32 count, count x { i64 thread, i32 last sequence number } */
static size_t take_points_header(struct stream_scan *scan, const struct view *view)
{
	if (scan->block_left < 12)
		return bad(scan, "a sequence point is shorter than its header");
	if (view->size < 12)
		return MORE;
	uint32_t count = u32_at(view->bytes + 8);
	if (count > (scan->block_left - 12) / 12)
		return bad(scan, "a sequence point has more threads than it holds");
	scan->points_left = count;
	scan->block_left -= 12;
	scan->state = SCAN_POINT;
	return 12;
}

static size_t take_point(struct stream_scan *scan, const struct view *view, bool *ret_nomem)
{
	if (!scan->points_left) {
		scan->skip = scan->block_left;
		scan->state = SCAN_BLOCK_END;
		return MORE;
	}
	if (view->size < 12)
		return MORE;
	*ret_nomem =
		!scan_snapshot_point(&scan->snapshot, u64_at(view->bytes), u32_at(view->bytes + 8));
	scan->points_left--;
	scan->block_left -= 12;
	return 12;
}

static size_t take_block_end(struct stream_scan *scan, const struct view *view)
{
	if (view->bytes[0] != 6)
		return bad(scan, "a block does not end where its size says");
	scan->state = SCAN_OBJECT;
	return 1;
}

/* Take one item; MORE when it is not complete, or when only the state has changed. */
static size_t take_scan_item(struct stream_scan *scan, struct view *view, bool *ret_nomem)
{
	scan_snapshot_step(&scan->snapshot);
	switch (scan->state) {
	case SCAN_HEADER:
		return take_header(scan, view);
	case SCAN_OBJECT:
		return take_object(scan, view);
	case SCAN_TRACE:
		return take_trace(scan);
	case SCAN_BLOCK_SIZE:
		return take_block_size(scan, view);
	case SCAN_BLOCK_HEADER:
		return take_block_header(scan, view);
	case SCAN_BLOB:
		return take_blob(scan, view, ret_nomem);
	case SCAN_POINTS_HEADER:
		return take_points_header(scan, view);
	case SCAN_POINT:
		return take_point(scan, view, ret_nomem);
	case SCAN_BLOCK_END:
		return take_block_end(scan, view);
	case SCAN_END:
	case SCAN_BAD:
		break;
	}
	return MORE;
}

/* Append the next bytes to those that are held. */
static size_t hold_bytes(struct stream_scan *scan, const uint8_t *bytes, size_t size)
{
	size_t room = SCAN_ITEM_MAX - scan->held_size;
	size_t more = size < room ? size : room;
	memcpy(scan->held + scan->held_size, bytes, more);
	scan->held_size += more;
	return more;
}

static bool is_over(const struct stream_scan *scan)
{
	return scan->state == SCAN_END || scan->state == SCAN_BAD;
}

/*
 * Take items from @p bytes until the next one is not complete; returns the number of bytes
 * consumed, with skipped ones.  For items that begin in the held bytes, *@p limit stops after the
 * first.
 */
static size_t scan_items(struct stream_scan *scan, const uint8_t *bytes, size_t size, bool only_one,
			 bool *ret_nomem)
{
	size_t at = 0;
	while (at < size && !is_over(scan)) {
		if (scan->skip) {
			size_t left = size - at;
			size_t step = scan->skip < left ? (size_t)scan->skip : left;
			scan->skip -= step;
			scan->offset += step;
			at += step;
			continue;
		}
		struct view view = { .bytes = bytes + at, .size = size - at };
		enum scan_state state = scan->state;
		size_t used = take_scan_item(scan, &view, ret_nomem);
		at += used;
		scan->offset += used;
		if (*ret_nomem || (!used && state == scan->state) || (used && only_one))
			break;
	}
	return at;
}

bool stream_scan_feed(struct stream_scan *scan, const uint8_t *bytes, size_t size)
{
	bool nomem = false;
	while (size && !is_over(scan) && !nomem) {
		if (!scan->held_size) {
			size_t used = scan_items(scan, bytes, size, false, &nomem);
			bytes += used;
			size -= used;
			if (!size || is_over(scan))
				break;
			/* The rest is the beginning of an item that is not complete. */
			if (size >= SCAN_ITEM_MAX && !nomem) {
				(void)bad(scan, "something in it is longer than it can be");
				break;
			}
			(void)hold_bytes(scan, bytes, size);
			break;
		}
		size_t before = scan->held_size;
		size_t more = hold_bytes(scan, bytes, size);
		size_t used = scan_items(scan, scan->held, scan->held_size, true, &nomem);
		if (used >= before) {
			/* Go on in the caller's bytes, after the item. */
			bytes += used - before;
			size -= used - before;
			scan->held_size = 0;
			continue;
		}
		memmove(scan->held, scan->held + used, scan->held_size - used);
		scan->held_size -= used;
		bytes += more;
		size -= more;
		if (!used && scan->held_size == SCAN_ITEM_MAX && !is_over(scan))
			(void)bad(scan, "something in it is longer than it can be");
	}
	return !nomem;
}

void stream_scan_deinit(struct stream_scan *scan)
{
	scan_snapshot_deinit(&scan->snapshot);
	*scan = (struct stream_scan){ 0 };
}
