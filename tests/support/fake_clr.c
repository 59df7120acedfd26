/* SPDX-License-Identifier: MIT */
#include "support/fake_clr.h"

#include <stdio.h>
#include <stdlib.h>

#include "gc/layouts/gc_vars.h"
#include "runtime/coreclr/code/code.h"
#include "runtime/coreclr/features.h"
#include "runtime/coreclr/modules/module.h"
#include "runtime/coreclr/types/method_table.h"
#include "targets/relocation.h"
#include "util/alloc.h"

#define TABLE_SIZE   128u
#define CLASS_SIZE   128u
#define MODULE_SIZE  2048u
#define HEAP_SIZE    4096u /* of a gc_heap */
#define SEGMENT_SIZE 72u
#define SYNC_ENTRIES 64u

/* Where a server's gc_heap has its fields. */
enum {
	HEAP_ALLOC_ALLOCATED = 0x10,
	HEAP_EPHEMERAL = 0x18,
	HEAP_QUEUE = 0x20,
	HEAP_GENERATIONS = 0x100,
};

/* heap_segment (gcpriv.h). */
enum {
	SEGMENT_ALLOCATED = 0,
	SEGMENT_COMMITTED = 8,
	SEGMENT_RESERVED = 16,
	SEGMENT_USED = 24,
	SEGMENT_MEM = 32,
	SEGMENT_FLAGS = 40,
	SEGMENT_NEXT = 48,
	SEGMENT_HEAP = 64,
};

static uint64_t align8(uint64_t size)
{
	return (size + 7) & ~(uint64_t)7;
}

static void make_heaps(struct fake_clr *fake)
{
	struct gc_vars *gc = &fake->gc;
	*gc = (struct gc_vars){ .major = 2,
				.minor = 4,
				.generation_size = FAKE_GENERATION_SIZE,
				.generation_count = 5,
				.is_server = fake->options.servers > 0,
				.has_regions = !fake->options.has_segments,
				.heap_count = 1,
				.generation_offsets = { 0, 56, 64 },
				.gc_state = 2,
				.heap_type = fake->options.servers ? 2 : 1 };
	for (size_t i = 0; i < 19; i++)
		gc->heap_offsets[i] = -1;
	if (gc->has_regions)
		gc->generation_offsets[GC_GENERATION_ALLOCATION_START] = -1;
	if (!gc->is_server) {
		gc->generation_table = fake_alloc(&fake->memory, 5 * FAKE_GENERATION_SIZE);
		gc->ephemeral_segment = fake_alloc(&fake->memory, 8);
		gc->alloc_allocated = fake_alloc(&fake->memory, 8);
		gc->finalize_queue = fake_alloc(&fake->memory, 8);
		return;
	}
	gc->heap_count = fake->options.servers;
	gc->heap_offsets[GC_HEAP_ALLOC_ALLOCATED] = HEAP_ALLOC_ALLOCATED;
	gc->heap_offsets[GC_HEAP_EPHEMERAL_SEGMENT] = HEAP_EPHEMERAL;
	gc->heap_offsets[GC_HEAP_FINALIZE_QUEUE] = HEAP_QUEUE;
	gc->heap_offsets[GC_HEAP_GENERATION_TABLE] = HEAP_GENERATIONS;
	gc->heaps = fake_alloc(&fake->memory, 8 * (uint64_t)gc->heap_count);
	for (uint32_t i = 0; i < gc->heap_count; i++)
		fake_poke_u64(&fake->memory, gc->heaps + 8 * (uint64_t)i,
			      fake_alloc(&fake->memory, HEAP_SIZE));
}

/* The Free MethodTable has no EEClass and no parent. */
static void make_free_type(struct fake_clr *fake)
{
	fake->free_type = fake_alloc(&fake->memory, TABLE_SIZE);
	fake_poke_u32(&fake->memory, fake_at(fake, fake->free_type, L_MT_FLAGS), 0x80000001u);
	fake_poke_u32(&fake->memory, fake_at(fake, fake->free_type, L_MT_BASE_SIZE), 24);
}

uint64_t fake_at(const struct fake_clr *fake, uint64_t base, enum layout_field field)
{
	if (!layout_has(&fake->layout, field))
		abort();
	return base + (uint64_t)fake->layout.offsets[field];
}

