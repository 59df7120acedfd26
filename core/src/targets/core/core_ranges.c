/* SPDX-License-Identifier: MIT */
#include <assert.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "targets/core/core_headers.h"
#include "util/alloc.h"
#include "util/sort.h"

struct core_memory {
	struct memory memory;
	struct mapped_file file;
	struct core_run *runs;
	size_t count;
	char apart[64];      /**< what follows is written: not in the cache line of the above */
	_Atomic size_t last; /**< run of the last read, in which the next one is searched for
			      * first */
};

/* The number of runs whose begin is at most @p address. */
static size_t runs_below(const struct core_memory *core, uint64_t address)
{
	return ROWS_ABOVE(core->runs, core->count, start, address);
}

static const uint8_t *core_memory_run(struct memory *memory, uint64_t address, uint64_t *ret_size)
{
	struct core_memory *core = (struct core_memory *)memory;
	size_t last = atomic_load_explicit(&core->last, memory_order_relaxed);
	const struct core_run *run = &core->runs[last];
	if (last >= core->count || address < run->start || address >= run->end) {
		size_t below = runs_below(core, address);
		if (!below || address >= core->runs[below - 1].end)
			return NULL;
		run = &core->runs[below - 1];
		atomic_store_explicit(&core->last, below - 1, memory_order_relaxed);
	}
	*ret_size = run->end - address;
	return core->file.bytes + run->offset + (address - run->start);
}

static uint64_t core_memory_next(struct memory *memory, uint64_t address)
{
	const struct core_memory *core = (const struct core_memory *)memory;
	size_t below = runs_below(core, address);
	if (below && address < core->runs[below - 1].end)
		return address;
	return below < core->count ? core->runs[below].start : UINT64_MAX;
}

static void core_memory_destroy(struct memory *memory)
{
	HD_FREE struct core_memory *core = (struct core_memory *)memory;
	mapped_file_close(&core->file);
	mem_free(core->runs);
}

struct memory *core_memory_create(struct mapped_file *file, struct core_run *runs, size_t count)
{
	static const struct memory_ops ops = { .read = memory_read_runs,
					       .run = core_memory_run,
					       .next = core_memory_next,
					       .destroy = core_memory_destroy };
	struct core_memory *core = mem_calloc(1, sizeof(*core));
	if (!core) {
		mapped_file_close(file);
		mem_free(runs);
		return NULL;
	}
	core->memory = (struct memory){ .ops = &ops, .is_parallel = true };
	core->file = *file;
	core->runs = runs;
	core->count = count;
	*file = (struct mapped_file){ .fd = -1 };
	return &core->memory;
}

/* Splits the loads, in ascending order of their start, where they overlap. */
struct splitter {
	const struct core_load *loads; /* in the order of the file */
	uint32_t *order;               /* ascending by start */
	uint32_t *heap; /* loads that reach the position; the first of the file on top */
	size_t heap_count;
	struct core_load *pieces; /* ascending, not overlapping */
	size_t count;
};

static int compare_load_starts(const void *a, const void *b, void *arg)
{
	const struct core_load *loads = *(const struct core_load *const *)arg;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	if (loads[left].start != loads[right].start)
		return loads[left].start < loads[right].start ? -1 : 1;
	return left < right ? -1 : left > right;
}

