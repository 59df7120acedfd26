/* SPDX-License-Identifier: MIT */
#include "format/nettrace/nettrace_snapshot.h"

#include <inttypes.h>

#include "util/alloc.h"
#include "util/sort.h"

/* Values in a GCStart event: generation, reason, type. */
#define ALL_GENERATIONS 2u
#define REASON_INDUCED  1u
#define TYPE_BLOCKING   0u

/* Most bytes of a thread's events in one buffer (ep-buffer-manager.c). */
#define THREAD_BUFFER_MAX ((uint64_t)1 << 20)

/* The meaning of an event for a heap snapshot, and its smallest size. */
static const struct {
	enum nt_provider provider;
	uint32_t event;
	enum nt_kind kind;
	uint32_t size;
} kinds[] = {
	{ NT_RUNTIME, 1, NT_GC_START, 4 },
	{ NT_RUNTIME, 2, NT_GC_END, 4 },
	{ NT_RUNTIME, 15, NT_TYPES, 6 },
	{ NT_RUNTIME, 16, NT_ROOTS, 10 },
	{ NT_RUNTIME, 17, NT_WEAK_TABLES, 10 },
	{ NT_RUNTIME, 18, NT_NODES, 10 },
	{ NT_RUNTIME, 19, NT_EDGES, 10 },
	{ NT_RUNTIME, 23, NT_RANGE, 9 },
	{ NT_RUNTIME, 36, NT_CCWS, 6 },
	{ NT_RUNTIME, 37, NT_RCWS, 6 },
	{ NT_RUNTIME, 38, NT_STATICS, 14 },
	{ NT_RUNTIME, 149, NT_MODULE, 24 },
	{ NT_RUNTIME, 150, NT_MODULE, 24 },
	{ NT_RUNTIME, 152, NT_MODULE, 24 },
	{ NT_RUNTIME, 153, NT_MODULE, 24 },
	{ NT_RUNDOWN, 153, NT_MODULE_RUNDOWN, 24 },
	{ NT_RUNDOWN, 154, NT_MODULE_RUNDOWN, 24 },
	{ NT_RUNDOWN, 146, NT_RUNDOWN_END, 0 },
	{ NT_RUNDOWN, 157, NT_DOMAIN, 14 },
	{ NT_RUNDOWN, 158, NT_DOMAIN, 14 },
	{ NT_EVENT_PIPE, 1, NT_PROCESS, 2 },
};

static enum hd_status add_item(struct nt_trace *trace, const struct nt_item *item)
{
	if (trace->items_count == trace->items_capacity) {
		uint64_t bytes = (uint64_t)trace->items_capacity * 2 * sizeof(*item);
		TRY(job_check_memory(trace->stream.job, bytes, trace->stream.err));
		if (trace->items_count >= UINT32_MAX / 2) {
			return fail(trace->stream.err, HD_ERR_UNSUPPORTED, 0,
				    "%s: over 2 billion events of heap snapshots",
				    trace->stream.path);
		}
	}
	TRY_MEMORY(PAGES_RESERVE(trace, items), trace->stream.err);
	trace->items[trace->items_count++] = *item;
	return HD_OK;
}

bool nt_item_of(const struct nt_event *event, struct nt_item *ret)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (kinds[i].provider != event->metadata->provider ||
		    kinds[i].event != event->metadata->event || event->size < kinds[i].size)
			continue;
		*ret = (struct nt_item){ .payload = event->payload,
					 .time = event->time,
					 .thread = event->thread,
					 .size = event->size,
					 .pid = event->pid,
					 .interval = event->interval,
					 .kind = (uint16_t)kinds[i].kind };
		return true;
	}
	return false;
}

static enum hd_status take_snapshot_event(void *arg, const struct nt_event *event)
{
	struct nt_item item;
	return nt_item_of(event, &item) ? add_item(arg, &item) : HD_OK;
}

static enum hd_status take_loss(void *arg, const struct nt_loss *loss)
{
	const struct nt_item item = { .time = loss->time,
				      .thread = loss->thread,
				      .size = loss->count < UINT32_MAX ? (uint32_t)loss->count
								       : UINT32_MAX,
				      .pid = loss->pid,
				      .interval = loss->interval,
				      .kind = NT_LOST };
	return add_item(arg, &item);
}

static uint64_t item_group(const struct nt_item *item)
{
	return (uint64_t)item->pid << 32 | item->interval;
}

static bool is_in_order(const struct nt_trace *trace)
{
	for (size_t i = 1; i < trace->items_count; i++) {
		const struct nt_item *before = &trace->items[i - 1], *item = &trace->items[i];
		uint64_t a = item_group(before), b = item_group(item);
		if (a > b || (a == b && before->time > item->time))
			return false;
	}
	return true;
}

