/* SPDX-License-Identifier: MIT */
#include "gc/resync.h"

#include "targets/target.h"
#include "util/sort.h"

/* State of a scan for the next object. */
struct resync_scan {
	struct walker *walker;
	uint64_t bound;
	uint64_t first_content; /* address of the first word that is not zero, or is missing */
	bool is_after_zeros;    /* the damage begins with a zero word */
};

/* Could this word be the MethodTable of an object?  Most wrong words are rejected here. */
static bool is_plausible(const struct heap *heap, uint64_t method_table)
{
	return method_table >= heap->space.user_begin && method_table < heap->space.user_end &&
	       !heap_segment_at(heap, method_table);
}

/*
 * Read the object at @p address, which may be far away, without moving the window: else the whole
 * window would be copied twice for each word that looks like an object.
 */
static bool is_object_at(struct walker *walker, uint64_t address, uint64_t bound,
			 struct object *ret)
{
	const struct window *window = &walker->window;
	uint8_t head[16];
	const uint8_t *bytes = head;
	uint64_t offset = address - window->begin;
	if (offset < window->size && window->size - offset >= sizeof(head)) {
		bytes = window->bytes + offset;
	} else if (!memory_read(window->memory, address, head, sizeof(head))) {
		return false;
	}
	const struct type *type =
		type_cached(walker->cache, walker->heap->runtime, load_u64(bytes) & ~(uint64_t)7);
	return object_from(bytes, type, address, bound, ret) == DECODE_OBJECT;
}

bool walker_is_object(struct walker *walker, uint64_t address)
{
	struct object object;
	return is_object_at(walker, address, walker->segment->end, &object);
}

bool walker_is_sound(struct walker *walker, uint64_t address, uint64_t bound)
{
	for (unsigned int i = 0; i < RESYNC_OBJECTS && address != bound; i++) {
		struct object object;
		if (!is_object_at(walker, address, bound, &object) ||
		    heap_segment_at(walker->heap, object.type->method_table))
			return false;
		address += object.step;
	}
	return true;
}

/* Does one object or more follow, up to RESYNC_OBJECTS, which end at @p bound or where zeros begin? */
static bool ends_at_zeros(struct walker *walker, uint64_t address, uint64_t bound)
{
	for (unsigned int i = 0; i < RESYNC_OBJECTS && address != bound; i++) {
		struct object object;
		uint64_t word;
		if (i && memory_u64(walker->heap->memory, address, &word) && !word)
			return true;
		if (!is_object_at(walker, address, bound, &object) ||
		    heap_segment_at(walker->heap, object.type->method_table))
			return false;
		address += object.step;
	}
	return true;
}

/*
 * Is @p address the first that is not zero, or the next after a header (32 bits that are zero, 32 of a sync
 * block)?  Where allocation contexts are not known, their zeros end so; few objects may lie between two of them.
 */
static bool is_first_content(const struct resync_scan *scan, uint64_t address)
{
	uint64_t header;
	if (!scan->is_after_zeros || address > scan->first_content + 8)
		return false;
	return address == scan->first_content ||
	       (memory_u64(scan->walker->heap->memory, scan->first_content, &header) &&
		(uint32_t)header == 0);
}

static uint64_t range_end(const struct target *target, const struct target_range *range)
{
	/* Only a core knows what can be read before it is read. */
	return target->kind == TARGET_CORE ? range->start + range->captured : range->end;
}

uint64_t walker_next_captured(const struct heap *heap, uint64_t address)
{
	const struct target *target = heap_target(heap);
	uint64_t page = page_after(heap->space.page_min, address);
	if (page == 0)
		return UINT64_MAX;
	if (!target || !target->map.range_count) {
		uint64_t next = memory_next(heap->memory, page);
		return next < UINT64_MAX - 7 ? (next + 7) & ~(uint64_t)7 : UINT64_MAX;
	}
	size_t low = 0, high = target->map.range_count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (range_end(target, &target->map.ranges[middle]) <= address) {
			low = middle + 1;
		} else {
			high = middle;
		}
	}
	if (low == target->map.range_count)
		return UINT64_MAX;
	uint64_t start = target->map.ranges[low].start;
	if (start <= address)
		return page;
	return start < UINT64_MAX - 7 ? (start + 7) & ~(uint64_t)7 : UINT64_MAX;
}

