/* SPDX-License-Identifier: MIT */
/*
 * Claims the memory of malloc: its arenas, and large pieces that it mapped on their own; of musl, its groups
 * (doc/memory.md 5); and what the dynamic linker has taken before there was a malloc (4.1).
 */
#include <elf.h>
#include <string.h>

#include "native/memory_parts.h"
#include "native/musl_malloc.h"
#include "targets/elf_image.h"
#include "targets/process/process_residency.h"
#include "targets/target.h"
#include "targets/target_modules.h"
#include "util/alloc.h"
#include "util/sort.h"

/* Most bytes of the C library's data that are searched. */
#define DATA_MAX ((uint64_t)1 << 20)

static const struct {
	const char *name, *symbol;
} others[] = {
	{ "jemalloc", "mallctl" },
	{ "mimalloc", "mi_version" },
	{ "tcmalloc", "MallocExtension_GetNumericProperty" },
};

static const struct target_module *find_library(const struct target *target, const char *name)
{
	for (size_t i = 0; i < target->module_count; i++) {
		if (strstr(target->modules[i].path, name))
			return &target->modules[i];
	}
	return NULL;
}

/* The allocator that the program uses instead of that of the C library. */
static const char *find_other(const struct target *target)
{
	for (size_t i = 0; i < target->module_count; i++) {
		for (size_t j = 0; j < sizeof(others) / sizeof(others[0]); j++) {
			uint64_t address;
			if (target_symbol(target, &target->modules[i], others[j].symbol, &address,
					  NULL))
				return others[j].name;
		}
	}
	return NULL;
}

static enum hd_status claim_arena(void *arg, enum malloc_part part, uint64_t start, uint64_t end,
				  struct hd_error *err)
{
	static const enum memory_kind kinds[MALLOC_PARTS] = {
		[MALLOC_USED] = MEMORY_MALLOC_USED,       [MALLOC_FREE] = MEMORY_MALLOC_FREE,
		[MALLOC_TOP] = MEMORY_MALLOC_TOP,         [MALLOC_RECORDS] = MEMORY_MALLOC_HEADER,
		[MALLOC_DAMAGED] = MEMORY_MALLOC_DAMAGED, [MALLOC_MAPPED] = MEMORY_MALLOC_MAPPED,
	};
	return memory_claim_kind(arg, kinds[part], start, end, err);
}

/* Where the main arena begins, if malloc does not tell: where the memory around its end does. */
static uint64_t guess_start(const struct memory_making *making, uint64_t main_arena)
{
	uint64_t top;
	if (!memory_u64(making->memory, main_arena + MALLOC_TOP_OFFSET, &top))
		return 0;
	const struct memory_mapping *mapping = memory_mapping_at(making->account, top);
	return mapping ? mapping->start : 0;
}

static enum hd_status walk_arenas(struct memory_making *making, uint64_t main_arena, uint64_t base,
				  struct hd_error *err)
{
	struct memory_account *account = making->account;
	struct malloc_walk walk = { .memory = making->memory,
				    .job = making->job,
				    .found = claim_arena,
				    .arg = making,
				    .main_start = base ? base : guess_start(making, main_arena),
				    .classes = account->malloc.classes };
	for (size_t i = 0; i < account->mappings_count; i++)
		walk.budget += account->mappings[i].end - account->mappings[i].start;
	enum hd_status status = malloc_walk_arenas(&walk, main_arena, err);
	account->malloc.arenas = walk.arenas;
	account->malloc.arenas_count = walk.arenas_count;
	account->malloc.arenas_capacity = walk.arenas_capacity;
	return status;
}

/* How many bytes there are that can be read, in all mappings. */
static uint64_t readable_bytes(const struct memory_account *account)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < account->mappings_count; i++) {
		const struct memory_mapping *mapping = &account->mappings[i];
		bytes += account->is_live ? mapping->rss + mapping->swap : mapping->captured;
	}
	return bytes;
}