/* Sort by process, sequence points and time; equal ones keep their order. */
static bool sort_items(struct nt_trace *trace)
{
	uint32_t count = (uint32_t)trace->items_count;
	uint64_t *keys = pages_alloc(count, sizeof(*keys));
	uint32_t *by_time = pages_alloc(count, sizeof(*by_time));
	uint32_t *order = pages_alloc(count, sizeof(*order));
	struct nt_item *items = pages_alloc(trace->items_capacity, sizeof(*items));
	bool made = keys && by_time && order && items;
	for (uint32_t i = 0; made && i < count; i++)
		keys[i] = trace->items[i].time;
	made = made && sort_keys(keys, by_time, count);
	for (uint32_t i = 0; made && i < count; i++)
		keys[i] = item_group(&trace->items[by_time[i]]);
	made = made && sort_keys(keys, order, count);
	if (made) {
		for (uint32_t i = 0; i < count; i++)
			items[i] = trace->items[by_time[order[i]]];
		struct nt_item *old = trace->items;
		trace->items = items;
		items = old;
	}
	pages_free(items, trace->items_capacity, sizeof(*items));
	pages_free(keys, count, sizeof(*keys));
	pages_free(by_time, count, sizeof(*by_time));
	pages_free(order, count, sizeof(*order));
	return made;
}

bool nt_is_of_walk(uint32_t kind)
{
	return kind == NT_ROOTS || kind == NT_WEAK_TABLES || kind == NT_NODES || kind == NT_EDGES ||
	       kind == NT_STATICS || kind == NT_CCWS || kind == NT_RCWS;
}

/* Begin with @p item. */
static void begin_window(struct nt_window *window, const struct nt_item *item)
{
	bool has_start = item->kind == NT_GC_START;
	*window = (struct nt_window){ .is_open = true,
				      .has_start = has_start,
				      .number = has_start ? load_u32(item->payload) : 0 };
}

struct nt_window_step nt_window_step(struct nt_window *window, const struct nt_item *item)
{
	struct nt_window_step step = { 0 };
	if (item->kind == NT_GC_START) {
		step.ends_before = window->is_open;
		step.begins = true;
	} else if (item->kind == NT_GC_END) {
		step.ends_with = window->is_open &&
				 (!window->has_start || window->number == load_u32(item->payload));
		window->is_open = window->is_open && !step.ends_with;
	} else if (nt_is_of_walk(item->kind)) {
		/* The GCStart between them may be lost. */
		step.ends_before = window->is_open && window->has_nodes && item->kind == NT_NODES &&
				   !load_u32(item->payload);
		step.begins = step.ends_before || !window->is_open;
	}
	if (step.begins)
		begin_window(window, item);
	window->has_nodes = window->has_nodes || item->kind == NT_NODES;
	return step;
}

/* The current snapshot: since the last GCStart. */
struct event_window {
	struct nt_trace *trace;
	struct nt_snapshot snapshot;
	struct nt_window window;
	uint64_t thread; /* of the nodes */
};

static enum hd_status close_window(struct event_window *window, const struct nt_window *closed,
				   size_t end, bool has_end)
{
	struct nt_trace *trace = window->trace;
	if (!closed->has_nodes)
		return HD_OK;
	TRY_MEMORY(PAGES_RESERVE(trace, snapshots), trace->stream.err);
	window->snapshot.end = end;
	window->snapshot.has_start = closed->has_start;
	window->snapshot.has_end = has_end;
	window->snapshot.thread = window->thread;
	trace->snapshots[trace->snapshots_count++] = window->snapshot;
	return HD_OK;
}

static void open_window(struct event_window *window, size_t first)
{
	const struct nt_item *item = &window->trace->items[first];
	window->snapshot =
		(struct nt_snapshot){ .first = first, .pid = item->pid, .time = item->time };
	if (item->kind == NT_GC_START && item->size >= 16) {
		window->snapshot.is_induced = load_u32(item->payload + 4) >= ALL_GENERATIONS &&
					      load_u32(item->payload + 8) == REASON_INDUCED &&
					      load_u32(item->payload + 12) == TYPE_BLOCKING;
	}
}

static enum hd_status window_item(struct event_window *window, size_t index)
{
	const struct nt_item *item = &window->trace->items[index];
	const struct nt_window before = window->window;
	const struct nt_window_step step = nt_window_step(&window->window, item);
	if (step.ends_before)
		TRY(close_window(window, &before, index, false));
	if (step.begins)
		open_window(window, index);
	if (item->kind == NT_NODES)
		window->thread = item->thread;
	return step.ends_with ? close_window(window, &before, index + 1, true) : HD_OK;
}