static void heap_push(struct splitter *splitter, uint32_t load)
{
	size_t i = splitter->heap_count++;
	while (i && splitter->heap[(i - 1) / 2] > load) {
		splitter->heap[i] = splitter->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	splitter->heap[i] = load;
}

static void heap_pop(struct splitter *splitter)
{
	uint32_t last = splitter->heap[--splitter->heap_count];
	size_t i = 0;
	for (;;) {
		size_t child = 2 * i + 1;
		if (child >= splitter->heap_count)
			break;
		if (child + 1 < splitter->heap_count &&
		    splitter->heap[child + 1] < splitter->heap[child])
			child++;
		if (splitter->heap[child] >= last)
			break;
		splitter->heap[i] = splitter->heap[child];
		i = child;
	}
	splitter->heap[i] = last;
}

/* How many of the first @p size bytes are in the @p room bytes after the first @p skipped. */
static uint64_t part_of(uint64_t size, uint64_t skipped, uint64_t room)
{
	uint64_t left = skipped < size ? size - skipped : 0;
	return left < room ? left : room;
}

/* Add [start, end) of @p load, joined to the piece before it if it continues that. */
static void emit(struct splitter *splitter, const struct core_load *load, uint64_t start,
		 uint64_t end)
{
	uint64_t skipped = start - load->start;
	struct core_load piece = { .start = start,
				   .end = end,
				   .captured = part_of(load->captured, skipped, end - start),
				   .promised = part_of(load->promised, skipped, end - start),
				   .flags = load->flags };
	if (piece.captured)
		piece.offset = load->offset + skipped;
	struct core_load *last = splitter->count ? &splitter->pieces[splitter->count - 1] : NULL;
	/* Join a load again that was only interrupted by the begin of another one. */
	if (last && skipped && last->end == start && last->flags == piece.flags &&
	    last->captured == last->end - last->start &&
	    last->offset + last->captured == piece.offset && piece.captured) {
		last->end = end;
		last->captured += piece.captured;
		last->promised += piece.promised;
		return;
	}
	splitter->pieces[splitter->count++] = piece;
}

/* Sweep over the addresses; each step either begins a load or ends one. */
static void split_loads(struct splitter *splitter, size_t load_count)
{
	size_t taken = 0;
	uint64_t position = 0;
	while (taken < load_count || splitter->heap_count) {
		if (!splitter->heap_count)
			position = splitter->loads[splitter->order[taken]].start;
		while (taken < load_count &&
		       splitter->loads[splitter->order[taken]].start <= position)
			heap_push(splitter, splitter->order[taken++]);
		const struct core_load *top = &splitter->loads[splitter->heap[0]];
		if (top->end <= position) {
			heap_pop(splitter);
			continue;
		}
		uint64_t end = top->end;
		if (taken < load_count && splitter->loads[splitter->order[taken]].start < end)
			end = splitter->loads[splitter->order[taken]].start;
		emit(splitter, top, position, end);
		position = end;
	}
}

static void find_overlap(struct target *target, const struct splitter *splitter, size_t count)
{
	uint64_t end = 0, overlaps = 0, first = 0;
	for (size_t i = 0; i < count; i++) {
		const struct core_load *load = &splitter->loads[splitter->order[i]];
		if (i && load->start < end && !overlaps++)
			first = load->start;
		if (load->end > end)
			end = load->end;
	}
	if (overlaps) {
		findings_add(&target->findings, FINDING_OVERLAPPING_SEGMENTS, NULL,
			     "%" PRIu64 " segments overlap others, the first at 0x%" PRIx64
			     ": where they do, the one that comes first in the file is read",
			     overlaps, first);
	}
}

/* Loads whose bytes follow each other in memory and in the file become one run. */
static size_t join_runs(const struct core_load *pieces, size_t count, struct core_run *runs)
{
	size_t used = 0;
	for (size_t i = 0; i < count; i++) {
		const struct core_load *piece = &pieces[i];
		if (!piece->captured)
			continue;
		struct core_run *last = used ? &runs[used - 1] : NULL;
		if (last && last->end == piece->start &&
		    last->offset + (last->end - last->start) == piece->offset) {
			last->end += piece->captured;
			continue;
		}
		runs[used++] = (struct core_run){ .start = piece->start,
						  .end = piece->start + piece->captured,
						  .offset = piece->offset };
	}
	return used;
}

static enum hd_status make_core_runs(struct target *target, struct splitter *splitter,
				     size_t load_count, struct core_run **ret_runs,
				     size_t *ret_count, struct hd_error *err)
{
	const struct core_load *loads = splitter->loads;
	for (size_t i = 0; i < load_count; i++)
		splitter->order[i] = (uint32_t)i;
	qsort_r(splitter->order, load_count, sizeof(*splitter->order), compare_load_starts, &loads);
	find_overlap(target, splitter, load_count);
	split_loads(splitter, load_count);
	TRY(target_reserve(target, splitter->count, sizeof(*target->map.ranges), err));
	TRY(target_reserve(target, splitter->count, sizeof(struct core_run), err));
	target->map.ranges = mem_alloc(splitter->count, sizeof(*target->map.ranges));
	struct core_run *runs = mem_alloc(splitter->count, sizeof(*runs));
	if (!target->map.ranges || !runs) {
		mem_free(runs);
		return fail_nomem(err);
	}
	for (size_t i = 0; i < splitter->count; i++) {
		const struct core_load *piece = &splitter->pieces[i];
		target->map.ranges[i] =
			(struct target_range){ .start = piece->start,
					       .end = piece->end,
					       .captured = piece->captured,
					       .flags = piece->flags,
					       .is_cut = piece->captured < piece->promised };
	}
	target->map.range_count = splitter->count;
	*ret_count = join_runs(splitter->pieces, splitter->count, runs);
	*ret_runs = runs;
	return HD_OK;
}

enum hd_status core_ranges_make(struct target *target, const struct core_headers *headers,
				struct core_run **ret_runs, size_t *ret_count, struct hd_error *err)
{
	assert(headers->load_count && headers->load_count < UINT32_MAX);
	TRY(target_reserve(target, headers->load_count,
			   2 * sizeof(struct core_load) + 2 * sizeof(uint32_t), err));
	/* Each load begins one piece, and ends one that another resumes. */
	struct splitter splitter = {
		.loads = headers->loads,
		.order = mem_alloc(headers->load_count, sizeof(*splitter.order)),
		.heap = mem_alloc(headers->load_count, sizeof(*splitter.heap)),
		.pieces = mem_alloc(headers->load_count * 2, sizeof(*splitter.pieces)),
	};
	enum hd_status status;
	if (splitter.order && splitter.heap && splitter.pieces) {
		status = make_core_runs(target, &splitter, headers->load_count, ret_runs, ret_count,
					err);
	} else {
		status = fail_nomem(err);
	}
	mem_free(splitter.order);
	mem_free(splitter.heap);
	mem_free(splitter.pieces);
	return status;
}