static enum hd_status walk_musl(struct memory_making *making, uint64_t context,
				struct hd_error *err)
{
	struct memory_malloc *malloc = &making->account->malloc;
	struct musl_walk walk = { .memory = making->memory,
				  .job = making->job,
				  .found = claim_arena,
				  .arg = making,
				  .budget = readable_bytes(making->account),
				  .classes = malloc->classes };
	TRY(musl_malloc_walk(&walk, context, err));
	malloc->is_musl = true;
	malloc->mapped_count = walk.mapped_count;
	malloc->mapped_bytes = walk.mapped_bytes;
	making->account->is_partial |= walk.is_damaged;
	return HD_OK;
}

/* Search the data of the C library, and walk what is found. */
static enum hd_status claim_arenas(struct memory_making *making, uint64_t start, uint64_t end,
				   bool is_musl, bool *ret, struct hd_error *err)
{
	uint64_t base, size = end - start < DATA_MAX ? end - start : DATA_MAX;
	HD_FREE uint8_t *bytes = mem_alloc((size_t)size, 1);
	TRY_MEMORY(bytes, err);
	size_t got = memory_prefix(making->memory, start, bytes, (size_t)size);
	uint64_t found = is_musl ? musl_malloc_find(making->memory, start, bytes, got)
				 : malloc_find_main(making->memory, start, bytes, got, &base);
	*ret = found != 0;
	if (!found)
		return HD_OK;
	return is_musl ? walk_musl(making, found, err) : walk_arenas(making, found, base, err);
}

static enum hd_status claim_library(struct memory_making *making,
				    const struct target_module *module, bool is_musl, bool *ret,
				    struct hd_error *err)
{
	Elf64_Phdr programs[ELF_IMAGE_PROGRAMS];
	size_t count = elf_image_programs(making->memory, module->base, programs);
	for (size_t i = 0; !*ret && i < count; i++) {
		const Elf64_Phdr *program = &programs[i];
		uint64_t start = page_of(making->space->page_min, module->base + program->p_vaddr);
		uint64_t end = module->base + program->p_vaddr + program->p_memsz;
		if (program->p_type == PT_LOAD && (program->p_flags & PF_W) && start < end)
			TRY(claim_arenas(making, start, end, is_musl, ret, err));
	}
	return HD_OK;
}

/* Could malloc have mapped it?  The GC's memory, of which there is much, is not looked at. */
static bool may_be_mapped(const struct memory_making *making, const struct memory_mapping *mapping)
{
	/* A range of a core may begin with a file and go on without one. */
	if ((*mapping->path && !mapping->is_named) || mapping->is_shared ||
	    (mapping->flags & (PF_R | PF_W | PF_X)) != (PF_R | PF_W) ||
	    (making->account->is_live && !mapping->rss && !mapping->swap))
		return false;
	return mapping->start < making->gc_lowest || mapping->start >= making->gc_highest;
}

/* If @p at is in memory of a segment or, in a core, of a file: its end; else @p at. */
static uint64_t after_others(const struct memory_making *making, uint64_t at)
{
	const struct heap *heap = making->heap;
	const struct target_mapping *file = NULL;
	if (!making->account->is_live)
		file = target_mapping_at(&making->target->map, at);
	if (file)
		return page_align(making->space->page_min, file->end);
	if (!heap)
		return at;
	size_t next = ROWS_ABOVE(heap->segments, heap->segment_count, begin,
				 at + making->space->page_min - 1);
	if (!next || heap->segments[next - 1].committed <= at)
		return at;
	return page_align(making->space->page_min, heap->segments[next - 1].committed);
}

/* The next page from @p at on that is there and that nobody else is known to have, or the end. */
static uint64_t next_page(const struct memory_making *making, uint64_t at, uint64_t end)
{
	const struct process_residency *residency = making->target->process.residency;
	at = after_others(making, at);
	if (!residency || at >= end)
		return at;
	size_t index = ROWS_ABOVE(residency->pages, residency->pages_count, end, at);
	if (index == residency->pages_count || residency->pages[index].start >= end)
		return end;
	uint64_t start = residency->pages[index].start;
	return start > at ? after_others(making, start) : at;
}

