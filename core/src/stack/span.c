/* SPDX-License-Identifier: MIT */
#include "stack/span.h"

#include <elf.h>

#include "util/sort.h"

/* If mappings are not known: how far around an address the stack is assumed to reach. */
#define GUESS_BELOW ((uint64_t)64 << 10)
#define GUESS_ABOVE ((uint64_t)8 << 20)

/* Most ranges in one stack: a core with very many would take long. */
#define NEIGHBOURS_MAX 1024u

/* Index of the range that contains @p address, or range_count. */
static size_t range_at(const struct target *target, uint64_t address)
{
	size_t low = ROWS_ABOVE(target->map.ranges, target->map.range_count, start, address);
	return low && address < target->map.ranges[low - 1].end ? low - 1 : target->map.range_count;
}

struct span span_at(const struct target *target, uint64_t address)
{
	const struct target_range *ranges = target->map.ranges;
	if (!target->map.range_count) {
		uint64_t above =
			address > UINT64_MAX - GUESS_ABOVE ? UINT64_MAX : address + GUESS_ABOVE;
		return (struct span){ address < GUESS_BELOW ? 0 : address - GUESS_BELOW, above };
	}
	size_t first = range_at(target, address);
	if (first == target->map.range_count || !(ranges[first].flags & PF_W))
		return (struct span){ 0, 0 };
	size_t last = first, from = first;
	while (first && from - first < NEIGHBOURS_MAX &&
	       ranges[first - 1].end == ranges[first].start && (ranges[first - 1].flags & PF_W))
		first--;
	while (last + 1 < target->map.range_count && last - from < NEIGHBOURS_MAX &&
	       ranges[last + 1].start == ranges[last].end && (ranges[last + 1].flags & PF_W))
		last++;
	return (struct span){ ranges[first].start, ranges[last].end };
}

bool span_is_code(const struct target *target, uint64_t address)
{
	if (!target->map.range_count)
		return true;
	size_t index = range_at(target, address);
	return (index < target->map.range_count && (target->map.ranges[index].flags & PF_X)) ||
	       target_mapping_at(&target->map, address) != NULL;
}
