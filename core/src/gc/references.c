/* SPDX-License-Identifier: MIT */
/* Finds the references of an object by its type's GCDesc (doc/coreclr.md 8; gc/gcdesc.h). */
#include "gc/references.h"

/*
 * After how many failed reads the rest of an object is given up, because the object is larger than
 * the missing part.
 */
#define MISSES_MAX 65536u

void references_first(struct references *references)
{
	const struct object *object = references->object;
	const struct type *type = object->type;
	references->slot = references->end = 0;
	references->index = 0;
	references->misses = 0;
	/* An object ends 8 bytes before (start + size): the size includes its header. */
	references->limit = object->address + object->size - 8;
	references->next =
		type->desc.run_count ? object->address + type->desc.runs_offset : references->limit;
}

/* Memory is missing in whole pages, which are never smaller. */
#define SMALLEST_PAGE ((uint64_t)4096)

/* Make the bytes of the current run's slots available; false when none of them exists. */
static bool take_slot_bytes(struct references *references)
{
	while (references->slot < references->end) {
		uint64_t size;
		references->bytes = window_at(references->window, references->slot, 8, &size);
		if (references->bytes) {
			uint64_t rest = references->end - references->slot;
			references->available = (size < rest ? size : rest) & ~(uint64_t)7;
			return true;
		}
		references->missing = true;
		if (references->misses++ >= MISSES_MAX)
			return false;
		references->slot = (references->slot | (SMALLEST_PAGE - 1)) + 1;
	}
	return false;
}

/* The next run of slots; false at the end. */
static bool next_slot_run(struct references *references)
{
	const struct object *object = references->object;
	const struct type *type = object->type;
	if (references->misses > MISSES_MAX)
		return false;
	if (references->index < type->desc.series_count) {
		const struct gc_series *series = &type->desc.series[references->index++];
		references->slot = object->address + series->offset;
		references->end =
			references->slot + (((uint64_t)series->size + object->size) & ~(uint64_t)7);
		return true;
	}
	if (references->next >= references->limit)
		return false;
	const struct gc_run *run = &type->desc.runs[references->index++];
	if (references->index == type->desc.run_count)
		references->index = 0;
	uint64_t rest = (references->limit - references->next) & ~(uint64_t)7;
	uint64_t size = (uint64_t)run->pointers * 8;
	references->slot = references->next;
	references->end = references->slot + (size < rest ? size : rest);
	uint64_t step = size + run->skip;
	references->next += step < references->limit - references->next
				    ? step
				    : references->limit - references->next;
	return true;
}

bool references_more(struct references *references)
{
	/* A large run may have more than what was available. */
	while (!take_slot_bytes(references)) {
		if (!next_slot_run(references)) {
			references->pending = false;
			return false;
		}
	}
	return true;
}
