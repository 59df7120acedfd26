/* SPDX-License-Identifier: MIT */
/*
 * The heaps in which the runtime keeps what it loads and compiles: found by their shape, from the
 * LoaderAllocators of all modules and from the map of code (doc/memory.md 3).
 */
#include "runtime/coreclr/loader/loader_heaps.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "mem/memory.h"
#include "runtime/coreclr/code/code_parts.h"
#include "runtime/coreclr/internal.h"
#include "runtime/coreclr/layouts/loader_heap.h"
#include "runtime/coreclr/modules/module.h"
#include "targets/elf_image.h"
#include "targets/target.h"
#include "util/alloc.h"
#include "util/job.h"
#include "util/sort.h"

/* Most blocks of all heaps, and most of one. */
#define BLOCKS_MAX      ((size_t)1 << 20)
#define HEAP_BLOCKS_MAX 65536u

/* Most LoaderAllocators. */
#define ALLOCATORS_MAX 65536u

/* Most heaps of one LoaderAllocator, and most words of objects and blocks that are read in all. */
#define HEAPS_OF_ALLOCATOR 64u
#define LOADER_WORDS_MAX   ((uint64_t)1 << 23)

/* Sizes of the pieces of malloc that hold objects of the runtime. */
#define RUNTIME_OBJECT_MIN 64u
#define RUNTIME_OBJECT_MAX 65536u

struct reading {
	struct runtime *runtime;
	struct job *job;
	struct loader_heaps *heaps;
	uint64_t image_start, image_end; /* of the runtime: its vtables are there */
	uint64_t words;                  /* that were read so far */
	size_t global_heaps;             /* how many of the heaps the global one has */
	struct hd_error *err;
};

/* Whose heaps are read. */
struct owner {
	size_t allocator; /* index */
	size_t first;     /* its first heap */
};

/* Where the runtime's image is in memory. */
static void find_image(struct reading *reading)
{
	Elf64_Phdr programs[ELF_IMAGE_PROGRAMS];
	const struct runtime *runtime = reading->runtime;
	uint64_t base = coreclr_of(runtime)->module->base;
	size_t count = elf_image_programs(runtime->memory, base, programs);
	for (size_t i = 0; i < count; i++) {
		uint64_t end = base + programs[i].p_vaddr + programs[i].p_memsz;
		if (programs[i].p_type == PT_LOAD && end > reading->image_end &&
		    end < reading->runtime->target->arch->space.user_end)
			reading->image_end = end;
	}
	reading->image_start = base;
}

static bool is_in_runtime(const struct reading *reading, uint64_t address)
{
	return address >= reading->image_start && address < reading->image_end;
}

/* The heap at @p address, if it is known among those from @p first to @p end. */
static struct loader_heap *known_heap(const struct loader_heaps *heaps, uint64_t address,
				      size_t first, size_t end)
{
	for (size_t i = first; i < end; i++) {
		if (heaps->heaps[i].address == address)
			return &heaps->heaps[i];
	}
	return NULL;
}

/* Append the blocks from @p at on; false: they are not blocks of a heap. */
static bool read_loader_blocks(struct reading *reading, uint64_t at, enum hd_status *status)
{
	struct loader_heaps *heaps = reading->heaps;
	size_t first = heaps->blocks_count;
	uint64_t mark = 0, steps = 0, power = 1; /* Brent's algorithm */
	while (at) {
		uint64_t words[LOADER_BLOCK_WORDS];
		reading->words += LOADER_BLOCK_WORDS;
		if (at == mark || heaps->blocks_count - first == HEAP_BLOCKS_MAX ||
		    heaps->blocks_count == BLOCKS_MAX ||
		    !memory_read(reading->runtime->memory, at, words, sizeof(words)))
			return false;
		if (!words[1] || words[1] % reading->runtime->target->arch->space.page_min ||
		    words[1] >= reading->runtime->target->arch->space.user_end || !words[2] ||
		    words[2] % reading->runtime->target->arch->space.page_min ||
		    words[2] >= LOADER_BLOCK_SIZE_MAX || (uint32_t)words[3] > 1)
			return false;
		if (!PAGES_RESERVE(heaps, blocks)) {
			*status = fail_nomem(reading->err);
			return false;
		}
		heaps->blocks[heaps->blocks_count++] =
			(struct loader_block){ words[1], words[1] + words[2] };
		if (++steps == power) {
			mark = at;
			power *= 2;
			steps = 0;
		}
		at = words[0];
	}
	return heaps->blocks_count > first;
}

