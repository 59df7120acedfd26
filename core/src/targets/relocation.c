/* SPDX-License-Identifier: MIT */
#include "targets/relocation.h"

#include <elf.h>
#include <pthread.h>
#include <stdlib.h>

#include "mem/window.h"
#include "targets/elf_image.h"
#include "targets/target_modules.h"
#include "util/alloc.h"
#include "util/sort.h"

/** Bytes of relocations of one module: libcoreclr.so has 0.6 MB of them. */
#define TABLE_SIZE_MAX ((uint64_t)64 << 20)

struct relative {
	uint64_t offset, addend; /**< the pointer at bias + offset is bias + addend */
};

/** The relocations of one module. */
struct relocations {
	uint64_t base, dynamic; /**< which module */
	uint32_t type;          /**< of relative relocations */
	struct relative *rela;  /**< ascending */
	size_t rela_count, rela_capacity;
	uint64_t *relr; /**< offsets of pointers to add the bias to, ascending */
	size_t relr_count, relr_capacity;
	struct relocations *next;
};

struct relocation_cache {
	pthread_mutex_t lock; /**< of first; the rows do not change */
	struct relocations *first;
};

struct relocation_cache *relocation_cache_create(void)
{
	struct relocation_cache *cache = mem_calloc(1, sizeof(*cache));
	if (cache)
		(void)pthread_mutex_init(&cache->lock, NULL);
	return cache;
}

static void relocations_destroy(struct relocations *relocations)
{
	pages_free(relocations->rela, relocations->rela_capacity, sizeof(*relocations->rela));
	pages_free(relocations->relr, relocations->relr_capacity, sizeof(*relocations->relr));
	mem_free(relocations);
}

void relocation_cache_destroy(struct relocation_cache *cache)
{
	if (!cache)
		return;
	while (cache->first) {
		struct relocations *next = cache->first->next;
		relocations_destroy(cache->first);
		cache->first = next;
	}
	(void)pthread_mutex_destroy(&cache->lock);
	mem_free(cache);
}

ORDER_BY(compare_offsets, struct relative, offset)

/* Elf64_Rela of type R_*_RELATIVE; what cannot be read ends the table. */
static bool read_rela(struct relocations *relocations, struct window *window, uint64_t address,
		      uint64_t size)
{
	bool sorted = true;
	uint64_t before = 0;
	for (uint64_t i = 0; i + sizeof(Elf64_Rela) <= size && i < TABLE_SIZE_MAX;
	     i += sizeof(Elf64_Rela)) {
		const uint8_t *row = window_at(window, address + i, sizeof(Elf64_Rela), NULL);
		if (!row)
			break;
		if ((uint32_t)load_u64(row + 8) != relocations->type)
			continue;
		if (!PAGES_RESERVE(relocations, rela))
			return false;
		struct relative relative = { .offset = load_u64(row),
					     .addend = load_u64(row + 16) };
		sorted &= relative.offset >= before;
		before = relative.offset;
		relocations->rela[relocations->rela_count++] = relative;
	}
	if (!sorted) {
		qsort(relocations->rela, relocations->rela_count, sizeof(*relocations->rela),
		      compare_offsets);
	}
	return true;
}

static bool add_relr(struct relocations *relocations, uint64_t offset)
{
	if (!PAGES_RESERVE(relocations, relr))
		return false;
	relocations->relr[relocations->relr_count++] = offset;
	return true;
}

/*
 * DT_RELR: an even word is an offset to relocate; an odd one is a bitmap that says which of the
 * next 63 words are relocated, too.
 */
static bool read_relr(struct relocations *relocations, struct window *window, uint64_t address,
		      uint64_t size)
{
	uint64_t offset = 0;
	for (uint64_t i = 0; i + 8 <= size && i < TABLE_SIZE_MAX / 64; i += 8) {
		const uint8_t *row = window_at(window, address + i, 8, NULL);
		if (!row)
			break;
		uint64_t word = load_u64(row);
		if (!(word & 1)) {
			if (!add_relr(relocations, word))
				return false;
			offset = word + 8;
			continue;
		}
		for (uint64_t bit = 0; bit < 63; bit++) {
			if ((word >> (bit + 1) & 1) && !add_relr(relocations, offset + bit * 8))
				return false;
		}
		offset += UINT64_C(63) * 8;
	}
	sort_u64(relocations->relr, relocations->relr_count);
	return true;
}

static struct relocations *read_relocations(const struct target *target,
					    const struct target_module *module)
{
	struct relocations *relocations = mem_calloc(1, sizeof(*relocations));
	if (!relocations)
		return NULL;
	relocations->base = module->base;
	relocations->dynamic = module->dynamic;
	relocations->type = target->arch->relative_relocation;
	struct elf_dynamic dynamic;
	HD_CLEANUP(window) struct window window = { .memory = target->memory };
	bool is_read = true;
	if (elf_dynamic_read(target->memory, module->base, module->dynamic, &dynamic)) {
		is_read = (!dynamic.rela ||
			   read_rela(relocations, &window, dynamic.rela, dynamic.rela_size)) &&
			  (!dynamic.relr ||
			   read_relr(relocations, &window, dynamic.relr, dynamic.relr_size));
	}
	if (!is_read) {
		relocations_destroy(relocations);
		return NULL;
	}
	return relocations;
}

/* The relocations of @p module, read the first time; NULL when memory is exhausted. */
static const struct relocations *find_tables(const struct target *target,
					     const struct target_module *module)
{
	struct relocation_cache *cache = target->files.relocations;
	(void)pthread_mutex_lock(&cache->lock);
	struct relocations *row = cache->first;
	while (row && (row->base != module->base || row->dynamic != module->dynamic))
		row = row->next;
	if (!row) {
		row = read_relocations(target, module);
		if (row) {
			row->next = cache->first;
			cache->first = row;
		}
	}
	(void)pthread_mutex_unlock(&cache->lock);
	return row;
}

static bool has_relr(const struct relocations *relocations, uint64_t offset)
{
	size_t low = lower_bound_u64(relocations->relr, relocations->relr_count, offset);
	return low < relocations->relr_count && relocations->relr[low] == offset;
}

bool target_module_pointer(const struct target *target, const struct target_module *module,
			   uint64_t address, uint64_t *ret)
{
	uint64_t value;
	if (memory_u64(target->own, address, ret))
		return true;
	if (!memory_u64(target->memory, address, &value))
		return false;
	const struct relocations *relocations = find_tables(target, module);
	if (!relocations)
		return false;
	uint64_t offset = address - module->base;
	const struct relative key = { .offset = offset };
	const struct relative *found =
		relocations->rela_count ? bsearch(&key, relocations->rela, relocations->rela_count,
						  sizeof(key), compare_offsets)
					: NULL;
	if (found) {
		value = module->base + found->addend;
	} else if (has_relr(relocations, offset)) {
		value += module->base;
	}
	*ret = value;
	return true;
}