static void take_options(struct fake_clr *fake, const struct fake_options *options)
{
	if (options)
		fake->options = *options;
	if (!fake->options.release)
		fake->options.release = 10;
	if (!fake->options.arch)
		fake->options.arch = &arch_x86_64;
	fake->target.arch = fake->options.arch;
	layout_init(&fake->layout);
	if (fake->options.layout) {
		fake->layout = *fake->options.layout;
	} else {
		layout_fill(&fake->layout, fake->options.release, ORIGIN_SERIES);
	}
}

struct fake_clr *fake_clr_create(const struct fake_options *options)
{
	struct fake_clr *fake = calloc(1, sizeof(*fake));
	if (!fake)
		abort();
	take_options(fake, options);
	fake_memory_init(&fake->memory);
	fake->next_segment = (uint64_t)0x7f00 << 32;
	make_heaps(fake);
	fake->module = fake_alloc(&fake->memory, MODULE_SIZE);
	make_free_type(fake);
	fake->object_type = fake_type(fake, &(struct fake_type){ .base_size = 24, .token = 2 });
	fake_poke_u64(&fake->memory, fake_at(fake, fake->object_type, L_MT_PARENT), 0);
	fake->string_type = fake_type(
		fake, &(struct fake_type){ .base_size = 22, .component_size = 2, .token = 3 });
	fake->object_array_type = fake_array_type(fake, fake->object_type);
	fake->sync_table = fake_alloc(&fake->memory, 16u * SYNC_ENTRIES);
	return fake;
}

void fake_clr_destroy(struct fake_clr *fake)
{
	if (!fake)
		return;
	heap_destroy(fake->heap);
	runtime_destroy(fake->runtime);
	findings_deinit(&fake->target.findings);
	relocation_cache_destroy(fake->target.files.relocations);
	for (size_t i = 0; i < fake->target.module_count; i++)
		mem_free(fake->target.modules[i].path);
	mem_free(fake->target.modules);
	mem_free(fake->target.threads.rows);
	fake_memory_deinit(&fake->memory);
	free(fake->threads);
	free(fake);
}

/* The GCDesc grows down from the MethodTable (gcdesc.h): count, then series or runs. */
static uint64_t desc_size(const struct fake_type *type)
{
	if (type->run_count)
		return 16 + 8 * (uint64_t)type->run_count;
	return type->series_count ? 8 + 16 * (uint64_t)type->series_count : 0;
}

static void write_desc(struct fake_clr *fake, uint64_t method_table, const struct fake_type *type)
{
	struct fake_memory *memory = &fake->memory;
	if (type->run_count) {
		fake_poke_u64(memory, method_table - 8, (uint64_t)0 - type->run_count);
		fake_poke_u64(memory, method_table - 16, type->runs_offset);
		for (size_t i = 0; i < type->run_count; i++) {
			uint64_t at = method_table - 24 - 8 * (uint64_t)i;
			fake_poke_u32(memory, at, type->runs[i].pointers);
			fake_poke_u32(memory, at + 4, type->runs[i].skip);
		}
	} else if (type->series_count) {
		fake_poke_u64(memory, method_table - 8, type->series_count);
		for (size_t i = 0; i < type->series_count; i++) {
			uint64_t at = method_table - 24 - 16 * (uint64_t)i;
			fake_poke_u64(memory, at, (uint64_t)type->series[i].size);
			fake_poke_u64(memory, at + 8, type->series[i].offset);
		}
	}
}

uint64_t fake_type(struct fake_clr *fake, const struct fake_type *type)
{
	struct fake_memory *memory = &fake->memory;
	uint64_t below = (desc_size(type) + 15) & ~(uint64_t)15;
	uint64_t method_table = fake_alloc(memory, below + TABLE_SIZE) + below;
	uint64_t ee_class = fake_alloc(memory, CLASS_SIZE);
	uint32_t flags = type->flags;
	if (type->component_size)
		flags |= MT_HAS_COMPONENT_SIZE | type->component_size;
	if (type->series_count || type->run_count)
		flags |= MT_CONTAINS_GC_POINTERS;
	write_desc(fake, method_table, type);
	fake_poke_u32(memory, fake_at(fake, method_table, L_MT_FLAGS), flags);
	fake_poke_u32(memory, fake_at(fake, method_table, L_MT_BASE_SIZE), type->base_size);
	fake_poke_u32(memory, fake_at(fake, method_table, L_MT_FLAGS2), type->token << 8);
	fake_poke_u64(memory, fake_at(fake, method_table, L_MT_PARENT),
		      type->parent ? type->parent : fake->object_type);
	fake_poke_u64(memory, fake_at(fake, method_table, L_MT_MODULE), fake->module);
	fake_poke_u64(memory, fake_at(fake, method_table, L_MT_CLASS), ee_class);
	fake_poke_u64(memory, fake_at(fake, method_table, L_MT_PER_INST), type->per_inst);
	fake_poke_u64(memory, fake_at(fake, ee_class, L_CLASS_METHOD_TABLE), method_table);
	return method_table;
}

