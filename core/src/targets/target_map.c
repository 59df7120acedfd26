/* SPDX-License-Identifier: MIT */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "targets/target.h"
#include "util/alloc.h"
#include "util/sort.h"

#define CUT_ADVICE "the core is cut: write it again where it fits"

const struct target_mapping *target_mapping_at(const struct target_map *map, uint64_t address)
{
	size_t low = ROWS_ABOVE(map->mappings, map->mapping_count, start, address);
	if (!low || address >= map->mappings[low - 1].end)
		return NULL;
	return &map->mappings[low - 1];
}

/* The first range that ends above @p address. */
static size_t range_above(const struct target_map *map, uint64_t address)
{
	return ROWS_ABOVE(map->ranges, map->range_count, end, address);
}

const struct target_range *target_range_at(const struct target_map *map, uint64_t address)
{
	size_t i = range_above(map, address);
	return i < map->range_count && map->ranges[i].start <= address ? &map->ranges[i] : NULL;
}

static bool is_range_cut(const struct target_map *map, uint64_t start, uint64_t end)
{
	for (size_t i = range_above(map, start); i < map->range_count && map->ranges[i].start < end;
	     i++) {
		if (map->ranges[i].is_cut)
			return true;
	}
	return false;
}

uint64_t target_readable_bytes(const struct target_map *map, uint64_t start, uint64_t end)
{
	uint64_t bytes = 0;
	for (size_t i = range_above(map, start); i < map->range_count && map->ranges[i].start < end;
	     i++) {
		const struct target_range *range = &map->ranges[i];
		uint64_t from = range->start > start ? range->start : start;
		uint64_t to = range->start + range->captured;
		if (to > end)
			to = end;
		if (range->flags & PF_R && from < to)
			bytes += to - from;
	}
	return bytes;
}

static int compare_mapping_paths(const void *a, const void *b, void *arg)
{
	const struct target_mapping *mappings = arg;
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	return strcmp(mappings[left].path, mappings[right].path);
}

enum hd_status target_mark_cut(struct target *target, struct hd_error *err)
{
	size_t count = target->map.mapping_count;
	if (!target->core.is_truncated || !count || count > UINT32_MAX)
		return HD_OK;
	TRY(target_reserve(target, count, sizeof(uint32_t), err));
	HD_FREE uint32_t *order = mem_alloc(count, sizeof(*order));
	TRY_MEMORY(order, err);
	for (size_t i = 0; i < count; i++)
		order[i] = (uint32_t)i;
	qsort_r(order, count, sizeof(*order), compare_mapping_paths, target->map.mappings);
	for (size_t first = 0, end; first < count; first = end) {
		bool is_cut = false;
		for (end = first; end < count && !compare_mapping_paths(&order[first], &order[end],
									target->map.mappings);
		     end++) {
			const struct target_mapping *mapping = &target->map.mappings[order[end]];
			is_cut = is_cut || is_range_cut(&target->map, mapping->start, mapping->end);
		}
		for (size_t i = first; i < end; i++)
			target->map.mappings[order[i]].is_cut = is_cut;
	}
	return HD_OK;
}

bool target_is_cut(const struct target *target, uint64_t address)
{
	const struct target_mapping *at = target_mapping_at(&target->map, address);
	if (!target->core.is_truncated)
		return false;
	if (at)
		return at->is_cut;
	/* With the notes the names of the files are lost. */
	return !address || !target->map.mapping_count ||
	       is_range_cut(&target->map, address, address + 1);
}

/* Is there nothing in the core that the process may have written? */
static bool lacks_written_memory(const struct target_map *map)
{
	for (size_t i = 0; i < map->range_count; i++) {
		if (map->ranges[i].flags & PF_W && map->ranges[i].captured)
			return false;
	}
	return map->range_count > 0;
}

const char *target_advice_written(const struct target *target, uint64_t address)
{
	if (target_is_cut(target, address))
		return CUT_ADVICE;
	return "no file has that, for the process writes it: take a dump with its private memory "
	       "(createdump --full, or gcore with 0x33 in /proc/PID/coredump_filter)";
}

const char *target_advice(const struct target *target, uint64_t address, const char *usual)
{
	if (target_is_cut(target, address))
		return CUT_ADVICE;
	if (target->kind == TARGET_CORE && lacks_written_memory(&target->map))
		return target_advice_written(target, address);
	if (target->kind == TARGET_CORE && target->options.no_files)
		return "leave --no-files away, so that the files on this machine are read";
	return usual;
}
