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

/*
 * Bytes of the call through a register or memory that begins at @p bytes (FF /2: Intel SDM, CALL;
 * ModRM and SIB, 2.1.5), or 0 when it is not one.
 */
static size_t indirect_call_size(const uint8_t *bytes, size_t count)
{
	if (count < 2 || bytes[0] != 0xff || ((bytes[1] >> 3) & 7) != 2)
		return 0;
	unsigned int mode = bytes[1] >> 6, base = bytes[1] & 7;
	size_t size = 2;
	if (mode != 3 && base == 4) {
		if (count < 3)
			return 0;
		size++;
		if (mode == 0 && (bytes[2] & 7) == 5)
			return size + 4;
	}
	if (mode == 1)
		return size + 1;
	return mode == 2 || (mode == 0 && base == 5) ? size + 4 : size;
}

bool span_follows_call(struct memory *memory, uint64_t address)
{
	uint8_t bytes[7]; /* prefixes before the call do not matter */
	size_t count = sizeof(bytes);
	while (count >= 2 && !memory_read(memory, address - count, bytes, count))
		count--;
	if (count < 2)
		return true;
	if (count >= 5 && bytes[count - 5] == 0xe8)
		return true;
	for (size_t size = 2; size <= count; size++) {
		if (indirect_call_size(bytes + count - size, size) == size)
			return true;
	}
	return false;
}