uint64_t fake_continuation_type(struct fake_clr *fake, uint64_t parent, uint64_t first,
				uint32_t size)
{
	/* Next, then the data's; a size is stored less that of the object. */
	const struct gc_series series[] = { { .size = 8 - (int64_t)size, .offset = 8 },
					    { .size = 16 - (int64_t)size, .offset = 32 },
					    { .size = 8 - (int64_t)size, .offset = 56 } };
	uint64_t type = fake_type(fake, &(struct fake_type){ .base_size = size,
							     .parent = parent,
							     .series = series,
							     .series_count = size < 72 ? 1 : 3 });
	if (first) {
		uint64_t ee_class = fake_peek_u64(&fake->memory, fake_at(fake, first, L_MT_CLASS));
		fake_poke_u64(&fake->memory, fake_at(fake, type, L_MT_CLASS), ee_class);
	}
	return type;
}

uint64_t fake_array_type(struct fake_clr *fake, uint64_t element)
{
	const struct gc_series all = { .size = -24, .offset = 16 };
	return fake_type(fake, &(struct fake_type){ .base_size = 24,
						    .component_size = 8,
						    .flags = 0x000a0000u, /* SZ array */
						    .per_inst = element,
						    .series = &all,
						    .series_count = 1 });
}

/* Address of generation @p number's structure. */
static uint64_t generation_at(struct fake_clr *fake, uint32_t heap, uint32_t number)
{
	uint64_t table = fake->gc.generation_table;
	if (fake->gc.is_server)
		table = fake_peek_u64(&fake->memory, fake->gc.heaps + 8 * (uint64_t)heap) +
			HEAP_GENERATIONS;
	return table + (uint64_t)number * FAKE_GENERATION_SIZE;
}

/* Address of a variable of the heap. */
static uint64_t variable_at(struct fake_clr *fake, uint32_t heap, uint64_t workstation,
			    uint64_t offset)
{
	if (!fake->gc.is_server)
		return workstation;
	return fake_peek_u64(&fake->memory, fake->gc.heaps + 8 * (uint64_t)heap) + offset;
}

static uint64_t flags_of(enum generation generation)
{
	switch (generation) {
	case GENERATION_NONGC:
		return 1;
	case GENERATION_LOH:
		return 8;
	case GENERATION_POH:
		return 0x200;
	default:
		return 0;
	}
}

static void set_end(struct fake_clr *fake, uint64_t end)
{
	fake_poke_u64(&fake->memory, fake->end_slot, end);
	fake_poke_u64(&fake->memory, fake->segment + SEGMENT_ALLOCATED, end);
}

uint64_t fake_segment(struct fake_clr *fake, uint32_t heap, enum generation generation,
		      uint64_t size)
{
	struct fake_memory *memory = &fake->memory;
	bool is_gen2 = generation == GENERATION_NONGC || generation == GENERATION_EPHEMERAL;
	uint32_t list = is_gen2 ? 2 : (uint32_t)generation;
	uint64_t begin = fake->next_segment + FAKE_SEGMENT_HEAD;
	fake_map(memory, fake->next_segment, FAKE_SEGMENT_HEAD + size);
	fake->next_segment = (begin + size + FAKE_SEGMENT_GAP) & ~(uint64_t)(FAKE_SEGMENT_GAP - 1);
	uint64_t segment = fake_alloc(memory, SEGMENT_SIZE);
	uint64_t link = generation_at(fake, heap, list) +
			(uint64_t)fake->gc.generation_offsets[GC_GENERATION_START_SEGMENT];
	while (fake_peek_u64(memory, link))
		link = fake_peek_u64(memory, link) + SEGMENT_NEXT;
	fake_poke_u64(memory, link, segment);
	fake_poke_u64(memory, segment + SEGMENT_COMMITTED, begin + size);
	fake_poke_u64(memory, segment + SEGMENT_RESERVED, begin + size);
	fake_poke_u64(memory, segment + SEGMENT_MEM, begin);
	fake_poke_u64(memory, segment + SEGMENT_FLAGS, flags_of(generation));
	fake->segment = segment;
	fake->end_slot = segment + SEGMENT_ALLOCATED;
	bool is_ephemeral = fake->options.has_segments ? generation == GENERATION_EPHEMERAL
						       : generation == GENERATION_0;
	if (is_ephemeral) {
		fake->end_slot =
			variable_at(fake, heap, fake->gc.alloc_allocated, HEAP_ALLOC_ALLOCATED);
		fake_poke_u64(memory,
			      variable_at(fake, heap, fake->gc.ephemeral_segment, HEAP_EPHEMERAL),
			      segment);
	}
	set_end(fake, begin);
	if (generation == GENERATION_EPHEMERAL) {
		fake_begin_generation(fake, heap, GENERATION_1);
		fake_begin_generation(fake, heap, GENERATION_0);
	}
	return segment;
}