static enum hd_status claim_mapped(struct memory_making *making,
				   const struct memory_mapping *mapping, struct hd_error *err)
{
	uint64_t end = making->account->is_live ? mapping->end : mapping->start + mapping->captured;
	uint64_t at = next_page(making, mapping->start, end);
	for (uint64_t pages = 1; at < end; pages++) {
		uint64_t size = malloc_mapped_size(making->memory, at, end);
		if (size) {
			TRY(memory_claim_kind(making, MEMORY_MALLOC_MAPPED, at, at + size, err));
			malloc_class_add(making->account->malloc.classes, size, true);
			making->account->malloc.mapped_count++;
			making->account->malloc.mapped_bytes += size;
		}
		at = next_page(making, at + (size ? size : making->space->page_min), end);
		if (pages % JOB_STRIDE == 0 && !job_step(making->job, 0, 0))
			return fail_cancelled(err);
	}
	return HD_OK;
}

enum hd_status memory_claim_malloc(struct memory_making *making, struct hd_error *err)
{
	struct memory_account *account = making->account;
	const struct target_module *library = find_library(making->target, "/libc.so.6");
	bool is_found = false;
	account->malloc.other = find_other(making->target);
	if (!library)
		library = find_library(making->target, "/libc-2.");
	if (library)
		TRY(claim_library(making, library, false, &is_found, err));
	bool is_glibc = is_found;
	if (!library && (library = target_musl(making->target)) != NULL)
		TRY(claim_library(making, library, true, &is_found, err));
	account->malloc.is_found = is_found;
	for (size_t i = 0; is_glibc && i < account->mappings_count; i++) {
		if (may_be_mapped(making, &account->mappings[i]))
			TRY(claim_mapped(making, &account->mappings[i], err));
	}
	return HD_OK;
}

/* Its pages are few; a larger mapping has merged with others, or is something else. */
#define LINKER_MAX ((uint64_t)1 << 20)

/* Where struct r_debug has the list of images (link.h). */
#define DEBUG_MAP     8u
#define LINK_MAP_NEXT 24u

/* Programs are linked with few libraries; the records of later ones are pieces of malloc. */
#define LINK_MAPS_MAX 16u

/* The anonymous mapping around an address, if it can be that of the linker. */
static enum hd_status claim_around(struct memory_making *making, uint64_t address,
				   struct hd_error *err)
{
	const struct memory_mapping *mapping = memory_mapping_at(making->account, address);
	if (!address || !mapping || *mapping->path || mapping->is_shared ||
	    mapping->end - mapping->start > LINKER_MAX ||
	    (mapping->flags & (PF_R | PF_W | PF_X)) != (PF_R | PF_W))
		return HD_OK;
	return memory_claim_kind(making, MEMORY_LINKER, mapping->start, mapping->end, err);
}

/* Its records of images: those that it has loaded before the program began come first. */
static enum hd_status claim_link_maps(struct memory_making *making, struct hd_error *err)
{
	const struct target *target = making->target;
	struct elf_dynamic dynamic;
	uint64_t map = 0;
	if (!target->module_count ||
	    !elf_dynamic_read(making->memory, target->modules[0].base, target->modules[0].dynamic,
			      &dynamic) ||
	    !dynamic.debug || !memory_u64(making->memory, dynamic.debug + DEBUG_MAP, &map))
		return HD_OK;
	for (unsigned int i = 0; i < LINK_MAPS_MAX && map; i++) {
		TRY(claim_around(making, map, err));
		if (!memory_u64(making->memory, map + LINK_MAP_NEXT, &map))
			return HD_OK;
	}
	return HD_OK;
}

enum hd_status memory_claim_linker(struct memory_making *making, struct hd_error *err)
{
	const struct target_threads *threads = &making->target->threads;
	/* The variables of the first thread (TLS) are there, others have them on their stacks. */
	for (size_t i = 0; i < threads->count; i++) {
		const struct target_thread *thread = &threads->rows[i];
		if (thread->tid == making->target->pid) {
			TRY(claim_around(making,
					 arch_thread_block(making->target->arch, thread->registers),
					 err));
		}
	}
	return claim_link_maps(making, err);
}