/*
 * Looks at the available words, beginning at @p address: the first one that begins sound objects,
 * or 0.
 */
static uint64_t scan_bytes(struct resync_scan *scan, uint64_t address, const uint8_t *bytes,
			   uint64_t count)
{
	struct walker *walker = scan->walker;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t word = load_u64(bytes + 8 * i);
		if (!word)
			continue;
		uint64_t at = address + 8 * i;
		if (at < scan->first_content)
			scan->first_content = at;
		if (!is_plausible(walker->heap, word & ~(uint64_t)7))
			continue;
		if (walker_is_sound(walker, at, scan->bound) ||
		    (is_first_content(scan, at) && ends_at_zeros(walker, at, scan->bound)))
			return at;
	}
	return 0;
}

static uint64_t find_next_object(struct resync_scan *scan, uint64_t address)
{
	struct walker *walker = scan->walker;
	uint64_t misses = 0;
	while (address < scan->bound && scan->bound - address >= 8 && misses < UNREADABLE_MAX) {
		uint64_t size;
		const uint8_t *bytes = window_at(&walker->window, address, 8, &size);
		if (!bytes) {
			if (address < scan->first_content)
				scan->first_content = address;
			uint64_t next = walker_next_captured(walker->heap, address);
			address = next < scan->bound ? next : scan->bound;
			misses++;
			continue;
		}
		misses = 0;
		if (size > scan->bound - address)
			size = scan->bound - address;
		uint64_t found = scan_bytes(scan, address, bytes, size / 8);
		if (found)
			return found;
		address += size & ~(uint64_t)7;
	}
	return scan->bound;
}

/* Does @p word lead to memory that the process had, and the target lacks? */
static bool is_not_captured(const struct heap *heap, uint64_t word)
{
	const struct target *target = heap_target(heap);
	uint8_t byte;
	word &= ~(uint64_t)7;
	if (!target || memory_prefix(heap->memory, word, &byte, 1))
		return false;
	size_t low = ROWS_ABOVE(target->map.ranges, target->map.range_count, end, word);
	return low < target->map.range_count && target->map.ranges[low].start <= word;
}

void walker_resync(struct walker *walker, uint64_t bound)
{
	struct damage *damage = &walker->damage;
	uint64_t address = walker->next;
	struct resync_scan scan = { .walker = walker, .bound = bound, .first_content = bound };
	damage->address = address;
	damage->word = 0;
	damage->last_good = walker->object;
	const uint8_t *bytes = window_at(&walker->window, address, 8, NULL);
	if (bytes)
		damage->word = load_u64(bytes);
	scan.is_after_zeros = bytes && damage->kind == DAMAGE_BAD_METHOD_TABLE && !damage->word;
	uint64_t next =
		find_next_object(&scan, damage->kind == DAMAGE_MISSING_BYTES
						? walker_next_captured(walker->heap, address)
						: address + 8);
	/* The 8 bytes in front of an object are its header, not old contents. */
	if (damage->kind == DAMAGE_BAD_METHOD_TABLE && damage->word == 0 &&
	    (scan.first_content >= next || scan.first_content + 8 == next))
		damage->kind = DAMAGE_ZERO_RUN;
	if (damage->kind == DAMAGE_BAD_METHOD_TABLE && is_not_captured(walker->heap, damage->word))
		damage->kind = DAMAGE_MISSING_BYTES;
	damage->skipped = next - address;
	walker->next = next;
	walker->skipped_bytes += damage->skipped;
}