uint64_t fake_end(struct fake_clr *fake)
{
	return fake_peek_u64(&fake->memory, fake->end_slot);
}

void fake_begin_generation(struct fake_clr *fake, uint32_t heap, enum generation generation)
{
	int32_t offset = fake->gc.generation_offsets[GC_GENERATION_ALLOCATION_START];
	uint64_t slot = generation_at(fake, heap, (uint32_t)generation) + (uint64_t)offset;
	fake_poke_u64(&fake->memory, slot, fake_end(fake));
}

uint64_t fake_hole(struct fake_clr *fake, uint64_t size)
{
	uint64_t address = fake_end(fake);
	set_end(fake, address + size);
	return address;
}

uint64_t fake_object(struct fake_clr *fake, uint64_t method_table, uint32_t length)
{
	struct fake_memory *memory = &fake->memory;
	uint32_t flags = 0, base_size = 0;
	if (!memory_u32(&memory->memory, fake_at(fake, method_table, L_MT_FLAGS), &flags) ||
	    !memory_u32(&memory->memory, fake_at(fake, method_table, L_MT_BASE_SIZE), &base_size))
		abort();
	uint64_t size = base_size;
	if (flags & MT_HAS_COMPONENT_SIZE)
		size += (uint64_t)(flags & 0xffff) * length;
	uint64_t address = fake_hole(fake, align8(size < 24 ? 24 : size));
	fake_poke_u64(memory, address, method_table);
	if (flags & MT_HAS_COMPONENT_SIZE)
		fake_poke_u32(memory, address + 8, length);
	return address;
}

uint64_t fake_free(struct fake_clr *fake, uint64_t size)
{
	return fake_object(fake, fake->free_type, (uint32_t)(size - 24));
}

uint64_t fake_string(struct fake_clr *fake, const char *text)
{
	uint32_t length = (uint32_t)strlen(text);
	uint64_t address = fake_object(fake, fake->string_type, length);
	for (uint32_t i = 0; i < length; i++)
		fake_poke(&fake->memory, address + 12 + 2 * (uint64_t)i, &text[i], 1);
	return address;
}

struct runtime_thread *fake_thread(struct fake_clr *fake)
{
	fake->threads = realloc(fake->threads, (fake->thread_count + 1) * sizeof(*fake->threads));
	if (!fake->threads)
		abort();
	struct runtime_thread *thread = &fake->threads[fake->thread_count++];
	*thread = (struct runtime_thread){ .address = fake_alloc(&fake->memory, 2048),
					   .id = (uint32_t)fake->thread_count,
					   .os_id = 1000 + fake->thread_count };
	return thread;
}

uint64_t fake_context(struct fake_clr *fake, uint64_t size)
{
	uint64_t address = fake_hole(fake, size);
	struct runtime_thread *thread = fake_thread(fake);
	thread->alloc_pointer = address;
	thread->alloc_limit = address + size - CONTEXT_RESERVE;
	return address;
}

void fake_header(struct fake_clr *fake, uint64_t object, uint32_t word)
{
	fake_poke_u32(&fake->memory, object - 4, word);
}

uint32_t fake_sync_block(struct fake_clr *fake, uint64_t object)
{
	uint32_t index = ++fake->sync_count;
	if (index >= SYNC_ENTRIES)
		abort();
	uint64_t entry = fake->sync_table + 16 * (uint64_t)index;
	uint64_t block = fake_alloc(&fake->memory, 80);
	fake_poke_u32(&fake->memory, fake_at(fake, block, L_SYNC_BLOCK_INDEX), index);
	fake_poke_u64(&fake->memory, entry, block);
	fake_poke_u64(&fake->memory, entry + 8, object);
	fake_header(fake, object, 0x08000000u | index);
	return index;
}

