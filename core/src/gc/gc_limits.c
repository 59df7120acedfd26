/* SPDX-License-Identifier: MIT */
#include "gc/gc_limits.h"

#include <elf.h>

#include "gc/layouts/gc_vars.h"
#include "mem/memory.h"
#include "targets/elf_image.h"
#include "targets/target.h"
#include "util/alloc.h"

/* Since this version of GcDacVars it has the address of dynamic_adaptation_mode there. */
#define ADAPTATION_MINOR 4u
#define ADAPTATION_AT    320u

/* More data than the module of a GC has. */
#define DATA_MAX ((uint64_t)8 << 20)

/* Default percentages of the memory load, and what the words around them are (doc/memory.md 8.2). */
enum {
	WORD_SHARE = 0,
	WORD_SHARE_AGAIN = 8,
	WORD_PERCENTS = 16,
	WORD_MACHINE = 40,
	WORD_HEAP = 56,
};

bool gc_limits_parse(const struct address_space *space, const uint8_t *bytes, struct gc_limits *ret)
{
	static const uint32_t percents[] = { 90, 95, 97, 85 };
	uint64_t share = load_u64(bytes + WORD_SHARE), machine = load_u64(bytes + WORD_MACHINE);
	uint64_t heap = load_u64(bytes + WORD_HEAP);
	for (size_t i = 0; i < sizeof(percents) / sizeof(percents[0]); i++) {
		if (load_u32(bytes + WORD_PERCENTS + 4 * i) != percents[i])
			return false;
	}
	if (!share || share != load_u64(bytes + WORD_SHARE_AGAIN) ||
	    (share != machine / 100 && share != machine / 200) || heap > space->user_end)
		return false;
	ret->is_known = true;
	ret->machine = machine;
	ret->heap = heap;
	return true;
}

/* The image that has the GC: the runtime's own, or that of a GC that is a library. */
static uint64_t gc_image(const struct runtime *runtime)
{
	const struct target *target = runtime_target(runtime);
	uint64_t variable = runtime_gc(runtime)->structures_invalid_at, found = 0;
	for (size_t i = 0; i < target->module_count; i++) {
		uint64_t base = target->modules[i].base;
		if (base <= variable && base > found)
			found = base;
	}
	return found;
}

/* Look at the words of [start, end); more than one place with the shape is none. */
static unsigned int look_at_data(const struct runtime *runtime, uint64_t start, uint64_t end,
				 struct gc_limits *ret)
{
	uint64_t size = end - start;
	unsigned int count = 0;
	HD_FREE uint8_t *bytes = size <= DATA_MAX ? mem_alloc((size_t)size, 1) : NULL;
	if (!bytes)
		return 0;
	/* A core may lack pages of it. */
	for (size_t at = 0, part; at < size; at += part) {
		part = size - at < runtime_arch(runtime)->space.page_min
			       ? (size_t)size - at
			       : runtime_arch(runtime)->space.page_min;
		size_t got = memory_prefix(runtime_memory(runtime), start + at, bytes + at, part);
		memset(bytes + at + got, 0, part - got);
	}
	for (size_t at = 0; at + GC_LIMITS_SIZE <= size; at += 8)
		count += gc_limits_parse(&runtime_arch(runtime)->space, bytes + at, ret);
	return count;
}

static void find_limits(const struct runtime *runtime, struct gc_limits *ret)
{
	Elf64_Phdr programs[ELF_IMAGE_PROGRAMS];
	uint64_t base = gc_image(runtime);
	size_t count = base ? elf_image_programs(runtime_memory(runtime), base, programs) : 0;
	struct gc_limits limits = { 0 };
	unsigned int found = 0;
	for (size_t i = 0; i < count; i++) {
		const Elf64_Phdr *program = &programs[i];
		if (program->p_type != PT_LOAD || !(program->p_flags & PF_W) ||
		    program->p_vaddr >= runtime_arch(runtime)->space.user_end ||
		    program->p_memsz > DATA_MAX)
			continue;
		uint64_t start = base + program->p_vaddr;
		found +=
			look_at_data(runtime, page_of(runtime_arch(runtime)->space.page_min, start),
				     start + program->p_memsz, &limits);
	}
	if (found == 1)
		*ret = limits;
}

static void read_adaptation(const struct runtime *runtime, struct gc_limits *ret)
{
	uint64_t variable;
	int32_t mode;
	if (runtime_gc(runtime)->minor < ADAPTATION_MINOR ||
	    !memory_u64(runtime_memory(runtime), runtime_gc(runtime)->address + ADAPTATION_AT,
			&variable) ||
	    !variable || !memory_i32(runtime_memory(runtime), variable, &mode) ||
	    (mode != 0 && mode != 1))
		return;
	ret->has_adaptation = true;
	ret->is_adaptive = mode == 1;
}

void gc_limits_read(const struct runtime *runtime, struct gc_limits *ret)
{
	*ret = (struct gc_limits){ 0 };
	find_limits(runtime, ret);
	read_adaptation(runtime, ret);
}
