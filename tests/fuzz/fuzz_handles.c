/* SPDX-License-Identifier: MIT */
/* covers: core/src/gc/handles.c core/src/gc/finalizer.c */
#include <stdlib.h>

#include "gc/finalizer.h"
#include "gc/handles.h"
#include "gc/layouts/gc_vars.h"
#include "mem/memory.h"
#include "runtime/coreclr/internal.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/findings.h"
#include "util/job.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/*
 * Memory for handle tables and finalizer queues: its bytes are mapped at SEGMENT, in pages that the
 * head of the input gives places (make_handle_images.py writes such images).
 */
#define BASE      ((uint64_t)0x10000000)
#define PAGE      ((uint64_t)512)
#define PAGES     48u
#define HEAPS_MAX 4u

struct image {
	uint8_t flags; /* 1: server; 2: .NET 8 */
	uint8_t heaps;
	uint8_t unused[6];
	uint64_t map, queues[HEAPS_MAX]; /* addresses; of variables */
	uint16_t places[PAGES];          /* page i of the input lies at BASE + PAGE * places[i] */
};

struct image_memory {
	struct memory memory;
	const uint8_t *bytes;
	uint64_t size;
	const struct image *image;
};

static size_t read_page(const struct image_memory *image, uint64_t address, uint8_t *buf,
			size_t size)
{
	for (size_t i = 0; i < PAGES; i++) {
		uint64_t begin = BASE + PAGE * image->image->places[i];
		if (address < begin || address - begin >= PAGE || PAGE * (i + 1) > image->size)
			continue;
		uint64_t count = PAGE - (address - begin);
		if (count > size)
			count = size;
		memcpy(buf, image->bytes + PAGE * i + (address - begin), count);
		return count;
	}
	return 0;
}

static size_t read_image(struct memory *memory, uint64_t address, void *buf, size_t size)
{
	const struct image_memory *image = (const struct image_memory *)memory;
	size_t done = 0;
	while (done < size) {
		size_t count = read_page(image, address + done, (uint8_t *)buf + done, size - done);
		if (!count)
			break;
		done += count;
	}
	return done;
}

static const struct memory_ops image_ops = { .read = read_image };

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void check_handles(struct heap *heap)
{
	struct job job = { .workers = 1 };
	struct handle_list list;
	check(handle_list_read(heap, &job, &list, NULL) == HD_OK);
	for (size_t i = 0; i < list.rows_count; i++) {
		const struct handle *handle = &list.rows[i];
		uint64_t value;
		check(handle->type < HANDLE_TYPES && handle->object);
		check(memory_u64(heap->memory, handle->address, &value) && value == handle->object);
		(void)handle_keeps_alive(handle);
	}
	/* Each once. */
	for (size_t i = 1; i < list.rows_count; i++) {
		for (size_t j = 0; j < i && list.rows_count < 512; j++)
			check(list.rows[i].address != list.rows[j].address);
	}
	handle_list_deinit(&list);
}

static void check_finalizers(struct heap *heap)
{
	struct finalizer_list list;
	check(finalizer_list_read(heap, &list, NULL) == HD_OK);
	check(list.queue_count <= heap->heap_count);
	for (size_t i = 0; i < list.rows_count; i++) {
		const struct finalizer_entry *entry = &list.rows[i];
		const struct finalizer_queue *queue = list.queues;
		while (queue->heap != entry->heap)
			queue++;
		check(entry->object && entry->part < FINALIZER_PARTS &&
		      entry->address >= queue->bounds[entry->part] &&
		      entry->address < queue->bounds[entry->part + 1]);
	}
	finalizer_list_deinit(&list);
}

/* Any maps, tables, segments, queues: no crash, no hang, nothing that is not there. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct image image;
	if (size < sizeof(image) || size > 65536)
		return 0;
	memcpy(&image, data, sizeof(image));
	struct image_memory memory = { .memory = { .ops = &image_ops },
				       .bytes = data + sizeof(image),
				       .size = size - sizeof(image),
				       .image = &image };
	struct target target = { .arch = &arch_x86_64,
				 .kind = TARGET_CORE,
				 .memory = &memory.memory,
				 .own = &memory.memory };
	struct coreclr runtime = {
		.base.ops = &coreclr_ops,
		.base.target = &target,
		.base.memory = &memory.memory,
		.base.has_cross_references = !(image.flags & 2),
		.major = image.flags & 2 ? 8 : 10,
		.base.gc = { .generation_count = 5,
			     .is_server = image.flags & 1,
			     .heap_count = image.flags & 1 ? 1 + image.heaps % HEAPS_MAX : 1,
			     .handle_table_map = image.map,
			     .finalize_queue = image.queues[0] }
	};
	struct heap heap = { .runtime = &runtime.base,
			     .space = arch_x86_64.space,
			     .memory = &memory.memory,
			     .heap_count = runtime.base.gc.heap_count,
			     .heap_addresses = image.queues };
	check_handles(&heap);
	check_finalizers(&heap);
	findings_deinit(&target.findings);
	return 0;
}