/* Do three words of a heap name places in its newest block, where a release has them? */
static bool has_place(const uint64_t *words, const struct loader_block *block)
{
	static const uint8_t places[] = { LOADER_HEAP_PLACE_10, LOADER_HEAP_PLACE_11,
					  LOADER_HEAP_PLACE_8 };
	for (size_t i = 0; i < sizeof(places); i++) {
		const uint64_t *place = words + places[i];
		if (place[0] >= block->start && place[0] <= place[1] && place[1] <= place[2] &&
		    place[2] <= block->end && place[2] > block->start)
			return true;
	}
	return false;
}

/* Does a heap for code have this block? Such heaps are listed apart. */
static bool is_code_block(const struct loader_heaps *heaps, const struct loader_block *block)
{
	size_t at = ROWS_ABOVE(heaps->codes, heaps->codes_count, end, block->start);
	return at < heaps->codes_count && heaps->codes[at].start <= block->start &&
	       heaps->codes[at].kind != CODE_HEAP_STUBS;
}

/* Add the heap at @p address, if there is one. */
static enum hd_status add_heap(struct reading *reading, size_t allocator, uint64_t address,
			       const char *name)
{
	struct loader_heaps *heaps = reading->heaps;
	uint64_t words[LOADER_HEAP_WORDS];
	size_t first = heaps->blocks_count;
	enum hd_status status = HD_OK;
	if (reading->words > LOADER_WORDS_MAX) {
		heaps->is_partial = true;
		return HD_OK;
	}
	if (!memory_read(reading->runtime->memory, address, words, sizeof(words)) ||
	    !is_in_runtime(reading, words[0]) || !words[LOADER_HEAP_FIRST_BLOCK])
		return HD_OK;
	bool good = read_loader_blocks(reading, words[LOADER_HEAP_FIRST_BLOCK], &status);
	if (!good || !has_place(words, &heaps->blocks[first]) ||
	    is_code_block(heaps, &heaps->blocks[first])) {
		heaps->blocks_count = first;
		return status;
	}
	TRY_MEMORY(PAGES_RESERVE(heaps, heaps), reading->err);
	heaps->heaps[heaps->heaps_count++] = (struct loader_heap){ address, allocator, name, first,
								   heaps->blocks_count - first };
	return HD_OK;
}

struct heap_names {
	const char *name;
	enum layout_field pointer;
};

#define NAME(name, pointer) { name, L_##pointer },
static const struct heap_names allocator_names[] = { LOADER_HEAP_NAMES(NAME) };
static const struct heap_names stub_names[] = { STUB_HEAP_NAMES(NAME) };
#undef NAME

/* The name of the heap whose pointer is at @p offset. */
static const char *heap_name(const struct runtime *runtime, const struct heap_names *names,
			     size_t count, uint64_t offset)
{
	for (size_t i = 0; i < count; i++) {
		if (layout_has(&coreclr_of(runtime)->layout, names[i].pointer) &&
		    coreclr_offset(runtime, names[i].pointer) == offset)
			return names[i].name;
	}
	return "Unknown";
}

#define HEAP_NAME(runtime, names, offset) \
	heap_name(runtime, names, sizeof(names) / sizeof((names)[0]), offset)

/*
 * Bytes of the object at @p address, by the size that malloc has in front of it; 0: it has none.
 * Without this bound the next object would be taken for a part of it.
 */
static uint64_t malloc_object_size(const struct reading *reading, uint64_t address)
{
	uint64_t size;
	if (!memory_u64(reading->runtime->memory, address - 8, &size) || size & 2)
		return 0;
	size &= ~(uint64_t)7;
	return size >= RUNTIME_OBJECT_MIN && size <= RUNTIME_OBJECT_MAX && size % 16 == 0 ? size - 8
											  : 0;
}

/* Several pointers may lead to a heap that is @p known, in any order; one of them tells its name. */
static void name_heap(struct loader_heap *known, const char *name)
{
	if (strcmp(known->name, "Unknown") == 0)
		known->name = name;
}

/* A pointer at @p offset of an object that a LoaderAllocator has: does it lead to a heap? */
static enum hd_status add_heap_of_object(struct reading *reading, const struct owner *owner,
					 uint64_t heap, uint64_t offset)
{
	struct loader_heaps *heaps = reading->heaps;
	const char *name = HEAP_NAME(reading->runtime, stub_names, offset);
	struct loader_heap *known = known_heap(heaps, heap, owner->first, heaps->heaps_count);
	if (known) {
		name_heap(known, name);
		return HD_OK;
	}
	if (heap % 8 || heap < reading->runtime->target->arch->space.user_begin ||
	    heap >= reading->runtime->target->arch->space.user_end ||
	    heaps->heaps_count - owner->first >= HEAPS_OF_ALLOCATOR ||
	    known_heap(heaps, heap, 0, reading->global_heaps))
		return HD_OK;
	return add_heap(reading, owner->allocator, heap, name);
}