struct runtime *fake_runtime(struct fake_clr *fake)
{
	if (fake->runtime)
		return fake->runtime;
	struct coreclr *coreclr = mem_calloc(1, sizeof(*coreclr));
	if (!coreclr)
		abort();
	struct runtime *runtime = &coreclr->base;
	fake->target.kind = TARGET_CORE;
	fake->target.is_64 = true;
	fake->target.memory = fake->target.own = &fake->memory.memory;
	fake->runtime = runtime;
	runtime->target = &fake->target;
	runtime->ops = &coreclr_ops;
	runtime->memory = &fake->memory.memory;
	coreclr->major = fake->options.release;
	(void)snprintf(runtime->version, sizeof(runtime->version), "%u.0", coreclr->major);
	runtime->gc = fake->gc;
	coreclr->layout = fake->layout;
	runtime->tables.free = fake->free_type;
	runtime->tables.object = fake->object_type;
	coreclr->globals.string_method_table = fake->string_type;
	runtime->tables.object_array = fake->object_array_type;
	coreclr->globals.sync_table = fake->sync_table;
	runtime->threads.is_whole = true;
	runtime->threads.knows_modes = coreclr_has_field(runtime, L_THREAD_COOPERATIVE);
	runtime->threads.knows_exceptions = coreclr_has_field(runtime, L_THREAD_EXCEPTION);
	runtime->alloc_layout = coreclr_alloc_layout(runtime);
	runtime->has_cross_references = coreclr_has(runtime, CORECLR_CROSS_REFERENCES);
	if (runtime_type_table_create(&runtime->types, NULL) != HD_OK ||
	    module_table_create(runtime, &coreclr->modules, NULL) != HD_OK)
		abort();
	return runtime;
}

/* Five levels of 256 pointers by the bits of an address, then fragments. */
uint64_t fake_range_map(struct fake_clr *fake, uint64_t code)
{
	static const unsigned int shifts[] = { 49, 41, 33, 25 };
	struct fake_memory *memory = &fake->memory;
	uint64_t table = fake_alloc(memory, (uint64_t)8 * 256);
	coreclr_of(fake->runtime)->globals.dac_table = fake_alloc(memory, 8);
	coreclr_of(fake->runtime)->globals.dac_count = 1;
	fake_poke_u64(memory, coreclr_of(fake->runtime)->globals.dac_table, table);
	for (size_t i = 0; i < 4; i++) {
		uint64_t next = fake_alloc(memory, (uint64_t)8 * 256);
		fake_poke_u64(memory, table + 8 * (code >> shifts[i] & 255), next);
		table = next;
	}
	return table + 8 * (code >> 17 & 255);
}

void fake_forget_code(struct fake_clr *fake)
{
	struct coreclr *coreclr = coreclr_of(fake->runtime);
	code_cache_destroy(fake->runtime->code);
	fake->runtime->code = NULL;
	code_tables_destroy(coreclr->code);
	coreclr->code = NULL;
}

struct heap *fake_heap(struct fake_clr *fake)
{
	struct runtime *runtime = fake_runtime(fake);
	heap_destroy(fake->heap);
	fake->heap = NULL;
	mem_free(runtime->threads.rows);
	runtime->threads.rows = mem_alloc(fake->thread_count + 1, sizeof(*runtime->threads.rows));
	if (!runtime->threads.rows)
		abort();
	if (fake->thread_count)
		memcpy(runtime->threads.rows, fake->threads,
		       fake->thread_count * sizeof(*runtime->threads.rows));
	runtime->threads.count = fake->thread_count;
	runtime->threads.is_whole = true;
	runtime->threads.knows_modes = coreclr_has_field(runtime, L_THREAD_COOPERATIVE);
	runtime->threads.knows_exceptions = coreclr_has_field(runtime, L_THREAD_EXCEPTION);
	runtime->alloc_layout = coreclr_alloc_layout(runtime);
	runtime->has_cross_references = coreclr_has(runtime, CORECLR_CROSS_REFERENCES);
	runtime->gc = fake->gc;
	if (heap_open(runtime, &fake->heap, NULL) != HD_OK)
		abort();
	return fake->heap;
}

void fake_expose(struct fake_clr *fake, uint64_t handle, uint64_t object, uint64_t loader)
{
	struct fake_memory *memory = &fake->memory;
	uint64_t scout = fake_alloc(memory, 24);
	fake_poke_u64(memory, handle, object);
	fake_poke_u64(memory, object + 8, scout);
	fake_poke_u64(memory, scout + 8, loader);
}
