/* SPDX-License-Identifier: MIT */
#include "gc/finalizer.h"

#include <inttypes.h>

#include "gc/layouts/gc_vars.h"
#include "mem/memory.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/findings.h"

/* Entries that are read at a time. */
#define ENTRIES_READ 512u

/* Address of the pointer to the queue of heap @p index, or 0. */
static uint64_t queue_variable(const struct heap *heap, uint32_t index)
{
	const struct gc_vars *gc = heap_gc(heap);
	if (!gc->is_server)
		return gc->finalize_queue;
	int32_t offset = gc->heap_offsets[GC_HEAP_FINALIZE_QUEUE];
	return heap->heap_addresses[index] && offset >= 0
		       ? heap->heap_addresses[index] + (uint64_t)offset
		       : 0;
}

enum queue_result finalizer_queue_read(const struct heap *heap, uint32_t index,
				       struct finalizer_queue *ret, uint64_t *ret_slot,
				       uint64_t *ret_word)
{
	uint64_t words[FINALIZER_QUEUE_WORDS], variable = queue_variable(heap, index);
	*ret = (struct finalizer_queue){ .heap = index };
	if (!variable || !memory_u64(heap->memory, variable, &ret->address))
		return QUEUE_MISSING;
	if (!ret->address)
		return QUEUE_NONE;
	if (!memory_read(heap->memory, ret->address, words, sizeof(words)))
		return QUEUE_MISSING;
	uint64_t last = words[FINALIZER_QUEUE_ARRAY], end = words[FINALIZER_QUEUE_END_ARRAY];
	ret->bounds[0] = last;
	/* It has room for some entries from the start. */
	size_t bad = last % 8 || !last || last >= end ? FINALIZER_QUEUE_ARRAY : SIZE_MAX;
	for (size_t i = 0; i < FINALIZER_PARTS && bad == SIZE_MAX; i++) {
		if (words[i] < last || words[i] > end || words[i] % 8)
			bad = i;
		last = ret->bounds[i + 1] = words[i];
	}
	if (bad == SIZE_MAX)
		return QUEUE_SOUND;
	*ret_slot = ret->address + 8 * bad;
	*ret_word = words[bad];
	return QUEUE_DAMAGED;
}

static void note_queue(struct heap *heap, const struct finalizer_queue *queue,
		       enum queue_result result, uint64_t slot, uint64_t word)
{
	struct target *target = heap_target(heap);
	if (result == QUEUE_DAMAGED) {
		findings_add(&target->findings, FINDING_FINALIZER_QUEUE,
			     "the process's memory was overwritten, or changing: take another dump",
			     "the finalizer queue %" PRIx64 " of heap %" PRIu32 " has at %" PRIx64
			     " %" PRIx64
			     ", which is out of order: objects that only it keeps alive look dead",
			     queue->address, queue->heap, slot, word);
		return;
	}
	if (result == QUEUE_NONE) {
		findings_add(&target->findings, FINDING_FINALIZER_QUEUE,
			     "the process's memory was overwritten, or changing: take another dump",
			     "heap %" PRIu32 " has no finalizer queue: objects that only one keeps "
			     "alive look dead",
			     queue->heap);
		return;
	}
	findings_add(&target->findings, FINDING_FINALIZER_QUEUE,
		     target_advice(target, queue->address,
				   "write the core with createdump --full, or gcore"),
		     "the finalizer queue of heap %" PRIu32
		     " is not in the target: objects that only it keeps alive look dead",
		     queue->heap);
}

static void note_entries(struct heap *heap, const struct finalizer_queue *queue, uint64_t at)
{
	struct target *target = heap_target(heap);
	findings_add(&target->findings, FINDING_FINALIZER_QUEUE,
		     target_advice(target, at, "write the core with createdump --full, or gcore"),
		     "%" PRIu64 " entries of the finalizer queue of heap %" PRIu32 ", from %" PRIx64
		     " on, are not in the target: objects that only they keep alive look dead",
		     (queue->bounds[FINALIZER_PARTS] - at) / 8, queue->heap, at);
}

static enum hd_status read_queue_entries(struct heap *heap, const struct finalizer_queue *queue,
					 struct finalizer_list *list, struct hd_error *err)
{
	uint64_t chunk[ENTRIES_READ], at = queue->bounds[0], end = queue->bounds[FINALIZER_PARTS];
	uint8_t part = 0;
	while (at < end) {
		uint64_t size = end - at < sizeof(chunk) ? end - at : sizeof(chunk);
		uint64_t count = memory_prefix(heap->memory, at, chunk, size) / 8;
		for (uint64_t i = 0; i < count; i++) {
			while (at + 8 * i >= queue->bounds[part + 1])
				part++;
			if (!chunk[i])
				continue;
			TRY_MEMORY(PAGES_RESERVE(list, rows), err);
			list->rows[list->rows_count++] = (struct finalizer_entry){
				.address = at + 8 * i,
				.object = chunk[i],
				.heap = queue->heap,
				.part = part,
			};
		}
		at += 8 * count;
		if (8 * count < size) {
			note_entries(heap, queue, at);
			break;
		}
	}
	return HD_OK;
}

enum hd_status finalizer_list_read(struct heap *heap, struct finalizer_list *ret,
				   struct hd_error *err)
{
	struct finalizer_list list = { 0 };
	list.queues = mem_calloc(heap->heap_count + (size_t)1, sizeof(*list.queues));
	TRY_MEMORY(list.queues, err);
	for (uint32_t i = 0; i < heap->heap_count; i++) {
		struct finalizer_queue queue;
		uint64_t slot = 0, word = 0;
		enum queue_result result = finalizer_queue_read(heap, i, &queue, &slot, &word);
		if (result != QUEUE_SOUND)
			note_queue(heap, &queue, result, slot, word);
		if (result != QUEUE_SOUND)
			continue;
		list.queues[list.queue_count++] = queue;
		enum hd_status status = read_queue_entries(heap, &queue, &list, err);
		if (status != HD_OK) {
			finalizer_list_deinit(&list);
			return status;
		}
	}
	*ret = list;
	return HD_OK;
}

void finalizer_list_deinit(struct finalizer_list *list)
{
	mem_free(list->queues);
	pages_free(list->rows, list->rows_capacity, sizeof(*list->rows));
	*list = (struct finalizer_list){ 0 };
}