/*
 * Heaps that an object of a LoaderAllocator has, such as that of its virtual call stubs.  Other
 * LoaderAllocators have heaps that are parts of themselves.
 */
static enum hd_status add_heaps_of_object(struct reading *reading, const struct owner *owner,
					  uint64_t object)
{
	uint64_t vtable, size = object % 16 ? 0 : malloc_object_size(reading, object);
	if (!size || !memory_u64(reading->runtime->memory, object, &vtable) ||
	    !is_in_runtime(reading, vtable) || loader_allocator_at(reading->heaps, object))
		return HD_OK;
	for (uint64_t offset = 8; offset + 8 <= size && reading->words <= LOADER_WORDS_MAX;
	     offset += 8) {
		uint64_t heap;
		reading->words++;
		if (!memory_u64(reading->runtime->memory, object + offset, &heap))
			return HD_OK;
		if (heap < object || heap - object >= size)
			TRY(add_heap_of_object(reading, owner, heap, offset));
	}
	return HD_OK;
}

static enum hd_status read_loader_allocator(struct reading *reading, size_t index)
{
	struct loader_heaps *heaps = reading->heaps;
	const struct loader_allocator *allocator = &heaps->allocators[index];
	const struct owner owner = { index, heaps->heaps_count };
	uint64_t words[LOADER_ALLOCATOR_BYTES / 8], address = allocator->address;
	uint64_t size = allocator->is_global ? 0 : malloc_object_size(reading, address);
	if (!size || size > sizeof(words))
		size = sizeof(words);
	size_t count = memory_prefix(reading->runtime->memory, address, words, (size_t)size) / 8;
	for (size_t i = 0; i < count; i++) {
		if (words[i] % 8 || words[i] < address || words[i] - address >= size)
			continue;
		const char *name = HEAP_NAME(reading->runtime, allocator_names, 8 * (uint64_t)i);
		struct loader_heap *known =
			known_heap(heaps, words[i], owner.first, heaps->heaps_count);
		if (known) {
			name_heap(known, name);
		} else if (heaps->heaps_count - owner.first < HEAPS_OF_ALLOCATOR) {
			TRY(add_heap(reading, index, words[i], name));
		}
	}
	for (size_t i = 0; i < count; i++) {
		bool is_own = words[i] >= address && words[i] - address < size;
		if (words[i] && words[i] < reading->runtime->target->arch->space.user_end &&
		    !is_own)
			TRY(add_heaps_of_object(reading, &owner, words[i]));
	}
	if (allocator->is_global)
		reading->global_heaps = heaps->heaps_count;
	return job_step(reading->job, 0, 1) ? HD_OK : fail_cancelled(reading->err);
}

static int compare_allocators(const void *a, const void *b)
{
	const struct loader_allocator *left = a, *right = b;
	if (left->is_global != right->is_global)
		return left->is_global ? -1 : 1;
	return (left->address > right->address) - (left->address < right->address);
}

/*
 * Find the allocators of all modules, each once; the global one, which is CoreLib's, comes first.
 */
static enum hd_status find_allocators(struct reading *reading)
{
	struct loader_heaps *heaps = reading->heaps;
	struct module *const *modules;
	size_t count, kept = 0;
	uint64_t global = 0;
	if (!layout_has(&coreclr_of(reading->runtime)->layout, L_MODULE_LOADER_ALLOCATOR)) {
		return fail(reading->err, HD_ERR_UNSUPPORTED, 0,
			    "where a module has its LoaderAllocator is not known of .NET %s",
			    reading->runtime->version);
	}
	TRY(module_list(reading->runtime, &modules, &count, reading->err));
	for (size_t i = 0; i < count && i < ALLOCATORS_MAX; i++) {
		uint64_t address = 0;
		if (!coreclr_pointer(reading->runtime, modules[i]->address,
				     L_MODULE_LOADER_ALLOCATOR, &address) ||
		    !address)
			continue;
		global = i ? global : address;
		TRY_MEMORY(PAGES_RESERVE(heaps, allocators), reading->err);
		heaps->allocators[heaps->allocators_count++] =
			(struct loader_allocator){ address, address == global, modules[i] };
	}
	if (!heaps->allocators_count)
		return HD_OK;
	qsort(heaps->allocators, heaps->allocators_count, sizeof(*heaps->allocators),
	      compare_allocators);
	for (size_t i = 0; i < heaps->allocators_count; i++) {
		if (!kept || heaps->allocators[kept - 1].address != heaps->allocators[i].address)
			heaps->allocators[kept++] = heaps->allocators[i];
	}
	heaps->allocators_count = kept;
	return HD_OK;
}

