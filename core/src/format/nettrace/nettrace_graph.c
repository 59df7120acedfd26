/* SPDX-License-Identifier: MIT */
/* Makes a graph of a snapshot. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "format/nettrace/nettrace_heap.h"
#include "util/alloc.h"
#include "util/arena.h"
#include "util/sort.h"
#include "util/text.h"

#define TICKS_PER_SECOND UINT64_C(10000000)
#define GENERATION_MAX   4u
/* A clock with more ticks per second would not fit into 64 bits with milliseconds. */
#define FREQUENCY_MAX UINT64_C(1000000000000)

static enum hd_status finding(struct hd_graph *graph, struct hd_error *err, enum finding_kind kind,
			      uint64_t count, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

static enum hd_status finding(struct hd_graph *graph, struct hd_error *err, enum finding_kind kind,
			      uint64_t count, const char *format, ...)
{
	char detail[512];
	va_list args;
	va_start(args, format);
	(void)vsnprintf(detail, sizeof(detail), format, args);
	va_end(args);
	return raw_graph_finding(graph, kind, count, detail, err);
}

enum hd_status nt_trace_findings(const struct nt_trace *trace, const struct nt_snapshot *snapshot,
				 struct hd_graph *graph, struct hd_error *err)
{
	const struct nt_stream *stream = &trace->stream;
	if (trace->snapshots_count > 1) {
		TRY(finding(graph, err, FINDING_SNAPSHOTS, trace->snapshots_count,
			    "heap snapshots in this trace; this is number %zu (process %u): choose "
			    "with --snapshot 1 to %zu",
			    (size_t)(snapshot - trace->snapshots) + 1, snapshot->pid,
			    trace->snapshots_count));
	}
	if (stream->outcome.lost) {
		const enum finding_kind kind =
			snapshot->lost ? FINDING_LOST_EVENTS : FINDING_OTHER_LOSSES;
		TRY(finding(graph, err, kind, stream->outcome.lost,
			    "events were dropped while the trace was made (%" PRIu64
			    " gaps), %" PRIu64 " of them of the thread that walked this "
			    "snapshot's heap%s",
			    stream->outcome.gaps, snapshot->lost,
			    snapshot->lost ? ": collect with a larger buffer" : ""));
	}
	if (stream->outcome.stopped && !stream->outcome.is_complete) {
		TRY(finding(graph, err, FINDING_TRUNCATED, 1, "offset %" PRIu64 ": %s",
			    stream->outcome.stopped_at, stream->outcome.stopped));
	}
	if (stream->outcome.damaged) {
		TRY(finding(graph, err, FINDING_DAMAGED, stream->outcome.damaged,
			    "blocks of the trace could not be read to their end"));
	}
	return HD_OK;
}

/*
 * Modules whose file differs from the one that the process had; or, with @p is_unproven, may
 * differ.
 */
static enum hd_status report_modules(struct nt_heap *heap, bool is_unproven)
{
	const struct nt_types *types = &heap->types;
	const struct nt_assembly *first = NULL;
	uint64_t count = 0;
	for (size_t i = 0; i < types->assemblies_count; i++) {
		const struct nt_assembly *assembly = &types->assemblies[i];
		if (is_unproven ? !assembly->is_unproven : !assembly->is_other)
			continue;
		first = first ? first : assembly;
		count++;
	}
	if (!count)
		return HD_OK;
	return finding(
		heap->graph, heap->err,
		is_unproven ? FINDING_UNPROVEN_MODULE : FINDING_OTHER_MODULE, count,
		"%.300s%s: %s: names of nested types may lack their "
		"outer class, statics the class that declares them",
		first->path, count > 1 ? " and others" : "",
		is_unproven ? "nothing in the trace proves that the file is what was loaded, so it "
			      "is not read without --trust-files"
			    : "the file is not what was loaded");
}

/* Modules whose file exists but could not be read. */
static enum hd_status report_unread(struct nt_heap *heap)
{
	const struct nt_types *types = &heap->types;
	const struct nt_assembly *first = NULL;
	uint64_t count = 0;
	for (size_t i = 0; i < types->assemblies_count; i++) {
		const struct nt_assembly *assembly = &types->assemblies[i];
		if (!assembly->error)
			continue;
		first = first ? first : assembly;
		count++;
	}
	if (!count)
		return HD_OK;
	return finding(heap->graph, heap->err, FINDING_UNREAD_MODULE, count,
		       "%.300s%s: the file cannot be read: %s: names of nested types may lack "
		       "their outer class, statics the class that declares them",
		       first->path, count > 1 ? " and others" : "", strerrordesc_np(first->error));
}

/* Why objects and roots may be missing, although no object or reference is known to be. */
static const char *why_cut(const struct nt_snapshot *snapshot)
{
	if (!snapshot->has_end)
		return "the snapshot's end (GCEnd) is not in the trace";
	if (!snapshot->has_start)
		return "the snapshot's beginning (GCStart) is not in the trace";
	if (snapshot->lost)
		return "some of the snapshot's events were dropped";
	return "events of the walk came before its collection began or after it ended";
}

enum hd_status nt_heap_findings(struct nt_heap *heap)
{
	struct hd_graph *graph = heap->graph;
	const struct nt_snapshot *snapshot = heap->snapshot;
	TRY(nt_trace_findings(heap->trace, snapshot, graph, heap->err));
	if (heap->nodes.left || heap->edges.left) {
		TRY(finding(graph, heap->err, FINDING_PARTIAL_HEAP,
			    heap->nodes.left ? heap->nodes.left : heap->edges.left,
			    "%s without %s: the graph has the first %" PRIu32
			    " objects, and what they refer to beyond is missing",
			    heap->nodes.left ? "objects came" : "references came",
			    heap->nodes.left ? "what else belongs to them" : "their objects",
			    heap->object_count));
	} else if (nt_snapshot_is_cut(heap->trace, snapshot)) {
		TRY(finding(graph, heap->err, FINDING_PARTIAL_HEAP, 1,
			    "%s: objects and roots may be missing", why_cut(snapshot)));
	}
	if (heap->types.unknown) {
		TRY(finding(graph, heap->err, FINDING_UNRESOLVED_TYPE, heap->types.unknown,
			    "types of objects whose names are not in the trace"));
	}
	TRY(report_modules(heap, false));
	TRY(report_modules(heap, true));
	return report_unread(heap);
}

/* Days from 0001-01-01 of a date of the Gregorian calendar. */
static uint64_t days_of(unsigned int year, unsigned int month, unsigned int day)
{
	static const uint16_t before[] = { 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334 };
	bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	uint64_t past = year - 1;
	return past * 365 + past / 4 - past / 100 + past / 400 + before[month - 1] +
	       (is_leap && month > 2 ? 1 : 0) + day - 1;
}

/* Ticks of a time stamp; 0: the trace does not tell. */
static uint64_t ticks_of(const struct nt_stream *stream, uint64_t time)
{
	const uint16_t *at = stream->about.time; /* year, month, -, day, hour, minute, second, ms */
	if (!stream->about.has_trace || !at[0] || at[0] > 9998 || !at[1] || at[1] > 12 || !at[3] ||
	    at[3] > 31 || at[4] > 23 || at[5] > 59 || at[6] > 59 || at[7] > 999)
		return 0;
	uint64_t seconds = ((days_of(at[0], at[1], at[3]) * 24 + at[4]) * 60 + at[5]) * 60 + at[6];
	uint64_t ticks = seconds * TICKS_PER_SECOND + at[7] * (TICKS_PER_SECOND / 1000);
	if (stream->about.frequency && time >= stream->about.sync_time) {
		double later =
			(double)(time - stream->about.sync_time) / (double)stream->about.frequency;
		if (later < 1e9)
			ticks += (uint64_t)(later * (double)TICKS_PER_SECOND);
	}
	return ticks;
}

/* A GCGenerationRange event; false: it says nothing. */
static bool read_generation_range(const struct nt_item *item, uint32_t pointer_size,
				  struct graph_range *ret)
{
	struct nt_bytes at = nt_bytes(item->payload, item->size);
	ret->generation = nt_u8(&at);
	ret->start = nt_pointer(&at, pointer_size);
	uint64_t used = nt_u64(&at);
	return !at.is_short && ret->generation <= GENERATION_MAX && used &&
	       !__builtin_add_overflow(ret->start, used, &ret->end);
}

/* Sort them, and leave out those that overlap. */
static enum hd_status sort_generation_ranges(struct nt_heap *heap, struct graph_range *ranges,
					     size_t count)
{
	struct graph_info *info = &heap->graph->info;
	uint64_t *keys = pages_alloc(count, sizeof(*keys));
	uint32_t *order = pages_alloc(count, sizeof(*order));
	info->ranges = pages_alloc(count, sizeof(*info->ranges));
	bool made = keys && order && info->ranges;
	info->range_count = info->ranges ? count : 0;
	for (size_t i = 0; made && i < count; i++)
		keys[i] = ranges[i].start;
	made = made && sort_keys(keys, order, (uint32_t)count);
	size_t kept = 0;
	for (size_t i = 0; made && i < count; i++) {
		const struct graph_range *range = &ranges[order[i]];
		if (!kept || info->ranges[kept - 1].end <= range->start)
			info->ranges[kept++] = *range;
	}
	pages_free(keys, count, sizeof(*keys));
	pages_free(order, count, sizeof(*order));
	const size_t size = sizeof(*ranges);
	void *fit = made ? pages_resize(info->ranges, info->range_count, kept, size) : NULL;
	TRY_MEMORY(fit, heap->err);
	info->ranges = fit;
	info->range_count = kept;
	return HD_OK;
}

/* Where generations lie when the heap is walked: what is sent after the first objects. */
static enum hd_status find_ranges(struct nt_heap *heap)
{
	struct {
		struct graph_range *ranges;
		size_t ranges_count, ranges_capacity;
	} found = { 0 };
	bool has_nodes = false, made = true;
	for (size_t i = heap->snapshot->first; made && i < heap->snapshot->end; i++) {
		const struct nt_item *item = &heap->trace->items[i];
		struct graph_range range;
		has_nodes = has_nodes || item->kind == NT_NODES;
		if (!has_nodes || item->kind != NT_RANGE ||
		    !read_generation_range(item, heap->pointer_size, &range))
			continue;
		made = PAGES_RESERVE(&found, ranges);
		if (made)
			found.ranges[found.ranges_count++] = range;
	}
	enum hd_status status = made ? HD_OK : fail_nomem(heap->err);
	if (status == HD_OK && found.ranges_count)
		status = sort_generation_ranges(heap, found.ranges, found.ranges_count);
	pages_free(found.ranges, found.ranges_capacity, sizeof(*found.ranges));
	return status;
}

/* The next word of a command line from unit *@p at on, without its quotes and folders. */
static struct nt_utf16 next_file_name(const struct nt_utf16 *command, uint32_t *at)
{
	while (*at < command->units && nt_unit(command, *at) == ' ')
		++*at;
	uint32_t begin = *at;
	if (begin < command->units && nt_unit(command, begin) == '"')
		begin++;
	uint16_t stop = begin > *at ? '"' : ' ';
	uint32_t end = begin;
	for (; end < command->units && nt_unit(command, end) != stop; end++) {
		if (nt_unit(command, end) == '/' || nt_unit(command, end) == '\\')
			begin = end + 1;
	}
	*at = end < command->units ? end + 1 : end;
	return (struct nt_utf16){ command->bytes + 2 * (size_t)begin, end - begin };
}

/* Does the name end in @p end? */
static bool name_ends_in(const struct nt_utf16 *name, const char *end)
{
	uint32_t units = (uint32_t)strlen(end);
	if (name->units <= units)
		return false;
	for (uint32_t i = 0; i < units; i++) {
		if (nt_unit(name, name->units - units + i) != (uint16_t)end[i])
			return false;
	}
	return true;
}

/* "/usr/bin/dotnet exec /srv/shop.dll 80": the host runs shop; else it is the executable. */
static struct nt_utf16 program_name(const struct nt_utf16 *command)
{
	static const char host[] = "dotnet", library[] = ".dll", windows[] = ".exe";
	uint32_t at = 0;
	static const struct nt_utf16 none;
	struct nt_utf16 name = next_file_name(command, &at), first = name;
	if (name_ends_in(&first, windows))
		first.units -= (uint32_t)(sizeof(windows) - 1);
	bool is_host = first.units == sizeof(host) - 1;
	for (uint32_t i = 0; is_host && i < first.units; i++)
		is_host = nt_unit(&first, i) == (uint16_t)host[i];
	while (is_host && at < command->units) {
		struct nt_utf16 word = next_file_name(command, &at);
		if (!name_ends_in(&word, library))
			continue;
		word.units -= (uint32_t)(sizeof(library) - 1);
		return word;
	}
	return is_host ? none : name;
}

static enum hd_status find_process(struct nt_heap *heap)
{
	struct graph_info *info = &heap->graph->info;
	for (size_t i = heap->snapshot->process_first; i < heap->snapshot->process_end; i++) {
		const struct nt_item *item = &heap->trace->items[i];
		if (item->kind != NT_PROCESS)
			continue;
		struct nt_bytes at = nt_bytes(item->payload, item->size);
		struct nt_utf16 command = nt_utf16z(&at);
		uint32_t from = 0;
		if (!command.units)
			continue;
		struct nt_utf16 name = next_file_name(&command, &from);
		struct nt_utf16 program = program_name(&command);
		info->command = nt_copy_utf8(heap->graph, &command);
		info->process = name.units ? nt_copy_utf8(heap->graph, &name) : info->command;
		TRY_MEMORY(info->process, heap->err);
		if (program.units) {
			info->program = nt_copy_utf8(heap->graph, &program);
			TRY_MEMORY(info->program, heap->err);
		}
		return HD_OK;
	}
	return HD_OK;
}

/*
 * The time of an event in milliseconds since the machine's start, in 32 bits, as GetTickCount() tells it: the
 * clock of events begins with the machine.
 */
static uint64_t machine_ms(const struct nt_stream *stream, uint64_t time)
{
	const uint64_t frequency = stream->about.frequency;
	uint64_t ms = time / frequency * 1000 + time % frequency * 1000 / frequency;
	return ms & UINT32_MAX;
}

/* The section of a text log lasts as long as the collection. */
static void find_times(struct nt_heap *heap)
{
	struct graph_domain *domain = heap->graph->domains.rows;
	const struct nt_snapshot *snapshot = heap->snapshot;
	const struct nt_stream *stream = &heap->trace->stream;
	const struct nt_item *items = heap->trace->items;
	if (!stream->about.frequency || stream->about.frequency > FREQUENCY_MAX)
		return;
	domain->has_start = snapshot->has_start;
	domain->has_end = snapshot->has_end;
	if (snapshot->has_start)
		domain->start = machine_ms(stream, items[snapshot->first].time);
	if (snapshot->has_end)
		domain->end = machine_ms(stream, items[snapshot->end - 1].time);
}

/* AppDomainDCStart and AppDomainDCEnd (ClrEtwAll.man): there is only one domain since .NET Core. */
static enum hd_status find_domain(struct nt_heap *heap)
{
	struct graph_domain *domain = heap->graph->domains.rows;
	for (size_t i = heap->snapshot->process_first; i < heap->snapshot->process_end; i++) {
		const struct nt_item *item = &heap->trace->items[i];
		if (item->kind != NT_DOMAIN || domain->name)
			continue;
		struct nt_bytes at = nt_bytes(item->payload, item->size);
		(void)nt_take(&at, 12); /* id, flags */
		struct nt_utf16 name = nt_utf16z(&at);
		if (at.is_short || !name.units)
			continue;
		domain->name = nt_copy_utf8(heap->graph, &name);
		TRY_MEMORY(domain->name, heap->err);
		domain->name_size = (uint32_t)strlen(domain->name);
	}
	return HD_OK;
}

enum hd_status nt_heap_info(struct nt_heap *heap)
{
	const struct nt_snapshot *snapshot = heap->snapshot;
	struct graph_info *info = &heap->graph->info;
	info->pid = snapshot->pid;
	info->time = ticks_of(&heap->trace->stream, snapshot->time);
	info->is_32bit = heap->pointer_size == 4;
	info->is_partial =
		nt_snapshot_is_cut(heap->trace, snapshot) || heap->nodes.left || heap->edges.left;
	find_times(heap);
	TRY(find_process(heap));
	TRY(find_domain(heap));
	return find_ranges(heap);
}

enum hd_status nt_exact_info(const struct nt_trace *trace, const struct nt_snapshot *snapshot,
			     struct hd_graph *graph, struct hd_error *err)
{
	struct nt_heap heap = { .trace = trace,
				.snapshot = snapshot,
				.graph = graph,
				.err = err,
				.pointer_size = trace->stream.about.pointer_size == 4 ? 4 : 8 };
	bool is_partial = graph->info.is_partial;
	graph->info.tool = NULL;
	TRY(nt_heap_info(&heap));
	graph->info.is_partial |= is_partial;
	return HD_OK;
}

/* Make what a graph has before its nodes: its arenas, and the one domain of a trace. */
static enum hd_status begin_trace_graph(struct hd_graph *graph, struct hd_error *err)
{
	graph->arena = arena_create();
	graph->origins.arena = arena_create();
	TRY_MEMORY(graph->arena && graph->origins.arena, err);
	graph->domains.rows = pages_alloc(1, sizeof(*graph->domains.rows));
	TRY_MEMORY(graph->domains.rows, err);
	graph->domains.count = 1;
	return HD_OK;
}

/* Ids that must become nodes: those of all roots. */
static enum hd_status finish_trace_graph(struct nt_heap *heap)
{
	const struct nt_roots *roots = &heap->roots;
	uint64_t *ids = pages_alloc(roots->rows_count, sizeof(*ids));
	TRY_MEMORY(ids, heap->err);
	for (size_t i = 0; i < roots->rows_count; i++)
		ids[i] = roots->rows[i].id;
	enum hd_status status = raw_graph_finish(&heap->raw, ids, roots->rows_count, heap->graph,
						 heap->job, heap->err);
	pages_free(ids, roots->rows_count, sizeof(*ids));
	return status;
}

/* Find out which parts of the snapshot exist. */
static enum hd_status measure_snapshot(struct nt_heap *heap)
{
	TRY(nt_heap_blocks(heap));
	TRY(nt_heap_roots(heap));
	TRY(nt_heap_count(heap));
	if (!heap->object_count) {
		return fail(heap->err, HD_ERR_FORMAT, heap->trace->stream.outcome.stopped_at,
			    "%s: no object of the heap snapshot can be used: its first events are "
			    "missing",
			    heap->trace->stream.path);
	}
	return HD_OK;
}

static enum hd_status build_trace_graph(struct nt_heap *heap)
{
	TRY(begin_trace_graph(heap->graph, heap->err));
	TRY(measure_snapshot(heap));
	heap->types =
		(struct nt_types){ .options = heap->options, .job = heap->job, .err = heap->err };
	TRY(nt_types_read(heap->trace, heap->snapshot, heap->graph, &heap->types));
	TRY(nt_heap_fill(heap));
	TRY(nt_types_name(&heap->types, heap->graph));
	TRY(nt_heap_statics(heap));
	short_names_sort(&heap->graph->findings.short_names);
	TRY(finish_trace_graph(heap));
	TRY(raw_graph_roots(heap->graph, heap->roots.rows, heap->roots.rows_count, heap->err));
	TRY(nt_heap_info(heap));
	return nt_heap_findings(heap);
}

static void heap_deinit(struct nt_heap *heap)
{
	pages_free(heap->nodes.rows, heap->nodes.rows_capacity, sizeof(*heap->nodes.rows));
	pages_free(heap->edges.rows, heap->edges.rows_capacity, sizeof(*heap->edges.rows));
	nt_pairs_deinit(&heap->pairs);
	pages_free(heap->runs, heap->runs_capacity, sizeof(*heap->runs));
	nt_roots_deinit(&heap->roots);
	nt_types_deinit(&heap->types);
	raw_graph_deinit(&heap->raw);
}

enum hd_status nt_heap_graph(const struct nt_trace *trace, const struct nt_snapshot *snapshot,
			     const struct format_options *options, struct job *job,
			     struct hd_graph **ret, struct hd_error *err)
{
	struct nt_heap heap = { .trace = trace,
				.snapshot = snapshot,
				.options = options,
				.job = job,
				.err = err,
				.pointer_size = trace->stream.about.pointer_size == 4 ? 4 : 8 };
	heap.graph = mem_calloc(1, sizeof(*heap.graph));
	TRY_MEMORY(heap.graph, err);
	enum hd_status status = build_trace_graph(&heap);
	heap_deinit(&heap);
	return graph_hand_over(heap.graph, status, ret);
}