/*
 * Count what was lost of a snapshot.  A buffer counts its events from the number of its first one
 * (ep-buffer-manager.c), and a small event still fits into it after a large one was dropped.  So
 * the gap is only seen where the thread's next buffer begins, which may be after the GCEnd.
 */
static void count_lost(struct nt_trace *trace, size_t index)
{
	struct nt_snapshot *snapshot = &trace->snapshots[index];
	size_t end = snapshot->process_end;
	if (index + 2 < trace->snapshots_count && trace->snapshots[index + 2].first < end)
		end = trace->snapshots[index + 2].first;
	uint64_t behind = 0;
	for (size_t i = snapshot->first; i < end && behind < THREAD_BUFFER_MAX; i++) {
		const struct nt_item *item = &trace->items[i];
		if (item->thread != snapshot->thread)
			continue;
		if (item->kind == NT_LOST) {
			snapshot->lost += item->size;
		} else if (i >= snapshot->end) {
			behind += item->size;
		}
	}
}

enum hd_status nt_trace_find(struct nt_trace *trace)
{
	struct event_window window = { .trace = trace };
	size_t process = 0, done = 0;
	for (size_t i = 0; i <= trace->items_count; i++) {
		if (i == trace->items_count || trace->items[i].pid != trace->items[process].pid) {
			if (window.window.is_open)
				TRY(close_window(&window, &window.window, i, false));
			window.window = (struct nt_window){ 0 };
			for (; done < trace->snapshots_count; done++) {
				trace->snapshots[done].process_first = process;
				trace->snapshots[done].process_end = i;
			}
			process = i;
		}
		if (i < trace->items_count)
			TRY(window_item(&window, i));
	}
	for (size_t i = 0; i < trace->snapshots_count; i++)
		count_lost(trace, i);
	return HD_OK;
}

enum hd_status nt_trace_read(const uint8_t *bytes, uint64_t size, const char *path, struct job *job,
			     struct nt_trace *ret, struct hd_error *err)
{
	*ret = (struct nt_trace){ .stream = { .bytes = bytes,
					      .size = size,
					      .path = path,
					      .job = job,
					      .err = err,
					      .event = take_snapshot_event,
					      .loss = take_loss,
					      .arg = ret } };
	TRY(nt_stream_read(&ret->stream));
	if (!is_in_order(ret) && !sort_items(ret))
		return fail_nomem(err);
	return nt_trace_find(ret);
}

void nt_trace_deinit(struct nt_trace *trace)
{
	nt_stream_deinit(&trace->stream);
	pages_free(trace->items, trace->items_capacity, sizeof(*trace->items));
	pages_free(trace->snapshots, trace->snapshots_capacity, sizeof(*trace->snapshots));
	*trace = (struct nt_trace){ 0 };
}

enum hd_status nt_trace_choose(const struct nt_trace *trace, uint32_t number, bool exact,
			       const struct nt_snapshot **ret, struct hd_error *err)
{
	const struct nt_stream *stream = &trace->stream;
	if (!trace->snapshots_count && stream->outcome.stopped) {
		return fail(err, HD_ERR_FORMAT, stream->outcome.stopped_at,
			    "%s: no heap snapshot in what can be read of it: offset %" PRIu64
			    ": %s",
			    stream->path, stream->outcome.stopped_at, stream->outcome.stopped);
	}
	if (!trace->snapshots_count) {
		return fail(err, HD_ERR_FORMAT, stream->size,
			    "%s: no heap snapshot in this trace: collect one with the keywords "
			    "0x1980001 of Microsoft-Windows-DotNETRuntime",
			    stream->path);
	}
	if (number > trace->snapshots_count) {
		return fail(err, HD_ERR_FORMAT, stream->size,
			    "%s: no heap snapshot %u: there %s %zu in this trace", stream->path,
			    number, trace->snapshots_count == 1 ? "is" : "are",
			    trace->snapshots_count);
	}
	*ret = &trace->snapshots[number ? number - 1 : 0];
	for (size_t i = 0; exact && !number && i < trace->snapshots_count; i++) {
		if (trace->snapshots[i].is_induced) {
			*ret = &trace->snapshots[i];
			break;
		}
	}
	return HD_OK;
}

struct nt_rows nt_rows(const struct nt_item *item, uint32_t head, uint32_t row_size)
{
	if (item->size < head)
		return (struct nt_rows){ .is_short = true };
	uint32_t count = load_u32(item->payload + head - 6), room = (item->size - head) / row_size;
	return (struct nt_rows){ .at = item->payload + head,
				 .count = count < room ? count : room,
				 .is_short = count > room };
}