ORDER_BY(compare_codes, struct code_heap, start)

/* Read the runtime's own description of a heap for code. */
static void read_code_heap(struct reading *reading, const uint64_t *section, struct code_heap *code)
{
	struct memory *memory = reading->runtime->memory;
	uint64_t list[HEAP_LIST_WORDS], base;
	if (!memory_read(memory, section[SECTION_HEAP_LIST], list, sizeof(list)) ||
	    !coreclr_pointer(reading->runtime, list[HEAP_LIST_HEAP], L_HOST_CODE_BASE, &base)) {
		reading->heaps->is_partial = true;
		return;
	}
	code->kind = base == code->start ? CODE_HEAP_HOST : CODE_HEAP_LOADER;
	code->allocator = list[HEAP_LIST_ALLOCATOR];
	if (list[HEAP_LIST_USED] >= code->start && list[HEAP_LIST_USED] <= code->end)
		code->used = list[HEAP_LIST_USED];
}

static enum hd_status add_code(struct reading *reading, uint64_t section)
{
	struct loader_heaps *heaps = reading->heaps;
	uint64_t words[SECTION_WORDS];
	if (!memory_read(reading->runtime->memory, section, words, sizeof(words))) {
		heaps->is_partial = true;
		return HD_OK;
	}
	/* The heaps of dynamic methods end 16 bytes before a page. */
	struct code_heap code = {
		.start = page_of(reading->runtime->target->arch->space.page_min, words[0]),
		.end = page_align(reading->runtime->target->arch->space.page_min, words[1]),
		.manager = words[SECTION_MANAGER],
		.kind = CODE_HEAP_STUBS
	};
	if (!(words[SECTION_FLAGS] & (SECTION_CODE_HEAP | SECTION_RANGES)) ||
	    words[0] >= words[1] || words[1] > reading->runtime->target->arch->space.user_end)
		return HD_OK;
	code.used = code.end;
	if (words[SECTION_FLAGS] & SECTION_CODE_HEAP)
		read_code_heap(reading, words, &code);
	TRY_MEMORY(PAGES_RESERVE(heaps, codes), reading->err);
	heaps->codes[heaps->codes_count++] = code;
	return HD_OK;
}

static enum hd_status read_codes(struct reading *reading)
{
	struct code_sections sections = { 0 };
	enum hd_status status =
		code_sections_read(reading->runtime, &sections) ? HD_OK : fail_nomem(reading->err);
	reading->heaps->is_partial |= sections.is_partial;
	for (size_t i = 0; status == HD_OK && i < sections.rows_count; i++) {
		if (!i || sections.rows[i] != sections.rows[i - 1])
			status = add_code(reading, sections.rows[i]);
	}
	code_sections_deinit(&sections);
	if (status == HD_OK && reading->heaps->codes_count) {
		qsort(reading->heaps->codes, reading->heaps->codes_count,
		      sizeof(*reading->heaps->codes), compare_codes);
	}
	return status;
}

static enum hd_status read_loader(struct reading *reading)
{
	find_image(reading);
	TRY(find_allocators(reading));
	TRY(read_codes(reading));
	for (size_t i = 0; i < reading->heaps->allocators_count; i++)
		TRY(read_loader_allocator(reading, i));
	return HD_OK;
}

enum hd_status loader_heaps_read(struct runtime *runtime, struct job *job, struct loader_heaps *ret,
				 struct hd_error *err)
{
	struct loader_heaps heaps = { 0 };
	struct reading reading = { .runtime = runtime, .job = job, .heaps = &heaps, .err = err };
	if (!coreclr_is(runtime)) {
		*ret = (struct loader_heaps){ .is_partial = true };
		return HD_OK;
	}
	enum hd_status status = read_loader(&reading);
	if (status != HD_OK) {
		loader_heaps_deinit(&heaps);
		return status;
	}
	*ret = heaps;
	return HD_OK;
}

void loader_heaps_deinit(struct loader_heaps *heaps)
{
	pages_free(heaps->allocators, heaps->allocators_capacity, sizeof(*heaps->allocators));
	pages_free(heaps->heaps, heaps->heaps_capacity, sizeof(*heaps->heaps));
	pages_free(heaps->blocks, heaps->blocks_capacity, sizeof(*heaps->blocks));
	pages_free(heaps->codes, heaps->codes_capacity, sizeof(*heaps->codes));
	*heaps = (struct loader_heaps){ 0 };
}
